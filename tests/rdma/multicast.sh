#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Owns the test that UD multicast reaches all members of a group, in one guest and across guests, that it
# is lost where it is said to be, and that the prober tells what belongs to it from what does not.
set -eu

here=$(cd "$(dirname "$0")" && pwd)
REPO=$(cd "$here/../.." && pwd)
BUILD=${BUILD:-$REPO/build}
# shellcheck source=tests/rdma/lib.sh
. "$here/lib.sh"

# expect STATUS RUN CASE DEVICE LINE...: how a prober ended, and lines that it must have printed.
expect() {
    local log=$tmp/$2/$3.$4.log line

    [ "$(cat "$tmp/$2/$3.$4.status" 2>/dev/null)" = "$1" ] ||
        not_ok "$2/$3: the prober on device $4 did not end with status $1" "$log" "$tmp/$2.err"
    for line in "${@:5}"; do
        grep -q -x -E -e "$line" "$log" || not_ok "$2/$3: device $4 printed no line '$line'" "$log"
    done
}

# missing DEVICE: sequence numbers that it did not get under loss, one a line.
missing() {
    sed -n 's/^missing from 1: //p' "$tmp/lossy/member.$1.log" | tr ' ' '\n'
}

# lost_between LEAST MOST NUMBER WHO
lost_between() {
    [ "$3" -lt "$1" ] || [ "$3" -gt "$2" ] || return 0
    not_ok "$4 lost $3 of 300 datagrams, not $1 to $2" "$tmp"/lossy/*.log
}

nothing_else='duplicate 0, foreign 0, bad-length 0, corrupt 0'

check_stream() {
    local i

    expect 0 "$1" "$2" 1 'sent 300 of 300, errors 0, .*'
    for i in "${@:3}"; do
        expect 0 "$1" "$2" "$i" 'from 1: unique 300 of 300' "missing 0, $nothing_else, own 0"
    done
}

check_all() {
    local i

    for i in 1 2 3 4; do
        expect 0 clean all "$i" 'sent 50 of 50, errors 0, .*' "missing 0, $nothing_else, own 50"
        [ "$(grep -c '^from [1-4]: unique 50 of 50$' "$tmp/clean/all.$i.log")" -eq 3 ] ||
            not_ok "device $i did not hear the 3 others" "$tmp/clean/all.$i.log"
    done
}

check_loss() {
    local i

    for i in 2 3 4; do
        expect 1 lossy member "$i"
        lost_between 8 80 "$(missing "$i" | wc -l)" "device $i"
    done
    # lost for all: by chance 0.3 of 300; if they were lost on the way of all, some 30
    lost_between 0 5 "$({ missing 2; missing 3; missing 4; } | sort | uniq -c | grep -c ' 3 ')" "all at once"
}

begin_rdma_test multicast
compile_probe
token=$(od -An -N8 -tx8 /dev/urandom | tr -d ' ')

in_guest clean --devices 4 -- "$here/inside/multicast" "$probe" "$token" member sendonly all strangers
check_stream clean member 2 3 4
check_stream clean sendonly 2 3 4
check_all
expect 0 clean strangers 2 'missing 0, duplicate 10, foreign 7, bad-length 5, corrupt 4, own 0'
expect 1 clean strangers 4 'missing 100, duplicate 0, .*'

in_guest lossy --devices 4 --loss 10 -- "$here/inside/multicast" "$probe" "$token" member
check_loss

in_guest across --guests 3 -- "$here/inside/multicast" "$probe" "$token" across
check_stream across across 2 3
echo "ok multicast: 300 datagrams to 3 devices and to 2 guests;" \
    "with 10 % of loss $(missing 2 | wc -l), $(missing 3 | wc -l) and $(missing 4 | wc -l) were lost"
