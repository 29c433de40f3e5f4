/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Nothing has to be agreed upon: a rank that sends no more multicast and asks at once lives with
 * one that does not know yet. So who finds out tells its neighbours in the tree, and they theirs.
 */
#include "multicast/core/unicast.h"

#include "multicast/core/fragment.h"
#include "multicast/core/partners.h"
#include "multicast/core/post.h"
#include "multicast/core/reception.h"

/* Bytes of a block that goes through all hosts in turn: less takes longer that way. */
#define LARGE (64u << 10)

/* from: which neighbour knows already; num_ranks: none. */
static void become_unicast(oc_cast_group_t *group, uint32_t owner, uint32_t receiver,
                           uint32_t from)
{
    group->unicast = true;
    group->config.counters->groups_unicast += !group->config.second;
    group->unheard = owner;
    group->unreached = receiver;
    for (uint32_t i = 0; i < group->num_neighbours; i++) {
        oc_cast_message_t message = {.kind = OC_CAST_UNICAST, .generation = group->generation,
                                     .block = owner, .number = receiver};

        if (group->neighbours[i].rank != from) {
            oc_cast_post(group, group->neighbours[i].rank, &message);
        }
    }
    if (NULL != group->active) {
        group->active->look_again = true;
    }
}

bool oc_unicast_look(oc_cast_group_t *group)
{
    uint32_t owner;

    if (group->unicast || !oc_reception_is_lost(group, &owner)) {
        return false;
    }
    become_unicast(group, owner, group->config.rank, group->config.num_ranks);
    return true;
}

void oc_unicast_message(oc_cast_group_t *group, const oc_cast_message_t *message)
{
    if (message->block > group->config.num_ranks || message->number >= group->config.num_ranks) {
        group->config.counters->fragments_foreign++;
    } else if (!group->unicast) {
        become_unicast(group, message->block, message->number, message->rank);
    }
}

void oc_unicast_adopt(oc_cast_group_t *group, uint32_t owner, uint32_t receiver)
{
    if (!group->unicast) {
        become_unicast(group, owner, receiver, group->config.num_ranks);
    }
}

void oc_unicast_expect_all(oc_cast_group_t *group, uint64_t now)
{
    if (group->active->expects_all) {
        return;
    }
    group->active->expects_all = true;
    for (uint32_t rank = 0; rank < group->config.num_ranks; rank++) {
        oc_block_t *block = &group->active->blocks[rank];

        if (!block->complete) {
            oc_fragment_sent(group, rank, block->fragments, now);
            block->mark = block->fragments;
        }
    }
}

bool oc_unicast_offer(oc_cast_group_t *group, uint64_t now)
{
    oc_cast_operation_t *operation = group->active;
    uint32_t fragments = oc_fragments_ready(group);

    for (unsigned i = 0; i < OC_MAX_BATCH && operation->sent < fragments; i++) {
        oc_fragment_sum_own(group, operation->sent++);
    }
    oc_fragment_sent(group, group->config.rank, operation->sent, now);
    return operation->sent < fragments;
}

uint32_t oc_unicast_source(const oc_cast_group_t *group, uint32_t owner)
{
    return group->active->blocks[owner].length >= LARGE ? oc_partners_nth(group, 0, owner)
                                                        : oc_partners_above(group, owner);
}
