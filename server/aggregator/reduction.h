/* SPDX-License-Identifier: BSD-3-Clause */
/* Collectives on an aggregator. Of the aggregator, on its thread. */
#ifndef OC_SERVER_AGGREGATOR_REDUCTION_H
#define OC_SERVER_AGGREGATOR_REDUCTION_H

#include "server/aggregator/aggregator_types.h"

void oc_reduction_request(oc_server_group_t *group, const oc_request_t *request);
/* The same bytes to all ranks; they stay until the last one has them. */
void oc_reduction_reply(oc_reduction_t *reduction, const void *data, size_t length);
/* The results of all chunks are on their way to all ranks. */
void oc_reduction_sent(oc_reduction_t *reduction);
/* All ranks have acknowledged their results, everywhere. */
void oc_reduction_commit(oc_reduction_t *reduction);
/* Cancels what can be canceled; the rest ends when its transfers do. */
void oc_reductions_abandon(oc_server_group_t *group);
void oc_reductions_free(oc_server_group_t *group);
void oc_reduction_settle(oc_reduction_t *reduction);

#endif
