/* SPDX-License-Identifier: BSD-3-Clause */
/* The queue for memory, which queue.h gives out. Of the aggregator, on its thread. */
#ifndef OC_SERVER_AGGREGATOR_STARVING_H
#define OC_SERVER_AGGREGATOR_STARVING_H

#include "server/aggregator/aggregator_types.h"

/* To the end of its group's queue for memory, and the group to the end of all groups. */
void oc_reduction_starve(oc_reduction_t *reduction);
/* It gets what it waited for, or ends. */
void oc_reduction_stop_starving(oc_reduction_t *reduction);
/* Walks the queue: what is wrong, or NULL; see base/check.h. */
const char *oc_starving_check(const oc_aggregator_t *aggregator);
/* Whether a collective may be given memory that is free: nobody has to wait for it before. */
bool oc_reduction_may_take(const oc_aggregator_t *aggregator);

#endif
