/* SPDX-License-Identifier: BSD-3-Clause */
/* Who waits for memory. Of the aggregator, on its thread. */
#ifndef OC_SERVER_AGGREGATOR_QUEUE_H
#define OC_SERVER_AGGREGATOR_QUEUE_H

#include "server/aggregator/aggregator_types.h"

/* To the end of its group's queue for memory, and the group to the end of all groups. */
void oc_reduction_starve(oc_reduction_t *reduction);
/* It gets what it waited for, or ends. */
void oc_reduction_stop_starving(oc_reduction_t *reduction);
/* If memory came back, whoever waits for it goes on; whether anybody did. */
bool oc_reduction_feed(oc_aggregator_t *aggregator);
/* Whether a collective may be given memory that is free: nobody has to wait for it before. */
bool oc_reduction_may_take(const oc_aggregator_t *aggregator);

#endif
