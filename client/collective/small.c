/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Small Allreduces: one message there, one back, through buffers of the engine. Contribution
 * and result stay separate, so that a failure leaves the contribution intact, and so that it can
 * be sent once more to an aggregator that had no room for it. In the node shape it is one step.
 */
#include "client/collective/small.h"

#include <assert.h>
#include <string.h>

#include "client/collective/collective.h"
#include "client/collective/kept.h"
#include "client/collective/leftovers.h"
#include "client/collective/reply.h"
#include "client/collective/step_data.h"
#include "client/collective/vector.h"
#include "client/plan/chunk_map.h"
#include "client/state/codes.h"
#include "client/state/collapse.h"
#include "protocol/tag.h"

/* Of a header and the vector; twice in the message. */
static size_t half_of(const oc_allreduce_t *allreduce)
{
    return (OC_HEADER_SIZE + allreduce->bytes + 63) / 64 * 64;
}

static uint8_t *reply_of(const oc_small_t *small)
{
    return small->message + half_of(small->allreduce);
}

static oc_counters_t *small_counters_of(const oc_allreduce_t *allreduce)
{
    return allreduce->base.group->client->config.counters;
}

/* Both messages have gone their way; in the node shape the result is still to be taken. */
static bool is_answered(const oc_allreduce_t *allreduce)
{
    return allreduce->waiting == (allreduce->steps.hold ? 1 : 0);
}

/* In the node shape, others have to take it too. */
static void small_hand_out(oc_allreduce_t *allreduce, const void *result)
{
    if (allreduce->steps.hold) {
        memcpy(oc_step_result(allreduce, 0), result, allreduce->bytes);
        oc_step_publish(allreduce, 0);
    } else if (NULL != allreduce->base.group->node) {
        oc_step_piece_t piece = oc_step_piece(allreduce, 0);

        oc_step_copy_out(allreduce, result, &piece);
    } else {
        oc_vector_write(allreduce, 0, allreduce->bytes, result);
    }
    oc_count_copied(allreduce->base.group->client, allreduce->bytes);
}

static void small_finish_if_done(oc_allreduce_t *allreduce)
{
    if (0 == allreduce->waiting) {
        oc_collective_finish(&allreduce->base, allreduce->base.status);
    }
}

void oc_small_keep(oc_allreduce_t *allreduce, const void *result)
{
    if (!oc_kept_add(allreduce, result)) {
        allreduce->base.status = OC_ERR_NO_MEMORY;
        oc_client_collapse(allreduce->base.group->client, OC_ERR_NO_MEMORY, "out of memory");
    }
}

void oc_small_take(oc_allreduce_t *allreduce, const void *result)
{
    /* the members of a host keep it when they take the step */
    if (!allreduce->steps.hold) {
        oc_small_keep(allreduce, result);
    }
    small_hand_out(allreduce, result);
}

static void take_result(oc_small_t *small)
{
    oc_allreduce_t *allreduce = small->allreduce;
    const uint8_t *reply = reply_of(small);

    if (oc_allreduce_check_reply(allreduce, small->lane, reply, small->reply.transfer.length,
                                 OC_MESSAGE_RESULT)) {
        small_counters_of(allreduce)->bytes_received += oc_allreduce_payload(allreduce, allreduce->bytes);
        oc_small_take(allreduce, reply + OC_HEADER_SIZE);
    }
    small_finish_if_done(allreduce);
}

static void small_send_message(oc_small_t *small)
{
    oc_allreduce_t *allreduce = small->allreduce;
    const oc_lane_t *lane = small->lane;
    const oc_group_t *group = allreduce->base.group;

    assert(!small->sending);
    allreduce->waiting++;
    small->sending = true;
    small_counters_of(allreduce)->bytes_sent += oc_allreduce_payload(allreduce, allreduce->bytes);
    small_counters_of(allreduce)->messages_sent++;
    /* aggregators always have receives posted for these */
    oc_send_eager(lane->route->endpoint, &small->request.transfer, small->message,
                  OC_HEADER_SIZE + allreduce->bytes,
                  oc_tag(OC_KIND_REQUEST, lane->handle, group->servers->teams.rank,
                         allreduce->sequence, 0));
}

