/* SPDX-License-Identifier: BSD-3-Clause */
/* From the settings and the ranks' records to the connections of a group. */
#include "client/servers/targets.h"

#include <arpa/inet.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <utlist.h>

#include "base/clock.h"
#include "client/servers/connection.h"
#include "client/servers/network.h"
#include "client/servers/presence.h"
#include "client/servers/tree.h"
#include "client/state/record.h"

/* So long after names were looked up, they are looked up again for servers that are away. */
#define NAMES_STAY (30 * OC_SECOND)

static unsigned num_embedded(const oc_group_t *group)
{
    unsigned wanted = group->client->num_embedded;

    return wanted < group->params.num_ranks ? wanted : group->params.num_ranks;
}

/* Embedded aggregators are spread evenly over the ranks. */
static uint32_t embedded_host(const oc_group_t *group, unsigned number)
{
    return (uint32_t) ((uint64_t) number * group->params.num_ranks / num_embedded(group));
}

static bool is_embedded_host(const oc_group_t *group)
{
    for (unsigned i = 0; i < num_embedded(group); i++) {
        if (embedded_host(group, i) == group->params.rank) {
            return true;
        }
    }
    return false;
}

/*
 * Before the ranks have met nobody knows how many hosts there are, only how many at most. So an
 * offer may turn out to be in vain: with enough servers, and with more hosts than OC_MAX_PEERS.
 */
bool oc_targets_may_want_peers(const oc_group_t *group)
{
    const oc_client_t *client = group->client;
    uint32_t most = group->params.max_hosts;

    return client->on_hosts
           || (0 == client->tree && client->servers.count > 0
               && OC_PEERS_AUTO == client->config.settings->peer_aggregation
               && oc_peers_help(most < OC_MAX_PEERS ? most : OC_MAX_PEERS,
                                oc_presence_weights(client)));
}

bool oc_targets_hosts_embedded(const oc_group_t *group)
{
    if (group->client->num_embedded > 0) {
        return is_embedded_host(group);
    }
    return group->params.lowest_on_host && oc_targets_may_want_peers(group);
}

static void make_sockaddr(const struct in6_addr *address, uint16_t port, oc_sockaddr_t *result)
{
    memset(result, 0, sizeof(*result));
    if (IN6_IS_ADDR_V4MAPPED(address)) {
        struct sockaddr_in *in = (struct sockaddr_in *) &result->address;

        in->sin_family = AF_INET;
        in->sin_port = htons(port);
        memcpy(&in->sin_addr, &address->s6_addr[12], 4);
        result->length = sizeof(*in);
    } else {
        struct sockaddr_in6 *in6 = (struct sockaddr_in6 *) &result->address;

        in6->sin6_family = AF_INET6;
        in6->sin6_port = htons(port);
        in6->sin6_addr = *address;
        result->length = sizeof(*in6);
    }
}

static const struct in6_addr loopback = {
    .s6_addr = {[10] = 0xff, [11] = 0xff, [12] = 127, [15] = 1}};

/* Takes the candidates. NULL: out of memory, which error says. */
static oc_connection_t *open_connection(oc_client_t *client, const char *name, unsigned number,
                                        oc_sockaddr_t *candidates, unsigned count, char *error,
                                        size_t error_size)
{
    oc_connection_t *connection = oc_connection_open(client, name, number, candidates, count);

    if (NULL == connection) {
        snprintf(error, error_size, "out of memory");
    }
    return connection;
}

oc_connection_t *oc_targets_connect_peer(oc_client_t *client, const oc_peer_address_t *contact, char *error,
                                         size_t error_size)
{
    oc_sockaddr_t *candidates;
    oc_connection_t *connection;
    unsigned count = 0;
    char name[64];

    snprintf(name, sizeof(name), "embedded in process %u", contact->process);
    connection = oc_connection_find(client, name);
    if (NULL != connection) {
        return connection;
    }
    candidates = calloc(OC_RECORD_MAX_ADDRESSES + 1, sizeof(*candidates));
    if (NULL == candidates) {
        snprintf(error, error_size, "out of memory");
        return NULL;
    }
    if (contact->host == oc_host_identity()) {
        make_sockaddr(&loopback, contact->port, &candidates[count++]);
    }
    for (unsigned i = 0; i < contact->num_addresses; i++) {
        make_sockaddr(&contact->addresses[i], contact->port, &candidates[count++]);
    }
    return open_connection(client, name, UINT_MAX, candidates, count, error, error_size);
}

