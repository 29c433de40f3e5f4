/* SPDX-License-Identifier: BSD-3-Clause */
/* Limit and free list of an aggregator's memory. */
#include "server/pool.h"

#include <stdlib.h>
#include <utlist.h>

#define PAGE 4096

/* Lives inside a block that is kept. */
struct oc_pool_block {
    size_t size;
    oc_pool_block_t *next;
};

void oc_pool_open(oc_pool_t *pool, size_t limit)
{
    *pool = (oc_pool_t) {.limit = limit};
}

void oc_pool_trim(oc_pool_t *pool)
{
    oc_pool_block_t *block, *next;

    LL_FOREACH_SAFE (pool->free, block, next) {
        free(block);
    }
    pool->free = NULL;
    pool->idle = 0;
}

void oc_pool_close(oc_pool_t *pool)
{
    oc_pool_trim(pool);
}

static void *reuse(oc_pool_t *pool, size_t size)
{
    oc_pool_block_t *block;

    LL_SEARCH_SCALAR(pool->free, block, size, size);
    if (NULL != block) {
        LL_DELETE(pool->free, block);
        pool->idle -= size;
    }
    return block;
}

void *oc_pool_get(oc_pool_t *pool, size_t size)
{
    void *memory;

    if (size > pool->limit || pool->used > pool->limit - size) {
        return NULL;
    }
    memory = reuse(pool, size);
    if (NULL == memory) {
        if (pool->used + pool->idle > pool->limit - size) {
            oc_pool_trim(pool);
        }
        if (0 != posix_memalign(&memory, PAGE, size < sizeof(oc_pool_block_t) ? PAGE : size)) {
            return NULL;
        }
    }
    pool->used += size;
    return memory;
}

void oc_pool_put(oc_pool_t *pool, void *memory, size_t size)
{
    oc_pool_block_t *block = memory;

    block->size = size;
    LL_PREPEND(pool->free, block);
    pool->used -= size;
    pool->idle += size;
}
