/* SPDX-License-Identifier: BSD-3-Clause */
/* First in, first out: pointers with a number each. All zero is empty. */
#ifndef OC_TESTS_MULTICAST_FIFO_H
#define OC_TESTS_MULTICAST_FIFO_H

#include <stddef.h>
#include <stdint.h>

#include "tests/multicast/memory.h"

typedef struct {
    uint64_t number;             /* its meaning is the user's, as is that of thing */
    void *thing;
} fifo_item_t;

typedef struct {
    fifo_item_t *items;
    size_t first, count, room;
} fifo_t;

static inline void fifo_push(fifo_t *fifo, uint64_t number, void *thing)
{
    if (fifo->count == fifo->room) {
        size_t room = 2 * fifo->room + 8;
        fifo_item_t *items = memory_new(room * sizeof(*items));

        for (size_t i = 0; i < fifo->count; i++) {
            items[i] = fifo->items[(fifo->first + i) % fifo->room];
        }
        free(fifo->items);
        fifo->items = items;
        fifo->first = 0;
        fifo->room = room;
    }
    fifo->items[(fifo->first + fifo->count++) % fifo->room] = (fifo_item_t) {number, thing};
}

/* Not empty. */
static inline fifo_item_t fifo_first(const fifo_t *fifo)
{
    return fifo->items[fifo->first];
}

static inline fifo_item_t fifo_pull(fifo_t *fifo)
{
    fifo_item_t item = fifo->items[fifo->first];

    fifo->first = (fifo->first + 1) % fifo->room;
    fifo->count--;
    return item;
}

/* What is in it stays the user's. */
static inline void fifo_free(fifo_t *fifo)
{
    free(fifo->items);
    *fifo = (fifo_t) {0};
}

#endif
