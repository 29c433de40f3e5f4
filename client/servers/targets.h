/* SPDX-License-Identifier: BSD-3-Clause */
/* Which servers a group uses, and the way to them: from settings and records to its links. */
#ifndef OC_CLIENT_SERVERS_TARGETS_H
#define OC_CLIENT_SERVERS_TARGETS_H

#include <stdbool.h>
#include <stddef.h>

#include "base/status.h"
#include "client/client.h"

/* Whether this rank offers to aggregate. */
bool oc_targets_hosts_embedded(const oc_group_t *group);

/* How many ranks aggregate beside the servers, once the records are there. */
unsigned oc_targets_count_peers(const oc_group_t *group);

/* OC_IN_PROGRESS as long as the next two would lack addresses. */
oc_status_t oc_targets_resolve(oc_group_t *group);

/* Fills in the links of servers that are asked what they are, or, without servers, of peers. */
oc_status_t oc_targets_connect(oc_group_t *group, char *error, size_t error_size);

/* Links of all servers, in the order of the list, in place of those that were asked. */
oc_status_t oc_targets_connect_all(oc_group_t *group, char *error, size_t error_size);

/*
 * When what servers are is known: those whose records tell where they aggregate as peers, behind
 * them. OC_IN_PROGRESS: there are some, who have to be connected first; OC_OK: none are missing.
 */
oc_status_t oc_targets_add_peers(oc_group_t *group, char *error, size_t error_size);

#endif
