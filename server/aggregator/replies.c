/* SPDX-License-Identifier: BSD-3-Clause */
/* What an aggregator sends to members: data where it lies, and headers in buffers of their own. */
#include "server/aggregator/replies.h"

#include <assert.h>
#include <stdlib.h>

#include "protocol/tag.h"
#include "server/aggregator/server_codes.h"
#include "server/aggregator/server_group.h"

void oc_aggregator_send(oc_server_group_t *group, uint32_t rank, oc_transfer_t *transfer,
                        const void *data, size_t length, uint64_t tag)
{
    const oc_server_peer_t *peer = group->members[rank].peer;

    assert(rank < group->num_ranks);
    if (NULL == peer || NULL == peer->endpoint) {
        oc_transfer_fail(group->aggregator->worker, transfer, OC_ERR_UNREACHABLE);
    } else {
        /* whoever gets it has posted the receive before this could be sent */
        oc_send_eager(peer->endpoint, transfer, data, length, tag);
    }
}

static void replies_on_header_sent(oc_transfer_t *transfer)
{
    oc_server_group_t *group = ((oc_header_message_t *) transfer)->group;

    oc_aggregator_check_sent(group, transfer);
    free(transfer);
    oc_server_group_release(group);
}

oc_header_message_t *oc_header_message_new(oc_server_group_t *group)
{
    oc_header_message_t *message = calloc(1, sizeof(*message));

    if (NULL == message) {
        oc_server_group_failed(group, OC_ERR_NO_MEMORY, "the server is out of memory");
        return NULL;
    }
    message->group = group;
    message->transfer.done = replies_on_header_sent;
    oc_server_group_hold(group);
    return message;
}

void oc_aggregator_send_header(oc_server_group_t *group, uint32_t rank, const oc_header_t *header,
                               uint64_t slot)
{
    oc_header_message_t *message = oc_header_message_new(group);

    if (NULL != message) {
        oc_server_seal_reply(group, header, message->bytes, OC_HEADER_SIZE);
        oc_aggregator_send(group, rank, &message->transfer, message->bytes, OC_HEADER_SIZE,
                           oc_tag(OC_KIND_REPLY, group->members[rank].reply_handle, group->index,
                                  header->sequence, slot));
    }
}

void oc_aggregator_check_sent(oc_server_group_t *group, const oc_transfer_t *transfer)
{
    if (OC_OK != transfer->status && OC_ERR_UNREACHABLE != transfer->status
        && OC_ERR_CANCELED != transfer->status) {
        oc_server_group_failed(group, transfer->status, "a result could not be sent: %s",
                               oc_status_string(transfer->status));
    }
}
