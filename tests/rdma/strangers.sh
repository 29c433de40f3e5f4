#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Owns the test of a stranger at a multicast group of RDMA devices, who has the GID of a rank and a queue pair of his
# own: what he sends is dropped before anything in it is looked at, and counted.
# Test: all 300 alone
set -eu

# shellcheck source=tests/rdma/lib.sh
. "$(dirname "$0")/lib.sh"

ranks=3

# total WORD: sum over ranks of what gather.c counts as WORD.
total() {
    sed -n -E "s/^rank [0-9]+ host .* ([0-9]+) $1(,.*)?\$/\1/p" "$log" | awk '{ sum += $1 } END { print sum + 0 }'
}

begin_rdma_test strangers
needs_verbs
compile gather
compile_program cast_stranger "$here/cast_stranger.c" -lrdmacm -libverbs
in_guest guest --devices "$ranks" --memory 1024 --timeout 250 -- env "BUILD=$BUILD" "$here/inside/strangers"
log=$tmp/guest/log

grep -q -x 'ok gather' "$log" || not_ok "not everything is right" "$log"
[ "$(grep -c -E '^rank [0-9]+ host .*: ([1-9][0-9]*) operations, \1 offloaded, ' "$log")" -eq "$ranks" ] ||
    not_ok "not all operations of $ranks ranks were offloaded" "$log"
said=$(sed -n '/^saw /p' "$tmp/guest/stranger")
sent=$(echo "$said" | awk '{ print $5 + $7 }')
[ "${sent:-0}" -gt 100 ] || not_ok "the stranger has sent ${sent:-0} datagrams" "$tmp/guest/stranger"
# ranks hear only while they are in a call
[ "$(total foreign)" -gt $((sent / 4)) ] || not_ok "of $sent datagrams $(total foreign) count as foreign" "$log"
[ "$(total forged)" -eq 0 ] || not_ok "what comes from another queue pair was looked at" "$log"
echo "ok strangers: he $said; $(total foreign) foreign, $(total forged) forged, $(total lost) lost of $(total received)"
