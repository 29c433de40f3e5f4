/* SPDX-License-Identifier: BSD-3-Clause */
/* Limit and free list of an aggregator's memory. */
#include "server/aggregator/pool.h"

#include <assert.h>
#include <stdlib.h>
#include <utlist.h>

#include "server/host/pages.h"

/* Lives inside a block that is kept. */
struct oc_pool_block {
    size_t size;
    oc_pool_block_t *next;
};

/* There has to be room for the note, too. */
static size_t kept_size(size_t size)
{
    return size < sizeof(oc_pool_block_t) ? sizeof(oc_pool_block_t) : size;
}

void oc_pool_open(oc_pool_t *pool, size_t limit)
{
    *pool = (oc_pool_t) {.limit = limit};
    oc_stock_open(&pool->pieces, OC_POOL_MOST_PIECES);
}

static void trim_blocks(oc_pool_t *pool)
{
    oc_pool_block_t *block, *next;

    for (unsigned list = 0; pool->idle > 0 && list < OC_POOL_LISTS; list++) {
        LL_FOREACH_SAFE (pool->free[list], block, next) {
            oc_pages_put(block, kept_size(block->size), pool->huge_pages);
        }
        pool->free[list] = NULL;
    }
    pool->idle = 0;
}

void oc_pool_trim(oc_pool_t *pool)
{
    trim_blocks(pool);
    oc_stock_trim(&pool->pieces);
}

void oc_pool_close(oc_pool_t *pool)
{
    oc_pool_trim(pool);
}

static unsigned list_of(size_t size)
{
    return (unsigned) ((uint64_t) size * 0x9e3779b97f4a7c15ull >> 58);
}

static void *reuse(oc_pool_t *pool, size_t size)
{
    oc_pool_block_t **list = &pool->free[list_of(size)], *block;

    LL_SEARCH_SCALAR(*list, block, size, size);
    if (NULL != block) {
        assert(pool->idle >= size);
        LL_DELETE(*list, block);
        pool->idle -= size;
    }
    return block;
}

bool oc_pool_has(const oc_pool_t *pool, size_t size)
{
    return pool->used <= pool->limit && size <= pool->limit - pool->used;
}

/* Who asks for memory may have that much. */
static bool may_have(oc_pool_t *pool, size_t size)
{
    if (size <= pool->lent) {
        pool->lent -= size;
        return true;
    }
    return oc_pool_has(pool, size);
}

static void count_in(oc_pool_t *pool, size_t size)
{
    assert(size <= SIZE_MAX - pool->used);
    pool->used += size;
    pool->peak = pool->used > pool->peak ? pool->used : pool->peak;
}

static void count_out(oc_pool_t *pool, size_t size)
{
    assert(size <= pool->used);
    pool->used -= size;
    pool->returns++;
}

/*
 * What is kept and what is used stay within the limit together. Pieces go last, and no more of them
 * than is needed: who is short of memory would go to the heap for each operation.
 */
static void make_way(oc_pool_t *pool, size_t size)
{
    size_t kept = pool->idle + pool->pieces.kept;

    if (kept > 0 && !oc_pool_has(pool, size + kept)) {
        trim_blocks(pool);
        oc_stock_shrink(&pool->pieces,
                        oc_pool_has(pool, size) ? pool->limit - pool->used - size : 0);
    }
    assert(0 == pool->idle + pool->pieces.kept
           || oc_pool_has(pool, size + pool->idle + pool->pieces.kept));
}

void *oc_pool_get(oc_pool_t *pool, size_t size)
{
    void *memory;

    if (!may_have(pool, size)) {
        return NULL;
    }
    memory = reuse(pool, size);
    if (NULL == memory) {
        make_way(pool, size);
        memory = oc_pages_get(kept_size(size), pool->huge_pages);
        if (NULL == memory) {
            return NULL;
        }
    }
    count_in(pool, size);
    return memory;
}

void oc_pool_put(oc_pool_t *pool, void *memory, size_t size)
{
    oc_pool_block_t *block = memory, **list = &pool->free[list_of(size)];

    block->size = size;
    LL_PREPEND(*list, block);
    pool->idle += size;
    count_out(pool, size);
}

size_t oc_pool_cost(size_t size)
{
    return oc_stock_cost(size);
}

void *oc_pool_take(oc_pool_t *pool, size_t size)
{
    size_t cost = oc_pool_cost(size);
    void *memory;

    if (!may_have(pool, cost)) {
        return NULL;
    }
    memory = oc_stock_find(&pool->pieces, size);
    if (NULL == memory) {
        make_way(pool, cost);
        memory = oc_stock_take(&pool->pieces, size);
    }
    if (NULL != memory) {
        count_in(pool, cost);
    }
    return memory;
}

void oc_pool_give(oc_pool_t *pool, void *memory, size_t size)
{
    oc_stock_give(&pool->pieces, memory, size);
    count_out(pool, oc_pool_cost(size));
}

void oc_pool_reserve(oc_pool_t *pool, size_t size)
{
    make_way(pool, size);
    count_in(pool, size);
}

void oc_pool_release(oc_pool_t *pool, size_t size)
{
    count_out(pool, size);
}

void oc_pool_lend(oc_pool_t *pool, size_t size)
{
    assert(0 == pool->lent);
    oc_pool_release(pool, size);
    pool->lent = size;
}

const char *oc_pool_check(const oc_pool_t *pool)
{
    const oc_pool_block_t *block;
    size_t idle = 0;

    for (unsigned list = 0; list < OC_POOL_LISTS; list++) {
        LL_FOREACH (pool->free[list], block) {
            if (list != list_of(block->size)) {
                return "a block is in the list of other sizes";
            }
            idle += block->size;
        }
    }
    if (idle != pool->idle) {
        return "a pool counts other blocks than it keeps";
    }
    if (pool->peak < pool->used) {
        return "a pool is used more than it ever was";
    }
    return oc_stock_check(&pool->pieces);
}
