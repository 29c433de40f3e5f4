/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Sending batches of datagrams through a UDP socket, at a limited rate. Part of
 * multicast/transport/udp.c.
 */
#ifndef OC_MULTICAST_TRANSPORT_UDP_SEND_H
#define OC_MULTICAST_TRANSPORT_UDP_SEND_H

#include <netinet/in.h>
#include <stdbool.h>
#include <stdint.h>

#include "multicast/transport/transport.h"

typedef struct {
    int fd;                    /* nonblocking, not owned; others may send from it, too */
    struct sockaddr_in to;
    bool segments;             /* the kernel cuts large sends into datagrams */
    bool complained;           /* about losses */
    unsigned rate;             /* Mbit/s; 0: no limit */
    uint64_t paid_until;       /* ns: what was sent is paid for by then */
    uint64_t wait_until;       /* ns: the kernel has no memory before */
} oc_udp_sender_t;

/* The caller sets fd, to and rate before. plain: the kernel does not segment. */
void oc_udp_sender_init(oc_udp_sender_t *sender, bool plain);

/* As oc_transport_ops_t.send. */
unsigned oc_udp_send(oc_udp_sender_t *sender, const oc_outgoing_t *datagrams, unsigned count);

/* Whether datagrams wait for time to pass, not for room in the socket. */
bool oc_udp_holds_back(const oc_udp_sender_t *sender);

#endif