static void small_receive_reply(oc_small_t *small)
{
    oc_allreduce_t *allreduce = small->allreduce;
    const oc_group_t *group = allreduce->base.group;

    allreduce->waiting++;
    oc_receive(group->client->worker, &small->reply.transfer, reply_of(small),
               OC_HEADER_SIZE + allreduce->bytes,
               oc_tag(OC_KIND_REPLY, group->servers->reply_handle, small->lane->index,
                      allreduce->sequence, 0), OC_TAG_EXACT);
}

static void small_send_again(oc_small_t *small)
{
    small_counters_of(small->allreduce)->messages_resent++;
    small->resend_waits = false;
    small_send_message(small);
}

static void on_message_sent(oc_transfer_t *transfer)
{
    oc_small_t *small = ((oc_small_transfer_t *) transfer)->small;

    small->sending = false;
    if (!oc_allreduce_called_back(small->allreduce, transfer, small->lane)) {
        return;
    }
    if (small->resend_waits) {
        small_send_again(small);
    } else if (is_answered(small->allreduce)) {
        take_result(small);
    }
}

/* An aggregator asks once, when it has room. */
static bool resend_is_legal(const oc_small_t *small)
{
    oc_allreduce_t *allreduce = small->allreduce;

    if (!oc_allreduce_check_reply(allreduce, small->lane, reply_of(small), OC_HEADER_SIZE,
                                  OC_MESSAGE_RESEND)) {
        return false;
    }
    if (small->resent) {
        allreduce->base.status = OC_ERR_INVALID;
        oc_client_collapse(allreduce->base.group->client, OC_ERR_INVALID,
                           "server %.200s asked twice for the contribution to collective %llu",
                           small->lane->connection->name,
                           (unsigned long long) allreduce->sequence);
        return false;
    }
    return true;
}

static void small_on_resend(oc_small_t *small)
{
    if (!resend_is_legal(small)) {
        small_finish_if_done(small->allreduce);
        return;
    }
    small->resent = true;
    small_receive_reply(small);
    if (small->sending) {
        small->resend_waits = true;
    } else {
        small_send_again(small);
    }
}

static void on_reply(oc_transfer_t *transfer)
{
    oc_small_t *small = ((oc_small_transfer_t *) transfer)->small;
    oc_allreduce_t *allreduce = small->allreduce;

    if (oc_reply_is_forged(&allreduce->base, small->lane, transfer, reply_of(small))) {
        allreduce->waiting--;
        small_receive_reply(small);
        return;
    }
    if (!oc_allreduce_called_back(allreduce, transfer, small->lane)) {
        return;
    }
    /* a result is longer than its header */
    if (OC_HEADER_SIZE == transfer->length) {
        small_on_resend(small);
    } else if (is_answered(allreduce)) {
        take_result(small);
    }
}

static void write_header(oc_small_t *small)
{
    const oc_allreduce_t *allreduce = small->allreduce;
    const oc_group_t *group = allreduce->base.group;
    oc_header_t header = {
        .message = OC_MESSAGE_SMALL, .op = (uint8_t) allreduce->args.op,
        .type = (uint8_t) allreduce->type, .handle = small->lane->handle,
        .rank = group->servers->teams.rank, .chunk_bytes = (uint32_t) allreduce->bytes,
        .sequence = allreduce->sequence, .count = allreduce->args.count};

    oc_request_seal(group, small->lane, &header, small->message,
                    OC_HEADER_SIZE + allreduce->bytes);
}

/* Of its team, each one in turn. */
static oc_lane_t *choose_lane(const oc_allreduce_t *allreduce)
{
    const oc_group_t *group = allreduce->base.group;
    uint32_t teams = group->servers->teams.count;
    uint64_t turn = allreduce->sequence / teams;

    return &group->servers->lanes[oc_lane_number(group, oc_team_of(allreduce->sequence, 0, teams),
                                                 (unsigned) (turn % group->servers->num_small))];
}

