/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The clients of an aggregator: their endpoints, and who still points to them. An endpoint is made
 * for a client's first group: it takes memory and a connection, and of a tree's leaves ranks greet
 * two and join one.
 */
#include "server/aggregator/server_peers.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

/* Of a client that is gone, the last one ends this. */
static void peer_release(oc_server_peer_t *peer)
{
    if (NULL == peer->endpoint && NULL == peer->address && 0 == peer->members) {
        free(peer);
    }
}

void oc_server_peer_leave(oc_server_peer_t *peer)
{
    assert(peer->members > 0);
    peer->members--;
    peer_release(peer);
}

void oc_server_peer_lost(oc_aggregator_t *aggregator, uint32_t client)
{
    oc_command_t *command = oc_command_new(OC_COMMAND_CLIENT_LOST, NULL, 0);

    if (NULL != command) {
        command->client = client;
        oc_mailbox_post(aggregator->config.control, command);
    }
}

static void on_peer_failed(void *arg)
{
    oc_server_peer_t *peer = arg;

    oc_server_peer_lost(peer->aggregator, peer->client);
}

static void connect_to(oc_server_peer_t *peer)
{
    assert(NULL != peer->address);
    if (OC_OK != oc_endpoint_open(peer->aggregator->worker, peer->address, on_peer_failed, peer,
                                  &peer->endpoint)) {
        oc_server_peer_lost(peer->aggregator, peer->client);
        return;
    }
    free(peer->address);
    peer->address = NULL;
    peer->aggregator->served_clients++;
}

oc_server_peer_t *oc_server_peer_join(oc_aggregator_t *aggregator, uint32_t client)
{
    oc_server_peer_t *peer;

    HASH_FIND(hh, aggregator->peers, &client, sizeof(client), peer);
    if (NULL != peer) {
        peer->members++;
        if (NULL == peer->endpoint) {
            connect_to(peer);
        }
    }
    return peer;
}

void oc_server_peer_add(oc_aggregator_t *aggregator, const oc_command_t *command)
{
    oc_server_peer_t *peer = calloc(1, sizeof(*peer));

    if (NULL != peer) {
        peer->address = malloc(command->length);
    }
    if (NULL == peer || NULL == peer->address) {
        oc_server_peer_lost(aggregator, command->client);
        free(peer);
        return;
    }
    memcpy(peer->address, command->data, command->length);
    peer->client = command->client;
    peer->aggregator = aggregator;
    HASH_ADD(hh, aggregator->peers, client, sizeof(uint32_t), peer);
}

void oc_server_peer_drop(oc_aggregator_t *aggregator, uint32_t client)
{
    oc_server_peer_t *peer;

    HASH_FIND(hh, aggregator->peers, &client, sizeof(client), peer);
    if (NULL != peer) {
        HASH_DEL(aggregator->peers, peer);
        oc_endpoint_close(peer->endpoint);
        peer->endpoint = NULL;
        free(peer->address);
        peer->address = NULL;
        peer_release(peer);
    }
}
