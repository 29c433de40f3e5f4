/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A network in one process and in virtual time: nodes on hosts with links to switches, multicast that
 * may lose datagrams, reliable messages, nodes that pause or die. What happens follows from the
 * configuration and its seed alone.
 *
 * Messages are either as bad as they may be, which finds errors: each takes a random time, so that
 * they overtake each other, and no link is too slow for them. Or they are as they are on a real
 * network, which tells how long things take: TCP shares the links with the datagrams.
 */
#ifndef OC_TESTS_MULTICAST_NETWORK_H
#define OC_TESTS_MULTICAST_NETWORK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "multicast/transport/transport.h"
#include "tests/faults/shim.h"
#include "tests/multicast/fabric.h"
#include "tests/multicast/network_datagrams.h"
#include "tests/multicast/network_messages.h"
#include "tests/multicast/network_turns.h"

/* What a node is. Called in turns of the node only. */
typedef struct {
    void (*datagram)(void *arg, const oc_origin_t *from, const uint8_t *bytes, size_t length);
    void (*message)(void *arg, const uint8_t *bytes, size_t length);
    void (*missed)(void *arg, uint64_t time); /* it was paused for so long; NULL: never mind */
    uint64_t (*progress)(void *arg);       /* returns when it wants to be called again */
    bool (*wants_to_send)(void *arg);
    void *arg;
} node_t;

/* A view of everything under way. Both are NULL or decide about each single delivery. */
typedef struct {
    /* May change bytes, which are this receiver's own. false: it is lost. */
    bool (*datagram)(void *arg, unsigned from, unsigned to, uint8_t *bytes, size_t length);
    bool (*message)(void *arg, unsigned from, unsigned to, uint8_t *bytes, size_t length);
    void *arg;
} meddler_t;

/* Times in nanoseconds. */
typedef struct {
    unsigned num_nodes;
    uint64_t seed;
    const unsigned *hosts;     /* by node, less than num_nodes; NULL: each is on its own; copied */
    size_t datagram_size;
    size_t datagram_header;    /* bytes that a datagram has on links beside its own */
    uint64_t rate;             /* bytes per second of each host's link, in each direction */
    unsigned leaf_hosts, pod_hosts;  /* see fabric.h; 0: one switch */
    uint64_t trunk_rate;
    uint64_t latency;          /* of a switch, beside the time on links */
    uint64_t jitter;           /* of a datagram or segment, from its host to the switch */
    size_t burst;              /* bytes of the links' token buckets */
    size_t send_queue;         /* bytes of datagrams that a node's socket takes, until they are out */
    size_t piece;              /* bytes of datagrams that cross links as one packet; 0: one datagram */
    size_t port_queue;         /* bytes that the switch keeps for a link; more is lost */
    size_t staging;            /* bytes that a node keeps while it is not looking; more is lost */
    uint64_t work;             /* processor time of a node for each datagram and message */
    bool tcp;                  /* messages between hosts go over TCP */
    size_t tcp_window;         /* bytes that a connection may have under way */
    uint64_t message_min, message_max;  /* how long others take */
    size_t message_room;       /* bytes to one node that may be under way */
    bool loopback;             /* datagrams come back to who sent them */
    oc_faults_t faults;
    meddler_t meddler;
} network_config_t;

/* One node's. */
typedef struct {
    unsigned long long turns, idle_turns;     /* idle: nothing came, nothing was sent */
    unsigned long long datagrams, datagram_bytes;  /* sent */
    unsigned long long messages, message_bytes;    /* posted */
    unsigned long long lost_at_port, lost_at_node; /* for want of room */
    size_t most_outstanding;   /* bytes of messages to one node */
} traffic_t;

/* 10 Gbit/s, 5 us, room for everything, messages that take 5 to 50 us, no faults. */
void network_defaults(network_config_t *config, unsigned num_nodes);
/* The same, but TCP, headers and work, as far as they are not the emulated hosts' own. */
void network_real(network_config_t *config, unsigned num_nodes);

network_t *network_new(const network_config_t *config);
void network_free(network_t *network);

/* A node takes part from then on. Datagrams that came before are lost, messages wait. */
void network_attach(network_t *network, unsigned node, const node_t *ops);

uint64_t network_now(const network_t *network);
const traffic_t *network_traffic(const network_t *network, unsigned node);

/* Calls a function at a time. */
void network_at(network_t *network, uint64_t when, void (*call)(void *arg), void *arg);
/* Its links and its time, for what else is on them. */
fabric_t *network_fabric(network_t *network);
events_t *network_events(network_t *network);
/* Nodes that a node has a TCP connection with. */
unsigned network_peers(const network_t *network, unsigned node);

/*
 * Lets time pass until it is over (asked after each event), or until then. Returns whether it was
 * over. A complaint ends it, too.
 */
bool network_run(network_t *network, uint64_t until, bool (*is_over)(void *arg), void *arg);

#endif
