# shellcheck shell=bash
# SPDX-License-Identifier: BSD-3-Clause
# Owns making hosts and the switch, and removing them.
#
# A host is one process with new namespaces for network, processes, mounts, host name and System V IPC
# (file init). Nothing of it has a name outside, so that everything is gone as soon as that process is.
# shellcheck disable=SC2154 # here, name and state are shared with the other files

command_up() {
    local hosts='' rate=200 snooping=0 querier=1 ipv6=0

    while [ $# -gt 0 ]; do
        case $1 in
        --hosts) hosts=${2:-}; shift ;;
        --rate) rate=${2:-}; shift ;;
        --snooping) snooping=1 ;;
        --no-querier) querier=0 ;;
        --ipv6) ipv6=1 ;;
        *) fail "unknown argument '$1' of up; cluster --help lists them" ;;
        esac
        [ $# -eq 0 ] || shift
    done
    need_root
    need_number "number of hosts" "$hosts" 1 250
    need_number "rate in Mbit/s" "$rate" 0 100000
    need_program unshare util-linux
    need_program tc iproute2
    claim_state
    printf '%s\n' "$rate" >"$state/rate"
    printf '%s\n' "$ipv6" >"$state/ipv6"
    write_host_names "$hosts"
    start_holders "$hosts"
    plug_all "$hosts" "$snooping" "$querier" "$ipv6"
    shape_all "$hosts" "$rate"
    printf '%s\n' "$hosts" >"$state/hosts"
    trap - EXIT INT TERM HUP
}

# From here on an end of this program takes away what it began.
claim_state() {
    local patience=100

    mkdir -p "$states" || fail "cannot write in $states"
    until mkdir "$state" 2>/dev/null; do
        [ ! -e "$state" ] ||
            fail "cluster '$name' is up already, or coming up: use another --name, or: cluster down --name $name"
        # the last cluster that ended took the folder of all with it
        [ $((patience -= 1)) -gt 0 ] || fail "cannot write in $states"
        mkdir -p "$states" || fail "cannot write in $states"
    done
    trap 'command_down' EXIT
    trap 'exit 130' INT
    trap 'exit 143' TERM HUP
}

write_host_names() {
    local k

    {
        echo "127.0.0.1 localhost"
        for k in $(seq "$1"); do
            echo "$(address_of "$k") h$k"
        done
    } >"$state/etc-hosts"
    printf '#!/bin/sh\nexec %q rsh --name %q "$@"\n' "$here/cluster" "$name" >"$state/rsh"
    chmod +x "$state/rsh"
}

start_holders() {
    local k

    for k in switch $(seq "$1"); do
        start_holder "$k"
    done
    for k in switch $(seq "$1"); do
        wait_ready "$k"
    done
}

start_holder() {
    # in a session of their own, or a key that interrupts a later test would end them
    setsid unshare --net --uts --ipc --mount --pid --fork --kill-child --mount-proc \
        /bin/bash "$here/init" "$state" "$1" - </dev/null >"$state/init.$1.log" 2>&1 &
    echo $! >"$state/pid.$1"
}

wait_ready() {
    local patience=200

    until [ -e "$state/ready.$1" ]; do
        if [ $((patience -= 1)) -eq 0 ] || ! kill -0 "$(cat "$state/pid.$1")" 2>/dev/null; then
            fail "cannot make host $1: $(tail -n 1 "$state/init.$1.log" 2>/dev/null)" \
                "(the kernel needs namespaces for net, pid, mount, uts and ipc)"
        fi
        sleep 0.02
    done
}

# holders [K]: processes that hold host K of the cluster, or any; found by their arguments, so that also one
# that had just begun when its cluster was given up is among them.
holders() {
    local file arguments

    # shellcheck disable=SC2013 # names, not text
    for file in $(grep -l -a -z -x -F -e "$state" /proc/[0-9]*/cmdline 2>/dev/null); do
        arguments=$({ tr '\0' ' ' <"$file"; } 2>/dev/null) || continue
        case $arguments in
        *" $here/init $state ${1:+$1 }"*"- ") echo "$file" | cut -d / -f 3 ;;
        esac
    done
}

# launchers: of jobs on the hosts, which are not among the processes of one.
launchers() {
    grep -l -a -z -x -F -e "$state/rsh" /proc/[0-9]*/cmdline 2>/dev/null | cut -d / -f 3
}

# end_holders [K]: and with them all processes of these hosts. True once they are gone.
end_holders() {
    local patience=100 found

    while found=$(holders "$@") && [ -n "$found" ]; do
        # shellcheck disable=SC2086 # a list
        kill -KILL $found 2>/dev/null || :
        [ $((patience -= 1)) -gt 0 ] || return 1
        sleep 0.02
    done
}

command_down() {
    trap - EXIT INT TERM HUP
    need_root
    # first this: whatever has not quite begun cannot without it
    mv "$state" "$states/.$name.$$" 2>/dev/null || :
    # shellcheck disable=SC2046 # a list
    kill -KILL $(launchers) 2>/dev/null || :
    end_holders || fail "these processes do not end: $(holders | tr '\n' ' ')"
    rm -rf "$states/.$name.$$"
    rmdir "$states" 2>/dev/null || :
}

# The host loses power: its peers get no sign of it.
command_kill() {
    local k

    [ $# -eq 1 ] || fail "kill needs a host"
    k=$(host_number "$1")
    unplug "$k"
    end_holders "$k" || fail "processes of h$k do not end"
}

command_boot() {
    local k

    [ $# -eq 1 ] || fail "boot needs a host"
    k=$(host_number "$1")
    [ -z "$(holder_of "$k")" ] || fail "h$k runs"
    # pids begin anew
    rm -f "$state/ready.$k" "$state/server.$k".*.pid
    start_holder "$k"
    wait_ready "$k"
    plug "$k"
}

# enter K COMMAND...: on host K, in the current directory; this program ends with it.
enter() {
    local holder

    holder=$(holder_of "$1")
    [ -n "$holder" ] || fail "host h$1 is not running (any more)"
    # whoever ends this ends the command: it does not see the signal by itself
    # shellcheck disable=SC2016 # for the other shell
    exec nsenter --target "$holder" --net --uts --ipc --mount --pid \
        /bin/sh -c 'cd "$0" && exec setpriv --pdeathsig TERM "$@"' "$PWD" "${@:2}"
}

# in_network K COMMAND...: with the interfaces of host K, or of the switch, and all else of this one.
in_network() {
    local holder

    holder=$(holder_of "$1")
    [ -n "$holder" ] || fail "host h$1 is not running (any more)"
    nsenter --target "$holder" --net "${@:2}"
}

command_exec() {
    local k

    [ $# -ge 2 ] || fail "exec needs a host and a command"
    k=$(host_number "$1")
    enter "$k" "${@:2}"
}
