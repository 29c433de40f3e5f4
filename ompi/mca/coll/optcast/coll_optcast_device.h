/* SPDX-License-Identifier: BSD-3-Clause */
/* Where a buffer is, which is one rank's own affair. */
#ifndef MCA_COLL_OPTCAST_DEVICE_H
#define MCA_COLL_OPTCAST_DEVICE_H

#include "staging/device.h"

#include "coll_optcast_call.h"
#include "coll_optcast_module.h"

/* Of a call's buffers. */
void mca_coll_optcast_find_devices(const mca_coll_optcast_module_t *m,
                                   mca_coll_optcast_call_t *call);
/* Open MPI itself reaches what is there, which is memory of a device. */
bool mca_coll_optcast_is_known(const void *address);
/* Elements from their buffer on a device to a row of the host, or the other way round. */
int mca_coll_optcast_move(oc_device_t *device, oc_direction_t direction, void *buffer, size_t count,
                          const struct ompi_datatype_t *dtype, char *row, size_t length);
/* Elements from a double that is laid out as their buffer on a device, and nothing of its gaps. */
int mca_coll_optcast_store(oc_device_t *device, void *buffer, size_t count,
                           const struct ompi_datatype_t *dtype, const void *twin);
/* So many bytes went to a device, or came from one, outside the engine. */
void mca_coll_optcast_count_staged(size_t length);

#endif
