/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A window for each rank, as TCP has one for each connection: what is lost on the way to a rank
 * makes it smaller by a factor, and what comes makes it larger by a term, with the constants of RFC
 * 9438, so that both have about the same share of a queue. It is a part of the operation's, so that
 * the next one begins with it. Ranks tell the smallest of all to everybody (credit.c).
 *
 * What is lost by chance makes windows small, too, which does little harm: the least one is more
 * than what is under way on a fast link of which the queue is empty.
 *
 * Where queues are long nothing is lost, and each has the part of a link that it has of the queue. So on
 * slow links the window is no more than what these carry in a short time. That is computed from the best
 * rate that was seen: by the last one, traffic beside it would make the window smaller and smaller.
 */
#include "multicast/core/backoff.h"

#include "multicast/core/reception.h"

/*
 * A window is multiplied by that when something is lost, and grows by that, in fragments, with each
 * window.
 */
#define BETA 0.7
#define STEP (3.0 * (1.0 - BETA) / (1.0 + BETA))

/*
 * So much of the window of the slowest rank is used. Where links are equally full, each has just
 * lost something at another time, and is between BETA of what the fullest has and all of it.
 */
#define SLACK ((1.0 + 1.0 / BETA) / 2.0)

/* The least part of the window, and fragments that a chain may always be ahead. */
#define LEAST_PART 0.25
#define LEAST_AHEAD 3u

/* What is under way is through the queues after that: as much as TCP has under way there. */
#define QUEUE_TIME (8 * OC_MILLISECOND)

/* Together, so much of what may be under way to a rank usually is: the rest only if it falls behind. */
#define USUAL (2.0 / 3.0)

/* So many times what may be under way has to have come before it tells a rate: some of it may have waited. */
#define STEADY 4.0

/* What a chain may be ahead leaves in so many parts then. */
#define BATCHES     2u

void oc_backoff_begin(oc_cast_group_t *group)
{
    group->backoff = 1;
}

/* The part of the window that is used where nothing is lost; in turn SLACK times that is. */
static double full_part(const oc_cast_group_t *group)
{
    const oc_cast_operation_t *operation = group->active;
    double usual = operation->most * (operation->together ? USUAL : SLACK);
    double part = QUEUE_TIME * group->rate / usual;

    if (0 == group->rate || part > 1) {
        return 1;
    }
    return part > LEAST_PART ? part : LEAST_PART;
}

static double own_part(const oc_cast_group_t *group)
{
    double part = group->backoff * full_part(group);

    return part > LEAST_PART ? part : LEAST_PART;
}

/* Together, all ranks receive, and learn from that how slow links are. */
uint32_t oc_backoff_part(const oc_cast_group_t *group)
{
    return (uint32_t) ((group->active->together ? group->backoff : own_part(group)) * OC_CAST_WHOLE);
}

static void learn_rate(oc_cast_group_t *group)
{
    const oc_cast_operation_t *operation = group->active;
    double came, rate;

    if (group->unicast || oc_reception_is_excused(group) || operation->cast_at <= operation->begun) {
        return;
    }
    came = (double) (operation->cast - operation->sent - operation->early);
    if (came >= STEADY * operation->most) {
        rate = came / (double) (operation->cast_at - operation->begun);
        group->rate = rate > group->rate ? rate : group->rate;
    }
}

/*
 * What this rank has room for, or about what the slowest has, if that is less. CREDITs come at
 * multiples that are the same on all ranks, so with these only the slowest counts.
 */
static double used_part(const oc_cast_group_t *group)
{
    double told = SLACK * group->active->part / OC_CAST_WHOLE, own;

    if (!group->active->together) {
        return told < 1 ? told : 1;
    }
    told *= full_part(group);
    own = own_part(group);
    told = told < own ? told : own;
    return told > LEAST_PART ? told : LEAST_PART;
}

/* Whether this rank, or another, has less room since something was lost; in turn, or as its link is slow. */
static bool is_smaller(const oc_cast_group_t *group)
{
    return SLACK * group->active->part < OC_CAST_WHOLE
           || (group->active->together && group->backoff < 1);
}

/* What was lost because this rank did not look, or was cut off, tells nothing about queues. */
static bool counts(const oc_cast_group_t *group, const oc_block_t *block)
{
    return group->active->holds_back && !group->unicast && 0 == block->failures
           && !oc_reception_is_excused(group);
}

void oc_backoff_lost(oc_cast_group_t *group, uint32_t owner, uint32_t end)
{
    oc_cast_operation_t *operation = group->active;
    const oc_block_t *block = &operation->blocks[owner];

    if (!counts(group, block) || block->start + end <= operation->chains[block->chain].forgiven) {
        return;
    }
    group->backoff *= BETA;
    group->backoff = group->backoff > LEAST_PART ? group->backoff : LEAST_PART;
    for (uint32_t k = 0; k < operation->num_chains; k++) {
        oc_chain_t *chain = &operation->chains[k];

        chain->forgiven = chain->position + 2 * (uint64_t) operation->ahead;
    }
}

void oc_backoff_moved(oc_cast_group_t *group)
{
    oc_cast_operation_t *operation = group->active;
    uint64_t moved = operation->sent + operation->received;
    double most = operation->most;

    if (operation->holds_back && moved > operation->looked) {
        learn_rate(group);
        group->backoff += STEP * (double) (moved - operation->looked)
                          / (most * most * full_part(group) * used_part(group));
        group->backoff = group->backoff < 1 ? group->backoff : 1;
    }
    operation->looked = moved;
}

uint32_t oc_backoff_batch(const oc_cast_group_t *group)
{
    uint32_t part = oc_backoff_ahead(group) / BATCHES;

    if (!group->active->holds_back || !is_smaller(group) || part >= OC_MAX_BATCH) {
        return OC_MAX_BATCH;
    }
    return part; /* not 0: LEAST_AHEAD is more than BATCHES */
}

uint32_t oc_backoff_ahead(const oc_cast_group_t *group)
{
    const oc_cast_operation_t *operation = group->active;
    uint32_t ahead = (uint32_t) (operation->ahead * used_part(group));

    if (!operation->holds_back) {
        return operation->ahead;
    }
    return ahead > LEAST_AHEAD ? ahead : LEAST_AHEAD;
}
