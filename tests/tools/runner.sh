#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Owns the test of the runner of tests: what it finds, what it counts, what runs beside what, and its end.
# Test: default 60
set -eu

# shellcheck source=tests/tools/lib.sh
. "$(dirname "$0")/lib.sh"

begin_test runner
tree=$tmp/tree
mkdir -p "$tree/tests/tools" "$tree/tests/mpi" "$tree/tests/unit" "$tree/tests/fuzz" "$tmp/build/test-logs"
cp -r "$REPO/tests/runner" "$tree/tests/"

# dummy NAME LINE BODY: a test script in the suite tools.
dummy() {
    printf '#!/bin/sh\n# %s\n%s\n' "$2" "$3" >"$tree/tests/tools/$1.sh"
    chmod +x "$tree/tests/tools/$1.sh"
}

# runner ARGUMENT...: leaves output in $tmp/out; the exit status is its own.
runner() {
    BUILD=$tmp/build PYTHONPATH=$tree/tests PYTHONDONTWRITEBYTECODE=1 "$PYTHON" -m runner "$@" >"$tmp/out" 2>&1
}

# expect STATUS ARGUMENT...
expect() {
    local wanted=$1 status=0

    shift
    runner "$@" || status=$?
    [ "$status" -eq "$wanted" ] || not_ok "status $status of: $*" "$tmp/out"
}

# says LINE...: each is a whole line of the output, as an extended regular expression.
says() {
    local line

    for line in "$@"; do
        grep -q -E -x -e "$line" "$tmp/out" || not_ok "no line: $line" "$tmp/out"
    done
}

dummy good 'Test: quick 10' 'echo fine'
dummy slow 'Test: default 1' 'trap "echo cleaned up; exit 1" TERM; sleep 30 & wait'
# shellcheck disable=SC2016 # for the other shell, here and below
dummy bad 'Test: default 10; all 10 -- harder' 'echo "broken $1"; exit 3'
dummy lame 'Test: default 10' 'echo "skipped lame: no legs"; exit 77'
# shellcheck disable=SC2016
dummy many 'Test: default 10 parts' '[ "$1" != --list ] || { echo one two:all; exit; }; echo "part $1"'
dummy often 'Test: all 10 x3' "echo x >>$tmp/often"
expect 0 quick
says 'ok tools/good .*' '1 passed, 0 failed, 0 skipped'
expect 1 default
says 'ok tools/good .*' 'again tools/slow, .*' 'not ok tools/slow' '    cleaned up' \
    '    run-tests: it did not end within 2 seconds' 'not ok tools/bad' '    broken ' 'skip tools/lame: no legs' 'ok tools/many:one .*' 'failed: tools/(slow tools/bad|bad tools/slow)' \
    '2 passed, 2 failed, 1 skipped'
rm "$tree/tests/tools/slow.sh"
expect 1 all
says '    broken harder' 'ok tools/many:two .*' 'ok tools/often \(3 times, .*' '4 passed, 1 failed, 1 skipped'
[ "$(wc -l <"$tmp/often")" -eq 3 ] || not_ok "a test of three times ran $(wc -l <"$tmp/often") times"
expect 0 tools/many tools/good
says '3 passed, 0 failed, 0 skipped'
expect 0 default 'tools/ma*'
says '1 passed, 0 failed, 0 skipped'
expect 1 tools/nothing
says "run-tests: there is no suite or test 'tools/nothing' in tier all.*"
expect 2 quick all

# What may run beside others does, and what may not does not: each leaves a file while it runs.
rm "$tree"/tests/tools/*.sh
for name in first second; do
    dummy "$name" 'Test: quick 20' "touch $tmp/$name; for i in \$(seq 100); do
        [ ! -e $tmp/first ] || [ ! -e $tmp/second ] || { sleep 0.5; exit 0; }; sleep 0.1; done; exit 1"
done
dummy single 'Test: quick 20 alone' "! ls $tmp/busy.* 2>/dev/null; touch $tmp/single; sleep 0.5; rm $tmp/single"
dummy other 'Test: quick 20' "touch $tmp/busy.other; sleep 0.5; rm $tmp/busy.other; [ ! -e $tmp/single ]"
expect 0 --jobs 2 quick
says '4 passed, 0 failed, 0 skipped'

# What fails beside others is run again alone, and named; not what fails where nothing else runs, nor too many.
dummy second 'Test: quick 20' "[ -e $tmp/tried ] || { touch $tmp/tried; echo too busy; exit 1; }"
rm "$tree"/tests/tools/{first,single,other}.sh
expect 0 --jobs 2 quick
says 'again tools/second, .*' '    too busy' 'ok tools/second .*' 'passed only alone: tools/second' \
    '1 passed, 0 failed, 0 skipped'
[ -s "$tmp/build/test-logs/tools-second.beside-others.log" ] || not_ok "what it said at first is not kept" "$tmp/out"
rm "$tmp/tried"
expect 1 --jobs 1 quick
says 'not ok tools/second' '0 passed, 1 failed, 0 skipped'
# a test that crashes is not, nor one that skips itself the second time passed
rm "$tmp/tried"
# shellcheck disable=SC2016 # for the other shell
dummy third 'Test: quick 20' 'kill -SEGV $$'
dummy fourth 'Test: quick 20' "[ -e $tmp/left ] && { echo 'SKIP: no room'; exit 77; }; touch $tmp/left; exit 1"
expect 1 --jobs 2 quick
says 'not ok tools/third' 'not ok tools/fourth' 'passed only alone: tools/second' 'failed: tools/third tools/fourth' \
    '1 passed, 2 failed, 0 skipped'
rm "$tree"/tests/tools/{third,fourth}.sh
for i in 1 2 3 4 5 6 7 8 9; do
    dummy "bad$i" 'Test: quick 20' "echo x >>$tmp/bad; exit 1"
done
expect 1 --jobs 2 quick
says '1 passed, 9 failed, 0 skipped'
[ "$(wc -l <"$tmp/bad")" -eq 9 ] || not_ok "nine tests that failed ran $(wc -l <"$tmp/bad") times"
rm "$tree"/tests/tools/{bad?,second}.sh

# Nothing is left of what is interrupted.
dummy long 'Test: quick 60' "echo \$\$ >$tmp/pid; sleep 60"
BUILD=$tmp/build PYTHONPATH=$tree/tests "$PYTHON" -m runner quick >"$tmp/out" 2>&1 &
pid=$!
for _ in $(seq 100); do
    [ ! -s "$tmp/pid" ] || break
    sleep 0.1
done
kill -TERM "$pid"
status=0
wait "$pid" || status=$?
[ "$status" -eq 130 ] || not_ok "status $status of a runner that was interrupted" "$tmp/out"
! kill -0 "$(cat "$tmp/pid")" 2>/dev/null || not_ok "a test goes on without its runner"

# Files that do not say what they are.
dummy long 'nothing' ''
expect 1 quick
says 'run-tests: .*/long.sh: no line "Test: TIER SECONDS" among the first 15'
dummy long 'Test: often 10' ''
expect 1 quick
says "run-tests: .*/long.sh: 'often 10' is no \[SUITE:\] TIER SECONDS .*"
dummy long 'Test: default 10; all 10; all 20' ''
expect 1 quick
says 'run-tests: .*/long.sh: two clauses of one suite and tier; .*'
rm "$tree/tests/tools/long.sh"
echo '/* nobody knows */' >"$tree/tests/unit/test_x.c"
expect 1 quick
says 'run-tests: .*/test_x.c: no line .*'
echo "ok runner"
