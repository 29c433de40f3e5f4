/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Sends READY to the members of a group, when all that they need is there. On the thread of the
 * aggregator.
 */
#ifndef OC_SERVER_AGGREGATOR_READY_H
#define OC_SERVER_AGGREGATOR_READY_H

#include "server/aggregator/aggregator_types.h"

/* To be called when a member has joined: sends READY to it if nothing is missing. */
void oc_ready_tell(oc_server_group_t *group, uint32_t rank);
/*
 * To be called when something that was missing is there: sends READY to all members that have
 * joined and did not get it.
 */
void oc_ready_tell_all(oc_server_group_t *group);

#endif
