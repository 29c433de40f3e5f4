/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Collectives in the node shape. Each chunk is a step of the stream that the ranks of a host go
 * through together (node/ring.h): all give it, its owner reduces what they gave by rank and
 * sends that for the host, the result comes to the owner's place, and all take it from there. A
 * small vector is one step.
 *
 * A COMMIT says that the owners of a team have its results, on all hosts. Whoever returns from a
 * large vector must know that of all teams, so it waits until all ranks of its host have their
 * COMMITs: each tells how many of the group's collectives, in their order, it needs none for any
 * more.
 */
#include "client/collective/node.h"

#include <assert.h>
#include <utlist.h>

#include "base/text.h"
#include "client/collective/collective.h"
#include "client/collective/small.h"
#include "client/collective/step_data.h"
#include "client/state/collapse.h"

/* NULL: no collective that has begun here has this step. */
static oc_allreduce_t *node_find(const oc_group_t *group, uint64_t step)
{
    oc_collective_t *running;

    DL_FOREACH (group->running, running) {
        oc_allreduce_t *allreduce = oc_allreduce_of(running);

        if (allreduce->steps.hold && step - allreduce->steps.first < allreduce->steps.count) {
            return allreduce;
        }
    }
    return NULL;
}

/* What the ranks of a host have to agree about, beside the servers' own checks. */
static uint64_t what_of(const oc_allreduce_t *allreduce, uint32_t step)
{
    const oc_allreduce_args_t *args = &allreduce->args;
    uint64_t numbers[] = {allreduce->sequence, args->op, args->type, args->count, step, args->to,
                          OC_RESULT_TO_ROOT == args->to ? args->root : 0,
                          oc_step_piece(allreduce, step).offset};

    return oc_hash(OC_HASH_START, numbers, sizeof(numbers));
}

static bool give_next(oc_group_t *group)
{
    oc_node_t *node = group->node;
    uint64_t at = oc_ring_given(node->ring);
    oc_allreduce_t *allreduce = node_find(group, at);
    uint32_t step, owner;
    oc_step_piece_t piece;

    if (NULL == allreduce || !oc_ring_has_room(node->ring)) {
        return false;
    }
    step = (uint32_t) (at - allreduce->steps.first);
    owner = oc_step_owner(allreduce, step);
    if (owner != node->self) {
        piece = oc_step_piece(allreduce, step);
        if (!oc_step_copy_in(allreduce, oc_step_place(allreduce, node->self, step), step)) {
            return true;
        }
        group->client->config.counters->bytes_node += oc_step_bytes(allreduce, &piece);
    }
    oc_ring_give(node->ring, what_of(allreduce, step), owner);
    return true;
}

static bool has_gathered(oc_group_t *group, uint64_t at)
{
    uint32_t member = 0;

    switch (oc_ring_has_gathered(group->node->ring, at, &member)) {
    case OC_OK:
        return true;
    case OC_IN_PROGRESS:
        return false;
    default:
        oc_client_collapse(group->client, OC_ERR_MISMATCH,
                           "ranks disagree about a collective: rank %u does something else than "
                           "rank %u", group->node->ranks[member], group->params.rank);
        return false;
    }
}

static bool node_send_next(oc_group_t *group)
{
    oc_node_t *node = group->node;
    oc_allreduce_t *allreduce;
    uint32_t step;

    if (node->handled == oc_ring_given(node->ring)) {
        return false;
    }
    allreduce = node_find(group, node->handled);
    step = (uint32_t) (node->handled - allreduce->steps.first);
    if (oc_step_owner(allreduce, step) == node->self) {
        if (!has_gathered(group, node->handled)
            || !allreduce->algorithm->may_send(allreduce, step)) {
            return false;
        }
        allreduce->algorithm->send(allreduce, step);
    }
    node->handled++;
    return true;
}

static void node_let_go(oc_allreduce_t *allreduce)
{
    assert(allreduce->steps.hold && allreduce->waiting > 0
           && allreduce->base.group->node->holding > 0);
    allreduce->steps.hold = false;
    allreduce->base.group->node->holding--;
    if (0 == --allreduce->waiting) {
        oc_collective_finish(&allreduce->base, allreduce->base.status);
    }
}

