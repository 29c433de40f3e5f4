/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * How much of the window a group uses: less after losses, and more again when nothing is lost. Part
 * of the protocol: one thread at a time.
 */
#ifndef OC_MULTICAST_CORE_BACKOFF_H
#define OC_MULTICAST_CORE_BACKOFF_H

#include "multicast/core/cast_types.h"

void oc_backoff_begin(oc_cast_group_t *group);
/*
 * This rank has found that fragments of a block are lost, the last of them before end. Each counts
 * once.
 */
void oc_backoff_lost(oc_cast_group_t *group, uint32_t owner, uint32_t end);
/*
 * At each look, and at the end of an operation: counts what has come or was sent since the last
 * time.
 */
void oc_backoff_moved(oc_cast_group_t *group);
/* The part of the window that this rank has room for, as a CREDIT says it. */
uint32_t oc_backoff_part(const oc_cast_group_t *group);
/*
 * Own fragments that may leave at once. A kernel may put these together, and a queue drop them
 * together: if that were all that may be under way, nothing would come after them that tells of
 * their loss.
 */
uint32_t oc_backoff_batch(const oc_cast_group_t *group);
/* Fragments that a chain may be ahead of the others now. */
uint32_t oc_backoff_ahead(const oc_cast_group_t *group);

#endif
