# shellcheck shell=bash
# SPDX-License-Identifier: BSD-3-Clause
# Owns what the MPI tests do in another way under MPICH: which compiler and launcher, and how settings are given.
# To be sourced by tests/mpi/lib.sh, if MPI=mpich.
# shellcheck disable=SC2154,SC2034 # what lib.sh and the environment of the build have, and what lib.sh uses

programs=$BUILD/test-programs-mpich
mpi_library=MPICH rank_variable=PMI_RANK half_library=-loptcast-mpi-mpich
library=$BUILD/.libs/liboptcast-mpich.so

# begin_job_test NAME: as in tests/apps/lib.sh.
begin_job_test() {
    begin_test "$1"
    # shellcheck source=/dev/null
    . "$BUILD/tests/environment"
    [ -x "$MPICH_MPIEXEC" ] || skip "no mpiexec of MPICH; install mpich libmpich-dev before configure"
    [ -e "$library" ] || not_ok "no $library: run make in $BUILD"
    # its header says of statuses that are to be ignored how many there are
    mpicc=("$MPICHCC" -Wno-stringop-overflow) mpirun=${NEWER_MPICH_MPIEXEC:-$MPICH_MPIEXEC}
}

# setting NAME: as in tests/mpi/lib.sh.
setting() {
    echo "OPTCAST_${1^^}"
}

# option_of NAME VALUE: appends to options what says the same as --mca NAME VALUE.
option_of() {
    local name=${1#coll_optcast_}

    [ "$name" != "$1" ] || not_ok "--mca $1 is not for MPICH"
    options+=(-env "OPTCAST_${name^^}" "$2")
}

# take_options ARGUMENT...: appends to options what says the same as those of Open MPI's mpirun; sets rest to what
# follows them.
take_options() {
    while :; do
        case ${1:-} in
        --mca) option_of "$2" "$3" && shift 3 ;;
        -x) options+=(-env "${2%%=*}" "${2#*=}") && shift 2 ;;
        *) break ;;
        esac
    done
    rest=("$@")
}

# run_mpi RANKS MODE ARGUMENT...: as in tests/apps/lib.sh, with the same arguments.
run_mpi() {
    local ranks=$1 mode=$2 options=() rest

    shift 2
    [ "$mode" = none ] || options=(-env LD_PRELOAD "$library" -env OPTCAST_MODE "$mode" -env OPTCAST_VERBOSE 1)
    take_options "$@"
    timeout --foreground -k 10 "${TIME_LIMIT:-120}" "$mpirun" -n "$ranks" "${options[@]}" "${rest[@]}" </dev/null
}
