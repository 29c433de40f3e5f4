/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Finds out which device has a buffer, and copies to and from devices. The location may differ
 * between ranks. Functions that copy return an error of MPI, and block until the copy has ended.
 */
#ifndef MCA_COLL_OPTCAST_DEVICE_H
#define MCA_COLL_OPTCAST_DEVICE_H

#include <stdbool.h>

#include "staging/device.h"

#include "coll_optcast_call.h"
#include "coll_optcast_module.h"

/* Whether buffers of this process may be in the memory of a device. */
bool mca_coll_optcast_devices_are_used(void);
/* Sets sdevice and rdevice of the call. */
void mca_coll_optcast_find_devices(const mca_coll_optcast_module_t *m,
                                   mca_coll_optcast_call_t *call);
/* Whether Open MPI itself can access this address, which is in memory of a device. */
bool mca_coll_optcast_is_known(const void *address);
/* Copies elements from their buffer on a device to a row of bytes of the host, or back. */
int mca_coll_optcast_move(oc_device_t *device, oc_direction_t direction, void *buffer, size_t count,
                          const struct ompi_datatype_t *dtype, char *row, size_t length);
/*
 * Copies elements from a copy in host memory, which has the layout of their buffer on a device, to
 * that buffer. Gaps are not written.
 */
int mca_coll_optcast_store(oc_device_t *device, void *buffer, size_t count,
                           const struct ompi_datatype_t *dtype, const void *twin);
/* Counts bytes that were copied to or from a device outside the engine. */
void mca_coll_optcast_count_staged(size_t length);

#endif
