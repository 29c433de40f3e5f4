/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Which group may do what follows from the numbers of their operations. One that has a lower number waits for none
 * with a higher one, so no ranks wait for each other in a circle.
 *
 *   - An operation begins on a rank when, as far as this rank knows, all that came before it has been sent once: so
 *     it takes nothing from those. What is repaired goes on beside it. That holds where both are of those in which all
 *     ranks send at once and keep in step with what they receive. Where few send, these are ahead of ranks that have
 *     fallen behind, whose queues are full, and without multicast all is repaired: there it waits for the end of the
 *     ones before.
 *   - A blocking one is not announced before the ones before are over on this rank. So when it is over on all ranks,
 *     there are no others, and they can do without the groups from then on (oc_cast_group_is_closed).
 *
 * They are groups with a token of their own each: generations, codes, requests and trees are theirs. What one has
 * learnt of the network the other one goes on with. A failure is told by the group that finds it.
 */
#include "multicast/core/alternate.h"

#include "multicast/core/cast_types.h"
#include "multicast/core/fail.h"
#include "multicast/core/unicast.h"

#define NO_NUMBER UINT64_MAX

oc_status_t oc_alternate_start(oc_alternate_t *alternate, const oc_cast_args_t *args, uint64_t now,
                               unsigned *which)
{
    oc_cast_args_t numbered = *args;

    for (unsigned i = 0; i < 2; i++) {
        if (OC_OK != alternate->groups[i]->status) {
            return alternate->groups[i]->status;
        }
    }
    *which = args->blocking ? 0 : 1 - alternate->last;
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
           || (operation->together && !group->unicast && 0 == operation->coming
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

/* What the other one has found out about the network since this one was used. */
static void take_over(oc_cast_group_t *group, const oc_cast_group_t *other)
{
    if (other->begun <= group->begun) {
        return;
    }
    group->backoff = other->backoff;
    group->rate = other->rate;
    group->reorder = other->reorder;
    group->stalling = other->stalling;
    group->patience = other->patience;
    group->silent = other->silent;
    group->round_trip = other->round_trip;
}

static bool is_about_to_begin(const oc_cast_group_t *group)
{
    const oc_cast_operation_t *operation = current(group);

    return NULL != operation && OC_CAST_RUNNING > operation->state;
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

        if (is_about_to_begin(group)) {
            take_over(group, alternate->groups[1 - i]);
        }
        group->may = what_it_may(group, alternate->groups[1 - i]);
        freed |= (unsigned) (group->may < before) << i;
    }
    return freed;
}
