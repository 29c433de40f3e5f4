/* SPDX-License-Identifier: BSD-3-Clause */
/* Owns the frame of all kernels and their table; each kernels_<isa>.c compiles it for its ISA. */

/*
 * The including file defines, before the include:
 *   OC_KERNEL_TABLE   name of the table to define, declared in reduction/kernels.h
 *   OC_CONVERSIONS    name of the table of conversions, there too
 *   OC_BLOCK_BYTES    accumulator size: about half of the ISA's vector registers
 * No include guard, on purpose: one translation unit includes it exactly once.
 */
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "reduction/kernels.h"

/*
 * Two things only gcc needs. Automake puts the user's CFLAGS, often -O2, after the -O3 of this
 * directory, and below -O3 the block loops are not fully unrolled. And loops that copy a block must
 * not become memcpy: that forces the accumulators to memory and halves the speed with two inputs.
 */
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC optimize("O3", "no-tree-loop-distribute-patterns")
#endif

#define OC_INLINE static inline __attribute__((always_inline))

/*
 * More inputs than these at a time are too many streams: prefetchers follow few, and buffers that
 * lie a power of two apart meet in the same sets of a cache, which have about eight ways.
 */
#define OC_FAN_IN 8

/* Accumulators that wait for their next inputs stay in the L1 cache, with room for the inputs. */
#define OC_PARTIAL_BYTES 8192
#define OC_ROWS(TYPE) (OC_PARTIAL_BYTES / sizeof(acc_##TYPE##_t))

/*
 * The frame. A template gives it, for each type:
 *   block_TYPE                        elements in a block, whose accumulators fit OC_BLOCK_BYTES
 *   size_TYPE                         bytes of an element
 *   acc_TYPE_t                        the accumulators of a block: one array, or several side by
 *                                     side, so that each is a row of whole vectors
 *   load_TYPE(acc, from, n)           acc = n elements at `from`, n at most a block
 *   store_TYPE(to, acc, n)            n elements at `to` = acc
 *   copy_TYPE(to, from)               accumulators
 * and for each operation on it:
 *   step_OP_TYPE(acc, from, n)        acc = acc OP n elements at `from`
 *
 * step_all_*: acc = acc OP a block of each of `num` inputs, at least one: if there might be none,
 * gcc would keep acc in memory behind the loop. Inlined: with n a full block the loops inside of
 * load, step and store vanish and acc lives in vector registers; with a variable n it does the
 * tail. The empty asm costs nothing and keeps gcc from fusing two rounds of the loop over the
 * inputs (unroll-and-jam), after which the body is scalar and four times slower.
 *
 * fold_*: one block of all inputs, in one pass. All inputs are read before dst is written, which is
 * what makes in-place work.
 *
 * fold_groups_*: `rows` blocks of more inputs than OC_FAN_IN, which come in groups of that many.
 * Between groups the accumulators are kept as they are, so this is the same fold, and nothing is
 * rounded that the single pass does not round. dst is written with the last group.
 */
