#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Builds the fuzz targets from the sources and runs each for some seconds.
#   tests/fuzz/run.sh SECONDS [TARGET...]
# FUZZ_CC: a clang with libFuzzer (default: clang or clang-14). BUILD: folder for programs and
# findings (default: ./build). Ends with 0, 1 on a finding, 77 without a clang that can do it.
# shellcheck disable=SC2046,SC2086 # lists
set -eu

top=$(cd "$(dirname "$0")/../.." && pwd)
build=${BUILD:-./build}
# shellcheck source=tests/fuzz/targets.sh
. "$top/tests/fuzz/targets.sh"

usage() {
    echo "usage: $0 SECONDS [TARGET...]  (targets:" $targets")" >&2
    exit 2
}

[ $# -ge 1 ] || usage
seconds=$1
shift
case $seconds in
'' | *[!0-9]*) usage ;;
esac
for target in "$@"; do
    sources_of "$target" >/dev/null || usage
done

mkdir -p "$build"
build=$(cd "$build" && pwd)
check_compiler

[ $# -gt 0 ] || set -- $targets
failed=0
for target in "$@"; do
    compile "$target" "$build" $fuzz_flags
    mkdir -p "$build/corpus_$target"
    echo "fuzz_$target: $seconds seconds"
    # new inputs go to the build folder; the last line of the output says how many runs it was
    if ! "$build/fuzz_$target" -max_total_time="$seconds" $(options_of "$target") \
        -print_final_stats=1 -artifact_prefix="$build/finding_${target}_" \
        "$build/corpus_$target" $(seeds_of "$target") > "$build/fuzz_$target.log" 2>&1; then
        echo "FINDING: fuzz_$target"
        grep -v '^#' "$build/fuzz_$target.log" | tail -n 60
        failed=1
    else
        grep number_of_executed_units "$build/fuzz_$target.log" || :
    fi
done
exit $failed
