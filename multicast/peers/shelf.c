/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A slot's state is its generation, doubled, and 1 while a message lies there. Only its owner
 * makes it odd, with another generation each time. A reader makes it even again, by comparing
 * and exchanging: so it can neither take what was laid there later, nor believe bytes that
 * changed while it copied them because the owner had given it up.
 *
 * The owner keeps for itself what it has to rely on: who has which slot, and its generation.
 */
#include "multicast/peers/shelf.h"

#include <assert.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CACHE_LINE 64u

typedef struct {
    _Atomic uint64_t state;
    uint8_t padding[CACHE_LINE - sizeof(uint64_t)];
    uint8_t bytes[];
} slot_t;

typedef struct {
    const void *reader;        /* NULL: the slot is free */
    uint32_t generation, length;
} entry_t;

struct oc_shelf {
    oc_segment_t *segment;
    size_t max_message;
    entry_t entries[OC_SHELF_SLOTS];
};

struct oc_shelf_view {
    oc_segment_t *segment;
    size_t max_message;
};

static size_t stride(size_t max_message)
{
    return sizeof(slot_t) + (max_message + CACHE_LINE - 1) / CACHE_LINE * CACHE_LINE;
}

static slot_t *slot_at(const oc_segment_t *segment, size_t max_message, uint32_t number)
{
    return (slot_t *) ((uint8_t *) oc_segment_memory(segment) + number * stride(max_message));
}

static uint64_t free_state(uint32_t generation)
{
    return (uint64_t) generation << 1;
}

static uint64_t laid_state(uint32_t generation)
{
    return free_state(generation) | 1;
}

oc_status_t oc_shelf_open(size_t max_message, oc_shelf_t **result, char *error, size_t error_size)
{
    oc_shelf_t *shelf = calloc(1, sizeof(*shelf));
    oc_status_t status;

    if (NULL == shelf) {
        snprintf(error, error_size, "out of memory");
        return OC_ERR_NO_MEMORY;
    }
    shelf->max_message = max_message;
    status = oc_segment_create(OC_SHELF_SLOTS * stride(max_message), &shelf->segment, error,
                               error_size);
    if (OC_OK != status) {
        free(shelf);
        return status;
    }
    *result = shelf;
    return OC_OK;
}

void oc_shelf_close(oc_shelf_t *shelf)
{
    if (NULL != shelf) {
        oc_segment_close(shelf->segment);
        free(shelf);
    }
}

void oc_shelf_name(const oc_shelf_t *shelf, uint8_t name[OC_SEGMENT_NAME_SIZE])
{
    oc_segment_name(shelf->segment, name);
}

static slot_t *own_slot(const oc_shelf_t *shelf, uint32_t number)
{
    assert(number < OC_SHELF_SLOTS);
    return slot_at(shelf->segment, shelf->max_message, number);
}

/* Sees what readers have freed since. */
static void tidy(oc_shelf_t *shelf, uint32_t number)
{
    entry_t *entry = &shelf->entries[number];

    if (NULL != entry->reader
        && free_state(entry->generation)
               == atomic_load_explicit(&own_slot(shelf, number)->state, memory_order_acquire)) {
        entry->reader = NULL;
    }
}

/* OC_SHELF_SLOTS: none, or the reader has its share. */
static uint32_t find_free(oc_shelf_t *shelf, const void *reader)
{
    uint32_t found = OC_SHELF_SLOTS, held = 0;

    for (uint32_t number = 0; number < OC_SHELF_SLOTS; number++) {
        tidy(shelf, number);
        held += reader == shelf->entries[number].reader;
        if (NULL == shelf->entries[number].reader && OC_SHELF_SLOTS == found) {
            found = number;
        }
    }
    return held < OC_SHELF_SHARE ? found : OC_SHELF_SLOTS;
}

