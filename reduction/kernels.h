/* SPDX-License-Identifier: BSD-3-Clause */
/* Owns the private contract between reduction.c and the per-ISA kernel tables. */
#ifndef OPTCAST_REDUCTION_KERNELS_H
#define OPTCAST_REDUCTION_KERNELS_H

#include "reduction/reduction.h"

/* Indexed by [op][type], both wire values; NULL where a pair is not offered. */
typedef oc_reduce_fn_t oc_kernel_table_t[OC_OP_END][OC_TYPE_END];

/* By type; NULL where there is nothing to convert. */
typedef struct {
    oc_convert_fn_t widen[OC_TYPE_END], narrow[OC_TYPE_END];
} oc_conversions_t;

/*
 * Linked in only if the build has OPTCAST_HAVE_AVX2 or OPTCAST_HAVE_AVX512, respectively, for the
 * last two. A kernel may be called only on a CPU that has the instruction set of its table.
 */
extern const oc_kernel_table_t oc_kernels_baseline;
extern const oc_kernel_table_t oc_kernels_avx2;
extern const oc_kernel_table_t oc_kernels_avx512;

extern const oc_conversions_t oc_conversions_baseline;
extern const oc_conversions_t oc_conversions_avx2;
extern const oc_conversions_t oc_conversions_avx512;

#endif
