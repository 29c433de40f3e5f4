/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Keeps a single sender from overrunning the slowest rank. Ranks that send at the same time keep
 * in step by what they receive from each other (chain.c); who sends alone receives nothing, so
 * the others have to say how far they are: up the tree goes how much of all blocks has passed
 * each rank below, down to everybody the least of all. Both are told in steps of half a window, and
 * only if there is more to send than a window.
 */
#include "multicast/core/credit.h"

#include <assert.h>

#include "multicast/core/chain.h"
#include "multicast/core/post.h"

/* Fragments, of all blocks in order, that have passed this rank and all below it. */
static uint64_t least_passed(const oc_cast_group_t *group)
{
    uint64_t least = group->active->chains[0].position;

    for (uint32_t i = 0; i < group->num_children; i++) {
        const oc_neighbour_t *child = &group->neighbours[i];
        uint64_t passed = child->passing == group->active->generation ? child->passed : 0;

        least = passed < least ? passed : least;
    }
    return least;
}

static void say(oc_cast_group_t *group, uint32_t rank, uint64_t position)
{
    oc_cast_message_t message = {
        .kind = OC_CAST_CREDIT,
        .generation = group->active->generation,
        .position = position,
    };

    oc_cast_post(group, rank, &message);
}

static void grant(oc_cast_group_t *group, uint64_t position, uint64_t now)
{
    assert(position <= group->active->chains[0].fragments);
    group->active->credit = position;
    group->active->credited = now;
    for (uint32_t i = 0; i < group->num_children; i++) {
        say(group, group->neighbours[i].rank, position);
    }
}

void oc_credit_progress(oc_cast_group_t *group, uint64_t now)
{
    oc_cast_operation_t *operation = group->active;
    uint64_t step = operation->ahead / 2 > 0 ? operation->ahead / 2 : 1, least;

    if (!oc_chains_need_credit(operation)) {
        return;
    }
    least = least_passed(group);
    if (least < operation->passed + step) {
        return;
    }
    operation->passed = least;
    if (0 == group->config.rank) {
        grant(group, least, now);
    } else {
        say(group, group->neighbours[group->num_children].rank, least);
    }
}

void oc_credit_message(oc_cast_group_t *group, const oc_cast_message_t *message, uint64_t now)
{
    const oc_cast_operation_t *operation = group->active;

    if (message->position > operation->chains[0].fragments || 1 != operation->num_chains) {
        group->config.counters->fragments_foreign++;
        return;
    }
    for (uint32_t i = 0; i < group->num_children; i++) {
        oc_neighbour_t *child = &group->neighbours[i];

        if (child->rank != message->rank) {
            continue;
        }
        if (child->passing != operation->generation || child->passed < message->position) {
            child->passing = operation->generation;
            child->passed = message->position;
        }
        return;
    }
    if (group->num_neighbours > group->num_children
        && message->rank == group->neighbours[group->num_children].rank
        && message->position > operation->credit) {
        grant(group, message->position, now);
    }
}
