#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Builds the fuzz targets from the sources and runs each for some seconds.
#   tests/fuzz/run.sh SECONDS [TARGET...]
# FUZZ_CC: a clang with libFuzzer (default: clang or clang-14). BUILD: folder for programs and
# findings (default: ./build). Ends with 0, 1 on a finding, 77 without a clang that can do it.
set -eu

top=$(cd "$(dirname "$0")/../.." && pwd)
all="cast_message cast_record contact control datagram header record rules servers stream"
build=${BUILD:-./build}

usage() {
    echo "usage: $0 SECONDS [TARGET...]  (targets: $all)" >&2
    exit 2
}

find_compiler() {
    for cc in ${FUZZ_CC:-clang clang-14}; do
        if [ "$cc" != no ] && command -v "$cc" >/dev/null 2>&1; then
            echo "$cc"
            return
        fi
    done
}

# The sources of a target, without itself, and the libraries that they need.
sources_of() {
    case $1 in
    cast_message) echo multicast/message.c multicast/note.c base/mac.c -lcrypto ;;
    cast_record) echo multicast/record.c ;;
    contact) echo multicast/contact.c base/text.c ;;
    control) echo protocol/control.c ;;
    datagram) echo multicast/datagram.c ;;
    header) echo protocol/message.c ;;
    record) echo client/record.c base/text.c ;;
    rules) echo base/rules.c base/text.c -linih ;;
    servers) echo net/address.c base/text.c ;;
    stream) echo net/stream.c base/descriptors.c protocol/control.c ;;
    *) return 1 ;;
    esac
}

compile() { # NAME SOURCE...
    name=$1
    shift
    (cd "$top" && "$cc" -std=gnu11 -g -O1 -Wall -Wextra -D_GNU_SOURCE -I. $flags \
        -o "$build/fuzz_$name" "tests/fuzz/fuzz_$name.c" "$@")
}

check_compiler() {
    printf '%s\n' '#include <stddef.h>' \
        'int LLVMFuzzerTestOneInput(const unsigned char *d, size_t s);' \
        'int LLVMFuzzerTestOneInput(const unsigned char *d, size_t s)' \
        '{ return NULL == d && s > 0; }' > "$build/probe.c"
    if ! "$cc" $flags -o "$build/probe" "$build/probe.c" >/dev/null 2>&1; then
        echo "SKIP: $cc has no libFuzzer (Debian: libclang-rt-14-dev)"
        exit 77
    fi
    rm -f "$build/probe" "$build/probe.c"
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

flags="-fsanitize=fuzzer,address,undefined -fno-sanitize-recover=undefined"
cc=$(find_compiler)
if [ -z "$cc" ]; then
    echo "SKIP: no clang (Debian: clang libclang-rt-14-dev)"
    exit 77
fi
mkdir -p "$build"
build=$(cd "$build" && pwd)
check_compiler

failed=0
for target in ${*:-$all}; do
    compile "$target" $(sources_of "$target")
    mkdir -p "$build/corpus_$target"
    seeds=
    [ -d "$top/tests/fuzz/corpus/$target" ] && seeds=$top/tests/fuzz/corpus/$target
    echo "fuzz_$target: $seconds seconds"
    # new inputs go to the build folder; the last line of the output says how many runs it was
    if ! "$build/fuzz_$target" -max_total_time="$seconds" -timeout=10 -rss_limit_mb=1024 \
        -max_len=8192 -print_final_stats=1 -artifact_prefix="$build/finding_${target}_" \
        "$build/corpus_$target" $seeds > "$build/fuzz_$target.log" 2>&1; then
        echo "FINDING: fuzz_$target"
        grep -v '^#' "$build/fuzz_$target.log" | tail -n 60
        failed=1
    else
        grep number_of_executed_units "$build/fuzz_$target.log" || :
    fi
done
exit $failed
