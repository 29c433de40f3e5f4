/* SPDX-License-Identifier: BSD-3-Clause */
/* A rank as a member of its group on the servers that it has links to. Under the lock of the client. */
#ifndef OC_CLIENT_SERVERS_MEMBERSHIP_H
#define OC_CLIENT_SERVERS_MEMBERSHIP_H

#include "client/state/readiness.h"
#include "client/state/types.h"

/* Of all links, for each team. */
uint32_t oc_membership_aggregators(const oc_group_t *group);
/* So many can it use. */
uint32_t oc_membership_most(const oc_group_t *group);

/*
 * Joins with all teams on all links, which are ready. Returns what receives READY of all aggregators; NULL: out of
 * memory.
 */
oc_readiness_t *oc_membership_join(oc_group_t *group);

/* Which starts of the servers this rank has joined: a hash of their incarnations, in the order of the links. */
uint64_t oc_membership_mark(const oc_group_t *group);

/* Whether the server has answered. */
bool oc_membership_joined(const oc_group_t *group, const oc_link_t *link);

/* The first link that is not ready, or if joining, has not all answers and READYs yet; NULL: there is none. */
const oc_link_t *oc_membership_slow(const oc_group_t *group, const oc_readiness_t *joining);

/* Whether all links but this one have all answers and READYs. */
bool oc_membership_others_ready(const oc_group_t *group, const oc_readiness_t *joining, const oc_link_t *but);

#endif
