/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The socket that a process sends multicast datagrams from, to all addresses: its own address and
 * port, which others know it by. Part of multicast/transport/udp.c.
 */
#ifndef OC_MULTICAST_TRANSPORT_UDP_SOURCE_H
#define OC_MULTICAST_TRANSPORT_UDP_SOURCE_H

#include <stdbool.h>

#include "base/status.h"
#include "multicast/transport/interface.h"
#include "multicast/transport/transport.h"

typedef struct {
    int fd;                    /* nonblocking; -1: it is not open */
    oc_origin_t origin;        /* what its datagrams come from */
    int reach;                 /* how many routers they pass; 0: they stay on this host */
} oc_udp_source_t;

/* send_buffer: bytes in the kernel that have not left. After an error there is nothing to close. */
oc_status_t oc_udp_source_open(const oc_interface_t *interface, size_t send_buffer,
                               oc_udp_source_t *source, char *error, size_t error_size);

/* From now on its datagrams stay on this host, or pass up to OC_UDP_TTL routers, as at first. */
void oc_udp_source_confine(oc_udp_source_t *source, bool confined);

/* Nothing happens if it is not open. */
void oc_udp_source_close(oc_udp_source_t *source);

/* IPv4 addresses are mapped into IPv6 ones. */
oc_origin_t oc_udp_origin(const struct sockaddr_in *address);

#endif