#define OC_DEFINE_KERNEL(OP, TYPE)                                                               \
    OC_INLINE void step_all_##OP##_##TYPE(acc_##TYPE##_t *acc, const void *const *src,           \
                                          size_t num, size_t off, size_t n)                      \
    {                                                                                            \
        size_t k = 0;                                                                            \
        do {                                                                                     \
            step_##OP##_##TYPE(acc, (const char *)src[k] + off, n);                              \
            __asm__ volatile("");                                                                \
        } while (++k < num);                                                                     \
    }                                                                                            \
    OC_INLINE void fold_##OP##_##TYPE(void *dst, const void *const *src, size_t num_src,         \
                                      size_t off, size_t n)                                      \
    {                                                                                            \
        acc_##TYPE##_t acc;                                                                      \
        load_##TYPE(&acc, (const char *)src[0] + off, n);                                        \
        step_all_##OP##_##TYPE(&acc, src + 1, num_src - 1, off, n);                              \
        store_##TYPE((char *)dst + off, &acc, n);                                                \
    }                                                                                            \
    static void fold_groups_##OP##_##TYPE(char *dst, const void *const *src, size_t num_src,     \
                                          size_t off, size_t rows)                               \
    {                                                                                            \
        enum { STRIDE = block_##TYPE * size_##TYPE };                                            \
        acc_##TYPE##_t acc, kept[OC_ROWS(TYPE)];                                                 \
        size_t k = OC_FAN_IN;                                                                    \
        for (size_t i = 0; i < rows; i++) {                                                      \
            const size_t at = off + i * STRIDE;                                                  \
            load_##TYPE(&acc, (const char *)src[0] + at, block_##TYPE);                          \
            step_all_##OP##_##TYPE(&acc, src + 1, OC_FAN_IN - 1, at, block_##TYPE);              \
            copy_##TYPE(&kept[i], &acc);                                                         \
        }                                                                                        \
        for (; num_src - k > OC_FAN_IN; k += OC_FAN_IN) {                                        \
            for (size_t i = 0; i < rows; i++) {                                                  \
                copy_##TYPE(&acc, &kept[i]);                                                     \
                step_all_##OP##_##TYPE(&acc, src + k, OC_FAN_IN, off + i * STRIDE, block_##TYPE);\
                copy_##TYPE(&kept[i], &acc);                                                     \
            }                                                                                    \
        }                                                                                        \
        for (size_t i = 0; i < rows; i++) {                                                      \
            const size_t at = off + i * STRIDE;                                                  \
            copy_##TYPE(&acc, &kept[i]);                                                         \
            step_all_##OP##_##TYPE(&acc, src + k, num_src - k, at, block_##TYPE);                \
            store_##TYPE(dst + at, &acc, block_##TYPE);                                          \
        }                                                                                        \
    }                                                                                            \
    static void reduce_##OP##_##TYPE(void *dst, const void *const *src, size_t num_src,          \
                                     size_t count)                                               \
    {                                                                                            \
        size_t done = 0, rows;                                                                   \
        if (1 == num_src) {                                                                      \
            copy_input(dst, src[0], count * size_##TYPE);                                        \
            return;                                                                              \
        }                                                                                        \
        for (; num_src > OC_FAN_IN && count - done >= block_##TYPE;                              \
             done += rows * block_##TYPE) {                                                      \
            rows = smaller((count - done) / block_##TYPE, OC_ROWS(TYPE));                        \
            fold_groups_##OP##_##TYPE(dst, src, num_src, done * size_##TYPE, rows);              \
        }                                                                                        \
        for (; count - done >= block_##TYPE; done += block_##TYPE)                               \
            fold_##OP##_##TYPE(dst, src, num_src, done * size_##TYPE, block_##TYPE);             \
        if (done < count)                                                                        \
            fold_##OP##_##TYPE(dst, src, num_src, done * size_##TYPE, count - done);             \
    }

OC_INLINE size_t smaller(size_t a, size_t b)
{
    return a < b ? a : b;
}

/* The address is the same in place, and without elements there may be none. */
static void copy_input(void *dst, const void *src, size_t bytes)
{
    if (bytes > 0)
        memmove(dst, src, bytes);
}

#include "reduction/kernels_scalar.inc.h"
/* These use the scalar steps and kernels. */
#include "reduction/kernels_complex.inc.h"
#include "reduction/kernels_half.inc.h"
#include "reduction/kernels_pair.inc.h"

#define OC_TABLE_ENTRY(OP, TYPE, ...) [OC_OP_##OP][OC_TYPE_##TYPE] = reduce_##OP##_##TYPE,

const oc_kernel_table_t OC_KERNEL_TABLE = {
    OC_SCALAR_KERNELS(OC_TABLE_ENTRY)
    OC_COMPLEX_KERNELS(OC_TABLE_ENTRY)
    OC_HALF_KERNELS(OC_TABLE_ENTRY)
    OC_PAIR_KERNELS(OC_TABLE_ENTRY)
};
