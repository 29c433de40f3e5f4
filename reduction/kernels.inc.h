/* SPDX-License-Identifier: BSD-3-Clause */
/* Owns the one kernel template; each kernels_<isa>.c compiles it with the flags of its ISA. */

/*
 * The including file defines, before the include:
 *   OC_KERNEL_TABLE   name of the table to define, declared in reduction/kernels.h
 *   OC_BLOCK_BYTES    accumulator size: about half of the ISA's vector registers
 * No include guard, on purpose: one translation unit includes it exactly once.
 */
#include <stddef.h>
#include <stdint.h>

#include "reduction/kernels.h"

/*
 * Two things only gcc needs. Automake puts the user's CFLAGS, often -O2, after the -O3 of this
 * directory, and below -O3 the block loops are not fully unrolled. And loops that copy a block must
 * not become memcpy: that forces the accumulators to memory and halves the speed with two inputs.
 */
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC optimize("O3", "no-tree-loop-distribute-patterns")
#endif

/*
 * One step of the fold. T is the element type. W is where arithmetic happens: an unsigned type
 * no narrower than int, so that neither signed overflow nor the promotion of uint16_t to int is
 * ever undefined; the conversion back to T wraps. For floats W is T itself.
 */
#define OC_STEP_SUM(T, W, a, b) ((T)((W)(a) + (W)(b)))
#define OC_STEP_PROD(T, W, a, b) ((T)((W)(a) * (W)(b)))
#define OC_STEP_MIN(T, W, a, b) ((a) < (b) ? (a) : (b))
#define OC_STEP_MAX(T, W, a, b) ((a) > (b) ? (a) : (b))
#define OC_STEP_BAND(T, W, a, b) ((T)((W)(a) & (W)(b)))
#define OC_STEP_BOR(T, W, a, b) ((T)((W)(a) | (W)(b)))
#define OC_STEP_BXOR(T, W, a, b) ((T)((W)(a) ^ (W)(b)))
/* Bitwise on purpose: a short circuit would be a branch per element. */
#define OC_STEP_LAND(T, W, a, b) ((T)(((a) != 0) & ((b) != 0)))
#define OC_STEP_LOR(T, W, a, b) ((T)(((a) != 0) | ((b) != 0)))
#define OC_STEP_LXOR(T, W, a, b) ((T)(((a) != 0) ^ ((b) != 0)))

/* X(OP, TYPE, T, W) for every operation of one type. */
#define OC_ARITHMETIC(X, TYPE, T, W) \
    X(SUM, TYPE, T, W)               \
    X(PROD, TYPE, T, W)              \
    X(MIN, TYPE, T, W)               \
    X(MAX, TYPE, T, W)
#define OC_INTEGER(X, TYPE, T, W)   \
    OC_ARITHMETIC(X, TYPE, T, W)    \
    X(BAND, TYPE, T, W)             \
    X(BOR, TYPE, T, W)              \
    X(BXOR, TYPE, T, W)             \
    X(LAND, TYPE, T, W)             \
    X(LOR, TYPE, T, W)              \
    X(LXOR, TYPE, T, W)

/* X(OP, TYPE, T, W) for every pair on offer. */
#define OC_PAIRS(X)                           \
    OC_INTEGER(X, INT8, int8_t, uint32_t)     \
    OC_INTEGER(X, UINT8, uint8_t, uint32_t)   \
    OC_INTEGER(X, INT16, int16_t, uint32_t)   \
    OC_INTEGER(X, UINT16, uint16_t, uint32_t) \
    OC_INTEGER(X, INT32, int32_t, uint32_t)   \
    OC_INTEGER(X, UINT32, uint32_t, uint32_t) \
    OC_INTEGER(X, INT64, int64_t, uint64_t)   \
    OC_INTEGER(X, UINT64, uint64_t, uint64_t) \
    OC_ARITHMETIC(X, FLOAT, float, float)     \
    OC_ARITHMETIC(X, DOUBLE, double, double)

/*
 * fold_*: elements off .. off+n-1 of all inputs, n at most one block. Inlined twice: with n a full
 * block the inner loops vanish and acc lives in vector registers; with a variable n it does the
 * tail. All inputs are read before dst is written, which is what makes in-place work.
 * The empty asm costs nothing and keeps gcc from fusing two rounds of the loop over the inputs
 * (unroll-and-jam), after which the body is scalar and four times slower.
 */
#define OC_DEFINE_KERNEL(OP, TYPE, T, W)                                                         \
    static inline __attribute__((always_inline)) void fold_##OP##_##TYPE(                        \
        void *dst, const void *const *src, size_t num_src, size_t off, size_t n)                 \
    {                                                                                            \
        /* An element as found in a caller's buffer: at any address. */                          \
        typedef T buf_t __attribute__((aligned(1), may_alias));                                  \
        T acc[OC_BLOCK_BYTES / sizeof(T)];                                                       \
        const buf_t *in = (const buf_t *)src[0] + off;                                           \
        buf_t *out = (buf_t *)dst + off;                                                         \
        for (size_t i = 0; i < n; i++)                                                           \
            acc[i] = in[i];                                                                      \
        for (size_t k = 1; k < num_src; k++) {                                                   \
            in = (const buf_t *)src[k] + off;                                                    \
            for (size_t i = 0; i < n; i++) {                                                     \
                const T a = acc[i], b = in[i];                                                   \
                acc[i] = OC_STEP_##OP(T, W, a, b);                                               \
            }                                                                                    \
            __asm__ volatile("");                                                                \
        }                                                                                        \
        for (size_t i = 0; i < n; i++)                                                           \
            out[i] = acc[i];                                                                     \
    }                                                                                            \
    static void reduce_##OP##_##TYPE(void *dst, const void *const *src, size_t num_src,          \
                                     size_t count)                                               \
    {                                                                                            \
        const size_t block = OC_BLOCK_BYTES / sizeof(T);                                         \
        size_t off = 0;                                                                          \
        for (; count - off >= block; off += block)                                               \
            fold_##OP##_##TYPE(dst, src, num_src, off, block);                                   \
        if (off < count)                                                                         \
            fold_##OP##_##TYPE(dst, src, num_src, off, count - off);                             \
    }

#define OC_TABLE_ENTRY(OP, TYPE, T, W) [OC_OP_##OP][OC_TYPE_##TYPE] = reduce_##OP##_##TYPE,

OC_PAIRS(OC_DEFINE_KERNEL)

const oc_kernel_table_t OC_KERNEL_TABLE = { OC_PAIRS(OC_TABLE_ENTRY) };