/* Makes room for the message. Returns where the contribution goes; NULL: out of memory. */
static void *small_prepare(oc_allreduce_t *allreduce)
{
    oc_small_t *small = allreduce->state;

    small->message = oc_stock_take(&allreduce->base.group->client->stock,
                                   2 * half_of(allreduce));
    if (NULL == small->message) {
        return NULL;
    }
    small->allreduce = allreduce;
    small->request.small = small->reply.small = small;
    small->request.transfer.done = on_message_sent;
    small->reply.transfer.done = on_reply;
    return small->message + OC_HEADER_SIZE;
}

static void go(oc_allreduce_t *allreduce)
{
    oc_small_t *small = allreduce->state;

    small->lane = choose_lane(allreduce);
    write_header(small);
    small_receive_reply(small);
    small_send_message(small);
}

void oc_small_cancel(oc_allreduce_t *allreduce)
{
    oc_small_t *small = allreduce->state;

    oc_receive_cancel(&small->reply.transfer);
}

static void small_end(oc_allreduce_t *allreduce)
{
    oc_small_t *small = allreduce->state;

    oc_stock_give(&allreduce->base.group->client->stock, small->message, 2 * half_of(allreduce));
}

static const oc_lane_t *small_leftover(const oc_allreduce_t *allreduce)
{
    const oc_small_t *small = allreduce->state;

    return NULL != small->message && NULL != small->lane
                   && oc_leftover_is_here(allreduce, small->lane, OC_KIND_REPLY, 0)
               ? small->lane
               : NULL;
}

/* ---- flat shape ---- */

static oc_status_t small_flat_start(oc_allreduce_t *allreduce)
{
    void *contribution = small_prepare(allreduce);

    if (NULL == contribution) {
        return OC_ERR_NO_MEMORY;
    }
    if (!oc_vector_read(allreduce, 0, allreduce->bytes, contribution)) {
        return allreduce->vector.status;
    }
    oc_count_copied(allreduce->base.group->client, allreduce->bytes);
    go(allreduce);
    return OC_OK;
}

/* The message stays as it is, but for its header. */
static void small_suspend(oc_allreduce_t *allreduce)
{
    oc_small_t *small = allreduce->state;

    small->sending = small->resend_waits = small->resent = false;
    small->lane = NULL;
    allreduce->waiting = 0;
}

static oc_status_t small_resume(oc_allreduce_t *allreduce)
{
    go(allreduce);
    return OC_OK;
}

const oc_allreduce_algorithm_t oc_small_flat = {
    .state_size = sizeof(oc_small_t), .start = small_flat_start, .end = small_end,
    .suspend = small_suspend, .resume = small_resume,
    .leftover = small_leftover};

/* ---- node shape ---- */

static oc_status_t small_node_start(oc_allreduce_t *allreduce)
{
    oc_steps_join(allreduce, NULL, 1, allreduce->bytes);
    return OC_OK;
}

static bool small_node_may_send(oc_allreduce_t *allreduce, uint32_t step)
{
    (void) allreduce;
    (void) step;
    return true;
}

static void small_node_send(oc_allreduce_t *allreduce, uint32_t step)
{
    void *contribution = small_prepare(allreduce);

    if (NULL == contribution) {
        oc_client_collapse(allreduce->base.group->client, OC_ERR_NO_MEMORY, "out of memory");
    } else if (oc_step_reduce(allreduce, step, contribution)) {
        go(allreduce);
    }
}

/* The host goes through the step again. */
static void small_node_suspend(oc_allreduce_t *allreduce)
{
    small_end(allreduce);
    memset(allreduce->state, 0, sizeof(oc_small_t));
    allreduce->waiting = 0;
}

const oc_allreduce_algorithm_t oc_small_node = {
    .state_size = sizeof(oc_small_t), .start = small_node_start, .end = small_end,
    .suspend = small_node_suspend, .resume = small_node_start,
    .leftover = small_leftover, .may_send = small_node_may_send, .send = small_node_send};
