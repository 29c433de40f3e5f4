/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Messages that no receive has taken although one was posted for each. Under the lock of the
 * client.
 */
#ifndef OC_CLIENT_COLLECTIVE_LEFTOVERS_H
#define OC_CLIENT_COLLECTIVE_LEFTOVERS_H

#include "client/collective/allreduce.h"
#include "protocol/tag.h"

/* Whether a message in the name of this lane's aggregator waits, which no receive has taken. */
bool oc_leftover_is_here(const oc_allreduce_t *allreduce, const oc_lane_t *lane, oc_kind_t kind,
                         uint64_t slot);
/* So it is: says so, and gives up all service. */
void oc_leftover_tell(const oc_allreduce_t *allreduce, const oc_lane_t *lane);
/* What does not go on may wait for such a message: to be called now and then, after progress. */
void oc_leftovers_look(oc_client_t *client);

#endif
