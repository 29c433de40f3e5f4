/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Servers that are leaves of a tree. Each rank, or host, has one of them, which adds up what its
 * own members send; the server above adds up the leaves. Weights do not count: blocks of ranks as
 * even as they can be make the shape of the reduction.
 *
 * A process sees what servers are when they welcome it. If all asked all, each leaf would meet all
 * clients of the job, more than one server takes. So a rank asks two servers: its own leaf and the
 * next one, in a ring of those that get members. It goes on if both are leaves of the same parent,
 * or if neither is a leaf. That is enough for all ranks to come to the same outcome. If not all
 * servers of the ring are the same, some leaf differs from the next one; each leaf has members, so
 * a rank notices, and by its vote all decline. If none is a leaf, each rank connects to the rest of
 * the list, and sees for itself whether there is one.
 *
 * When all ranks have voted for a tree, or for leaving it to others, their processes remember its
 * parent, and ask nobody but their own leaf, whether it still has that one. What they remember was
 * true of the first server of the list, which is in every ring: so all of them remember the same.
 * In a ring that is not all the same, at least two leaves that differ from each other differ from
 * their next ones. One of them has not that parent, and each of its ranks notices, whether it
 * remembers or compares.
 */
#include "client/servers/tree.h"

#include <stdio.h>

#include "client/servers/connection.h"
#include "client/servers/presence.h"

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

uint32_t oc_tree_next(uint32_t leaves, uint32_t leaf)
{
    return (leaf + 1) % leaves;
}

static unsigned tree_num_servers(const oc_group_t *group)
{
    return group->servers->num_links - group->servers->num_peers;
}

/* Of a group with servers, before its teams are those of a leaf. */
static void find_leaf(const oc_group_t *group, uint32_t *own, uint32_t *next)
{
    uint32_t leaves = oc_tree_leaves(oc_presence_count(group), group->servers->teams.num_ranks);

    *own = oc_tree_leaf(leaves, group->servers->teams.num_ranks, group->servers->teams.rank);
    *next = oc_tree_next(leaves, *own);
}

unsigned oc_tree_asked(const oc_group_t *group, unsigned servers[OC_TREE_ASKED])
{
    uint32_t own, next;

    if (0 == oc_presence_count(group)) {
        return 0;
    }
    find_leaf(group, &own, &next);
    if (own == next || 0 != group->client->tree) {
        servers[0] = own;
        return 1;
    }
    servers[0] = own < next ? own : next;
    servers[1] = own < next ? next : own;
    return 2;
}

void oc_tree_servers(const oc_group_t *group, unsigned *first, unsigned *count)
{
    const oc_client_t *client = group->client;
    unsigned servers[OC_TREE_ASKED];

    *first = 0;
    *count = oc_presence_count(group);
    if (0 != client->tree && 0 == group->servers->num_links) {
        *count = oc_tree_asked(group, servers);
        *first = *count > 0 ? servers[0] : 0;
    }
}

/* What all servers must have in common: the parent of the first; and whether they have it. */
static bool agree(const oc_group_t *group, uint64_t *parent, char *reason, size_t size)
{
    const oc_connection_t *first = group->servers->links[0].connection;

    *parent = tree_num_servers(group) > 0 ? first->parent : 0;
    for (unsigned i = 1; i < tree_num_servers(group); i++) {
        const oc_connection_t *other = group->servers->links[i].connection;

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
    oc_connection_t *connection = group->servers->links[number].connection;

    if (0 == --connection->users) {
        oc_connection_close(connection, &bye);
    }
}

static void keep_own_link(oc_group_t *group)
{
    uint32_t own, next;
    unsigned number;

    find_leaf(group, &own, &next);
    number = group->servers->num_links > 1 && own > next;
    for (unsigned i = 0; i < group->servers->num_links; i++) {
        if (i != number) {
            drop_link(group, i);
        }
    }
    group->servers->links[0] = group->servers->links[number];
    group->servers->num_links = 1;
}

static void take_branch(oc_group_t *group)
{
    oc_teams_t *teams = &group->servers->teams;
    uint32_t members = teams->num_ranks;
    uint32_t leaves = oc_tree_leaves(oc_presence_count(group), members);
    uint32_t leaf = oc_tree_leaf(leaves, members, teams->rank);
    uint32_t first = oc_tree_first(leaves, members, leaf);

    if (leaves > 1) {
        group->servers->branch.leaves = leaves;
        group->servers->branch.leaf = leaf;
        group->servers->branch.most = (members + leaves - 1) / leaves;
        teams->num_ranks = oc_tree_first(leaves, members, leaf + 1) - first;
        teams->rank -= first;
    }
}

oc_status_t oc_tree_find(oc_group_t *group, char *reason, size_t size)
{
    oc_client_t *client = group->client;
    uint64_t parent;

    if (!agree(group, &parent, reason, size)) {
        return OC_DECLINED;
    }
    if (0 != group->servers->branch.parent && parent != group->servers->branch.parent) {
        snprintf(reason, size, "server %.200s has another parent than it had before",
                 group->servers->links[0].connection->name);
        client->tree = 0;
        return OC_DECLINED;
    }
    if (0 == parent) {
        return tree_num_servers(group) < oc_presence_count(group) ? OC_IN_PROGRESS : OC_OK;
    }
    if (OC_REPRODUCIBLE_RANK_ORDER == client->config.settings->reproducible
        && oc_presence_count(group) > 1) {
        snprintf(reason, size, "the servers are leaves of a tree, which cannot reduce in rank "
                 "order: set coll_optcast_reproducible to shape, or name servers without "
                 "--parent");
        return OC_DECLINED;
    }
    keep_own_link(group);
    group->servers->branch.parent = parent;
    take_branch(group);
    return OC_OK;
}

void oc_tree_remember(const oc_group_t *group)
{
    if (0 != group->servers->branch.parent) {
        group->client->tree = group->servers->branch.parent;
    }
}
