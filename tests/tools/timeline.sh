#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Owns the test of timelines: what ranks and aggregators write, and what optcast-timeline makes of it.
# Test: default 120
set -eu

here=$(cd "$(dirname "$0")" && pwd)
REPO=$(cd "$here/../.." && pwd)
BUILD=${BUILD:-$REPO/build}
# shellcheck source=tests/mpi/lib.sh
. "$REPO/tests/mpi/lib.sh"
# shellcheck source=tests/tools/lib.sh
. "$here/lib.sh"

begin_mpi_test timeline
find_tool optcast-timeline
TIME_LIMIT=${TIME_LIMIT:-60}

# column NUMBER SEQUENCE: of the line about that collective.
column() {
    awk -v n="$1" -v sequence="$2" '$1 !~ /^#/ && $2 == sequence { print $n; exit }' "$tmp/out"
}

# expect_columns SEQUENCE VALUE...: of its line, from the third on.
expect_columns() {
    local sequence=$1 number=3 value

    shift
    for value in "$@"; do
        [ "$(column "$number" "$sequence")" = "$value" ] ||
            not_ok "column $number of collective $sequence is $(column "$number" "$sequence"), not $value" "$tmp/out"
        number=$((number + 1))
    done
}

# Two ranks and an aggregator, times in ms; the clock of the aggregator is 1000 s ahead if it is another.
# write_files CLOCK AHEAD
write_files() {
    printf '%s\n' "optcast-timeline 2 client rank-0 one" "# comment" \
        "0 0 4 0 4096 0 0 1000000 1200000 9000000 reduce" "0 0 4 1 1024 0 0 2000000 2200000 12000000 reduce" >"$tmp/a.timeline"
    printf '%s\n' "optcast-timeline 2 client rank-1 one" \
        "0 0 4 0 4096 1 1 3000000 3200000 9500000 reduce" "0 0 4 1 1024 1 1 4000000 4200000 11000000 reduce" >"$tmp/b.timeline"
    awk -v clock="$1" -v ahead="$2" 'BEGIN {
        print "optcast-timeline 2 server server-h1-1-0", clock
        printf "0 0 4 0 4096 0 1 %.0f %.0f %.0f %.0f %.0f\n", ahead + 5e5, ahead + 2e6, ahead + 6e6, ahead + 8e6, ahead + 9e6
        printf "0 0 4 1 1024 0 1 %.0f %.0f %.0f %.0f %.0f\n", ahead + 6e5, ahead + 4e6, ahead + 9e6, ahead + 10e6, ahead + 11e6
    }' >"$tmp/c.timeline"
}

# What the tables say of these: 2 ranks, 1 aggregator, 2 chunks, of up to 4096 bytes; from 1 to 12 ms.
write_files one 0
shows 0 "$tmp/c.timeline" "$tmp/b.timeline" "$tmp/a.timeline"
expect_columns 4 reduce 2 1 2 4096 11.00 2.00 8.00 5.00 5.00 2.000 1.50 3.00
# by the least way of 1 ms in both directions, the clocks differ by nothing but the seconds
write_files other 1000000000000
shows 0 --sequence 4 --svg "$tmp/x.svg" "$tmp"/[abc].timeline
expect_columns 4 reduce 2 1 2 4096 11.00 2.00 8.00 5.00 5.00 2.000 1.50 3.00
has out '^ +0 +1 \| +-0\.40 +3\.00 +8\.00 +9\.00 +10\.00 \| +0 +1 \| +1\.00 1\.20 11\.00 +3\.00 3\.20 10\.00$'
"$PYTHON" -c 'import sys, xml.etree.ElementTree as t
root = t.parse(sys.argv[1]).getroot()
bars = [r for r in root.iter("{http://www.w3.org/2000/svg}rect") if r.get("fill") == "#c00000"]
sys.exit(0 if len(bars) == 3 else f"{len(bars)} red bars")' "$tmp/x.svg" 2>"$tmp/python" ||
    not_ok "the drawing is wrong" "$tmp/python" "$tmp/x.svg"

shows 1 --sequence 5 "$tmp"/[abc].timeline
has err 'no such collective'
shows 1 "$tmp/none.timeline"
has err "cannot read .*none\.timeline: No such file"
cp "$tmp/b.timeline" "$tmp/e.timeline"
echo "0 0 4 2 1024 1 1 4000000 4200000 11000000 bcast" >>"$tmp/e.timeline"
shows 1 "$tmp/e.timeline"
has err 'e\.timeline is no timeline of this version, or damaged'
echo "1 2 3" >>"$tmp/b.timeline"
shows 1 "$tmp/b.timeline"
has err 'b\.timeline is no timeline of this version, or damaged'
echo nonsense >"$tmp/d.timeline"
shows 1 "$tmp/d.timeline"
shows 1 --svg "$tmp/none/x.svg" "$tmp/a.timeline"
has err 'cannot write'
shows 2
shows 2 --sequence x "$tmp/a.timeline"
shows 0 --help
shows 0 --version
has out '^optcast-timeline [0-9]+\.[0-9]+\.[0-9]+$'

# A job: 256 KiB are four chunks of 64 KiB, on two aggregators.
compile_program volume "$REPO/tests/mpi/volume.c"
start_server --aggregators 2 --timeline "$tmp/job"
expect_job volume 3 "$server_address" timeline="$tmp/job" chunk_size=64K volume 65536 5
stop_server "$server_pid" || not_ok "the server did not end well" "$server_log"
[ "$(find "$tmp" -name 'job-*.timeline' | wc -l)" -eq 5 ] || not_ok "there are not five files"
shows 0 --svg "$tmp/job.svg" "$tmp"/job-*.timeline
[ "$(awk '$3 == "allreduce" && $4 == 3 && $5 == 2 && $6 == 4 && $7 == 65536 && $8 > 0' "$tmp/out" | wc -l)" -eq 5 ] ||
    not_ok "not five collectives of 3 ranks, 2 aggregators and 4 chunks" "$tmp/out"
# nothing happens before its cause: the clock is the same
awk '$4 == 3 && ($11 < 0 || $12 < 0 || $13 < 0 || $14 < 0) { exit 1 }' "$tmp/out" ||
    not_ok "a result is there before its contributions" "$tmp/out"

# the embedded server writes one, too
expect_job embedded 2 embedded timeline="$tmp/embedded" volume 65536 1
[ "$(find "$tmp" -name 'embedded-*.timeline' | wc -l)" -eq 3 ] || not_ok "there are not three files"
# each by its name
own=$programs
programs=$BUILD
for kind in reduce reduce_scatter reduce_scatter_block; do
    expect_job "$kind" 3 embedded timeline="$tmp/$kind" optcast-perf "$kind" -b 96K -e 96K -n 2 -w 1 --interface none
    shows 0 "$tmp/$kind"-*.timeline
    [ "$(awk -v kind="$kind" '$3 == kind && $4 == 3' "$tmp/out" | wc -l)" -eq 3 ] || not_ok "not three times $kind" "$tmp/out"
done
programs=$own
echo "ok timeline"
