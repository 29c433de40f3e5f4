/* SPDX-License-Identifier: BSD-3-Clause */
/* From the links of a group to its aggregators, and how much of a vector each of them gets. */
#include "client/servers/lanes.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static unsigned lanes_num_servers(const oc_group_t *group)
{
    return group->servers->num_links - group->servers->num_peers;
}

static uint32_t lanes_weight_of(const oc_group_t *group, unsigned link)
{
    return group->client->servers.servers[group->servers->links[link].server].weight;
}

/* Of the servers that are left. */
static uint64_t all_weights(const oc_group_t *group)
{
    uint64_t sum = 0;

    for (unsigned i = 0; i < lanes_num_servers(group); i++) {
        sum += lanes_weight_of(group, i);
    }
    return sum;
}

static uint64_t share_of(const oc_group_t *group, unsigned link)
{
    return link < lanes_num_servers(group)
               ? oc_share_of_server(group->servers->num_peers, lanes_weight_of(group, link),
                                    group->servers->links[link].connection->num_aggregators)
               : oc_share_of_peer(group->servers->num_peers, all_weights(group));
}

static void fill_shares(oc_group_t *group, uint64_t *shares)
{
    for (unsigned i = 0; i < group->servers->num_links; i++) {
        const oc_connection_t *connection = group->servers->links[i].connection;

        for (unsigned a = 0; a < connection->num_aggregators; a++) {
            shares[group->servers->num_lanes++] = share_of(group, i);
        }
        if (i < lanes_num_servers(group) || 0 == lanes_num_servers(group)) {
            group->servers->num_small = group->servers->num_lanes;
        }
    }
}

/* So that the weight of one of several aggregators of a server is a whole number, nearly. */
#define OWNER_WEIGHT_UNIT 65536u

static uint32_t member_of_peer(const oc_group_t *group, const oc_link_t *link)
{
    return NULL != group->node ? group->node->hosts[link->peer] : link->peer;
}

/* Where the aggregators are that share vectors whose results go to owners. */
static void fill_owner_lanes(oc_group_t *group)
{
    oc_group_servers_t *servers = group->servers;
    unsigned lane = 0;

    for (unsigned i = 0; i < servers->num_links; i++) {
        const oc_link_t *link = &servers->links[i];
        unsigned aggregators = link->connection->num_aggregators;

        for (unsigned a = 0; a < aggregators; a++) {
            servers->owner_lanes[lane++] =
                i < lanes_num_servers(group)
                    ? (oc_owner_lane_t) {.weight = (uint64_t) lanes_weight_of(group, i)
                                                   * OWNER_WEIGHT_UNIT / aggregators}
                    : (oc_owner_lane_t) {.member = member_of_peer(group, link)};
        }
    }
}

static void set_parts_of_servers(oc_group_t *group)
{
    oc_group_servers_t *servers = group->servers;
    uint64_t weights = all_weights(group);
    bool paired = OC_BESIDE_ALLGATHER == group->hints.reduce_scatter_beside;

    servers->for_servers = servers->for_servers_scattered = OC_WEIGHT_ONE;
    if (servers->num_peers > 1) {
        servers->for_servers = oc_owner_part_of_servers(weights, servers->num_peers, false);
        servers->for_servers_scattered = oc_owner_part_of_servers(weights,
                                                                  servers->num_peers, paired);
    }
}

/* All of this rank's first team, then those of its next one. */
static void fill_lanes(oc_group_t *group)
{
    oc_lane_t *lane = group->servers->lanes;

    for (unsigned t = 0; t < group->servers->teams.own; t++) {
        uint32_t team = oc_team_number(group, t), number = 0;

        for (unsigned i = 0; i < group->servers->num_links; i++) {
            const oc_link_t *link = &group->servers->links[i];

            for (unsigned a = 0; a < link->connection->num_aggregators; a++, lane++, number++) {
                *lane = (oc_lane_t) {
                    .connection = link->connection, .route = &link->connection->routes[a],
                    .handle = link->teams[t].handle, .aggregator = number, .team = team,
                    .index = team * group->servers->num_lanes + number};
            }
        }
    }
}

