/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Servers that are leaves of a tree. Each rank, or host, has one of them, which adds up what its
 * own members send; the server above adds up the leaves. Weights do not count: blocks of ranks as
 * even as they can be make the shape of the reduction.
 *
 * A process sees what servers are when they welcome it. The first group connects to all of them,
 * so that each rank judges by the same; from then on a process knows, and connects to the leaves
 * that it needs. What it remembers is checked by the leaf's WELCOME, and by the servers, which
 * refuse groups whose ranks do not fit together.
 */
#include "client/tree.h"

#include <stdio.h>

#include "client/types.h"

uint32_t oc_tree_leaves(uint32_t servers, uint32_t members)
{
    return servers < members ? servers : members;
}

uint32_t oc_tree_leaf(uint32_t leaves, uint32_t members, uint32_t member)
{
    return (uint32_t) ((uint64_t) member * leaves / members);
}

uint32_t oc_tree_first(uint32_t leaves, uint32_t members, uint32_t leaf)
{
    return (uint32_t) (((uint64_t) leaf * members + leaves - 1) / leaves);
}

static unsigned num_servers(const oc_group_t *group)
{
    return group->num_links - group->num_peers;
}

/* Before the teams are those of a leaf. */
static uint32_t own_leaf(const oc_group_t *group)
{
    uint32_t leaves = oc_tree_leaves(group->client->servers.count, group->teams.num_ranks);

    return oc_tree_leaf(leaves, group->teams.num_ranks, group->teams.rank);
}

void oc_tree_servers(const oc_group_t *group, unsigned *first, unsigned *count)
{
    const oc_client_t *client = group->client;

    *first = 0 != client->tree ? own_leaf(group) : 0;
    *count = 0 != client->tree ? 1 : client->servers.count;
}

/* What all servers must have in common: the parent of the first; and whether they have it. */
static bool agree(const oc_group_t *group, uint64_t *parent, char *reason, size_t size)
{
    const oc_connection_t *first = group->links[0].connection;

    *parent = num_servers(group) > 0 ? first->parent : 0;
    for (unsigned i = 1; i < num_servers(group); i++) {
        const oc_connection_t *other = group->links[i].connection;

        if (other->parent == *parent) {
            continue;
        }
        if (0 == other->parent || 0 == *parent) {
            snprintf(reason, size, "server %.160s is a leaf of a tree and server %.160s is not: "
                     "name leaves of one tree, or servers without --parent",
                     0 == *parent ? other->name : first->name,
                     0 == *parent ? first->name : other->name);
        } else {
            snprintf(reason, size, "the servers %.160s and %.160s are leaves of different trees: "
                     "they need the same --parent", first->name, other->name);
        }
        return false;
    }
    return true;
}

/* Other groups may need the others still. */
static void drop_link(oc_group_t *group, unsigned number)
{
    static const oc_control_t bye = {.type = OC_CONTROL_BYE};
    oc_connection_t *connection = group->links[number].connection;

    if (0 == --connection->users) {
        oc_connection_close(connection, &bye);
    }
}

static void keep_link(oc_group_t *group, unsigned number)
{
    for (unsigned i = 0; i < group->num_links; i++) {
        if (i != number) {
            drop_link(group, i);
        }
    }
    group->links[0] = group->links[number];
    group->num_links = 1;
}

static void take_branch(oc_group_t *group)
{
    oc_teams_t *teams = &group->teams;
    uint32_t members = teams->num_ranks;
    uint32_t leaves = oc_tree_leaves(group->client->servers.count, members);
    uint32_t leaf = oc_tree_leaf(leaves, members, teams->rank);
    uint32_t first = oc_tree_first(leaves, members, leaf);

    if (leaves > 1) {
        group->branch = (oc_branch_t) {.leaves = leaves, .leaf = leaf,
                                       .most = (members + leaves - 1) / leaves};
        teams->num_ranks = oc_tree_first(leaves, members, leaf + 1) - first;
        teams->rank -= first;
    }
}

bool oc_tree_find(oc_group_t *group, char *reason, size_t size)
{
    oc_client_t *client = group->client;
    uint64_t parent;

    if (!agree(group, &parent, reason, size)) {
        return false;
    }
    if (0 != client->tree && parent != client->tree) {
        snprintf(reason, size, "server %.200s has another parent than it had before",
                 group->links[0].connection->name);
        client->tree = 0;
        return false;
    }
    if (0 == parent) {
        return true;
    }
    if (OC_REPRODUCIBLE_RANK_ORDER == client->config.settings->reproducible
        && client->servers.count > 1) {
        snprintf(reason, size, "the servers are leaves of a tree, which cannot reduce in rank "
                 "order: set coll_optcast_reproducible to shape, or name servers without "
                 "--parent");
        return false;
    }
    if (group->num_links > 1) {
        keep_link(group, own_leaf(group));
    }
    client->tree = parent;
    take_branch(group);
    return true;
}
