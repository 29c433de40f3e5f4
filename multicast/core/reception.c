/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Counts what should have come and what has, from each rank and from all together, in short epochs.
 * In those that are dead nothing comes, in those that are dry next to nothing. So many of them on
 * end mean that nothing will.
 *
 * A queue that runs over loses all that comes then, but it is empty again after a while, and
 * however many others fill it, of what comes later a part has room. So it is enough that an owner,
 * of which nothing has come for longer than queues take, has sent more meanwhile, and nothing of that
 * has come either, nor of anybody for many fragments. If a little comes, more has to be lost than
 * what can be under way, a window, as that may be one full queue. In small operations there is less;
 * of these, several on end have to be dry.
 *
 * What was lost because this rank did not look is no fault of the network; nor is, for a while, what
 * it misses until it is joined again. But a queue that has run over has kept what came first: if nothing at
 * all of anybody has come in many operations, it does not matter that this rank was away in all of them.
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
#define TELLINGS         2u    /* that are no accident */
/* Queues are empty after a millisecond and so many times the one in which some fragments come. */
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

/* Fragments that are more than what may be under way, in one full queue. */
static uint32_t enough(const oc_cast_group_t *group)
{
    uint32_t window = (uint32_t) (group->config.window / group->payload);
    uint32_t most = (uint32_t) group->active->most;

    most = most > window ? most : window;
    most += most / 8;
    return most > LEAST_FRAGMENTS ? most : LEAST_FRAGMENTS;
}

static bool is_dry_for_good(const oc_cast_group_t *group, const oc_heard_t *heard)
{
    return heard->dry >= enough(group)
           || (heard->dry >= LEAST_FRAGMENTS
               && group->generation - heard->since + 1 >= LEAST_OPERATIONS);
}

/* Of an operation in which this rank was away. What has come of it may be of blocks that are counted later. */
static void note_excused(oc_cast_group_t *group, uint32_t expected)
{
    oc_away_t *away = &group->reception.away;

    if (expected > 0 && (0 == away->operations || away->generation != group->generation)) {
        away->operations++;
        away->generation = group->generation;
    }
    away->expected += expected;
    if (away->expected >= LEAST_FRAGMENTS && away->operations >= LEAST_OPERATIONS
        && group->active->cast == group->active->sent) {
        group->reception.lost = group->config.num_ranks;
    }
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
    heard->dead = 0 == heard->arrived ? heard->dead + heard->expected : 0;
    if (heard->arrived > heard->expected / DRY) {
        heard->dry = 0;
    } else {
        if (0 == heard->dry) {
            heard->since = group->generation;
        }
        heard->dry += heard->expected;
        if (is_dry_for_good(group, heard)) {
            group->reception.lost = number;
        }
    }
    heard->expected = heard->arrived = 0;
}

/* A slow network has longer queues, in time; nothing of an operation of which nothing came is in one. */
static uint64_t time_of_queues(const oc_cast_group_t *group)
{
    return OC_MILLISECOND
           + REORDERS * (group->active->heard ? group->stalling : OC_CAST_MIN_REORDER);
}

/* Notes since when nothing of an owner has come; whether it has sent more after queues were empty. */
static bool note_silence(const oc_cast_group_t *group, oc_block_t *block, uint32_t more,
                         uint32_t arrived)
{
    uint64_t watched = group->reception.watched;

    if (arrived > 0) {
        block->silent = false;
    } else if (more > 0 && !block->silent) {
        block->silent = true;
        block->silent_since = watched;
    }
    return block->silent && more > 0 && watched - block->silent_since >= time_of_queues(group);
}

/* Whether nothing has come of anybody for so long, either; blocks are counted one after the other. */
static bool is_nothing_heard(const oc_cast_group_t *group)
{
    return 0 == group->reception.of[group->config.num_ranks].arrived
           && group->active->cast_at + time_of_queues(group) <= group->stepped;
}

