# shellcheck shell=bash
# SPDX-License-Identifier: BSD-3-Clause
# Owns what is known of the clusters that are up: one directory each.
#   STATE/hosts, rate, ipv6  numbers
#   STATE/pid.K, pid.switch  process that holds a host, or the switch, alive
#   STATE/etc-hosts, rsh   hosts file and launch agent of the hosts
#   STATE/server.K.N.*     output, log and pid of the N-th server on host K
# shellcheck disable=SC2034,SC2154 # here, name and state are shared with the other files

states=${OPTCAST_CLUSTERS:-/run/optcast-clusters}
network=10.77.0
network6=fd77

fail() {
    echo "cluster: $*" >&2
    exit 2
}

need_root() {
    [ "$(id -u)" -eq 0 ] || fail "needs root: namespaces, links and traffic shaping are for root only"
}

# need_program PROGRAM PACKAGE
need_program() {
    command -v "$1" >/dev/null || fail "no $1 here: install it (Debian: apt-get install $2)"
}

need_cluster() {
    need_root
    [ -e "$state/hosts" ] || fail "no cluster '$name' is up: cluster up --name $name --hosts N"
}

# need_number NAME VALUE MINIMUM MAXIMUM
need_number() {
    case $2 in
    "" | *[!0-9]*) fail "bad $1 '$2': a number from $3 to $4 is needed" ;;
    esac
    if [ ${#2} -gt 9 ] || [ "$2" -lt "$3" ] || [ "$2" -gt "$4" ]; then
        fail "bad $1 '$2': from $3 to $4 is possible"
    fi
}

host_count() {
    cat "$state/hosts"
}

# host_number HOST: of a number or a name such as h1.
host_number() {
    local number=${1#h}

    case $number in
    "" | *[!0-9]*) fail "bad host '$1': use 1 to $(host_count), or h1 to h$(host_count)" ;;
    esac
    number=$((10#$number))
    if [ "$number" -lt 1 ] || [ "$number" -gt "$(host_count)" ]; then
        fail "no host '$1': cluster '$name' has h1 to h$(host_count)"
    fi
    echo "$number"
}

# host_list LIST: sets chosen to the numbers of 1-3,h5. Each host may be there once.
host_list() {
    local part first last k

    chosen=()
    for part in ${1//,/ }; do
        # an error in a substitution does not end this program by itself
        first=$(host_number "${part%%-*}") || exit
        last=$(host_number "${part##*-}") || exit
        [ "$first" -le "$last" ] || fail "bad range '$part': the first host has to come first"
        for ((k = first; k <= last; k++)); do
            case " ${chosen[*]} " in
            *" $k "*) fail "h$k is in '$1' twice; for more ranks on a host use --per-host" ;;
            esac
            chosen+=("$k")
        done
    done
    [ ${#chosen[@]} -gt 0 ] || fail "an empty list of hosts: use something like 1-3,5"
}

# no_more ARGUMENT...: refuses what a command has no use for.
no_more() {
    [ $# -eq 0 ] || fail "unknown argument '$1' of $command; cluster --help lists them"
}

address_of() {
    echo "$network.$1"
}

# holder_of K|switch: pid (outside) of the first process of that host; nothing if it has ended.
holder_of() {
    local parent

    parent=$(cat "$state/pid.$1" 2>/dev/null) || return 0
    is_holder "$parent" "$1" || return 0
    tr -d ' ' <"/proc/$parent/task/$parent/children"
}

# is_holder PID K: not another process that got the same number later.
is_holder() {
    tr '\0' ' ' 2>/dev/null <"/proc/$1/cmdline" | grep -q -F " $here/init $state $2 "
}

command_names() {
    local k

    for k in $(seq "$(host_count)"); do
        echo "h$k $(address_of "$k")"
    done
}

command_list() {
    local directory

    for directory in "$states"/*/; do
        [ ! -e "$directory/hosts" ] ||
            echo "$(basename "$directory"): $(cat "$directory/hosts") hosts, $(cat "$directory/rate") Mbit/s"
    done
}
