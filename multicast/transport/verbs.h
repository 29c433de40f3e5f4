/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Multicast over InfiniBand and RoCE: unreliable datagrams (UD) by libibverbs, groups by librdmacm.
 * Without these libraries the same functions say so.
 */
#ifndef OC_MULTICAST_TRANSPORT_VERBS_H
#define OC_MULTICAST_TRANSPORT_VERBS_H

#include <netinet/in.h>
#include <stdbool.h>
#include <stddef.h>

#include "base/status.h"
#include "multicast/transport/transport.h"

/* What a process sends from, whatever the address: a queue pair. */
typedef struct oc_verbs_source oc_verbs_source_t;

typedef struct {
    const char *interface;   /* name or IPv4 address; "": the first with an active RDMA port */
    oc_verbs_source_t *source; /* of the same interface; outlives the transport */
    struct in_addr address;  /* the multicast address; its group has an identity made of it */
    size_t staging;          /* bytes for datagrams that have arrived; the device may limit it */
    unsigned long long *renewed; /* counts memberships that were lost and joined again … */
    unsigned long long *own; /* … and datagrams of this process that came back; both outlive it */
} oc_verbs_config_t;

/*
 * Whether this host has a device for that interface, without asking the network. text: which one,
 * "mlx5_0 port 1 on ib0", or why there is none. datagram_size: bytes of the largest datagram.
 */
bool oc_verbs_available(const char *interface, size_t *datagram_size, char *text,
                        size_t text_size);

/* The same, and what it takes to send. text is set in both cases, too. */
oc_status_t oc_verbs_source_open(const char *interface, oc_verbs_source_t **source, char *text,
                                 size_t text_size);

/* After all transports. NULL is allowed. */
void oc_verbs_source_close(oc_verbs_source_t *source);

/* What its transports have: as little as the port allowed when it was opened. */
size_t oc_verbs_source_datagram_size(const oc_verbs_source_t *source);

/* Where its datagrams come from. */
oc_origin_t oc_verbs_source_origin(const oc_verbs_source_t *source);

/* Datagrams that a transport of it keeps, if it is given so many bytes; 0: it cannot have any. */
uint32_t oc_verbs_staging(const oc_verbs_source_t *source, size_t bytes);

/* The network interface that leads to the same Ethernet; NULL: it is no Ethernet. */
const char *oc_verbs_source_ethernet(const oc_verbs_source_t *source);

/*
 * Asks to join, and does not wait: before the network has agreed, nothing arrives, and there is no
 * room to send. If it does not agree within 10 seconds, the transport says that it was refused. A
 * membership that is lost later is asked for again.
 *
 * What this process sent itself is not handed out.
 */
oc_status_t oc_verbs_open(const oc_verbs_config_t *config, oc_transport_t **transport, char *error,
                          size_t error_size);

/* Whether it is in its group now. */
bool oc_verbs_is_joined(const oc_transport_t *transport);

#endif
