/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Counts what should have come and what has, from each rank and from all together, in short epochs.
 * In those that are dead nothing comes, in those that are dry next to nothing. So many of them on
 * end mean that nothing will.
 *
 * A queue that runs over loses all that comes then, but it is empty again after a while, and
 * however many others fill it, of what comes later a part has room. So it is enough that nothing
 * comes for longer than queues take, and of what was sent meanwhile. If a little comes, more has to
 * be lost than what can be under way, a window, as that may be one full queue. In small operations
 * there is less; of these, several on end have to be dry.
 *
 * What was lost because this rank did not look is no fault of the network; nor is, for a while, what
 * it misses until it is joined again.
 */
#include "multicast/core/reception.h"

#include <stdlib.h>

#define EPOCH            16u   /* fragments, at least */
#define LEAST_FRAGMENTS  64u
/*
 * If 19 of 20 are lost, so many on end are once in 700 times, or in 500,000: there are many ranks of
 * which all fragments may be lost.
 */
#define DEAD_OF_ALL      128u
#define DEAD_OF_ONE      256u
#define LEAST_OPERATIONS 8u
#define DRY              8u    /* one in so many comes, or less */
/* Queues are empty after a millisecond and so many times that in which fragments overtake others. */
#define REORDERS         4u

oc_status_t oc_reception_begin(oc_cast_group_t *group)
{
    group->reception.of = calloc(group->config.num_ranks + 1u, sizeof(*group->reception.of));
    group->reception.lost = UINT32_MAX;
    return NULL == group->reception.of ? OC_ERR_NO_MEMORY : OC_OK;
}

void oc_reception_end(oc_cast_group_t *group)
{
    free(group->reception.of);
    group->reception.of = NULL;
}

/* Fragments that are more than one full queue. */
static uint32_t enough(const oc_cast_group_t *group)
{
    size_t most = (group->config.window + group->config.window / 8) / group->payload;

    return most > LEAST_FRAGMENTS ? (uint32_t) most : LEAST_FRAGMENTS;
}

/* A slow network has longer queues, in time; an operation of which nothing has come has none. */
static uint64_t time_of_queues(const oc_cast_group_t *group)
{
    bool may = NULL == group->active || group->active->heard;

    return OC_MILLISECOND + REORDERS * (may ? group->reorder : OC_CAST_MIN_REORDER);
}

static bool is_lost(const oc_cast_group_t *group, uint32_t number)
{
    const oc_heard_t *heard = &group->reception.of[number];
    uint32_t least = number < group->config.num_ranks ? DEAD_OF_ONE : DEAD_OF_ALL;
    const oc_spell_t *dry = &heard->dry, *dead = &heard->dead;

    return (dead->expected >= least && group->stepped - dead->since >= time_of_queues(group))
           || dry->expected >= enough(group)
           || (dry->expected >= LEAST_FRAGMENTS
               && group->generation - dry->generation + 1 >= LEAST_OPERATIONS);
}

/* Another epoch of so many fragments, which is one of them or ends them. */
static void go_on(const oc_cast_group_t *group, oc_spell_t *spell, bool lasts, uint32_t expected)
{
    if (0 == spell->expected) {
        spell->generation = group->generation;
        spell->since = group->stepped;
    }
    spell->expected = lasts ? spell->expected + expected : 0;
}

/* number: a rank, or num_ranks for all. */
static void note(oc_cast_group_t *group, uint32_t number, uint32_t expected, uint32_t arrived)
{
    oc_heard_t *heard = &group->reception.of[number];

    heard->expected += expected;
    heard->arrived += arrived;
    if (heard->expected < EPOCH) {
        return;
    }
    go_on(group, &heard->dry, heard->arrived <= heard->expected / DRY, heard->expected);
    go_on(group, &heard->dead, 0 == heard->arrived, heard->expected);
    if (is_lost(group, number)) {
        group->reception.lost = number;
    }
    heard->expected = heard->arrived = 0;
}

void oc_reception_again(oc_cast_group_t *group)
{
    group->reception.of[group->config.num_ranks].arrived++;
}

/* So many fragments of a block should be here, and so many have come. */
static void reception_count(oc_cast_group_t *group, uint32_t owner, uint32_t expected,
                            uint32_t came)
{
    oc_block_t *block = &group->active->blocks[owner];
    uint32_t more = expected - block->expected, arrived = came - block->counted;

    if (block->failures > 0) {
        return;
    }
    block->expected = expected;
    block->counted = came;
    if (!group->unicast && !oc_reception_is_excused(group)) {
        note(group, group->config.num_ranks, more, arrived);
        note(group, owner, more, arrived);
    }
}

void oc_reception_look(oc_cast_group_t *group, uint32_t owner)
{
    const oc_block_t *block = &group->active->blocks[owner];

    if (block->mark > block->expected) {
        reception_count(group, owner, block->mark, block->marked);
    }
}

void oc_reception_complete(oc_cast_group_t *group, uint32_t owner)
{
    const oc_block_t *block = &group->active->blocks[owner];

    reception_count(group, owner, block->fragments, block->came);
}

void oc_reception_excuse(oc_cast_group_t *group)
{
    group->reception.excused = group->generation;
}

void oc_reception_absent(oc_cast_group_t *group, bool absent)
{
    group->reception.absent = absent;
}

bool oc_reception_is_excused(const oc_cast_group_t *group)
{
    return group->reception.absent || group->reception.excused == group->generation;
}

bool oc_reception_is_dry(const oc_cast_group_t *group, uint32_t owner)
{
    return group->reception.absent || group->reception.of[owner].dry.expected > 0
           || group->reception.of[group->config.num_ranks].dry.expected > 0;
}

bool oc_reception_is_lost(const oc_cast_group_t *group, uint32_t *owner)
{
    *owner = group->reception.lost;
    return UINT32_MAX != group->reception.lost;
}
