/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Peers, their endpoints and messages. A peer stays when its last user has gone: closing an
 * endpoint would break the peer's own one, which its other groups use. Only lost peers go, with
 * their last user and message.
 *
 * What is laid out for a peer that cannot get at it is sent to it once more, as messages.
 */
#include "multicast/peers.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <uthash.h>
#include <utlist.h>

#include "base/log.h"
#include "multicast/note.h"
#include "protocol/limits.h"
#include "protocol/tag.h"
#include "ucx_backend/worker.h"

/* Receives that wait for messages of anybody. */
#define NUM_LANDINGS 16

/* At the end: looks at UCX without any arrival after which nothing more is expected, and all. */
#define IDLE_ROUNDS  16
#define DRAIN_ROUNDS 1000

/* Bytes that may wait to leave, to one peer and to all. */
#define PEER_ROOM  (256u << 10)
#define TOTAL_ROOM (16u << 20)

struct oc_outbox {
    unsigned unsent;
    bool dropped;
};

typedef struct {
    oc_transfer_t transfer;
    oc_peers_t *peers;
    bool posted;
    uint8_t *bytes;
} landing_t;

typedef struct {
    oc_transfer_t transfer;
    oc_peer_t *peer;
    oc_outbox_t *outbox;       /* or NULL */
    size_t length;
    uint8_t bytes[];
} message_t;

struct oc_peer {
    oc_peers_t *peers;
    uint32_t process;
    oc_endpoint_t *endpoint;   /* NULL before the first message and after the loss */
    unsigned users, unsent;
    size_t unsent_bytes;
    bool shares;               /* it is on this host … */
    uint32_t own;              /* … and knows this process by this number */
    bool refused;              /* it has no access to this process's shelf */
    oc_shelf_view_t *view;     /* of its shelf; NULL before its first note and after the loss */
    bool refuses;              /* this process has no access to a shelf of its, and has said so … */
    uint8_t hidden[OC_SEGMENT_NAME_SIZE]; /* … and this is the shelf's name */
    const char *reason;        /* why it is lost; NULL: it is not */
    oc_peer_t *prev, *next;
    oc_peer_t *lost_prev, *lost_next;
    UT_hash_handle hh;         /* by process; lost peers are not in the table */
    size_t address_length;
    uint8_t address[];
};

struct oc_peers {
    oc_peers_events_t events;
    oc_worker_t *worker;
    oc_admission_t *admission; /* of hosts of the job, to the worker */
    size_t max_message;
    bool closing;
    unsigned unsent;
    size_t unsent_bytes;
    oc_peer_t *all;
    oc_peer_t *table;
    oc_peer_t *lost;           /* not told yet */
    oc_shelf_t *shelf;         /* NULL before the first data for a peer on this host */
    bool shelfless;            /* it could not be made */
    oc_mac_t *mac;             /* of notes */
    uint64_t serial;           /* of the last one that was sent */
    uint8_t *taken;            /* max_message bytes: a message from somebody's shelf */
    landing_t landings[NUM_LANDINGS];
};

static void take_note(oc_peers_t *peers, const uint8_t *bytes, size_t length);

/* From UCX; it is waiting again at the end of oc_peers_progress at the earliest. */
static void on_arrived(oc_transfer_t *transfer)
{
    landing_t *landing = (landing_t *) transfer;
    oc_peers_t *peers = landing->peers;

    landing->posted = false;
    if (peers->closing) {
        return;
    }
    if (OC_OK == transfer->status && oc_tag(OC_KIND_CAST, 0, 0, 0, OC_NOTE_SLOT) == transfer->tag) {
        take_note(peers, landing->bytes, transfer->length);
    } else if (OC_OK == transfer->status) {
        peers->events.arrived(peers->events.arg, landing->bytes, transfer->length);
    } else if (OC_ERR_CANCELED != transfer->status) {
        oc_debug("a message between ranks was dropped: %s", oc_status_string(transfer->status));
    }
}

