/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Where the chunks of a large vector go whose result each of its owners gets a block of. Pure
 * functions of what is equal on all ranks; chunk_map.h is in front of them.
 *
 * Blocks are cut into chunks one by one, so that no chunk belongs to two owners, and the chunks are
 * numbered in the order of the blocks. An aggregator gets a piece of that row, by the bytes that
 * are to be its share. So at any time aggregators work for different owners, and no owner's link
 * gets the results of all of them at once. If each owner aggregates for itself, with equal blocks,
 * each gets its own block. The first aggregator always has the first chunk, whatever its share is: so
 * ranks that disagree about who owns what meet there.
 *
 * A collective of a host goes through all chunks in one order, its steps: aggregators take turns,
 * so that all of them are done at the same time.
 *
 * After the loss of a server only some chunks of the row are left to do. These are numbered anew, in their order, and divided
 * by their number; functions below mean those numbers, unless they say "in the row".
 */
#ifndef OC_CLIENT_PLAN_BLOCK_MAP_H
#define OC_CLIENT_PLAN_BLOCK_MAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/status.h"

typedef struct {
    uint32_t rank;             /* that owns it … */
    uint32_t member;           /* … and its number among those that servers know: ranks, or hosts */
    size_t offset, bytes;      /* in the vector as it travels; bytes > 0 */
    size_t before;             /* bytes of all blocks before it; set by oc_block_map_make … */
    uint32_t first_chunk;      /* … as is the number of its first chunk in the row */
} oc_owner_block_t;

typedef struct {
    oc_owner_block_t *blocks;        /* in the order of members */
    uint32_t num_blocks;
    uint32_t chunk_bytes, num_chunks;
    const uint32_t *listed;    /* where in the row they are; NULL: they are the whole row */
    unsigned num_lanes;        /* aggregators that there are */
    uint32_t *bounds;          /* chunks of lane l: from bounds[l] to bounds[l + 1] - 1 */
    uint32_t most;             /* of the lane with most of them */
    uint16_t digest;           /* of all of this: who owns what */
    uint32_t *steps, *chunks;  /* step of a chunk, chunk of a step; NULL: nobody asks */
} oc_block_map_t;

/* One chunk of the row. */
typedef struct {
    const oc_owner_block_t *block;
    size_t offset;             /* bytes, in the vector as it travels */
    uint32_t length;           /* bytes */
} oc_block_chunk_t;

/* What a map is made of. */
typedef struct {
    oc_owner_block_t *blocks;        /* at least one, in the order of members; from malloc */
    uint32_t num_blocks;
    uint32_t chunk_bytes;
    const uint64_t *shares;    /* bytes, or whatever is in proportion to them, that each lane is to get; not all 0 */
    unsigned num_lanes;
    bool stepped;              /* with steps */
    const uint32_t *listed;    /* the chunks that are left, ascending, which outlive the map; NULL: all are … */
    uint32_t num_listed;       /* … > 0 */
} oc_block_plan_t;

/* Takes over the blocks, also on failure. OC_ERR_NO_MEMORY, OC_ERR_LIMIT (more chunks than can be numbered) or OC_OK. */
oc_status_t oc_block_map_make(oc_block_map_t *map, const oc_block_plan_t *plan);
void oc_block_map_free(oc_block_map_t *map);

/* By its number, which is below num_chunks. Logarithmic in the number of blocks. */
oc_block_chunk_t oc_block_map_chunk(const oc_block_map_t *map, uint32_t chunk);

/* Where in the row it is. */
static inline uint32_t oc_block_map_row(const oc_block_map_t *map, uint32_t chunk)
{
    return NULL != map->listed ? map->listed[chunk] : chunk;
}

/* Whose a chunk is, by where it is in the row. Logarithmic in the number of blocks. */
const oc_owner_block_t *oc_block_map_owner(const oc_block_map_t *map, uint32_t row);

/* The lane that has a chunk. Logarithmic in the number of lanes. */
unsigned oc_block_map_lane(const oc_block_map_t *map, uint32_t chunk);

/* When a lane's turn is: chunks of all lanes with the same turn go at the same time. */
uint32_t oc_block_map_turn(const oc_block_map_t *map, unsigned lane, uint32_t chunk);

/* The chunks that a member owns: first and number, which may be 0. */
void oc_block_map_of_member(const oc_block_map_t *map, uint32_t member, uint32_t *first,
                            uint32_t *count);

#endif
