/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Which group may do what follows from the numbers of their operations. One that has a lower number waits for none
 * with a higher one, so no ranks wait for each other in a circle.
 *
 *   - An operation begins on a rank when, as far as this rank knows, all that came before it has been sent once, but
 *     for a few fragments, which may be lost: so it takes nothing from those. What is repaired goes on beside it. That holds where both are of those in which all
 *     ranks send at once and keep in step with what they receive. Where few send, these are ahead of ranks that have
 *     fallen behind, whose queues are full, and without multicast all is repaired: there it waits for the end of the
 *     ones before.
 *   - So the first that comes of a rank's block tells that all of its block in the one before has been sent.
 *   - A blocking one is not announced before the ones before are over on this rank. So when it is over on all ranks,
 *     there are no others, and they can do without the groups from then on (oc_cast_group_is_closed).
 *
 * They are groups with a token of their own each: generations, codes, requests and trees are theirs. What one has
 * learnt of the network the other one goes on with. A failure is told by the group that finds it.
 */
#include "multicast/core/alternate.h"

#include "multicast/core/cast_types.h"
#include "multicast/core/fail.h"
#include "multicast/core/fragment.h"
#include "multicast/core/unicast.h"

#define NO_NUMBER UINT64_MAX

/*
 * Fragments at the end of blocks that need not be known to be sent: they may be lost, and only silence would tell. With
 * more, what a rank waits for would be behind them, so that it would ask for what is on its way.
 */
#define MOST_COMING 8u

void oc_alternate_init(oc_alternate_t *alternate, oc_cast_group_t *first, oc_cast_group_t *second)
{
    *alternate = (oc_alternate_t) {.groups = {first, second}, .last = 1};
    first->other = second;
    second->other = first;
}

oc_status_t oc_alternate_start(oc_alternate_t *alternate, const oc_cast_args_t *args, uint64_t now,
                               unsigned *which)
{
    oc_cast_args_t numbered = *args;

    *which = args->blocking ? 0 : 1 - alternate->last;
    for (unsigned i = 0; i < 2; i++) {
        if (OC_OK != alternate->groups[i]->status) {
            return alternate->groups[i]->status;
        }
    }
    alternate->last = *which;
    numbered.number = ++alternate->started;
    return oc_cast_start(alternate->groups[*which], &numbered, now);
}

/* The one that is active, or will be next. */
static const oc_cast_operation_t *current(const oc_cast_group_t *group)
{
    return NULL != group->active ? group->active : group->queue;
}

/* It takes nothing more from those that come after it. */
static bool has_passed(const oc_cast_group_t *group)
{
    const oc_cast_operation_t *operation = group->active;

    if (NULL == operation || OC_CAST_RUNNING > operation->state) {
        return false;
    }
    return OC_CAST_LEAVING == operation->state
           || (operation->together && !group->unicast && operation->coming <= MOST_COMING
               && operation->sent == operation->blocks[group->config.rank].fragments);
}

/* The lowest number of those that are not over; NO_NUMBER: all are. */
static uint64_t not_over(const oc_cast_group_t *group)
{
    const oc_cast_operation_t *operation = current(group);

    return NULL != operation ? operation->args.number : NO_NUMBER;
}

/* … of those that have not passed. */
static uint64_t not_passed(const oc_cast_group_t *group)
{
    if (!has_passed(group)) {
        return not_over(group);
    }
    return NULL != group->queue ? group->queue->args.number : NO_NUMBER;
}

/* Whether it keeps its ranks in step; not known before it is announced. */
static bool is_together(const oc_cast_operation_t *operation)
{
    return operation->state >= OC_CAST_ENTERING && operation->together;
}

static oc_cast_leave_t what_it_may(const oc_cast_group_t *group, const oc_cast_group_t *other)
{
    const oc_cast_operation_t *operation = current(group);
    uint64_t number;

    if (NULL == operation) {
        return OC_CAST_MAY_BEGIN;
    }
    number = operation->args.number;
    if (operation->args.blocking && not_over(other) < number) {
        return OC_CAST_MAY_WAIT;
    }
    return (is_together(operation) ? not_passed(other) : not_over(other)) < number
               ? OC_CAST_MAY_ENTER
               : OC_CAST_MAY_BEGIN;
}

/* An operation has ended, and what it has told of the network is newer than what the other group knows. */
static void teach(const oc_cast_group_t *group, oc_cast_group_t *other)
{
    bool runs = NULL != other->active && OC_CAST_RUNNING == other->active->state;

    other->rate = group->rate;
    other->reorder = group->reorder;
    other->stalling = group->stalling;
    other->patience = group->patience;
    other->silent = group->silent;
    other->round_trip = group->round_trip;
    if (!runs || group->backoff < other->backoff) {
        other->backoff = group->backoff;
    }
}

/* Of one of them, by what has become of the other one. */
static void share_fate(oc_cast_group_t *group, const oc_cast_group_t *other)
{
    if (OC_OK != other->status) {
        oc_cast_group_follow(group, other);
    } else if (other->unicast) {
        oc_unicast_adopt(group, other->unheard, other->unreached);
    }
}

unsigned oc_alternate_settle(oc_alternate_t *alternate)
{
    unsigned freed = 0;

    for (unsigned i = 0; i < 2; i++) {
        share_fate(alternate->groups[i], alternate->groups[1 - i]);
    }
    for (unsigned i = 0; i < 2; i++) {
        oc_cast_group_t *group = alternate->groups[i];
        oc_cast_leave_t before = group->may;

        if (group->ended) {
            teach(group, alternate->groups[1 - i]);
            group->ended = false;
        }
        group->may = what_it_may(group, alternate->groups[1 - i]);
        freed |= (unsigned) (group->may < before || group->has_news) << i;
        group->has_news = false;
    }
    return freed;
}

/* It has sent all of what came before: if the end of that is not here, nothing else might tell for a while. */
void oc_alternate_heard(oc_cast_group_t *group, uint32_t rank, uint64_t now)
{
    oc_cast_group_t *other = group->other;
    oc_cast_operation_t *before = NULL == other ? NULL : other->active;
    oc_block_t *block;

    if (NULL == before || OC_CAST_RUNNING != before->state
        || before->args.number > group->active->args.number) {
        return;
    }
    block = &before->blocks[rank];
    if (block->high < block->fragments) {
        block->patience = 0;
        oc_fragment_sent(other, rank, block->fragments, now);
        other->has_news = true;
    }
}
