/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What came before anybody waited for it. UCX would keep it for ever, whatever it is. So all of it
 * is taken away at once: what a group may have early is kept (early.h), and everything else is
 * dropped and counted.
 */
#include "server/aggregator/early_sweep.h"

#include "protocol/tag.h"
#include "server/aggregator/commands.h"
#include "server/aggregator/early.h"
#include "server/aggregator/server_group.h"
#include "server/aggregator/server_lookup.h"

/* As often the control side looks how much memory the process has. */
#define LOOK_EVERY ((uint64_t) 4 << 20)

/* false: the group has failed. */
static bool is_legal(oc_server_group_t *group, const oc_unexpected_t *message)
{
    char name[OC_MEMBER_NAME_SIZE] = "the parent server";

    if (!oc_early_is_from_above(message->tag)) {
        oc_server_group_member_name(group, oc_tag_rank(message->tag), name);
    }
    if (!oc_early_fits(group, message)) {
        oc_server_group_failed(group, OC_ERR_LIMIT,
                               "%s has sent more than its window of %u chunks of %u bytes "
                               "before any of them could be received", name, group->window,
                               group->chunk_bytes);
    } else if (OC_KIND_REPLY != oc_tag_kind(message->tag)
               && oc_early_has(group, message->tag)) {
        /* which of several replies is the true one, codes will tell */
        oc_server_group_failed(group, OC_ERR_INVALID, "%s sent the same chunk twice, "
                               "or one of them was forged", name);
    }
    return !group->failed;
}

static void early_sweep_keep(oc_server_group_t *group, const oc_unexpected_t *message)
{
    if (!oc_early_keep(group, message)) {
        oc_server_group_failed(group, OC_ERR_NO_MEMORY, "the server is out of memory");
        oc_early_drop(group->aggregator, message);
    }
}

static void tell_cost(oc_aggregator_t *aggregator)
{
    oc_command_t *command;

    if (aggregator->early_cost < aggregator->early_told) {
        aggregator->early_told = aggregator->early_cost;
    }
    if (aggregator->early_cost - aggregator->early_told < LOOK_EVERY) {
        return;
    }
    aggregator->early_told = aggregator->early_cost;
    command = oc_command_new(OC_COMMAND_LOOK, NULL, 0);
    if (NULL != command) {
        oc_mailbox_post(aggregator->config.control, command);
    }
}

/* The group that goes on to the server above which may have sent that; NULL: none. */
static oc_server_group_t *find_above(oc_aggregator_t *aggregator, uint64_t tag)
{
    uint32_t handle = oc_tag_handle(tag);
    oc_server_group_t *group;

    HASH_FIND(hh, aggregator->groups, &handle, sizeof(handle), group);
    return NULL != group && NULL != group->above && oc_tag_rank(tag) == group->index ? group : NULL;
}

static void sort(oc_aggregator_t *aggregator, const oc_unexpected_t *message)
{
    oc_server_group_t *group = NULL;

    if (OC_KIND_RESULT == oc_tag_kind(message->tag)
        || OC_KIND_REPLY == oc_tag_kind(message->tag)) {
        group = find_above(aggregator, message->tag);
    }
    if (OC_KIND_CONTRIBUTION == oc_tag_kind(message->tag)) {
        group = oc_server_group_find(aggregator, oc_tag_handle(message->tag),
                                     oc_tag_rank(message->tag));
    }
    if (NULL == group || group->failed || !is_legal(group, message)) {
        oc_early_drop(aggregator, message);
    } else {
        early_sweep_keep(group, message);
    }
}

/* All kinds but REQUEST, by the bits that they have: the first one has none. */
static const uint64_t not_requests[][2] = {
    {0, OC_TAG_KIND_MASK},
    {UINT64_C(2) << OC_TAG_KIND_SHIFT, UINT64_C(2) << OC_TAG_KIND_SHIFT},
    {UINT64_C(4) << OC_TAG_KIND_SHIFT, UINT64_C(4) << OC_TAG_KIND_SHIFT},
    {UINT64_C(8) << OC_TAG_KIND_SHIFT, UINT64_C(8) << OC_TAG_KIND_SHIFT},
};

/*
 * Requests are left where they are: receives for them are posted all the time, and one that finds
 * none for long shows that something is wrong (server_leftovers.c).
 */
static bool early_sweep_take_next(oc_aggregator_t *aggregator, oc_unexpected_t *message)
{
    if (!oc_unexpected_look(aggregator->worker, message)) {
        return false;
    }
    /*
     * On a leaf, READY of the server above may be here before the command that makes the group, and
     * with it the receive.
     */
    if (OC_KIND_CONTRIBUTION != oc_tag_kind(message->tag)) {
        oc_commands_carry_out(aggregator);
    }
    for (size_t i = 0; i < sizeof(not_requests) / sizeof(not_requests[0]); i++) {
        if (oc_unexpected_take(aggregator->worker, not_requests[i][0], not_requests[i][1],
                               message)) {
            return true;
        }
    }
    return false;
}

bool oc_early_sweep(oc_aggregator_t *aggregator)
{
    oc_unexpected_t message;
    bool found = false;

    while (!aggregator->stop && early_sweep_take_next(aggregator, &message)) {
        sort(aggregator, &message);
        tell_cost(aggregator);
        found = true;
    }
    return found;
}
