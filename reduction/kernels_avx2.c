/* SPDX-License-Identifier: BSD-3-Clause */
/* Owns the AVX2 kernels; built with AVX2 and F16C, so call them only where both run. */
#define OC_KERNEL_TABLE oc_kernels_avx2
#define OC_CONVERSIONS oc_conversions_avx2
/* Eight vectors of 32 bytes. */
#define OC_BLOCK_BYTES 256
#include "reduction/kernels.inc.h"
