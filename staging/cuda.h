/* SPDX-License-Identifier: BSD-3-Clause */
/* Memory of CUDA devices, in processes that use CUDA themselves. */
#ifndef OC_STAGING_CUDA_H
#define OC_STAGING_CUDA_H

#include "staging/device.h"

/* Whether somebody has loaded the driver; cheap as long as nobody has. Loads nothing itself. */
bool oc_cuda_is_used(void);

/*
 * The device that has this memory; NULL: the host may touch it (managed memory, too), or nobody has
 * loaded the driver.
 */
oc_device_t *oc_cuda_find(const void *address);

#endif
