/* SPDX-License-Identifier: BSD-3-Clause */
/* Receiving batches of datagrams from a UDP socket. Part of multicast/transport/udp.c. */
#ifndef OC_MULTICAST_TRANSPORT_UDP_RECEIVE_H
#define OC_MULTICAST_TRANSPORT_UDP_RECEIVE_H

#include <stdbool.h>
#include <stddef.h>

#include "base/status.h"
#include "multicast/transport/transport.h"

typedef struct oc_udp_receiver oc_udp_receiver_t;

/*
 * fd: nonblocking, stays the caller's. plain: without datagrams put together by the kernel.
 * Datagrams of more than datagram_size bytes are dropped.
 */
oc_status_t oc_udp_receiver_new(int fd, size_t datagram_size, bool plain,
                                oc_udp_receiver_t **receiver);
void oc_udp_receiver_free(oc_udp_receiver_t *receiver);

/* As oc_transport_ops_t.receive, and never more than max. */
unsigned oc_udp_receive(oc_udp_receiver_t *receiver, unsigned max, oc_arrival_fn_t *arrived,
                        void *arg);

/* Whether datagrams have left the kernel and were not handed out yet. */
bool oc_udp_has_more(const oc_udp_receiver_t *receiver);

#endif