static void post_landings(oc_peers_t *peers)
{
    for (unsigned i = 0; i < NUM_LANDINGS; i++) {
        landing_t *landing = &peers->landings[i];

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
    uint8_t *bytes = malloc((NUM_LANDINGS + 1) * max_message);
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
    for (unsigned i = 0; i < NUM_LANDINGS; i++) {
        peers->landings[i].peers = peers;
        peers->landings[i].bytes = bytes + i * max_message;
        peers->landings[i].transfer.done = on_arrived;
    }
    peers->taken = bytes + NUM_LANDINGS * max_message;
    post_landings(peers);
    *result = peers;
    return OC_OK;
}

static void peer_free(oc_peer_t *peer)
{
    DL_DELETE(peer->peers->all, peer);
    oc_shelf_view_close(peer->view);
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

static void reap(oc_peer_t *peer)
{
    if (NULL != peer->reason && 0 == peer->users && 0 == peer->unsent) {
        peer_free(peer);
    }
}

/* Told later: whoever posts is not ready to hear it. The loss itself counts as a user till then. */
static void lose(oc_peer_t *peer, const char *reason)
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

oc_peer_t *oc_peer_get(oc_peers_t *peers, uint32_t process, const void *address, size_t length)
{
    oc_peer_t *peer;

    HASH_FIND(hh, peers->table, &process, sizeof(process), peer);
    if (NULL != peer && peer->address_length == length
        && 0 == memcmp(peer->address, address, length)) {
        peer->users++;
        return peer;
    }
    if (NULL != peer) {
        /* it has begun anew, and nobody is at the old address any more */
        lose(peer, "it has another address now");
    }
    peer = calloc(1, sizeof(*peer) + length);
    if (NULL == peer) {
        return NULL;
    }
    peer->peers = peers;
    peer->process = process;
    peer->users = 1;
    peer->address_length = length;
    memcpy(peer->address, address, length);
    DL_APPEND(peers->all, peer);
    HASH_ADD(hh, peers->table, process, sizeof(peer->process), peer);
    return peer;
}

void oc_peer_release(oc_peer_t *peer)
{
    peer->users--;
    reap(peer);
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

static void on_endpoint_failed(void *arg)
{
    lose(arg, "its connection broke");
}

static void account(message_t *message, int sign)
{
    oc_peer_t *peer = message->peer;
    size_t bytes = sign > 0 ? message->length : -message->length;

    if (NULL != message->outbox) {
        message->outbox->unsent += (unsigned) sign;
    }
    peer->unsent += (unsigned) sign;
    peer->unsent_bytes += bytes;
    peer->peers->unsent += (unsigned) sign;
    peer->peers->unsent_bytes += bytes;
}

static void on_sent(oc_transfer_t *transfer)
{
    message_t *message = (message_t *) transfer;

    account(message, -1);
    if (NULL != message->outbox && message->outbox->dropped) {
        oc_outbox_drop(message->outbox);
    }
    if (OC_OK != transfer->status) {
        lose(message->peer, "its connection broke");
    }
    reap(message->peer);
    free(message);
}

static bool connect_peer(oc_peer_t *peer)
{
    if (NULL == peer->endpoint
        && OC_OK != oc_endpoint_open(peer->peers->worker, peer->address, on_endpoint_failed, peer,
                                     &peer->endpoint)) {
        lose(peer, "UCX finds no way to it: the network devices of the two hosts have nothing in "
             "common, see OPTCAST_UCX_NET_DEVICES");
    }
    return NULL != peer->endpoint;
}

static void send_parts(oc_peer_t *peer, oc_outbox_t *outbox, uint64_t slot, const void *head,
                       size_t head_length, const void *data, size_t data_length)
{
    message_t *message = malloc(sizeof(*message) + head_length + data_length);

    if (NULL == message) {
        lose(peer, "this rank has no memory for a message to it");
        return;
    }
    *message = (message_t) {.transfer.done = on_sent, .peer = peer, .outbox = outbox,
                            .length = head_length + data_length};
    memcpy(message->bytes, head, head_length);
    if (data_length > 0) {
        memcpy(message->bytes + head_length, data, data_length);
    }
    account(message, 1);
    oc_send(peer->endpoint, &message->transfer, message->bytes, message->length,
            oc_tag(OC_KIND_CAST, 0, 0, 0, slot));
}

static void send_note(oc_peer_t *peer, oc_note_t *note)
{
    uint8_t bytes[OC_NOTE_SIZE];

    note->process = peer->own;
    note->serial = ++peer->peers->serial;
    oc_note_encode(note, bytes);
    oc_note_seal(peer->peers->mac, peer->process, note, bytes);
    send_parts(peer, NULL, OC_NOTE_SLOT, bytes, sizeof(bytes), NULL, 0);
}

/* NULL: there is none, and never will be. */
static oc_shelf_t *get_shelf(oc_peers_t *peers)
{
    char error[160];

    if (NULL == peers->shelf && !peers->shelfless
        && OC_OK != oc_shelf_open(peers->max_message, &peers->shelf, error, sizeof(error))) {
        peers->shelfless = true;
        oc_debug("ranks on this host get data by messages: %s", error);
    }
    return peers->shelf;
}

/* Into shared memory; false: it has to be sent. */
static bool lay_out(oc_peer_t *peer, const void *head, size_t head_length, const void *data,
                    size_t data_length)
{
    oc_note_t note = {.kind = OC_NOTE_LAID};
    oc_shelf_t *shelf = peer->shares && !peer->refused ? get_shelf(peer->peers) : NULL;

    if (NULL == shelf
        || !oc_shelf_lay(shelf, peer, head, head_length, data, data_length, &note.place)) {
        return false;
    }
    oc_shelf_name(shelf, note.shelf);
    send_note(peer, &note);
    return true;
}

void oc_peer_post(oc_peer_t *peer, oc_outbox_t *outbox, const void *head, size_t head_length,
                  const void *data, size_t data_length)
{
    if (NULL != peer->reason || !connect_peer(peer)) {
        return;
    }
    if (NULL != outbox || 0 == data_length
        || !lay_out(peer, head, head_length, data, data_length)) {
        send_parts(peer, outbox, 0, head, head_length, data, data_length);
    }
}

/* ---- notes from others ---- */

/* It is to send everything: also what it has laid out already. */
static void refuse(oc_peer_t *peer, const oc_note_t *laid, const char *why)
{
    oc_note_t note = {.kind = OC_NOTE_REFUSED};

    oc_debug("process %u of the job has to send its data: %s", peer->process, why);
    peer->refuses = true;
    memcpy(peer->hidden, laid->shelf, sizeof(peer->hidden));
    memcpy(note.shelf, laid->shelf, sizeof(note.shelf));
    if (connect_peer(peer)) {
        send_note(peer, &note);
    }
}

/* A shelf is looked for once. false: this process has no access to it. */
static bool see_shelf(oc_peer_t *peer, const oc_note_t *note)
{
    oc_shelf_view_t *view;
    char error[160];

    if (NULL != peer->view && oc_shelf_view_is(peer->view, note->shelf)) {
        return true;
    }
    if (peer->refuses && 0 == memcmp(peer->hidden, note->shelf, sizeof(peer->hidden))) {
        return false;
    }
    if (OC_OK != oc_shelf_view_open(note->shelf, peer->peers->max_message, &view, error,
                                    sizeof(error))) {
        refuse(peer, note, error);
        return false;
    }
    oc_shelf_view_close(peer->view);
    peer->view = view;
    return true;
}

static void take_laid(oc_peer_t *peer, const oc_note_t *note)
{
    oc_peers_t *peers = peer->peers;

    if (!see_shelf(peer, note)) {
        return;
    }
    if (!oc_shelf_take(peer->view, &note->place, peers->taken)) {
        oc_debug("a note of process %u of the job was dropped: nothing lies where it says",
                 peer->process);
        return;
    }
    if (NULL != peers->events.shared) {
        peers->events.shared(peers->events.arg, note->place.length);
    }
    peers->events.arrived(peers->events.arg, peers->taken, note->place.length);
}

static void send_again(void *arg, const uint8_t *bytes, size_t length)
{
    send_parts(arg, NULL, 0, bytes, length, NULL, 0);
}

static void take_refusal(oc_peer_t *peer, const oc_note_t *note)
{
    oc_shelf_t *shelf = peer->peers->shelf;
    uint8_t name[OC_SEGMENT_NAME_SIZE];

    if (NULL == shelf || NULL == peer->endpoint) {
        return;
    }
    oc_shelf_name(shelf, name);
    if (0 == memcmp(name, note->shelf, sizeof(name))) {
        peer->refused = true;
        oc_shelf_clear(shelf, peer, send_again, peer);
    }
}

static void take_note(oc_peers_t *peers, const uint8_t *bytes, size_t length)
{
    oc_peer_t *peer = NULL;
    oc_note_t note;

    if (oc_note_decode(bytes, length, &note)) {
        HASH_FIND(hh, peers->table, &note.process, sizeof(note.process), peer);
    }
    if (NULL == peer || !peer->shares) {
        oc_debug("a note of no process of this host was dropped");
    } else if (!oc_note_fits(peers->mac, peer->own, &note, bytes)) {
        if (NULL != peers->events.forged) {
            peers->events.forged(peers->events.arg);
        }
    } else if (OC_NOTE_LAID == note.kind) {
        take_laid(peer, &note);
    } else {
        take_refusal(peer, &note);
    }
}

size_t oc_peer_room(const oc_peer_t *peer)
{
    size_t total = peer->peers->unsent_bytes;
    size_t here = peer->unsent_bytes < PEER_ROOM ? PEER_ROOM - peer->unsent_bytes : 0;
    size_t all = total < TOTAL_ROOM ? TOTAL_ROOM - total : 0;

    return here < all ? here : all;
}
