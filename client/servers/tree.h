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

/* Of so many servers: those that get a member. */
uint32_t oc_tree_leaves(uint32_t servers, uint32_t members);

/* Members go to leaves in blocks as even as whole numbers allow, by number. */
uint32_t oc_tree_leaf(uint32_t leaves, uint32_t members, uint32_t member);

/* The first member of a leaf; of the leaf behind the last one: how many members there are. */
uint32_t oc_tree_first(uint32_t leaves, uint32_t members, uint32_t leaf);

/* The one that is compared with a leaf; the last one is compared with the first. */
uint32_t oc_tree_next(uint32_t leaves, uint32_t leaf);

/* Which servers of the list a rank connects to first, by ascending number: one or two, or none. */
#define OC_TREE_ASKED 2
unsigned oc_tree_asked(const oc_group_t *group, unsigned servers[OC_TREE_ASKED]);

/* Which ones it may have to connect to from now on: from first, so many. */
void oc_tree_servers(const oc_group_t *group, unsigned *first, unsigned *count);

/*
 * Once connected: if they are leaves, this rank keeps the link to its own one, whose members its
 * teams are from now on. OC_IN_PROGRESS: those that were asked are not, and the rest of the list
 * has to be connected, too; OC_DECLINED: they cannot serve the group, and why.
 */
oc_status_t oc_tree_find(oc_group_t *group, char *reason, size_t size);

/* All ranks have found the same, also of leaves: the next group asks less. */
void oc_tree_remember(const oc_group_t *group);

#endif
