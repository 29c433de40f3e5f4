/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Peers, their endpoints and messages. A peer stays when its last user has gone: closing an
 * endpoint would break the peer's own one, which its other groups use. Only lost peers go, with
 * their last user and message.
 *
 * A peer may be there before its address is known: nothing is sent to it until that comes.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <utlist.h>

#include "base/limits.h"
#include "base/log.h"
#include "multicast/peers/peers_types.h"
#include "protocol/tag.h"

/* At the end: looks at UCX without any arrival after which nothing more is expected, and all. */
#define IDLE_ROUNDS  16
#define DRAIN_ROUNDS 1000

/* From UCX; it is waiting again at the end of oc_peers_progress at the earliest. */
static void on_arrived(oc_transfer_t *transfer)
{
    oc_landing_t *landing = (oc_landing_t *) transfer;
    oc_peers_t *peers = landing->peers;

    landing->posted = false;
    if (peers->closing) {
        return;
    }
    if (OC_OK == transfer->status && oc_tag(OC_KIND_CAST, 0, 0, 0, OC_NOTE_SLOT) == transfer->tag) {
        oc_sharing_take_note(peers, landing->bytes, transfer->length);
    } else if (OC_OK == transfer->status) {
        peers->events.arrived(peers->events.arg, landing->bytes, transfer->length);
    } else if (OC_ERR_CANCELED != transfer->status) {
        oc_debug("a message between ranks was dropped: %s", oc_status_string(transfer->status));
    }
}

static void post_landings(oc_peers_t *peers)
{
    for (unsigned i = 0; i < OC_LANDINGS; i++) {
        oc_landing_t *landing = &peers->landings[i];

        if (!landing->posted) {
            landing->posted = true;
            oc_receive(peers->worker, &landing->transfer, landing->bytes, peers->max_message,
                       oc_tag(OC_KIND_CAST, 0, 0, 0, 0), OC_TAG_KIND_MASK);
        }
    }
}

/*
 * Serial numbers begin anywhere, because a process may come back under the number that another one
 * had in the job, and must not use its nonces again.
 */
static oc_status_t prepare_notes(oc_peers_t *peers, const uint8_t *job_key, char *error,
                                 size_t error_size)
{
    peers->mac = oc_mac_new(job_key, OC_JOB_KEY_SIZE, OC_NOTE_PURPOSE, NULL, 0);
    if (NULL == peers->mac) {
        return OC_ERR_NO_MEMORY;
    }
    if (sizeof(peers->serial) != getrandom(&peers->serial, sizeof(peers->serial), 0)) {
        snprintf(error, error_size, "the system has no random numbers");
        return OC_ERR_SYSTEM;
    }
    return OC_OK;
}

oc_status_t oc_peers_open(const oc_peers_events_t *events, const char *net_devices,
                          size_t max_message, const uint8_t *job_key, oc_peers_t **result, char *error,
                          size_t error_size)
{
    oc_peers_t *peers = calloc(1, sizeof(*peers));
    uint8_t *bytes = malloc((OC_LANDINGS + 1) * max_message);
    oc_admission_t *admission = oc_admission_open();
    oc_status_t status = OC_ERR_NO_MEMORY;

    snprintf(error, error_size, "out of memory");
    if (NULL != peers && NULL != bytes && NULL != admission) {
        status = prepare_notes(peers, job_key, error, error_size);
    }
    if (OC_OK == status) {
        status = oc_worker_open(net_devices, &peers->worker, error, error_size);
    }
    if (OC_OK != status) {
        if (NULL != peers) {
            oc_mac_free(peers->mac);
        }
        oc_admission_close(admission);
        free(bytes);
        free(peers);
        return status;
    }
    peers->admission = admission;
    oc_worker_guard(peers->worker, admission);
    peers->events = *events;
    peers->max_message = max_message;
    for (unsigned i = 0; i < OC_LANDINGS; i++) {
        peers->landings[i].peers = peers;
        peers->landings[i].bytes = bytes + i * max_message;
        peers->landings[i].transfer.done = on_arrived;
    }
    peers->taken = bytes + OC_LANDINGS * max_message;
    post_landings(peers);
    *result = peers;
    return OC_OK;
}

