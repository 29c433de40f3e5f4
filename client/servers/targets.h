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

/* Whether this rank offers to aggregate. */
bool oc_targets_hosts_embedded(const oc_group_t *group);

/* Returns how many ranks aggregate beside the servers. Valid once the records have arrived. */
unsigned oc_targets_count_peers(const oc_group_t *group);

/* Looks whether servers are back that were lost. What comes of it is for later groups. */
void oc_targets_probe(oc_client_t *client);

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
