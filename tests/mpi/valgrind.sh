#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Owns the test that memcheck finds nothing that is Optcast's, neither in ranks with an embedded server nor in
# optcast-server: no access or use that is wrong, and nothing lost.
# Test: all 600; mpich: all 400
set -eu

# shellcheck source=tests/mpi/lib.sh
. "$(dirname "$0")/lib.sh"

begin_mpi_test valgrind
command -v valgrind >/dev/null || skip "there is no valgrind; install it"
TIME_LIMIT=${TIME_LIMIT:-180}

# libpciaccess, which this part of hwloc uses, keeps some memory that nobody gives back.
export HWLOC_COMPONENTS=-pci

# The component is unloaded before leaks are looked for: its names have to be kept.
memcheck=(valgrind --leak-check=full --show-leak-kinds=definite --num-callers=40 --keep-debuginfo=yes
    --fullpath-after= "--suppressions=$here/valgrind.supp" --trace-children=yes)
supplied=/usr/share/openmpi/openmpi-valgrind.supp
[ ! -r "$supplied" ] || memcheck+=("--suppressions=$supplied")
ours='/(adapter|base|client|mpich|multicast|net|protocol|reduction|server|ucx_backend|ompi/mca/coll/optcast)/[a-z_0-9]+[.]c:'
ours+='|mca_coll_optcast[.]so|liboptcast-mpich[.]so|optcast-server[)]'
options=(comms=10 operations=40 cycles=15 seed=3)
patience=(connect_timeout=60 heartbeat_timeout=60)

# check_processes NAME COUNT: so many were watched to their end, and none was found wrong because of us.
check_processes() {
    local log

    [ "$(grep -l 'ERROR SUMMARY' "$tmp/$1".*.memcheck | wc -l)" -eq "$2" ] ||
        not_ok "$1: valgrind did not watch $2 processes to their end" "$tmp/$1".*.memcheck
    for log in "$tmp/$1".*.memcheck; do
        sed -E 's/^==[0-9]+== ?//' "$log" | awk -v ours="$ours" '
            BEGIN { RS = "" }
            $0 ~ "(at|by) 0x[0-9A-F]+: [^\n]*" ours { print $0 "\n" }' >"$tmp/found"
        [ ! -s "$tmp/found" ] || not_ok "$1: $(basename "$log") has this of ours" "$tmp/found"
    done
}

# watch NAME RANKS SETTING... PROGRAM...: a job whose ranks are watched.
watch() {
    wrapper=("${memcheck[@]}" "--log-file=$tmp/$1.%p.memcheck")
    expect_job "$1" "$2" embedded "${patience[@]}" "${@:3}"
    wrapper=()
    check_processes "$1" "$2"
}

compile_program allgather "$here/allgather.c" "$here/layouts.c"
watch casts 2 "${cast[@]}" allgather 1 15
if [ "$MPI" = mpich ]; then
    compile mpich_requests mpich_errors
    watch requests 3 "${cast[@]}" mpich_requests
    watch errors 2 "${cast[@]}" mpich_errors
    echo "ok valgrind"
    exit 0
fi
compile many_comms cast_comms setups
watch ranks 2 many_comms "${options[@]}"
watch comms 3 "${cast[@]}" cast_comms comms=10 operations=40 cycles=15
watch setups 3 "${cast[@]}" reproducible=shape setups casts
SERVER_ENVIRONMENT="${memcheck[*]} --log-file=$tmp/server.%p.memcheck"
start_server --aggregators 2
expect_job job 3 "$server_address" "${patience[@]}" many_comms "${options[@]}"
stop_server "$server_pid" || not_ok "the server did not end in order" "$server_log"
# supervisor and data process
check_processes server 2
echo "ok valgrind"
