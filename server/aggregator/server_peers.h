/* SPDX-License-Identifier: BSD-3-Clause */
/* The clients of an aggregator. Of the aggregator, on its thread. */
#ifndef OC_SERVER_AGGREGATOR_SERVER_PEERS_H
#define OC_SERVER_AGGREGATOR_SERVER_PEERS_H

#include "server/aggregator/aggregator_types.h"

void oc_server_peer_add(oc_aggregator_t *aggregator, const oc_command_t *command);
/* Closes the endpoint at once, and frees the peer when the last group has left it. */
void oc_server_peer_drop(oc_aggregator_t *aggregator, uint32_t client);
/*
 * Returns the peer of a member of a group, which has to call oc_server_peer_leave. NULL: the
 * client is gone.
 */
oc_server_peer_t *oc_server_peer_join(oc_aggregator_t *aggregator, uint32_t client);
void oc_server_peer_leave(oc_server_peer_t *peer);
/* Tells the control side that the client cannot be served, or that UCX lost it. */
void oc_server_peer_lost(oc_aggregator_t *aggregator, uint32_t client);

#endif
