/* SPDX-License-Identifier: BSD-3-Clause */
/* Where the chunks of a part are. */
#include "client/collective/part.h"

uint32_t oc_team_first_chunk(const oc_collective_t *collective, uint32_t team)
{
    uint32_t teams = collective->group->teams.count;

    return (uint32_t) ((team + teams - collective->sequence % teams) % teams);
}

uint64_t oc_part_chunk(const oc_part_t *part, uint32_t number)
{
    const oc_collective_t *collective = part->collective;

    return oc_division_place(&collective->group->division, part->lane->aggregator,
                             part->first + number) - collective->first_place;
}

size_t oc_part_offset(const oc_part_t *part, uint32_t number)
{
    const oc_collective_t *collective = part->collective;

    return ((size_t) oc_part_chunk(part, number) * collective->group->teams.count
            + oc_team_first_chunk(collective, part->lane->team)) * collective->chunk_bytes;
}

size_t oc_part_length(const oc_part_t *part, uint32_t number)
{
    return number + 1 == part->chunks ? part->last_bytes : part->collective->chunk_bytes;
}
