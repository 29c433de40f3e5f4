/* SPDX-License-Identifier: BSD-3-Clause */
/* From a server that is back to the links of groups. */
#include "client/recovery/returning.h"

#include <stdlib.h>
#include <string.h>
#include <utlist.h>

#include "base/clock.h"
#include "client/servers/targets.h"
#include "client/state/loss.h"

/* From one look to the next. */
#define LOOK_INTERVAL OC_SECOND

/* One that is lost again and again is waited for twice as long after each time, up to 64 s after the last change. */
#define MOST_DOUBLINGS 6

/* A server is not due yet. */
static bool is_too_early(const oc_client_t *client, unsigned number)
{
    unsigned times = 0;

    for (unsigned i = 0; i < client->lost.num_returned; i++) {
        times += number == client->lost.returned[i].number;
    }
    return client->now < client->renewed + (LOOK_INTERVAL << (times < MOST_DOUBLINGS ? times : MOST_DOUBLINGS));
}

static bool has_link(const oc_group_t *group, unsigned number)
{
    unsigned count = group->servers->num_links - group->servers->num_peers;

    for (unsigned i = 0; i < count; i++) {
        if (number == group->servers->links[i].server) {
            return true;
        }
    }
    return false;
}

/* It lacks servers, and this rank is the one to look. */
static bool looks_for_servers(const oc_group_t *group)
{
    return OC_SERVICE_AGGREGATION == group->params.service && OC_GROUP_LIVE == group->state
           && 0 == group->params.rank && OC_PARTING_NOT == group->parting && oc_group_is_renewable(group)
           && group->servers->num_links - group->servers->num_peers < group->client->servers.count;
}

/* One of this number that has welcomed this process; NULL: none has. */
static oc_connection_t *find_welcomed(const oc_client_t *client, unsigned number)
{
    oc_connection_t *connection;

    DL_FOREACH (client->connections, connection) {
        if (number == connection->number && OC_UPLINK_READY == connection->uplink.state && !connection->drains
            && !oc_lost_has(&client->lost, connection->incarnation)) {
            return connection;
        }
    }
    return NULL;
}

/* Those that a group lacks: they return to it, or are tried once more. */
static void look_for(oc_group_t *group)
{
    oc_client_t *client = group->client;

    for (unsigned number = 0; number < client->servers.count; number++) {
        oc_connection_t *connection;

        if (has_link(group, number) || is_too_early(client, number)) {
            continue;
        }
        connection = find_welcomed(client, number);
        if (NULL != connection) {
            oc_loss_return(connection);
        } else {
            oc_targets_probe(client, number);
        }
    }
}

uint64_t oc_returning_due(const oc_client_t *client)
{
    uint64_t now = oc_clock_ns();
    const oc_group_t *group;

    DL_FOREACH (client->groups, group) {
        if (looks_for_servers(group)) {
            return now < client->returning ? client->returning - now : 0;
        }
    }
    return UINT64_MAX;
}

void oc_returning_look(oc_client_t *client)
{
    oc_group_t *group;

    if (client->now < client->returning || client->losing || 0 != client->renewals || NULL != client->setups) {
        return;
    }
    client->returning = client->now + LOOK_INTERVAL;
    DL_FOREACH (client->groups, group) {
        if (looks_for_servers(group)) {
            look_for(group);
        }
    }
}

/* ---- in the new epoch ---- */

/* Behind those with smaller numbers. false: out of memory. */
static bool insert_link(oc_group_t *group, const oc_link_t *link)
{
    oc_group_servers_t *servers = group->servers;
    unsigned at = 0, count = servers->num_links - servers->num_peers;
    oc_link_t *links = realloc(servers->links, (servers->num_links + 1) * sizeof(*links));

    if (NULL == links) {
        return false;
    }
    servers->links = links;
    while (at < count && links[at].server < link->server) {
        at++;
    }
    memmove(&links[at + 1], &links[at], (servers->num_links - at) * sizeof(*links));
    links[at] = *link;
    servers->num_links++;
    link->connection->users++;
    return true;
}

/* Of two of one number nobody knows which is the later one: all ranks take the same, and find out. */
static const oc_returned_t *find_returned(const oc_group_t *group)
{
    const oc_client_t *client = group->client;

    for (unsigned i = client->lost.num_returned; i > 0; i--) {
        const oc_returned_t *returned = &client->lost.returned[i - 1];

        if (returned->number < client->servers.count && !oc_lost_has(&client->lost, returned->incarnation)
            && !has_link(group, returned->number)) {
            return returned;
        }
    }
    return NULL;
}

oc_status_t oc_returning_link(oc_group_t *group, uint64_t *lost, char *reason, size_t size)
{
    const oc_returned_t *returned;

    while (NULL != (returned = find_returned(group))) {
        oc_link_t link = {.server = returned->number, .incarnation = returned->incarnation, .fresh = true};
        oc_status_t status = oc_targets_find(group->client, returned->number, &link.connection, reason, size);

        *lost = returned->incarnation;
        if (OC_OK != status) {
            return status;
        }
        if (!insert_link(group, &link)) {
            return OC_ERR_NO_MEMORY;
        }
    }
    return OC_OK;
}
