/* SPDX-License-Identifier: BSD-3-Clause */
/* Messages that came before a receive was posted. Of the aggregator, on its thread. */
#ifndef OC_SERVER_AGGREGATOR_EARLY_H
#define OC_SERVER_AGGREGATOR_EARLY_H

#include "server/aggregator/aggregator_types.h"

/* For a leaf: in the name of the server above, and not of a member. */
bool oc_early_is_from_above(uint64_t tag);
/* Whether its sender may have it here, beside what it has. */
bool oc_early_fits(const oc_server_group_t *group, const oc_unexpected_t *message);
/* Takes the message over; false: no memory, and it is the caller's still. */
bool oc_early_keep(oc_server_group_t *group, const oc_unexpected_t *message);
/* Nobody will receive it: it is counted, and UCX gets it back. */
void oc_early_drop(oc_aggregator_t *aggregator, const oc_unexpected_t *message);
/* The contribution with that tag, which is the caller's to be received; false: it has not come. */
bool oc_early_take(oc_server_group_t *group, uint64_t tag, oc_unexpected_t *message);
/* Whether it is here, or announced, and no receive has taken it. */
bool oc_early_has(const oc_server_group_t *group, uint64_t tag);
/* As oc_receive, of that or of what is to come. */
void oc_early_receive(oc_server_group_t *group, oc_transfer_t *transfer, void *buffer,
                      size_t length, uint64_t tag);
/* Whether the contributions of all ranks to the next chunk are here, or announced. */
bool oc_early_has_next(oc_reduction_t *reduction);
/* Nothing of this group will be received any more. */
void oc_early_forget(oc_server_group_t *group);
/* Walks all that is kept: what is wrong, or NULL; see base/check.h. */
const char *oc_early_check(const oc_aggregator_t *aggregator);

#endif
