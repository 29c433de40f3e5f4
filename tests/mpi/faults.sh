#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Owns the tests of what goes wrong: servers that are not there, strangers, deaths, and sleep.
# usage: faults.sh [TEST...] | --list; without arguments all of the list below
# Test: default 180 parts; mpich: all 180 parts
set -eu

all_tests=(unreachable misspelt fake_servers strangers crowd
    kill_supervisor kill_supervisor_waiting kill_data_process kill_data_process_waiting
    stop_supervisor stop_supervisor_waiting stop_data_process stop_data_process_waiting
    kill_nonblocking client_killed drain idle)
if [ "${1:-}" = --list ]; then
    echo "${all_tests[*]}"
    exit 0
fi

# shellcheck source=tests/mpi/lib.sh
. "$(dirname "$0")/lib.sh"

# How soon an error must be there, after its cause or after a rank comes to know, in seconds.
promptness=10

begin_mpi_test faults
compile faults
TIME_LIMIT=${TIME_LIMIT:-40}

# falls_back NAME SERVERS LINE [SETTING=VALUE...]: a job with such servers ends well and says LINE.
falls_back() {
    local name=$1 servers=$2 line=$3

    shift 3
    expect_job "$name" 3 "$servers" connect_timeout=2 "$@" faults seconds=0.2
    has_line "$tmp/$name.log" "optcast: communicator .*$line.*$mpi_library's own collectives are used" ||
        not_ok "$name: no line with \"$line\"" "$tmp/$name.log"
    [ "$(grep -c '^rank [0-2]: .* 0 offloaded' "$tmp/$name.log")" -eq 3 ] ||
        not_ok "$name: not everything fell back" "$tmp/$name.log"
}

# serves_job NAME: the server of start_server runs a whole job.
serves_job() {
    is_alive "$server_pid" || not_ok "$1: the server is dead" "$server_log"
    expect_job "$1" 3 "$server_address" faults seconds=0.2
    ! grep -q ' 0 offloaded' "$tmp/$1.log" || not_ok "$1: nothing was offloaded" "$tmp/$1.log" "$server_log"
}

test_unreachable() {
    falls_back port 127.0.0.1:1 'server 127.0.0.1:1 cannot be reached: Connection refused'
    # an address that is nobody's, by RFC 5737
    falls_back host 192.0.2.1 'server 192.0.2.1:8918 (cannot be reached|did not answer within 2 seconds)'
    falls_back name no-such-host.invalid 'the host "no-such-host.invalid" cannot be resolved'
    start_server
    falls_back second "$server_address,127.0.0.1:1" 'server 127.0.0.1:1 cannot be reached' recovery=off
    expect_job without 3 "$server_address,127.0.0.1:1" connect_timeout=2 faults seconds=0.2
    [ "$(grep -c 'optcast: server 127.0.0.1:1 cannot be reached: Connection refused; communicators do without it$' "$tmp/without.log")" -eq 1 ] ||
        not_ok "without: not one line says which server is not there" "$tmp/without.log"
    ! grep -q ' 0 offloaded' "$tmp/without.log" || not_ok "without: the server that is there is not used" "$tmp/without.log"
    serves_job after
}

test_misspelt() {
    falls_back port 'host:port:x,' "$(setting servers): .*\"\" is not a host"
    falls_back number 'host:99999' "$(setting servers): \"host:99999\" has no valid port"
    falls_back word 'host:x' "$(setting servers): \"host:x\" has no valid port"
    falls_back nothing '' "$(setting servers): \"\" is not a host"
    falls_back none embedded:0 "$(setting servers): \"embedded:0\": embedded\[:N\]"
    falls_back many embedded:x "$(setting servers): \"embedded:x\": embedded\[:N\]"
    falls_back file file:/nonexistent "$(setting servers): cannot read the server file \"/nonexistent\""
    echo '# nobody' >"$tmp/servers"
    falls_back empty "file:$tmp/servers" "$(setting servers): the server file .* names no server"
    start_server
    echo "$server_address # somebody" >>"$tmp/servers"
    expect_job good 3 "file:$tmp/servers" faults seconds=0.2
    ! grep -q ' 0 offloaded' "$tmp/good.log" || not_ok "a server file is not used" "$tmp/good.log"
}

# start_fake KIND: sets fake_address.
start_fake() {
    "$PYTHON" "$here/stranger.py" serve "$1" >"$tmp/fake-$1.out" 2>&1 </dev/null &
    started+=("$!")
    wait_until 10 has_line "$tmp/fake-$1.out" '^ready on ' || not_ok "no fake server" "$tmp/fake-$1.out"
    fake_address=$(sed -n 's/^ready on //p' "$tmp/fake-$1.out")
}

test_fake_servers() {
    start_fake version
    falls_back version "$fake_address" "server $fake_address does not speak this protocol"
    start_fake garbage
    falls_back garbage "$fake_address" "server $fake_address does not speak this protocol"
    start_fake close
    falls_back close "$fake_address" "server $fake_address is gone: it closed the connection"
    start_fake mute
    falls_back mute "$fake_address" "server $fake_address did not answer within 2 seconds"
}

