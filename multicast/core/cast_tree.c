/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A tree over the ranks carries "all have entered" and "all have everything". What neighbours say
 * is kept as the last generation of which they said it, so order and repetition do not matter.
 */
#include "multicast/core/cast_tree.h"

#include <assert.h>

#include "multicast/core/operation.h"
#include "multicast/core/post.h"

/* Silence before the first PING of an operation; each further one comes after twice as much. */
#define FIRST_PING OC_SECOND
#define LAST_PING  (64 * OC_SECOND)

unsigned oc_cast_neighbours(uint32_t num_ranks, uint32_t rank,
                            uint32_t neighbours[OC_CAST_NEIGHBOURS])
{
    unsigned count = 0;

    for (uint64_t i = 1; i <= OC_CAST_RADIX; i++) {
        uint64_t child = (uint64_t) rank * OC_CAST_RADIX + i;

        if (child < num_ranks) {
            neighbours[count++] = (uint32_t) child;
        }
    }
    if (rank > 0) {
        neighbours[count++] = (rank - 1) / OC_CAST_RADIX;
    }
    assert(count <= OC_CAST_NEIGHBOURS);
    return count;
}

void oc_tree_begin(oc_cast_group_t *group)
{
    uint32_t rank = group->config.rank, neighbours[OC_CAST_NEIGHBOURS];

    group->num_neighbours = oc_cast_neighbours(group->config.num_ranks, rank, neighbours);
    group->num_children = group->num_neighbours - (rank > 0);
    for (uint32_t i = 0; i < group->num_neighbours; i++) {
        group->neighbours[i].rank = neighbours[i];
    }
}

static oc_neighbour_t *cast_tree_find(oc_cast_group_t *group, uint32_t rank)
{
    for (uint32_t i = 0; i < group->num_neighbours; i++) {
        if (group->neighbours[i].rank == rank) {
            return &group->neighbours[i];
        }
    }
    return NULL;
}

static bool cast_tree_is_root(const oc_cast_group_t *group)
{
    return 0 == group->config.rank;
}

static void tell_children(oc_cast_group_t *group, oc_cast_kind_t kind)
{
    for (uint32_t i = 0; i < group->num_children; i++) {
        oc_cast_post_plain(group, group->neighbours[i].rank, kind);
    }
}

static void tell_parent(oc_cast_group_t *group, oc_cast_kind_t kind)
{
    assert(!cast_tree_is_root(group) && group->num_children < group->num_neighbours);
    oc_cast_post_plain(group, group->neighbours[group->num_children].rank, kind);
}

static void release_children(oc_cast_group_t *group)
{
    for (uint32_t i = 0; i < group->num_children; i++) {
        oc_cast_message_t message = {.kind = OC_CAST_LEAVE, .closes = group->closed,
                                     .generation = group->active->generation};

        oc_cast_post(group, group->neighbours[i].rank, &message);
    }
}

static bool children_entered(const oc_cast_group_t *group, uint32_t generation)
{
    for (uint32_t i = 0; i < group->num_children; i++) {
        if (!oc_cast_reached(group->neighbours[i].entered, generation)) {
            return false;
        }
    }
    return true;
}

static bool children_done(const oc_cast_group_t *group, uint32_t generation)
{
    for (uint32_t i = 0; i < group->num_children; i++) {
        if (!oc_cast_reached(group->neighbours[i].done, generation)) {
            return false;
        }
    }
    return true;
}

static void advance_entering(oc_cast_group_t *group, uint64_t now)
{
    oc_cast_operation_t *operation = group->active;

    if (!operation->reported && children_entered(group, operation->generation)) {
        operation->reported = true;
        if (cast_tree_is_root(group)) {
            group->go = operation->generation;
        } else {
            tell_parent(group, OC_CAST_ENTER);
        }
    }
    if (operation->reported && !operation->let_go
        && oc_cast_reached(group->go, operation->generation)) {
        operation->let_go = true;
        tell_children(group, OC_CAST_GO);
    }
    if (operation->let_go && OC_CAST_MAY_BEGIN == group->may) {
        oc_operation_begin(group, now);
        oc_tree_listen(group, now);
    }
}

