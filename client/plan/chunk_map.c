/* SPDX-License-Identifier: BSD-3-Clause */
/* The map between the chunks of a vector and the shares of aggregators. */
#include "client/plan/chunk_map.h"

#include <assert.h>

oc_chunk_map_t oc_chunk_map_make(const oc_division_t *division, size_t bytes, uint32_t chunk_bytes,
                                 uint32_t teams, uint64_t sequence)
{
    return (oc_chunk_map_t) {
        .division = division, .bytes = bytes, .chunk_bytes = chunk_bytes,
        .num_chunks = (uint32_t) ((bytes + chunk_bytes - 1) / chunk_bytes), .teams = teams,
        .first_team = oc_team_of(sequence, 0, teams),
        .first_place = (uint32_t) (sequence % division->period)};
}

void oc_chunk_map_list(oc_chunk_map_t *map, const uint32_t *chunks, uint32_t count)
{
    assert(NULL == map->blocks && count > 0 && count <= map->num_chunks);
    map->listed = chunks;
    map->num_chunks = count;
}

oc_chunk_map_t oc_chunk_map_of_blocks(const oc_block_map_t *blocks, size_t bytes, uint32_t teams,
                                      uint64_t sequence)
{
    return (oc_chunk_map_t) {
        .blocks = blocks, .bytes = bytes, .chunk_bytes = blocks->chunk_bytes,
        .num_chunks = blocks->num_chunks, .teams = teams,
        .first_team = oc_team_of(sequence, 0, teams)};
}

/* ---- blocks ---- */

/* The team's first chunk that is not before this one. */
static uint64_t first_of_team(const oc_chunk_map_t *map, uint32_t team, uint32_t from)
{
    uint32_t here = oc_team_of(map->first_team, from, map->teams);

    return (uint64_t) from + (team + map->teams - here) % map->teams;
}

/* Of the team's chunks, from its first one on, so many are before the end. */
static uint32_t count_until(const oc_chunk_map_t *map, uint64_t first, uint32_t end)
{
    return first < end ? (uint32_t) ((end - first + map->teams - 1) / map->teams) : 0;
}

static oc_share_t share_of_blocks(const oc_chunk_map_t *map, uint32_t team, unsigned aggregator)
{
    const uint32_t *bounds = map->blocks->bounds;
    uint64_t first = first_of_team(map, team, bounds[aggregator]);

    return (oc_share_t) {.team = team, .aggregator = aggregator, .first = first,
                         .count = count_until(map, first, bounds[aggregator + 1])};
}

static oc_client_chunk_t chunk_of_blocks(const oc_chunk_map_t *map, const oc_share_t *share,
                                         uint32_t number)
{
    uint32_t chunk = (uint32_t) (share->first + (uint64_t) number * map->teams);
    oc_block_chunk_t piece = oc_block_map_chunk(map->blocks, chunk);

    return (oc_client_chunk_t) {
        .index = oc_block_map_row(map->blocks, chunk),
        .step = NULL != map->blocks->steps ? map->blocks->steps[chunk] : chunk,
        .place = oc_block_map_turn(map->blocks, share->aggregator, chunk), .block = piece.block,
        .number = number, .length = piece.length, .offset = piece.offset};
}

oc_owned_t oc_chunk_map_owned(const oc_chunk_map_t *map, const oc_share_t *share, uint32_t member)
{
    const uint32_t *bounds = &map->blocks->bounds[share->aggregator];
    uint32_t first, count, end;
    oc_owned_t owned;

    oc_block_map_of_member(map->blocks, member, &first, &count);
    end = first + count < bounds[1] ? first + count : bounds[1];
    first = first > bounds[0] ? first : bounds[0];
    owned.first = count_until(map, share->first, first < end ? first : end);
    owned.count = count_until(map, share->first, end) - owned.first;
    return owned;
}

/* The number of a chunk, by its step. */
static uint32_t chunk_at(const oc_chunk_map_t *map, uint32_t step)
{
    return NULL != map->blocks && NULL != map->blocks->chunks ? map->blocks->chunks[step] : step;
}

/* ---- a vector whose result goes to all ---- */

/* In the vector, of the first chunk that is the team's. */
static uint32_t first_index(const oc_chunk_map_t *map, uint32_t team)
{
    return (team + map->teams - map->first_team) % map->teams;
}

static oc_share_t share_of_division(const oc_chunk_map_t *map, uint32_t team, unsigned aggregator)
{
    const oc_division_t *division = map->division;
    uint64_t total = ((uint64_t) map->num_chunks + map->teams - 1
                      - first_index(map, team)) / map->teams;
    uint64_t first = oc_division_before(division, aggregator, map->first_place);
    uint64_t end = oc_division_before(division, aggregator, map->first_place + total);

    return (oc_share_t) {.team = team, .aggregator = aggregator, .first = first,
                         .count = (uint32_t) (end - first)};
}

static oc_client_chunk_t chunk_of_division(const oc_chunk_map_t *map, const oc_share_t *share,
                                           uint32_t number)
{
    uint64_t place = oc_division_place(map->division, share->aggregator, share->first + number)
                     - map->first_place;
    uint64_t position = place * map->teams + first_index(map, share->team);
    uint64_t index = NULL != map->listed ? map->listed[position] : position;
    size_t offset = (size_t) index * map->chunk_bytes, left = map->bytes - offset;

    assert(position < map->num_chunks);
    return (oc_client_chunk_t) {
        .index = (uint32_t) index, .step = (uint32_t) position, .place = (uint32_t) place, .number = number, .offset = offset,
        .length = left < map->chunk_bytes ? (uint32_t) left : map->chunk_bytes};
}

/* ---- both ---- */

oc_share_t oc_chunk_map_share(const oc_chunk_map_t *map, uint32_t team, unsigned aggregator)
{
    return NULL != map->blocks ? share_of_blocks(map, team, aggregator)
                               : share_of_division(map, team, aggregator);
}

oc_client_chunk_t oc_chunk_map_chunk(const oc_chunk_map_t *map, const oc_share_t *share,
                                     uint32_t number)
{
    assert(number < share->count);
    return NULL != map->blocks ? chunk_of_blocks(map, share, number)
                               : chunk_of_division(map, share, number);
}

oc_block_chunk_t oc_chunk_map_piece(const oc_chunk_map_t *map, uint32_t step)
{
    return oc_block_map_chunk(map->blocks, chunk_at(map, step));
}

uint32_t oc_chunk_map_index(const oc_chunk_map_t *map, uint32_t step)
{
    return oc_block_map_row(map->blocks, chunk_at(map, step));
}

uint32_t oc_chunk_map_team(const oc_chunk_map_t *map, uint32_t step)
{
    return oc_team_of(map->first_team, chunk_at(map, step), map->teams);
}

unsigned oc_chunk_map_aggregator(const oc_chunk_map_t *map, uint32_t step)
{
    assert(step < map->num_chunks);
    if (NULL != map->blocks) {
        return oc_block_map_lane(map->blocks, chunk_at(map, step));
    }
    return oc_division_lane(map->division, map->first_place + step / map->teams);
}
