/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The time in which fragments come is the sum of that between arrivals. While all wait for somebody who computes
 * nothing comes, which does not make a network slow: of each wait only a little counts. Nor does what a rank
 * itself sends tell anything where others only send when it does not, as a kernel takes a lot of it at once; who
 * gets nothing at all learns from what it may send later, when others say how far they are. What has waited for a
 * rank that was away comes at once, on any network: that makes none fast.
 *
 * Queues are another matter: where all are full little comes, and what nobody hears may be in one. So for these
 * it is all the time that an operation takes.
 */
#include "multicast/core/pace.h"

#include "multicast/core/reception.h"

/* Until something is known. */
#define FIRST_REORDER  OC_CAST_MAX_REORDER
#define FIRST_PATIENCE (2 * OC_MILLISECOND)
#define MAX_PATIENCE   (2 * OC_SECOND)

/* Longer than between pieces of 16 KiB on all but very slow links. */
#define MOST_OF_A_WAIT (2 * OC_MILLISECOND)
#define LEAST_CAST     8u /* fragments that tell for how long queues may be full */
#define MAX_LOOK       OC_MILLISECOND /* on slow links only few fragments come in that */
#define MAX_DRY_LOOK   (OC_MILLISECOND / 2)
/* Operations that are over before a look do not tell more. */
#define QUICK_REORDER  (OC_MILLISECOND / 2)
#define QUICK_STALLING (2 * OC_MILLISECOND)

void oc_pace_begin(oc_cast_group_t *group)
{
    group->reorder = group->stalling = FIRST_REORDER;
    group->patience = FIRST_PATIENCE;
}

void oc_pace_restart(oc_cast_operation_t *operation, uint64_t now)
{
    operation->pace = (oc_pace_t) {.last = now};
}

static void count_pace(oc_pace_t *pace, uint32_t fragments, uint64_t now)
{
    uint64_t wait = now - pace->last;

    pace->time += wait < MOST_OF_A_WAIT ? wait : MOST_OF_A_WAIT;
    pace->fragments += fragments;
    pace->last = now;
}

void oc_pace_came(oc_cast_operation_t *operation, uint64_t now)
{
    count_pace(&operation->pace, 1, now);
}

void oc_pace_sent(oc_cast_operation_t *operation, uint32_t count, uint64_t now)
{
    if (operation->together) {
        return; /* others send all the time */
    }
    if (operation->cast_at == operation->begun && operation->sent > operation->ahead) {
        count_pace(&operation->pace, count, now);
    } else {
        operation->pace.last = now;
    }
}

static bool tells(const oc_cast_group_t *group, uint64_t fragments, uint64_t least)
{
    return fragments >= least && !oc_reception_is_dry(group, group->config.num_ranks);
}

/* In which OC_CAST_REORDER_FRAGMENTS come. */
static uint64_t time_of_fragments(const oc_cast_group_t *group)
{
    const oc_pace_t *pace = &group->active->pace;

    return OC_CAST_REORDER_FRAGMENTS * pace->time / (pace->fragments + 1);
}

/* It began. */
static uint64_t cast_since(const oc_cast_operation_t *operation)
{
    return operation->cast - operation->early;
}

static uint64_t time_with_waits(const oc_cast_group_t *group, uint64_t now)
{
    const oc_cast_operation_t *operation = group->active;

    return OC_CAST_REORDER_FRAGMENTS * (now - operation->begun) / (cast_since(operation) + 1);
}

static uint64_t at_least(uint64_t time, uint64_t least)
{
    return time < least ? least : time;
}

static uint64_t within(uint64_t time, uint64_t least, uint64_t most)
{
    time = at_least(time, least);
    return time < most ? time : most;
}

void oc_pace_learn(oc_cast_group_t *group, uint64_t now)
{
    bool away = oc_reception_is_excused(group);

    if (tells(group, group->active->pace.fragments, OC_CAST_REORDER_FRAGMENTS)) {
        uint64_t time = at_least(time_of_fragments(group), OC_CAST_MIN_REORDER);

        group->reorder = within(time, away ? group->reorder : 0, OC_CAST_MAX_REORDER);
        /* it may wait behind others, on a slow network for long */
        group->patience = within(2 * time, away ? group->patience : 0, MAX_PATIENCE);
    }
    if (tells(group, cast_since(group->active), OC_CAST_REORDER_FRAGMENTS)) {
        group->stalling =
            within(time_with_waits(group, now), OC_CAST_MIN_REORDER, OC_CAST_MAX_REORDER);
    }
}

/*
 * A few fragments tell that a network is fast, if they do not come at once on a slow one: so patience, which is for
 * what waits behind many, is lost in steps.
 */
void oc_pace_over(oc_cast_group_t *group, uint64_t now)
{
    if (tells(group, group->active->pace.fragments, 1) && !oc_reception_is_excused(group)) {
        uint64_t time = at_least(time_of_fragments(group), QUICK_REORDER);

        group->reorder = time < group->reorder ? time : group->reorder;
        group->patience = within(2 * time, group->patience / 2, group->patience);
    }
    if (tells(group, cast_since(group->active), LEAST_CAST)) {
        group->stalling = within(time_with_waits(group, now), QUICK_STALLING, group->stalling);
    }
}

/* Who gets nothing has nothing to wait for that may have been overtaken. */
uint64_t oc_pace_interval(const oc_cast_group_t *group)
{
    uint64_t most =
        oc_reception_is_dry(group, group->config.num_ranks) ? MAX_DRY_LOOK : MAX_LOOK;

    return group->reorder < most ? group->reorder : most;
}

uint64_t oc_pace_first_look(const oc_cast_group_t *group)
{
    if (group->unicast) {
        return 0;
    }
    return oc_reception_is_dry(group, group->config.num_ranks) ? oc_pace_interval(group) : group->reorder;
}
