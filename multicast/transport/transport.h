/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Unreliable multicast of datagrams: the small interface behind which verbs, UDP and the tests'
 * networks hide. A transport belongs to one multicast address from opening to closing; the network
 * may take its time to join it to that.
 *
 * One thread at a time. Nothing here blocks. Datagrams may be lost, doubled, late or foreign, and
 * those of this process may come back: whoever receives them has to know better.
 */
#ifndef OC_MULTICAST_TRANSPORT_TRANSPORT_H
#define OC_MULTICAST_TRANSPORT_TRANSPORT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "multicast/wire/datagram.h"

/* One datagram to send: an encoded header and a payload that is only read during the call. */
typedef struct {
    uint8_t header[OC_DATAGRAM_HEADER];
    const void *payload;
    size_t length;             /* of the payload, at most datagram_size - OC_DATAGRAM_HEADER */
} oc_outgoing_t;

/* Most datagrams that one call of send gets. */
#define OC_MAX_BATCH 64

/*
 * Whoever has datagrams to send that were not taken tries again after this time (ns) at the
 * latest: a transport may hold them back to keep to a rate, of which no descriptor tells.
 */
#define OC_SEND_RETRY 1000000ull

typedef struct oc_transport oc_transport_t;

/* Where datagrams come from: what the network says, not they themselves. */
typedef struct {
    uint8_t address[16];       /* of IPv6, or IPv4 mapped into it; with verbs the GID */
    uint32_t port;             /* of UDP; with verbs the number of the queue pair, of 24 bits */
} oc_origin_t;

/* bytes: the datagram with its header. Valid during the call. Must not call the transport. */
typedef void oc_arrival_fn_t(void *arg, const oc_origin_t *from, const uint8_t *bytes,
                             size_t length);

typedef struct {
    const char *name;          /* "udp", "verbs" */
    /*
     * Takes datagrams in order and returns how many; fewer than count when there is no room in
     * the network now. What the network refuses for another reason counts as taken, and lost.
     * All but the last of a call have payloads of the same length.
     */
    unsigned (*send)(oc_transport_t *transport, const oc_outgoing_t *datagrams, unsigned count);
    /* Hands out at most about max datagrams that have arrived; returns how many. */
    unsigned (*receive)(oc_transport_t *transport, unsigned max, oc_arrival_fn_t *arrived,
                        void *arg);
    /*
     * Gets ready to sleep on the descriptor until a datagram arrives or, if sending is true, there
     * is room to send again; while it holds datagrams back itself, only the former (see
     * OC_SEND_RETRY). false: there is something to do at once.
     */
    bool (*arm)(oc_transport_t *transport, bool sending);
    /* Leaves the multicast address and frees the transport. */
    void (*close)(oc_transport_t *transport);
} oc_transport_ops_t;

/* The beginning of every implementation's own structure. */
struct oc_transport {
    const oc_transport_ops_t *ops;
    size_t datagram_size;      /* largest datagram in bytes, header included */
    uint32_t staging;          /* datagrams that it keeps while nobody calls receive */
    size_t piece;              /* bytes that TCP gives in one piece to the queue that datagrams leave by; 0: they do not
                                  share one with it */
    int event_fd;              /* to sleep on, after arm; -1: there is none */
    short events;              /* what to poll it for (POLLIN, POLLOUT), set by arm */
    uint64_t due;              /* when to call receive in any case; arm may set it; 0: never */
    /*
     * Why its address could not be joined, and will not be; NULL: it could, or it is not known yet.
     * receive and arm may set it; then nothing arrives, and what is sent is lost.
     */
    const char *refused;
    /*
     * Its address was joined, and is being joined again: what does not arrive meanwhile does not
     * mean that the network carries no multicast. receive and arm set it, not for ever.
     */
    bool absent;
};

#endif
