/* SPDX-License-Identifier: BSD-3-Clause */
/* Multicast datagrams of a simulated network: the transport of each node. */
#ifndef OC_TESTS_MULTICAST_NETWORK_DATAGRAMS_H
#define OC_TESTS_MULTICAST_NETWORK_DATAGRAMS_H

#include <stddef.h>
#include <stdint.h>

#include "multicast/transport/transport.h"
#include "tests/multicast/network_turns.h"

/* Once for each node, before it is used; part of the network, which closes it. */
void network_open_transport(network_t *network, unsigned node);
/* What a node casts goes through here. */
oc_transport_t *network_transport(network_t *network, unsigned node);

/* What datagrams of a node come from. */
oc_origin_t network_origin(unsigned node);

/* No meddler and no faults. from: a node, whose address is faked, or NOWHERE. */
void network_forge_datagram(network_t *network, unsigned from, unsigned to, const uint8_t *bytes,
                            size_t length, uint64_t when);

#endif
