/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A network in one process and in virtual time: nodes with a link to one switch, multicast that
 * may lose datagrams, reliable messages in any order, nodes that pause or die. What happens
 * follows from the configuration and its seed alone.
 */
#ifndef OC_TESTS_MULTICAST_NETWORK_H
#define OC_TESTS_MULTICAST_NETWORK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "multicast/transport/transport.h"
#include "tests/faults/shim.h"

#define MAX_NODES 100

/* Where what no node has sent comes from. */
#define NOWHERE MAX_NODES

typedef struct network network_t;

/* What a node is. Called in turns of the node only. */
typedef struct {
    void (*datagram)(void *arg, const oc_origin_t *from, const uint8_t *bytes, size_t length);
    void (*message)(void *arg, const uint8_t *bytes, size_t length);
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
    size_t datagram_size;
    uint64_t rate;             /* bytes per second of each link, in each direction */
    uint64_t latency;          /* of a datagram, beside the time on both links */
    size_t send_queue;         /* bytes that a link takes before it has no room */
    size_t port_queue;         /* bytes that the switch keeps for a link; more is lost */
    size_t staging;            /* bytes that a node keeps while it is not looking; more is lost */
    uint64_t message_min, message_max;  /* how long a message takes */
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

network_t *network_new(const network_config_t *config);
void network_free(network_t *network);

/* A node takes part from then on. Datagrams that came before are lost, messages wait. */
void network_attach(network_t *network, unsigned node, const node_t *ops);
/* What it casts goes through here. */
oc_transport_t *network_transport(network_t *network, unsigned node);

/* counts: among the unsent ones, until it leaves; a long one does not while its receiver pauses. */
void network_post(network_t *network, unsigned from, unsigned to, const void *head,
                  size_t head_length, const void *data, size_t data_length, bool counts);
size_t network_room(const network_t *network, unsigned from, unsigned to);
unsigned network_unsent(const network_t *network, unsigned node);

uint64_t network_now(const network_t *network);
const traffic_t *network_traffic(const network_t *network, unsigned node);

/* The node gets a turn soon. */
void network_wake(network_t *network, unsigned node);
/* No turns for a while; what was posted and has not left stays. */
void network_pause(network_t *network, unsigned node, uint64_t until);
/* No more turns. */
void network_kill(network_t *network, unsigned node);
bool network_is_dead(const network_t *network, unsigned node);

/* Calls a function at a time. */
void network_at(network_t *network, uint64_t when, void (*call)(void *arg), void *arg);
/* What datagrams of a node come from. */
oc_origin_t network_origin(unsigned node);
/* No meddler and no faults for messages. from: a node, whose address is faked, or NOWHERE. */
void network_forge_datagram(network_t *network, unsigned from, unsigned to, const uint8_t *bytes,
                            size_t length, uint64_t when);
void network_forge_message(network_t *network, unsigned to, const uint8_t *bytes, size_t length,
                           uint64_t when);

/*
 * Lets time pass until it is over (asked after each event), or until then. Returns whether it was
 * over. A complaint ends it, too.
 */
bool network_run(network_t *network, uint64_t until, bool (*is_over)(void *arg), void *arg);

/* Something is wrong; the first complaint stays. */
void network_complain(network_t *network, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
/* "" if there is none. */
const char *network_complaint(const network_t *network);

#endif
