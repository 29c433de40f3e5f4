/* SPDX-License-Identifier: BSD-3-Clause */
/* Shares of aggregators by what their hosts own. */
#include "client/plan/owner_shares.h"

#include <assert.h>
#include <stdbool.h>
#include <stdlib.h>

#define WHOLE 1000u

typedef struct {
    const uint64_t *owned;
    uint32_t num_members;
    const oc_owner_lane_t *lanes;
    unsigned num_lanes;
    uint64_t *shares;
} owner_plan_t;

static bool is_server(const oc_owner_lane_t *lane)
{
    return lane->weight > 0;
}

/* value * factor / divisor, whatever the product. */
static uint64_t part_of(uint64_t value, uint64_t factor, uint64_t divisor)
{
    return (uint64_t) ((unsigned __int128) value * factor / divisor);
}

static int compare(const void *a, const void *b)
{
    const uint64_t x = *(const uint64_t *) a, y = *(const uint64_t *) b;

    return (x > y) - (x < y);
}

/* So that all that is above the amounts and below the level is `volume`; amounts are sorted. */
static uint64_t find_level(const uint64_t *amounts, unsigned count, uint64_t volume)
{
    uint64_t sum = 0, level = 0;

    for (unsigned i = 0; i < count; i++) {
        sum += amounts[i];
        level = (volume + sum) / (i + 1);
        if (i + 1 == count || level <= amounts[i + 1]) {
            break;
        }
    }
    return level;
}

/* Of the members that aggregate: what they own, ascending. NULL: out of memory. */
static uint64_t *sorted_amounts(const owner_plan_t *plan, unsigned *count)
{
    uint64_t *amounts = malloc(plan->num_lanes * sizeof(*amounts));

    *count = 0;
    for (unsigned i = 0; NULL != amounts && i < plan->num_lanes; i++) {
        if (!is_server(&plan->lanes[i])) {
            amounts[(*count)++] = plan->owned[plan->lanes[i].member];
        }
    }
    if (NULL != amounts) {
        qsort(amounts, *count, sizeof(*amounts), compare);
    }
    return amounts;
}

/* With two members nothing of it matters for links: each one its own, as far as servers do not. */
static oc_status_t share_by_owners(const owner_plan_t *plan, uint64_t bytes, uint64_t all)
{
    for (unsigned i = 0; i < plan->num_lanes; i++) {
        if (!is_server(&plan->lanes[i])) {
            plan->shares[i] = part_of(plan->owned[plan->lanes[i].member], bytes, all);
        }
    }
    return OC_OK;
}

static uint64_t share_of_member(const owner_plan_t *plan, uint64_t owned, uint64_t level)
{
    return level > owned ? (level - owned) / (plan->num_members - 2) : 0;
}

static oc_status_t share_by_level(const owner_plan_t *plan, uint64_t bytes)
{
    uint64_t level, *amounts;
    unsigned count;

    amounts = sorted_amounts(plan, &count);
    if (NULL == amounts) {
        return OC_ERR_NO_MEMORY;
    }
    level = find_level(amounts, count, bytes * (plan->num_members - 2));
    free(amounts);
    for (unsigned i = 0; i < plan->num_lanes; i++) {
        if (!is_server(&plan->lanes[i])) {
            plan->shares[i] = share_of_member(plan, plan->owned[plan->lanes[i].member], level);
        }
    }
    return OC_OK;
}

static void share_among_servers(const owner_plan_t *plan, uint64_t bytes, uint64_t weights)
{
    for (unsigned i = 0; i < plan->num_lanes; i++) {
        if (is_server(&plan->lanes[i])) {
            plan->shares[i] = part_of(bytes, plan->lanes[i].weight, weights);
        }
    }
}

/*
 * There may be nothing for anybody: a vector of a few bytes in whole numbers, or if those who own
 * anything do not aggregate.
 */
static void share_something(const owner_plan_t *plan)
{
    uint64_t all = 0;

    for (unsigned i = 0; i < plan->num_lanes; i++) {
        all += plan->shares[i];
    }
    plan->shares[0] += 0 == all;
}

uint32_t oc_owner_part_of_servers(uint64_t weights, uint32_t members, bool paired)
{
    uint64_t n = members, part = weights / n;

    if (paired) {
        part = part_of(2 * (n - 1) * WHOLE, weights, (n - 2) * weights + n * (n - 1) * WHOLE);
    }
    return (uint32_t) (part < WHOLE ? part : WHOLE);
}

oc_status_t oc_owner_shares(const uint64_t *owned, uint32_t num_members,
                            const oc_owner_lane_t *lanes, unsigned num_lanes,
                            uint32_t for_servers, uint64_t *shares)
{
    const owner_plan_t plan = {.owned = owned, .num_members = num_members, .lanes = lanes,
                               .num_lanes = num_lanes, .shares = shares};
    uint64_t bytes = 0, weights = 0, served;
    oc_status_t status = OC_OK;
    bool members = false;

    assert(for_servers <= WHOLE && num_lanes > 0);
    for (uint32_t i = 0; i < num_members; i++) {
        bytes += owned[i];
    }
    for (unsigned i = 0; i < num_lanes; i++) {
        shares[i] = 0;
        weights += lanes[i].weight;
        members = members || !is_server(&lanes[i]);
    }
    served = members ? part_of(bytes, weights > 0 ? for_servers : 0, WHOLE) : bytes;
    if (weights > 0) {
        share_among_servers(&plan, served, weights);
    }
    if (members) {
        status = num_members > 2 ? share_by_level(&plan, bytes - served)
                                 : share_by_owners(&plan, bytes - served, bytes);
    }
    share_something(&plan);
    return status;
}
