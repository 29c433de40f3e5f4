/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Which chunks of a large vector go to which aggregator, where they are, and how long.
 *
 * In the flat shape, chunk c belongs to the lane that has place c + sequence of the group's
 * division. In the node shape chunks go to the teams in turn first, and the division is that of a
 * team's chunks.
 */
#include "client/collective/parts.h"

#include <stdlib.h>

#include "client/collective/part.h"
#include "client/collective/step.h"
#include "client/collective/vector.h"

/* How large the chunks of a vector are, and which lane has the first: the same on all ranks. */
static void lay_out(oc_collective_t *collective)
{
    const oc_group_t *group = collective->group;
    const oc_division_t *division = &group->division;
    size_t lanes = group->num_lanes, window = group->teams.window;
    size_t share = (collective->bytes + lanes - 1) / lanes;
    size_t least = (collective->bytes + division->period - 1) / division->period * division->least;
    size_t chunk = group->chunk_bytes / OC_MIN_CHUNK * OC_MIN_CHUNK;
    size_t fine = least / (size_t) group->client->config.settings->min_chunks;

    /* before the first chunk has gone no result can come, and the last has nothing beside it */
    fine = fine > OC_FINE_CHUNK ? fine / OC_MIN_CHUNK * OC_MIN_CHUNK : OC_FINE_CHUNK;
    share = (share + OC_MIN_CHUNK - 1) / OC_MIN_CHUNK * OC_MIN_CHUNK;
    chunk = fine < chunk ? fine : chunk;
    chunk = share < chunk ? share : chunk;
    /* whole elements: the size of some is no power of two */
    collective->chunk_bytes = (uint32_t) (chunk / collective->element * collective->element);
    collective->first_place = (uint32_t) (collective->sequence % division->period);
    /* as much as lets the lane with the largest share have its window open */
    collective->span = division->least == division->most
                           ? 0
                           : (window * division->period + division->most - 1) / division->most;
    collective->horizon = collective->span;
}

size_t oc_parts_count_chunks(const oc_collective_t *collective)
{
    return (collective->bytes + collective->chunk_bytes - 1) / collective->chunk_bytes;
}

static bool part_make(oc_collective_t *collective, oc_lane_t *lane)
{
    const oc_group_t *group = collective->group;
    const oc_division_t *division = &group->division;
    size_t skipped = oc_team_first_chunk(collective, lane->team), teams = group->teams.count;
    size_t total = (oc_parts_count_chunks(collective) + teams - 1 - skipped) / teams;
    uint64_t first = oc_division_before(division, lane->aggregator, collective->first_place);
    uint64_t end = oc_division_before(division, lane->aggregator,
                                      collective->first_place + total);
    unsigned window = group->teams.window;
    oc_part_t *part = &collective->parts[collective->num_parts];
    size_t rest;

    if (first == end) {
        return true;
    }
    part->collective = collective;
    part->lane = lane;
    part->first = first;
    part->chunks = (uint32_t) (end - first);
    rest = collective->bytes - oc_part_offset(part, part->chunks - 1);
    part->last_bytes = rest < collective->chunk_bytes ? (uint32_t) rest : collective->chunk_bytes;
    part->num_slots = part->chunks < window ? part->chunks : window;
    part->slots = calloc(part->num_slots, sizeof(*part->slots));
    collective->num_parts++;
    collective->uncommitted++;
    return NULL != part->slots && oc_vector_reserve(part);
}

oc_status_t oc_parts_make(oc_collective_t *collective)
{
    const oc_group_t *group = collective->group;
    unsigned lanes = group->num_lanes * group->teams.own;

    lay_out(collective);
    collective->parts = calloc(lanes, sizeof(*collective->parts));
    if (NULL == collective->parts) {
        return OC_ERR_NO_MEMORY;
    }
    /* each rank begins with another lane, so that they do not all meet at the first */
    for (unsigned i = 0; i < lanes; i++) {
        unsigned lane = (i + group->params.rank) % lanes;

        if (!part_make(collective, &group->lanes[lane])) {
            return OC_ERR_NO_MEMORY;
        }
    }
    return OC_OK;
}

/* A team's chunks come in order, and so do those of its parts. */
oc_part_t *oc_parts_find(const oc_collective_t *collective, uint32_t chunk)
{
    uint32_t team = oc_step_team(collective, chunk);

    for (unsigned i = 0; i < collective->num_parts; i++) {
        oc_part_t *part = &collective->parts[i];

        if (part->lane->team == team && part->sent < part->chunks
            && oc_part_chunk(part, part->sent) == chunk / collective->group->teams.count) {
            return part;
        }
    }
    return NULL;
}
