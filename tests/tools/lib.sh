# shellcheck shell=bash
# SPDX-License-Identifier: BSD-3-Clause
# Owns what the tests of tools share: running one, by itself or as a job, and looking at what it says.
# To be sourced by bash at the beginning of a test. Sets here (the folder of the test), and unless they are set REPO (the
# source tree) and BUILD (the build tree).
# shellcheck disable=SC2154 # tmp is set by begin_test

here=$(cd "$(dirname "$0")" && pwd)
REPO=${REPO:-$(cd "$here/../.." && pwd)}
BUILD=${BUILD:-$REPO/build}

# shellcheck source=tests/apps/lib.sh
. "$REPO/tests/apps/lib.sh"

# find_tool PROGRAM: sets tool.
find_tool() {
    tool=$BUILD/$1
    [ -x "$tool" ] || not_ok "no $tool: run make in $BUILD"
}

# begin_tool_test NAME PROGRAM: of one that needs no MPI.
begin_tool_test() {
    begin_test "$1"
    find_tool "$2"
}

# begin_mpi_tool_test NAME PROGRAM: of one that does. What the surroundings have set must not decide.
begin_mpi_tool_test() {
    begin_job_test "$1"
    find_tool "$2"
    # shellcheck source=/dev/null
    . "$BUILD/tests/environment"
    unset OMPI_MCA_coll OMPI_MCA_mca_base_component_path
    # More arguments for every mpirun, split at spaces.
    read -r -a mpirun_arguments <<<"${TEST_MPIRUN_ARGUMENTS:-} --mca mpi_yield_when_idle 1"
    TIME_LIMIT=${TIME_LIMIT:-60}
}

# ends STATUS COMMAND...: it has to end so; output in $tmp/out, errors in $tmp/err.
ends() {
    local expected=$1 status=0

    shift
    "$@" >"$tmp/out" 2>"$tmp/err" || status=$?
    [ "$status" -eq "$expected" ] ||
        not_ok "'$*' ended with status $status, not with $expected" "$tmp/out" "$tmp/err"
}

# shows STATUS ARGUMENT...: the tool by itself, as ends.
shows() {
    ends "$1" "$tool" "${@:2}"
}

# run STATUS RANKS MODE ARGUMENT...: a job of the tool, as ends.
run() {
    ends "$1" run_mpi "$2" "$3" "${mpirun_arguments[@]}" "$tool" "${@:4}"
}

# has FILE PATTERN: a line of $tmp/FILE matches.
has() {
    grep -E -q -e "$2" "$tmp/$1" || not_ok "no line with '$2' in its $1" "$tmp/$1"
}

# refuses TEXT ARGUMENT...: a usage error that says TEXT.
refuses() {
    shows 2 "${@:2}"
    grep -q -F -e "$1" "$tmp/err" || not_ok "'${*:2}' does not say '$1'" "$tmp/err"
}

# put_between NAME: from now on $tmp/NAME.c, which is compiled, stands between the programs of jobs and MPI.
put_between() {
    local preload=$tmp/$1.so i

    "$OMPICC" -shared -fPIC -o "$preload" "$tmp/$1.c" >"$tmp/compile.log" 2>&1 ||
        not_ok "$1.c does not compile" "$tmp/compile.log"
    for i in "${!mpirun_arguments[@]}"; do
        case ${mpirun_arguments[i]} in LD_PRELOAD=*) preload="${mpirun_arguments[i]#*=}:$preload" ;; esac
    done
    mpirun_arguments+=(-x "LD_PRELOAD=$preload")
}
