#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Owns the test of a job whose embedded server has more than a thousand strangers in front of it.
# Test: default 90
set -eu

# shellcheck source=tests/mpi/lib.sh
. "$(dirname "$0")/lib.sh"

begin_mpi_test besieged
compile besieged
TIME_LIMIT=${TIME_LIMIT:-60}
# what most systems give a process
ulimit -S -n 1024

start_job job 4 embedded besieged "$tmp/go"
wait_until 30 has_line "$tmp/job.log" '^at [0-9]+' || not_ok "the job does not get ready" "$tmp/job.log"
"$PYTHON" "$here/stranger.py" besiege "$(sed -n 's/^at //p' "$tmp/job.log")" 1100 >"$tmp/siege.log" 2>&1 </dev/null &
siege=$!
started+=("$siege")
wait_until 40 has_line "$tmp/siege.log" '^besieged' || not_ok "there is no siege" "$tmp/siege.log" "$tmp/job.log"
touch "$tmp/go"
wait "$job_pid" || not_ok "the job failed" "$tmp/siege.log" "$tmp/job.log"
has_line "$tmp/job.log" '^ok besieged' || not_ok "the job did not end well" "$tmp/job.log"
has_line "$tmp/job.log" 'more complaints about strangers|many connections came before its HELLO' ||
    not_ok "strangers were not sent away" "$tmp/job.log"
end_process "$siege"
echo "ok besieged: 1100 strangers at an embedded server"
