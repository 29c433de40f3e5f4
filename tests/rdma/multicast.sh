#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Owns the test of the verbs transport: its datagrams reach all members of a group, in one guest and across
# guests; they are lost where it is said to be, and nowhere else; and nothing is left of members that go.
# Test: all 500 alone
set -eu

# shellcheck source=tests/rdma/lib.sh
. "$(dirname "$0")/lib.sh"

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

nothing_else='duplicate 0, foreign 0, wrong 0'

check_stream() {
    local i

    expect 0 "$1" "$2" 1 'ready: verbs in 239\.78\.0\.[0-9]+, datagrams of 4096 bytes' 'sent 300 of 300, .*' \
        "missing 0, $nothing_else, own 300"
    for i in "${@:3}"; do
        expect 0 "$1" "$2" "$i" 'from 1: unique 300 of 300' "missing 0, $nothing_else, own 0"
    done
}

check_all() {
    local i

    for i in 1 2 3 4; do
        expect 0 clean all "$i" 'sent 50 of 50, .*' "missing 0, $nothing_else, own 50"
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

# unchanged BEFORE AFTER: what the kernel has for probers that have left.
unchanged() {
    diff "$tmp/clean/$1" "$tmp/clean/$2" >"$tmp/diff" || not_ok "something is left of members that left" "$tmp/diff"
}

check_refused() {
    local gone='joined 0 of [0-9]+ times, descriptors ([0-9]+) before and \1 after, complaint:'

    expect 0 clean refused 1 "$gone no network interface 'lo' .*"
    expect 0 clean refused 2 "$gone no network interface 'roce9' .*"
    expect 0 clean refused 3 "$gone interface switch has no RDMA device.*"
    expect 0 clean refused 4 "$gone multicast group 10.78.0.9 on roce4 cannot be joined: .*"
    unchanged before-refused after-refused
}

# went_on CASE TIMES COUNT MOST DEVICE...: these receivers have joined that often again, and lack at most so many of as
# many datagrams, however long the device was deaf: half of them came after something had happened.
went_on() {
    local log i unique

    for i in "${@:5}"; do
        log=$tmp/events/$1.$i.log
        grep -q -x "joined again $2 times" "$log" || not_ok "$1: device $i has not joined $2 times again" "$log"
        unique=$(sed -n 's/^from 1: unique \([0-9]*\) of .*/\1/p' "$log")
        [ "${unique:-0}" -ge $(($3 - $4)) ] || not_ok "$1: device $i lacks more than $4 of $3 datagrams" "$log"
        grep -q 'duplicate 0, foreign 0, wrong 0, own 0$' "$log" || not_ok "$1: device $i heard what it must not" "$log"
    done
}

# says CASE DEVICE TEXT...: with these warnings, in any order.
says() {
    local log=$tmp/events/$1.$2.log text

    for text in "${@:3}"; do
        grep -q -e "$text" "$log" || not_ok "$1: device $2 does not say '$text'" "$log"
    done
}

check_events() {
    local i

    went_on lost 1 200 60 2 3 4
    went_on doubt 1 200 60 2 3
    went_on doubt 0 200 0 4
    went_on broken 1 200 60 2 3 4
    went_on gone 0 200 0 2 4
    went_on gone 0 200 100 3
    went_on mute 0 200 90 2
    went_on fatal 0 200 90 2
    went_on flap 1 400 200 2 3
    went_on flap 0 400 0 4
    for i in 2 4; do
        says lost "$i" 'the membership was lost (Network dropped connection on reset)' 'was joined again after'
    done
    says broken 2 'the membership was lost (receiving failed, ' 'was joined again after'
    says broken 3 'the membership was lost (its queue pair has failed, ' 'was joined again after'
    says gone 2 'has ended (RDMA_CM_EVENT_DEVICE_REMOVAL)'
    says gone 3 'has ended (local catastrophic error)'
    says mute 1 'sending failed' 'this rank can send again'
    says fatal 1 'its queue pair has failed' 'this rank can send again'
    says flap 2 'the port is down' 'was joined again after'
}

begin_rdma_test multicast
compile_probe
token=$(od -An -N8 -tx8 /dev/urandom | tr -d ' ')

in_guest clean --devices 4 --timeout 250 -- "$here/inside/multicast" "$probe" "$token" \
    member all twins strangers slow overflow cycle refused
check_stream clean member 2 3 4
check_all
expect 0 clean twins 2 'from 1: unique 100 of 100' 'from 3: unique 100 of 100' "missing 0, $nothing_else, own 0"
expect 0 clean strangers 2 'missing 0, duplicate 10, foreign 7, wrong 9, own 0'
expect 1 clean strangers 4 'missing 100, duplicate 0, .*'
expect 0 clean slow 1 'sent 600 of 600, without room [1-9][0-9]* times, .*'
expect 0 clean slow 2 'from 1: unique 600 of 600' "missing 0, $nothing_else, own 0"
expect 1 clean overflow 2 'from 1: unique 16 of 60' 'from 2: unique 60 of 60' "missing 44, $nothing_else, own 0"
expect 0 clean overflow 3 'from 1: unique 60 of 60' 'from 2: unique 60 of 60' "missing 0, $nothing_else, own 0"
expect 0 clean cycle 4 'joined 30 of 30 times, descriptors ([0-9]+) before and \1 after, complaint: none'
unchanged before after
check_refused

in_guest events --devices 4 --timeout 250 -- "$here/inside/multicast" "$probe" "$token" \
    lost doubt broken gone mute fatal flap
check_events

in_guest lossy --devices 4 --loss 10 -- "$here/inside/multicast" "$probe" "$token" member
check_loss

in_guest across --guests 3 -- "$here/inside/multicast" "$probe" "$token" across
check_stream across across 2 3
echo "ok multicast: 300 datagrams to 3 devices and to 2 guests;" \
    "with 10 % of loss $(missing 2 | wc -l), $(missing 3 | wc -l) and $(missing 4 | wc -l) were lost"
