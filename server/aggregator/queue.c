/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Who waits for memory: groups in order, and in each group its collectives. What comes back goes to
 * the first one, a step at a time, and reserves to whoever may have one, at any place.
 */
#include "server/aggregator/queue.h"

#include <assert.h>
#include <utlist.h>

#include "server/aggregator/chunks.h"
#include "server/aggregator/reserve.h"
#include "server/aggregator/server_small.h"
#include "server/aggregator/starving.h"

static bool feed(oc_reduction_t *reduction, bool in_turn)
{
    return NULL != reduction->held ? oc_server_small_feed(reduction, in_turn)
                                   : oc_chunks_feed(reduction, in_turn);
}

/* It has what it waited for: others of its group may want something now. */
static void leave_queue(oc_reduction_t *reduction)
{
    oc_reduction_stop_starving(reduction);
    oc_chunks_admit(reduction->group);
}

static void go_behind(oc_server_group_t *group)
{
    oc_aggregator_t *aggregator = group->aggregator;

    if (NULL != group->waiting) {
        DL_DELETE2(aggregator->starving, group, starving_prev, starving_next);
        DL_APPEND2(aggregator->starving, group, starving_prev, starving_next);
    }
}

/* A step of a collective of the first group, which is the last one then; whether it got that. */
static bool feed_first(oc_aggregator_t *aggregator)
{
    oc_server_group_t *group = aggregator->starving;
    oc_reduction_t *first = group->waiting;

    assert(NULL != first && first->waits_for_memory);
    /* what comes back is for reserves, as long as they lack something */
    if (!feed(first, !oc_reserves_lack(aggregator))) {
        return false;
    }
    go_behind(group);
    leave_queue(first);
    return true;
}

/* Who may have a reserve need not wait in the queue for that. */
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

/* The shared one goes round, as other memory does. */
static void lend_to_all(oc_aggregator_t *aggregator)
{
    oc_server_group_t *group, *next;

    DL_FOREACH_SAFE2 (aggregator->starving, group, next, starving_next) {
        bool shared = !group->own_reserve && oc_reserve_is_free(aggregator);

        if (group->own_reserve || shared) {
            lend_reserves(group);
        }
        if (shared && !oc_reserve_is_free(aggregator)) {
            go_behind(group);
        }
    }
}

/* No memory came back, but the shared reserve may be for a chunk that all has come for now. */
static bool lend_to_arrived(oc_aggregator_t *aggregator)
{
    uint64_t before = aggregator->lent;

    if (oc_reserve_is_free(aggregator)) {
        lend_to_all(aggregator);
    }
    return aggregator->lent != before;
}

bool oc_reduction_feed(oc_aggregator_t *aggregator)
{
    if (oc_reduction_may_take(aggregator)) {
        return false;
    }
    if (aggregator->fed == aggregator->pool.returns) {
        return lend_to_arrived(aggregator);
    }
    aggregator->fed = aggregator->pool.returns;
    oc_reserves_pay(aggregator);
    while (NULL != aggregator->starving && feed_first(aggregator)) {
        continue;
    }
    lend_to_all(aggregator);
    return true;
}