static void advance_running(oc_cast_group_t *group)
{
    oc_cast_operation_t *operation = group->active;

    if (!operation->done_reported && oc_operation_done(group)
        && children_done(group, operation->generation)) {
        operation->done_reported = true;
        if (cast_tree_is_root(group)) {
            group->leave = operation->generation;
            /* nobody has begun another one, so all go on in the same way after this one */
            group->closed = group->unicast && operation->args.blocking;
        } else {
            tell_parent(group, OC_CAST_DONE);
        }
    }
    if (operation->done_reported && oc_cast_reached(group->leave, operation->generation)) {
        release_children(group);
        operation->state = OC_CAST_LEAVING;
    }
}

void oc_tree_advance(oc_cast_group_t *group, uint64_t now)
{
    if (NULL != group->active && OC_CAST_ENTERING == group->active->state) {
        advance_entering(group, now);
    }
    if (NULL != group->active && OC_CAST_RUNNING == group->active->state) {
        advance_running(group);
    }
}

/* Later than what was known, and not from the far future: that would be no generation at all. */
static void raise(uint32_t *known, uint32_t generation, const oc_cast_group_t *group)
{
    if (oc_cast_reached(generation, *known)
        && oc_cast_reached(group->generation + 1, generation)) {
        *known = generation;
    }
}

void oc_tree_message(oc_cast_group_t *group, const oc_cast_message_t *message, uint64_t now)
{
    oc_neighbour_t *from = cast_tree_find(group, message->rank);
    bool is_child = NULL != from && from < group->neighbours + group->num_children;
    bool is_parent = NULL != from && !is_child;

    if (OC_CAST_ENTER == message->kind && is_child) {
        raise(&from->entered, message->generation, group);
    } else if (OC_CAST_DONE == message->kind && is_child) {
        raise(&from->done, message->generation, group);
    } else if (OC_CAST_GO == message->kind && is_parent) {
        raise(&group->go, message->generation, group);
    } else if (OC_CAST_LEAVE == message->kind && is_parent) {
        raise(&group->leave, message->generation, group);
        group->closed = group->closed || message->closes;
    }
    oc_tree_advance(group, now);
}

void oc_tree_heard(oc_cast_group_t *group, uint32_t rank, uint64_t now)
{
    oc_neighbour_t *neighbour = cast_tree_find(group, rank);

    if (NULL != neighbour) {
        neighbour->ping_at = now + neighbour->patience;
    }
}

void oc_tree_listen(oc_cast_group_t *group, uint64_t now)
{
    for (uint32_t i = 0; i < group->num_neighbours; i++) {
        group->neighbours[i].patience = FIRST_PING;
        group->neighbours[i].ping_at = now + FIRST_PING;
    }
}

/*
 * Before all have entered, a rank waits for children that have not, and they for theirs: somebody
 * sees to each that is late, but to the root.
 */
static bool is_awaited(const oc_cast_group_t *group, const oc_neighbour_t *neighbour)
{
    const oc_cast_operation_t *operation = group->active;

    if (OC_CAST_ENTERING != operation->state) {
        return OC_CAST_RUNNING == operation->state;
    }
    return 0 == neighbour->rank
           || (neighbour < group->neighbours + group->num_children
               && !oc_cast_reached(neighbour->entered, operation->generation));
}

/*
 * A rank that says nothing may be stopped by a debugger, or swapped out, or compute: it is waited
 * for, as MPI does. That it is dead is known where its connection breaks. PINGs are there to be
 * lost with a host that has vanished, without which nobody might send it anything; ever fewer,
 * because who stands still keeps them all. In a nonblocking operation a rank may compute for an
 * hour, and nothing is missed.
 */
uint64_t oc_tree_watch(oc_cast_group_t *group, uint64_t now)
{
    uint64_t due = UINT64_MAX;

    if (NULL == group->active || !group->active->args.blocking) {
        return due;
    }
    for (uint32_t i = 0; i < group->num_neighbours; i++) {
        oc_neighbour_t *neighbour = &group->neighbours[i];

        if (!is_awaited(group, neighbour)) {
            continue;
        }
        if (now >= neighbour->ping_at) {
            neighbour->patience = neighbour->patience < LAST_PING ? 2 * neighbour->patience
                                                                  : LAST_PING;
            neighbour->ping_at = now + neighbour->patience;
            oc_cast_post_plain(group, neighbour->rank, OC_CAST_PING);
        }
        due = neighbour->ping_at < due ? neighbour->ping_at : due;
    }
    return due;
}
