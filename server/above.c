/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A leaf's collectives and the server above. There this leaf is one rank of a group: it sends
 * START when all its members have, for each chunk what they add up to, and ACK when all have
 * acknowledged. Results are received where the partial results were: one only exists when all of
 * the other has arrived there. So the leaf needs no more memory than any server.
 *
 * Chunks that have memory wait for the other leaves here, whose ranks may not have come yet.
 * Therefore all groups of a tree have reserves (reserve.c), also on the server above.
 */
#include <stdlib.h>

#include "base/log.h"
#include "protocol/tag.h"
#include "server/aggregator_types.h"

/*
 * Over TCP so much goes without being announced before: as for ranks (coll_optcast_eager_window),
 * what comes before the chunk has memory there lies in memory that nobody counts.
 */
#define EAGER_WINDOW 524288u

static void on_parent_failed(void *arg)
{
    oc_aggregator_t *aggregator = arg;
    oc_command_t *command = oc_command_new(OC_COMMAND_PARENT_LOST, NULL, 0);

    if (NULL != command) {
        oc_mailbox_post(aggregator->config.control, command);
    }
}

void oc_above_connect(oc_aggregator_t *aggregator, const void *address)
{
    aggregator->eager_window = EAGER_WINDOW;
    if (OC_OK != oc_endpoint_open(aggregator->worker, address, on_parent_failed, aggregator,
                                  &aggregator->parent)) {
        on_parent_failed(aggregator);
    }
}

/* ---- groups ---- */

/* What was received and then not believed is waited for again. */
static bool is_forged(const oc_server_group_t *group, const oc_transfer_t *transfer,
                      const uint8_t *message, oc_header_t *header)
{
    if (group->failed || (OC_OK != transfer->status && OC_ERR_TRUNCATED != transfer->status)
        || oc_is_from_above(group, transfer, message, header)) {
        return false;
    }
    oc_count_forged(group->aggregator, transfer->length);
    return true;
}

static void receive_ready(oc_server_group_t *group);

static void on_ready(oc_transfer_t *transfer)
{
    oc_above_t *above = (oc_above_t *) transfer;
    oc_server_group_t *group = above->group;
    oc_header_t header = {0};

    if (is_forged(group, transfer, above->bytes, &header)) {
        receive_ready(group);
    } else if (OC_MESSAGE_READY == header.message) {
        above->chunk_bytes = header.chunk_bytes;
        above->ready = true;
        oc_aggregator_group_ready(group);
    } else if (OC_ERR_CANCELED != transfer->status) {
        oc_aggregator_group_failed(group, OC_ERR_INVALID,
                                   "the parent server sent something else than READY");
    }
    oc_group_release(group);
}

static void receive_ready(oc_server_group_t *group)
{
    oc_above_t *above = group->above;

    above->transfer.done = on_ready;
    oc_group_hold(group);
    oc_early_receive(group, &above->transfer, above->bytes, OC_HEADER_SIZE,
                     oc_tag(OC_KIND_REPLY, group->handle, group->index, 0, OC_READY_SLOT));
}

bool oc_above_new(oc_server_group_t *group, uint32_t leaf)
{
    oc_above_t *above = calloc(1, sizeof(*above));

    if (NULL == above) {
        return false;
    }
    above->group = group;
    above->leaf = leaf;
    group->above = above;
    receive_ready(group);
    return true;
}

void oc_above_joined(oc_server_group_t *group, uint32_t handle)
{
    if (NULL != group->above) {
        group->above->handle = handle;
        group->above->joined = true;
        oc_aggregator_group_ready(group);
    }
}

void oc_above_limit(oc_aggregator_t *aggregator, uint64_t eager_window)
{
    if (eager_window < aggregator->eager_window) {
        aggregator->eager_window = eager_window;
    }
}

void oc_above_cancel(oc_server_group_t *group)
{
    if (NULL != group->above) {
        oc_receive_cancel(&group->above->transfer);
    }
}

/* ---- messages with header ---- */

static void send_up(oc_server_group_t *group, oc_transfer_t *transfer, const void *data,
                    size_t length, uint64_t tag, bool eager)
{
    oc_aggregator_t *aggregator = group->aggregator;

    if (NULL == aggregator->parent) {
        oc_transfer_fail(aggregator->worker, transfer, OC_ERR_UNREACHABLE);
    } else if (eager) {
        oc_send_eager(aggregator->parent, transfer, data, length, tag);
    } else {
        oc_send(aggregator->parent, transfer, data, length, tag);
    }
}

static uint64_t request_tag(const oc_reduction_t *reduction)
{
    const oc_above_t *above = reduction->group->above;

    return oc_tag(OC_KIND_REQUEST, above->handle, above->leaf, reduction->sequence, 0);
}

