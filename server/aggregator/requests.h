/* SPDX-License-Identifier: BSD-3-Clause */
/* Receives REQUESTs, which are messages with a header. On the thread of the aggregator. */
#ifndef OC_SERVER_AGGREGATOR_REQUESTS_H
#define OC_SERVER_AGGREGATOR_REQUESTS_H

#include "server/aggregator/aggregator_types.h"

/* Posts all receives; on failure some of them, which end with the worker. */
oc_status_t oc_requests_post(oc_aggregator_t *aggregator);
/* When the worker is closed: those that are not posted. */
void oc_requests_free(oc_aggregator_t *aggregator);

#endif
