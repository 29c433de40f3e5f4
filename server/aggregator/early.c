/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What came before anybody waited for it. UCX would keep it for ever, whatever it is. So all of it
 * is taken away at once: contributions of members of a group wait here until their chunk has
 * memory, on a leaf what comes in the name of the server above until its receive is posted, and
 * everything else is dropped and counted.
 *
 * A contribution stays where UCX has put it, so nothing is copied. How many a rank may have here
 * follows from its window, by which ranks go, too: one that has more does not keep to the protocol.
 */
#include "server/aggregator/early.h"

#include <utlist.h>

#include "base/log.h"
#include "protocol/tag.h"
#include "server/aggregator/aggregator_inside.h"
#include "server/aggregator/groups.h"

/* As often the control side looks how much memory the process has. */
#define LOOK_EVERY ((uint64_t) 4 << 20)

/* What UCX may need for a message beside its data. */
#define MESSAGE_COST 1024u

struct oc_early {
    oc_tagged_t tagged;
    oc_unexpected_t message;
    oc_server_group_t *group;
    struct oc_early *prev, *next;    /* of the same group */
};

static uint64_t cost_of(const oc_unexpected_t *message)
{
    return message->length + MESSAGE_COST;
}

/*
 * Of so many bytes all chunks but the last ones of vectors are of the smallest size at least, if
 * they are not cut down to whole elements.
 */
static uint64_t most_of_a_rank(const oc_server_group_t *group)
{
    uint64_t window = (uint64_t) group->window * group->chunk_bytes;

    return window + (OC_MAX_IN_FLIGHT + 2 * window / OC_MIN_CHUNK) * MESSAGE_COST;
}

/* For a leaf: in the name of the server above, and not of a member. */
static bool is_from_above(uint64_t tag)
{
    return OC_KIND_CONTRIBUTION != oc_tag_kind(tag);
}

/* What counts for those of whoever sent it. */
static uint64_t *account_of(const oc_server_group_t *group, uint64_t tag)
{
    return is_from_above(tag) ? &group->above->early : &group->members[oc_tag_rank(tag)].early;
}

/* A reply to each small collective under way, beside the results of chunks. */
static uint64_t most_of(const oc_server_group_t *group, uint64_t tag)
{
    uint64_t replies = 2 * OC_MAX_IN_FLIGHT * (OC_HEADER_SIZE + OC_MAX_SMALL + MESSAGE_COST);

    return most_of_a_rank(group) + (is_from_above(tag) ? replies : 0);
}

static oc_early_t *find(const oc_aggregator_t *aggregator, uint64_t tag)
{
    return (oc_early_t *) oc_tag_table_find(&aggregator->early, tag);
}

static void drop(oc_aggregator_t *aggregator, const oc_unexpected_t *message)
{
    aggregator->dropped++;
    aggregator->dropped_bytes += message->length;
    oc_unexpected_drop(aggregator->worker, message);
}

/* The message is the caller's. */
static void release(oc_early_t *early)
{
    oc_server_group_t *group = early->group;

    group->aggregator->early_cost -= cost_of(&early->message);
    *account_of(group, early->message.tag) -= cost_of(&early->message);
    DL_DELETE(group->early, early);
    oc_tag_table_remove(&group->aggregator->early, &early->tagged);
    oc_stock_give(&group->aggregator->stock, early, sizeof(*early));
}

/* false: the group has failed. */
static bool is_legal(oc_server_group_t *group, const oc_unexpected_t *message)
{
    char name[OC_MEMBER_NAME_SIZE] = "the parent server";

    if (!is_from_above(message->tag)) {
        oc_group_member_name(group, oc_tag_rank(message->tag), name);
    }
    if (*account_of(group, message->tag) + cost_of(message) > most_of(group, message->tag)) {
        oc_aggregator_group_failed(group, OC_ERR_LIMIT,
                                   "%s has sent more than its window of %u chunks of %u bytes "
                                   "before any of them could be received", name, group->window,
                                   group->chunk_bytes);
    } else if (OC_KIND_REPLY != oc_tag_kind(message->tag)
               && NULL != find(group->aggregator, message->tag)) {
        /* which of several replies is the true one, codes will tell */
        oc_aggregator_group_failed(group, OC_ERR_INVALID, "%s sent the same chunk twice, "
                                   "or one of them was forged", name);
    }
    return !group->failed;
}

static void keep(oc_server_group_t *group, const oc_unexpected_t *message)
{
    oc_aggregator_t *aggregator = group->aggregator;
    oc_early_t *early = oc_stock_take(&aggregator->stock, sizeof(*early));

    if (NULL == early) {
        oc_aggregator_group_failed(group, OC_ERR_NO_MEMORY, "the server is out of memory");
        drop(aggregator, message);
        return;
    }
    *early = (oc_early_t) {.tagged.tag = message->tag, .message = *message, .group = group};
    aggregator->early_cost += cost_of(message);
    *account_of(group, message->tag) += cost_of(message);
    DL_APPEND(group->early, early);
    oc_tag_table_add(&aggregator->early, &early->tagged);
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
        group = oc_aggregator_group(aggregator, oc_tag_handle(message->tag),
                                    oc_tag_rank(message->tag));
    }
    if (NULL == group || group->failed || !is_legal(group, message)) {
        drop(aggregator, message);
    } else {
        keep(group, message);
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
 * none for long shows that something is wrong (leftovers.c).
 */
static bool take_next(oc_aggregator_t *aggregator, oc_unexpected_t *message)
{
    if (!oc_unexpected_look(aggregator->worker, message)) {
        return false;
    }
    /*
     * On a leaf, READY of the server above may be here before the command that makes the group, and
     * with it the receive.
     */
    if (OC_KIND_CONTRIBUTION != oc_tag_kind(message->tag)) {
        oc_aggregator_drain(aggregator);
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

    while (!aggregator->stop && take_next(aggregator, &message)) {
        sort(aggregator, &message);
        tell_cost(aggregator);
        found = true;
    }
    return found;
}

bool oc_early_has(const oc_server_group_t *group, uint64_t tag)
{
    return NULL != group->early && NULL != find(group->aggregator, tag);
}

void oc_early_receive(oc_server_group_t *group, oc_transfer_t *transfer, void *buffer, size_t length,
                      uint64_t tag)
{
    oc_unexpected_t early;

    if (oc_early_take(group, tag, &early)) {
        oc_unexpected_receive(group->aggregator->worker, transfer, buffer, length, &early);
    } else {
        oc_receive(group->aggregator->worker, transfer, buffer, length, tag, OC_TAG_EXACT);
    }
}

bool oc_early_take(oc_server_group_t *group, uint64_t tag, oc_unexpected_t *message)
{
    oc_early_t *early = NULL != group->early ? find(group->aggregator, tag) : NULL;

    if (NULL == early) {
        return false;
    }
    *message = early->message;
    release(early);
    return true;
}

void oc_early_forget(oc_server_group_t *group)
{
    while (NULL != group->early) {
        oc_unexpected_t message = group->early->message;

        release(group->early);
        drop(group->aggregator, &message);
    }
}
