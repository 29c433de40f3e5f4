/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Reserves: memory that is kept back, so that among all that wait for some there is always one that
 * gets it.
 *
 * Whoever has memory for a chunk waits for its contributions. Of groups with one aggregator these
 * come by themselves. Where there are more, a rank may have to wait for the results of earlier chunks
 * of slower aggregators first, and in the node shape for those that other teams reduce: these may
 * wait for memory in vain, if chunks that come later have it all. As long as such a group is there,
 * an aggregator keeps room back for one step of any of its groups, which it lends only to who lacks
 * nothing else: to a chunk whose contributions are all here or announced, and to a small collective
 * that all ranks have come to. It waits for no other chunk, on this aggregator or elsewhere, so it
 * ends, and the room comes back. The first chunk of a communicator that is not over gets all its
 * contributions, since they wait only for earlier ones. So one reserve is enough for all groups.
 *
 * In a tree of servers, chunks and small collectives with memory wait for other leaves, whose ranks
 * may not have come yet, so that nobody knows when it comes back. There each group has room of its
 * own for one chunk and one small collective, also if it has all its ranks on one leaf, and may not
 * begin before that: until then it is owed, and what comes back goes to such groups first. It is
 * lent to the first chunk of the first collective that is not over. Small collectives have
 * room apart, because later chunks may have all other memory and wait for their results.
 *
 * The pool counts reserves as used. To lend one is to release it for the moment of the allocation,
 * and what comes back is reserved again. Where nothing is owed, what is known of a new group may
 * pass the limit, and the shared reserve grows for it when memory comes back: what was secured
 * before can be lent meanwhile, to steps that fit, or others might never end.
 */
#include "server/aggregator/reserve.h"

#include <assert.h>
#include <utlist.h>

#include "server/aggregator/budget.h"
#include "server/aggregator/cache.h"
#include "server/aggregator/early.h"
#include "server/aggregator/ready.h"

static size_t reserve_chunk_size(const oc_server_group_t *group)
{
    return oc_budget_chunk(group->num_ranks, group->chunk_bytes);
}

/* What it costs as long as it exists. */
static size_t whole(const oc_server_group_t *group)
{
    return oc_budget_group(group->num_ranks, group->goes_up)
           + (group->own_reserve ? oc_budget_reserve(group->num_ranks, group->chunk_bytes,
                                                     group->small_bytes) : 0);
}

static void owe(oc_server_group_t *group)
{
    assert(!group->owed);
    group->owed = true;
    DL_APPEND2(group->aggregator->owed, group, owed_prev, owed_next);
}

static void stop_owing(oc_server_group_t *group)
{
    assert(group->owed && NULL != group->aggregator->owed);
    group->owed = false;
    DL_DELETE2(group->aggregator->owed, group, owed_prev, owed_next);
}

/* On a leaf this is true of all groups: ranks of those on other leaves, too, may wait for them. */
static bool may_be_owed(const oc_server_group_t *group)
{
    return group->tree || NULL != group->aggregator->parent;
}

/* ---- what is shared ---- */

static bool is_short(const oc_reserve_t *reserve)
{
    return reserve->sharing > 0 && reserve->secured + reserve->lent < reserve->step;
}

/* All that lacks, or nothing: who else wants memory waits until then. */
static void secure(oc_aggregator_t *aggregator)
{
    oc_reserve_t *reserve = &aggregator->reserve;
    size_t lacking = reserve->step - reserve->secured - reserve->lent;

    if (is_short(reserve) && oc_cache_make_room(aggregator, NULL, lacking)) {
        oc_pool_reserve(&aggregator->pool, lacking);
        reserve->secured += lacking;
    }
}

static void reserve_share(oc_server_group_t *group)
{
    oc_reserve_t *reserve = &group->aggregator->reserve;
    size_t step = oc_budget_step(group->num_ranks, group->chunk_bytes, group->small_bytes);

    reserve->groups++;
    reserve->sharing += group->reserves;
    reserve->step = step > reserve->step ? step : reserve->step;
    secure(group->aggregator);
}

/* The largest step is forgotten with the last group, as the registry does. */
static void stop_sharing(oc_server_group_t *group)
{
    oc_aggregator_t *aggregator = group->aggregator;
    oc_reserve_t *reserve = &aggregator->reserve;

    assert(reserve->groups > 0 && reserve->sharing >= group->reserves);
    reserve->sharing -= group->reserves;
    if (0 == reserve->sharing) {
        oc_pool_release(&aggregator->pool, reserve->secured);
        reserve->secured = 0;
    }
    if (0 == --reserve->groups) {
        reserve->step = 0;
    }
}

static bool lend_shared(oc_aggregator_t *aggregator, size_t size)
{
    oc_reserve_t *reserve = &aggregator->reserve;

    if (!oc_reserve_is_free(aggregator) || reserve->secured < size) {
        return false;
    }
    reserve->secured -= size;
    reserve->lent = size;
    aggregator->lent++;
    oc_pool_lend(&aggregator->pool, size);
    return true;
}

static void return_shared(oc_aggregator_t *aggregator, size_t size)
{
    oc_reserve_t *reserve = &aggregator->reserve;

    assert(reserve->lent >= size && aggregator->pool.lent <= reserve->lent);
    reserve->lent -= size;
    aggregator->pool.lent = 0;
    if (reserve->sharing > 0) {
        oc_pool_reserve(&aggregator->pool, size);
        reserve->secured += size;
    }
}

