/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Contacts of ranks that are no neighbours: FIND and FOUND, and the messages that wait for them.
 * Part of the protocol: one thread at a time.
 */
#ifndef OC_MULTICAST_CORE_ROUTE_H
#define OC_MULTICAST_CORE_ROUTE_H

#include "multicast/core/cast_types.h"

void oc_cast_route_end(oc_cast_group_t *group);
/* Of a rank: its neighbour that is nearer to another rank. */
uint32_t oc_cast_route_next(uint32_t rank, uint32_t target);
/* Asks for the contact of a rank, once. */
void oc_cast_route_find(oc_cast_group_t *group, uint32_t rank);
/* Keeps a message until its rank is known, and looks for that. Without memory the group fails. */
void oc_cast_route_hold(oc_cast_group_t *group, uint32_t rank, const void *bytes, size_t length);
/* A message of a rank came, which no other has passed on. */
void oc_cast_route_heard(oc_cast_group_t *group, uint32_t rank);
void oc_cast_route_message(oc_cast_group_t *group, const oc_cast_message_t *message);
/* Returns when it wants to ask again. */
uint64_t oc_cast_route_progress(oc_cast_group_t *group, uint64_t now);

#endif
