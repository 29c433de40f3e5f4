/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Where the chunks of a large vector go, and where they are: the map between a chunk of the vector
 * and its team, its aggregator, and its number there. Pure functions of what is equal on all ranks.
 *
 * Chunk c belongs to team (c + sequence) mod teams, so that teams begin with another one each time.
 * A team's chunks, counted from its first one, have the places of the division from first_place on,
 * and an aggregator numbers those that it gets from a team from 0. In the flat shape there is one
 * team.
 *
 * If the result goes to owners, chunks and what aggregators get of them are those of block_map.h,
 * and c is a chunk's number in that row.
 */
#ifndef OC_CLIENT_PLAN_CHUNK_MAP_H
#define OC_CLIENT_PLAN_CHUNK_MAP_H

#include <stddef.h>
#include <stdint.h>

#include "client/plan/block_map.h"
#include "client/plan/division.h"

typedef struct {
    const oc_division_t *division;     /* of a vector whose result goes to all … */
    const oc_block_map_t *blocks;      /* … or of others; else NULL */
    size_t bytes;              /* of the vector as it travels, > 0 */
    uint32_t chunk_bytes;      /* of each chunk but the last */
    uint32_t num_chunks;
    uint32_t teams;
    uint32_t first_team;       /* that of chunk 0 */
    uint32_t first_place;      /* of each team's first chunk, in the division */
    const uint32_t *listed;    /* only these chunks are there, ascending; NULL: all are */
} oc_chunk_map_t;

/* One chunk, on its way through the client. */
typedef struct {
    uint32_t index;            /* in the vector, or in the row of block_map.h */
    uint32_t step;             /* among those that are there, in the order in which a host goes through them */
    uint32_t place;            /* among the chunks of its team: later ones have larger places */
    const oc_owner_block_t *block;   /* that it is a part of; NULL: the result goes to all */
    uint32_t number;           /* among those that its aggregator gets from its team */
    uint32_t length;           /* bytes */
    size_t offset;             /* bytes, in the vector as it travels */
} oc_client_chunk_t;

/* An aggregator's share of a team's chunks. */
typedef struct {
    uint32_t team;
    unsigned aggregator;
    uint64_t first;            /* of all its places in the division, which is that of number 0;
                                  of blocks: the chunk that has number 0 */
    uint32_t count;
} oc_share_t;

/* Which chunks of a share a member owns, by their numbers there. */
typedef struct {
    uint32_t first, count;
} oc_owned_t;

/* The team that a chunk, or any step, of a collective belongs to. */
static inline uint32_t oc_team_of(uint64_t sequence, uint32_t index, uint32_t teams)
{
    return (uint32_t) ((sequence + index) % teams);
}

/* Chunks of chunk_bytes, which is > 0. The division outlives it. */
oc_chunk_map_t oc_chunk_map_make(const oc_division_t *division, size_t bytes, uint32_t chunk_bytes,
                                 uint32_t teams, uint64_t sequence);

/* Leaves the map, of no blocks, with these chunks, count > 0, which are numbered anew and keep their index. The list outlives it. */
void oc_chunk_map_list(oc_chunk_map_t *map, const uint32_t *chunks, uint32_t count);

/* The same for a vector of blocks, which outlive it. */
oc_chunk_map_t oc_chunk_map_of_blocks(const oc_block_map_t *blocks, size_t bytes, uint32_t teams,
                                      uint64_t sequence);

/* What an aggregator gets of a team's chunks; maybe nothing. */
oc_share_t oc_chunk_map_share(const oc_chunk_map_t *map, uint32_t team, unsigned aggregator);

/* A chunk of a share by its number there, number < share->count. Constant time, but for blocks. */
oc_client_chunk_t oc_chunk_map_chunk(const oc_chunk_map_t *map, const oc_share_t *share,
                                     uint32_t number);

/* Of blocks: what of a share a member owns. */
oc_owned_t oc_chunk_map_owned(const oc_chunk_map_t *map, const oc_share_t *share, uint32_t member);

/* Of blocks: a chunk by its step, and its index. */
oc_block_chunk_t oc_chunk_map_piece(const oc_chunk_map_t *map, uint32_t step);
uint32_t oc_chunk_map_index(const oc_chunk_map_t *map, uint32_t step);

/* The other way round: whose a chunk is, by its step, which is < num_chunks. Constant time, but for blocks. */
uint32_t oc_chunk_map_team(const oc_chunk_map_t *map, uint32_t step);
unsigned oc_chunk_map_aggregator(const oc_chunk_map_t *map, uint32_t step);

#endif
