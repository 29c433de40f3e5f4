/* SPDX-License-Identifier: BSD-3-Clause */
/* The row of chunks of all blocks, and the pieces of it that aggregators get. */
#include "client/plan/block_map.h"

#include <assert.h>
#include <stdlib.h>

#include "base/text.h"

static size_t chunks_of(const oc_owner_block_t *block, uint32_t chunk_bytes)
{
    return (block->bytes + chunk_bytes - 1) / chunk_bytes;
}

/* false: there are too many. */
static bool number_chunks(oc_block_map_t *map)
{
    size_t chunks = 0, before = 0;

    for (uint32_t i = 0; i < map->num_blocks; i++) {
        oc_owner_block_t *block = &map->blocks[i];

        assert(block->bytes > 0 && (0 == i || block->member >= map->blocks[i - 1].member));
        block->first_chunk = (uint32_t) chunks;
        block->before = before;
        chunks += chunks_of(block, map->chunk_bytes);
        before += block->bytes;
        if (chunks > INT32_MAX) {
            return false;
        }
    }
    map->num_chunks = (uint32_t) chunks;
    return true;
}

static size_t bytes_of_all(const oc_block_map_t *map)
{
    const oc_owner_block_t *last = &map->blocks[map->num_blocks - 1];

    return last->before + last->bytes;
}

/* The last block that begins no later: by its chunks, or by the bytes before it. */
static const oc_owner_block_t *block_at(const oc_block_map_t *map, bool by_chunk, size_t at)
{
    uint32_t low = 0, high = map->num_blocks - 1;

    while (low < high) {
        uint32_t middle = (low + high + 1) / 2;
        const oc_owner_block_t *block = &map->blocks[middle];

        if ((by_chunk ? block->first_chunk : block->before) <= at) {
            low = middle;
        } else {
            high = middle - 1;
        }
    }
    return &map->blocks[low];
}

/* The first chunk that does not begin before so many bytes of the row. */
static uint32_t first_from(const oc_block_map_t *map, size_t bytes)
{
    const oc_owner_block_t *block = block_at(map, false, bytes);
    size_t in_block = (bytes - block->before + map->chunk_bytes - 1) / map->chunk_bytes;
    size_t chunks = chunks_of(block, map->chunk_bytes);

    return block->first_chunk + (uint32_t) (in_block < chunks ? in_block : chunks);
}

/* The first chunk of the lane before which there is such a part of all that is to be done. */
static uint32_t first_of_lane(const oc_block_map_t *map, unsigned __int128 before, unsigned __int128 all)
{
    if (NULL != map->listed) {
        return (uint32_t) (map->num_chunks * before / all);
    }
    return first_from(map, (size_t) (bytes_of_all(map) * before / all));
}

static void set_bounds(oc_block_map_t *map, const uint64_t *shares)
{
    unsigned __int128 so_far = 0, all = 0;

    for (unsigned i = 0; i < map->num_lanes; i++) {
        all += shares[i];
    }
    assert(all > 0);
    for (unsigned i = 0; i < map->num_lanes; i++) {
        map->bounds[i] = first_of_lane(map, so_far, all);
        so_far += shares[i];
    }
    map->bounds[map->num_lanes] = map->num_chunks;
    /* the first lane meets all ranks */
    for (unsigned i = 1; i < map->num_lanes; i++) {
        map->bounds[i] = map->bounds[i] > 0 ? map->bounds[i] : 1;
    }
}

/* FNV-1a, folded. */
static uint16_t digest_of(const oc_block_map_t *map)
{
    uint64_t hash = OC_HASH_START;

    for (uint32_t i = 0; i < map->num_blocks; i++) {
        const uint64_t numbers[] = {map->blocks[i].rank, map->blocks[i].offset,
                                    map->blocks[i].bytes};

        hash = oc_hash(hash, numbers, sizeof(numbers));
    }
    return (uint16_t) (hash ^ hash >> 16 ^ hash >> 32 ^ hash >> 48);
}

static void find_most(oc_block_map_t *map)
{
    for (unsigned i = 0; i < map->num_lanes; i++) {
        uint32_t count = map->bounds[i + 1] - map->bounds[i];

        map->most = count > map->most ? count : map->most;
    }
}

/* All chunks, by their turns, and those with the same turn by lane. */
static void order_steps(oc_block_map_t *map)
{
    uint32_t step = 0;

    for (uint32_t turn = 0; turn < map->most; turn++) {
        for (unsigned lane = 0; lane < map->num_lanes; lane++) {
            uint32_t first = map->bounds[lane], count = map->bounds[lane + 1] - first;
            /* the first of the lane whose turn is not before this one */
            uint64_t number = ((uint64_t) turn * count + map->most - 1) / map->most;
            uint32_t chunk = first + (uint32_t) number;

            if (number < count && turn == oc_block_map_turn(map, lane, chunk)) {
                map->steps[chunk] = step;
                map->chunks[step++] = chunk;
            }
        }
    }
    assert(step == map->num_chunks);
}

