#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Owns the test that the offload works over RC verbs: right results on all ranks, carried by the RDMA devices
# and not by TCP; and that it is left to Open MPI where RDMA is blocked.
# Test: all 600 alone
set -eu

# shellcheck source=tests/rdma/lib.sh
. "$(dirname "$0")/lib.sh"

begin_rdma_test allreduce
compile_program allreduce_matrix "$REPO/tests/mpi/allreduce_matrix.c" "$REPO/tests/mpi/matrix_types.c"
compile faults
cat >"$tmp/cases" <<'CASES'
3 SUM DOUBLE 65536 apart 0 b 1
3 SUM FLOAT 1 apart 0 b 2
3 MAX INT32_T 30000 inplace 0 b 3
3 PROD DOUBLE 5000 apart element nb 4
CASES
payload=$((8 * 65536 + 4 + 4 * 30000 + 8 * 5000))
mtu=4096
notes=$tmp/guest

# grown DEVICE COUNTER: during the job that is not blocked.
grown() {
    echo $(($(counter after "$1" "$2") - $(counter before "$1" "$2")))
}

# counter FILE DEVICE COUNTER
counter() {
    awk -v device="$2" -v name="$3" '$1 == device && $2 == name { print $3 }' "$notes/$1"
}

# carried I RANKS: device I sent the payload of so many ranks, in RoCE packets.
carried() {
    local packets bytes

    packets=$(grown "rxe$1" sent_pkts)
    bytes=$(grown "roce$1" tx_bytes)
    [ "$packets" -ge $((payload * $2 / mtu)) ] ||
        not_ok "device $1 sent $packets packets; $((payload * $2)) bytes do not fit" "$notes/after"
    [ "$bytes" -ge $((payload * $2)) ] ||
        not_ok "interface $1 sent $bytes bytes, not $((payload * $2))" "$notes/after"
}

# connected I COUNT PROGRAM: device I had so many connected queue pairs, all of the program.
connected() {
    local pairs

    pairs=$(grep "^rxe$1 " "$notes/pairs") || :
    [ "$(wc -l <<<"$pairs")" -eq "$2" ] && ! grep -q -v " $3\$" <<<"$pairs" && return
    not_ok "device $1 had not $2 connected RC queue pairs of $3, and no others" "$notes/pairs"
}

check_open() {
    local i bytes

    grep -q '^ok allreduce_matrix: 4 cases$' "$notes/open.log" || not_ok "not all cases ran" "$notes/open.log"
    carried 1 3
    connected 1 3 optcast-server
    for i in 2 3 4; do
        carried "$i" 1
        connected "$i" 1 allreduce_matrix
    done
    # what goes from one address of the guest to another by TCP goes through its loopback interface
    bytes=$(grown lo tx_bytes)
    [ "$bytes" -le $((payload / 4)) ] || not_ok "TCP carried up to $bytes bytes" "$notes/after"
}

check_blocked() {
    local log=$notes/blocked.log

    grep -q -E "did not answer within [0-9]+ seconds; Open MPI's own collectives are used" "$log" ||
        not_ok "blocked: no line says that it falls back" "$log"
    [ "$(grep -c '^rank [0-2]: .* 0 offloaded' "$log")" -eq 3 ] || not_ok "blocked: not everything fell back" "$log"
    ! grep -q 'ended by signal' "$notes/blocked.server" ||
        not_ok "blocked: the server's process crashed" "$notes/blocked.server"
    grep -q 'packets [1-9]' "$notes/blocked.rules" || not_ok "blocked: nothing was blocked" "$notes/blocked.rules"
}

in_guest guest --devices 4 --memory 1024 --timeout 400 -- \
    env "BUILD=$BUILD" "$here/inside/allreduce" "$tmp/cases"
check_open
check_blocked
echo "ok allreduce: $payload bytes of each of 3 ranks over RC verbs; $(grown rxe1 sent_pkts) packets from the" \
    "server, $(grown lo tx_bytes) bytes by TCP; left to Open MPI where RDMA is blocked"
