#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Owns the test of clusters themselves: making, using and removing them leaves the machine as it was.
# Test: default 120
set -eu

# shellcheck source=tests/cluster/lib.sh
. "$(dirname "$0")/lib.sh"

begin_cluster_test life

# What a cluster might change on this machine. Other clusters may come and go meanwhile.
machine_state() {
    ip netns list
    ip -br link | sort
    cut -d ' ' -f 2 /proc/mounts | sort
    sysctl -n net.ipv4.tcp_allowed_congestion_control net.ipv4.tcp_wmem
    ls -A /etc/netns 2>/dev/null || :
}

# Processes that belong to clusters of this test, or were started by it for one.
remains() {
    # brackets, so that this grep is none of them
    grep -l -a -e "/[${cluster_name:0:1}]${cluster_name:1}" /proc/[0-9]*/cmdline 2>/dev/null | cut -d / -f 3 | grep -v -x $$ || :
}

nothing_remains() {
    [ -z "$(remains)" ]
}

expect_nothing_left() {
    wait_until 5 nothing_remains || not_ok "$1: processes remain: $(remains)"
    for file in "/run/optcast-clusters/$cluster_name"*; do
        [ ! -e "$file" ] || not_ok "$1: $file remains"
    done
    machine_state >"$tmp/after"
    diff "$tmp/before" "$tmp/after" >"$tmp/diff" || not_ok "$1: the machine is not as before" "$tmp/diff"
}

# refuses TEXT COMMAND...: one line on standard error that has TEXT, and exit status 2.
refuses() {
    local status=0

    "${@:2}" >"$tmp/out" 2>"$tmp/error" || status=$?
    [ "$status" -eq 2 ] || not_ok "status $status instead of 2 of: ${*:2}" "$tmp/error"
    [ "$(wc -l <"$tmp/error")" -eq 1 ] || not_ok "not one line of: ${*:2}" "$tmp/error"
    grep -q -F -e "$1" "$tmp/error" || not_ok "no '$1' in the error of: ${*:2}" "$tmp/error"
}

machine_state >"$tmp/before"

# two side by side, with the same addresses
make_cluster --hosts 3 --rate 100
first=$cluster_name
cluster_name=$first-b
# the name may come last
"$here/cluster" up --hosts 2 --rate 0 --name "$cluster_name"
"$here/cluster" list >"$tmp/list"
if ! has_line "$tmp/list" "^$first: 3 hosts, 100 " || ! has_line "$tmp/list" "^$first-b: 2 hosts, 0 "; then
    not_ok "list does not have both clusters" "$tmp/list"
fi
refuses "is up already" cluster up --hosts 2
refuses "no host 'h3'" cluster exec h3 true
cluster down
cluster_name=$first
[ "$(cluster exec h3 hostname)" = h3 ] || not_ok "the other cluster went down, too"

# commands on hosts
cd "$tmp"
[ "$(cluster exec 2 pwd)" = "$tmp" ] || not_ok "exec is not in the current directory"
status=0
cluster exec 2 sh -c 'exit 7' || status=$?
[ "$status" -eq 7 ] || not_ok "exec does not give the exit status"
[ "$(echo text | cluster exec 1 cat)" = text ] || not_ok "exec does not pass on input"
[ "$(cluster names | tr '\n' ,)" = "h1 10.77.0.1,h2 10.77.0.2,h3 10.77.0.3," ] || not_ok "names are wrong"

refuses "bad host 'x'" cluster exec x true
refuses "no host '0'" cluster exec 0 true
refuses "needs a host and a command" cluster exec 1
refuses "bad rate in Mbit/s 'fast'" cluster rate fast
refuses "no host '4'" cluster rate 100 4
refuses "bad loss '101'" cluster loss 1 101
refuses "bad protocol 'icmp'" cluster loss 1 1 icmp
refuses "bad MPI 'lam'" cluster run --mpi lam true
refuses "bad pml 'cm'" cluster run --pml cm true
refuses "run needs a program" cluster run --hosts 1-2
refuses "no host '9'" cluster run --hosts 9,1 true
refuses "no host '9'" cluster run --hosts 1-9 true
refuses "bad range '3-1'" cluster run --hosts 3-1 true
refuses "h2 is in '1-3,2' twice" cluster run --hosts 1-3,2 true
refuses "bad nap in microseconds '0'" cluster run --nap 0 true
refuses "partition needs a host" cluster partition
refuses "unknown argument '2' of stats" cluster stats 2
refuses "unknown argument '$first' of down" cluster down "$first"
refuses "no server runs on h1" cluster signal 1 TERM
refuses "is not ready: optcast-server: " cluster server 1 --aggregators x
refuses "unknown command 'fly'" cluster fly

# sleeps: a process of the job is on h3, beside the one that is always there.
sleeps() {
    [ "$(cluster exec 3 ps ax -o comm= | grep -c -x sleep)" -ge 2 ]
}

# whoever ends the launcher ends the job
"$here/cluster" run --name "$cluster_name" sleep 60 >"$tmp/job.log" 2>&1 &
job=$!
started+=("$job")
wait_until 30 sleeps ||
    not_ok "the job does not begin" "$tmp/job.log"
kill -TERM "$job"
wait_until 10 eval ! sleeps ||
    not_ok "processes of an ended job go on" "$tmp/job.log"

# a host that is missing ends a check; what it began goes with the cluster, and so does a job
cluster kill 2
! cluster check 1 >"$tmp/check" 2>&1 || not_ok "a check goes well with a dead host" "$tmp/check"
cluster exec 1 ps ax -o comm= | grep -q -x iperf3 || not_ok "the server of the check is not on its host" "$tmp/check"
"$here/cluster" run --name "$cluster_name" --hosts 1,3 sleep 60 >"$tmp/job.log" 2>&1 &
started+=($!)
wait_until 30 sleeps || not_ok "the second job does not begin" "$tmp/job.log"
cluster down
cluster down
! wait $! || not_ok "a job ends well without its cluster"
expect_nothing_left "up and down"
refuses "no cluster '$cluster_name' is up" cluster stats

# interrupted while it comes up, then ended without a chance to clean up
cluster up --hosts 100 >"$tmp/up.log" 2>&1 &
sleep 0.3
kill -TERM "$(children_of $!)"
! wait $! || not_ok "an interrupted up says that it succeeded"
expect_nothing_left "interrupted up"
"$here/cluster" up --name "$cluster_name" --hosts 100 >"$tmp/up.log" 2>&1 &
sleep 0.3
kill -KILL $!
wait $! 2>/dev/null || :
refuses "no cluster '$cluster_name' is up" cluster exec 1 true
refuses "is up already, or coming up" cluster up --hosts 2
cluster down
expect_nothing_left "killed up"

refuses "bad number of hosts '0'" cluster up --hosts 0
refuses "bad number of hosts ''" cluster up
refuses "unknown argument '--speed'" cluster up --hosts 2 --speed 3
refuses "bad name 'A/..'" "$here/cluster" up --name A/.. --hosts 2
refuses "needs root" setpriv --reuid=65534 --regid=65534 --clear-groups bash "$here/cluster" up --hosts 2
expect_nothing_left "bad arguments"
echo "ok life"
