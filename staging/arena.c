/* SPDX-License-Identifier: BSD-3-Clause */
/* What is copied while the network is busy: pieces, and the memory that they are cut from. */
#include "staging/arena.h"

#include <stdlib.h>
#include <sys/mman.h>
#include <utlist.h>

/* Devices for which the arena is pinned: as a driver's pinned memory is for all of its own. */
#define MAX_PINNED 4

struct oc_arena {
    size_t size;
    char *memory;
    size_t length;
    oc_piece_t *pieces;
    oc_piece_t *free;
    oc_device_t *pinned[MAX_PINNED];
    unsigned num_pinned;
};

static void *arena_map(size_t length)
{
    void *memory = mmap(NULL, length, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    return MAP_FAILED == memory ? NULL : memory;
}

oc_arena_t *oc_arena_open(size_t size, size_t limit)
{
    size_t count = limit / size > 0 ? limit / size : 1;
    oc_arena_t *arena = calloc(1, sizeof(*arena));

    if (NULL == arena) {
        return NULL;
    }
    arena->size = size;
    arena->length = count * size;
    arena->pieces = calloc(count, sizeof(*arena->pieces));
    arena->memory = arena_map(arena->length);
    if (NULL == arena->pieces || NULL == arena->memory) {
        oc_arena_close(arena);
        return NULL;
    }
    for (size_t i = 0; i < count; i++) {
        arena->pieces[i].memory = arena->memory + i * size;
        DL_APPEND(arena->free, &arena->pieces[i]);
    }
    return arena;
}

void oc_arena_close(oc_arena_t *arena)
{
    if (NULL == arena) {
        return;
    }
    for (unsigned i = 0; i < arena->num_pinned; i++) {
        arena->pinned[i]->ops->unpin(arena->pinned[i], arena->memory);
    }
    if (NULL != arena->memory) {
        (void) munmap(arena->memory, arena->length);
    }
    free(arena->pieces);
    free(arena);
}

size_t oc_arena_piece_size(const oc_arena_t *arena)
{
    return arena->size;
}

void *oc_arena_bytes(const oc_arena_t *arena, size_t *length)
{
    *length = arena->length;
    return arena->memory;
}

void oc_arena_pin(oc_arena_t *arena, oc_device_t *device)
{
    for (unsigned i = 0; i < arena->num_pinned; i++) {
        if (device == arena->pinned[i]) {
            return;
        }
    }
    if (arena->num_pinned < MAX_PINNED) {
        arena->pinned[arena->num_pinned++] = device;
        device->ops->pin(device, arena->memory, arena->length);
    }
}

oc_piece_t *oc_arena_take(oc_arena_t *arena)
{
    oc_piece_t *piece = arena->free;

    if (NULL != piece) {
        DL_DELETE(arena->free, piece);
    }
    return piece;
}

oc_piece_t *oc_arena_take_extra(oc_arena_t *arena)
{
    oc_piece_t *piece = calloc(1, sizeof(*piece));

    if (NULL == piece) {
        return NULL;
    }
    piece->extra = true;
    piece->memory = malloc(arena->size);
    if (NULL == piece->memory) {
        free(piece);
        return NULL;
    }
    return piece;
}

void oc_arena_give(oc_arena_t *arena, oc_piece_t *piece)
{
    if (NULL == piece) {
        return;
    }
    if (piece->extra) {
        free(piece->memory);
        free(piece);
        return;
    }
    /* the one that was used last may still be in the cache */
    DL_PREPEND(arena->free, piece);
}

bool oc_arena_has(const oc_arena_t *arena)
{
    return NULL != arena->free;
}

static oc_status_t arena_begin(oc_piece_t *piece, oc_device_t *device, oc_direction_t direction,
                               void *to, const void *from, size_t length)
{
    oc_status_t status = device->ops->begin(device, direction, to, from, length, &piece->copy);

    piece->device = device;
    if (OC_OK != status) {
        piece->copy = NULL;
    }
    return status;
}

oc_status_t oc_piece_fetch(oc_piece_t *piece, oc_device_t *device, const void *from, size_t length)
{
    return arena_begin(piece, device, OC_FROM_DEVICE, piece->memory, from, length);
}

oc_status_t oc_piece_flush(oc_piece_t *piece, oc_device_t *device, void *to, size_t length)
{
    return arena_begin(piece, device, OC_TO_DEVICE, to, piece->memory, length);
}

bool oc_piece_is_still(const oc_piece_t *piece)
{
    return NULL == piece->copy || piece->device->ops->is_over(piece->device, piece->copy);
}

oc_status_t oc_piece_end(oc_piece_t *piece)
{
    void *copy = piece->copy;

    piece->copy = NULL;
    return NULL == copy ? OC_OK : piece->device->ops->end(piece->device, copy);
}
