/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Messages of large collectives have no header, and so no code: a receive takes whatever has its
 * tag. But if it took another message, the true one is left over. UCX matches what an endpoint
 * sends in the order in which it was sent: when a rank's ACK is here, which nobody can forge, so
 * are all its contributions, or their announcements. One that no receive has taken then means that
 * something else was taken for it, and the rank does not get its COMMIT.
 *
 * An announced message that nobody takes, or one that was announced and never comes, keeps a rank
 * from its ACK. So what does not go on is looked through now and then for messages that should have
 * been taken at once.
 */
#include "server/aggregator/server_leftovers.h"

#include <stdio.h>
#include <utlist.h>

#include "protocol/tag.h"
#include "server/aggregator/early.h"
#include "server/aggregator/server_group.h"

/* How many tags a sweep looks for: some milliseconds at most. */
#define SWEEP 65536u

/* How often in a row a sweep may find that requests wait and none is done. */
#define PATIENCE 3u

/*
 * A rank is less than a window ahead of what is admitted, so chunks with these numbers behind that
 * have the slots to themselves.
 */
#define REACH (OC_TAG_SLOTS - OC_MAX_WINDOW)

static bool holds(const oc_reduction_t *reduction, oc_kind_t kind, uint32_t rank, uint32_t number)
{
    const oc_server_group_t *group = reduction->group;
    uint64_t tag = oc_tag(kind, group->handle, rank, reduction->sequence, number);

    return oc_early_has(group, tag)
           || oc_worker_holds(group->aggregator->worker, tag, OC_TAG_EXACT);
}

static void fail_member(oc_reduction_t *reduction, uint32_t rank)
{
    oc_server_group_t *group = reduction->group;
    char name[OC_MEMBER_NAME_SIZE];

    oc_server_group_failed(group, OC_ERR_INVALID, "a message in the name of %s was forged or "
                           "duplicated (collective %llu, handle %u): the result of this "
                           "operation cannot be trusted",
                           oc_server_group_member_name(group, rank, name),
                           (unsigned long long) reduction->sequence, group->handle);
}

static void fail_above(oc_reduction_t *reduction)
{
    oc_server_group_failed(reduction->group, OC_ERR_INVALID, "a message in the name of the "
                           "parent server was forged or duplicated (collective %llu, handle "
                           "%u): the result of this operation cannot be trusted",
                           (unsigned long long) reduction->sequence,
                           reduction->group->handle);
}

static uint32_t slots_of(const oc_reduction_t *reduction)
{
    uint32_t chunks = reduction->header.chunks;

    return chunks < OC_TAG_SLOTS ? chunks : OC_TAG_SLOTS;
}

bool oc_server_leftovers_none_of(oc_reduction_t *reduction, uint32_t rank)
{
    for (uint32_t slot = 0; slot < slots_of(reduction); slot++) {
        if (holds(reduction, OC_KIND_CONTRIBUTION, rank, slot)) {
            fail_member(reduction, rank);
            return false;
        }
    }
    return true;
}

bool oc_server_leftovers_none_above(oc_reduction_t *reduction)
{
    for (uint32_t slot = 0; slot < slots_of(reduction); slot++) {
        if (holds(reduction, OC_KIND_RESULT, reduction->group->index, slot)) {
            fail_above(reduction);
            return false;
        }
    }
    return true;
}

/* ---- now and then ---- */

static bool is_large(const oc_reduction_t *reduction)
{
    return NULL == reduction->held;
}

/* Nothing has happened since the last sweep. */
static bool is_stuck(oc_reduction_t *reduction)
{
    uint64_t steps = (uint64_t) reduction->admitted + reduction->answered + reduction->finished
                     + reduction->acked;
    bool stuck = reduction->admitted > 0 && steps == reduction->swept_steps;

    reduction->swept_steps = steps;
    return stuck && !reduction->group->failed;
}

/* Of one chunk: the contributions, and on a leaf the result, whose receives are posted. */
static void sweep_chunk(oc_reduction_t *reduction, uint32_t number)
{
    const oc_server_group_t *group = reduction->group;

    for (uint32_t rank = 0; rank < group->num_ranks; rank++) {
        if (holds(reduction, OC_KIND_CONTRIBUTION, rank, number)) {
            fail_member(reduction, rank);
            return;
        }
    }
    if (NULL != group->above && holds(reduction, OC_KIND_RESULT, group->index, number)) {
        fail_above(reduction);
    }
}

/* So many of them, from where the last sweep ended, newest first. */
static void sweep_chunks(oc_reduction_t *reduction, uint32_t count)
{
    uint32_t reach = reduction->admitted < REACH ? reduction->admitted : REACH;

    for (uint32_t i = 0; i < count && i < reach && !reduction->group->failed; i++) {
        if (reduction->swept >= reach) {
            reduction->swept = 0;
        }
        sweep_chunk(reduction, reduction->admitted - 1 - reduction->swept++);
    }
}

/* On a leaf: what should have ended the receive of the parent's reply. */
static void sweep_reply(oc_reduction_t *reduction)
{
    const oc_server_group_t *group = reduction->group;

    if (reduction->down_posted && !group->failed
        && (oc_early_has(group, reduction->down_tag)
            || oc_worker_holds(group->aggregator->worker, reduction->down_tag, OC_TAG_EXACT))) {
        fail_above(reduction);
    }
}

/*
 * Requests wait for none but receives, of which there are many and each is soon posted again;
 * unless all have taken something that was announced and does not come.
 */
static void sweep_requests(oc_aggregator_t *aggregator)
{
    oc_command_t *command;
    bool stuck = aggregator->received == aggregator->swept_received
                 && oc_worker_holds(aggregator->worker, oc_tag(OC_KIND_REQUEST, 0, 0, 0, 0),
                                    OC_TAG_KIND_MASK);

    aggregator->swept_received = aggregator->received;
    aggregator->stuck = stuck ? aggregator->stuck + 1 : 0;
    if (PATIENCE != aggregator->stuck) {
        return;
    }
    command = oc_command_new(OC_COMMAND_JOB_ERROR, NULL, 0);
    if (NULL != command) {
        command->status = OC_ERR_INVALID;
        snprintf(command->text, sizeof(command->text), "%d messages with header were announced to "
                 "aggregator %u and do not come: they were forged", OC_POSTED_REQUESTS,
                 aggregator->config.index);
        oc_mailbox_post(aggregator->config.control, command);
    }
}

static unsigned long long count_stuck(oc_aggregator_t *aggregator)
{
    unsigned long long ranks = 0;
    oc_server_group_t *group, *next;
    oc_reduction_t *reduction;

    HASH_ITER (hh, aggregator->groups, group, next) {
        DL_FOREACH2 (group->reductions, reduction, group_next) {
            reduction->stuck = is_large(reduction) && is_stuck(reduction);
            ranks += reduction->stuck ? group->num_ranks : 0;
        }
    }
    return ranks;
}

void oc_server_leftovers_sweep(oc_aggregator_t *aggregator)
{
    unsigned long long ranks = count_stuck(aggregator);
    uint32_t each = ranks < SWEEP ? SWEEP / (uint32_t) (ranks > 0 ? ranks : 1) : 1;
    oc_server_group_t *group, *next;
    oc_reduction_t *reduction;

    sweep_requests(aggregator);
    HASH_ITER (hh, aggregator->groups, group, next) {
        DL_FOREACH2 (group->reductions, reduction, group_next) {
            sweep_reply(reduction);
            if (reduction->stuck) {
                sweep_chunks(reduction, each);
            }
        }
    }
}