static bool make_steps(oc_block_map_t *map)
{
    map->steps = malloc(map->num_chunks * sizeof(*map->steps));
    map->chunks = malloc(map->num_chunks * sizeof(*map->chunks));
    if (NULL == map->steps || NULL == map->chunks) {
        return false;
    }
    order_steps(map);
    return true;
}

static void list_chunks(oc_block_map_t *map, const oc_block_plan_t *plan)
{
    if (NULL != plan->listed) {
        assert(plan->num_listed > 0 && plan->num_listed <= map->num_chunks);
        map->listed = plan->listed;
        map->num_chunks = plan->num_listed;
    }
}

oc_status_t oc_block_map_make(oc_block_map_t *map, const oc_block_plan_t *plan)
{
    oc_status_t status = OC_ERR_NO_MEMORY;

    *map = (oc_block_map_t) {.blocks = plan->blocks, .num_blocks = plan->num_blocks,
                             .chunk_bytes = plan->chunk_bytes, .num_lanes = plan->num_lanes};
    map->bounds = malloc((plan->num_lanes + 1) * sizeof(*map->bounds));
    if (NULL != map->bounds && !number_chunks(map)) {
        status = OC_ERR_LIMIT;
    } else if (NULL != map->bounds) {
        list_chunks(map, plan);
        set_bounds(map, plan->shares);
        find_most(map);
        map->digest = digest_of(map);
        status = !plan->stepped || make_steps(map) ? OC_OK : OC_ERR_NO_MEMORY;
    }
    if (OC_OK != status) {
        oc_block_map_free(map);
    }
    return status;
}

void oc_block_map_free(oc_block_map_t *map)
{
    free(map->blocks);
    free(map->bounds);
    free(map->steps);
    free(map->chunks);
    *map = (oc_block_map_t) {0};
}

const oc_owner_block_t *oc_block_map_owner(const oc_block_map_t *map, uint32_t row)
{
    return block_at(map, true, row);
}

oc_block_chunk_t oc_block_map_chunk(const oc_block_map_t *map, uint32_t chunk)
{
    uint32_t row = oc_block_map_row(map, chunk);
    const oc_owner_block_t *block = block_at(map, true, row);
    size_t at = (size_t) (row - block->first_chunk) * map->chunk_bytes;
    size_t left = block->bytes - at;

    assert(chunk < map->num_chunks && at < block->bytes);
    return (oc_block_chunk_t) {
        .block = block, .offset = block->offset + at,
        .length = left < map->chunk_bytes ? (uint32_t) left : map->chunk_bytes};
}

unsigned oc_block_map_lane(const oc_block_map_t *map, uint32_t chunk)
{
    unsigned low = 0, high = map->num_lanes - 1;

    while (low < high) {
        unsigned middle = (low + high + 1) / 2;

        if (map->bounds[middle] <= chunk) {
            low = middle;
        } else {
            high = middle - 1;
        }
    }
    return low;
}

uint32_t oc_block_map_turn(const oc_block_map_t *map, unsigned lane, uint32_t chunk)
{
    uint64_t count = map->bounds[lane + 1] - map->bounds[lane];

    assert(chunk >= map->bounds[lane] && chunk < map->bounds[lane + 1]);
    return (uint32_t) ((chunk - map->bounds[lane]) * (uint64_t) map->most / count);
}

/* The first block whose member is not before this one. */
static uint32_t first_block_of(const oc_block_map_t *map, uint32_t member)
{
    uint32_t low = 0, high = map->num_blocks;

    while (low < high) {
        uint32_t middle = (low + high) / 2;

        if (map->blocks[middle].member < member) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low;
}

/* The first chunk that is of this block or of a later one. */
static uint32_t first_chunk_of(const oc_block_map_t *map, uint32_t block)
{
    uint32_t low = 0, high = map->num_chunks, row;

    if (block == map->num_blocks) {
        return map->num_chunks;
    }
    row = map->blocks[block].first_chunk;
    while (NULL != map->listed && low < high) {
        uint32_t middle = (low + high) / 2;

        if (map->listed[middle] < row) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return NULL != map->listed ? low : row;
}

void oc_block_map_of_member(const oc_block_map_t *map, uint32_t member, uint32_t *first,
                            uint32_t *count)
{
    *first = first_chunk_of(map, first_block_of(map, member));
    *count = first_chunk_of(map, first_block_of(map, member + 1)) - *first;
}
