/* SPDX-License-Identifier: BSD-3-Clause */
/* Owns the kernels every CPU of the target architecture can run. */
#define OC_KERNEL_TABLE oc_kernels_baseline
#define OC_CONVERSIONS oc_conversions_baseline
/* Eight vectors of 16 bytes. */
#define OC_BLOCK_BYTES 128
#include "reduction/kernels.inc.h"