static void judge_dead(oc_cast_group_t *group, uint32_t owner)
{
    const oc_heard_t *of = group->reception.of;
    uint32_t all = group->config.num_ranks;

    if (of[all].dead >= DEAD_OF_ALL && is_nothing_heard(group)) {
        group->reception.lost = all;
    } else if (of[owner].dead >= DEAD_OF_ONE && 0 == of[owner].arrived) {
        group->reception.lost = owner;
    }
}

void oc_reception_watch(oc_cast_group_t *group, uint64_t step)
{
    group->reception.watched += step < OC_MILLISECOND ? step : OC_MILLISECOND;
}

void oc_reception_late(oc_cast_group_t *group, uint32_t owner)
{
    group->reception.of[owner].arrived++;
    oc_reception_again(group);
}

void oc_reception_again(oc_cast_group_t *group)
{
    group->reception.of[group->config.num_ranks].arrived++;
    group->reception.away = (oc_away_t) {0};
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
    if (arrived > 0) {
        group->reception.away = (oc_away_t) {0};
    }
    if (!group->unicast && !oc_reception_is_excused(group)) {
        note(group, group->config.num_ranks, more, arrived);
        note(group, owner, more, arrived);
        if (note_silence(group, block, more, arrived)) {
            judge_dead(group, owner);
        }
        return;
    }
    block->silent = false;
    if (!group->unicast && !group->reception.absent) {
        note_excused(group, more);
    }
    if (arrived > more / DRY) { /* however much was missed, it is not the network */
        group->reception.of[group->config.num_ranks].dry = group->reception.of[owner].dry = 0;
    }
}

/*
 * Of the fragments below a mark that was told, while others came: nobody knows which these are, but
 * they are counted once, and no more than what was told.
 */
static uint32_t came_of_told(const oc_block_t *block)
{
    uint32_t most = block->counted + (block->mark - block->expected);

    return block->came < most ? block->came : most;
}

/* Told just now, it may still be on its way to this rank. */
static bool is_told_just_now(const oc_cast_group_t *group, const oc_block_t *block)
{
    return block->told && group->stepped - block->heard < OC_CAST_MIN_REORDER;
}

void oc_reception_look(oc_cast_group_t *group, uint32_t owner)
{
    const oc_block_t *block = &group->active->blocks[owner];

    if (block->mark > block->expected && !is_told_just_now(group, block)) {
        reception_count(group, owner, block->mark,
                        block->told ? came_of_told(block) : block->marked);
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
    bool begins = absent && !group->reception.absent;

    for (uint32_t i = 0; begins && i <= group->config.num_ranks; i++) {
        group->reception.of[i] = (oc_heard_t) {0}; /* it may have been so for a while */
    }
    if (begins) {
        group->reception.away = (oc_away_t) {0};
    }
    group->reception.absent = absent;
}

bool oc_reception_is_excused(const oc_cast_group_t *group)
{
    return group->reception.absent || group->reception.excused == group->generation;
}

/* Others have said twice that an owner has sent more, and nothing came of it in between and since. */
static bool is_only_told(const oc_cast_group_t *group, uint32_t owner)
{
    const oc_block_t *block;

    if (owner == group->config.num_ranks) {
        return false;
    }
    block = &group->active->blocks[owner];
    return block->tellings >= TELLINGS && block->came == block->came_when_told;
}

/* Who only sends in this operation knows nothing of the network, but for what it knew before. */
static bool receives(const oc_cast_operation_t *operation)
{
    return operation->incomplete > 0 || operation->received > 0;
}

bool oc_reception_is_silent(const oc_cast_group_t *group)
{
    return group->reception.of[group->config.num_ranks].dry > 0 && receives(group->active);
}

bool oc_reception_is_dry(const oc_cast_group_t *group, uint32_t owner)
{
    return group->reception.absent || group->reception.of[owner].dry > 0
           || oc_reception_is_silent(group) || is_only_told(group, owner);
}

void oc_reception_told(oc_block_t *block)
{
    block->tellings = block->came == block->came_when_told ? block->tellings + 1 : 1;
    block->came_when_told = block->came;
}

bool oc_reception_is_lost(const oc_cast_group_t *group, uint32_t *owner)
{
    *owner = group->reception.lost;
    return UINT32_MAX != group->reception.lost;
}
