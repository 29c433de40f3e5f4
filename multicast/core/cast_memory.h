/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Blocks in the caller's memory, of the host or of a device; at: bytes within the block. Part of
 * the protocol: one thread at a time.
 */
#ifndef OC_MULTICAST_CORE_CAST_MEMORY_H
#define OC_MULTICAST_CORE_CAST_MEMORY_H

#include "multicast/core/cast_types.h"

/* Whether own fragments have to be copied to be sent. */
bool oc_memory_sends_from_stage(const oc_cast_operation_t *operation);
/* To be read; may be gone with the next call. At most OC_CAST_MESSAGE_MAX bytes. */
const uint8_t *oc_memory_at(const oc_cast_group_t *group, uint32_t rank, uint64_t at,
                            size_t length);
void oc_memory_get(const oc_cast_group_t *group, uint32_t rank, uint64_t at, size_t length,
                   void *to);
void oc_memory_put(const oc_cast_group_t *group, uint32_t rank, uint64_t at, size_t length,
                   const void *from);
/* What this rank gives to all also belongs into its own receive buffer. */
void oc_memory_keep_own(const oc_cast_group_t *group);
/* Why what was read must not be sent; NULL: it may. */
const char *oc_memory_trouble(const oc_cast_operation_t *operation);

#endif
