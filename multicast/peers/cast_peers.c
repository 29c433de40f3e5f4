/* SPDX-License-Identifier: BSD-3-Clause */
/* The processes of a job that this one exchanges messages with: arrivals, losses, progress. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <utlist.h>

#include "base/limits.h"
#include "base/log.h"
#include "multicast/peers/outbox.h"
#include "multicast/peers/peer.h"
#include "multicast/peers/sharing.h"
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
        snprintf(error, error_size, "out of memory");
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

    if (NULL != peers && NULL != bytes && NULL != admission) {
        status = prepare_notes(peers, job_key, error, error_size);
    } else {
        snprintf(error, error_size, "out of memory");
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

/* Takes what has arrived and nobody waits for, such as a second answer: UCX would warn of it. */
static void cast_peers_drain(oc_peers_t *peers)
{
    unsigned idle = 0;

    for (unsigned i = 0; i < DRAIN_ROUNDS && idle < IDLE_ROUNDS; i++) {
        idle = oc_worker_progress(peers->worker) > 0 ? 0 : idle + 1;
        post_landings(peers);
    }
}

void oc_peers_close(oc_peers_t *peers)
{
    oc_cast_peer_t *peer, *next;

    if (NULL == peers) {
        return;
    }
    peers->closing = true;
    cast_peers_drain(peers);
    oc_worker_close(peers->worker);
    oc_admission_close(peers->admission);
    HASH_CLEAR(hh, peers->table);
    DL_FOREACH_SAFE (peers->all, peer, next) {
        oc_cast_peer_free(peer);
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

static void tell_losses(oc_peers_t *peers)
{
    oc_cast_peer_t *peer;

    while (NULL != (peer = peers->lost)) {
        DL_DELETE2(peers->lost, peer, lost_prev, lost_next);
        oc_endpoint_close(peer->endpoint);
        peer->endpoint = NULL;
        peers->events.lost(peers->events.arg, peer);
        oc_cast_peer_release(peer);
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

void oc_cast_peer_post(oc_cast_peer_t *peer, oc_outbox_t *outbox, const void *head,
                       size_t head_length, const void *data, size_t data_length)
{
    if (!oc_cast_peer_is_open(peer)) {
        return;
    }
    if (NULL != outbox || 0 == data_length
        || !oc_sharing_lay_out(peer, head, head_length, data, data_length)) {
        oc_cast_peer_send(peer, outbox, 0, head, head_length, data, data_length);
    }
}