static oc_header_t header_of(const oc_reduction_t *reduction, uint8_t message)
{
    oc_header_t header = reduction->header;

    header.message = message;
    header.handle = reduction->group->above->handle;
    header.rank = reduction->group->above->leaf;
    return header;
}

static void send_header(oc_reduction_t *reduction, uint8_t message)
{
    oc_server_group_t *group = reduction->group;
    oc_header_t header = header_of(reduction, message);
    oc_header_message_t *request = oc_header_message_new(group);

    if (NULL != request) {
        oc_seal_above(group, &header, request->bytes, OC_HEADER_SIZE);
        send_up(group, &request->transfer, request->bytes, OC_HEADER_SIZE, request_tag(reduction),
                true);
    }
}

static void receive_reply(oc_reduction_t *reduction, void *buffer, size_t length, uint64_t slot,
                          void (*done)(oc_transfer_t *transfer))
{
    oc_server_group_t *group = reduction->group;

    reduction->down.reduction = reduction;
    reduction->down.transfer.done = done;
    reduction->down_tag = oc_tag(OC_KIND_REPLY, group->handle, group->index, reduction->sequence,
                                 slot);
    reduction->down_posted = true;
    oc_group_hold(group);
    oc_early_receive(group, &reduction->down.transfer, buffer, length, reduction->down_tag);
}

/* false: the group has failed. */
static bool has_answered(oc_reduction_t *reduction, const oc_transfer_t *transfer,
                         const void *bytes, uint8_t message)
{
    oc_server_group_t *group = reduction->group;
    oc_header_t header;

    if (OC_OK == transfer->status && OC_OK == oc_header_decode(bytes, transfer->length, &header)
        && message == header.message && header.handle == group->above->handle
        && header.rank == group->index && header.sequence == reduction->sequence
        && header.op == reduction->header.op && header.type == reduction->header.type
        && header.count == reduction->header.count
        && header.chunk_bytes == reduction->header.chunk_bytes) {
        return true;
    }
    oc_aggregator_group_failed(group, OC_ERR_INVALID,
                               "the parent server's answer does not fit collective %llu: %s",
                               (unsigned long long) reduction->sequence,
                               oc_status_string(transfer->status));
    return false;
}

/* ---- large collectives ---- */

void oc_above_start(oc_reduction_t *reduction)
{
    send_header(reduction, OC_MESSAGE_START);
}

static void chunk_went(oc_chunk_t *chunk, const oc_transfer_t *transfer, bool is_result)
{
    oc_reduction_t *reduction = chunk->reduction;
    oc_server_group_t *group = reduction->group;

    if (OC_ERR_UNREACHABLE == transfer->status) {
        /* the control side ends the job, and says whom it lost */
        group->failed = true;
    } else if (OC_OK != transfer->status || (is_result && transfer->length != chunk->length)) {
        oc_aggregator_group_failed(group, OC_ERR_UNREACHABLE, "chunk %u of collective %llu could "
                                   "not be passed on to the parent server: %s", chunk->number,
                                   (unsigned long long) reduction->sequence,
                                   oc_status_string(transfer->status));
    }
    if (0 == --chunk->waiting) {
        group->aggregator->unasked -= chunk->eager ? chunk->length : 0;
        if (group->failed) {
            oc_chunk_drop(chunk);
        } else {
            oc_chunk_result(chunk);
        }
    }
    oc_group_release(group);
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

    chunk->up = (oc_chunk_transfer_t) {.transfer.done = on_chunk_sent, .chunk = chunk};
    chunk->down = (oc_chunk_transfer_t) {.transfer.done = on_chunk_result, .chunk = chunk};
    chunk->waiting = 2;
    chunk->eager = aggregator->unasked + chunk->length <= aggregator->eager_window;
    aggregator->unasked += chunk->eager ? chunk->length : 0;
    oc_group_hold(group);
    oc_group_hold(group);
    oc_early_receive(group, &chunk->down.transfer, chunk->buffers, chunk->length,
                     oc_tag(OC_KIND_RESULT, group->handle, group->index, reduction->sequence,
                            chunk->number));
    send_up(group, &chunk->up.transfer, chunk->buffers, chunk->length,
            oc_tag(OC_KIND_CONTRIBUTION, group->above->handle, group->above->leaf,
                   reduction->sequence, chunk->number), chunk->eager);
}

static void receive_commit(oc_reduction_t *reduction);

static void on_commit(oc_transfer_t *transfer)
{
    oc_reduction_t *reduction = ((oc_reply_transfer_t *) transfer)->reduction;
    oc_server_group_t *group = reduction->group;
    oc_header_t header;

    reduction->down_posted = false;
    if (is_forged(group, transfer, reduction->reply, &header)) {
        receive_commit(reduction);
    } else if (!group->failed
               && has_answered(reduction, transfer, reduction->reply, OC_MESSAGE_COMMIT)) {
        oc_reduction_commit(reduction);
    }
    oc_group_release(group);
}

