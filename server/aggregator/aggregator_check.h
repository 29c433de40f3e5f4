/* SPDX-License-Identifier: BSD-3-Clause */
/* Whether all that an aggregator has fits together. */
#ifndef OC_SERVER_AGGREGATOR_AGGREGATOR_CHECK_H
#define OC_SERVER_AGGREGATOR_AGGREGATOR_CHECK_H

#include "server/aggregator/aggregator_types.h"

/*
 * Walks groups, collectives, queues and memory, and compares their counts: what is wrong, or NULL;
 * see base/check.h. On the thread of the aggregator, between callbacks.
 */
const char *oc_aggregator_check(const oc_aggregator_t *aggregator);

/* All groups have ended, and no transfer is left: whether they have given everything back. */
const char *oc_aggregator_check_empty(const oc_aggregator_t *aggregator);

#endif
