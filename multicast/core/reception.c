/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Counts what should have come and what has, from each rank and from all together, in short epochs.
 * In those that are dry next to nothing comes; so many of them in a row that it is more than one
 * full queue mean that nothing will.
 *
 * A queue that runs over once loses at most what is under way, a window, so it takes more than
 * that. Small operations have less under way; of these, several in a row have to be lost. What was
 * lost because this rank did not look is no fault of the network; nor is, for a while, what it
 * misses until it is joined again.
 */
#include "multicast/core/reception.h"

#include <stdlib.h>

#define EPOCH            16u   /* fragments, at least */
#define LEAST_FRAGMENTS  64u
#define LEAST_OPERATIONS 8u
#define DRY              8u    /* one in so many comes, or less */

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

static bool is_lost(const oc_cast_group_t *group, const oc_heard_t *heard)
{
    return heard->dry >= enough(group)
           || (heard->dry >= LEAST_FRAGMENTS
               && group->generation - heard->since + 1 >= LEAST_OPERATIONS);
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
    if (heard->arrived > heard->expected / DRY) {
        heard->dry = 0;
    } else {
        if (0 == heard->dry) {
            heard->since = group->generation;
        }
        heard->dry += heard->expected;
        if (is_lost(group, heard)) {
            group->reception.lost = number;
        }
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
    return group->reception.absent || group->reception.of[owner].dry > 0
           || group->reception.of[group->config.num_ranks].dry > 0;
}

bool oc_reception_is_lost(const oc_cast_group_t *group, uint32_t *owner)
{
    *owner = group->reception.lost;
    return UINT32_MAX != group->reception.lost;
}
