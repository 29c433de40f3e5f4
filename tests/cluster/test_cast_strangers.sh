#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Owns the test of strangers at a multicast address: somebody on a host outside the job, and somebody without rights on
# a host of it, see what ranks send and send datagrams of their own, also in the ranks' names.
# usage: test_strangers.sh [PART...]; without arguments all parts
# Test: default 180
set -eu

# shellcheck source=tests/cluster/lib.sh
. "$(dirname "$0")/lib.sh"

group=239.192.7.9 port=9009
ranks=3
seconds=6

# start_stranger NAME HOST KIND...: with WRAPPER in front. Sets stranger.
start_stranger() {
    local name=$1 host=$2

    shift 2
    # shellcheck disable=SC2086 # several words
    cluster exec "$host" ${WRAPPER:-} "$PYTHON" "$here/cast_stranger.py" "$group" "$port" "10.77.0.$host" \
        $((seconds + 4)) "$@" >"$tmp/$name.stranger" 2>&1 &
    stranger=$!
    started+=("$stranger")
    sleep 1
}

# play NAME ARGUMENT...: gather, on the hosts of the job; its results are right, all by multicast, and the stranger has
# seen the data.
play() {
    local name=$1

    shift
    TIME_LIMIT=90 expect_cluster_job "$name" embedded multicast=udp multicast_address=$group multicast_port=$port \
        multicast_groups=1 --hosts "1-$ranks" -- gather "seconds=$seconds" "$@"
    wait "$stranger" || not_ok "$name: the stranger failed" "$tmp/$name.stranger"
    has_line "$tmp/$name.log" '^ok gather$' || not_ok "$name: it said nothing" "$tmp/$name.log"
    [ "$(grep -c -E '^rank [0-9]+ host h[0-9]+: ([1-9][0-9]*) operations, \1 offloaded, ' "$tmp/$name.log")" -eq "$ranks" ] ||
        not_ok "$name: not all operations of $ranks ranks were offloaded" "$tmp/$name.log"
    has_line "$tmp/$name.stranger" '^saw [1-9][0-9]* ' || not_ok "$name: the stranger saw nothing" "$tmp/$name.stranger"
    echo "$name: $(cat "$tmp/$name.stranger"); $(total "$name" foreign) foreign, $(total "$name" forged) forged," \
        "$(total "$name" duplicated) duplicated, $(total "$name" lost) lost of $(total "$name" received)"
}

# total NAME WORD: sum over ranks of what gather.c counts as WORD.
total() {
    sed -n -E "s/^rank [0-9]+ host .* ([0-9]+) $2(,.*)?\$/\1/p" "$tmp/$1.log" | awk '{ sum += $1 } END { print sum + 0 }'
}

# sent NAME KIND: what the stranger has sent
sent() {
    sed -n -E "s/^saw .* $2 ([0-9]+).*/\1/p" "$tmp/$1.stranger"
}

# expect_counted NAME WORD: there are at least half as many as were sent: ranks hear only while they are in a call.
expect_counted() {
    local name=$1 word=$2 kind all=0

    shift 2
    for kind in "$@"; do
        all=$((all + $(sent "$name" "$kind")))
    done
    [ "$all" -gt 100 ] || not_ok "$name: the stranger has sent $all datagrams" "$tmp/$name.stranger"
    [ "$(total "$name" "$word")" -gt $((all / 4)) ] ||
        not_ok "$name: of $all datagrams $(total "$name" "$word") count as $word" "$tmp/$name.log"
}

# From addresses that are its own: none is looked at.
test_outside() {
    start_stranger outside 4 plain copy port
    play outside allgather:100000 bcast:50000 allgatherv:3000
    expect_counted outside foreign plain copy port
    [ "$(total outside forged)" -eq 0 ] || not_ok "outside: what comes from elsewhere was looked at" "$tmp/outside.log"
}

# In the names of the ranks: none fits, and what was true changes nothing.
test_faked() {
    start_stranger faked 4 spoofed next replay
    play faked allgather:100000 bcast:50000 allgatherv:3000
    expect_counted faked forged spoofed next
}

# Whole blocks with their checksums.
test_small() {
    start_stranger small 4 next
    play small allgather:100
    expect_counted small forged next
}

# Somebody else on a host of the job: it has the address, and not the port.
test_user() {
    WRAPPER="setpriv --reuid nobody --regid nogroup --clear-groups" start_stranger user 2 plain copy
    play user allgather:100000 bcast:50000
    expect_counted user foreign plain copy
}

begin_cluster_test cast_strangers
compile gather
make_cluster --hosts 4 --rate 200
[ $# -gt 0 ] || set -- outside faked small user
for part in "$@"; do
    begin=$SECONDS
    "test_$part"
    echo "$part: $((SECONDS - begin)) s"
done
echo "ok cast_strangers: $*"
