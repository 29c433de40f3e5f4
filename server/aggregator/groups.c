/* SPDX-License-Identifier: BSD-3-Clause */
/* The groups of an aggregator: their members, when these may begin, and their ends. */
#include "server/aggregator/groups.h"

#include <assert.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "protocol/tag.h"
#include "server/aggregator/above.h"
#include "server/aggregator/aggregator_inside.h"
#include "server/aggregator/budget.h"
#include "server/aggregator/early.h"
#include "server/aggregator/peers.h"
#include "server/aggregator/reduction.h"
#include "server/aggregator/replies.h"
#include "server/aggregator/reserve.h"

static oc_server_group_t *find_member(oc_aggregator_t *aggregator, uint32_t handle, uint32_t rank)
{
    oc_server_group_t *group;

    HASH_FIND(hh, aggregator->groups, &handle, sizeof(handle), group);
    return NULL != group && rank < group->num_ranks && group->members[rank].joined ? group : NULL;
}

oc_server_group_t *oc_aggregator_group(oc_aggregator_t *aggregator, uint32_t handle, uint32_t rank)
{
    oc_server_group_t *group = find_member(aggregator, handle, rank);

    if (NULL == group || group->num_joined < group->num_ranks) {
        /* the command was posted before any rank learnt the handle: it must be in the inbox */
        oc_aggregator_drain(aggregator);
        group = find_member(aggregator, handle, rank);
    }
    return group;
}

void oc_aggregator_group_failed(oc_server_group_t *group, oc_status_t status, const char *format,
                                ...)
{
    oc_command_t *command;
    va_list args;

    if (group->failed) {
        return;
    }
    group->failed = true;
    oc_early_forget(group);
    command = oc_command_new(OC_COMMAND_GROUP_ERROR, NULL, 0);
    if (NULL == command) {
        return;
    }
    command->handle = group->handle;
    command->status = status;
    va_start(args, format);
    vsnprintf(command->text, sizeof(command->text), format, args);
    va_end(args);
    oc_mailbox_post(group->aggregator->config.control, command);
}

const char *oc_group_member_name(const oc_server_group_t *group, uint32_t rank,
                                 char name[OC_MEMBER_NAME_SIZE])
{
    if (NULL != group->above) {
        snprintf(name, OC_MEMBER_NAME_SIZE, "member %u of leaf %u", rank, group->above->leaf);
    } else {
        snprintf(name, OC_MEMBER_NAME_SIZE, "%s %u", group->tree ? "leaf" : "rank", rank);
    }
    return name;
}

void oc_group_hold(oc_server_group_t *group)
{
    group->references++;
}

static void members_free(oc_server_group_t *group)
{
    for (uint32_t rank = 0; NULL != group->members && rank < group->num_ranks; rank++) {
        oc_peer_t *peer = group->members[rank].peer;

        if (NULL != peer) {
            oc_server_peer_leave(peer);
        }
    }
    free(group->members);
}

static void group_free(oc_server_group_t *group)
{
    oc_reductions_free(group);
    oc_reserve_give(group);
    free(group->above);
    members_free(group);
    free(group->sources);
    free(group);
}

void oc_group_release(oc_server_group_t *group)
{
    if (0 == --group->references && group->dropped) {
        group_free(group);
    }
}

_Static_assert(sizeof(oc_server_group_t) <= OC_GROUP_COST / 2,
               "a group costs more than is counted");
_Static_assert(sizeof(oc_group_member_t) + sizeof(void *) <= OC_GROUP_RANK_COST / 2,
               "a member costs more than is counted");

static oc_server_group_t *group_new(oc_aggregator_t *aggregator, const oc_member_t *member)
{
    oc_server_group_t *group = NULL != aggregator->codes ? calloc(1, sizeof(*group)) : NULL;

    if (NULL == group) {
        return NULL;
    }
    group->aggregator = aggregator;
    group->id = member->group;
    group->handle = member->handle;
    group->num_ranks = member->num_ranks;
    group->index = member->aggregator;
    group->chunk_bytes = member->chunk_bytes;
    group->window = member->window;
    group->small_bytes = member->small_bytes;
    group->reserves = member->reserves;
    group->tree = member->tree;
    group->goes_up = 0 != member->leaves;
    oc_reserve_take(group);
    group->members = calloc(member->num_ranks, sizeof(*group->members));
    group->sources = calloc(member->num_ranks, sizeof(*group->sources));
    if (NULL == group->members || NULL == group->sources
        || (group->goes_up && !oc_above_new(group, member->leaf))) {
        group_free(group);
        return NULL;
    }
    HASH_ADD(hh, aggregator->groups, handle, sizeof(uint32_t), group);
    aggregator->served_groups++;
    return group;
}

/* What goes up has to be taken there, too. */
static uint32_t chunk_offered(const oc_server_group_t *group)
{
    const oc_above_t *above = group->above;

    return NULL != above && above->chunk_bytes < group->chunk_bytes ? above->chunk_bytes
                                                                    : group->chunk_bytes;
}

/*
 * UCX connects when the first message goes. With this one that happens during the set-up, where a
 * data path that does not work still leads to the previous module.
 */
static void send_ready(oc_server_group_t *group, uint32_t rank)
{
    oc_header_t header = {.message = OC_MESSAGE_READY, .handle = group->handle,
                          .rank = group->index, .chunks = 1,
                          .chunk_bytes = chunk_offered(group)};

    group->members[rank].told = true;
    oc_aggregator_send_header(group, rank, &header, OC_READY_SLOT);
}

/* It has the reserve that it needs, and if there is a server above, that is ready too. */
static bool is_ready(const oc_server_group_t *group)
{
    return !group->owed && (NULL == group->above || (group->above->joined && group->above->ready));
}

void oc_aggregator_group_ready(oc_server_group_t *group)
{
    for (uint32_t rank = 0; is_ready(group) && rank < group->num_ranks; rank++) {
        if (group->members[rank].joined && !group->members[rank].told) {
            send_ready(group, rank);
        }
    }
}

void oc_aggregator_group_join(oc_aggregator_t *aggregator, const oc_command_t *command)
{
    const oc_member_t *member = &command->member;
    oc_server_group_t *group;
    oc_peer_t *peer;

    HASH_FIND(hh, aggregator->groups, &member->handle, sizeof(uint32_t), group);
    if (NULL == group) {
        group = group_new(aggregator, member);
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
    if (is_ready(group)) {
        send_ready(group, member->rank);
    }
}

void oc_aggregator_group_drop(oc_aggregator_t *aggregator, uint32_t handle)
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
    oc_group_hold(group);
    oc_reductions_abandon(group);
    oc_above_cancel(group);
    oc_group_release(group);
    if (NULL == aggregator->groups) {
        oc_pool_trim(&aggregator->pool);
        oc_stock_trim(&aggregator->stock);
    }
}

void oc_aggregator_group_above(oc_aggregator_t *aggregator, const oc_command_t *command)
{
    oc_server_group_t *group;

    oc_above_limit(aggregator, command->eager_window);
    HASH_FIND(hh, aggregator->groups, &command->handle, sizeof(uint32_t), group);
    if (NULL != group) {
        oc_above_joined(group, command->token);
    }
}
