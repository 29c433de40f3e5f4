/* SPDX-License-Identifier: BSD-3-Clause */
/* Sockets of a flood test. Nonblocking, closed by oc_fd_close; -1: errno says why. Any thread. */
#ifndef OC_MULTICAST_TRANSPORT_FLOOD_SOCKET_H
#define OC_MULTICAST_TRANSPORT_FLOOD_SOCKET_H

#include <netinet/in.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "multicast/transport/interface.h"

/* To send through the interface, as far as the transport's datagrams go; not to this host. */
int oc_flood_socket_open(const oc_interface_t *interface);

/* Joins the address until it is closed, and receives nothing. */
int oc_flood_socket_join(const oc_interface_t *interface, struct in_addr address);

/*
 * Joins the address and receives what comes to it through the interface. Others on this host may
 * have the port, too.
 */
int oc_flood_socket_listen(const oc_interface_t *interface, struct in_addr address, uint16_t port);

/*
 * One datagram, and when it arrived, by oc_flood_socket_now; 0: the system does not say. Returns
 * its length; 0: there is none.
 */
size_t oc_flood_socket_receive(int fd, void *bytes, size_t size, uint64_t *arrived);

/* The clock of arrivals: ns. */
uint64_t oc_flood_socket_now(void);

/* Whether some program here has joined the address on the interface. */
bool oc_flood_has_joined(const oc_interface_t *interface, struct in_addr address);

#endif
