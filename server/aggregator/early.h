/* SPDX-License-Identifier: BSD-3-Clause */
/* Messages that came before a receive was posted. Of the aggregator, on its thread. */
#ifndef OC_SERVER_AGGREGATOR_EARLY_H
#define OC_SERVER_AGGREGATOR_EARLY_H

#include "server/aggregator/aggregator_types.h"

/*
 * To be called after progress. Takes them away from UCX: contributions of members are kept for
 * their chunks, all else is dropped. Whether there was any. Groups and peers may be gone
 * afterwards.
 */
bool oc_early_sweep(oc_aggregator_t *aggregator);
/* The contribution with that tag, which is the caller's to be received; false: it has not come. */
bool oc_early_take(oc_server_group_t *group, uint64_t tag, oc_unexpected_t *message);
/* Whether it is here, or announced, and no receive has taken it. */
bool oc_early_has(const oc_server_group_t *group, uint64_t tag);
/* As oc_receive, of that or of what is to come. */
void oc_early_receive(oc_server_group_t *group, oc_transfer_t *transfer, void *buffer, size_t length,
                      uint64_t tag);
/* Nothing of this group will be received any more. */
void oc_early_forget(oc_server_group_t *group);

#endif
