/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Data for peers on this host, in memory that both share, and the notes about it. What is laid out
 * for a peer that cannot get at it is sent to it once more, as messages.
 */
#include "multicast/peers/sharing.h"

#include <string.h>

#include "base/log.h"
#include "multicast/peers/outbox.h"
#include "protocol/tag.h"

static void send_note(oc_cast_peer_t *peer, oc_note_t *note)
{
    uint8_t bytes[OC_NOTE_SIZE];

    note->process = peer->own;
    note->serial = ++peer->peers->serial;
    oc_note_encode(note, bytes);
    oc_note_seal(peer->peers->mac, peer->process, note, bytes);
    oc_cast_peer_send(peer, NULL, OC_NOTE_SLOT, bytes, sizeof(bytes), NULL, 0);
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

bool oc_sharing_lay_out(oc_cast_peer_t *peer, const void *head, size_t head_length,
                        const void *data, size_t data_length)
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

/* ---- notes from others ---- */

/* It is to send everything: also what it has laid out already. */
static void sharing_refuse(oc_cast_peer_t *peer, const oc_note_t *laid, const char *why)
{
    oc_note_t note = {.kind = OC_NOTE_REFUSED};

    oc_debug("process %u of the job has to send its data: %s", peer->process, why);
    peer->refuses = true;
    memcpy(peer->hidden, laid->shelf, sizeof(peer->hidden));
    memcpy(note.shelf, laid->shelf, sizeof(note.shelf));
    if (oc_cast_peer_is_open(peer)) {
        send_note(peer, &note);
    }
}

/* A shelf is looked for once. false: this process has no access to it. */
static bool see_shelf(oc_cast_peer_t *peer, const oc_note_t *note)
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
        sharing_refuse(peer, note, error);
        return false;
    }
    oc_shelf_view_close(peer->view);
    peer->view = view;
    return true;
}

static void take_laid(oc_cast_peer_t *peer, const oc_note_t *note)
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

static void sharing_send_again(void *arg, const uint8_t *bytes, size_t length)
{
    oc_cast_peer_send(arg, NULL, 0, bytes, length, NULL, 0);
}

static void take_refusal(oc_cast_peer_t *peer, const oc_note_t *note)
{
    oc_shelf_t *shelf = peer->peers->shelf;
    uint8_t name[OC_SEGMENT_NAME_SIZE];

    if (NULL == shelf || NULL == peer->endpoint) {
        return;
    }
    oc_shelf_name(shelf, name);
    if (0 == memcmp(name, note->shelf, sizeof(name))) {
        peer->refused = true;
        oc_shelf_clear(shelf, peer, sharing_send_again, peer);
    }
}

void oc_sharing_take_note(oc_peers_t *peers, const uint8_t *bytes, size_t length)
{
    oc_cast_peer_t *peer = NULL;
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