static void peer_free(oc_peer_t *peer)
{
    DL_DELETE(peer->peers->all, peer);
    oc_shelf_view_close(peer->view);
    free(peer->address);
    free(peer);
}

/* Takes what has arrived and nobody waits for, such as a second answer: UCX would warn of it. */
static void drain(oc_peers_t *peers)
{
    unsigned idle = 0;

    for (unsigned i = 0; i < DRAIN_ROUNDS && idle < IDLE_ROUNDS; i++) {
        idle = oc_worker_progress(peers->worker) > 0 ? 0 : idle + 1;
        post_landings(peers);
    }
}

void oc_peers_close(oc_peers_t *peers)
{
    oc_peer_t *peer, *next;

    if (NULL == peers) {
        return;
    }
    peers->closing = true;
    drain(peers);
    oc_worker_close(peers->worker);
    oc_admission_close(peers->admission);
    HASH_CLEAR(hh, peers->table);
    DL_FOREACH_SAFE (peers->all, peer, next) {
        peer_free(peer);
    }
    oc_shelf_close(peers->shelf);
    oc_mac_free(peers->mac);
    free(peers->landings[0].bytes);
    free(peers);
}

oc_admission_t *oc_peers_admission(const oc_peers_t *peers)
{
    return peers->admission;
}

const void *oc_peers_address(const oc_peers_t *peers, size_t *length)
{
    return oc_worker_address(peers->worker, length);
}

void oc_peer_reap(oc_peer_t *peer)
{
    if (NULL != peer->reason && 0 == peer->users && 0 == peer->unsent) {
        peer_free(peer);
    }
}

/* Told later: whoever posts is not ready to hear it. The loss itself counts as a user till then. */
void oc_peer_lose(oc_peer_t *peer, const char *reason)
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

static void tell_losses(oc_peers_t *peers)
{
    oc_peer_t *peer;

    while (NULL != (peer = peers->lost)) {
        DL_DELETE2(peers->lost, peer, lost_prev, lost_next);
        oc_endpoint_close(peer->endpoint);
        peer->endpoint = NULL;
        peers->events.lost(peers->events.arg, peer);
        oc_peer_release(peer);
    }
}

unsigned oc_peers_progress(oc_peers_t *peers)
{
    unsigned count = oc_worker_progress(peers->worker);

    if (count > 0) {
        post_landings(peers);
    }
    if (NULL != peers->lost) {
        tell_losses(peers);
    }
    return count;
}

unsigned oc_peers_pending(const oc_peers_t *peers)
{
    return peers->unsent + (NULL != peers->lost);
}

bool oc_peers_arm(oc_peers_t *peers, int *fd)
{
    return NULL == peers->lost && OC_OK == oc_worker_arm(peers->worker, fd);
}

oc_peer_t *oc_peer_get(oc_peers_t *peers, uint32_t process, uint64_t digest)
{
    oc_peer_t *peer;

    HASH_FIND(hh, peers->table, &process, sizeof(process), peer);
    if (NULL != peer && peer->digest == digest) {
        peer->users++;
        return peer;
    }
    if (NULL != peer) {
        /* it has begun anew, and nobody is at the old address any more */
        oc_peer_lose(peer, "it has another address now");
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

void oc_peer_release(oc_peer_t *peer)
{
    peer->users--;
    oc_peer_reap(peer);
}

bool oc_peer_is_known(const oc_peer_t *peer)
{
    return NULL != peer->address || NULL != peer->reason;
}

void oc_peer_share(oc_peer_t *peer, uint32_t own)
{
    peer->shares = true;
    peer->own = own;
}

uint32_t oc_peer_process(const oc_peer_t *peer)
{
    return peer->process;
}

const char *oc_peer_reason(const oc_peer_t *peer)
{
    return NULL != peer->reason ? peer->reason : "";
}
