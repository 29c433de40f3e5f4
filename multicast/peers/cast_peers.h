/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Messages between the processes of a job: a UCX worker of its own, and a table of peers with
 * one endpoint each, shared by all groups. Messages are reliable and in no order. Not thread-safe:
 * callers lock. Nothing here waits for a peer.
 *
 * Data for a peer on the same host lies in shared memory if both can get at it; then only a note
 * about it is sent.
 */
#ifndef OC_MULTICAST_PEERS_CAST_PEERS_H
#define OC_MULTICAST_PEERS_CAST_PEERS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/status.h"
#include "net/admission.h"

typedef struct oc_peers oc_peers_t;
typedef struct oc_cast_peer oc_cast_peer_t;

/* Counts the messages of one user that have not left yet; outlives its user if it has to. */
typedef struct oc_outbox oc_outbox_t;

/* All are called from oc_peers_progress only; the first two may post and release. */
typedef struct {
    void (*arrived)(void *arg, const uint8_t *bytes, size_t length);
    /* Nothing reaches this peer any more; called once for each. */
    void (*lost)(void *arg, oc_cast_peer_t *peer);
    /* The message of so many bytes that arrives next came through shared memory. May be NULL. */
    void (*shared)(void *arg, size_t length);
    /* A note came that is from no process of the job. May be NULL. */
    void (*forged)(void *arg);
    void *arg;
} oc_peers_events_t;

/*
 * net_devices: as of oc_worker_open. Longest message: what is longer is dropped by the receiver.
 * job_key: OC_JOB_KEY_SIZE bytes. An error is one sentence.
 */
oc_status_t oc_peers_open(const oc_peers_events_t *events, const char *net_devices,
                          size_t max_message, const uint8_t *job_key, oc_peers_t **peers, char *error,
                          size_t error_size);

/* Messages that have not left are dropped. NULL is allowed. */
void oc_peers_close(oc_peers_t *peers);

/* Who may connect; nobody at first. Owned by peers. */
oc_admission_t *oc_peers_admission(const oc_peers_t *peers);

/* What other processes connect to; owned by peers. */
const void *oc_peers_address(const oc_peers_t *peers, size_t *length);

/* Moves messages; returns how many callbacks of UCX ran. */
unsigned oc_peers_progress(oc_peers_t *peers);

/* Messages that have not left, and losses that were not told yet. */
unsigned oc_peers_pending(const oc_peers_t *peers);

/* Gets ready to sleep on *fd. false: there is something to do at once. */
bool oc_peers_arm(oc_peers_t *peers, int *fd);

/*
 * The process of this number, whose UCX address has this digest (oc_contact_digest), for a user
 * who has to release it. Nothing is sent to it before its address is known; it is connected with
 * the first message. NULL: out of memory.
 */
oc_cast_peer_t *oc_cast_peer_get(oc_peers_t *peers, uint32_t process, uint64_t digest);
void oc_cast_peer_release(oc_cast_peer_t *peer);

/* Whether its address is known; true of a lost peer. */
bool oc_cast_peer_is_known(const oc_cast_peer_t *peer);
/*
 * Tells the address. One that is known stays, and one with another digest is not taken. shy: the peer may connect to
 * this process, and does not let it connect yet.
 */
void oc_cast_peer_learn(oc_cast_peer_t *peer, const void *address, size_t length, bool shy);
/* It lets this process connect. */
void oc_cast_peer_heard(oc_cast_peer_t *peer);
/* Whether messages can be sent to it: it is known and not shy, or lost. */
bool oc_cast_peer_is_reachable(const oc_cast_peer_t *peer);

/* The peer is on this host, and knows this process by the number own. */
void oc_cast_peer_share(oc_cast_peer_t *peer, uint32_t own);

uint32_t oc_cast_peer_process(const oc_cast_peer_t *peer);

/* Why it is lost, for messages: "its connection broke". "" if it is not. */
const char *oc_cast_peer_reason(const oc_cast_peer_t *peer);

/* NULL: out of memory. */
oc_outbox_t *oc_outbox_new(void);
/* Messages in it still leave. NULL is allowed. */
void oc_outbox_drop(oc_outbox_t *outbox);
unsigned oc_outbox_unsent(const oc_outbox_t *outbox);

/*
 * Copies both parts. A failure shows as the loss of the peer; to a lost peer nothing is sent.
 * With an outbox, the message counts there until it has left. Without (NULL), nobody waits for it:
 * what is long, or the first to that peer, only leaves when the peer looks, who may be elsewhere;
 * and data may be shared.
 */
void oc_cast_peer_post(oc_cast_peer_t *peer, oc_outbox_t *outbox, const void *head,
                       size_t head_length, const void *data, size_t data_length);

/* How many bytes may be posted now without piling up. */
size_t oc_cast_peer_room(const oc_cast_peer_t *peer);

#endif
