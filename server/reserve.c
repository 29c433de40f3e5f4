/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The reserve of a group: room for one chunk and one small collective that nobody else can use.
 *
 * Whoever has memory for a chunk waits for its contributions. Of most groups these come by
 * themselves. In the node shape a rank may have to wait for the results of earlier chunks first,
 * which other teams reduce, and where ranks keep a pace, for those of slower aggregators: these may
 * wait for memory in vain, if chunks that come later have it all. With the reserve, the first
 * chunk of the first collective of a group that is not over always gets memory: its contributions
 * wait for nothing, so it ends, and then there is another first chunk.
 *
 * A small collective that all have come to waits for nothing but memory. It has room of its own,
 * because later chunks may have all other memory and wait for its result.
 *
 * In a tree of servers, chunks and small collectives with memory wait for other leaves, whose ranks
 * may not have come yet, so that nobody knows when it comes back. There no group may begin before
 * its reserve is there, nor one that has all its ranks on one leaf: until then it is owed, and what
 * comes back goes to such groups first. Elsewhere what others have comes back by itself, and a
 * group may begin: its reserve may pass the limit until then.
 *
 * The pool counts the reserve as used. To lend it is to release it for the moment of the
 * allocation, and what comes back is reserved again.
 */
#include <utlist.h>

#include "server/aggregator_types.h"
#include "server/budget.h"

static size_t chunk_size(const oc_server_group_t *group)
{
    return oc_budget_chunk(group->num_ranks, group->chunk_bytes);
}

/* What it costs as long as it exists. */
static size_t whole(const oc_server_group_t *group)
{
    return oc_budget_group(group->num_ranks, group->goes_up)
           + (group->reserves ? oc_budget_reserve(group->num_ranks, group->chunk_bytes,
                                                  group->small_bytes) : 0);
}

static void owe(oc_server_group_t *group)
{
    group->owed = true;
    DL_APPEND2(group->aggregator->owed, group, owed_prev, owed_next);
}

static void stop_owing(oc_server_group_t *group)
{
    group->owed = false;
    DL_DELETE2(group->aggregator->owed, group, owed_prev, owed_next);
}

/* On a leaf this is true of all groups: ranks of those on other leaves, too, may wait for them. */
static bool may_be_owed(const oc_server_group_t *group)
{
    return group->tree || NULL != group->aggregator->parent;
}

void oc_reserve_take(oc_server_group_t *group)
{
    oc_aggregator_t *aggregator = group->aggregator;

    if (may_be_owed(group)
        && (NULL != aggregator->owed || !oc_small_make_room(aggregator, NULL, whole(group)))) {
        owe(group);
    } else {
        oc_pool_reserve(&aggregator->pool, whole(group));
    }
}

void oc_reserves_pay(oc_aggregator_t *aggregator)
{
    oc_server_group_t *group;

    while (NULL != (group = aggregator->owed)
           && oc_small_make_room(aggregator, NULL, whole(group))) {
        stop_owing(group);
        oc_pool_reserve(&aggregator->pool, whole(group));
        oc_aggregator_group_ready(group);
    }
}

void oc_reserve_give(oc_server_group_t *group)
{
    if (group->owed) {
        stop_owing(group);
        /* whoever waited behind it may go on */
        oc_pool_release(&group->aggregator->pool, 0);
    } else {
        oc_pool_release(&group->aggregator->pool, whole(group));
    }
}

/* STARTs come in order: there is no earlier one that is not known. */
static bool is_first(const oc_reduction_t *reduction)
{
    const oc_reduction_t *other;

    DL_FOREACH2 (reduction->group->reductions, other, group_next) {
        if (OC_MESSAGE_START == other->header.message && other->sequence < reduction->sequence
            && other->admitted < other->header.chunks) {
            return false;
        }
    }
    return true;
}

/* What other groups count as may have passed the limit. */
static bool lend(oc_pool_t *pool, size_t size)
{
    if (pool->used > pool->limit) {
        return false;
    }
    oc_pool_release(pool, size);
    return true;
}

bool oc_reserve_lend_chunk(oc_reduction_t *reduction)
{
    oc_server_group_t *group = reduction->group;

    if (!group->reserves || group->owed || group->chunk_lent || !is_first(reduction)
        || !lend(&group->aggregator->pool, chunk_size(group))) {
        return false;
    }
    group->chunk_lent = true;
    return true;
}

void oc_reserve_return_chunk(oc_server_group_t *group)
{
    oc_pool_reserve(&group->aggregator->pool, chunk_size(group));
    group->chunk_lent = false;
}

/* SMALLs come in order, too. Who comes later may wait for ranks that wait for the first one. */
static bool is_first_small(const oc_reduction_t *reduction)
{
    const oc_reduction_t *other;

    DL_FOREACH (reduction->group->waiting, other) {
        if (NULL != other->held && other->sequence < reduction->sequence) {
            return false;
        }
    }
    return true;
}

bool oc_reserve_lend_small(oc_reduction_t *reduction, size_t size)
{
    oc_server_group_t *group = reduction->group;

    if (!group->reserves || group->owed || group->small_lent || !is_first_small(reduction)
        || !lend(&group->aggregator->pool, size)) {
        return false;
    }
    group->small_lent = true;
    reduction->lent = size;
    return true;
}

void oc_reserve_return_piece(oc_reduction_t *reduction, size_t cost)
{
    size_t back = cost < reduction->lent ? cost : reduction->lent;

    if (0 == back) {
        return;
    }
    oc_pool_reserve(&reduction->group->aggregator->pool, back);
    reduction->lent -= back;
    if (0 == reduction->lent) {
        reduction->group->small_lent = false;
    }
}
