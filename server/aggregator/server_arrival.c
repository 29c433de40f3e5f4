/* SPDX-License-Identifier: BSD-3-Clause */
/* What members say of collectives: who has come, do they agree, who has the results. */
#include "server/aggregator/server_arrival.h"

#include "server/aggregator/chunks.h"
#include "server/aggregator/receivers.h"
#include "server/aggregator/server_group.h"
#include "server/aggregator/server_leftovers.h"
#include "server/aggregator/server_reduction.h"
#include "server/aggregator/server_small.h"

static const char *receivers_of(const oc_header_t *header)
{
    return OC_TO_OWNERS == header->to ? "for the ranks that own it" : "for all";
}

/* All but who owns what. */
static bool same_reduction(const oc_header_t *a, const oc_header_t *b)
{
    return a->message == b->message && a->to == b->to && a->op == b->op && a->type == b->type
           && a->count == b->count && a->chunk_bytes == b->chunk_bytes
           && a->last_bytes == b->last_bytes && a->chunks == b->chunks;
}

static bool same_collective(const oc_header_t *a, const oc_header_t *b)
{
    return same_reduction(a, b) && a->own.cut == b->own.cut;
}

static bool arrival_is_legal(oc_reduction_t *reduction, const oc_header_t *header)
{
    oc_server_group_t *group = reduction->group;
    const oc_header_t *first = &reduction->header;
    char name[OC_MEMBER_NAME_SIZE], other[OC_MEMBER_NAME_SIZE];

    oc_server_group_member_name(group, header->rank, name);
    if (!same_collective(first, header)) {
        oc_server_group_failed(
            group, OC_ERR_MISMATCH,
            "ranks disagree about collective %llu: %s has %s of %llu %s %s, %s has %s of %llu %s %s%s",
            (unsigned long long) header->sequence,
            oc_server_group_member_name(group, first->rank, other), oc_op_name(first->op),
            (unsigned long long) first->count, oc_type_name(first->type), receivers_of(first),
            name, oc_op_name(header->op), (unsigned long long) header->count,
            oc_type_name(header->type), receivers_of(header),
            first->own.cut != header->own.cut ? ", with another root or other blocks" : "");
        return false;
    }
    if (OC_SEEN_ARRIVED == (reduction->seen[header->rank] & (OC_SEEN_ARRIVED | OC_SEEN_ASKED))) {
        oc_server_group_failed(group, OC_ERR_INVALID, "%s began collective %llu twice", name,
                               (unsigned long long) header->sequence);
        return false;
    }
    return true;
}

static void server_arrival_admit(oc_reduction_t *reduction)
{
    if (NULL != reduction->held) {
        oc_server_small_admit(reduction);
    } else {
        oc_chunks_begin(reduction);
    }
}

/* Memory is only promised once all ranks have come, so that groups cannot block each other. */
static void arrive(oc_server_group_t *group, const oc_request_t *request)
{
    const oc_header_t *header = &request->header;
    oc_reduction_t *reduction = oc_reduction_find_or_make(group, header);

    if (NULL == reduction || !arrival_is_legal(reduction, header)
        || !oc_receivers_note(reduction, header)) {
        return;
    }
    if (reduction->seen[header->rank] & OC_SEEN_ASKED) {
        oc_server_small_arrive_again(reduction, request);
        return;
    }
    reduction->seen[header->rank] |= OC_SEEN_ARRIVED;
    reduction->arrived++;
    if (NULL != reduction->held) {
        oc_server_small_arrive(reduction, request);
    }
    if (reduction->arrived < group->num_ranks || !oc_receivers_agree(reduction)) {
        return;
    }
    if (NULL == reduction->held) {
        group->outlet->start(reduction);
    }
    server_arrival_admit(reduction);
}

static void acknowledge(oc_server_group_t *group, const oc_header_t *header)
{
    oc_reduction_t *reduction = oc_reduction_find(group, header->sequence);
    char name[OC_MEMBER_NAME_SIZE];

    if (NULL == reduction || OC_MESSAGE_START != reduction->header.message
        || reduction->header.chunks != header->chunks || reduction->answered < header->chunks
        || (reduction->seen[header->rank] & OC_SEEN_ACKED)) {
        oc_server_group_failed(group, OC_ERR_INVALID,
                               "%s acknowledged collective %llu, which has no such result",
                               oc_server_group_member_name(group, header->rank, name),
                               (unsigned long long) header->sequence);
        return;
    }
    if (!oc_server_leftovers_none_of(reduction, header->rank)) {
        return;
    }
    reduction->seen[header->rank] |= OC_SEEN_ACKED;
    if (++reduction->acked < group->num_ranks) {
        return;
    }
    group->outlet->acknowledge(reduction);
}

void oc_reduction_request(oc_server_group_t *group, const oc_request_t *request)
{
    char name[OC_MEMBER_NAME_SIZE];

    switch (request->header.message) {
    case OC_MESSAGE_SMALL:
    case OC_MESSAGE_START:
        arrive(group, request);
        break;
    case OC_MESSAGE_ACK:
        acknowledge(group, &request->header);
        break;
    default:
        oc_server_group_failed(group, OC_ERR_INVALID,
                               "%s sent a message of type %u, which only aggregators send",
                               oc_server_group_member_name(group, request->header.rank, name),
                               request->header.message);
    }
}