static oc_connection_t *find_external(oc_client_t *client, unsigned number,
                                      char name[OC_NAME_SIZE])
{
    const oc_host_port_t *server = &client->servers.servers[number].name;

    snprintf(name, OC_NAME_SIZE, "%s:%u", server->host, server->port);
    return oc_connection_find(client, name);
}

static oc_connection_t *connect_external(oc_client_t *client, unsigned number, char *error,
                                         size_t error_size)
{
    char name[OC_NAME_SIZE];
    oc_connection_t *connection = find_external(client, number, name);
    oc_sockaddr_t *candidates;
    unsigned count;

    if (NULL != connection) {
        return connection;
    }
    candidates = oc_resolver_addresses(client->resolver, number, &count, error, error_size);
    if (NULL == candidates) {
        /* the next group asks again */
        oc_resolver_end(client->resolver);
        client->resolver = NULL;
        return NULL;
    }
    return open_connection(client, name, number, candidates, count, error, error_size);
}

/* The names of all servers, in a thread. */
static oc_status_t resolve_servers(oc_client_t *client)
{
    if (NULL == client->resolver) {
        client->resolver = oc_resolver_begin(&client->servers);
        client->resolved = client->now;
    }
    if (NULL == client->resolver) {
        return OC_ERR_SYSTEM;
    }
    return oc_resolver_done(client->resolver) ? OC_OK : OC_IN_PROGRESS;
}

/* A server that is started anew may have another address. */
static void forget_old_names(oc_client_t *client)
{
    if (NULL != client->resolver && oc_resolver_done(client->resolver)
        && client->now - client->resolved > NAMES_STAY) {
        oc_resolver_end(client->resolver);
        client->resolver = NULL;
    }
}

/* Tries that have come to nothing. */
static void end_probes(oc_client_t *client)
{
    oc_connection_t *connection, *next;

    DL_FOREACH_SAFE (client->connections, connection, next) {
        if (0 == connection->users
            && (OC_UPLINK_DEAD == connection->uplink.state || OC_UPLINK_CLOSED == connection->uplink.state)) {
            oc_connection_close(connection, NULL);
        }
    }
}

oc_status_t oc_targets_find(oc_client_t *client, unsigned number, oc_connection_t **connection, char *error,
                            size_t error_size)
{
    char name[OC_NAME_SIZE];

    *connection = find_external(client, number, name);
    if (NULL != *connection) {
        return OC_OK;
    }
    switch (resolve_servers(client)) {
    case OC_OK:
        break;
    case OC_IN_PROGRESS:
        return OC_IN_PROGRESS;
    default:
        snprintf(error, error_size, "no thread can be started to resolve the names of the servers");
        return OC_ERR_SYSTEM;
    }
    *connection = connect_external(client, number, error, error_size);
    return NULL != *connection ? OC_OK : OC_ERR_UNREACHABLE;
}

void oc_targets_probe(oc_client_t *client, unsigned number)
{
    char error[OC_REASON_SIZE];
    oc_connection_t *connection;

    if (OC_OK == oc_client_worker(client, error, sizeof(error))) {
        end_probes(client);
        forget_old_names(client);
        (void) oc_targets_find(client, number, &connection, error, sizeof(error));
    }
}

void oc_targets_probe_away(oc_client_t *client)
{
    for (unsigned i = 0; i < client->servers.count && i < OC_PRESENCE_SERVERS; i++) {
        if (0 != (client->away >> i & 1)) {
            oc_targets_probe(client, i);
        }
    }
}

oc_status_t oc_targets_resolve(oc_group_t *group)
{
    oc_client_t *client = group->client;
    char name[OC_NAME_SIZE];
    bool connected = true;
    unsigned first, count;

    oc_tree_servers(group, &first, &count);
    for (unsigned i = first; i < first + count && connected; i++) {
        connected = NULL != find_external(client, oc_presence_number(group, i), name);
    }
    if (connected) {
        return OC_OK;
    }
    return resolve_servers(client);
}

/* There are servers, and all are lost. */
static bool none_is_there(const oc_group_t *group)
{
    return group->client->servers.count > 0 && 0 == oc_presence_count(group);
}

