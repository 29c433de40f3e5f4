/* SPDX-License-Identifier: BSD-3-Clause */
/* What the files of the simulated network share: its nodes, and bytes that are under way. */
#ifndef OC_TESTS_MULTICAST_NETWORK_TYPES_H
#define OC_TESTS_MULTICAST_NETWORK_TYPES_H

#include "tests/multicast/events.h"
#include "tests/multicast/fabric.h"
#include "tests/multicast/fifo.h"
#include "tests/multicast/network.h"
#include "tests/multicast/parcel.h"
#include "tests/multicast/streams.h"
#include "tests/random.h"

/* A node that was woken looks so much later, and takes that long for a turn. ns */
#define TURN_TIME 1000

typedef struct {
    oc_transport_t base;
    network_t *network;
    unsigned number;
} port_t;

typedef struct {
    port_t port;                 /* below the shim */
    oc_transport_t *transport;
    node_t ops;
    bool attached, dead;
    uint64_t turn_at;            /* UINT64_MAX: none is planned */
    uint64_t paused_from;        /* UINT64_MAX: it has had a turn since */
    uint64_t paused_until, busy_until;
    fifo_t datagrams, messages;
    size_t staged;               /* bytes in datagrams */
    size_t sending;              /* bytes of datagrams that are not out of the host's link */
    size_t *outstanding;         /* bytes, by node */
    unsigned unsent, spins;
    unsigned long long moves;    /* what came in and went out */
    traffic_t traffic;
} place_t;

struct network {
    network_config_t config;
    events_t *events;
    fabric_t *fabric;
    streams_t *streams;          /* NULL: messages take random times */
    const event_kind_t *turn;
    place_t *places;
    unsigned *hosts;             /* by node */
    unsigned *first_node, *next_node;  /* nodes by host, as lists that end with NOWHERE */
    unsigned num_hosts;
    oc_random_t random;
    char complaint[512];
};

#endif
