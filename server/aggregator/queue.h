/* SPDX-License-Identifier: BSD-3-Clause */
/* Gives memory to the collectives that wait for it. On the thread of the aggregator. */
#ifndef OC_SERVER_AGGREGATOR_QUEUE_H
#define OC_SERVER_AGGREGATOR_QUEUE_H

#include "server/aggregator/aggregator_types.h"

/* Continues waiting collectives, if memory was returned. Whether any of them continued. */
bool oc_reduction_feed(oc_aggregator_t *aggregator);

#endif
