/* SPDX-License-Identifier: BSD-3-Clause */
/* What members say of collectives. Of the aggregator, on its thread. */
#ifndef OC_SERVER_AGGREGATOR_SERVER_ARRIVAL_H
#define OC_SERVER_AGGREGATOR_SERVER_ARRIVAL_H

#include "server/aggregator/aggregator_types.h"

/* A genuine message of a member that was told READY. What does not fit makes the group fail. */
void oc_reduction_request(oc_server_group_t *group, const oc_request_t *request);

#endif
