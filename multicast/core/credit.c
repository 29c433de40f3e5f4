/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Keeps senders from overrunning the slowest rank. If all send at the same time they keep in step
 * by what they receive from each other (chain.c); if only some do, the others receive more than
 * these, and have to say how far they are: up the tree goes how much of each chain has passed each
 * rank below, down to everybody the least of all. Both are told at each multiple of half of what a
 * chain may be ahead, and only if there is more to send than that. The multiples are the same on
 * all ranks, or what each rank of a way holds back could together be all that a sender waits for.
 * What is left is told when nothing has moved for a while.
 *
 * Each CREDIT also has the part of the window that the rank and all below it have room for
 * (backoff.h), or all ranks. If all send at the same time there are CREDITs with nothing else.
 */
#include "multicast/core/credit.h"

#include <assert.h>
#include <string.h>

#include "multicast/core/backoff.h"
#include "multicast/core/chain.h"
#include "multicast/core/post.h"

/* Of the window, that there has to be more before it is told. */
#define MORE 8u

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
    begin = operation->blocks[group->config.rank].start;
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

/* The least part of the window that this rank and all below it have room for. */
static uint32_t least_part(const oc_cast_group_t *group)
{
    uint32_t least = oc_backoff_part(group);

    for (uint32_t i = 0; i < group->num_children; i++) {
        const oc_neighbour_t *child = &group->neighbours[i];

        /* 0: it has never said */
        if (child->passing == group->active->generation && child->part > 0 && child->part < least) {
            least = child->part;
        }
    }
    return least;
}

/* Less is told at once, and more in steps. */
static bool is_part_news(const oc_cast_operation_t *operation, uint32_t part)
{
    uint32_t told = operation->part_told;

    return part < told || part >= told + told / MORE || (OC_CAST_WHOLE == part && part > told);
}

/* part: of the window, which is not that of the message if a later one has come before. */
static void grant(oc_cast_group_t *group, const oc_cast_message_t *given, uint32_t part,
                  uint64_t now)
{
    oc_cast_operation_t *operation = group->active;

    operation->part = part;
    for (uint32_t k = 0; k < given->num_chains; k++) {
        oc_chain_t *chain = &operation->chains[k];

        assert(given->positions[k] <= chain->fragments);
        if (given->positions[k] > chain->credit) {
            chain->credit = given->positions[k];
            chain->credited = now;
        }
    }
    for (uint32_t i = 0; i < group->num_children; i++) {
        oc_cast_message_t message = *given;

        message.part = part;
        oc_cast_post(group, group->neighbours[i].rank, &message);
    }
}

/* Whether there is enough to be told; due: when there may be, if nothing comes. */
static bool collect(oc_cast_group_t *group, oc_cast_message_t *message, uint64_t now,
                    uint64_t *due)
{
    oc_cast_operation_t *operation = group->active;
    uint32_t ahead = oc_backoff_ahead(group);
    uint64_t step = ahead / 2 > 0 ? ahead / 2 : 1, sum = 0;
    bool is_more = false, is_news = is_part_news(operation, message->part);

    for (uint32_t k = 0; k < message->num_chains; k++) {
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

/* When there may be more to tell. */
static uint64_t credit_tell(oc_cast_group_t *group, uint64_t now)
{
    oc_cast_operation_t *operation = group->active;
    oc_cast_message_t message = {
        .kind = OC_CAST_CREDIT,
        .generation = operation->generation,
        .num_chains = oc_chains_need_credit(group) ? operation->num_chains : 0,
        .part = least_part(group),
    };
    uint64_t due = UINT64_MAX;

    if (!collect(group, &message, now, &due)) {
        return due;
    }
    operation->part_told = message.part;
    for (uint32_t k = 0; k < message.num_chains; k++) {
        operation->chains[k].told = message.positions[k];
    }
    if (0 == group->config.rank) {
        grant(group, &message, message.part, now);
    } else {
        oc_cast_post(group, group->neighbours[group->num_children].rank, &message);
    }
    return UINT64_MAX;
}

uint64_t oc_credit_progress(oc_cast_group_t *group, uint64_t now)
{
    /* most operations are small, and a message is large */
    return group->active->holds_back ? credit_tell(group, now) : UINT64_MAX;
}

static bool credit_fits(const oc_cast_group_t *group, const oc_cast_message_t *message)
{
    const oc_cast_operation_t *operation = group->active;
    uint32_t chains = oc_chains_need_credit(group) ? operation->num_chains : 0;

    if (message->num_chains != chains || 0 == message->part || message->part > OC_CAST_WHOLE) {
        return false;
    }
    for (uint32_t k = 0; k < chains; k++) {
        if (message->positions[k] > operation->chains[k].fragments) {
            return false;
        }
    }
    return true;
}

/* Messages may overtake each other, and the part may be less than it was, or more. */
static bool is_newer(oc_neighbour_t *neighbour, const oc_cast_message_t *message)
{
    if (message->serial <= neighbour->credited) {
        return false;
    }
    neighbour->credited = message->serial;
    return true;
}

/* Positions do not go back. */
static void note_child(const oc_cast_group_t *group, oc_neighbour_t *child,
                       const oc_cast_message_t *message)
{
    if (child->passing != group->active->generation) {
        child->passing = group->active->generation;
        memset(child->passed, 0, sizeof(child->passed));
        child->part = OC_CAST_WHOLE;
    }
    if (is_newer(child, message)) {
        child->part = message->part;
    }
    for (uint32_t k = 0; k < message->num_chains; k++) {
        if (message->positions[k] > child->passed[k]) {
            child->passed[k] = message->positions[k];
        }
    }
}

void oc_credit_message(oc_cast_group_t *group, const oc_cast_message_t *message, uint64_t now)
{
    if (!group->active->holds_back || !credit_fits(group, message)) {
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
        bool newer = is_newer(&group->neighbours[group->num_children], message);

        grant(group, message, newer ? message->part : group->active->part, now);
    }
}
