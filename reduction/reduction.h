/* SPDX-License-Identifier: BSD-3-Clause */
/* Owns the public API of the n-input reduction kernels (op x type), ISA chosen at run time. */
#ifndef OPTCAST_REDUCTION_REDUCTION_H
#define OPTCAST_REDUCTION_REDUCTION_H

#include <stddef.h>

/*
 * The numbers of oc_op_t and oc_type_t are wire values: peers of different builds exchange them.
 * Never renumber or reuse one; add new values just before the _END marker. 0 is never valid.
 * Functions take them as `unsigned`, and every value whatsoever is safe to pass.
 */
typedef enum {
    OC_OP_SUM = 1,
    OC_OP_PROD,
    OC_OP_MIN,
    OC_OP_MAX,
    OC_OP_BAND,
    OC_OP_BOR,
    OC_OP_BXOR,
    OC_OP_LAND,
    OC_OP_LOR,
    OC_OP_LXOR,
    OC_OP_MINLOC,
    OC_OP_MAXLOC,
    OC_OP_END
} oc_op_t;

typedef enum {
    OC_TYPE_INT8 = 1,
    OC_TYPE_UINT8,
    OC_TYPE_INT16,
    OC_TYPE_UINT16,
    OC_TYPE_INT32,
    OC_TYPE_UINT32,
    OC_TYPE_INT64,
    OC_TYPE_UINT64,
    OC_TYPE_FLOAT,
    OC_TYPE_DOUBLE,
    OC_TYPE_FLOAT16,        /* IEEE binary16 */
    OC_TYPE_BFLOAT16,       /* the upper half of a float */
    OC_TYPE_COMPLEX_FLOAT,  /* real part, imaginary part */
    OC_TYPE_COMPLEX_DOUBLE,
    /* Pairs of a value and an index, without padding. */
    OC_TYPE_INT16_INT32,    /* 6 bytes */
    OC_TYPE_INT32_INT32,
    OC_TYPE_INT64_INT32,    /* 12 bytes */
    OC_TYPE_FLOAT_INT32,
    OC_TYPE_DOUBLE_INT32,   /* 12 bytes */
    OC_TYPE_FLOAT_FLOAT,
    OC_TYPE_DOUBLE_DOUBLE,
    OC_TYPE_END
} oc_type_t;

/* Instruction sets, weakest first. Local to the process, not wire values. */
typedef enum { OC_ISA_BASELINE, OC_ISA_AVX2, OC_ISA_AVX512, OC_ISA_END } oc_isa_t;

/*
 * Reduces num_src arrays of `count` ELEMENTS (not bytes) each into dst, in one pass:
 *     dst[i] = ((src[0][i] OP src[1][i]) OP src[2][i]) ...   for every i < count,
 * a strict left fold in index order, so a result depends on nothing but the order of src[].
 * Every instruction set gives the same bits; only which NaN comes out of a NaN is unspecified.
 *
 *   SUM, PROD        integers wrap (two's complement); floats round after every step. The product
 *                    of complex numbers is the plain formula, (ar * br - ai * bi,
 *                    ar * bi + ai * br), rounded after each of its operations: no contraction, and
 *                    no second look at NaNs that were infinities (Annex G of C).
 *   MIN, MAX         a < b ? a : b and a > b ? a : b, where a is the value accumulated so far;
 *                    the outcome for NaN and for -0 against +0 follows from exactly that.
 *   BAND, BOR, BXOR  integers only.
 *   LAND, LOR, LXOR  integers only; nonzero is true, the result is 0 or 1.
 *   MINLOC           pairs only: av < bv || (av == bv && ai < bi) ? a : b, where a = (av, ai) is
 *                    the pair accumulated so far; of equal values the one with the lower index.
 *                    The pair is taken as it is, bit by bit. So a NaN gives way to what follows it
 *                    and replaces what is before it, and -0 and +0 are equal values.
 *   MAXLOC           the same with av > bv; the lower index here too.
 *
 * 16-bit floats are not rounded after every step: all inputs are converted to float, which is
 * exact, reduced as floats, and the result is rounded once, to nearest, ties to even. Subnormals
 * are kept, and what is too large becomes infinity.
 *
 * The floating-point environment must be the default one of C: rounding to nearest, subnormals not
 * flushed. Which exceptions are raised is unspecified. oc_reduce() and oc_convert() see to both.
 *
 * num_src must be >= 1; with 1 the input is copied as it is, logical operations included.
 * count may be 0; then dst and the src[k] are not accessed and may be anything.
 * No buffer needs any alignment. dst may be the very address of one or more src[k] (in place),
 * but must not overlap an input in any other way. Inputs may overlap each other.
 * All buffers and the array src stay the caller's; nothing is kept after the call.
 * Cannot fail. Safe from any thread, for calls whose dst is not used by another call.
 */