bool oc_shelf_lay(oc_shelf_t *shelf, const void *reader, const void *head, size_t head_length,
                  const void *data, size_t data_length, oc_cast_place_t *place)
{
    uint32_t number;
    entry_t *entry;
    slot_t *slot;

    if (head_length > shelf->max_message || data_length > shelf->max_message - head_length) {
        return false;
    }
    number = find_free(shelf, reader);
    if (OC_SHELF_SLOTS == number) {
        return false;
    }
    entry = &shelf->entries[number];
    slot = own_slot(shelf, number);
    assert(NULL == entry->reader && NULL != reader);
    entry->reader = reader;
    entry->generation++;
    entry->length = (uint32_t) (head_length + data_length);
    memcpy(slot->bytes, head, head_length);
    if (data_length > 0) {
        memcpy(slot->bytes + head_length, data, data_length);
    }
    atomic_store_explicit(&slot->state, laid_state(entry->generation), memory_order_release);
    *place = (oc_cast_place_t) {
        .slot = number, .generation = entry->generation, .length = entry->length};
    return true;
}

void oc_shelf_clear(oc_shelf_t *shelf, const void *reader,
                    void (*each)(void *arg, const uint8_t *bytes, size_t length), void *arg)
{
    for (uint32_t number = 0; number < OC_SHELF_SLOTS; number++) {
        entry_t *entry = &shelf->entries[number];
        slot_t *slot = own_slot(shelf, number);

        tidy(shelf, number);
        if (reader != entry->reader) {
            continue;
        }
        if (NULL != each) {
            each(arg, slot->bytes, entry->length);
        }
        /*
         * An exchange, as a store would let the bytes of the slot's next message be seen before it.
         * Either the reader's comparison comes after this, and fails; or it came before, and this
         * acquires from it that the bytes were copied.
         */
        (void) atomic_exchange_explicit(&slot->state, free_state(entry->generation),
                                        memory_order_acq_rel);
        entry->reader = NULL;
    }
}

oc_status_t oc_shelf_view_open(const uint8_t name[OC_SEGMENT_NAME_SIZE], size_t max_message,
                               oc_shelf_view_t **result, char *error, size_t error_size)
{
    oc_shelf_view_t *view = calloc(1, sizeof(*view));
    oc_status_t status;

    if (NULL == view) {
        snprintf(error, error_size, "out of memory");
        return OC_ERR_NO_MEMORY;
    }
    view->max_message = max_message;
    status = oc_segment_attach(name, &view->segment, error, error_size);
    if (OC_OK == status
        && oc_segment_size(view->segment) != OC_SHELF_SLOTS * stride(max_message)) {
        snprintf(error, error_size, "shared memory of %zu bytes is for other messages",
                 oc_segment_size(view->segment));
        status = OC_ERR_UNREACHABLE;
    }
    if (OC_OK != status) {
        oc_shelf_view_close(view);
        return status;
    }
    *result = view;
    return OC_OK;
}

void oc_shelf_view_close(oc_shelf_view_t *view)
{
    if (NULL != view) {
        oc_segment_close(view->segment);
        free(view);
    }
}

bool oc_shelf_view_is(const oc_shelf_view_t *view, const uint8_t name[OC_SEGMENT_NAME_SIZE])
{
    uint8_t own[OC_SEGMENT_NAME_SIZE];

    oc_segment_name(view->segment, own);
    return 0 == memcmp(own, name, OC_SEGMENT_NAME_SIZE);
}

bool oc_shelf_take(oc_shelf_view_t *view, const oc_cast_place_t *place, uint8_t *bytes)
{
    uint64_t laid = laid_state(place->generation);
    slot_t *slot;

    if (place->slot >= OC_SHELF_SLOTS || place->length > view->max_message) {
        return false;
    }
    slot = slot_at(view->segment, view->max_message, place->slot);
    if (laid != atomic_load_explicit(&slot->state, memory_order_acquire)) {
        return false;
    }
    memcpy(bytes, slot->bytes, place->length);
    return atomic_compare_exchange_strong_explicit(&slot->state, &laid,
                                                   free_state(place->generation),
                                                   memory_order_acq_rel, memory_order_relaxed);
}
