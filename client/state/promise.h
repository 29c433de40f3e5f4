/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * How many bytes of small results a group may keep for other ranks (collective/kept.h): each rank offers something, and the
 * least of it counts for all. Under the lock of the client.
 */
#ifndef OC_CLIENT_STATE_PROMISE_H
#define OC_CLIENT_STATE_PROMISE_H

#include "client/state/types.h"

/*
 * Of a group at most, and of all groups of a process together. A group gets no more than an eighth of what is left: the first 57
 * get all that they can have, and there is something for about 160. Those that come then have 0: nothing begins as long as a small
 * nonblocking one is not over.
 */
#define OC_KEPT_BYTES (256u << 10)
#define OC_KEPT_TOTAL (16u << 20)

/* What this rank could keep for the group, which it promises; for its vote. */
uint64_t oc_promise_offer(oc_group_t *group);

/* All ranks have promised at least so many bytes. */
void oc_promise_agree(oc_group_t *group, uint64_t bytes);

/* The group needs nothing any more. */
void oc_promise_end(oc_group_t *group);

#endif
