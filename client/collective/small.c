/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Small Allreduces: one message there, one back, through buffers of the engine. Contribution
 * and result stay separate, so that a failure leaves the contribution intact, and so that it can
 * be sent once more to an aggregator that had no room for it.
 */
#include "client/collective/small.h"

#include <string.h>

#include "client/collective/collective.h"
#include "client/collective/reply.h"
#include "client/collective/step.h"
#include "client/collective/vector.h"
#include "client/state/codes.h"
#include "client/state/collapse.h"
#include "protocol/tag.h"

/* Of a header and the vector; twice in the message. */
static size_t half_of(const oc_collective_t *collective)
{
    return (OC_HEADER_SIZE + collective->bytes + 63) / 64 * 64;
}

static uint8_t *reply_of(const oc_collective_t *collective)
{
    return collective->message + half_of(collective);
}

/* Both messages have gone their way; in the node shape the result is still to be taken. */
static bool is_answered(const oc_collective_t *collective)
{
    return collective->waiting == (collective->holds ? 1 : 0);
}

/* In the node shape, others have to take it too. */
static void hand_out(oc_collective_t *collective, const void *result)
{
    if (NULL != collective->group->node) {
        memcpy(oc_step_result(collective, 0), result, collective->bytes);
        oc_step_publish(collective, 0);
    } else {
        oc_vector_write(collective, 0, collective->bytes, result);
    }
    collective->group->client->config.counters->bytes_copied += collective->bytes;
}

static void take_result(oc_collective_t *collective)
{
    const uint8_t *reply = reply_of(collective);
    oc_counters_t *counters = collective->group->client->config.counters;
    size_t length = collective->reply.transfer.length;

    if (oc_collective_check_reply(collective, collective->lane, reply, length,
                                  OC_MESSAGE_RESULT)) {
        counters->bytes_received += collective->bytes;
        hand_out(collective, reply + OC_HEADER_SIZE);
    }
    if (0 == collective->waiting) {
        oc_collective_finish(collective, collective->status);
    }
}

static void send_message(oc_collective_t *collective)
{
    const oc_lane_t *lane = collective->lane;
    const oc_group_t *group = collective->group;
    oc_counters_t *counters = group->client->config.counters;

    collective->waiting++;
    collective->sending = true;
    counters->bytes_sent += collective->bytes;
    counters->messages_sent++;
    /* aggregators always have receives posted for these */
    oc_send_eager(lane->route->endpoint, &collective->request.transfer, collective->message,
                  OC_HEADER_SIZE + collective->bytes,
                  oc_tag(OC_KIND_REQUEST, lane->handle, group->teams.rank,
                         collective->sequence, 0));
}

static void receive_reply(oc_collective_t *collective)
{
    collective->waiting++;
    oc_receive(collective->group->client->worker, &collective->reply.transfer,
               reply_of(collective), OC_HEADER_SIZE + collective->bytes,
               oc_tag(OC_KIND_REPLY, collective->group->reply_handle, collective->lane->index,
                      collective->sequence, 0), OC_TAG_EXACT);
}

static void send_again(oc_collective_t *collective)
{
    collective->group->client->config.counters->messages_resent++;
    collective->resend_waits = false;
    send_message(collective);
}

static void on_message_sent(oc_transfer_t *transfer)
{
    oc_collective_t *collective = ((oc_small_transfer_t *) transfer)->collective;

    collective->sending = false;
    if (!oc_collective_called_back(collective, transfer, collective->lane)) {
        return;
    }
    if (collective->resend_waits) {
        send_again(collective);
    } else if (is_answered(collective)) {
        take_result(collective);
    }
}

/* An aggregator asks once, when it has room. */
static bool resend_is_legal(oc_collective_t *collective)
{
    const oc_lane_t *lane = collective->lane;

    if (!oc_collective_check_reply(collective, lane, reply_of(collective), OC_HEADER_SIZE,
                                   OC_MESSAGE_RESEND)) {
        return false;
    }
    if (collective->resent) {
        collective->status = OC_ERR_INVALID;
        oc_client_collapse(collective->group->client, OC_ERR_INVALID,
                           "server %.200s asked twice for the contribution to collective %llu",
                           lane->connection->name, (unsigned long long) collective->sequence);
        return false;
    }
    return true;
}

static void on_resend(oc_collective_t *collective)
{
    if (!resend_is_legal(collective)) {
        if (0 == collective->waiting) {
            oc_collective_finish(collective, collective->status);
        }
        return;
    }
    collective->resent = true;
    receive_reply(collective);
    if (collective->sending) {
        collective->resend_waits = true;
    } else {
        send_again(collective);
    }
}

static void on_reply(oc_transfer_t *transfer)
{
    oc_collective_t *collective = ((oc_small_transfer_t *) transfer)->collective;

    if (oc_collective_is_forged(collective, collective->lane, transfer, reply_of(collective))) {
        collective->waiting--;
        receive_reply(collective);
        return;
    }
    if (!oc_collective_called_back(collective, transfer, collective->lane)) {
        return;
    }
    /* a result is longer than its header */
    if (OC_HEADER_SIZE == transfer->length) {
        on_resend(collective);
    } else if (is_answered(collective)) {
        take_result(collective);
    }
}

static void write_header(oc_collective_t *collective)
{
    const oc_lane_t *lane = collective->lane;
    oc_header_t header = {
        .message = OC_MESSAGE_SMALL, .op = (uint8_t) collective->args.op,
        .type = (uint8_t) collective->type, .handle = lane->handle,
        .rank = collective->group->teams.rank, .chunk_bytes = (uint32_t) collective->bytes,
        .sequence = collective->sequence, .count = collective->args.count};

    oc_collective_seal(collective, lane, &header, collective->message,
                       OC_HEADER_SIZE + collective->bytes);
}

/* Of its team, each one in turn. */
static oc_lane_t *choose_lane(const oc_collective_t *collective)
{
    const oc_group_t *group = collective->group;
    const oc_teams_t *teams = &group->teams;
    uint64_t team = collective->sequence % teams->count;
    uint64_t own = (team - teams->first) / teams->step;

    return &group->lanes[own * group->num_lanes
                         + collective->sequence / teams->count % group->num_small];
}

void *oc_small_prepare(oc_collective_t *collective)
{
    collective->message = oc_stock_take(&collective->group->client->stock,
                                        2 * half_of(collective));
    if (NULL == collective->message) {
        return NULL;
    }
    collective->lane = choose_lane(collective);
    collective->request.collective = collective->reply.collective = collective;
    collective->request.transfer.done = on_message_sent;
    collective->reply.transfer.done = on_reply;
    return collective->message + OC_HEADER_SIZE;
}

void oc_small_send(oc_collective_t *collective)
{
    write_header(collective);
    receive_reply(collective);
    send_message(collective);
}

void oc_small_end(oc_collective_t *collective)
{
    oc_stock_give(&collective->group->client->stock, collective->message,
                  2 * half_of(collective));
    collective->message = NULL;
}

oc_status_t oc_small_start(oc_collective_t *collective)
{
    void *contribution;

    if (NULL != collective->group->node) {
        collective->chunk_bytes = (uint32_t) collective->bytes;
        oc_steps_join(collective, 1);
        return OC_OK;
    }
    contribution = oc_small_prepare(collective);
    if (NULL == contribution) {
        return OC_ERR_NO_MEMORY;
    }
    if (!oc_vector_read(collective, 0, collective->bytes, contribution)) {
        return collective->vector.status;
    }
    collective->group->client->config.counters->bytes_copied += collective->bytes;
    oc_small_send(collective);
    return OC_OK;
}
