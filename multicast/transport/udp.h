/* SPDX-License-Identifier: BSD-3-Clause */
/* The transport over IPv4 multicast sockets. */
#ifndef OC_MULTICAST_TRANSPORT_UDP_H
#define OC_MULTICAST_TRANSPORT_UDP_H

#include <netinet/in.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/status.h"
#include "multicast/transport/interface.h"
#include "multicast/transport/transport.h"
#include "multicast/transport/udp_source.h"

/* How many routers datagrams pass at most: those of a cluster, not those of the world. */
#define OC_UDP_TTL 16

/* Bytes for datagrams in the kernel that have not left: few, so that senders feel the network. */
#define OC_UDP_SEND_BUFFER (256u << 10)

typedef struct {
    const oc_interface_t *interface; /* copied */
    struct in_addr group;
    uint16_t port;             /* host byte order; others on this host may use it as well */
    size_t staging;            /* bytes for datagrams that have arrived */
    const oc_udp_source_t *source;   /* what it sends from; outlives it. NULL: one of its own … */
    size_t send_buffer;        /* … with so many bytes: OC_UDP_SEND_BUFFER */
    unsigned rate;             /* Mbit/s that this transport sends, with IP headers; 0: no limit */
    bool plain;                /* for tests: no offloads, as with an old kernel */
} oc_udp_config_t;

/* The largest datagram that its transports carry; 0: the interface's MTU is too small. */
size_t oc_udp_datagram_size(const oc_interface_t *interface);

/*
 * Joins the group on the interface. Datagrams are as large as it carries without fragmentation.
 * What this transport sends reaches all others on this host, and does not come back to itself.
 */
oc_status_t oc_udp_open(const oc_udp_config_t *config, oc_transport_t **transport, char *error,
                        size_t error_size);

#endif
