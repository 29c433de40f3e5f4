/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Looks at the datagrams that arrive on an interface, to addresses that nobody here has joined.
 * Needs CAP_NET_RAW. One thread at a time.
 */
#ifndef OC_MULTICAST_TRANSPORT_WATCH_PACKETS_H
#define OC_MULTICAST_TRANSPORT_WATCH_PACKETS_H

#include <netinet/in.h>
#include <stddef.h>
#include <stdint.h>

#include "multicast/transport/interface.h"

#define OC_WATCH_ADDRESSES 8

typedef struct {
    const struct in_addr *addresses; /* at most OC_WATCH_ADDRESSES; the card passes them, too */
    unsigned num_addresses;
    uint16_t port;             /* host byte order */
    unsigned byte_at;          /* only datagrams that have here … */
    uint8_t below;             /* … a smaller byte than this one */
} oc_watch_filter_t;

/* bytes: of a datagram, without headers. Valid during the call. */
typedef void oc_watched_fn_t(void *arg, const uint8_t *bytes, size_t length);

/*
 * A nonblocking descriptor, closed by oc_fd_close. Nothing is told to the network. -1: this process
 * may not, or the system cannot; errno says which.
 */
int oc_watch_packets_open(const oc_interface_t *interface, const oc_watch_filter_t *filter);

/* Hands out those that have arrived, up to a few hundred. */
void oc_watch_packets_read(int fd, oc_watched_fn_t *watched, void *arg);

#endif
