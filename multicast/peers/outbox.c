/* SPDX-License-Identifier: BSD-3-Clause */
/* Messages to peers, and their connections. */
#include "multicast/peers/outbox.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "multicast/peers/peer.h"
#include "multicast/wire/contact.h"
#include "protocol/tag.h"

/* Bytes that may wait to leave, to one peer and to all. */
#define PEER_ROOM  (256u << 10)
#define TOTAL_ROOM (16u << 20)

oc_outbox_t *oc_outbox_new(void)
{
    return calloc(1, sizeof(oc_outbox_t));
}

void oc_outbox_drop(oc_outbox_t *outbox)
{
    if (NULL == outbox || 0 == outbox->unsent) {
        free(outbox);
    } else {
        outbox->dropped = true;
    }
}

unsigned oc_outbox_unsent(const oc_outbox_t *outbox)
{
    return outbox->unsent;
}

static void account(oc_cast_peer_message_t *message, int sign)
{
    oc_cast_peer_t *peer = message->peer;
    size_t bytes = sign > 0 ? message->length : -message->length;

    assert(sign > 0 || (peer->unsent > 0 && peer->unsent_bytes >= message->length));
    assert(sign > 0 || (peer->peers->unsent >= peer->unsent
                        && peer->peers->unsent_bytes >= peer->unsent_bytes));
    assert(sign > 0 || NULL == message->outbox || message->outbox->unsent > 0);
    if (NULL != message->outbox) {
        message->outbox->unsent += (unsigned) sign;
    }
    peer->unsent += (unsigned) sign;
    peer->unsent_bytes += bytes;
    peer->peers->unsent += (unsigned) sign;
    peer->peers->unsent_bytes += bytes;
}

static void on_endpoint_failed(void *arg)
{
    oc_cast_peer_lose(arg, "its connection broke");
}

static void outbox_on_sent(oc_transfer_t *transfer)
{
    oc_cast_peer_message_t *message = (oc_cast_peer_message_t *) transfer;

    account(message, -1);
    if (NULL != message->outbox && message->outbox->dropped) {
        oc_outbox_drop(message->outbox);
    }
    if (OC_OK != transfer->status) {
        oc_cast_peer_lose(message->peer, "its connection broke");
    }
    oc_cast_peer_reap(message->peer);
    free(message);
}

static bool outbox_connect_peer(oc_cast_peer_t *peer)
{
    if (NULL == peer->endpoint
        && OC_OK != oc_endpoint_open(peer->peers->worker, peer->address, on_endpoint_failed, peer,
                                     &peer->endpoint)) {
        oc_cast_peer_lose(peer, "UCX finds no way to it: the network devices of the two hosts have "
                          "nothing in common, see OPTCAST_UCX_NET_DEVICES");
    }
    return NULL != peer->endpoint;
}

bool oc_cast_peer_is_open(oc_cast_peer_t *peer)
{
    return NULL == peer->reason && NULL != peer->address && outbox_connect_peer(peer);
}

void oc_cast_peer_learn(oc_cast_peer_t *peer, const void *address, size_t length, bool shy)
{
    if (oc_cast_peer_is_known(peer)) {
        return;
    }
    if (oc_contact_digest(address, length) != peer->digest) {
        oc_debug("an address of process %u of the job was dropped: it is another's", peer->process);
        return;
    }
    peer->address = malloc(length);
    if (NULL == peer->address) {
        oc_cast_peer_lose(peer, "this rank has no memory for its address");
        return;
    }
    memcpy(peer->address, address, length);
    peer->shy = shy;
}

void oc_cast_peer_send(oc_cast_peer_t *peer, oc_outbox_t *outbox, uint64_t slot, const void *head,
                       size_t head_length, const void *data, size_t data_length)
{
    oc_cast_peer_message_t *message = malloc(sizeof(*message) + head_length + data_length);

    if (NULL == message) {
        oc_cast_peer_lose(peer, "this rank has no memory for a message to it");
        return;
    }
    *message = (oc_cast_peer_message_t) {.transfer.done = outbox_on_sent,
                                         .peer = peer,
                                         .outbox = outbox,
                                         .length = head_length + data_length};
    memcpy(message->bytes, head, head_length);
    if (data_length > 0) {
        memcpy(message->bytes + head_length, data, data_length);
    }
    assert(NULL != peer->endpoint);
    account(message, 1);
    oc_send(peer->endpoint, &message->transfer, message->bytes, message->length,
            oc_tag(OC_KIND_CAST, 0, 0, 0, slot));
}

size_t oc_cast_peer_room(const oc_cast_peer_t *peer)
{
    size_t total = peer->peers->unsent_bytes;
    size_t here = peer->unsent_bytes < PEER_ROOM ? PEER_ROOM - peer->unsent_bytes : 0;
    size_t all = total < TOTAL_ROOM ? TOTAL_ROOM - total : 0;

    return here < all ? here : all;
}
