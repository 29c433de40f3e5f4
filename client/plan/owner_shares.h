/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * How much of a vector each aggregator gets if its result goes to owners: a pure function of what is
 * equal on all ranks, in whole numbers.
 *
 * n members (ranks, or hosts) own m_1 … m_n bytes, M together. A member that aggregates A_h bytes
 * takes in A_h bytes from each of n - 2 others, as the owner of a chunk contributes nothing (or, if
 * it does, one more), and its results; so, whatever chunks it aggregates,
 *
 *     in = (n - 2) A_h + m_h        out = M - m_h
 *
 * The members that aggregate share their part of the vector so that the most that one takes in is
 * the least: A_h = max(0, T - m_h) / (n - 2), with T so that all of it is shared. For equal blocks
 * that is M/n for each, and everything is aggregated by its owner. Servers get a part s of the
 * vector, by their weights; doc/architecture.md derives which one.
 */
#ifndef OC_CLIENT_PLAN_OWNER_SHARES_H
#define OC_CLIENT_PLAN_OWNER_SHARES_H

#include <stdbool.h>
#include <stdint.h>

#include "base/status.h"

/* Where an aggregator is. */
typedef struct {
    uint64_t weight;           /* of a server's aggregator, in whatever unit; 0: a member's */
    uint32_t member;           /* which then */
} oc_owner_lane_t;

/*
 * The part of a vector that servers get, in thousandths, if so many members aggregate, too, and the
 * servers' weights, in thousandths, add up to less than their number. paired: an Allgather by
 * multicast of as many bytes goes on at the same time.
 */
uint32_t oc_owner_part_of_servers(uint64_t weights, uint32_t members, bool paired);

/*
 * owned: bytes of each member. for_servers: of the vector, in thousandths, if there are members
 * that aggregate beside servers. Sets the share of each lane, in bytes; at least one is not 0.
 * OC_ERR_NO_MEMORY or OC_OK.
 */
oc_status_t oc_owner_shares(const uint64_t *owned, uint32_t num_members,
                            const oc_owner_lane_t *lanes, unsigned num_lanes,
                            uint32_t for_servers, uint64_t *shares);

#endif
