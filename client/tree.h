/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Which leaf of a tree of servers each member of a group belongs to. Members are ranks, in the
 * node shape hosts. Pure functions: the same on all ranks.
 */
#ifndef OC_CLIENT_TREE_H
#define OC_CLIENT_TREE_H

#include <stdint.h>

/* Of so many servers: those that get a member. */
uint32_t oc_tree_leaves(uint32_t servers, uint32_t members);

/* Members go to leaves in blocks as even as whole numbers allow, by number. */
uint32_t oc_tree_leaf(uint32_t leaves, uint32_t members, uint32_t member);

/* The first member of a leaf; of the leaf behind the last one: how many members there are. */
uint32_t oc_tree_first(uint32_t leaves, uint32_t members, uint32_t leaf);

#endif