# stranger KIND ANSWER LINE: what the stranger is told, and what the server tells about it.
stranger() {
    local got

    got=$(timeout 20 "$PYTHON" "$here/stranger.py" send "$1" "$server_address" 2>&1) || :
    [[ "$got" =~ $2 ]] || not_ok "the stranger \"$1\" got \"$got\" instead of \"$2\"" "$server_log"
    wait_until 3 has_line "$server_log" "$3" || not_ok "no line \"$3\" of the server" "$server_log"
    is_alive "$server_pid" || not_ok "the stranger \"$1\" has killed the server" "$server_log"
}

test_strangers() {
    local versions

    versions=$("$BUILD/optcast-info" | sed -n 's/^  versions *//p')
    start_server
    stranger garbage 'refused: what it sent is not a HELLO' '127.0.0.1:[0-9]+ was refused: what it sent is not a HELLO'
    stranger half left 'it left in the middle of a message'
    stranger oversized 'refused: what it sent is not a HELLO' 'not a HELLO of this protocol \(.*limit'
    stranger version 'refused: its messages are of another protocol version' "of another protocol version; this server speaks $versions"
    stranger hello-version 'refused: it speaks protocol 90 to 99' "it speaks protocol 90 to 99, this server speaks $versions"
    stranger silent 'refused: no HELLO came in time' 'no HELLO came in time'
    serves_job after-nonsense
    # a HELLO in good order, but with an address that is none: the end of that job only
    stranger address '.' 'job [0-9a-f]+ (is over|.*ended)'
    serves_job after-address
}

test_crowd() {
    local limit before after

    limit=$(ulimit -S -n)
    ulimit -S -n 100 # descriptors of the server
    start_server
    ulimit -S -n "$limit"
    "$PYTHON" "$here/stranger.py" send crowd "$server_address" >"$tmp/crowd.out" 2>&1 </dev/null &
    started+=("$!")
    wait_until 10 has_line "$tmp/crowd.out" 'are there' || not_ok "no crowd" "$tmp/crowd.out" "$server_log"
    before=$(cpu_time "$server_pid")
    sleep 2
    after=$(cpu_time "$server_pid")
    wait_until 20 has_line "$tmp/crowd.out" '^left' || not_ok "the crowd stays" "$tmp/crowd.out"
    sleep 6 # until the server has got rid of those that it let in
    serves_job after-crowd
    [ $((after - before)) -lt 50 ] ||
        not_ok "with no descriptors left the server used $(in_seconds $((after - before))) s in 2 s" "$server_log"
}

# check_errors NAME CAUSE RANKS: all ranks told an error that names the server, soon after CAUSE (a time).
check_errors() {
    local rank line at since

    for ((rank = 0; rank < $3; rank++)); do
        line=$(grep "^rank $rank: error after " "$tmp/$1.log") ||
            not_ok "$1: rank $rank has no error" "$tmp/$1.log" "$server_log"
        [[ -n ${unnamed:-} || $line == *"$server_address"* ]] || not_ok "$1: rank $rank does not name the server: $line"
        at=$(sed -n -E "s/^rank $rank: error after .* at ([0-9.]+): .*/\1/p" "$tmp/$1.log")
        since=$(sed -n -E "s/^rank $rank: late at //p" "$tmp/$1.log")
        awk -v at="$at" -v cause="$2" -v late="${since:-0}" -v most="$promptness" \
            'BEGIN { exit !(at - (late > cause ? late : cause) <= most) }' ||
            not_ok "$1: rank $rank had its error at $at, after $2 (late: ${since:-no})" "$tmp/$1.log"
    done
    ! grep -q '^not ok' "$tmp/$1.log" || not_ok "$1: wrong results" "$tmp/$1.log"
}

# lose_server NAME SIGNAL supervisor|data_process OPTION...: in the middle of a loop of Allreduces.
lose_server() {
    local name=$1 signal=$2 victim status=0 cause

    start_server --aggregators 2
    start_job "$name" 4 "$server_address" recovery=off faults seconds=30 "${@:4}"
    wait_until 15 has_line "$tmp/$name.log" 'rank 3: begins' || not_ok "$name: no job" "$tmp/$name.log"
    wait_until 15 has_line "$server_log" 'job .* begins' || not_ok "$name: no job" "$tmp/$name.log"
    sleep 1.5
    victim=$server_pid
    [ "$3" = supervisor ] || victim=$(children_of "$server_pid")
    [ -n "$victim" ] || not_ok "$name: the server has no process for the job" "$server_log"
    ! has_line "$tmp/$name.log" ' error ' || not_ok "$name: an error comes too early" "$tmp/$name.log"
    cause=$(date +%s.%N)
    kill "-$signal" "$victim"
    wait_until 25 eval "! is_alive $job_pid" || not_ok "$name: the job hangs" "$tmp/$name.log" "$server_log"
    wait "$job_pid" || status=$?
    [ "$status" -ne 0 ] || not_ok "$name: the job ended without an error" "$tmp/$name.log"
    check_errors "$name" "$cause" 4
    if [ "$3" = data_process ]; then
        serves_job "after-$name"
    else
        kill -CONT "$server_pid" 2>/dev/null || :
    fi
}

