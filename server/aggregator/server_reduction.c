/* SPDX-License-Identifier: BSD-3-Clause */
/* Collectives on an aggregator: their memory, what they say to all members, their ends. */
#include "server/aggregator/server_reduction.h"

#include <assert.h>
#include <string.h>
#include <utlist.h>

#include "protocol/tag.h"
#include "server/aggregator/server_codes.h"
#include "server/aggregator/server_group.h"
#include "server/aggregator/pieces.h"
#include "server/aggregator/replies.h"
#include "server/aggregator/starving.h"

#define TAG_SEQUENCES (1u << OC_TAG_SEQUENCE_BITS)

_Static_assert(2 * OC_MAX_SPAN <= TAG_SEQUENCES, "two ranks may be a span apart");

/* What each rank needs of its arrays, beside seen. */
static size_t array_size(const oc_header_t *header)
{
    if (OC_MESSAGE_SMALL == header->message) {
        return sizeof(uint8_t *);
    }
    return OC_TO_OWNERS == header->to ? sizeof(oc_ownership_t) : 0;
}

static size_t reduction_size(const oc_header_t *header, uint32_t num_ranks)
{
    return sizeof(oc_reduction_t) + num_ranks * (array_size(header) + sizeof(uint8_t));
}

static size_t replies_size(const oc_server_group_t *group)
{
    return group->num_ranks * sizeof(oc_reply_transfer_t);
}

/*
 * All groups share one table, which is made once: the hash of a group would be, and end, with each
 * collective.
 */
static oc_reduction_t **server_reduction_place_of(const oc_server_group_t *group, uint64_t sequence)
{
    return &group->aggregator->reductions[(group->handle * 67 + sequence) % OC_REDUCTION_PLACES];
}

void oc_reduction_open(oc_reduction_t *reduction)
{
    assert(!reduction->is_open && NULL == reduction->held);
    reduction->is_open = true;
    DL_APPEND2(reduction->group->open, reduction, open_prev, open_next);
}

void oc_reduction_close(oc_reduction_t *reduction)
{
    if (reduction->is_open) {
        DL_DELETE2(reduction->group->open, reduction, open_prev, open_next);
        reduction->is_open = false;
    }
}

void oc_reduction_free(oc_reduction_t *reduction)
{
    oc_server_group_t *group = reduction->group;
    oc_stock_t *stock = &group->aggregator->stock;

    assert(0 == reduction->replies_left && 0 == reduction->notices_left);
    assert(NULL == reduction->chunks && group->num_reductions > 0);
    DL_DELETE2(group->reductions, reduction, group_prev, group_next);
    DL_DELETE2(*server_reduction_place_of(group, reduction->sequence), reduction, place_prev,
               place_next);
    group->num_reductions--;
    if (reduction->waits_for_memory) {
        oc_reduction_stop_starving(reduction);
    }
    oc_reduction_close(reduction);
    oc_pieces_free(reduction);
    oc_stock_give(stock, reduction->replies, replies_size(group));
    oc_stock_give(stock, reduction->notices, replies_size(group));
    oc_stock_give(stock, reduction, reduction_size(&reduction->header, group->num_ranks));
}

void oc_reductions_free(oc_server_group_t *group)
{
    while (NULL != group->reductions) {
        oc_reduction_free(group->reductions);
    }
}

/* Nothing is left to be sent or received: its memory goes. */
void oc_reduction_settle(oc_reduction_t *reduction)
{
    bool large = OC_MESSAGE_START == reduction->header.message;
    bool replied = NULL != reduction->replies && 0 == reduction->replies_left;

    if (replied && (!large || (reduction->finished == reduction->header.chunks
                               && 0 == reduction->notices_left))) {
        oc_reduction_free(reduction);
    }
}

static void sent(oc_reduction_t *reduction, const oc_transfer_t *transfer, uint32_t *left)
{
    oc_server_group_t *group = reduction->group;

    assert(*left > 0);
    --*left;
    oc_aggregator_check_sent(group, transfer);
    if (!group->failed) {
        oc_reduction_settle(reduction);
    }
    oc_server_group_release(group);
}

static void on_reply_sent(oc_transfer_t *transfer)
{
    oc_reduction_t *reduction = ((oc_reply_transfer_t *) transfer)->reduction;

    sent(reduction, transfer, &reduction->replies_left);
}

