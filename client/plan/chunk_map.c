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

/* In the vector, of the first chunk that is the team's. */
static uint32_t first_index(const oc_chunk_map_t *map, uint32_t team)
{
    return (team + map->teams - map->first_team) % map->teams;
}

oc_share_t oc_chunk_map_share(const oc_chunk_map_t *map, uint32_t team, unsigned aggregator)
{
    const oc_division_t *division = map->division;
    uint64_t total = ((uint64_t) map->num_chunks + map->teams - 1
                      - first_index(map, team)) / map->teams;
    uint64_t first = oc_division_before(division, aggregator, map->first_place);
    uint64_t end = oc_division_before(division, aggregator, map->first_place + total);

    return (oc_share_t) {.team = team, .aggregator = aggregator, .first = first,
                         .count = (uint32_t) (end - first)};
}

oc_client_chunk_t oc_chunk_map_chunk(const oc_chunk_map_t *map, const oc_share_t *share,
                                     uint32_t number)
{
    uint64_t place = oc_division_place(map->division, share->aggregator, share->first + number)
                     - map->first_place;
    uint64_t index = place * map->teams + first_index(map, share->team);
    size_t offset = (size_t) index * map->chunk_bytes, left = map->bytes - offset;

    assert(number < share->count && index < map->num_chunks);
    return (oc_client_chunk_t) {
        .index = (uint32_t) index, .place = (uint32_t) place, .number = number, .offset = offset,
        .length = left < map->chunk_bytes ? (uint32_t) left : map->chunk_bytes};
}

uint32_t oc_chunk_map_team(const oc_chunk_map_t *map, uint32_t index)
{
    return oc_team_of(map->first_team, index, map->teams);
}

unsigned oc_chunk_map_aggregator(const oc_chunk_map_t *map, uint32_t index)
{
    assert(index < map->num_chunks);
    return oc_division_lane(map->division, map->first_place + index / map->teams);
}
