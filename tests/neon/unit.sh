#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Owns the unit tests of the reduction on aarch64, with NEON.
# Test: all 600
set -eu

test_name=unit
# shellcheck source=tests/neon/lib.sh
. "$(dirname "$0")/lib.sh"

# cmocka for aarch64 is kept in the build tree.
cmocka=$BUILD/cmocka-arm64

# write_apt_configuration: an apt of its own, so that this machine gets no second architecture.
write_apt_configuration() {
    mkdir -p "$tmp/apt/state/lists/partial" "$tmp/apt/cache/archives/partial"
    : >"$tmp/apt/status"
    cat >"$tmp/apt/configuration" <<END
APT::Architecture "arm64";
APT::Architectures { "arm64"; };
APT::Sandbox::User "root";
Dir::State "$tmp/apt/state";
Dir::State::status "$tmp/apt/status";
Dir::Cache "$tmp/apt/cache";
END
}

# fetch_cmocka: false if there is no apt-get, or no mirror that has it.
fetch_cmocka() (
    write_apt_configuration
    export APT_CONFIG="$tmp/apt/configuration"
    cd "$tmp/apt"
    # an error of some other source is none of this
    timeout -k 10 100 apt-get -q update || :
    timeout -k 10 60 apt-get -q download libcmocka0 libcmocka-dev || return 1
    for package in *.deb; do
        dpkg-deb -x "$package" "$tmp/cmocka" || return 1
    done
    rm -rf "$cmocka"
    mv "$tmp/cmocka" "$cmocka"
)

# unit PROGRAM SOURCES_VARIABLE
unit() {
    # shellcheck disable=SC2046 # a list
    cross_build "$tmp/$1" -isystem "$cmocka/usr/include" $(sources "$2") "$tmp"/kernels/*.o \
        "-L$cmocka/usr/lib/$cross" "-Wl,-rpath,$cmocka/usr/lib/$cross" -lcmocka -lm
    $emulator "$tmp/$1" >"$tmp/log" 2>&1 || not_ok "$1 failed on aarch64" "$tmp/log"
    # the baseline's kernels at least are not skipped
    grep -q '^\[       OK \] [a-z]*_baseline$' "$tmp/log" || not_ok "$1 tested no kernels" "$tmp/log"
}

if [ ! -e "$cmocka/usr/include/cmocka.h" ] && ! fetch_cmocka >"$tmp/log" 2>&1; then
    skip "cannot download cmocka for arm64 with apt-get ($(grep -m 1 '^E: ' "$tmp/log" || tail -n 1 "$tmp/log"))"
fi
build_kernels
unit test_reduction tests_unit_test_reduction_SOURCES
unit test_reduction_values tests_unit_test_reduction_values_SOURCES

echo "ok unit: the reduction's unit tests pass on aarch64"
