/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Small Allreduces: one message there, one back, through buffers of the engine. Contribution
 * and result stay separate, so that a failure leaves the contribution intact.
 */
#include <stdlib.h>
#include <string.h>

#include "client/types.h"
#include "protocol/tag.h"

static const oc_lane_t *lane_of(const oc_collective_t *collective)
{
    const oc_group_t *group = collective->group;

    return &group->lanes[collective->sequence % group->num_lanes];
}

static void take_result(oc_collective_t *collective)
{
    const uint8_t *reply = collective->message + collective->reply_offset;
    oc_counters_t *counters = collective->group->client->config.counters;
    size_t length = collective->reply.transfer.length;

    if (oc_collective_check_reply(collective, lane_of(collective), reply, length,
                                  OC_MESSAGE_RESULT)) {
        memcpy(collective->recv, reply + OC_HEADER_SIZE, collective->bytes);
        counters->bytes_copied += collective->bytes;
        counters->bytes_received += collective->bytes;
    }
    oc_collective_finish(collective, collective->status);
}

static void on_transfer(oc_transfer_t *transfer)
{
    oc_collective_t *collective = ((oc_part_transfer_t *) transfer)->part->collective;
    const oc_lane_t *lane = ((oc_part_transfer_t *) transfer)->part->lane;

    if (oc_collective_called_back(collective, transfer, lane) && 0 == collective->waiting) {
        take_result(collective);
    }
}

static void send_request(oc_collective_t *collective, const oc_lane_t *lane)
{
    const oc_group_t *group = collective->group;
    oc_counters_t *counters = group->client->config.counters;
    oc_header_t header = {
        .message = OC_MESSAGE_SMALL, .op = (uint8_t) collective->args.op,
        .type = (uint8_t) collective->args.type, .handle = lane->handle,
        .rank = group->params.rank, .chunk_bytes = (uint32_t) collective->bytes,
        .sequence = collective->sequence, .count = collective->args.count};

    oc_header_encode(&header, collective->message);
    memcpy(collective->message + OC_HEADER_SIZE, collective->send, collective->bytes);
    counters->bytes_copied += collective->bytes;
    counters->bytes_sent += collective->bytes;
    counters->messages_sent++;
    oc_send(lane->endpoint, &collective->request.transfer, collective->message,
            OC_HEADER_SIZE + collective->bytes,
            oc_tag(OC_KIND_REQUEST, lane->handle, group->params.rank, collective->sequence, 0));
}

oc_status_t oc_small_start(oc_collective_t *collective)
{
    const oc_lane_t *lane = lane_of(collective);
    size_t room = (OC_HEADER_SIZE + collective->bytes + 63) / 64 * 64;

    collective->message = aligned_alloc(64, 2 * room);
    collective->parts = calloc(1, sizeof(*collective->parts));
    if (NULL == collective->message || NULL == collective->parts) {
        return OC_ERR_NO_MEMORY;
    }
    collective->num_parts = 1;
    collective->parts[0].collective = collective;
    collective->parts[0].lane = lane;
    collective->reply_offset = room;
    collective->request.part = collective->reply.part = &collective->parts[0];
    collective->request.transfer.done = collective->reply.transfer.done = on_transfer;
    collective->waiting = 2;
    oc_receive(collective->group->client->worker, &collective->reply.transfer,
               collective->message + room, OC_HEADER_SIZE + collective->bytes,
               oc_tag(OC_KIND_REPLY, collective->group->reply_handle, lane->index,
                      collective->sequence, 0), OC_TAG_EXACT);
    send_request(collective, lane);
    return OC_OK;
}
