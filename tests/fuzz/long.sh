#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Runs the fuzz targets for a number of executions in all, and prints a table of what came of it.
#   tests/fuzz/long.sh [--runs N] [--jobs N] [--merge] [TARGET...]
# --runs N: executions in all, shared among the targets (default: 100000000). --jobs N: targets at a
# time (default: 1). --merge: then adds inputs to tests/fuzz/corpus that reach code which those there
# do not reach.
# FUZZ_CC, BUILD and exit status: as for tests/fuzz/run.sh. Covered lines and regions of the sources
# that a target is about need llvm-profdata and llvm-cov.
# shellcheck disable=SC2046,SC2086 # lists
set -eu

top=$(cd "$(dirname "$0")/../.." && pwd)
build=${BUILD:-./build}
# shellcheck source=tests/fuzz/targets.sh
. "$top/tests/fuzz/targets.sh"

runs=100000000
jobs=1
merge=no

# Larger inputs do not become part of the repository.
largest=4096

usage() {
    sed -n 's/^# \{0,1\}//; 3,9p' "$0" >&2
    exit 2
}

is_number() {
    case $1 in
    '' | 0* | *[!0-9]*) return 1 ;;
    esac
}

# ---- one target ----

# The version of a tool of LLVM that fits the compiler, or nothing.
tool() {
    for name in "$1-$("$cc" -dumpversion | cut -d. -f1)" "$1"; do
        if command -v "$name" >/dev/null 2>&1; then
            echo "$name"
            return
        fi
    done
}

# What follows the last WORD in a log, or 0.
last_of() { # FILE WORD
    sed -n "s/.* $2 \([0-9]*\) .*/\1/p" "$1" | tail -n 1 | grep . || echo 0
}

# "REGIONS LINES", in percent: how much of the sources all inputs that were found reach.
coverage() { # TARGET
    profdata=$(tool llvm-profdata)
    cov=$(tool llvm-cov)
    if [ -z "$profdata" ] || [ -z "$cov" ]; then
        echo "- -"
        return
    fi
    compile "$1" "$work" -fsanitize=fuzzer -fprofile-instr-generate -fcoverage-mapping
    LLVM_PROFILE_FILE=$work/profile "$work/fuzz_$1" -runs=0 "$work/corpus" $(seeds_of "$1") \
        > "$work/coverage.log" 2>&1
    "$profdata" merge -o "$work/merged" "$work/profile"
    (cd "$top" && "$cov" report "$work/fuzz_$1" -instr-profile "$work/merged" \
        $(sources_of "$1" | tr '\n' ' ' | sed 's/\[.*//')) | awk '$1 == "TOTAL" { print $4, $10 }'
}

# Only what reaches new edges; how often is not worth a file.
merge_corpus() { # TARGET
    mkdir -p "$top/tests/fuzz/corpus/$1"
    "$build/fuzz_$1" -merge=1 -use_counters=0 -max_len=$largest "$top/tests/fuzz/corpus/$1" \
        "$work/corpus" > "$work/merge.log" 2>&1
}

milliseconds() {
    echo $(($(date +%s%N) / 1000000))
}

# A line of the table in $work/line.
fuzz_one() { # TARGET RUNS
    work=$build/long_$1
    mkdir -p "$work/corpus"
    compile "$1" "$build" $fuzz_flags
    findings=0
    began=$(milliseconds)
    if ! "$build/fuzz_$1" -runs="$2" $(options_of "$1") -print_final_stats=1 \
        -artifact_prefix="$work/finding_" "$work/corpus" $(seeds_of "$1") > "$work/log" 2>&1; then
        findings=1
        echo "FINDING: fuzz_$1, see $work/log" >&2
    fi
    took=$(($(milliseconds) - began + 1))
    done=$(sed -n 's/^stat::number_of_executed_units: *//p' "$work/log")
    read -r regions lines <<EOF
$(coverage "$1")
EOF
    [ $merge = no ] || merge_corpus "$1"
    row "$1" "${done:-0}" $((took / 1000)) $((${done:-0} * 1000 / took)) \
        "$(last_of "$work/log" cov:)" "$(last_of "$work/log" ft:)" "$lines" "$regions" $findings \
        > "$work/line"
    cat "$work/line"
}

row() {
    printf '%-13s %11s %8s %9s %6s %6s %8s %8s %9s\n' "$@"
}

# ---- all of them ----

total() {
    awk '
        { runs += $2; seconds += $3; findings += $9 }
        END {
            printf "%-13s %11d %8d %9d %6s %6s %8s %8s %9d\n", "all", runs, seconds,
                   runs / (seconds > 0 ? seconds : 1), "", "", "", "", findings
            exit findings > 0
        }' $(for target in $targets; do echo "$build/long_$target/line"; done)
}

one=
while [ $# -gt 0 ]; do
    case $1 in
    --runs | --jobs | --one)
        [ $# -ge 2 ] || usage
        case $1 in
        --runs) runs=$2 ;;
        --jobs) jobs=$2 ;;
        --one) one=$2 ;; # this program calls itself, to run several at a time
        esac
        shift
        ;;
    --merge) merge=yes ;;
    -*) usage ;;
    *) break ;;
    esac
    shift
done
if ! is_number "$runs" || ! is_number "$jobs"; then
    usage
fi
for target in "$@"; do
    sources_of "$target" >/dev/null || usage
done
mkdir -p "$build"
build=$(cd "$build" && pwd)
if [ -n "$one" ]; then
    cc=$(find_compiler)
    fuzz_one "$one" "$runs"
    exit
fi
check_compiler

targets=${*:-$targets}
shares=0
for target in $targets; do
    shares=$((shares + $(share_of "$target")))
    rm -f "$build/long_$target/line"
done
row target executions seconds per_s edges feats lines regions findings
option=$([ $merge = no ] || echo --merge)
# shellcheck disable=SC2016 # for the other shell
for target in $targets; do
    echo "$target $((runs * $(share_of "$target") / shares + 1))"
done | BUILD=$build xargs -P "$jobs" -L 1 sh -c '"$0" '"$option"' --runs "$2" --one "$1"' "$0"
total
