# shellcheck shell=sh
# SPDX-License-Identifier: BSD-3-Clause
# Owns what run.sh and long.sh know of the fuzz targets, and how they are built. To be sourced, with $top,
# the repository, and $build, the folder for programs.
# shellcheck disable=SC2034,SC2154 # some are for whoever sources it, and some theirs

targets="cast_message cast_record channel contact control datagram flood header hosts origin record ring rules seal
    segment servers settings shelf stream survey udp"

# What computes a code.
mac="base/mac.c base/registers.c -lcrypto"

# What a target is built from, beside itself and what is in brackets: what it decodes [with what else].
sources_of() {
    case $1 in
    cast_message) echo "multicast/wire/cast_message.c multicast/peers/note.c [$mac]" ;;
    cast_record) echo "multicast/service/cast_record.c [node/offer.c]" ;;
    channel) echo "server/daemon/channel.c [base/descriptors.c]" ;;
    contact) echo "multicast/wire/contact.c [base/text.c]" ;;
    control) echo "protocol/control.c [protocol/lost.c base/text.c]" ;;
    datagram) echo "multicast/wire/datagram.c" ;;
    flood) echo "multicast/flood/flood_frame.c [multicast/flood/flood_judge.c $mac]" ;;
    header) echo "protocol/message.c" ;;
    hosts) echo "net/host_set.c net/filter.c" ;;
    origin) echo "multicast/transport/verbs_origin.c [multicast/wire/datagram.c]" ;;
    record) echo "client/state/record.c [node/offer.c base/settings.c base/text.c -DOPTCAST_RULES=\"\"]" ;;
    ring) echo "node/ring.c [node/segment.c node/doorbell.c base/descriptors.c]" ;;
    rules) echo "base/rules.c [base/text.c -linih]" ;;
    seal) echo "protocol/seal.c multicast/core/cast_seal.c [protocol/message.c multicast/wire/datagram.c
        multicast/wire/cast_message.c multicast/peers/note.c $mac]" ;;
    segment) echo "node/segment.c [node/doorbell.c base/descriptors.c]" ;;
    servers) echo "net/address.c [base/text.c]" ;;
    settings) echo "server/daemon/configuration.c base/settings.c base/text.c multicast/transport/cast_address.c
        [net/devices.c -linih -Wl,--wrap=strdup -DOPTCAST_RULES=\"\"]" ;;
    shelf) echo "multicast/peers/shelf.c [node/segment.c base/descriptors.c]" ;;
    stream) echo "control/stream.c [base/descriptors.c base/text.c protocol/control.c protocol/lost.c]" ;;
    survey) echo "tools/survey/survey_wire.c" ;;
    udp) echo "multicast/transport/udp_receive.c [multicast/transport/udp_source.c base/descriptors.c
        -Wl,--wrap=recvmmsg -Wl,--wrap=setsockopt]" ;;
    *) return 1 ;;
    esac
}

# The longest input that makes sense, in bytes.
length_of() {
    case $1 in
    contact) echo 1400 ;;
    control | rules | stream | survey) echo 2048 ;;
    cast_record | header | datagram | cast_message | seal) echo 512 ;;
    settings | servers | hosts | ring | shelf) echo 512 ;;
    record) echo 256 ;;
    *) echo 128 ;;
    esac
}

# How many of a thousand executions are for a target when all share a number of them: what anybody may
# send has the most, and what takes long (it makes files, or shares memory) the fewest.
share_of() {
    case $1 in
    control) echo 300 ;;
    header) echo 180 ;;
    cast_message | datagram) echo 150 ;;
    origin) echo 50 ;;
    flood) echo 20 ;;
    record | seal) echo 40 ;;
    cast_record) echo 15 ;;
    contact) echo 20 ;;
    rules | stream | survey) echo 10 ;;
    servers) echo 5 ;;
    hosts | settings | segment | udp) echo 2 ;;
    channel | ring | shelf) echo 1 ;;
    esac
}

seeds_of() {
    if [ -d "$top/tests/fuzz/corpus/$1" ]; then
        echo "$top/tests/fuzz/corpus/$1"
    fi
}

# Of the fuzzer.
options_of() {
    echo "-timeout=10 -rss_limit_mb=1024 -max_len=$(length_of "$1")"
    if [ -f "$top/tests/fuzz/dictionaries/$1" ]; then
        echo "-dict=$top/tests/fuzz/dictionaries/$1"
    fi
}

# The sanitizers, and what makes the fuzzers end on a finding.
fuzz_flags="-fsanitize=fuzzer,address,undefined -fno-sanitize-recover=undefined"

# A little memory that was freed is enough to find uses of it: inputs are short-lived.
export ASAN_OPTIONS="${ASAN_OPTIONS:-quarantine_size_mb=16}"

find_compiler() {
    for cc in ${FUZZ_CC:-clang clang-14}; do
        if [ "$cc" != no ] && command -v "$cc" >/dev/null 2>&1; then
            echo "$cc"
            return
        fi
    done
}

# compile NAME FOLDER FLAG...: with the compiler $cc, to FOLDER/fuzz_NAME.
compile() {
    name=$1
    folder=$2
    shift 2
    # shellcheck disable=SC2046 # a list
    (cd "$top" && "$cc" -std=gnu11 -g -O1 -Wall -Wextra -D_GNU_SOURCE -I. "$@" \
        -o "$folder/fuzz_$name" "tests/fuzz/fuzz_$name.c" $(sources_of "$name" | tr -d '[]'))
}

# With libFuzzer? Otherwise ends the program with status 77.
check_compiler() {
    cc=$(find_compiler)
    if [ -z "$cc" ]; then
        echo "SKIP: no clang (Debian: clang libclang-rt-14-dev)"
        exit 77
    fi
    printf '%s\n' '#include <stddef.h>' \
        'int LLVMFuzzerTestOneInput(const unsigned char *d, size_t s);' \
        'int LLVMFuzzerTestOneInput(const unsigned char *d, size_t s)' \
        '{ return NULL == d && s > 0; }' > "$build/probe.$$.c"
    # shellcheck disable=SC2086 # flags
    if ! "$cc" $fuzz_flags -o "$build/probe.$$" "$build/probe.$$.c" >/dev/null 2>&1; then
        echo "SKIP: $cc has no libFuzzer (Debian: libclang-rt-14-dev)"
        exit 77
    fi
    rm -f "$build/probe.$$" "$build/probe.$$.c"
}