static void on_notice_sent(oc_transfer_t *transfer)
{
    oc_reduction_t *reduction = ((oc_reply_transfer_t *) transfer)->reduction;

    sent(reduction, transfer, &reduction->notices_left);
}

/* NULL: no memory, and the group has failed. */
static oc_reply_transfer_t *send_to_all(oc_reduction_t *reduction, const void *data, size_t length,
                                        uint64_t slot, void (*done)(oc_transfer_t *transfer))
{
    oc_server_group_t *group = reduction->group;
    oc_reply_transfer_t *replies = oc_stock_take(&group->aggregator->stock, replies_size(group));

    if (NULL == replies) {
        oc_server_group_failed(group, OC_ERR_NO_MEMORY, "the server is out of memory");
        return NULL;
    }
    for (uint32_t rank = 0; rank < group->num_ranks; rank++) {
        replies[rank].reduction = reduction;
        replies[rank].transfer.done = done;
        oc_server_group_hold(group);
        oc_aggregator_send(group, rank, &replies[rank].transfer, data, length,
                           oc_tag(OC_KIND_REPLY, group->members[rank].reply_handle, group->index,
                                  reduction->sequence, slot));
    }
    return replies;
}

/* Nobody is called back before all of them are on their way. */
void oc_reduction_reply(oc_reduction_t *reduction, const void *data, size_t length)
{
    uint64_t slot = NULL == reduction->held ? OC_COMMIT_SLOT : 0;

    assert(NULL == reduction->replies);
    reduction->replies = send_to_all(reduction, data, length, slot, on_reply_sent);
    reduction->replies_left = NULL == reduction->replies ? 0 : reduction->group->num_ranks;
}

static void seal_reply(const oc_reduction_t *reduction, uint8_t message, uint8_t *bytes)
{
    oc_header_t header = reduction->header;

    header.message = message;
    header.rank = reduction->group->index;
    oc_server_seal_reply(reduction->group, &header, bytes, OC_HEADER_SIZE);
}

void oc_reduction_sent(oc_reduction_t *reduction)
{
    assert(NULL == reduction->notices && reduction->answered == reduction->header.chunks);
    seal_reply(reduction, OC_MESSAGE_SENT, reduction->sent);
    reduction->notices = send_to_all(reduction, reduction->sent, OC_HEADER_SIZE, OC_SENT_SLOT,
                                     on_notice_sent);
    reduction->notices_left = NULL == reduction->notices ? 0 : reduction->group->num_ranks;
}

void oc_reduction_commit(oc_reduction_t *reduction)
{
    seal_reply(reduction, OC_MESSAGE_COMMIT, reduction->reply);
    oc_reduction_reply(reduction, reduction->reply, OC_HEADER_SIZE);
}

/* Sizes that cannot be cut into whole elements, or that say two different things. */
static bool sizes_fit(const oc_server_group_t *group, const oc_header_t *header, size_t element)
{
    uint64_t bytes;

    if (0 == header->count || header->count > INT64_MAX / element
        || 0 != header->chunk_bytes % element) {
        return false;
    }
    bytes = header->count * element;
    if (OC_MESSAGE_SMALL == header->message) {
        return bytes == header->chunk_bytes && bytes <= group->small_bytes;
    }
    if (OC_TO_OWNERS == header->to) {
        return header->chunk_bytes <= group->chunk_bytes && header->chunks <= header->count;
    }
    return header->chunk_bytes <= group->chunk_bytes && 0 == header->last_bytes % element
           && (uint64_t) (header->chunks - 1) * header->chunk_bytes + header->last_bytes <= bytes;
}

/* All zeros but for its arrays' places. */
static oc_reduction_t *reduction_allocate(oc_server_group_t *group, const oc_header_t *header)
{
    size_t size = reduction_size(header, group->num_ranks);
    oc_reduction_t *reduction = oc_stock_take(&group->aggregator->stock, size);

    if (NULL == reduction) {
        return NULL;
    }
    memset(reduction, 0, size);
    if (OC_MESSAGE_SMALL == header->message) {
        reduction->held = reduction->arrays;
    } else if (OC_TO_OWNERS == header->to) {
        reduction->owns = (oc_ownership_t *) reduction->arrays;
    }
    reduction->seen = (uint8_t *) reduction->arrays + group->num_ranks * array_size(header);
    return reduction;
}