test_kill_supervisor() {
    lose_server kill-small KILL supervisor
    lose_server kill-large KILL supervisor count=300000
}

test_kill_supervisor_waiting() {
    lose_server kill-small KILL supervisor late=2 late_for=5
    lose_server kill-large KILL supervisor late=2 late_for=5 count=300000
}

test_kill_data_process() {
    lose_server kill-small KILL data_process
    lose_server kill-large KILL data_process count=300000
}

test_kill_data_process_waiting() {
    lose_server kill-small KILL data_process late=0 late_for=5
    lose_server kill-large KILL data_process late=0 late_for=5 count=300000
}

test_stop_supervisor() { lose_server stop STOP supervisor count=20000; }
test_stop_supervisor_waiting() { lose_server stop STOP supervisor late=1 late_for=4; }
test_stop_data_process() { lose_server stop STOP data_process count=20000; }
test_stop_data_process_waiting() { lose_server stop STOP data_process late=1 late_for=4; }
test_kill_nonblocking() {
    # MPICH has a text of its own for errors of requests that are not its own
    [ "$MPI" = openmpi ] || local unnamed=yes
    lose_server kill KILL data_process nonblocking=1 count=20000 late=3 late_for=5
    has_line "$tmp/kill.log" "optcast: communicator .*$server_address" || not_ok "kill: nobody names the server" "$tmp/kill.log"
}

test_client_killed() {
    local other process

    start_server --aggregators 2
    start_job other 3 "$server_address" faults seconds=12 count=5000
    other=$job_pid
    wait_until 15 has_line "$server_log" 'job .* begins' || not_ok "no job" "$tmp/other.log"
    process=$(children_of "$server_pid")
    start_job dying 3 "$server_address" faults seconds=30 kill=1 count=5000
    wait_until 15 eval "[ \$(children_of $server_pid | wc -l) -eq 2 ]" || not_ok "no second job" "$tmp/dying.log"
    process=$(children_of "$server_pid" | grep -v -x "$process")
    wait_until 20 eval "! is_alive $job_pid" || not_ok "the job with the dead rank hangs" "$tmp/dying.log"
    wait_until 5 eval "! is_alive $process" || not_ok "the dead job's process is still there" "$server_log"
    wait "$other" || not_ok "another job was disturbed" "$tmp/other.log" "$server_log"
    has_line "$tmp/other.log" '^ok faults' || not_ok "another job was disturbed" "$tmp/other.log"
    has_line "$server_log" 'process [0-2] of the job is gone' || not_ok "the server does not say so" "$server_log"
    serves_job after
}

test_drain() {
    start_server
    start_job job 3 "$server_address" faults seconds=4
    # a communicator whose set-up comes too late would do without the server
    wait_until 15 has_line "$tmp/job.log" 'communicator .* aggregator on 1 server' || not_ok "no job" "$tmp/job.log"
    kill -TERM "$server_pid"
    sleep 0.5
    falls_back late "$server_address" "server $server_address cannot be reached"
    wait "$job_pid" || not_ok "the job did not end well on a server that drains" "$tmp/job.log" "$server_log"
    ! grep -q ' 0 offloaded' "$tmp/job.log" || not_ok "nothing was offloaded" "$tmp/job.log"
    wait_until 5 eval "! is_alive $server_pid" || not_ok "the server does not end after its last job" "$server_log"
    wait "$server_pid" || not_ok "the server ended with status $?" "$server_log"
}

# expect_idle WHAT: the server uses no measurable time.
expect_idle() {
    local before after

    before=$(cpu_time "$server_pid")
    sleep 5
    after=$(cpu_time "$server_pid")
    [ $((after - before)) -lt 5 ] ||
        not_ok "$1 the server used $(in_seconds $((after - before))) s in 5 s" "$server_log"
}

test_idle() {
    start_server --aggregators 3
    expect_idle "without jobs"
    start_job job 3 "$server_address" faults seconds=1 count=20000 idle=8
    wait_until 15 has_line "$tmp/job.log" '^rank 2: sleeps' || not_ok "no job" "$tmp/job.log"
    sleep 0.5
    expect_idle "with an idle job"
    wait "$job_pid" || not_ok "the job failed" "$tmp/job.log" "$server_log"
    expect_idle "after a job"
}

[ $# -gt 0 ] || set -- "${all_tests[@]}"
for test in "$@"; do
    [[ " ${all_tests[*]} " == *" $test "* ]] || not_ok "no test '$test'; there are: ${all_tests[*]}"
done
for test in "$@"; do
    test_name=faults/$test
    begin=$SECONDS
    "test_$test"
    [ $# -eq 1 ] || echo "ok $test_name ($((SECONDS - begin)) s)"
done
echo "ok faults: $*"
