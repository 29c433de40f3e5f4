/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Servers that are leaves of a tree. Which of them each member of a group belongs to are pure
 * functions, the same on all ranks. Members are ranks, in the node shape hosts.
 */
#ifndef OC_CLIENT_SERVERS_TREE_H
#define OC_CLIENT_SERVERS_TREE_H

#include <stddef.h>
#include <stdint.h>

#include "base/status.h"
#include "client/client.h"

/* Returns how many of the servers get a member. */
uint32_t oc_tree_leaves(uint32_t servers, uint32_t members);

/*
 * Returns the leaf of a member. Members go to leaves in blocks, as evenly as whole numbers allow.
 */
uint32_t oc_tree_leaf(uint32_t leaves, uint32_t members, uint32_t member);

/*
 * Returns the first member of a leaf; for the number behind the last leaf, the number of members.
 */
uint32_t oc_tree_first(uint32_t leaves, uint32_t members, uint32_t leaf);

/* Returns the leaf that is compared with this one: the next, or the first after the last. */
uint32_t oc_tree_next(uint32_t leaves, uint32_t leaf);

/*
 * Sets the servers to which a rank connects first, by their order among those that are there, ascending, and
 * returns how many they are: none, one or two.
 */
#define OC_TREE_ASKED 2
unsigned oc_tree_asked(const oc_group_t *group, unsigned servers[OC_TREE_ASKED]);

/*
 * Sets the servers to which the rank may have to connect later: *count of them, in the same order, beginning with
 * *first.
 */
void oc_tree_servers(const oc_group_t *group, unsigned *first, unsigned *count);

/*
 * To be called once the servers are connected. If they are leaves, this rank keeps the link to its
 * own leaf, and the members of the leaf become its teams. OC_IN_PROGRESS: they are no leaves, and
 * the rest of the list has to be connected, too. OC_DECLINED: they cannot serve the group; reason
 * says why.
 */
oc_status_t oc_tree_find(oc_group_t *group, char *reason, size_t size);

/* Remembers what all ranks have found, so that the next group has to ask fewer servers. */
void oc_tree_remember(const oc_group_t *group);

#endif