static const void *result_of(const oc_allreduce_t *allreduce, uint32_t owner, uint32_t step)
{
    return oc_step_is_direct(allreduce) ? oc_step_result(allreduce, step) : oc_step_place(allreduce, owner, step);
}

/* What others may want of this rank when a server is lost. */
static void note_taken(oc_allreduce_t *allreduce, uint32_t owner, uint32_t step)
{
    if (!allreduce->algorithm->settles) {
        oc_small_keep(allreduce, result_of(allreduce, owner, step));
    } else {
        oc_step_account(allreduce, step);
    }
}

static bool node_take_next(oc_group_t *group)
{
    oc_node_t *node = group->node;
    uint64_t at = oc_ring_taken(node->ring);
    oc_allreduce_t *allreduce;
    uint32_t step, owner;
    oc_step_piece_t piece;

    if (at == node->handled) {
        return false;
    }
    allreduce = node_find(group, at);
    step = (uint32_t) (at - allreduce->steps.first);
    owner = oc_step_owner(allreduce, step);
    if (!oc_ring_is_published(node->ring, owner, at)) {
        return false;
    }
    piece = oc_step_piece(allreduce, step);
    if (!oc_step_is_direct(allreduce) && piece.wanted) {
        oc_step_copy_out(allreduce, oc_step_place(allreduce, owner, step), &piece);
        if (owner != node->self) {
            group->client->config.counters->bytes_node += oc_step_bytes(allreduce, &piece);
        }
    }
    note_taken(allreduce, owner, step);
    oc_ring_take(node->ring, owner);
    if (step + 1 == allreduce->steps.count) {
        if (allreduce->algorithm->settles) {
            node->settling++;
        } else {
            node_let_go(allreduce);
        }
    }
    return true;
}

/* NULL: none is left. The end of one may end others. */
static oc_allreduce_t *find_settled(const oc_group_t *group, uint64_t committed)
{
    oc_collective_t *running;

    DL_FOREACH (group->running, running) {
        oc_allreduce_t *allreduce = oc_allreduce_of(running);

        if (allreduce->steps.hold && allreduce->sequence < committed
            && allreduce->steps.first + allreduce->steps.count <= oc_ring_taken(group->node->ring)) {
            return allreduce;
        }
    }
    return NULL;
}

/* Large ones that have all results end when all ranks of the host have committed them. */
static bool node_settle(oc_group_t *group)
{
    oc_node_t *node = group->node;
    unsigned before = node->settling;
    oc_allreduce_t *allreduce;
    uint64_t committed;

    if (0 == before) {
        return false;
    }
    committed = oc_ring_committed(node->ring);
    while (NULL != (allreduce = find_settled(group, committed))) {
        node->settling--;
        node_let_go(allreduce);
    }
    return node->settling < before;
}

static void look_for_failure(oc_group_t *group)
{
    char text[OC_RING_TEXT_SIZE];
    uint32_t member;

    if (!oc_ring_has_failed(group->node->ring, &member, text)) {
        return;
    }
    if (OC_PARTING_NOT != group->parting) {
        group->parting = OC_PARTING_ALONE;
    } else {
        oc_client_collapse(group->client, OC_ERR_UNREACHABLE, "%s", text);
    }
}

/* Rings that nobody hears would use up what those who ring have to send with. */
static void disarm(oc_group_t *group)
{
    group->node->armed = false;
    oc_ring_disarm(group->node->ring);
    if (NULL == group->client->nodes && NULL == group->client->relays) {
        (void) oc_doorbell_listen(group->client->bell);
    }
}

static void leave_list(oc_group_t *group)
{
    if (group->node->active) {
        group->node->active = false;
        DL_DELETE2(group->client->nodes, group, node_prev, node_next);
    }
    if (group->node->armed) {
        disarm(group);
    }
}

