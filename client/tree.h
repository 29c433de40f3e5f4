/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Servers that are leaves of a tree. Which of them each member of a group belongs to are pure
 * functions, the same on all ranks. Members are ranks, in the node shape hosts.
 */
#ifndef OC_CLIENT_TREE_H
#define OC_CLIENT_TREE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "client/client.h"

/* Of so many servers: those that get a member. */
uint32_t oc_tree_leaves(uint32_t servers, uint32_t members);

/* Members go to leaves in blocks as even as whole numbers allow, by number. */
uint32_t oc_tree_leaf(uint32_t leaves, uint32_t members, uint32_t member);

/* The first member of a leaf; of the leaf behind the last one: how many members there are. */
uint32_t oc_tree_first(uint32_t leaves, uint32_t members, uint32_t leaf);

/* Which servers of the list this rank needs, as far as it knows: from first, so many. */
void oc_tree_servers(const oc_group_t *group, unsigned *first, unsigned *count);

/*
 * Once connected: if they are leaves, this rank keeps the link to its own one, whose members its
 * teams are from now on. false: they cannot serve the group, and why.
 */
bool oc_tree_find(oc_group_t *group, char *reason, size_t size);

#endif