oc_status_t oc_lanes_make(oc_group_t *group)
{
    oc_status_t status = OC_ERR_NO_MEMORY;
    unsigned count = 0;
    uint64_t *shares;

    for (unsigned i = 0; i < group->servers->num_links; i++) {
        count += group->servers->links[i].connection->num_aggregators;
    }
    group->servers->lanes = calloc((size_t) count * group->servers->teams.own,
                                   sizeof(*group->servers->lanes));
    group->servers->owner_lanes = calloc(count, sizeof(*group->servers->owner_lanes));
    shares = calloc(count, sizeof(*shares));
    if (NULL != group->servers->lanes && NULL != group->servers->owner_lanes && NULL != shares) {
        fill_shares(group, shares);
        fill_lanes(group);
        fill_owner_lanes(group);
        set_parts_of_servers(group);
        status = oc_division_make(shares, count, &group->servers->division);
    }
    free(shares);
    if (OC_OK != status) {
        oc_lanes_free(group);
    }
    return status;
}

void oc_lanes_free(oc_group_t *group)
{
    free(group->servers->lanes);
    free(group->servers->owner_lanes);
    oc_division_free(&group->servers->division);
    group->servers->lanes = NULL;
    group->servers->owner_lanes = NULL;
    group->servers->num_lanes = 0;
    group->servers->num_small = 0;
}

/* Smallest and largest share of the links from first to last, in percent of a vector. */
static void get_range(const oc_group_t *group, unsigned first, unsigned last, double *least,
                      double *most)
{
    const oc_lane_t *lane = group->servers->lanes;

    *least = 100;
    *most = 0;
    for (unsigned i = 0; i < last; i++) {
        uint32_t weight = 0;
        double share;

        for (unsigned a = 0; a < group->servers->links[i].connection->num_aggregators; a++) {
            weight += group->servers->division.portions[(lane++)->aggregator].weight;
        }
        share = 100.0 * weight / group->servers->division.period;
        *least = i >= first && share < *least ? share : *least;
        *most = i >= first && share > *most ? share : *most;
    }
}

/* "12.5 %", or "5.0 to 20.0 %" */
static void print_shares(const oc_group_t *group, unsigned first, unsigned last, char text[32])
{
    double least, most;

    get_range(group, first, last, &least, &most);
    if (least < most) {
        snprintf(text, 32, "%.1f to %.1f %%", least, most);
    } else {
        snprintf(text, 32, "%.1f %%", least);
    }
}

static void describe_shares(const oc_group_t *group, char *buffer, size_t size)
{
    unsigned servers = lanes_num_servers(group), peers = group->servers->num_peers;
    char of_server[32], of_peer[32];

    print_shares(group, 0, servers, of_server);
    print_shares(group, servers, group->servers->num_links, of_peer);
    if (0 != group->servers->branch.leaves) {
        snprintf(buffer, size, "%u aggregator%s on each of %u leaf servers",
                 group->servers->num_lanes, 1 == group->servers->num_lanes ? "" : "s",
                 group->servers->branch.leaves);
    } else if (0 == peers && group->servers->division.period == group->servers->num_lanes) {
        snprintf(buffer, size, "%u aggregator%s on %u server%s",
                 group->servers->num_lanes, 1 == group->servers->num_lanes ? "" : "s", servers,
                 1 == servers ? "" : "s");
    } else if (0 == peers) {
        snprintf(buffer, size, "%u servers, %s each", servers, of_server);
    } else if (1 == peers) {
        snprintf(buffer, size, "1 peer");
    } else if (0 == servers) {
        snprintf(buffer, size, "%u peers, %s each", peers, of_peer);
    } else {
        snprintf(buffer, size, "%u server%s and %u peers, %s and %s each",
                 servers, 1 == servers ? "" : "s", peers, of_server, of_peer);
    }
}

static void describe_shape(const oc_group_t *group, char *buffer, size_t size)
{
    const oc_branch_t *branch = &group->servers->branch;
    uint32_t hosts = NULL != group->node ? group->node->num_hosts : 0;
    int length = 0;

    if (0 != branch->leaves) {
        length = snprintf(buffer, size, ", tree reduction shape: up to %u %s a leaf", branch->most,
                          NULL != group->node ? "hosts" : "ranks");
    }
    if (NULL != group->node) {
        snprintf(buffer + length, size - (size_t) length, "%s%u host%s with %s%u ranks",
                 0 != branch->leaves ? ", " : ", node reduction shape: ", hosts,
                 1 == hosts ? "" : "s", 1 == hosts ? "" : "up to ", group->servers->teams.count);
    } else if (0 == branch->leaves) {
        snprintf(buffer, size, ", flat reduction shape");
    }
}

void oc_lanes_describe(const oc_group_t *group, char *buffer, size_t size)
{
    size_t length;

    describe_shares(group, buffer, size);
    length = strlen(buffer);
    describe_shape(group, buffer + length, size - length);
}