typedef void (*oc_reduce_fn_t)(void *dst, const void *const *src, size_t num_src, size_t count);

/* Size of one element in bytes; 0 if the type is unknown. */
size_t oc_type_size(unsigned type);

/* Names such as "float", "sum", "avx2"; "unknown" for anything else. Static strings. */
const char *oc_type_name(unsigned type);
const char *oc_op_name(unsigned op);
const char *oc_isa_name(oc_isa_t isa);

/*
 * The kernel for (op, type) on the instruction set oc_reduce_isa() names.
 * NULL if it is not offered: either value unknown, or an operation not meant for this type.
 * Integers have all but MINLOC and MAXLOC; floats of all sizes SUM, PROD, MIN and MAX; complex
 * numbers SUM and PROD; pairs MINLOC and MAXLOC. Which are offered does not depend on the
 * instruction set.
 * Thread-safe and cheap enough to call per message.
 */
oc_reduce_fn_t oc_reduce_kernel(unsigned op, unsigned type);

/*
 * Same for one given instruction set, whatever OPTCAST_ISA says. NULL also if this instruction set
 * is unknown, is not part of this build, or cannot run on this CPU. Thread-safe.
 */
oc_reduce_fn_t oc_reduce_kernel_isa(unsigned op, unsigned type, oc_isa_t isa);

/*
 * Partial results of 16-bit floats keep what their sums have: they are floats. oc_widen_kernel()
 * makes floats of count numbers of such a type, exactly, and oc_narrow_kernel() is the one rounding
 * at the end, as the kernels above do it. NULL for all other types. Nothing needs any alignment
 * but the floats theirs; to and from do not overlap. Thread-safe.
 */
typedef void (*oc_convert_fn_t)(void *to, const void *from, size_t count);
oc_convert_fn_t oc_widen_kernel(unsigned type);
oc_convert_fn_t oc_narrow_kernel(unsigned type);

/*
 * Calls the kernel in the default floating-point environment, whoever the calling thread belongs
 * to; its own is then as it was, exceptions included. Costs a few nanoseconds.
 */
void oc_reduce(oc_reduce_fn_t kernel, void *dst, const void *const *src, size_t num_src,
               size_t count);
void oc_convert(oc_convert_fn_t kernel, void *to, const void *from, size_t count);

/*
 * As oc_reduce() with the kernel of an operation on 16-bit floats, but dst gets the floats that it
 * would round: twice as many bytes as each input. The pair must be offered; with one input its
 * numbers are converted. dst may also begin before the inputs, by at least half of its bytes, and
 * reach into them: nothing is written before the inputs were read up to there.
 */
void oc_reduce_wide(unsigned op, unsigned type, void *dst, const void *const *src, size_t num_src,
                    size_t count);

/*
 * The end of such a fold: dst[i] = partial[i] OP last[i], rounded once. partial has floats, and is
 * changed; dst and last have 16-bit floats. No two of them overlap, but dst may be last.
 */
void oc_reduce_narrow(unsigned op, unsigned type, void *dst, void *partial, const void *last,
                      size_t count);

/*
 * The instruction set oc_reduce_kernel() uses: the best one that is built in and runs on this CPU.
 * The environment variable OPTCAST_ISA=baseline|avx2|avx512 can lower it, never raise it; any
 * other value is ignored. On aarch64 the baseline is called neon, and both names are known.
 * Decided at the first call of this or of oc_reduce_kernel(), then fixed for the life of the
 * process. Thread-safe, as long as no thread changes the environment during the first call.
 */
oc_isa_t oc_reduce_isa(void);

#endif
