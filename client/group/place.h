/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Which ranks share hosts, and whether they can share memory: the shape of a group that servers
 * serve, and who receives for whom in one that multicast serves. Functions are in the order in
 * which a set-up calls them; of those of teams multicast needs none.
 */
#ifndef OC_CLIENT_GROUP_PLACE_H
#define OC_CLIENT_GROUP_PLACE_H

#include <stdbool.h>
#include <stddef.h>

#include "base/status.h"
#include "client/client.h"
#include "client/state/record.h"

/* For the record: what others need to share memory with this rank, which is on this host. */
void oc_place_offer(oc_group_t *group, uint64_t host, oc_offer_t *offer);

/* Whether all records allow that ranks of a host share memory, and some host has several. */
bool oc_place_find(oc_group_t *group);

/* Attaches what the ranks of the host offer. */
oc_status_t oc_place_attach(oc_group_t *group, char *error, size_t error_size);

/* Teams as the node shape needs them: all ranks could attach. */
void oc_place_take(oc_group_t *group);

/* This rank is why no memory is shared, although it was to be: says so once. */
void oc_place_tell(oc_group_t *group);

/* Every rank in one team, for itself; gives back what the host shares. */
void oc_place_flat(oc_group_t *group);

/* When the number of aggregators is known: how many steps of the node shape go on at a time. */
void oc_place_limit(oc_group_t *group, unsigned aggregators);

/* Gives back what the host shares, if it does. */
void oc_node_free(oc_group_t *group);

#endif
