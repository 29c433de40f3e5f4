/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Memory of an aggregator with a limit. Everything counts as what it takes of the machine. Blocks
 * that come back are kept for the next request of the same size, and some of the pieces for the
 * next of about the same, until an allocation of another size needs the room or the pool is
 * trimmed. Of one thread; nothing blocks but the system's own allocation.
 */
#ifndef OC_SERVER_AGGREGATOR_POOL_H
#define OC_SERVER_AGGREGATOR_POOL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/stock.h"

/* Pieces that are kept, in bytes. */
#define OC_POOL_MOST_PIECES ((size_t) 8 << 20)

/* Lists of blocks that are kept. Groups have blocks of one size each. */
#define OC_POOL_LISTS 64

typedef struct oc_pool_block oc_pool_block_t;

typedef struct {
    size_t limit;
    size_t used;              /* bytes handed out or reserved */
    size_t lent;              /* bytes that may be handed out next, whatever the limit says */
    size_t idle;              /* bytes kept, of blocks */
    size_t peak;              /* the most that used ever was */
    uint64_t returns;         /* how often anything came back */
    int huge_pages;           /* oc_huge_pages_t; set before the first block is got */
    oc_pool_block_t *free[OC_POOL_LISTS]; /* hash by size */
    oc_stock_t pieces;
} oc_pool_t;

void oc_pool_open(oc_pool_t *pool, size_t limit);
/* Frees what is kept. What was handed out stays its owner's. */
void oc_pool_close(oc_pool_t *pool);

/* Whether that many bytes are left. */
bool oc_pool_has(const oc_pool_t *pool, size_t size);

/* Blocks: page-aligned, or NULL when the limit (or the machine's memory) does not allow it. */
void *oc_pool_get(oc_pool_t *pool, size_t size);
void oc_pool_put(oc_pool_t *pool, void *memory, size_t size);

/* Pieces: of any size, aligned for every type, or NULL as above. */
void *oc_pool_take(oc_pool_t *pool, size_t size);
void oc_pool_give(oc_pool_t *pool, void *memory, size_t size);

/* What a piece of that size counts. */
size_t oc_pool_cost(size_t size);

/* Memory that the caller gets elsewhere, and has to have: this may pass the limit. */
void oc_pool_reserve(oc_pool_t *pool, size_t size);
void oc_pool_release(oc_pool_t *pool, size_t size);

/* What was reserved goes to whoever asks next, also if the limit is passed. */
void oc_pool_lend(oc_pool_t *pool, size_t size);

/* Gives what is kept back to the system. */
void oc_pool_trim(oc_pool_t *pool);

/* Walks all that is kept: what is wrong, or NULL; see base/check.h. */
const char *oc_pool_check(const oc_pool_t *pool);

#endif
