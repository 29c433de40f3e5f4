/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Pieces that hold parts of the memory, which never overlap: clean ones are what the device has,
 * or is getting; dirty ones are newer. The one that was used last is the first.
 */
#include "staging/stage.h"

#include <stdlib.h>
#include <string.h>
#include <utlist.h>

/* To read in order and to write in order takes two each. */
#define LEAST 4

/* More would take longer to look through than they gain. */
#define MOST 256

typedef struct tile {
    oc_piece_t *piece;
    size_t begin, end;
    bool dirty;
    bool fetching;             /* its copy brings what it holds */
    bool ahead;                /* was fetched before somebody wanted it */
    struct tile *prev, *next;
} tile_t;

struct oc_stage {
    oc_arena_t *arena;
    oc_device_t *device;
    char *memory;
    size_t size;
    unsigned long long *copied;
    oc_status_t status;
    tile_t tiles[MOST];
    unsigned num_tiles;
    tile_t *used;
    size_t expected;           /* where the last read has ended */
};

static bool add_tile(oc_stage_t *stage, oc_piece_t *piece)
{
    tile_t *tile = &stage->tiles[stage->num_tiles];

    if (NULL == piece) {
        return false;
    }
    tile->piece = piece;
    stage->num_tiles++;
    DL_APPEND(stage->used, tile);
    return true;
}

oc_stage_t *oc_stage_open(oc_arena_t *arena, oc_device_t *device, void *memory, size_t size,
                          unsigned long long *copied)
{
    oc_stage_t *stage = calloc(1, sizeof(*stage));

    if (NULL == stage) {
        return NULL;
    }
    stage->arena = arena;
    stage->device = device;
    stage->memory = memory;
    stage->size = size;
    stage->copied = copied;
    oc_arena_pin(arena, device);
    while (stage->num_tiles < LEAST) {
        oc_piece_t *piece = oc_arena_has(arena) ? oc_arena_take(arena) : oc_arena_take_extra(arena);

        if (!add_tile(stage, piece)) {
            oc_stage_close(stage);
            return NULL;
        }
    }
    return stage;
}

static void take_note(oc_stage_t *stage, oc_status_t status)
{
    if (OC_OK == stage->status) {
        stage->status = status;
    }
}

/* What it holds is there, and nobody else uses its memory. */
static void await(oc_stage_t *stage, tile_t *tile)
{
    take_note(stage, oc_piece_end(tile->piece));
    tile->fetching = false;
}

static void begin_flush(oc_stage_t *stage, tile_t *tile)
{
    size_t length = tile->end - tile->begin;

    take_note(stage, oc_piece_flush(tile->piece, stage->device, stage->memory + tile->begin,
                                    length));
    *stage->copied += length;
    tile->dirty = false;
}

/* Holds nothing any more. */
static void clear(oc_stage_t *stage, tile_t *tile)
{
    if (tile->dirty) {
        begin_flush(stage, tile);
    }
    await(stage, tile);
    tile->begin = tile->end = 0;
    tile->ahead = false;
}

void oc_stage_close(oc_stage_t *stage)
{
    if (NULL == stage) {
        return;
    }
    for (unsigned i = 0; i < stage->num_tiles; i++) {
        (void) oc_piece_end(stage->tiles[i].piece);
        oc_arena_give(stage->arena, stage->tiles[i].piece);
    }
    free(stage);
}

static void touch(oc_stage_t *stage, tile_t *tile)
{
    if (tile != stage->used) {
        DL_DELETE(stage->used, tile);
        DL_PREPEND(stage->used, tile);
    }
}

/* An empty one: of the arena, or what was not used for longest. */
static tile_t *get_tile(oc_stage_t *stage)
{
    tile_t *tile = stage->used->prev; /* the last one */

    if (tile->begin != tile->end && stage->num_tiles < MOST) {
        (void) add_tile(stage, oc_arena_take(stage->arena));
        tile = stage->used->prev;
    }
    clear(stage, tile);
    touch(stage, tile);
    return tile;
}

static tile_t *stage_find(oc_stage_t *stage, size_t offset)
{
    tile_t *tile;

    DL_FOREACH (stage->used, tile) {
        if (tile->begin <= offset && offset < tile->end) {
            return tile;
        }
    }
    return NULL;
}