static oc_reduction_t *reduction_new(oc_server_group_t *group, const oc_header_t *header)
{
    oc_reduce_fn_t kernel = oc_reduce_kernel(header->op, header->type);
    char name[OC_MEMBER_NAME_SIZE];
    oc_reduction_t *reduction;

    if (NULL == kernel || !sizes_fit(group, header, oc_type_size(header->type))) {
        oc_server_group_failed(group, OC_ERR_INVALID,
                               "%s asks for an impossible collective %llu: %s of %llu %s",
                               oc_server_group_member_name(group, header->rank, name),
                               (unsigned long long) header->sequence,
                               oc_op_name(header->op), (unsigned long long) header->count,
                               oc_type_name(header->type));
        return NULL;
    }
    reduction = reduction_allocate(group, header);
    if (NULL == reduction) {
        oc_server_group_failed(group, OC_ERR_NO_MEMORY, "the server is out of memory");
        return NULL;
    }
    reduction->group = group;
    reduction->sequence = header->sequence;
    reduction->header = *header;
    reduction->kernel = kernel;
    reduction->element = oc_type_size(header->type);
    DL_APPEND2(group->reductions, reduction, group_prev, group_next);
    DL_PREPEND2(*server_reduction_place_of(group, reduction->sequence), reduction, place_prev,
                place_next);
    group->num_reductions++;
    return reduction;
}

oc_reduction_t *oc_reduction_find(const oc_server_group_t *group, uint64_t sequence)
{
    oc_reduction_t *reduction;

    DL_FOREACH2 (*server_reduction_place_of(group, sequence), reduction, place_next) {
        if (reduction->sequence == sequence && reduction->group == group) {
            return reduction;
        }
    }
    return NULL;
}

/* Whether tags can tell it from those under way, which are hardly ever out of order. */
static bool is_in_reach(const oc_server_group_t *group, uint64_t sequence)
{
    const oc_reduction_t *oldest = group->reductions;

    return NULL == oldest || sequence - oldest->sequence < TAG_SEQUENCES
           || oldest->sequence - sequence < TAG_SEQUENCES;
}

oc_reduction_t *oc_reduction_find_or_make(oc_server_group_t *group, const oc_header_t *header)
{
    oc_reduction_t *reduction = oc_reduction_find(group, header->sequence);
    char name[OC_MEMBER_NAME_SIZE];

    assert(header->rank < group->num_ranks);
    if (NULL != reduction) {
        return reduction;
    }
    if (!is_in_reach(group, header->sequence)) {
        oc_server_group_failed(group, OC_ERR_LIMIT, "%s began collective %llu while %llu is "
                               "under way: they have to be less than %u apart",
                               oc_server_group_member_name(group, header->rank, name),
                               (unsigned long long) header->sequence,
                               (unsigned long long) group->reductions->sequence,
                               TAG_SEQUENCES);
        return NULL;
    }
    if (group->num_reductions >= OC_MAX_REDUCTIONS) {
        oc_server_group_failed(group, OC_ERR_LIMIT, "%s has more than %d collectives under way",
                               oc_server_group_member_name(group, header->rank, name),
                               OC_MAX_IN_FLIGHT);
        return NULL;
    }
    return reduction_new(group, header);
}

/* Whether it counts the ranks that it has seen. */
static bool ranks_agree(const oc_reduction_t *reduction)
{
    uint32_t arrived = 0, acked = 0, asked = 0;

    for (uint32_t rank = 0; rank < reduction->group->num_ranks; rank++) {
        arrived += 0 != (reduction->seen[rank] & OC_SEEN_ARRIVED);
        acked += 0 != (reduction->seen[rank] & OC_SEEN_ACKED);
        asked += 0 != (reduction->seen[rank] & OC_SEEN_ASKED);
    }
    return arrived == reduction->arrived && acked == reduction->acked && asked == reduction->asked;
}

const char *oc_reductions_check(const oc_server_group_t *group)
{
    const oc_reduction_t *reduction;
    unsigned count = 0;

    DL_FOREACH2 (group->reductions, reduction, group_next) {
        if (reduction != oc_reduction_find(group, reduction->sequence)) {
            return "a collective is not found by its number";
        }
        if (!ranks_agree(reduction)) {
            return "a collective counts other ranks than it has seen";
        }
        count++;
    }
    return count == group->num_reductions && count <= OC_MAX_REDUCTIONS
               ? NULL : "a group counts other collectives than it has";
}
