#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Owns the test of the guests themselves: what comes back from them, how they end, and that nothing stays.
# Test: all 300 alone
set -eu

# shellcheck source=tests/rdma/lib.sh
. "$(dirname "$0")/lib.sh"

begin_rdma_test boot
# guests put their files here, so that it can be seen what they leave
export TMPDIR=$tmp/guests
mkdir "$TMPDIR" "$tmp/share"

# try STATUS ARGUMENT...: a guest that ends with the status and leaves nothing; output in $tmp/out and $tmp/err.
try() {
    local status=0

    "$guest" --no-install "${@:2}" >"$tmp/out" 2>"$tmp/err" || status=$?
    [ "$status" -eq "$1" ] || not_ok "status $status instead of $1 of: guest ${*:2}" "$tmp/out" "$tmp/err"
    is_clean
}

is_clean() {
    [ -z "$(ls "$TMPDIR")" ] || not_ok "files of a guest are left: $(ls "$TMPDIR")"
}

# says FILE LINE: a whole line of the output.
says() {
    grep -q -x -E -e "$2" "$tmp/$1" || not_ok "no line '$2'" "$tmp/$1"
}

# rejects TEXT ARGUMENT...: wrong arguments lead to one line and nothing else.
rejects() {
    try 2 "${@:2}"
    [ "$(wc -l <"$tmp/err")" -eq 1 ] || not_ok "not one line on: guest ${*:2}" "$tmp/err"
    says err "guest: $1"
}

test_arguments() {
    rejects '--devices or --guests is needed; .*' -- true
    rejects '--devices and --guests exclude each other' --devices 1 --guests 2 -- true
    rejects 'no command after --' --devices 1
    rejects "--devices '0': a number from 1 to 16 is needed" --devices 0 -- true
    rejects "--guests 'x': a number from 2 to 8 is needed" --guests=x -- true
    rejects "--loss '100.5': percent from 0 to 100 are needed, .*" --loss 100.5 --devices 1 -- true
    rejects "--memory '12': a number .*" --memory 12 --devices 1 -- true
    rejects "--share '/nonexistent': no such directory" --share /nonexistent --devices 1 -- true
    rejects '--timeout needs a value' --timeout
    rejects "unknown option '--nothing'; .*" --nothing 1 -- true
    rejects "'true' is no option; .*" --devices 1 true
}

# Status, both outputs, words as they were, the directory, and what can be written where.
test_command() {
    cd "$tmp"
    # shellcheck disable=SC2016 # for the guest
    try 7 --devices 1 --share "$tmp/share" -- bash -c 'printf "<%s>\n" "$@"; echo "error" >&2; echo "$PWD"
        echo "$OPTCAST_GUEST_ID of $OPTCAST_GUESTS, $OPTCAST_GUEST_DEVICES device"
        echo here >"$OPTCAST_GUEST_SHARE/file"; echo gone >there && cat there; exit 7' - 'two  words' "a'\"\$b" ''
    for line in '<two  words>' "<a'\"\\\$b>" '<>' error "$tmp" '1 of 1, 1 device' gone; do
        says out "$line"
    done
    [ ! -s "$tmp/err" ] || not_ok "a guest without trouble says something on stderr" "$tmp/err"
    [ "$(cat "$tmp/share/file")" = here ] || not_ok "the shared directory has not what the guest wrote"
    [ ! -e "$tmp/there" ] || not_ok "a guest has changed the host's files"
}

# Guests reach each other, and the first status that is not 0 counts.
test_guests() {
    # shellcheck disable=SC2016 # for the guests
    try 5 --guests 3 -- bash -c '. "$OPTCAST_GUEST_LIB"; guest_wait_port 2299; guest_barrier here
        [ "$OPTCAST_GUEST_ID" = 3 ] || "$OPTCAST_GUEST_RSH" guest3 "cat /proc/sys/kernel/hostname"
        guest_barrier there; exit $((OPTCAST_GUEST_ID == 1 ? 0 : OPTCAST_GUEST_ID + 3))'
    says out '1: guest3'
    says out '2: guest3'
    [ "$(wc -l <"$tmp/out")" -eq 2 ] || not_ok "there is more output than that" "$tmp/out"
}

test_timeout() {
    local begin=$SECONDS

    try 124 --timeout 2 --devices 1 -- sleep 100
    says err 'guest: guest 1 did not (boot|end its command) within 2 s; the end of its console:'
    [ $((SECONDS - begin)) -le 20 ] || not_ok "a timeout of 2 s took $((SECONDS - begin)) s"
}

test_panic() {
    try 125 --devices 1 -- bash -c 'echo before; sleep 0.2; echo c >/proc/sysrq-trigger; sleep 100'
    says out before
    says err 'guest: guest 1 died; the end of its console:'
    says err '.*Kernel panic.*'
}

# An interrupt ends all at once: no process and no file stays.
test_interrupt() {
    local pid family status=0 member

    # started in the background it would ignore the signal
    # shellcheck disable=SC2016 # for the guest
    env --default-signal=INT "$guest" --no-install --devices 1 --share "$tmp/share" -- \
        bash -c 'echo >"$OPTCAST_GUEST_SHARE/running"; sleep 100' >"$tmp/out" 2>"$tmp/err" &
    pid=$!
    started+=("$pid")
    wait_until 120 test -e "$tmp/share/running" || not_ok "the guest does not start" "$tmp/err"
    family=$(family_of "$pid")
    [ "$(wc -w <<<"$family")" -ge 2 ] || not_ok "there is no process of qemu"
    kill -INT "$pid"
    wait "$pid" || status=$?
    [ "$status" -eq 130 ] || not_ok "status $status after an interrupt, not 130" "$tmp/err"
    for member in $family; do
        ! is_alive "$member" || not_ok "process $member has survived the interrupt"
    done
    is_clean
}

test_arguments
test_command
test_guests
test_timeout
test_panic
test_interrupt
echo "ok boot: arguments, command, guests, timeout, panic, interrupt"
