/* SPDX-License-Identifier: BSD-3-Clause */
/* Who waits for memory. Of the aggregator, on its thread. */
#ifndef OC_SERVER_AGGREGATOR_QUEUE_H
#define OC_SERVER_AGGREGATOR_QUEUE_H

#include "server/aggregator/aggregator_types.h"

/* If memory came back, whoever waits for it goes on; whether anybody did. */
bool oc_reduction_feed(oc_aggregator_t *aggregator);

#endif
