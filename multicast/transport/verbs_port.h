/* SPDX-License-Identifier: BSD-3-Clause */
/* An RDMA port and its membership in one multicast group, by librdmacm. For verbs.c only. */
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
    struct sockaddr_in group;
    bool joined;                  /* or on the way there */
} oc_verbs_port_t;

/* interface: as in oc_verbs_config_t. After an error there is nothing to close. */
oc_status_t oc_verbs_port_open(const char *interface, oc_verbs_port_t *port, char *error,
                               size_t error_size);

/* The queue pair is destroyed before. */
void oc_verbs_port_close(oc_verbs_port_t *port);

/* What comes from here. */
oc_origin_t oc_verbs_port_origin(const oc_verbs_port_t *port);

/* "rxe1 port 1 on eth0" */
void oc_verbs_port_text(const oc_verbs_port_t *port, char *text, size_t text_size);

/*
 * Joins the group and attaches id->qp to it. Waits for the network, with a limit. destination: how
 * datagrams reach the group. Also after an error oc_verbs_port_leave is to be called.
 */
oc_status_t oc_verbs_port_join(oc_verbs_port_t *port, struct in_addr address,
                               struct rdma_ud_param *destination, char *error, size_t error_size);

/* Before the queue pair is destroyed. Nothing happens if it was never joined. */
void oc_verbs_port_leave(oc_verbs_port_t *port);

/* Warns if the network has ended the membership. Does not wait. */
void oc_verbs_port_heed(oc_verbs_port_t *port);

#endif
