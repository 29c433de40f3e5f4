/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Who waits for memory: groups in order, and in each group its collectives. What comes back goes to
 * the first one, a step at a time, and reserves to whoever has one, at any place.
 */
#include <utlist.h>

#include "server/aggregator_types.h"

void oc_reduction_starve(oc_reduction_t *reduction)
{
    oc_server_group_t *group = reduction->group;
    oc_aggregator_t *aggregator = group->aggregator;

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

    DL_DELETE(group->waiting, reduction);
    reduction->waits_for_memory = false;
    if (NULL == group->waiting) {
        DL_DELETE2(group->aggregator->starving, group, starving_prev, starving_next);
    }
}

static bool feed(oc_reduction_t *reduction, bool in_turn)
{
    return NULL != reduction->held ? oc_small_feed(reduction, in_turn)
                                   : oc_chunks_feed(reduction, in_turn);
}

/* It has what it waited for: others of its group may want something now. */
static void leave_queue(oc_reduction_t *reduction)
{
    oc_reduction_stop_starving(reduction);
    oc_chunks_admit(reduction->group);
}

/* A step of a collective of the first group, which is the last one then; whether it got that. */
static bool feed_first(oc_aggregator_t *aggregator)
{
    oc_server_group_t *group = aggregator->starving;
    oc_reduction_t *first = group->waiting;

    /* what comes back is for groups that are owed something, as long as there are any */
    if (!feed(first, NULL == aggregator->owed)) {
        return false;
    }
    DL_DELETE2(aggregator->starving, group, starving_prev, starving_next);
    DL_APPEND2(aggregator->starving, group, starving_prev, starving_next);
    leave_queue(first);
    return true;
}

/* Who has a reserve need not wait in the queue for that. */
static void lend_reserves(oc_server_group_t *group)
{
    oc_reduction_t *reduction, *next;

    DL_FOREACH_SAFE (group->waiting, reduction, next) {
        if (feed(reduction, false)
            && (NULL != reduction->held || reduction->admitted == reduction->header.chunks)) {
            leave_queue(reduction);
        }
    }
}

bool oc_reduction_may_take(const oc_aggregator_t *aggregator)
{
    return NULL == aggregator->starving && NULL == aggregator->owed;
}

bool oc_reduction_feed(oc_aggregator_t *aggregator)
{
    oc_server_group_t *group, *next;

    if (oc_reduction_may_take(aggregator) || aggregator->fed == aggregator->pool.returns) {
        return false;
    }
    aggregator->fed = aggregator->pool.returns;
    oc_reserves_pay(aggregator);
    while (NULL != aggregator->starving && feed_first(aggregator)) {
        continue;
    }
    DL_FOREACH_SAFE2 (aggregator->starving, group, next, starving_next) {
        if (group->reserves) {
            lend_reserves(group);
        }
    }
    return true;
}
