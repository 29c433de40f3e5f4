/* SPDX-License-Identifier: BSD-3-Clause */
/* Free lists by size. */
#include "base/stock.h"

#include <assert.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#if defined(__SANITIZE_ADDRESS__)
#include <sanitizer/asan_interface.h>
#else
#define ASAN_POISON_MEMORY_REGION(at, size)   ((void) (at), (void) (size))
#define ASAN_UNPOISON_MEMORY_REGION(at, size) ((void) (at), (void) (size))
#endif

/* The heap of glibc hands out grains, less a note of its own. */
#define HEAP_GRAIN 16u
#define HEAP_NOTE  8u

/* Sizes up to here are multiples of the grain, one each. */
#define FINE_CLASSES 4u
#define FINE_BITS    6

/* Lives inside a piece that is kept. */
typedef struct {
    void *next;
} link_t;

void oc_stock_open(oc_stock_t *stock, size_t most)
{
    *stock = (oc_stock_t) {.most = most};
}

static unsigned stock_log2_up(size_t size)
{
    return (unsigned) (sizeof(long) * 8) - (unsigned) __builtin_clzl(size - 1);
}

/* The number of the smallest size that is enough, and that size. */
static unsigned stock_class_of(size_t size, size_t *whole)
{
    unsigned bits, quarter;
    size_t step;

    if (size <= FINE_CLASSES * HEAP_GRAIN) {
        size += 0 == size;
        *whole = (size + HEAP_GRAIN - 1) / HEAP_GRAIN * HEAP_GRAIN;
        return (unsigned) (*whole / HEAP_GRAIN) - 1;
    }
    bits = stock_log2_up(size);
    step = (size_t) 1 << (bits - 3);
    quarter = (unsigned) ((size + step - 1) / step) - 5;
    *whole = (quarter + 5) * step;
    return FINE_CLASSES + (bits - FINE_BITS - 1) * 4 + quarter;
}

/* The size of pieces with that number. */
static size_t stock_size_of(unsigned class)
{
    unsigned quarters = class - FINE_CLASSES;

    return class < FINE_CLASSES ? (class + 1) * (size_t) HEAP_GRAIN
                                : (quarters % 4 + 5) * ((size_t) 1 << (quarters / 4 + FINE_BITS - 2));
}

static size_t stock_cost_of(size_t whole)
{
    return (whole + HEAP_NOTE + HEAP_GRAIN - 1) / HEAP_GRAIN * HEAP_GRAIN;
}

size_t oc_stock_cost(size_t size)
{
    size_t whole = size;

    if (size <= OC_STOCK_MAX_SIZE) {
        (void) stock_class_of(size, &whole);
    }
    return whole > SIZE_MAX - 2 * HEAP_GRAIN ? SIZE_MAX : stock_cost_of(whole);
}

void *oc_stock_find(oc_stock_t *stock, size_t size)
{
    unsigned class;
    size_t whole;
    link_t *piece;

    if (size > OC_STOCK_MAX_SIZE) {
        return NULL;
    }
    class = stock_class_of(size, &whole);
    piece = stock->free[class];
    if (NULL != piece) {
        assert(stock->kept >= stock_cost_of(whole));
        ASAN_UNPOISON_MEMORY_REGION(piece, whole);
        stock->free[class] = piece->next;
        stock->kept -= stock_cost_of(whole);
    }
    return piece;
}

void *oc_stock_take(oc_stock_t *stock, size_t size)
{
    void *memory = oc_stock_find(stock, size);
    size_t whole = size;

    if (NULL != memory) {
        return memory;
    }
    if (size <= OC_STOCK_MAX_SIZE) {
        (void) stock_class_of(size, &whole);
    }
    return malloc(whole);
}

void oc_stock_give(oc_stock_t *stock, void *memory, size_t size)
{
    link_t *piece = memory;
    unsigned class;
    size_t whole;

    if (NULL == memory) {
        return;
    }
    if (size > OC_STOCK_MAX_SIZE) {
        free(memory);
        return;
    }
    class = stock_class_of(size, &whole);
    assert(stock->kept <= stock->most && stock_size_of(class) == whole);
    if (stock_cost_of(whole) > stock->most - stock->kept) {
        free(memory);
        return;
    }
    piece->next = stock->free[class];
    stock->free[class] = piece;
    stock->kept += stock_cost_of(whole);
    ASAN_POISON_MEMORY_REGION(piece + 1, whole - sizeof(*piece));
}

void oc_stock_shrink(oc_stock_t *stock, size_t most)
{
    for (unsigned class = OC_STOCK_CLASSES; class-- > 0 && stock->kept > most;) {
        size_t cost = stock_cost_of(stock_size_of(class));

        while (NULL != stock->free[class] && stock->kept > most) {
            link_t *piece = stock->free[class];

            stock->free[class] = piece->next;
            stock->kept -= cost;
            free(piece);
        }
    }
}

void oc_stock_trim(oc_stock_t *stock)
{
    oc_stock_shrink(stock, 0);
}

const char *oc_stock_check(const oc_stock_t *stock)
{
    size_t kept = 0;

    for (unsigned class = 0; class < OC_STOCK_CLASSES; class++) {
        for (const link_t *piece = stock->free[class]; NULL != piece; piece = piece->next) {
            kept += stock_cost_of(stock_size_of(class));
        }
    }
    if (kept != stock->kept) {
        return "a stock counts something else than it keeps";
    }
    return kept <= stock->most ? NULL : "a stock keeps more than it may";
}
