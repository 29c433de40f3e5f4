/* SPDX-License-Identifier: BSD-3-Clause */
/* Owns the AVX-512 (F, BW, DQ, VL) kernels; call them only on a CPU that has all four. */
#define OC_KERNEL_TABLE oc_kernels_avx512
#define OC_CONVERSIONS oc_conversions_avx512
/* Eight vectors of 64 bytes. */
#define OC_BLOCK_BYTES 512
#include "reduction/kernels.inc.h"
