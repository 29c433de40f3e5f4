/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Memory of an aggregator with a limit. Blocks that come back are kept for the next request of
 * the same size, until an allocation of another size needs the room or the pool is trimmed.
 */
#ifndef OC_SERVER_POOL_H
#define OC_SERVER_POOL_H

#include <stddef.h>

typedef struct oc_pool_block oc_pool_block_t;

typedef struct {
    size_t limit;
    size_t used;              /* bytes handed out */
    size_t idle;              /* bytes kept */
    oc_pool_block_t *free;
} oc_pool_t;

void oc_pool_open(oc_pool_t *pool, size_t limit);
void oc_pool_close(oc_pool_t *pool);

/* Page-aligned memory, or NULL when the limit (or the machine's memory) does not allow it. */
void *oc_pool_get(oc_pool_t *pool, size_t size);
void oc_pool_put(oc_pool_t *pool, void *memory, size_t size);

/* Gives what is kept back to the system. */
void oc_pool_trim(oc_pool_t *pool);

#endif
