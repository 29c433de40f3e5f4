/* SPDX-License-Identifier: BSD-3-Clause */
/* The data model of messages between processes, on one page. */
#ifndef OC_MULTICAST_PEERS_PEERS_TYPES_H
#define OC_MULTICAST_PEERS_PEERS_TYPES_H

#include <uthash.h>

#include "base/mac.h"
#include "multicast/peers/cast_peers.h"
#include "multicast/peers/note.h"
#include "multicast/peers/shelf.h"
#include "ucx_backend/worker.h"

/* Receives that wait for messages of anybody. */
#define OC_LANDINGS 16

struct oc_outbox {
    unsigned unsent;
    bool dropped;
};

typedef struct {
    oc_transfer_t transfer;
    oc_peers_t *peers;
    bool posted;
    uint8_t *bytes;
} oc_landing_t;

typedef struct {
    oc_transfer_t transfer;
    oc_cast_peer_t *peer;
    oc_outbox_t *outbox;       /* or NULL */
    size_t length;
    uint8_t bytes[];
} oc_cast_peer_message_t;

struct oc_cast_peer {
    oc_peers_t *peers;
    uint32_t process;
    uint64_t digest;           /* of its address */
    void *address;             /* NULL: it is not known */
    bool shy;                  /* it may connect to this process, and this one not to it yet */
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
    oc_cast_peer_t *prev, *next;
    oc_cast_peer_t *lost_prev, *lost_next;
    UT_hash_handle hh;         /* by process; lost peers are not in the table */
};

struct oc_peers {
    oc_peers_events_t events;
    oc_worker_t *worker;
    oc_admission_t *admission; /* of hosts of the job, to the worker */
    size_t max_message;
    bool closing;
    unsigned unsent;
    size_t unsent_bytes;
    oc_cast_peer_t *all;
    oc_cast_peer_t *table;
    oc_cast_peer_t *lost;           /* not told yet */
    oc_shelf_t *shelf;         /* NULL before the first data for a peer on this host */
    bool shelfless;            /* it could not be made */
    oc_mac_t *mac;             /* of notes */
    uint64_t serial;           /* of the last one that was sent */
    uint8_t *taken;            /* max_message bytes: a message from somebody's shelf */
    oc_landing_t landings[OC_LANDINGS];
};

#endif