bool oc_reserve_is_free(const oc_aggregator_t *aggregator)
{
    return aggregator->reserve.secured > 0 && 0 == aggregator->reserve.lent;
}

bool oc_reserves_lack(const oc_aggregator_t *aggregator)
{
    return NULL != aggregator->owed || is_short(&aggregator->reserve);
}

/* ---- groups come and go ---- */

void oc_reserve_take(oc_server_group_t *group)
{
    oc_aggregator_t *aggregator = group->aggregator;
    bool in_tree = may_be_owed(group);

    group->own_reserve = in_tree && group->reserves;
    if (in_tree
        && (NULL != aggregator->owed || !oc_cache_make_room(aggregator, NULL, whole(group)))) {
        owe(group);
        return;
    }
    oc_pool_reserve(&aggregator->pool, whole(group));
    if (!in_tree) {
        reserve_share(group);
    }
}

void oc_reserves_pay(oc_aggregator_t *aggregator)
{
    oc_server_group_t *group;

    while (NULL != (group = aggregator->owed)
           && oc_cache_make_room(aggregator, NULL, whole(group))) {
        stop_owing(group);
        oc_pool_reserve(&aggregator->pool, whole(group));
        oc_ready_tell_all(group);
    }
    secure(aggregator);
}

void oc_reserve_give(oc_server_group_t *group)
{
    if (group->owed) {
        stop_owing(group);
        /* whoever waited behind it may go on */
        oc_pool_release(&group->aggregator->pool, 0);
        return;
    }
    oc_pool_release(&group->aggregator->pool, whole(group));
    if (!may_be_owed(group)) {
        stop_sharing(group);
    }
}

/* ---- lending ---- */

/* STARTs come in order: there is no earlier one that is not known. */
static bool reserve_is_first(const oc_reduction_t *reduction)
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

    if (!may_be_owed(group)) {
        return oc_reserve_is_free(group->aggregator) && oc_early_has_next(reduction)
               && lend_shared(group->aggregator, reserve_chunk_size(group));
    }
    if (!group->own_reserve || group->owed || group->chunk_lent || !reserve_is_first(reduction)
        || !lend(&group->aggregator->pool, reserve_chunk_size(group))) {
        return false;
    }
    group->chunk_lent = true;
    return true;
}

void oc_reserve_return_chunk(oc_server_group_t *group)
{
    if (!may_be_owed(group)) {
        return_shared(group->aggregator, reserve_chunk_size(group));
        return;
    }
    assert(group->own_reserve && group->chunk_lent);
    oc_pool_reserve(&group->aggregator->pool, reserve_chunk_size(group));
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

    assert(0 == reduction->lent);
    if (!may_be_owed(group)) {
        reduction->lent = lend_shared(group->aggregator, size) ? size : 0;
        return reduction->lent > 0;
    }
    if (!group->own_reserve || group->owed || group->small_lent || !is_first_small(reduction)
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
    reduction->lent -= back;
    if (!may_be_owed(reduction->group)) {
        return_shared(reduction->group->aggregator, back);
        return;
    }
    assert(reduction->group->small_lent);
    oc_pool_reserve(&reduction->group->aggregator->pool, back);
    if (0 == reduction->lent) {
        reduction->group->small_lent = false;
    }
}

/* ---- checks ---- */

/* What it counts now: less what it has lent. */
static size_t reserve_counted(const oc_server_group_t *group)
{
    const oc_reduction_t *reduction;
    size_t size = whole(group);

    if (group->owed) {
        return 0;
    }
    size -= group->chunk_lent ? reserve_chunk_size(group) : 0;
    DL_FOREACH2 (group->reductions, reduction, group_next) {
        size -= group->own_reserve ? reduction->lent : 0;
    }
    return size;
}

size_t oc_reserve_counted(const oc_aggregator_t *aggregator)
{
    const oc_server_group_t *group;
    size_t size = aggregator->reserve.secured;

    for (group = aggregator->groups; NULL != group; group = group->hh.next) {
        size += reserve_counted(group);
    }
    return size;
}

static const char *check_shared(const oc_aggregator_t *aggregator)
{
    const oc_reserve_t *reserve = &aggregator->reserve;
    const oc_server_group_t *group;
    unsigned groups = 0, sharing = 0;

    for (group = aggregator->groups; NULL != group; group = group->hh.next) {
        groups += !may_be_owed(group);
        sharing += !may_be_owed(group) && group->reserves;
    }
    /* those that were dropped count until they are freed */
    if (groups > reserve->groups || sharing > reserve->sharing) {
        return "groups share the reserve that do not count";
    }
    return reserve->secured + reserve->lent > reserve->step && reserve->sharing > 0
               ? "more is secured than the largest step" : NULL;
}

const char *oc_reserve_check(const oc_aggregator_t *aggregator)
{
    const oc_server_group_t *group;

    DL_FOREACH2 (aggregator->owed, group, owed_next) {
        if (!group->owed || !may_be_owed(group) || group->chunk_lent || group->small_lent) {
            return "a group waits for its reserve that is owed none";
        }
    }
    return check_shared(aggregator);
}
