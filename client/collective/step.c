/* SPDX-License-Identifier: BSD-3-Clause */
/* The steps of collectives in the stream that the ranks of a host go through together. */
#include "client/collective/step.h"

#include <utlist.h>

#include "client/collective/blocks.h"
#include "client/collective/supply.h"
#include "client/collective/vector.h"
#include "reduction/reduction.h"

static oc_step_piece_t piece_of_block(const oc_allreduce_t *allreduce, uint32_t step)
{
    oc_block_chunk_t chunk = oc_chunk_map_piece(allreduce->steps.map, step);
    size_t size = oc_type_size(allreduce->args.type);
    size_t first = chunk.offset / allreduce->element;
    bool wanted = oc_blocks_is_mine(allreduce, chunk.block);

    return (oc_step_piece_t) {
        .count = chunk.length / allreduce->element, .offset = first * size, .wanted = wanted,
        .to = wanted ? (first - allreduce->blocks.recv_first) * size : 0};
}

/* In the vector, or in the row of blocks. */
static uint32_t chunk_in(const oc_allreduce_t *allreduce, uint32_t step)
{
    if (NULL != allreduce->steps.map) {
        return oc_chunk_map_index(allreduce->steps.map, step);
    }
    return NULL != allreduce->steps.listed ? allreduce->steps.listed[step] : step;
}

oc_step_piece_t oc_step_piece(const oc_allreduce_t *allreduce, uint32_t step)
{
    size_t each = allreduce->steps.bytes / allreduce->element;
    size_t first, left, offset;

    if (NULL != allreduce->steps.map) {
        return piece_of_block(allreduce, step);
    }
    first = chunk_in(allreduce, step) * each;
    left = allreduce->bytes / allreduce->element - first;
    offset = first * oc_type_size(allreduce->args.type);
    return (oc_step_piece_t) {.count = left < each ? left : each, .offset = offset,
                              .wanted = true, .to = offset};
}

size_t oc_step_bytes(const oc_allreduce_t *allreduce, const oc_step_piece_t *piece)
{
    return piece->count * allreduce->element;
}

uint32_t oc_step_owner(const oc_allreduce_t *allreduce, uint32_t step)
{
    const oc_group_t *group = allreduce->base.group;

    uint32_t team = NULL != allreduce->steps.map
                        ? oc_chunk_map_team(allreduce->steps.map, step)
                        : oc_team_of(allreduce->sequence, step, group->servers->teams.count);

    return team % group->node->num_members;
}

/*
 * A small one whose result comes before those of others has not ended: if a server is lost then, its contribution is
 * needed once more.
 */
static bool keeps_contribution(const oc_allreduce_t *allreduce)
{
    return allreduce->base.group->servers->parts && !allreduce->algorithm->settles;
}

/* A rank that is alone on its host sends from the caller's memory and receives there. */
bool oc_step_is_direct(const oc_allreduce_t *allreduce)
{
    const oc_group_t *group = allreduce->base.group;

    return 1 == group->node->num_members && !allreduce->wide && !oc_vector_is_staged(allreduce)
           && NULL == allreduce->supply && !keeps_contribution(allreduce);
}

void *oc_step_place(const oc_allreduce_t *allreduce, uint32_t member, uint32_t step)
{
    return oc_ring_place(allreduce->base.group->node->ring, member,
                         allreduce->steps.first + step);
}

const void *oc_step_contribution(const oc_allreduce_t *allreduce, uint32_t step)
{
    return oc_step_is_direct(allreduce)
               ? (const char *) allreduce->send + oc_step_piece(allreduce, step).offset
               : oc_step_place(allreduce, allreduce->base.group->node->self, step);
}

/* NULL: this rank gets none. */
static void *direct_result(const oc_allreduce_t *allreduce, uint32_t step)
{
    oc_step_piece_t piece = oc_step_piece(allreduce, step);

    return piece.wanted ? (char *) allreduce->recv + piece.to : NULL;
}

void *oc_step_result(const oc_allreduce_t *allreduce, uint32_t step)
{
    return oc_step_is_direct(allreduce)
               ? direct_result(allreduce, step)
               : oc_step_place(allreduce, allreduce->base.group->node->self, step);
}

void oc_steps_join(oc_allreduce_t *allreduce, const oc_chunk_map_t *map, uint32_t count,
                   size_t bytes)
{
    oc_group_t *group = allreduce->base.group;
    oc_node_t *node = group->node;

    allreduce->steps = (oc_steps_t) {.first = node->planned, .count = count, .bytes = bytes,
                                     .map = map, .listed = allreduce->cut.listed, .hold = true};
    allreduce->waiting++;
    node->planned += count;
    node->begun = allreduce->sequence + 1;
    node->holding++;
    if (!node->active) {
        node->active = true;
        DL_APPEND2(group->client->nodes, group, node_prev, node_next);
    }
}

void oc_step_account(oc_allreduce_t *allreduce, uint32_t step)
{
    oc_supply_account(allreduce, chunk_in(allreduce, step));
}

void oc_step_publish(oc_allreduce_t *allreduce, uint32_t step)
{
    oc_ring_publish(allreduce->base.group->node->ring, allreduce->steps.first + step);
}

/* Collectives may get their COMMITs in another order; small ones need none. */
void oc_steps_commit(oc_allreduce_t *allreduce)
{
    const oc_group_t *group = allreduce->base.group;
    uint64_t count = group->node->begun;
    oc_collective_t *running;

    DL_FOREACH (group->running, running) {
        if (0 != oc_allreduce_of(running)->uncommitted) {
            count = oc_allreduce_of(running)->sequence;
            break;
        }
    }
    oc_ring_commit(group->node->ring, count);
}
