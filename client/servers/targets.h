/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Determines which servers and peers a group uses, and connects to them. Callers hold the lock of
 * the client.
 */
#ifndef OC_CLIENT_SERVERS_TARGETS_H
#define OC_CLIENT_SERVERS_TARGETS_H

#include <stdbool.h>
#include <stddef.h>

#include "base/status.h"
#include "client/client.h"
#include "client/state/peer_address.h"
#include "client/state/types.h"

/* Whether hosts of the group may be needed beside servers. */
bool oc_targets_may_want_peers(const oc_group_t *group);

/* Whether this rank offers to aggregate. */
bool oc_targets_hosts_embedded(const oc_group_t *group);

/* The connection to the server in a process, which begins to connect if there is none; NULL: error says why. */
oc_connection_t *oc_targets_connect_peer(oc_client_t *client, const oc_peer_address_t *contact, char *error,
                                         size_t error_size);

/* Returns how many ranks aggregate beside the servers. Valid once the records have arrived. */
unsigned oc_targets_count_peers(const oc_group_t *group);

/*
 * The connection to a server of the list, which begins to connect if there is none. OC_IN_PROGRESS: names are being resolved;
 * error says why there is none otherwise.
 */
oc_status_t oc_targets_find(oc_client_t *client, unsigned number, oc_connection_t **connection, char *error,
                            size_t error_size);

/* Looks whether a server is back, or all those that this process has lost. */
void oc_targets_probe(oc_client_t *client, unsigned number);
void oc_targets_probe_away(oc_client_t *client);

/* Resolves the servers' names. OC_IN_PROGRESS: the next two functions would lack addresses. */
oc_status_t oc_targets_resolve(oc_group_t *group);

/*
 * Makes links to the servers that are asked whether they are leaves, or, without servers, to the
 * peers.
 */
oc_status_t oc_targets_connect(oc_group_t *group, char *error, size_t error_size);

/* Replaces these links by links to all servers, in the order of the list. */
oc_status_t oc_targets_connect_all(oc_group_t *group, char *error, size_t error_size);

/*
 * Adds links to the peers behind those to the servers. To be called when it is known whether the
 * servers are leaves. OC_IN_PROGRESS: peers have to be connected first. OC_OK: no link is missing.
 */
oc_status_t oc_targets_add_peers(oc_group_t *group, char *error, size_t error_size);

#endif
