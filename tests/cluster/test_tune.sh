#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Owns the test that mode auto offloads exactly the sizes that optcast-tune has found, where it has found them.
# Test: all 300 alone
set -eu

# shellcheck source=tests/cluster/lib.sh
. "$(dirname "$0")/lib.sh"

export TIME_LIMIT=${TIME_LIMIT:-200} MODE=auto

# tune NAME HOSTS OPTION...: adds a rule to the file.
tune() {
    expect_cluster_job "$1" "$servers" --hosts "$2" -- optcast-tune --add --output "$rules" "${@:3}"
    has_line "$tmp/$1.log" "^# written to $rules\$" || not_ok "it does not say that it has written" "$tmp/$1.log"
}

# rule COLLECTIVE NAME: the ranges of that rule, one a line.
rule() {
    awk -v head="[$1 $2]" '$0 == head { found = 1 } found && /^offload = / { print; exit }' "$rules" |
        sed 's/^offload = //; s/, */\n/g'
}

# rows: of the table of the first rule in the file, sizes and verdicts, one a line.
rows() {
    sed -n -E 's/^# +([0-9]+) +[0-9.]+ .* ([a-z]+)$/\1 \2/p' "$rules"
}

# is_in BYTES: whether a line of $tmp/ranges has it.
is_in() {
    awk -F - -v bytes="$1" '$1 + 0 <= bytes && ($2 == "" || bytes <= $2 + 0) { found = 1 } END { exit !found }' \
        "$tmp/ranges"
}

# expect_sizes NAME COLLECTIVE FIRST LAST: of sizes that double, exactly those in $tmp/ranges are offloaded.
expect_sizes() {
    local bytes offloaded

    expect_cluster_job "$1" "$servers" rules="$rules" --hosts 1-4 -- \
        optcast-perf "$2" -b "$3" -e "$4" -n 2 -w 1 --check --interface none --csv "$tmp/$1.csv"
    "$PYTHON" -c 'import csv, sys
for row in csv.DictReader(open(sys.argv[1])):
    print(row["bytes"], row["offloaded"])' "$tmp/$1.csv" >"$tmp/$1.sizes"
    while read -r bytes offloaded; do
        if is_in "$bytes"; then
            [ "$offloaded" -eq 2 ] || not_ok "$bytes bytes are in a range, and $offloaded of 2 offloaded" "$rules"
        else
            [ "$offloaded" -eq 0 ] || not_ok "$bytes bytes are in no range, and $offloaded of 2 offloaded" "$rules"
        fi
        seen=$((seen + 1))
    done <"$tmp/$1.sizes"
}

begin_cluster_test tune
rules=$tmp/rules.ini
seen=0
# the tools of the build tree take part as programs of the test
programs=$BUILD
make_cluster --hosts 8 --rate 100
start_servers 5 6 7 8
tune four 1-4 --min 512 --max 1M
rule allreduce 4x1+4 >"$tmp/ranges"
is_in 1048576 || not_ok "with as many servers as hosts 1 MiB is not faster" "$rules"
rows >"$tmp/rows"
while read -r bytes verdict; do
    [ "$verdict" != slower ] || ! is_in "$bytes" || not_ok "$bytes bytes are slower, and in a range" "$rules"
done <"$tmp/rows"
first=$(sed -n 's/-.*//p;q' "$tmp/ranges")
# 12 sizes, and three in between where the range begins, unless it begins with the first
expected=12
[ "$first" -eq 512 ] || expected=15
[ "$(wc -l <"$tmp/rows")" -ge "$expected" ] || not_ok "there are too few sizes" "$rules"
has_line "$rules" '^# +1048576 .* faster$' || not_ok "the table does not have 1 MiB" "$rules"

# another situation, whose rule does not fit
tune two 1-2 --min 512 --max 1K
[ "$(grep '^\[' "$rules" | tr -d '\n')" = '[allreduce 2x1+4][allreduce 4x1+4]' ] ||
    not_ok "the rules are not as expected" "$rules"
expect_sizes doubling allreduce 256 2M
has_line "$tmp/doubling.log" '\(rule "4x1\+4" of .*rules\.ini\)' ||
    not_ok "no line says that the rule decides" "$tmp/doubling.log"
expect_sizes below allreduce $((first - 4)) $((first - 4))
expect_sizes first allreduce "$first" "$first"
expect_sizes last allreduce 1048576 1048576
expect_sizes beyond allreduce 1048580 1048580
found=$(paste -s -d , "$tmp/ranges")

# a Reduce has rules of its own, in the same file
tune reduce 1-4 --collective reduce --min 64K --max 1M
[ "$(grep '^\[' "$rules" | tr -d '\n')" = '[reduce 4x1+4][allreduce 2x1+4][allreduce 4x1+4]' ] ||
    not_ok "the rules are not as expected" "$rules"
rule reduce 4x1+4 >"$tmp/ranges"
is_in 1048576 || not_ok "a Reduce of 1 MiB is not faster, where Open MPI's root takes in three vectors" "$rules"
expect_sizes reduces reduce 32K 2M
has_line "$tmp/reduces.log" ': Reduce offloads .* \(rule "4x1\+4" of .*rules\.ini\)' ||
    not_ok "no line says that the rule decides" "$tmp/reduces.log"
echo "ok tune: $seen sizes are offloaded as measured: $found of Allreduces, $(paste -s -d , "$tmp/ranges") of Reduces"
