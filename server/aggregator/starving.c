/* SPDX-License-Identifier: BSD-3-Clause */
/* The queue for memory: groups in order, and in each group its collectives. */
#include "server/aggregator/starving.h"

#include <assert.h>
#include <utlist.h>

#include "server/aggregator/reserve.h"

void oc_reduction_starve(oc_reduction_t *reduction)
{
    oc_server_group_t *group = reduction->group;
    oc_aggregator_t *aggregator = group->aggregator;

    assert(!reduction->waits_for_memory);
    if (!reduction->has_waited) {
        reduction->has_waited = true;
        aggregator->waited++;
    }
    reduction->waits_for_memory = true;
    if (NULL == group->waiting) {
        DL_APPEND2(aggregator->starving, group, starving_prev, starving_next);
    }
    DL_APPEND(group->waiting, reduction);
}

void oc_reduction_stop_starving(oc_reduction_t *reduction)
{
    oc_server_group_t *group = reduction->group;

    assert(reduction->waits_for_memory && NULL != group->aggregator->starving);
    DL_DELETE(group->waiting, reduction);
    reduction->waits_for_memory = false;
    if (NULL == group->waiting) {
        DL_DELETE2(group->aggregator->starving, group, starving_prev, starving_next);
    }
}

bool oc_reduction_may_take(const oc_aggregator_t *aggregator)
{
    return NULL == aggregator->starving && !oc_reserves_lack(aggregator);
}

const char *oc_starving_check(const oc_aggregator_t *aggregator)
{
    const oc_server_group_t *group;
    const oc_reduction_t *reduction;

    DL_FOREACH2 (aggregator->starving, group, starving_next) {
        if (NULL == group->waiting || group->aggregator != aggregator) {
            return "a group is in the queue for memory that waits for none";
        }
        DL_FOREACH (group->waiting, reduction) {
            if (!reduction->waits_for_memory || reduction->group != group) {
                return "a collective is in the queue for memory that waits for none";
            }
        }
    }
    return NULL;
}
