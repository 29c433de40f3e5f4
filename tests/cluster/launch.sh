# shellcheck shell=bash
# SPDX-License-Identifier: BSD-3-Clause
# Owns what runs on the hosts: MPI jobs and servers.
# shellcheck disable=SC2154 # here, name and state are shared with the other files

# The launch agent of mpirun: [OPTION...] HOST COMMAND..., as of ssh.
command_rsh() {
    local k

    while [ "${1#-}" != "${1:-}" ]; do
        [ "$1" != -l ] || shift
        shift
    done
    k=$(host_number "${1:-}")
    shift
    enter "$k" /bin/sh -c "$*"
}

# parse_run ARGUMENT...: sets hosts, per_host, map, pml, btl, mpi, nap, plain, show, and rest to what follows the
# options.
parse_run() {
    hosts='' per_host=1 map=block pml=ob1 btl=tcp,vader,self mpi=openmpi nap='' plain='' show='' shims=()
    while [ $# -gt 0 ]; do
        case $1 in
        --hosts) hosts=${2:-}; shift ;;
        --per-host) per_host=${2:-}; shift ;;
        --map) map=${2:-}; shift ;;
        --pml) pml=${2:-}; shift ;;
        --btl) btl=${2:-}; shift ;;
        --mpi) mpi=${2:-}; shift ;;
        --nap)
            nap=100
            case ${2:-} in
            "" | *[!0-9]*) ;;
            *) nap=$2; shift ;;
            esac
            ;;
        --preload) shims+=("${2:-}"); shift ;;
        --plain-udp) plain=yes ;;
        --show) show=yes ;;
        *) break ;;
        esac
        [ $# -eq 0 ] || shift
    done
    rest=("$@")
}

command_run() {
    local hosts per_host map pml btl mpi nap plain show rest chosen=() shims preload=() launcher=()

    parse_run "$@"
    [ ${#rest[@]} -gt 0 ] || fail "run needs a program"
    need_number "number of ranks on a host" "$per_host" 1 1000
    case $mpi-$map in
    *-block | openmpi-cyclic) ;;
    *) fail "bad map '$map': use block or, with Open MPI, cyclic" ;;
    esac
    [ -z "$nap" ] || need_number "nap in microseconds" "$nap" 1 1000000
    [ -n "$hosts" ] || hosts=$(hosts_without_server) || exit
    host_list "$hosts"
    prepare_shims
    case $mpi in
    openmpi) openmpi_launcher "$per_host" "$pml" "${chosen[@]}" ;;
    mpich) mpich_launcher "$per_host" "${chosen[@]}" ;;
    *) fail "bad MPI '$mpi': use openmpi or mpich" ;;
    esac
    [ -z "$show" ] || echo "${launcher[*]} ${rest[*]}" >&2
    on_front_end "${launcher[@]}" "${rest[@]}"
}

# The launcher has no host of its own, and takes nothing from the links of one: it is behind the switch, among
# the processes of this machine. Signals go to it directly.
on_front_end() {
    # shellcheck disable=SC2016 # for the other shell
    exec nsenter --target "$(holder_of switch)" --net unshare --mount \
        /bin/sh -c 'mount --bind "$0" /etc/hosts && exec "$@"' "$state/etc-hosts" "$@"
}

hosts_without_server() {
    local k list=''

    for k in $(seq "$(host_count)"); do
        [ -n "$(servers_on "$k")" ] || list="$list,$k"
    done
    [ -n "$list" ] || fail "all hosts have servers: say --hosts"
    echo "${list#,}"
}

# add_shim NAME: NAME.c of this folder is preloaded, too.
add_shim() {
    local library=$state/$1.so

    if [ ! -e "$library" ]; then
        "${CC:-cc}" -shared -fPIC -O2 -D_GNU_SOURCE -o "$library.$$" "$here/$1.c" -ldl || fail "cannot compile $here/$1.c"
        mv "$library.$$" "$library"
    fi
    shims+=("$library")
}

