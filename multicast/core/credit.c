/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Keeps senders from overrunning the slowest rank. If all send at the same time they keep in step
 * by what they receive from each other (chain.c); if only some do, the others receive more than
 * these, and have to say how far they are: up the tree goes how much of each chain has passed each
 * rank below, down to everybody the least of all. Both are told at each multiple of half of what a
 * chain may be ahead, and only if there is more to send than that. The multiples are the same on
 * all ranks, or what each rank of a way holds back could together be all that a sender waits for.
 * What is left is told when nothing has moved for a while.
 */
#include "multicast/core/credit.h"

#include <assert.h>
#include <string.h>

#include "multicast/core/chain.h"
#include "multicast/core/post.h"

/*
 * Fragments of a chain that have passed this rank. Who sends has its own block: it would tell of
 * each step only when something else wakes it, and others wait for that.
 */
static uint64_t own_passed(const oc_cast_group_t *group, uint32_t chain)
{
    const oc_cast_operation_t *operation = group->active;
    uint64_t position = operation->chains[chain].position, begin, end;

    if (operation->blocks[group->config.rank].chain != chain) {
        return position;
    }
    begin = operation->before;
    end = begin + operation->blocks[group->config.rank].fragments;
    return position >= begin && position < end ? end : position;
}

/* Fragments of a chain that have passed this rank and all below it. */
static uint64_t least_passed(const oc_cast_group_t *group, uint32_t chain)
{
    uint64_t least = own_passed(group, chain);

    for (uint32_t i = 0; i < group->num_children; i++) {
        const oc_neighbour_t *child = &group->neighbours[i];
        uint64_t passed =
            child->passing == group->active->generation ? child->passed[chain] : 0;

        least = passed < least ? passed : least;
    }
    return least;
}

static void grant(oc_cast_group_t *group, const oc_cast_message_t *given, uint64_t now)
{
    oc_cast_operation_t *operation = group->active;

    for (uint32_t k = 0; k < operation->num_chains; k++) {
        oc_chain_t *chain = &operation->chains[k];

        assert(given->positions[k] <= chain->fragments);
        if (given->positions[k] > chain->credit) {
            chain->credit = given->positions[k];
            chain->credited = now;
        }
    }
    for (uint32_t i = 0; i < group->num_children; i++) {
        oc_cast_message_t message = *given;

        oc_cast_post(group, group->neighbours[i].rank, &message);
    }
}

/* Whether there is enough to be told; due: when there may be, if nothing comes. */
static bool collect(oc_cast_group_t *group, oc_cast_message_t *message, uint64_t now,
                    uint64_t *due)
{
    oc_cast_operation_t *operation = group->active;
    uint64_t step = operation->ahead / 2 > 0 ? operation->ahead / 2 : 1, sum = 0;
    bool is_more = false, is_news = false;

    for (uint32_t k = 0; k < operation->num_chains; k++) {
        const oc_chain_t *chain = &operation->chains[k];

        message->positions[k] = least_passed(group, k);
        is_news = is_news || (message->positions[k] / step > chain->told / step
                              && message->positions[k] - chain->told >= step / 2);
        is_more = is_more || message->positions[k] > chain->told;
        sum += message->positions[k];
    }
    if (sum != operation->moved) {
        operation->moved = sum;
        operation->moved_at = now;
    }
    *due = is_more ? operation->moved_at + group->reorder : UINT64_MAX;
    return is_news || now >= *due;
}

uint64_t oc_credit_progress(oc_cast_group_t *group, uint64_t now)
{
    oc_cast_operation_t *operation = group->active;
    oc_cast_message_t message = {
        .kind = OC_CAST_CREDIT,
        .generation = operation->generation,
        .num_chains = operation->num_chains,
    };
    uint64_t due = UINT64_MAX;

    if (!oc_chains_need_credit(group) || !collect(group, &message, now, &due)) {
        return due;
    }
    for (uint32_t k = 0; k < operation->num_chains; k++) {
        operation->chains[k].told = message.positions[k];
    }
    if (0 == group->config.rank) {
        grant(group, &message, now);
    } else {
        oc_cast_post(group, group->neighbours[group->num_children].rank, &message);
    }
    return UINT64_MAX;
}

static bool credit_fits(const oc_cast_operation_t *operation, const oc_cast_message_t *message)
{
    if (message->num_chains != operation->num_chains) {
        return false;
    }
    for (uint32_t k = 0; k < operation->num_chains; k++) {
        if (message->positions[k] > operation->chains[k].fragments) {
            return false;
        }
    }
    return true;
}

/* Messages may overtake each other: nothing goes back. */
static void note_child(const oc_cast_group_t *group, oc_neighbour_t *child,
                       const oc_cast_message_t *message)
{
    if (child->passing != group->active->generation) {
        child->passing = group->active->generation;
        memset(child->passed, 0, sizeof(child->passed));
    }
    for (uint32_t k = 0; k < message->num_chains; k++) {
        if (message->positions[k] > child->passed[k]) {
            child->passed[k] = message->positions[k];
        }
    }
}

void oc_credit_message(oc_cast_group_t *group, const oc_cast_message_t *message, uint64_t now)
{
    if (!oc_chains_need_credit(group) || !credit_fits(group->active, message)) {
        group->config.counters->fragments_foreign++;
        return;
    }
    for (uint32_t i = 0; i < group->num_children; i++) {
        if (group->neighbours[i].rank == message->rank) {
            note_child(group, &group->neighbours[i], message);
            return;
        }
    }
    if (group->num_neighbours > group->num_children
        && message->rank == group->neighbours[group->num_children].rank) {
        grant(group, message, now);
    }
}
