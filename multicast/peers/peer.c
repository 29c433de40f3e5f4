/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The life of a peer. It stays when its last user has gone: closing an endpoint would break the
 * peer's own one, which its other groups use. Only lost peers go, with their last user and message.
 *
 * A peer may be there before its address is known: nothing is sent to it until that comes.
 */
#include "multicast/peers/peer.h"

#include <assert.h>
#include <stdlib.h>
#include <utlist.h>

void oc_cast_peer_free(oc_cast_peer_t *peer)
{
    assert(0 == peer->users || peer->peers->closing);
    DL_DELETE(peer->peers->all, peer);
    oc_shelf_view_close(peer->view);
    free(peer->address);
    free(peer);
}

void oc_cast_peer_reap(oc_cast_peer_t *peer)
{
    if (NULL != peer->reason && 0 == peer->users && 0 == peer->unsent) {
        oc_cast_peer_free(peer);
    }
}

void oc_cast_peer_lose(oc_cast_peer_t *peer, const char *reason)
{
    oc_peers_t *peers = peer->peers;

    if (NULL != peer->reason || peers->closing) {
        return;
    }
    peer->reason = reason;
    peer->users++;
    oc_shelf_view_close(peer->view);
    peer->view = NULL;
    if (NULL != peers->shelf) {
        oc_shelf_clear(peers->shelf, peer, NULL, NULL);
    }
    HASH_DEL(peers->table, peer);
    DL_APPEND2(peers->lost, peer, lost_prev, lost_next);
}

oc_cast_peer_t *oc_cast_peer_get(oc_peers_t *peers, uint32_t process, uint64_t digest)
{
    oc_cast_peer_t *peer;

    HASH_FIND(hh, peers->table, &process, sizeof(process), peer);
    if (NULL != peer && peer->digest == digest) {
        peer->users++;
        return peer;
    }
    if (NULL != peer) {
        /* it has begun anew, and nobody is at the old address any more */
        oc_cast_peer_lose(peer, "it has another address now");
    }
    peer = calloc(1, sizeof(*peer));
    if (NULL == peer) {
        return NULL;
    }
    peer->peers = peers;
    peer->process = process;
    peer->digest = digest;
    peer->users = 1;
    DL_APPEND(peers->all, peer);
    HASH_ADD(hh, peers->table, process, sizeof(peer->process), peer);
    return peer;
}

void oc_cast_peer_release(oc_cast_peer_t *peer)
{
    assert(peer->users > 0);
    peer->users--;
    oc_cast_peer_reap(peer);
}

bool oc_cast_peer_is_known(const oc_cast_peer_t *peer)
{
    return NULL != peer->address || NULL != peer->reason;
}

bool oc_cast_peer_is_reachable(const oc_cast_peer_t *peer)
{
    return (NULL != peer->address && !peer->shy) || NULL != peer->reason;
}

void oc_cast_peer_heard(oc_cast_peer_t *peer)
{
    peer->shy = false;
}

void oc_cast_peer_share(oc_cast_peer_t *peer, uint32_t own)
{
    peer->shares = true;
    peer->own = own;
}

uint32_t oc_cast_peer_process(const oc_cast_peer_t *peer)
{
    return peer->process;
}

const char *oc_cast_peer_reason(const oc_cast_peer_t *peer)
{
    return NULL != peer->reason ? peer->reason : "";
}
