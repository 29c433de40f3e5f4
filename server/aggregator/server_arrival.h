/* SPDX-License-Identifier: BSD-3-Clause */
/* Handles REQUESTs of members about collectives. On the thread of the aggregator. */
#ifndef OC_SERVER_AGGREGATOR_SERVER_ARRIVAL_H
#define OC_SERVER_AGGREGATOR_SERVER_ARRIVAL_H

#include "server/aggregator/aggregator_types.h"

/*
 * Handles a message with a right code, of a member that has got READY. A message that does not fit
 * the collective fails the group.
 */
void oc_reduction_request(oc_server_group_t *group, const oc_request_t *request);

#endif
