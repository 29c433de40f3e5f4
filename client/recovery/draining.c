/* SPDX-License-Identifier: BSD-3-Clause */
/* When a job leaves a server that was told to stop. */
#include "client/recovery/draining.h"

#include <stdio.h>
#include <utlist.h>

#include "client/recovery/recovery.h"
#include "client/servers/connection.h"
#include "client/servers/presence.h"
#include "client/state/loss.h"

static void leave_draining(oc_connection_t *connection)
{
    char reason[OC_REASON_SIZE];

    snprintf(reason, sizeof(reason), "server %.200s was told to stop", connection->name);
    (void) oc_loss_notice(connection, OC_ERR_UNREACHABLE, reason);
}

static bool is_linked(const oc_group_t *group, const oc_connection_t *connection)
{
    for (unsigned i = 0; i < group->servers->num_links; i++) {
        if (connection == group->servers->links[i].connection) {
            return true;
        }
    }
    return false;
}

/* One process of each group judges, and none that has vectors in memory of devices, which cannot be taken back. */
static bool may_judge(const oc_client_t *client, const oc_connection_t *connection)
{
    const oc_group_t *group;

    DL_FOREACH (client->groups, group) {
        if (OC_SERVICE_AGGREGATION == group->params.service && OC_GROUP_LIVE == group->state
            && 0 == group->params.rank && is_linked(group, connection)) {
            return !client->had_devices;
        }
    }
    return false;
}

/* Also a process that it does not serve keeps it waiting. */
static void leave_unused(oc_client_t *client)
{
    oc_connection_t *connection, *next;

    DL_FOREACH_SAFE (client->connections, connection, next) {
        if (connection->drains && OC_UPLINK_READY == connection->uplink.state && 0 == connection->users) {
            oc_presence_lost(connection);
            oc_connection_pause(connection);
            oc_connection_close(connection, NULL);
        }
    }
}

void oc_draining_look(oc_client_t *client)
{
    oc_connection_t *connection;

    if (client->config.settings->recovery) {
        leave_unused(client);
    }
    DL_FOREACH (client->connections, connection) {
        if (connection->drains && OC_UPLINK_READY == connection->uplink.state && connection->users > 0
            && !client->losing && 0 == client->renewals && NULL == client->setups
            && may_judge(client, connection) && oc_recovery_can_spare(connection)) {
            leave_draining(connection);
        }
    }
}
