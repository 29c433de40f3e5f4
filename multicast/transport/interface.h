/* SPDX-License-Identifier: BSD-3-Clause */
/* Finds the network interface for multicast. Any thread. */
#ifndef OC_MULTICAST_TRANSPORT_INTERFACE_H
#define OC_MULTICAST_TRANSPORT_INTERFACE_H

#include <net/if.h>
#include <netinet/in.h>
#include <stdbool.h>
#include <stddef.h>

#include "base/status.h"

typedef struct {
    char name[IF_NAMESIZE];
    unsigned index;
    struct in_addr address;
    unsigned mtu;              /* bytes of an IP packet */
} oc_interface_t;

/*
 * text: a name, or one of its IPv4 addresses. Empty or NULL: the one that the host routes group
 * to; without such a route the first that runs and is no loopback; and if there is none, the
 * loopback. On an error, error names text, what is wrong, and the interfaces that would do.
 */
oc_status_t oc_interface_find(const char *text, struct in_addr group, oc_interface_t *result,
                              char *error, size_t error_size);

/*
 * Whether the network behind it may deliver multicast to hosts that have not joined: Ethernet may,
 * and so may what is not known; InfiniBand and the loopback do not.
 */
bool oc_interface_floods(const oc_interface_t *interface);

#endif
