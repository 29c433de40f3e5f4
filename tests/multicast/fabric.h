/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Links and switches in virtual time: packets of any size to one host or to all others, which
 * wait for links, share them, and are lost where a queue is full.
 *
 * Each host has a link to its switch. Without leaf_hosts there is one switch; with them it is a
 * Clos network of three levels: each leaf switch has so many hosts, each pod so many hosts under one
 * spine switch, and a core connects the pods. The links between two switches are one here, as
 * fast as trunk_rate says, which is what ideal balancing makes of several. Switches copy
 * multicast packets to each link once, up and down that tree.
 *
 * Where all is regular, one sender may find a queue full each time, and another one never (S. Floyd,
 * V. Jacobson, "Traffic Phase Effects in Packet-Switched Gateways", 1991); jitter avoids that.
 * It changes no order.
 *
 * The links of hosts may be token buckets, as shapers are: what was not used in the time of burst
 * bytes may be used at once.
 */
#ifndef OC_TESTS_MULTICAST_FABRIC_H
#define OC_TESTS_MULTICAST_FABRIC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tests/multicast/events.h"

typedef struct {
    unsigned num_hosts;
    unsigned leaf_hosts;         /* 0: one switch for all */
    unsigned pod_hosts;          /* a multiple of leaf_hosts; 0: one pod */
    uint64_t rate;               /* bytes a second of a host's link, in each direction */
    uint64_t trunk_rate;         /* of a link between switches; 0: of all hosts below it together */
    uint64_t latency;            /* ns through a switch */
    uint64_t jitter;             /* ns that a packet may take more from its host to the switch */
    uint64_t seed;
    size_t port_queue;           /* bytes that a switch keeps for a link; more is lost */
    size_t burst;                /* bytes of the token buckets */
} fabric_config_t;

/* Whose packets these are. */
typedef struct {
    /* It is out of its sender's link. May be NULL. */
    void (*sent)(void *owner, void *thing);
    /* It has come to a host. */
    void (*arrived)(void *owner, void *thing, unsigned host);
    /* All is over with it: it has come to all hosts, or is lost. */
    void (*released)(void *owner, void *thing);
} fabric_client_t;

/* Of a link or several. */
typedef struct {
    unsigned long long packets, bytes;       /* that have crossed it */
    unsigned long long multicast;            /* packets: those of them to all */
    unsigned long long lost;                 /* packets */
    size_t most_queued;                      /* bytes */
} fabric_traffic_t;

typedef struct fabric fabric_t;

/* To all hosts but the sender. */
#define FABRIC_ALL UINT32_MAX

/* events stay the caller's, who frees them before the fabric: that releases what is under way. */
fabric_t *fabric_new(const fabric_config_t *config, events_t *events);
/* NULL is allowed. */
void fabric_free(fabric_t *fabric);

/* bytes: with all headers. The functions of client are called with owner and thing. */
void fabric_send(fabric_t *fabric, unsigned from, uint32_t to, size_t bytes,
                 const fabric_client_t *client, void *owner, void *thing);

/* From now on a host's link to its switch, or the one back, loses that share of multicast packets. */
void fabric_lose_up(fabric_t *fabric, unsigned host, double share);
void fabric_lose_down(fabric_t *fabric, unsigned host, double share);

/* What a host sends, and what it gets. */
const fabric_traffic_t *fabric_up(const fabric_t *fabric, unsigned host);
const fabric_traffic_t *fabric_down(const fabric_t *fabric, unsigned host);
/* Of all links together: packets is how many links they crossed. */
fabric_traffic_t fabric_total(const fabric_t *fabric);

/* ns until a packet that is sent now is out of a host's link. */
uint64_t fabric_wait(const fabric_t *fabric, unsigned host, size_t bytes);

#endif
