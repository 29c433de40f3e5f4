/* SPDX-License-Identifier: BSD-3-Clause */
/* The groups of an aggregator: their members, when these may begin, and their ends. */
#include "server/aggregator/server_groups.h"

#include <stdlib.h>
#include <utlist.h>

#include "base/check.h"
#include "server/aggregator/above.h"
#include "server/aggregator/budget.h"
#include "server/aggregator/chunks.h"
#include "server/aggregator/early.h"
#include "server/aggregator/server_group.h"
#include "server/aggregator/outlets.h"
#include "server/aggregator/server_peers.h"
#include "server/aggregator/ready.h"
#include "server/aggregator/server_reduction.h"
#include "server/aggregator/reserve.h"

static void members_free(oc_server_group_t *group)
{
    for (uint32_t rank = 0; NULL != group->members && rank < group->num_ranks; rank++) {
        oc_server_peer_t *peer = group->members[rank].peer;

        if (NULL != peer) {
            oc_server_peer_leave(peer);
        }
    }
    free(group->members);
}

static void server_groups_group_free(oc_server_group_t *group)
{
    assert(0 == group->references && NULL == group->early);
    oc_reductions_free(group);
    assert(NULL == group->waiting && NULL == group->open && 0 == group->flying);
    oc_reserve_give(group);
    group->aggregator->num_groups--;
    free(group->above);
    members_free(group);
    free(group->sources);
    free(group);
}

_Static_assert(sizeof(oc_server_group_t) <= OC_GROUP_COST / 2,
               "a group costs more than is counted");
_Static_assert(sizeof(oc_group_member_t) + sizeof(void *) <= OC_GROUP_RANK_COST / 2,
               "a member costs more than is counted");

static oc_server_group_t *server_groups_group_new(oc_aggregator_t *aggregator,
                                                  const oc_server_member_t *member)
{
    oc_server_group_t *group = NULL != aggregator->codes ? calloc(1, sizeof(*group)) : NULL;

    if (NULL == group) {
        return NULL;
    }
    aggregator->num_groups++;
    group->aggregator = aggregator;
    group->id = member->group;
    group->handle = member->handle;
    group->num_ranks = member->num_ranks;
    group->index = member->aggregator;
    group->chunk_bytes = member->chunk_bytes;
    group->window = member->window;
    group->small_bytes = member->small_bytes;
    group->reserves = member->reserves;
    group->renewed = member->renewed;
    group->tree = member->tree;
    group->goes_up = 0 != member->leaves;
    group->end = server_groups_group_free;
    group->outlet = group->goes_up ? &oc_outlet_above : &oc_outlet_members;
    oc_reserve_take(group);
    group->members = calloc(member->num_ranks, sizeof(*group->members));
    group->sources = calloc(member->num_ranks, sizeof(*group->sources));
    if (NULL == group->members || NULL == group->sources
        || (group->goes_up && !oc_above_new(group, member->leaf))) {
        server_groups_group_free(group);
        return NULL;
    }
    HASH_ADD(hh, aggregator->groups, handle, sizeof(uint32_t), group);
    aggregator->served_groups++;
    return group;
}

void oc_server_group_join(oc_aggregator_t *aggregator, const oc_command_t *command)
{
    const oc_server_member_t *member = &command->member;
    oc_server_group_t *group;
    oc_server_peer_t *peer;

    HASH_FIND(hh, aggregator->groups, &member->handle, sizeof(uint32_t), group);
    if (NULL == group) {
        group = server_groups_group_new(aggregator, member);
    }
    if (NULL == group) {
        oc_server_peer_lost(aggregator, command->client);
        return;
    }
    peer = oc_server_peer_join(aggregator, command->client);
    /* the registry takes no rank twice: others would be served before all have come */
    assert(member->rank < group->num_ranks && !group->members[member->rank].joined);
    group->num_joined++;
    group->members[member->rank] = (oc_group_member_t) {
        .peer = peer, .reply_handle = member->reply_handle, .joined = true};
    if (group->renewed) {
        oc_ready_tell_all(group);
    } else {
        oc_ready_tell(group, member->rank);
    }
}

/* Cancels what can be canceled; the rest ends when its transfers do. */
static void abandon(oc_server_group_t *group)
{
    oc_reduction_t *reduction;

    DL_FOREACH2 (group->reductions, reduction, group_next) {
        oc_chunks_cancel(reduction);
        oc_above_cancel_reduction(reduction);
    }
    oc_above_cancel(group);
}

void oc_server_group_drop(oc_aggregator_t *aggregator, uint32_t handle)
{
    oc_server_group_t *group;

    HASH_FIND(hh, aggregator->groups, &handle, sizeof(handle), group);
    if (NULL == group) {
        return;
    }
    HASH_DEL(aggregator->groups, group);
    group->failed = true;
    group->dropped = true;
    oc_early_forget(group);
    OC_CHECK(oc_reductions_check(group));
    OC_CHECK(oc_chunks_check(group));
    oc_server_group_hold(group);
    abandon(group);
    oc_server_group_release(group);
    if (NULL == aggregator->groups) {
        oc_pool_trim(&aggregator->pool);
        oc_stock_trim(&aggregator->stock);
    }
}

void oc_server_group_above(oc_aggregator_t *aggregator, const oc_command_t *command)
{
    oc_server_group_t *group;

    oc_above_limit(aggregator, command->eager_window);
    HASH_FIND(hh, aggregator->groups, &command->handle, sizeof(uint32_t), group);
    if (NULL != group) {
        oc_above_joined(group, command->token);
    }
}