static void receive_commit(oc_reduction_t *reduction)
{
    receive_reply(reduction, reduction->reply, OC_HEADER_SIZE, OC_COMMIT_SLOT, on_commit);
}

static void receive_sent(oc_reduction_t *reduction);

/* All results have come from the parent: whether they were its own. */
static void on_sent(oc_transfer_t *transfer)
{
    oc_reduction_t *reduction = ((oc_reply_transfer_t *) transfer)->reduction;
    oc_server_group_t *group = reduction->group;
    oc_header_t header;

    reduction->down_posted = false;
    if (is_forged(group, transfer, reduction->reply, &header)) {
        receive_sent(reduction);
    } else if (!group->failed && has_answered(reduction, transfer, reduction->reply, OC_MESSAGE_SENT)
               && oc_leftovers_none_above(reduction)) {
        receive_commit(reduction);
        send_header(reduction, OC_MESSAGE_ACK);
    }
    oc_group_release(group);
}

static void receive_sent(oc_reduction_t *reduction)
{
    receive_reply(reduction, reduction->reply, OC_HEADER_SIZE, OC_SENT_SLOT, on_sent);
}

void oc_above_acknowledge(oc_reduction_t *reduction)
{
    receive_sent(reduction);
}

/* ---- small collectives ---- */

/*
 * The partial result lies where the reply is going to be. So that is received when the other has
 * gone: what comes in the parent's name must not go up in this leaf's.
 */

static void on_small_sent(oc_transfer_t *transfer);
static void on_small_reply(oc_transfer_t *transfer);

void oc_above_small(oc_reduction_t *reduction)
{
    oc_server_group_t *group = reduction->group;
    oc_header_t header = header_of(reduction, OC_MESSAGE_SMALL);
    uint8_t *message = reduction->held[0];
    size_t length = OC_HEADER_SIZE + header.chunk_bytes;

    oc_seal_above(group, &header, message, length);
    reduction->up = (oc_reply_transfer_t) {.transfer.done = on_small_sent, .reduction = reduction};
    oc_group_hold(group);
    send_up(group, &reduction->up.transfer, message, length, request_tag(reduction), true);
}

/* A result takes the place of what was sent, data and header; RESEND only that of the header. */
static void receive_small(oc_reduction_t *reduction)
{
    receive_reply(reduction, reduction->held[0], OC_HEADER_SIZE + reduction->header.chunk_bytes, 0,
                  on_small_reply);
}

static void on_small_sent(oc_transfer_t *transfer)
{
    oc_reduction_t *reduction = ((oc_reply_transfer_t *) transfer)->reduction;
    oc_server_group_t *group = reduction->group;

    oc_aggregator_check_sent(group, transfer);
    if (!group->failed && OC_OK == transfer->status) {
        receive_small(reduction);
    }
    oc_group_release(group);
}

/* As for ranks: an aggregator asks once, when it has room. */
static void on_resend(oc_reduction_t *reduction)
{
    if (reduction->resent_above) {
        oc_aggregator_group_failed(reduction->group, OC_ERR_INVALID, "the parent server asked "
                                   "twice for the contribution to collective %llu",
                                   (unsigned long long) reduction->sequence);
        return;
    }
    if (!has_answered(reduction, &reduction->down.transfer, reduction->held[0],
                      OC_MESSAGE_RESEND)) {
        return;
    }
    if (reduction->spoiled) {
        oc_aggregator_group_failed(reduction->group, OC_ERR_INVALID, "the contribution to "
                                   "collective %llu cannot be sent again: a forged message in the "
                                   "name of the parent server has taken its place",
                                   (unsigned long long) reduction->sequence);
        return;
    }
    reduction->resent_above = true;
    oc_above_small(reduction);
}

static void on_small_reply(oc_transfer_t *transfer)
{
    oc_reduction_t *reduction = ((oc_reply_transfer_t *) transfer)->reduction;
    oc_server_group_t *group = reduction->group;
    oc_header_t header;

    reduction->down_posted = false;
    if (is_forged(group, transfer, reduction->held[0], &header)) {
        reduction->spoiled = true;
        receive_small(reduction);
    } else if (!group->failed && OC_OK == transfer->status && OC_HEADER_SIZE == transfer->length) {
        on_resend(reduction);
    } else if (!group->failed
               && has_answered(reduction, transfer, reduction->held[0], OC_MESSAGE_RESULT)) {
        oc_small_result(reduction);
    }
    oc_group_release(group);
}

void oc_above_cancel_reduction(oc_reduction_t *reduction)
{
    oc_receive_cancel(&reduction->down.transfer);
}
