/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * An RDMA port, and asking for membership in one multicast group, by librdmacm. For verbs.c and
 * verbs_source.c only. Nothing here waits for the network.
 */
#ifndef OC_MULTICAST_TRANSPORT_VERBS_PORT_H
#define OC_MULTICAST_TRANSPORT_VERBS_PORT_H

#include <net/if.h>
#include <rdma/rdma_cma.h>
#include <stdbool.h>

#include "base/status.h"
#include "multicast/transport/transport.h"

typedef struct {
    struct rdma_event_channel *events;
    struct rdma_cm_id *id;        /* bound: its verbs and port_num are set */
    char interface[IF_NAMESIZE];
    size_t mtu;                   /* bytes of the largest datagram */
    bool ethernet;                /* its network: RoCE; else InfiniBand */
    struct sockaddr_in group;
    bool joined;                  /* or on the way there */
} oc_verbs_port_t;

/* What an event says about a port and its membership. */
typedef enum {
    OC_PORT_NOTHING,
    OC_PORT_JOINED,
    OC_PORT_REFUSED,              /* or the membership has ended */
    OC_PORT_CHANGED,              /* the network may not know of the membership any more */
    OC_PORT_DOWN,
    OC_PORT_GONE                  /* with its device */
} oc_port_news_t;

/* interface: as in oc_verbs_config_t. After an error there is nothing to close. */
oc_status_t oc_verbs_port_open(const char *interface, oc_verbs_port_t *port, char *error,
                               size_t error_size);

/* The queue pair is destroyed before. */
void oc_verbs_port_close(oc_verbs_port_t *port);

/* Whether it can send and receive now. */
bool oc_verbs_port_is_active(const oc_verbs_port_t *port);

/* What comes from here. */
oc_origin_t oc_verbs_port_origin(const oc_verbs_port_t *port);

/* "rxe1 port 1 on eth0" */
void oc_verbs_port_text(const oc_verbs_port_t *port, char *text, size_t text_size);

/*
 * Asks to join the group and to attach id->qp to it: oc_verbs_port_next tells when it has. false:
 * it cannot be asked, error says why. Is left before it is asked again.
 */
bool oc_verbs_port_ask(oc_verbs_port_t *port, struct in_addr address, char *error,
                       size_t error_size);

/* Before the queue pair is destroyed. Nothing happens if it was never asked for. */
void oc_verbs_port_leave(oc_verbs_port_t *port);

/* The group that it asks for, for messages: "multicast group 239.1.2.3 on ib0". */
void oc_verbs_port_group_text(const oc_verbs_port_t *port, char *text, size_t text_size);

/*
 * Takes the next event of librdmacm; OC_PORT_NOTHING: there is none. destination: how datagrams
 * reach the group, if it was joined; text: what has happened, otherwise.
 */
oc_port_news_t oc_verbs_port_next(oc_verbs_port_t *port, struct rdma_ud_param *destination,
                                  char *text, size_t text_size);

/*
 * What an event of the device says about this port. gid_index: where its address was, as in the
 * destination of a group; -1: it does not matter.
 */
oc_port_news_t oc_verbs_port_happened(const oc_verbs_port_t *port,
                                      const struct ibv_async_event *event, int gid_index);

#endif
