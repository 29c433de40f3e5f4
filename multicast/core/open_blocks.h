/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The blocks of the active operation that have to be looked at (repair.h). Part of the protocol:
 * one thread at a time.
 *
 * All that are not complete are open at first. A look closes those of which nothing is known to
 * have been sent and whose owners need not be sending yet. They are open again as soon as either is
 * otherwise, until they are complete. So a look costs as much as there is under way, and not as
 * there are ranks.
 */
#ifndef OC_MULTICAST_CORE_OPEN_BLOCKS_H
#define OC_MULTICAST_CORE_OPEN_BLOCKS_H

#include "multicast/core/cast_types.h"

/* Of an operation that gets active; its blocks are there. */
oc_status_t oc_open_blocks_begin(const oc_cast_group_t *group, oc_cast_operation_t *operation);
/* Opens a block if it is not complete. */
void oc_open_blocks_add(const oc_cast_group_t *group, uint32_t owner);
void oc_open_blocks_remove(const oc_cast_group_t *group, uint32_t owner);
/*
 * Of the first open block from a number on, as oc_partners_behind counts: its number; num_ranks:
 * there is none.
 */
uint32_t oc_open_blocks_next(const oc_cast_group_t *group, uint32_t number);

#endif
