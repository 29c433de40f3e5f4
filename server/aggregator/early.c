/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Messages that came before anybody waited for them (early_sweep.c) and are kept: contributions of
 * members of a group until their chunk has memory, on a leaf what comes in the name of the server
 * above until its receive is posted. Each stays where UCX has put it, so nothing is copied.
 *
 * How many a rank may have here follows from its window, by which ranks go, too: one that has more
 * does not keep to the protocol.
 */
#include "server/aggregator/early.h"

#include <assert.h>
#include <utlist.h>

#include "protocol/tag.h"

/* What UCX may need for a message beside its data. */
#define MESSAGE_COST 1024u

struct oc_early {
    oc_tagged_t tagged;
    oc_unexpected_t message;
    oc_server_group_t *group;
    struct oc_early *prev, *next;    /* of the same group */
};

static uint64_t early_cost_of(const oc_unexpected_t *message)
{
    return message->length + MESSAGE_COST;
}

/*
 * Of so many bytes all chunks but the last ones of vectors are of the smallest size at least, if
 * they are not cut down to whole elements; and those of blocks that are shorter count as much for
 * whoever sends them (slot.c).
 */
static uint64_t most_of_a_rank(const oc_server_group_t *group)
{
    uint64_t window = (uint64_t) group->window * group->chunk_bytes;

    return window + (OC_MAX_IN_FLIGHT + 2 * window / OC_MIN_CHUNK) * MESSAGE_COST;
}

bool oc_early_is_from_above(uint64_t tag)
{
    return OC_KIND_CONTRIBUTION != oc_tag_kind(tag);
}

/* What counts for those of whoever sent it. */
static uint64_t *account_of(const oc_server_group_t *group, uint64_t tag)
{
    assert(oc_early_is_from_above(tag) ? NULL != group->above
                                       : oc_tag_rank(tag) < group->num_ranks);
    return oc_early_is_from_above(tag) ? &group->above->early
                                       : &group->members[oc_tag_rank(tag)].early;
}

/* A reply to each small collective under way, beside the results of chunks. */
static uint64_t early_most_of(const oc_server_group_t *group, uint64_t tag)
{
    uint64_t replies = OC_MAX_REDUCTIONS * (OC_HEADER_SIZE + OC_MAX_SMALL + MESSAGE_COST);

    return most_of_a_rank(group) + (oc_early_is_from_above(tag) ? replies : 0);
}

static oc_early_t *early_find(const oc_aggregator_t *aggregator, uint64_t tag)
{
    return (oc_early_t *) oc_tag_table_find(&aggregator->early, tag);
}

void oc_early_drop(oc_aggregator_t *aggregator, const oc_unexpected_t *message)
{
    aggregator->dropped++;
    aggregator->dropped_bytes += message->length;
    oc_unexpected_drop(aggregator->worker, message);
}

/* The message is the caller's. */
static void early_release(oc_early_t *early)
{
    oc_server_group_t *group = early->group;

    assert(*account_of(group, early->message.tag) >= early_cost_of(&early->message));
    assert(group->aggregator->early_cost >= early_cost_of(&early->message));
    group->aggregator->early_cost -= early_cost_of(&early->message);
    *account_of(group, early->message.tag) -= early_cost_of(&early->message);
    DL_DELETE(group->early, early);
    oc_tag_table_remove(&group->aggregator->early, &early->tagged);
    oc_stock_give(&group->aggregator->stock, early, sizeof(*early));
}

bool oc_early_fits(const oc_server_group_t *group, const oc_unexpected_t *message)
{
    return *account_of(group, message->tag) + early_cost_of(message)
           <= early_most_of(group, message->tag);
}

bool oc_early_keep(oc_server_group_t *group, const oc_unexpected_t *message)
{
    oc_aggregator_t *aggregator = group->aggregator;
    oc_early_t *early;

    assert(!group->failed && oc_early_fits(group, message));
    early = oc_stock_take(&aggregator->stock, sizeof(*early));

    if (NULL == early) {
        return false;
    }
    *early = (oc_early_t) {.tagged.tag = message->tag, .message = *message, .group = group};
    aggregator->early_cost += early_cost_of(message);
    *account_of(group, message->tag) += early_cost_of(message);
    DL_APPEND(group->early, early);
    oc_tag_table_add(&aggregator->early, &early->tagged);
    return true;
}

bool oc_early_has(const oc_server_group_t *group, uint64_t tag)
{
    return NULL != group->early && NULL != early_find(group->aggregator, tag);
}

void oc_early_receive(oc_server_group_t *group, oc_transfer_t *transfer, void *buffer,
                      size_t length, uint64_t tag)
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
    oc_early_t *early = NULL != group->early ? early_find(group->aggregator, tag) : NULL;

    if (NULL == early) {
        return false;
    }
    *message = early->message;
    early_release(early);
    return true;
}

void oc_early_forget(oc_server_group_t *group)
{
    while (NULL != group->early) {
        oc_unexpected_t message = group->early->message;

        early_release(group->early);
        oc_early_drop(group->aggregator, &message);
    }
}

bool oc_early_has_next(oc_reduction_t *reduction)
{
    const oc_server_group_t *group = reduction->group;

    if (reduction->here_of != reduction->admitted) {
        reduction->here_of = reduction->admitted;
        reduction->here = 0;
    }
    while (reduction->here < group->num_ranks
           && oc_early_has(group, oc_tag(OC_KIND_CONTRIBUTION, group->handle, reduction->here,
                                         reduction->sequence, reduction->admitted))) {
        reduction->here++;
    }
    return reduction->here == group->num_ranks;
}

/* What is counted for the members of a group, and for the server above. */
static uint64_t early_counted(const oc_server_group_t *group)
{
    uint64_t cost = NULL != group->above ? group->above->early : 0;

    for (uint32_t rank = 0; rank < group->num_ranks; rank++) {
        cost += group->members[rank].early;
    }
    return cost;
}

const char *oc_early_check(const oc_aggregator_t *aggregator)
{
    const oc_server_group_t *group;
    const oc_early_t *early;
    uint64_t all = 0;
    size_t count = 0;

    for (group = aggregator->groups; NULL != group; group = group->hh.next) {
        uint64_t cost = 0;

        DL_FOREACH (group->early, early) {
            cost += early_cost_of(&early->message);
            count++;
        }
        if (cost != early_counted(group)) {
            return "the early messages of a group cost something else than is counted";
        }
        all += cost;
    }
    return all == aggregator->early_cost && count == aggregator->early.count
               ? NULL : "there are other early messages than those of groups";
}
