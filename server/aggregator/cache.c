/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Pieces: contributions to small collectives in memory of the pool. Of a collective that not all
 * ranks have come to they may be dropped at any time: what a group waits for must not stop another.
 */
#include "server/aggregator/cache.h"

#include <assert.h>
#include <utlist.h>

size_t oc_piece_offset(uint32_t rank)
{
    return 0 == rank ? OC_HEADER_SIZE : 0;
}

size_t oc_piece_size(const oc_reduction_t *reduction, uint32_t rank)
{
    return oc_piece_offset(rank) + reduction->header.chunk_bytes;
}

bool oc_piece_take(oc_reduction_t *reduction, uint32_t rank)
{
    assert(rank < reduction->group->num_ranks && NULL == reduction->held[rank]);
    reduction->held[rank] = oc_pool_take(&reduction->group->aggregator->pool,
                                         oc_piece_size(reduction, rank));
    return NULL != reduction->held[rank];
}

void oc_piece_give(oc_reduction_t *reduction, uint32_t rank)
{
    if (NULL != reduction->held[rank]) {
        oc_pool_give(&reduction->group->aggregator->pool, reduction->held[rank],
                     oc_piece_size(reduction, rank));
        reduction->held[rank] = NULL;
    }
}

void oc_cache_add(oc_reduction_t *reduction, size_t cost)
{
    oc_aggregator_t *aggregator = reduction->group->aggregator;

    /* contributions come before a collective is given memory, or waits for it */
    assert(cost > 0 && 0 == reduction->lent && !reduction->waits_for_memory);
    if (0 == reduction->cached) {
        DL_APPEND2(aggregator->caches, reduction, cache_prev, cache_next);
    }
    reduction->cached += cost;
    aggregator->cached += cost;
}

void oc_cache_leave(oc_reduction_t *reduction)
{
    oc_aggregator_t *aggregator = reduction->group->aggregator;

    if (reduction->cached > 0) {
        assert(aggregator->cached >= reduction->cached);
        DL_DELETE2(aggregator->caches, reduction, cache_prev, cache_next);
        aggregator->cached -= reduction->cached;
        reduction->cached = 0;
    }
}

static void cache_drop(oc_reduction_t *reduction)
{
    /* who has something of a reserve waits for nothing but its messages, and keeps what it has */
    assert(0 == reduction->lent);
    oc_cache_leave(reduction);
    for (uint32_t rank = 0; rank < reduction->group->num_ranks; rank++) {
        oc_piece_give(reduction, rank);
    }
}

bool oc_cache_make_room(oc_aggregator_t *aggregator, const oc_reduction_t *reduction, size_t size)
{
    const oc_pool_t *pool = &aggregator->pool;
    size_t others = aggregator->cached - (NULL != reduction ? reduction->cached : 0);

    assert(others <= aggregator->cached && aggregator->cached <= pool->used);
    if (pool->used - others > pool->limit || pool->limit - (pool->used - others) < size) {
        return false;
    }
    /* the last to come waits longest for its other ranks, as far as anybody knows */
    while (!oc_pool_has(pool, size)) {
        oc_reduction_t *victim = aggregator->caches->cache_prev;

        assert(victim != reduction || victim != aggregator->caches);
        cache_drop(victim != reduction ? victim : victim->cache_prev);
    }
    return true;
}

size_t oc_pieces_cost(const oc_reduction_t *reduction)
{
    size_t cost = 0;

    for (uint32_t rank = 0; NULL != reduction->held && rank < reduction->group->num_ranks; rank++) {
        cost += NULL != reduction->held[rank] ? oc_pool_cost(oc_piece_size(reduction, rank)) : 0;
    }
    return cost;
}

const char *oc_cache_check(const oc_aggregator_t *aggregator)
{
    const oc_reduction_t *reduction;
    size_t cached = 0;

    DL_FOREACH2 (aggregator->caches, reduction, cache_next) {
        if (0 == reduction->cached || reduction->cached != oc_pieces_cost(reduction)) {
            return "a collective may lose something else than it holds";
        }
        cached += reduction->cached;
    }
    return cached == aggregator->cached ? NULL : "more or less may be dropped than is counted";
}
