# shellcheck shell=bash
# SPDX-License-Identifier: BSD-3-Clause
# Owns what the MPI tests share: compiling their programs, running them, servers, and cleaning up.
# To be sourced by bash at the beginning of a test. Sets here (the folder of the test), and unless they are set REPO (the
# source tree) and BUILD (the build tree).
# shellcheck disable=SC2154 # tmp is set by begin_test

here=$(cd "$(dirname "$0")" && pwd)
REPO=${REPO:-$(cd "$here/../.." && pwd)}
BUILD=${BUILD:-$REPO/build}

# shellcheck source=tests/apps/lib.sh
. "$REPO/tests/apps/lib.sh"

# Which MPI library: openmpi or mpich.
MPI=${MPI:-openmpi}
# … by its name, for users.
mpi_library="Open MPI" rank_variable=OMPI_COMM_WORLD_RANK half_library=-loptcast-mpi

server_program=${OPTCAST_SERVER:-$BUILD/optcast-server}
# More arguments for every mpirun, split at spaces.
read -r -a mpirun_arguments <<<"${TEST_MPIRUN_ARGUMENTS:-}"
# What runs the programs: nothing, or a command with its options.
wrapper=()
# Processes that are ended when the test ends, whatever happens.
started=()

# begin_mpi_test NAME: as begin_job_test, and take care of the processes that the test starts.
begin_mpi_test() {
    begin_job_test "$1"
    [ -x "$server_program" ] || not_ok "no $server_program: run make in $BUILD"
    # shellcheck source=/dev/null
    . "$BUILD/tests/environment"
    trap clean_up EXIT
}

clean_up() {
    local pid

    for pid in "${started[@]}"; do
        end_process "$pid"
    done
    if [ -n "${KEEP:-}" ]; then
        echo "kept: $tmp" >&2
    else
        rm -rf "$tmp"
    fi
}

# children_of PID: the processes that PID started, one a line.
children_of() {
    # after the name, which is in parentheses and may contain anything: state and parent
    sed -n -E 's/^([0-9]+) \(.*\) [A-Za-z] ([0-9]+) .*/\1 \2/p' /proc/[0-9]*/stat 2>/dev/null |
        awk -v parent="$1" '$2 == parent { print $1 }'
}

# family_of PID: PID and all that descends from it.
family_of() {
    local child

    echo "$1"
    for child in $(children_of "$1"); do
        family_of "$child"
    done
}

# end_process PID: it and its descendants; at first politely, which lets mpirun end its ranks.
end_process() {
    local family patience=20

    is_alive "$1" || return 0
    family=$(family_of "$1")
    # shellcheck disable=SC2086 # a list, here and below
    kill -CONT $family 2>/dev/null || :
    # shellcheck disable=SC2086
    kill -TERM $family 2>/dev/null || :
    while is_alive "$1" && [ $((patience--)) -gt 0 ]; do
        sleep 0.1
    done
    # shellcheck disable=SC2086
    kill -KILL $family 2>/dev/null || :
    wait "$1" 2>/dev/null || :
}

# is_alive PID: false also for a process that has ended and was not waited for.
is_alive() {
    local state

    state=$(sed -n -E 's/^[0-9]+ \(.*\) ([A-Za-z]) .*/\1/p' "/proc/$1/stat" 2>/dev/null) || return 1
    [ -n "$state" ] && [ "$state" != Z ]
}

# wait_until SECONDS COMMAND...: false if the command does not succeed within that time.
wait_until() {
    local limit=$((SECONDS + $1))

    shift
    until "$@"; do
        [ "$SECONDS" -le "$limit" ] || return 1
        sleep 0.1
    done
}

has_line() {
    grep -q -s -E -e "$2" "$1"
}

# is_current PROGRAM SOURCE...
is_current() {
    local source

    for source in "${@:2}"; do
        [ "$1" -nt "$source" ] || return 1
    done
}

# setting NAME: what users call it.
setting() {
    echo "coll_optcast_$1"
}

# compile NAME...: programs of tests/mpi, each of one source, into $programs. Others may do the same at the
# same time.
programs=$BUILD/test-programs
# shellcheck source=tests/mpi/mpich.sh
[ "$MPI" = openmpi ] || . "$REPO/tests/mpi/$MPI.sh"
compile() {
    local name

    for name in "$@"; do
        compile_program "$name" "$REPO/tests/mpi/$name.c"
    done
}

