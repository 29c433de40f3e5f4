/* SPDX-License-Identifier: BSD-3-Clause */
/* When a process looks for servers that are back, and says that they are. */
#include "client/recovery/returning.h"

#include <utlist.h>

#include "base/clock.h"
#include "client/recovery/recovery.h"
#include "client/recovery/relink.h"
#include "client/servers/targets.h"
#include "client/state/comeback.h"
#include "client/state/loss.h"

/* One of this number has come back, and is not lost again. */
static bool is_back(const oc_lost_t *lost, unsigned number)
{
    for (unsigned i = 0; i < lost->num_returned; i++) {
        if (number == lost->returned[i].number && !oc_lost_has(lost, lost->returned[i].incarnation)) {
            return true;
        }
    }
    return false;
}

static void note_number(oc_client_t *client, unsigned number)
{
    bool back = is_back(&client->lost, number);

    if (!back && client->comebacks[number].back) {
        client->away |= (uint64_t) 1 << number;
    }
    oc_comeback_note(&client->comebacks[number], back, client->now);
    if (back) {
        client->away &= ~((uint64_t) 1 << number);
    }
}

void oc_returning_note(oc_client_t *client)
{
    client->returning = client->now + OC_COMEBACK_INTERVAL;
    for (unsigned number = 0; number < client->servers.count && number < OC_PRESENCE_SERVERS; number++) {
        note_number(client, number);
    }
}

/* It lacks servers, and this rank is the one to look. */
static bool looks_for_servers(const oc_group_t *group)
{
    unsigned count = group->client->servers.count;

    count = count < OC_PRESENCE_SERVERS ? count : OC_PRESENCE_SERVERS;
    return OC_SERVICE_AGGREGATION == group->params.service && OC_GROUP_LIVE == group->state
           && 0 == group->params.rank && OC_PARTING_NOT == group->parting && oc_group_is_renewable(group)
           && group->servers->num_links - group->servers->num_peers < count;
}

/* One of this number that has welcomed this process; NULL: none has. */
static oc_connection_t *find_welcomed(const oc_client_t *client, unsigned number)
{
    oc_connection_t *connection;

    DL_FOREACH (client->connections, connection) {
        if (number == connection->number && OC_UPLINK_READY == connection->uplink.state && !connection->drains
            && 0 == connection->parent && !oc_lost_has(&client->lost, connection->incarnation)) {
            return connection;
        }
    }
    return NULL;
}

/* Those that a group lacks: they return to it, or are tried once more. */
static void look_for(oc_group_t *group)
{
    oc_client_t *client = group->client;

    for (unsigned number = 0; number < client->servers.count && number < OC_PRESENCE_SERVERS; number++) {
        oc_connection_t *connection;

        if (oc_relink_has(group, number) || !oc_comeback_is_due(&client->comebacks[number], client->now)) {
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

/* As many places are left as there are servers: each can be lost once more. */
static bool has_epochs_left(const oc_client_t *client)
{
    return client->lost.count + client->servers.count < OC_MAX_LOST
           && client->lost.num_returned + client->servers.count < OC_MAX_LOST;
}

/* Whether the collectives of this process could be interrupted. Who had memory of devices may have it again, as may others. */
static bool may_interrupt(const oc_client_t *client)
{
    return !client->losing && 0 == client->renewals && NULL == client->setups && !client->had_devices
           && has_epochs_left(client) && oc_recovery_can_begin(client);
}

uint64_t oc_returning_due(const oc_client_t *client)
{
    uint64_t now = oc_clock_ns();
    const oc_group_t *group;

    if (!may_interrupt(client)) {
        return UINT64_MAX;
    }
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

    if (client->now < client->returning) {
        return;
    }
    client->returning = client->now + OC_COMEBACK_INTERVAL;
    if (!may_interrupt(client)) {
        return;
    }
    DL_FOREACH (client->groups, group) {
        if (looks_for_servers(group)) {
            look_for(group);
        }
    }
}
