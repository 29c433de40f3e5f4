/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Which chunks of a large vector go where; the sizes of chunks are equal on all ranks. Under
 * the lock of the client.
 */
#ifndef OC_CLIENT_COLLECTIVE_PARTS_H
#define OC_CLIENT_COLLECTIVE_PARTS_H

#include "client/state/types.h"

/* OC_ERR_NO_MEMORY or OC_OK. This rank's first lane is the first one. */
oc_status_t oc_parts_make(oc_collective_t *collective);
size_t oc_parts_count_chunks(const oc_collective_t *collective);
/* Whose next chunk to be sent this is, in the node shape; NULL: nobody's. */
oc_part_t *oc_parts_find(const oc_collective_t *collective, uint32_t chunk);

#endif