# Sets preload, to assignments in the environment of the ranks.
prepare_shims() {
    local IFS=:

    [ -z "$nap" ] || add_shim nap
    [ -z "$plain" ] || add_shim plain_udp
    [ ${#shims[@]} -eq 0 ] || preload=("LD_PRELOAD=${shims[*]}")
    [ -z "$nap" ] || preload+=("NAP_MICROSECONDS=$nap")
}

# host_slots PER_HOST K...: h1:2,h2:2
host_slots() {
    local k list=''

    for k in "${@:2}"; do
        list="$list,h$k:$1"
    done
    echo "${list#,}"
}

# openmpi_launcher PER_HOST PML K...: sets launcher, the beginning of the command line.
openmpi_launcher() {
    local assignment mpirun=${OMPI_MPIRUN:-mpirun.openmpi}

    need_program "$mpirun" openmpi-bin
    launcher=(env OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 "$mpirun")
    # what is left of a job that was killed goes with its host, or with the cluster
    case $("$mpirun" --version 2>/dev/null | sed -n 1p) in
    *" 4."*)
        launcher+=(--mca orte_local_tmp_base "$state" --mca orte_remote_tmp_base /dev/shm
            --mca plm rsh --mca plm_rsh_agent "$state/rsh" --mca plm_rsh_no_tree_spawn 1
            --mca oob_tcp_if_include "$network.0/24")
        ;;
    *)
        launcher+=(--prtemca prte_local_tmpdir_base "$state" --prtemca prte_remote_tmpdir_base /dev/shm
            --prtemca plm ssh --prtemca plm_ssh_agent "$state/rsh" --prtemca plm_ssh_no_tree_spawn 1
            --prtemca prte_if_include "$network.0/24")
        [ "$btl" != tcp,vader,self ] || btl=tcp,sm,self
        ;;
    esac
    launcher+=(--host "$(host_slots "$1" "${@:3}")" --map-by "ppr:$1:node" --bind-to none --mca mpi_yield_when_idle 1)
    case $2 in
    ob1) launcher+=(--mca pml ob1 --mca btl "$btl" --mca btl_tcp_if_include eth0) ;;
    ucx)
        launcher+=(--mca pml ucx --mca osc ^ucx --mca pml_ucx_tls any --mca pml_ucx_devices any
            -x "UCX_TLS=tcp,sm,self" -x UCX_NET_DEVICES=eth0)
        ;;
    *) fail "bad pml '$2': use ob1 or ucx" ;;
    esac
    [ "$map" = block ] || launcher+=(--rank-by node)
    for assignment in "${preload[@]}"; do
        launcher+=(-x "$assignment")
    done
}

# mpich_launcher PER_HOST K...: hosts share the processors of this one, which neither MPICH nor the library can know.
mpich_launcher() {
    local assignment

    need_program mpiexec.hydra mpich
    launcher=(mpiexec.hydra -launcher rsh -launcher-exec "$state/rsh" -iface switch
        -hosts "$(host_slots "$@")" -ppn "$1" -n $(($1 * ($# - 1)))
        -genv UCX_TLS "tcp,sm,self" -genv UCX_NET_DEVICES eth0 -genv OPTCAST_POLLING yield)
    for assignment in "${preload[@]}"; do
        launcher+=(-genv "${assignment%%=*}" "${assignment#*=}")
    done
}

# servers_on K: the servers that were started on that host and still run, by their pids on it.
servers_on() {
    local holder file pid

    holder=$(holder_of "$1")
    [ -n "$holder" ] || return 0
    for file in "$state/server.$1".*.pid; do
        [ -e "$file" ] || continue
        pid=$(cat "$file")
        ! on_host "$holder" kill -0 "$pid" 2>/dev/null || echo "$pid"
    done
}

# on_host HOLDER COMMAND...: among the processes of that host.
on_host() {
    nsenter --target "$1" --mount --pid "${@:2}"
}

command_server() {
    local k count base program

    [ $# -ge 1 ] || fail "server needs a host"
    k=$(host_number "$1")
    shift
    need_program nsenter util-linux
    program=${OPTCAST_SERVER:-${BUILD:-$here/../../build}/optcast-server}
    [ -x "$program" ] || fail "no $program: build it, or set BUILD or OPTCAST_SERVER"
    program=$(readlink -f "$program")
    count=$(find "$state" -name "server.$k.*.log" | wc -l)
    base=$state/server.$k.$((count + 1))
    case " $*" in
    *" --listen"*) ;;
    *) set -- --listen "$(address_of "$k")" "$@" ;;
    esac
    # shellcheck disable=SC2016 # for the other shell
    (enter "$k" /bin/sh -c 'setsid "$@" >"$0.out" 2>"$0.log" </dev/null & echo $! >"$0.pid"' "$base" \
        "$program" "$@")
    wait_server "$k" "$base"
}

# wait_server K BASE
wait_server() {
    local patience=200 ready='s/^optcast-server: ready on //p'

    until [ -n "$(sed -n "$ready" "$2.out" 2>/dev/null)" ]; do
        if [ $((patience -= 1)) -eq 0 ] || ! on_host "$(holder_of "$1")" kill -0 "$(cat "$2.pid")" 2>/dev/null; then
            fail "the server on h$1 is not ready: $(head -n 1 "$2.log")"
        fi
        sleep 0.05
    done
    sed -n "$ready" "$2.out"
}

# jobs_of K SERVERS: the processes that these servers have started for jobs, by their pids on the host.
jobs_of() {
    local pid

    for pid in $2; do
        on_host "$(holder_of "$1")" cat "/proc/$pid/task/$pid/children" 2>/dev/null || :
    done
}

command_signal() {
    local k servers

    case $#-${3:-jobs} in
    2-jobs | 3-jobs) ;;
    *) fail "signal needs a host and a signal, and maybe the word jobs" ;;
    esac
    k=$(host_number "$1")
    servers=$(servers_on "$k")
    [ -n "$servers" ] || fail "no server runs on h$k"
    if [ $# -eq 3 ]; then
        servers=$(jobs_of "$k" "$servers")
        [ -n "$servers" ] || fail "no server on h$k has a job"
    fi
    # shellcheck disable=SC2086 # a list
    on_host "$(holder_of "$k")" kill -s "${2#SIG}" $servers || fail "cannot send signal '$2'"
}
