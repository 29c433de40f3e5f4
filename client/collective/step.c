/* SPDX-License-Identifier: BSD-3-Clause */
/* The steps of collectives in the stream that the ranks of a host go through together. */
#include "client/collective/step.h"

#include <utlist.h>

#include "client/collective/vector.h"
#include "reduction/reduction.h"

oc_step_piece_t oc_step_piece(const oc_collective_t *collective, uint32_t step)
{
    size_t each = collective->chunk_bytes / collective->element;
    size_t first = step * each, left = collective->bytes / collective->element - first;

    return (oc_step_piece_t) {.count = left < each ? left : each,
                      .offset = first * oc_type_size(collective->args.type)};
}

size_t oc_step_bytes(const oc_collective_t *collective, const oc_step_piece_t *piece)
{
    return piece->count * collective->element;
}

uint32_t oc_step_team(const oc_collective_t *collective, uint32_t step)
{
    return (uint32_t) ((collective->sequence + step) % collective->group->teams.count);
}

uint32_t oc_step_owner(const oc_collective_t *collective, uint32_t step)
{
    return oc_step_team(collective, step) % collective->group->node->num_members;
}

/* A rank that is alone on its host sends from the caller's memory and receives there. */
bool oc_step_is_direct(const oc_collective_t *collective)
{
    return 1 == collective->group->node->num_members && !collective->wide
           && !oc_vector_is_staged(collective);
}

void *oc_step_place(const oc_collective_t *collective, uint32_t member, uint32_t step)
{
    return oc_ring_place(collective->group->node->ring, member, collective->first_step + step);
}

const void *oc_step_contribution(const oc_collective_t *collective, uint32_t step)
{
    return oc_step_is_direct(collective)
               ? (const char *) collective->send + oc_step_piece(collective, step).offset
               : oc_step_place(collective, collective->group->node->self, step);
}

void *oc_step_result(const oc_collective_t *collective, uint32_t step)
{
    return oc_step_is_direct(collective)
               ? (char *) collective->recv + oc_step_piece(collective, step).offset
               : oc_step_place(collective, collective->group->node->self, step);
}

void oc_steps_join(oc_collective_t *collective, uint32_t steps)
{
    oc_group_t *group = collective->group;
    oc_node_t *node = group->node;

    collective->first_step = node->planned;
    collective->num_steps = steps;
    collective->holds = true;
    collective->waiting++;
    node->planned += steps;
    node->holding++;
    if (!node->active) {
        node->active = true;
        DL_APPEND2(group->client->nodes, group, node_prev, node_next);
    }
}

void oc_step_publish(oc_collective_t *collective, uint32_t step)
{
    oc_ring_publish(collective->group->node->ring, collective->first_step + step);
}

/* Collectives may get their COMMITs in another order; small ones need none. */
void oc_steps_commit(oc_collective_t *collective)
{
    oc_group_t *group = collective->group;
    uint64_t count = group->next_sequence;

    DL_FOREACH (group->running, collective) {
        if (0 != collective->uncommitted) {
            count = collective->sequence;
            break;
        }
    }
    oc_ring_commit(group->node->ring, count);
}