/* One of each: what the network brings is looked at in between. */
static bool progress(oc_group_t *group)
{
    oc_node_t *node = group->node;
    bool given, sent, taken, settled;

    look_for_failure(group);
    if (OC_OK != group->client->collapse) {
        return true;
    }
    given = give_next(group);
    sent = node_send_next(group);
    taken = node_take_next(group);
    settled = node_settle(group);
    if (0 == node->holding) {
        leave_list(group);
    }
    return given || sent || taken || settled;
}

bool oc_client_nodes_progress(oc_client_t *client)
{
    oc_group_t *group, *next;
    bool moved = false;

    DL_FOREACH_SAFE2 (client->nodes, group, next, node_next) {
        moved = progress(group) || moved;
    }
    return moved;
}

void oc_client_nodes_arm(oc_client_t *client)
{
    oc_group_t *group;

    DL_FOREACH2 (client->nodes, group, node_next) {
        group->node->armed = true;
        oc_ring_arm(group->node->ring);
    }
}

/* ---- from one epoch to the next ---- */

void oc_node_stop(oc_group_t *group)
{
    oc_node_t *node = group->node;
    oc_collective_t *running;

    DL_FOREACH (group->running, running) {
        oc_steps_t *steps = &oc_allreduce_of(running)->steps;

        steps->stopped = steps->stopped || steps->hold;
        steps->hold = false;
    }
    node->holding = node->settling = 0;
    node->left = false;
    leave_list(group);
    oc_ring_stop(node->ring, oc_lost_epoch(&group->client->lost));
}

/* Results that owners have published; what is small, those who have it give. */
static void take_stopped(oc_allreduce_t *allreduce)
{
    const oc_node_t *node = allreduce->base.group->node;
    uint64_t given = oc_ring_given(node->ring);

    for (uint32_t step = 0; step < allreduce->steps.count; step++) {
        uint64_t at = allreduce->steps.first + step;
        uint32_t owner = oc_step_owner(allreduce, step);
        oc_step_piece_t piece;

        if (at < oc_ring_taken(node->ring) || at >= given || !oc_ring_is_published(node->ring, owner, at)) {
            continue;
        }
        piece = oc_step_piece(allreduce, step);
        if (!oc_step_is_direct(allreduce) && piece.wanted) {
            oc_step_copy_out(allreduce, oc_step_place(allreduce, owner, step), &piece);
        }
        oc_step_account(allreduce, step);
    }
}

static void leave_epoch(oc_group_t *group)
{
    oc_node_t *node = group->node;
    oc_collective_t *running;

    DL_FOREACH (group->running, running) {
        oc_allreduce_t *allreduce = oc_allreduce_of(running);

        if (allreduce->steps.stopped && allreduce->algorithm->settles) {
            take_stopped(allreduce);
        }
        allreduce->steps.stopped = false;
    }
    node->left = true;
    oc_ring_leave(node->ring, oc_lost_epoch(&group->client->lost));
}

bool oc_node_restart(oc_group_t *group)
{
    oc_node_t *node = group->node;
    uint64_t epoch = oc_lost_epoch(&group->client->lost);

    if (NULL == node) {
        return true;
    }
    look_for_failure(group);
    if (!node->left && oc_ring_have_stopped(node->ring, epoch)) {
        leave_epoch(group);
    }
    if (!node->left || !oc_ring_restart(node->ring, epoch)) {
        return false;
    }
    node->planned = node->handled = oc_ring_given(node->ring);
    node->begun = 0;
    return true;
}

/* NULL: none does. The end of one may end others. */
static oc_allreduce_t *find_holding(const oc_group_t *group)
{
    oc_collective_t *running;

    DL_FOREACH (group->running, running) {
        if (oc_allreduce_of(running)->steps.hold) {
            return oc_allreduce_of(running);
        }
    }
    return NULL;
}

void oc_node_fail(oc_group_t *group, const char *reason)
{
    oc_allreduce_t *allreduce;

    if (NULL == group->node || NULL == group->node->ring) {
        return;
    }
    oc_ring_fail(group->node->ring, reason);
    leave_list(group);
    while (NULL != (allreduce = find_holding(group))) {
        node_let_go(allreduce);
    }
}
