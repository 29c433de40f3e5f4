/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The hosts of a group, and the few ranks of other hosts that a rank asks for what it lacks. Part
 * of the protocol: one thread at a time.
 *
 * Of h hosts, each has those as partners that are 1, 2, 4, ... before and behind it, in a circle.
 * For each block they are a binomial tree whose root is the host of the block's owner: who lacks
 * fragments asks the partner above it there, and nobody asks more than log h other hosts.
 */
#ifndef OC_MULTICAST_CORE_PARTNERS_H
#define OC_MULTICAST_CORE_PARTNERS_H

#include "multicast/core/cast_types.h"

/* From group->hosts, for as long as the group lives. */
oc_status_t oc_partners_begin(oc_cast_group_t *group);
void oc_partners_end(oc_cast_group_t *group);

bool oc_partners_share_host(const oc_cast_group_t *group, uint32_t rank, uint32_t other);

/*
 * The rank of a rank's host that asks other hosts for the blocks of an owner: its fetcher. Blocks
 * have different fetchers, so that the ranks of a host share the work. The owner is that on its own
 * host.
 */
uint32_t oc_partners_fetcher(const oc_cast_group_t *group, uint32_t rank, uint32_t owner);

/* The ranks of this host, those of the host before, and so on: the rank of that number. */
uint32_t oc_partners_behind(const oc_cast_group_t *group, uint32_t number);
/* Which number a rank has there. */
uint32_t oc_partners_number(const oc_cast_group_t *group, uint32_t rank);

/* The fetcher of the partner above this rank's host, which is not that of the owner. */
uint32_t oc_partners_above(const oc_cast_group_t *group, uint32_t owner);

/* How many partners a host has, some perhaps twice; and the fetcher of each. */
uint32_t oc_partners_count(const oc_cast_group_t *group);
uint32_t oc_partners_nth(const oc_cast_group_t *group, uint32_t number, uint32_t owner);

#endif
