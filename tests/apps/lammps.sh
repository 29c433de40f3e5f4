#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Owns the test that an unmodified LAMMPS computes the same with its collectives offloaded.
# Test: default 240
set -eu

# shellcheck source=tests/apps/lib.sh
. "$(dirname "$0")/lib.sh"

begin_job_test lammps
LMP=${LMP:-lmp}
command -v "$LMP" >/dev/null || skip "no $LMP in PATH; install lammps"

# run MODE: leave the output in $tmp/MODE.out and the thermo table in $tmp/MODE.table.
run() {
    status=0
    run_mpi 4 "$1" "$LMP" -in "$here/lj.in" -log none >"$tmp/$1.out" 2>"$tmp/$1.err" || status=$?
    [ "$status" -eq 0 ] ||
        not_ok "LAMMPS ended with status $status in the run with optcast mode $1" "$tmp/$1.out" "$tmp/$1.err"
    awk '/^Loop time/ { inside = 0 } inside; /^ *Step / { inside = 1 }' "$tmp/$1.out" >"$tmp/$1.table"
    [ "$(wc -l <"$tmp/$1.table")" -eq 21 ] ||
        not_ok "the run with optcast mode $1 printed $(wc -l <"$tmp/$1.table") thermo lines instead of 21" "$tmp/$1.out"
}

run none
run always

difference=$(paste "$tmp/none.table" "$tmp/always.table" | awk '
    function abs(x) { return x < 0 ? -x : x }
    NF != 10 {
        print "line " NR " has " NF " fields in both tables together instead of 10"
        exit
    }
    {
        for (i = 1; i <= 5; i++) {
            a = $i; b = $(i + 5)
            # Values like nan are text to awk, and never equal enough.
            numeric = a ~ /^-?[0-9]/ && b ~ /^-?[0-9]/
            largest = abs(a) > abs(b) ? abs(a) : abs(b)
            if (!numeric || abs(a - b) > 1e-6 * largest) {
                print "step " $1 ", column " i ": " a " without optcast, " b " with it"
                exit
            }
        }
    }')
[ -z "$difference" ] || not_ok "results differ: $difference"

offloaded=$(offloaded_count "$tmp/always.err")
[ "$offloaded" -gt 0 ] || not_ok "LAMMPS ran, but no collective was offloaded" "$tmp/always.err"
echo "ok lammps: same results, $offloaded collectives offloaded"
