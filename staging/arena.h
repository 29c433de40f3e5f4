/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Host memory by way of which device memory goes: pieces of one size, cut from an arena that is
 * allocated, and pinned, once. Not thread-safe: callers lock.
 */
#ifndef OC_STAGING_ARENA_H
#define OC_STAGING_ARENA_H

#include <stdbool.h>
#include <stddef.h>

#include "staging/device.h"

typedef struct oc_arena oc_arena_t;

typedef struct oc_piece {
    char *memory;
    size_t offset, length;     /* what of the device's memory is in it; its user's */
    oc_device_t *device;       /* of a copy that is under way … */
    void *copy;                /* … which is this one; NULL: none is */
    bool extra;                /* not of the arena */
    struct oc_piece *prev, *next; /* its user's */
} oc_piece_t;

/* size: bytes of a piece. limit: of all of them; there is always one. NULL: out of memory. */
oc_arena_t *oc_arena_open(size_t size, size_t limit);

/* All pieces are back. NULL is allowed. */
void oc_arena_close(oc_arena_t *arena);

size_t oc_arena_piece_size(const oc_arena_t *arena);

/* The arena: where it is, and its bytes. */
void *oc_arena_bytes(const oc_arena_t *arena, size_t *length);

/* Pins the arena for a device that is going to use it; cheap if it was done before. */
void oc_arena_pin(oc_arena_t *arena, oc_device_t *device);

/* NULL: all are in use. Nothing is being copied from or to it. */
oc_piece_t *oc_arena_take(oc_arena_t *arena);

/* One more than there are, which goes back to the heap. NULL: out of memory. */
oc_piece_t *oc_arena_take_extra(oc_arena_t *arena);

/* Its copy has ended. NULL is allowed. */
void oc_arena_give(oc_arena_t *arena, oc_piece_t *piece);

/* Whether take would get one. */
bool oc_arena_has(const oc_arena_t *arena);

/* Begins to copy between the piece's memory and a device's. */
oc_status_t oc_piece_fetch(oc_piece_t *piece, oc_device_t *device, const void *from, size_t length);
oc_status_t oc_piece_flush(oc_piece_t *piece, oc_device_t *device, void *to, size_t length);

/* Whether nothing is being copied. */
bool oc_piece_is_still(const oc_piece_t *piece);

/* Waits for what is being copied. OC_OK also if nothing is. */
oc_status_t oc_piece_end(oc_piece_t *piece);

#endif
