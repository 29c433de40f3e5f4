/* SPDX-License-Identifier: BSD-3-Clause */
/* When a job leaves a server that was told to stop. */
#include "client/recovery/draining.h"

#include <stdio.h>
#include <utlist.h>

#include "client/recovery/recovery.h"
#include "client/state/loss.h"

static void leave_draining(oc_connection_t *connection)
{
    char reason[OC_REASON_SIZE];

    snprintf(reason, sizeof(reason), "server %.200s was told to stop", connection->name);
    (void) oc_loss_notice(connection, OC_ERR_UNREACHABLE, reason);
}

void oc_draining_look(oc_client_t *client)
{
    oc_connection_t *connection;

    DL_FOREACH (client->connections, connection) {
        if (connection->drains && OC_UPLINK_READY == connection->uplink.state && connection->users > 0
            && !client->losing && 0 == client->renewals && NULL == client->setups && oc_recovery_can_spare(connection)) {
            leave_draining(connection);
        }
    }
}