/* As much from there on as fits into a piece, and no other tile holds. */
static size_t end_of_gap(oc_stage_t *stage, size_t offset)
{
    size_t most = oc_arena_piece_size(stage->arena);
    size_t end = stage->size - offset < most ? stage->size : offset + most;
    tile_t *tile;

    DL_FOREACH (stage->used, tile) {
        if (tile->begin >= offset && tile->begin < end && tile->begin != tile->end) {
            end = tile->begin;
        }
    }
    return end;
}

static tile_t *stage_fetch(oc_stage_t *stage, size_t offset)
{
    tile_t *tile = get_tile(stage);
    size_t end = end_of_gap(stage, offset);

    tile->begin = offset;
    tile->end = end;
    tile->fetching = true;
    take_note(stage, oc_piece_fetch(tile->piece, stage->device, stage->memory + offset,
                                    end - offset));
    *stage->copied += end - offset;
    return tile;
}

static void fetch_ahead(oc_stage_t *stage, size_t offset)
{
    if (offset < stage->size && NULL == stage_find(stage, offset)) {
        stage_fetch(stage, offset)->ahead = true;
    }
}

/* The tile that has the offset; who reads in order will soon want what is behind it. */
static tile_t *tile_for(oc_stage_t *stage, size_t offset)
{
    tile_t *tile = stage_find(stage, offset);
    bool in_order = offset == stage->expected;

    if (NULL == tile) {
        tile = stage_fetch(stage, offset);
    } else {
        in_order = tile->ahead;
    }
    tile->ahead = false;
    touch(stage, tile);
    if (in_order) {
        fetch_ahead(stage, tile->end);
        touch(stage, tile);
    }
    return tile;
}

oc_status_t oc_stage_read(oc_stage_t *stage, size_t offset, size_t length, void *to)
{
    char *at = to;

    while (length > 0) {
        tile_t *tile = tile_for(stage, offset);
        size_t part = tile->end - offset < length ? tile->end - offset : length;

        if (tile->fetching) {
            await(stage, tile);
        }
        memcpy(at, tile->piece->memory + (offset - tile->begin), part);
        at += part;
        offset += part;
        length -= part;
        stage->expected = offset;
    }
    return stage->status;
}

/* What was held of this is old. */
static void forget(oc_stage_t *stage, size_t offset, size_t length)
{
    tile_t *tile;

    DL_FOREACH (stage->used, tile) {
        if (tile->begin < offset + length && offset < tile->end) {
            clear(stage, tile);
        }
    }
}

/* The dirty tile that goes on there, or a new one. */
static tile_t *tile_to_write(oc_stage_t *stage, size_t offset)
{
    tile_t *tile;

    DL_FOREACH (stage->used, tile) {
        if (tile->dirty && tile->end == offset) {
            touch(stage, tile);
            return tile;
        }
    }
    tile = get_tile(stage);
    tile->begin = tile->end = offset;
    tile->dirty = true;
    return tile;
}

oc_status_t oc_stage_write(oc_stage_t *stage, size_t offset, size_t length, const void *from)
{
    const size_t most = oc_arena_piece_size(stage->arena);
    const char *at = from;

    if (length > 0) {
        forget(stage, offset, length);
    }
    while (length > 0) {
        tile_t *tile = tile_to_write(stage, offset);
        size_t held = tile->end - tile->begin;
        size_t part = most - held < length ? most - held : length;

        memcpy(tile->piece->memory + held, at, part);
        tile->end += part;
        at += part;
        offset += part;
        length -= part;
        if (held + part == most) {
            begin_flush(stage, tile);
        }
    }
    return stage->status;
}

oc_status_t oc_stage_flush(oc_stage_t *stage)
{
    tile_t *tile;

    DL_FOREACH (stage->used, tile) {
        if (tile->dirty) {
            begin_flush(stage, tile);
        }
    }
    DL_FOREACH (stage->used, tile) {
        await(stage, tile);
    }
    return stage->status;
}

oc_status_t oc_stage_status(const oc_stage_t *stage)
{
    return stage->status;
}

const char *oc_stage_reason(const oc_stage_t *stage)
{
    return stage->device->ops->reason(stage->device);
}
