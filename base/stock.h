/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Pieces of memory that are needed again soon. What comes back is kept for the next one of about
 * the same size, as long as all that is kept stays within a limit; the rest goes to the heap, and
 * so do large pieces. Not thread-safe: callers lock.
 */
#ifndef OC_BASE_STOCK_H
#define OC_BASE_STOCK_H

#include <stddef.h>

/* Larger pieces are never kept. */
#define OC_STOCK_MAX_SIZE ((size_t) 1 << 20)

/* Between two powers of two there are four sizes, from 16 bytes on. */
#define OC_STOCK_CLASSES 60

typedef struct {
    size_t most;               /* bytes to be kept */
    size_t kept;               /* as cost counts */
    void *free[OC_STOCK_CLASSES];
} oc_stock_t;

void oc_stock_open(oc_stock_t *stock, size_t most);

/* Gives what is kept back to the heap; the stock may be used again. */
void oc_stock_trim(oc_stock_t *stock);

/* Gives back, the largest first, until no more than that many bytes are kept. */
void oc_stock_shrink(oc_stock_t *stock, size_t most);

/* Anything may be in it. Aligned for every type. NULL: out of memory. */
void *oc_stock_take(oc_stock_t *stock, size_t size);

/* The same, but only what is kept; NULL: there is none. */
void *oc_stock_find(oc_stock_t *stock, size_t size);

/* size is that of take, or find. NULL is allowed. */
void oc_stock_give(oc_stock_t *stock, void *memory, size_t size);

/* Walks all that is kept: what is wrong, or NULL; see base/check.h. */
const char *oc_stock_check(const oc_stock_t *stock);

/* What a piece of that size takes of the heap: at most a quarter and 32 bytes more. */
size_t oc_stock_cost(size_t size);

#endif