# compile_program NAME SOURCE|OPTION...: libraries are options, and come last.
compile_program() {
    local name=$1 sources=() argument

    shift
    mkdir -p "$programs"
    for argument in "$@"; do
        [[ $argument == -* ]] || sources+=("$argument")
    done
    sources+=("$REPO/tests/mpi/polite.c")
    ! is_current "$programs/$name" "${sources[@]}" "$REPO"/tests/mpi/*.h || return 0
    "${mpicc[@]:-$OMPICC}" -std=gnu11 -O2 -g -Wall -Wextra -Werror -ffp-contract=off -I"$REPO" -o "$programs/$name.$$" \
        "$REPO/tests/mpi/polite.c" -Wl,--export-dynamic-symbol=sched_yield "$@" \
        -lm >"$tmp/compile.log" 2>&1 || not_ok "$name does not compile" "$tmp/compile.log"
    mv "$programs/$name.$$" "$programs/$name"
}

# compile_device: tests/mpi/device.c and the driver that stands in for CUDA's, which jobs find from now on.
compile_device() {
    compile_program device "$REPO/tests/mpi/device.c" -I"$REPO" -L"$BUILD/.libs" -Wl,-rpath,"$BUILD/.libs" \
        -loptcast-mpi -lpthread -ldl
    mkdir -p "$tmp/lib"
    "$OMPICC" -std=gnu11 -O2 -g -Wall -Wextra -Werror -shared -fPIC -Wl,-soname,libcuda.so.1 \
        -o "$tmp/lib/libcuda.so.1" "$REPO/tests/mpi/cuda.c" -lpthread >"$tmp/standin.log" 2>&1 ||
        not_ok "the stand-in does not compile" "$tmp/standin.log"
    wrapper=(env "LD_LIBRARY_PATH=$tmp/lib")
}

# start_server [OPTION...]: on a free port of this host. Sets server_pid, server_address ("HOST:PORT")
# and server_log. ASAN_OPTIONS and the like come from SERVER_ENVIRONMENT ("NAME=VALUE ..."), at whose end
# may be a command that runs the server.
server_count=0
server_logs=()
start_server() {
    local out=$tmp/server-$((server_count + 1)).out environment

    server_count=$((server_count + 1))
    server_log=$tmp/server-$server_count.log
    read -r -a environment <<<"${SERVER_ENVIRONMENT:-}"
    # env is replaced by the server, so that the number is the server's own
    env "${environment[@]}" "$server_program" --listen 127.0.0.1:0 "$@" >"$out" 2>"$server_log" </dev/null &
    server_pid=$!
    started+=("$server_pid")
    wait_until 30 has_line "$out" '^optcast-server: ready on ' ||
        not_ok "the server does not say that it is ready" "$out" "$server_log"
    # shellcheck disable=SC2034 # for the tests
    server_address=$(sed -n 's/^optcast-server: ready on //p' "$out")
    server_logs[server_pid]=$server_log
}

# stop_server PID: in order; false if it ends with an error or not at all, or if a sanitizer complains.
stop_server() {
    kill -TERM "$1" || return 1
    wait_until 15 eval "! is_alive $1" || return 1
    wait "$1" || return 1
    ! grep -E 'Sanitizer|runtime error:' "${server_logs[$1]}" >&2
}

# run_job RANKS SERVERS [SETTING=VALUE...] PROGRAM [ARGUMENT...]: a compiled program in mode always
# (or another, with mode=...) with the coll_optcast settings. Set-ups have more time than by default:
# on a busy machine nothing else but time is lost. Multicast is off unless it is set: Open MPI and the
# programs have Bcasts and Allgathers of their own, which would count. All ranks are on this host, so the
# shape is flat unless it is set: each rank sends all that it has, which is what most tests are about.
# These are no settings: offload=SIZES makes rules that let mode auto offload Allreduces of these sizes (base/rules.h),
# and faults=FAULTS takes the component that loses datagrams and the like (tests/faults/cast_faults.h has the names).
run_job() {
    local ranks=$1 mode=always patience=20 multicast=off order=rank_order
    local arguments=(--mca coll_optcast_servers "$2") component_dir=$component_dir library=${library:-} faults=()

    shift 2
    while [[ $1 == *=* ]]; do
        case $1 in
        mode=*) mode=${1#*=} ;;
        connect_timeout=*) patience=${1#*=} ;;
        multicast=*) multicast=${1#*=} ;;
        reproducible=*) order=${1#*=} ;;
        faults=*) add_faults "${1#*=}" ;;
        offload=*) arguments+=(--mca coll_optcast_rules "$(rules_for "${1#*=}")") ;;
        *) arguments+=(--mca "coll_optcast_${1%%=*}" "${1#*=}") ;;
        esac
        shift
    done
    arguments+=(--mca coll_optcast_connect_timeout "$patience" --mca coll_optcast_multicast "$multicast"
        --mca coll_optcast_reproducible "$order")
    run_mpi "$ranks" "$mode" "${mpirun_arguments[@]}" "${arguments[@]}" "${wrapper[@]}" "${faults[@]}" \
        "$programs/$1" "${@:2}"
}

# rules_for SIZES: for run_job, the path of a file with one rule.
rules_for() {
    printf '[allreduce test]\nhosts = 1-\noffload = %s\n' "$1" >"$tmp/offload-$1.ini"
    echo "$tmp/offload-$1.ini"
}

# add_faults FAULTS: for run_job.
add_faults() {
    component_dir=$BUILD/tests/faults/.libs
    library=$component_dir/liboptcast-mpich.so
    have_component || not_ok "no $component_dir/mca_coll_optcast.so: run make in $BUILD"
    faults=(env "OPTCAST_TEST_FAULTS=$1")
}

# Settings of jobs that use multicast: all ranks are on this host, whatever networks it has.
# shellcheck disable=SC2034 # for the tests
cast=(multicast=udp multicast_interface=lo)

# expect_nothing_left NAME: UCX warns of no message or request that was left at the end.
expect_nothing_left() {
    ! has_line "$tmp/$1.log" 'unexpected tag-receive descriptor|was not returned to mpool' ||
        not_ok "$1: UCX warns of what is left" "$tmp/$1.log"
}

# expect_job NAME RANKS ...: run_job that has to succeed; its output stays in $tmp/NAME.log.
expect_job() {
    local name=$1 status=0

    shift
    run_job "$@" >"$tmp/$name.log" 2>&1 || status=$?
    [ "$status" -ne 124 ] || not_ok "$name: it did not end within ${TIME_LIMIT:-120} s: $*" "$tmp/$name.log"
    [ "$status" -eq 0 ] || not_ok "$name: status $status of: $*" "$tmp/$name.log"
    expect_nothing_left "$name"
}

# start_job NAME RANKS ...: run_job in the background; sets job_pid.
start_job() {
    local name=$1

    shift
    run_job "$@" >"$tmp/$name.log" 2>&1 &
    job_pid=$!
    started+=("$job_pid")
}

# cpu_time PID: hundredths of a second that PID and its children have used.
cpu_time() {
    local pid

    for pid in $(family_of "$1"); do
        sed -n -E 's/^[0-9]+ \(.*\) //p' "/proc/$pid/stat" 2>/dev/null || :
    done | awk -v rate="$(getconf CLK_TCK)" '{ sum += $12 + $13 } END { printf "%d\n", sum * 100 / rate }'
}

# memory_of PID: bytes that are resident.
memory_of() {
    awk -v page="$(getconf PAGESIZE)" '{ print $2 * page }' "/proc/$1/statm"
}

# in_seconds HUNDREDTHS
in_seconds() {
    printf '%d.%02d' "$(($1 / 100))" "$(($1 % 100))"
}

# own_instructions FILE: of what callgrind has counted, lines INSTRUCTIONS FUNCTION of the component's own code, but for
# its progress.
own_instructions() {
    callgrind_annotate --auto=no --threshold=100 "$1" >"$tmp/annotated" 2>&1 ||
        not_ok "callgrind_annotate cannot read what callgrind wrote" "$tmp/annotated"
    sed -n -E 's/^ *([0-9,]+) .*:([a-z0-9_.]+) \[.*\/mca_coll_optcast\.so\]$/\1 \2/p' "$tmp/annotated" |
        grep -v 'progress' | tr -d ,
}
