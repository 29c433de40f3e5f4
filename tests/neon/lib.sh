# shellcheck shell=sh
# SPDX-License-Identifier: BSD-3-Clause
# Owns what the tests of NEON share: the reduction, built for aarch64 as make builds it here.
# To be sourced after test_name is set. Sets here (the folder of the test), and unless they are set REPO (the
# source tree) and BUILD (the build tree).
# shellcheck disable=SC2034,SC2154 # emulator is for them, test_name theirs

here=$(cd "$(dirname "$0")" && pwd)
REPO=${REPO:-$(cd "$here/../.." && pwd)}
BUILD=${BUILD:-$REPO/build}

# shellcheck source=tests/apps/lib.sh
. "$REPO/tests/apps/lib.sh"

cross=aarch64-linux-gnu
emulator="timeout -k 10 250 qemu-aarch64 -L /usr/$cross"

begin_test "$test_name"
for program in $cross-gcc $cross-objdump qemu-aarch64; do
    command -v "$program" >/dev/null ||
        skip "there is no $program; install gcc-$cross, libc6-dev-arm64-cross and qemu-user"
done
# What configure found out about this machine does not hold for the other.
: >"$tmp/config.h"

# value NAME: of a variable in the makefile.
value() {
    make -C "$BUILD" -s --no-print-directory --eval="print-value:;@echo \$($1)" print-value
}

# sources NAME: those of a program or library, with their folder.
sources() {
    for source in $(value "$1"); do
        case $source in
        *.c) echo "$REPO/$source" ;;
        esac
    done
}

# cross_build OUTPUT ARGUMENT...: compiles or links for aarch64, with the flags of the kernels.
cross_build() {
    output=$1
    shift
    # shellcheck disable=SC2046 # lists
    "$cross-gcc" $(value OC_REDUCTION_CFLAGS) -D_GNU_SOURCE "-I$tmp" "-I$REPO" -o "$output" "$@" \
        >"$tmp/log" 2>&1 || not_ok "$cross-gcc does not build ${output##*/}" "$tmp/log"
}

# build_kernels: the objects of the reduction, in $tmp/kernels.
build_kernels() {
    mkdir "$tmp/kernels"
    for source in $(sources libocreduction_la_SOURCES); do
        cross_build "$tmp/kernels/$(basename "$source" .c).o" -c "$source"
    done
}
