# shellcheck shell=bash
# SPDX-License-Identifier: BSD-3-Clause
# Owns what commands in guests use: waiting for each other, within bounds. To be sourced: . "$OPTCAST_GUEST_LIB"

# guest_wait SECONDS COMMAND...: false if the command does not succeed within that time.
guest_wait() {
    local limit=$((SECONDS + $1))

    shift
    until "$@"; do
        [ "$SECONDS" -le "$limit" ] || return 1
        sleep 0.1
    done
}

guest_listens() {
    [ -n "$(ss -ltnH "sport = :$1")" ]
}

# guest_wait_port PORT [SECONDS]: until something in this guest listens there.
guest_wait_port() {
    guest_wait "${2:-60}" guest_listens "$1" && return
    echo "nothing listens on port $1 after ${2:-60} s" >&2
    return 1
}

guest_all_at() {
    local there=("$OPTCAST_GUEST_CONTROL/barrier.$1".*)

    [ ${#there[@]} -ge "$OPTCAST_GUESTS" ]
}

# guest_barrier NAME [SECONDS]: until all guests have come here; each name serves once.
guest_barrier() {
    : >"$OPTCAST_GUEST_CONTROL/barrier.$1.$OPTCAST_GUEST_ID"
    guest_wait "${2:-120}" guest_all_at "$1" && return
    echo "not all guests came to barrier $1 within ${2:-120} s" >&2
    return 1
}