/* All ranks see the same records, and count the same. */
unsigned oc_targets_count_peers(const oc_group_t *group)
{
    const oc_client_t *client = group->client;
    bool none = none_is_there(group);
    uint64_t weights, heaviest;
    unsigned count = 0;
    oc_record_t record;

    for (uint32_t rank = 0; rank < group->params.num_ranks; rank++) {
        (void) oc_record_of(group, rank, &record);
        count += 0 != record.port && (!record.reserve || none);
    }
    oc_presence_weigh(group, &weights, &heaviest);
    return none || 0 == client->servers.count || oc_peers_help(count, weights) ? count : 0;
}

static bool add_link(oc_group_t *group, oc_connection_t *connection)
{
    if (NULL == connection) {
        return false;
    }
    /* it may have been closed since anybody looked */
    oc_connection_progress(connection);
    connection->users++;
    group->servers->links[group->servers->num_links++].connection = connection;
    return true;
}

static oc_status_t make_links(oc_group_t *group, unsigned count, char *error, size_t error_size)
{
    oc_link_t *links = realloc(group->servers->links,
                               (group->servers->num_links + count) * sizeof(*links));

    if (NULL == links) {
        snprintf(error, error_size, "out of memory");
        return OC_ERR_NO_MEMORY;
    }
    memset(links + group->servers->num_links, 0, count * sizeof(*links));
    group->servers->links = links;
    return OC_OK;
}

oc_status_t oc_targets_add_peers(oc_group_t *group, char *error, size_t error_size)
{
    unsigned count = 0 == group->servers->branch.parent ? oc_targets_count_peers(group) : 0;
    oc_peer_address_t contact;
    oc_record_t record;

    if (group->servers->num_peers == count || group->servers->resorted) {
        return OC_OK;
    }
    if (OC_OK != make_links(group, count, error, error_size)) {
        return OC_ERR_NO_MEMORY;
    }
    for (uint32_t rank = 0; rank < group->params.num_ranks; rank++) {
        (void) oc_record_of(group, rank, &record);
        if (0 == record.port || record.reserve) {
            continue;
        }
        oc_peer_address_of(&record, &contact);
        if (!add_link(group, oc_targets_connect_peer(group->client, &contact, error, error_size))) {
            return OC_ERR_UNREACHABLE;
        }
        group->servers->links[group->servers->num_links - 1].peer = rank;
        group->servers->num_peers++;
    }
    return OC_IN_PROGRESS;
}

/* By their order among those that are there; NULL: the first ones. */
static oc_status_t link_servers(oc_group_t *group, const unsigned *servers, unsigned count,
                                char *error, size_t error_size)
{
    oc_status_t status = make_links(group, count, error, error_size);

    for (unsigned i = 0; OC_OK == status && i < count; i++) {
        unsigned number = oc_presence_number(group, NULL != servers ? servers[i] : i);

        if (!add_link(group, connect_external(group->client, number, error, error_size))) {
            status = OC_ERR_UNREACHABLE;
        } else {
            group->servers->links[group->servers->num_links - 1].server = number;
        }
    }
    return status;
}

oc_status_t oc_targets_connect(oc_group_t *group, char *error, size_t error_size)
{
    unsigned servers[OC_TREE_ASKED], count = oc_tree_asked(group, servers);
    oc_status_t status;

    /* other groups may learn more, or forget it, before these servers answer */
    group->servers->branch.parent = group->client->tree;
    if (0 == count) {
        status = oc_targets_add_peers(group, error, error_size);
        if (OC_OK == status) {
            snprintf(error, error_size, "no rank offers to aggregate");
            return OC_ERR_UNREACHABLE;
        }
        return OC_IN_PROGRESS == status ? OC_OK : status;
    }
    return link_servers(group, servers, count, error, error_size);
}

oc_status_t oc_targets_connect_all(oc_group_t *group, char *error, size_t error_size)
{
    oc_link_t *asked = group->servers->links;
    unsigned num_asked = group->servers->num_links;
    oc_status_t status;

    group->servers->links = NULL;
    group->servers->num_links = 0;
    status = link_servers(group, NULL, oc_presence_count(group), error, error_size);
    /* their connections are among those of the new links, unless that failed */
    for (unsigned i = 0; i < num_asked; i++) {
        asked[i].connection->users--;
    }
    free(asked);
    return status;
}
