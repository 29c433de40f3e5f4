/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A leaf's large collectives and the server above. There this leaf is one rank of a group: it sends
 * START when all its members have, for each chunk what they add up to, and ACK when all have
 * acknowledged. Results are received where the partial results were: one only exists when all of
 * the other has arrived there. So the leaf needs no more memory than any server.
 *
 * Chunks that have memory wait for the other leaves here, whose ranks may not have come yet.
 * Therefore all groups of a tree have reserves (reserve.c), also on the server above.
 */
#include <assert.h>

#include "protocol/tag.h"
#include "server/aggregator/above.h"
#include "server/aggregator/above_inside.h"
#include "server/aggregator/chunks.h"
#include "server/aggregator/early.h"
#include "server/aggregator/receivers.h"
#include "server/aggregator/server_group.h"
#include "server/aggregator/server_leftovers.h"
#include "server/aggregator/server_reduction.h"

void oc_above_start(oc_reduction_t *reduction)
{
    oc_above_send_header(reduction, OC_MESSAGE_START);
}

/* Bytes that the leaf contributes. */
static size_t given(const oc_chunk_t *chunk)
{
    return NULL != chunk->result ? chunk->length : 0;
}

/* Whether some member of the leaf gets the result. */
static bool goes_to_member(const oc_chunk_t *chunk)
{
    return NULL == chunk->reduction->owns || OC_NO_OWNER != chunk->owner;
}

static bool result_fits(oc_chunk_t *chunk, size_t length)
{
    return goes_to_member(chunk) ? oc_receivers_fits(chunk, length) : 0 == length;
}

static void chunk_went(oc_chunk_t *chunk, const oc_transfer_t *transfer, bool is_result)
{
    oc_reduction_t *reduction = chunk->reduction;
    oc_server_group_t *group = reduction->group;

    if (OC_ERR_UNREACHABLE == transfer->status) {
        /* the control side ends the job, and says whom it lost */
        group->failed = true;
    } else if (OC_OK != transfer->status || (is_result && !result_fits(chunk, transfer->length))) {
        oc_server_group_failed(group, OC_ERR_UNREACHABLE, "chunk %u of collective %llu could "
                               "not be passed on to the parent server: %s", chunk->number,
                               (unsigned long long) reduction->sequence,
                               oc_status_string(transfer->status));
    }
    assert(chunk->waiting > 0);
    if (0 == --chunk->waiting) {
        assert(!chunk->eager || group->aggregator->unasked >= given(chunk));
        group->aggregator->unasked -= chunk->eager ? given(chunk) : 0;
        if (group->failed) {
            oc_chunk_drop(chunk);
        } else {
            chunk->result = chunk->buffers;
            oc_chunk_result(chunk);
        }
    }
    oc_server_group_release(group);
}

static void on_chunk_sent(oc_transfer_t *transfer)
{
    chunk_went(((oc_chunk_transfer_t *) transfer)->chunk, transfer, false);
}

static void on_chunk_result(oc_transfer_t *transfer)
{
    chunk_went(((oc_chunk_transfer_t *) transfer)->chunk, transfer, true);
}

void oc_above_chunk(oc_chunk_t *chunk)
{
    oc_reduction_t *reduction = chunk->reduction;
    oc_server_group_t *group = reduction->group;
    oc_aggregator_t *aggregator = group->aggregator;

    assert(0 == chunk->waiting);
    chunk->up = (oc_chunk_transfer_t) {.transfer.done = on_chunk_sent, .chunk = chunk};
    chunk->down = (oc_chunk_transfer_t) {.transfer.done = on_chunk_result, .chunk = chunk};
    chunk->waiting = 2;
    chunk->eager = aggregator->unasked + given(chunk) <= aggregator->eager_window;
    aggregator->unasked += chunk->eager ? given(chunk) : 0;
    oc_server_group_hold(group);
    oc_server_group_hold(group);
    oc_early_receive(group, &chunk->down.transfer, chunk->buffers,
                     goes_to_member(chunk) ? chunk->length : 0,
                     oc_tag(OC_KIND_RESULT, group->handle, group->index, reduction->sequence,
                            chunk->number));
    oc_above_send(group, &chunk->up.transfer, chunk->result, given(chunk),
                  oc_tag(OC_KIND_CONTRIBUTION, group->above->handle, group->above->leaf,
                         reduction->sequence, chunk->number), chunk->eager);
}

static void receive_commit(oc_reduction_t *reduction);

static void above_large_on_commit(oc_transfer_t *transfer)
{
    oc_reduction_t *reduction = ((oc_reply_transfer_t *) transfer)->reduction;
    oc_server_group_t *group = reduction->group;
    oc_header_t header;

    reduction->down_posted = false;
    if (oc_above_is_forged(group, transfer, reduction->reply, &header)) {
        receive_commit(reduction);
    } else if (!group->failed
               && oc_above_has_answered(reduction, transfer, reduction->reply, OC_MESSAGE_COMMIT)) {
        oc_reduction_commit(reduction);
    }
    oc_server_group_release(group);
}

static void receive_commit(oc_reduction_t *reduction)
{
    oc_above_receive(reduction, reduction->reply, OC_HEADER_SIZE, OC_COMMIT_SLOT,
                     above_large_on_commit);
}

static void receive_sent(oc_reduction_t *reduction);

/* All results have come from the parent: whether they were its own. */
static void above_large_on_sent(oc_transfer_t *transfer)
{
    oc_reduction_t *reduction = ((oc_reply_transfer_t *) transfer)->reduction;
    oc_server_group_t *group = reduction->group;
    oc_header_t header;

    reduction->down_posted = false;
    if (oc_above_is_forged(group, transfer, reduction->reply, &header)) {
        receive_sent(reduction);
    } else if (!group->failed
               && oc_above_has_answered(reduction, transfer, reduction->reply, OC_MESSAGE_SENT)
               && oc_server_leftovers_none_above(reduction)) {
        receive_commit(reduction);
        oc_above_send_header(reduction, OC_MESSAGE_ACK);
    }
    oc_server_group_release(group);
}

static void receive_sent(oc_reduction_t *reduction)
{
    oc_above_receive(reduction, reduction->reply, OC_HEADER_SIZE, OC_SENT_SLOT,
                     above_large_on_sent);
}

void oc_above_acknowledge(oc_reduction_t *reduction)
{
    receive_sent(reduction);
}
