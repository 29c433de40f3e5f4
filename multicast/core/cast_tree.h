/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A tree over the ranks carries ENTER, GO, DONE and LEAVE, and notices hosts that have vanished.
 * Part of the protocol: one thread at a time.
 */
#ifndef OC_MULTICAST_CORE_CAST_TREE_H
#define OC_MULTICAST_CORE_CAST_TREE_H

#include "multicast/core/cast_types.h"

void oc_tree_begin(oc_cast_group_t *group);
void oc_tree_message(oc_cast_group_t *group, const oc_cast_message_t *message, uint64_t now);
/* Tells the others what can be told about the active operation. */
void oc_tree_advance(oc_cast_group_t *group, uint64_t now);
/*
 * Neighbours that are waited for and say nothing get a PING now and then. Returns when the next one
 * is due.
 */
uint64_t oc_tree_watch(oc_cast_group_t *group, uint64_t now);
/* An operation begins, or its blocks do. */
void oc_tree_listen(oc_cast_group_t *group, uint64_t now);
/* There is news of a rank. */
void oc_tree_heard(oc_cast_group_t *group, uint32_t rank, uint64_t now);

#endif
