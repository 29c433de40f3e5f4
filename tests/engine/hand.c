/* SPDX-License-Identifier: BSD-3-Clause */
/* A rank without its client. */
#include "tests/engine/hand.h"

#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "protocol/seal.h"
#include "protocol/tag.h"

#define PATIENCE_MS 60000

hand_t hand_open(rank_t *rank, unsigned group)
{
    hand_t hand = {.rank = rank, .group = rank_group(rank, group)};

    CHECK(OC_GROUP_LIVE == oc_group_state(hand.group));
    CHECK(0 == oc_client_pending(rank->client));
    hand.lane = &hand.group->servers->lanes[0];
    return hand;
}

oc_header_t hand_large(const hand_t *hand, uint8_t message, uint64_t sequence, uint32_t chunk_bytes,
                       uint32_t chunks)
{
    return (oc_header_t) {.message = message,
                          .op = OC_OP_SUM,
                          .type = OC_TYPE_INT32,
                          .handle = hand->lane->handle,
                          .rank = hand->group->servers->teams.rank,
                          .chunk_bytes = chunk_bytes,
                          .last_bytes = chunk_bytes,
                          .chunks = chunks,
                          .sequence = sequence,
                          .count = (uint64_t) chunk_bytes * chunks / sizeof(int32_t)};
}

oc_header_t hand_small(const hand_t *hand, uint64_t sequence, uint32_t bytes)
{
    return (oc_header_t) {.message = OC_MESSAGE_SMALL,
                          .op = OC_OP_SUM,
                          .type = OC_TYPE_INT32,
                          .handle = hand->lane->handle,
                          .rank = hand->group->servers->teams.rank,
                          .chunk_bytes = bytes,
                          .sequence = sequence,
                          .count = bytes / sizeof(int32_t)};
}

static void on_done(oc_transfer_t *transfer)
{
    ((hand_message_t *) transfer)->done = true;
}

bool hand_wait(hand_t *hand, const hand_message_t *message, unsigned ms)
{
    uint64_t end = oc_clock_ns() + ms * OC_MILLISECOND;

    while (!message->done) {
        if (0 == oc_worker_progress(hand->rank->client->worker)) {
            if (oc_clock_ns() > end) {
                return false;
            }
            usleep(20);
        }
    }
    return true;
}

static void send_message(hand_t *hand, hand_message_t *message, const void *bytes, size_t length,
                         uint64_t tag)
{
    const rank_t *rank = hand->rank;

    message->transfer.done = on_done;
    message->done = false;
    oc_send_eager(hand->lane->route->endpoint, &message->transfer, bytes, length, tag);
    CHECK(hand_wait(hand, message, PATIENCE_MS));
    CHECK(OC_OK == message->transfer.status);
}

void hand_request(hand_t *hand, const oc_header_t *header, const void *data)
{
    static hand_message_t message;
    size_t length = OC_MESSAGE_SMALL == header->message ? header->chunk_bytes : 0;

    oc_header_encode(header, message.bytes);
    if (length > 0) {
        memcpy(message.bytes + OC_HEADER_SIZE, data, length);
    }
    oc_seal(hand->lane->connection->codes, hand->group->servers->id, hand->lane->index, header,
            message.bytes, OC_HEADER_SIZE + length);
    send_message(hand, &message, message.bytes, OC_HEADER_SIZE + length,
                 oc_tag(OC_KIND_REQUEST, header->handle, header->rank, header->sequence, 0));
}

void hand_contribute(hand_t *hand, uint64_t sequence, uint32_t slot, const void *data,
                     size_t length)
{
    static hand_message_t message;

    send_message(hand, &message, data, length,
                 oc_tag(OC_KIND_CONTRIBUTION, hand->lane->handle, hand->group->servers->teams.rank,
                        sequence, slot));
}

void hand_expect(hand_t *hand, hand_message_t *message, uint64_t tag)
{
    message->transfer.done = on_done;
    message->done = false;
    oc_receive(hand->rank->client->worker, &message->transfer, message->bytes,
               sizeof(message->bytes), tag, OC_TAG_EXACT);
}

uint64_t hand_reply_tag(const hand_t *hand, uint64_t sequence, uint64_t slot)
{
    return oc_tag(OC_KIND_REPLY, hand->group->servers->reply_handle, hand->lane->index, sequence,
                  slot);
}

uint64_t hand_result_tag(const hand_t *hand, uint64_t sequence, uint64_t slot)
{
    return oc_tag(OC_KIND_RESULT, hand->group->servers->reply_handle, hand->lane->index, sequence,
                  slot);
}
