#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Owns the test that NEON kernels are vector code, and give the same bits as those of this machine.
# Test: all 300
set -eu

test_name=same_bits
# shellcheck source=tests/neon/lib.sh
. "$(dirname "$0")/lib.sh"

library=$BUILD/.libs/libocreduction.a
[ -e "$library" ] || not_ok "no $library: run make in $BUILD"
digest="$here/digest.c $REPO/tests/unit/reduction_reference.c"

# count_instructions KERNEL PATTERN: how many there are in this kernel's code.
count_instructions() {
    "$cross-objdump" -d --no-show-raw-insn "$tmp/kernels/kernels_baseline.o" |
        awk -v begin="^[0-9a-f]+ <reduce_$1(\\\\.[a-z0-9.]+)?>:" -v pattern="$2" '
            /^[0-9a-f]+ </ { inside = $0 ~ begin }
            inside && $0 ~ pattern { n++ }
            END { print n + 0 }'
}

# has_vectors KERNEL LEAST PATTERN
has_vectors() {
    found=$(count_instructions "$1" "$3")
    [ "$found" -ge "$2" ] || not_ok "$found instructions like '$3' in the kernel $1, expected $2 at least"
}

build_kernels
# a block has eight vectors
has_vectors SUM_FLOAT 8 'fadd[ \t]+v[0-9]+\.4s'
has_vectors SUM_DOUBLE 8 'fadd[ \t]+v[0-9]+\.2d'
has_vectors SUM_INT8 8 'add[ \t]+v[0-9]+\.16b'
has_vectors SUM_FLOAT16 8 'fcvtl2?[ \t]+v[0-9]+\.4s'
has_vectors MAXLOC_FLOAT_INT32 1 'fcmgt[ \t]+v[0-9]+\.4s'

# shellcheck disable=SC2086 # two files
cross_build "$tmp/digest-neon" $digest "$tmp"/kernels/*.o -lm
# shellcheck disable=SC2046,SC2086 # lists
"${CC:-gcc}" $(value OC_REDUCTION_CFLAGS) -D_GNU_SOURCE "-I$REPO" -o "$tmp/digest-here" $digest "$library" -lm \
    >"$tmp/log" 2>&1 || not_ok "digest.c does not build" "$tmp/log"

$emulator "$tmp/digest-neon" >"$tmp/neon" 2>"$tmp/log" || not_ok "digest.c failed on aarch64" "$tmp/log"
grep -q '^instruction set neon$' "$tmp/log" || not_ok "aarch64 has no NEON" "$tmp/log"
[ "$(wc -l <"$tmp/neon")" -ge 500 ] || not_ok "there are too few results" "$tmp/neon"
for isa in baseline avx2 avx512; do
    OPTCAST_ISA=$isa "$tmp/digest-here" >"$tmp/here" 2>"$tmp/log" || not_ok "digest.c failed" "$tmp/log"
    diff "$tmp/here" "$tmp/neon" >"$tmp/diff" || not_ok "NEON differs from OPTCAST_ISA=$isa" "$tmp/diff"
done

echo "ok same_bits: $(wc -l <"$tmp/neon") results of NEON have the bits of this machine's"
