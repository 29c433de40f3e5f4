/* SPDX-License-Identifier: BSD-3-Clause */
/* The contributions to a small collective. Of the aggregator, on its thread. */
#ifndef OC_SERVER_AGGREGATOR_SERVER_SMALL_H
#define OC_SERVER_AGGREGATOR_SERVER_SMALL_H

#include "server/aggregator/aggregator_types.h"

void oc_server_small_arrive(oc_reduction_t *reduction, const oc_request_t *request);
/* … of a rank that was asked for it again */
void oc_server_small_arrive_again(oc_reduction_t *reduction, const oc_request_t *request);
/* All ranks have come. */
void oc_server_small_admit(oc_reduction_t *reduction);
/* One that waits for memory, in its turn or else by the group's reserve: whether it is done. */
bool oc_server_small_feed(oc_reduction_t *reduction, bool in_turn);
/* The result is in held[0], behind room for its header: it goes to the members. */
void oc_server_small_result(oc_reduction_t *reduction);

#endif
