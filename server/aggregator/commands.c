/* SPDX-License-Identifier: BSD-3-Clause */
/* What the control side tells an aggregator. */
#include "server/aggregator/commands.h"

#include <stdlib.h>

#include "base/clock.h"
#include "server/aggregator/above.h"
#include "server/aggregator/server_codes.h"
#include "server/aggregator/server_groups.h"
#include "server/aggregator/server_peers.h"

/* A PING comes from each client that has waited for a second: from thousands, all the time. */
static bool sweep_is_due(oc_aggregator_t *aggregator)
{
    uint64_t now = oc_clock_ns();

    if (now - aggregator->swept_at < OC_SECOND) {
        return false;
    }
    aggregator->swept_at = now;
    return true;
}

static void carry_out(oc_aggregator_t *aggregator, oc_command_t *command)
{
    switch (command->type) {
    case OC_COMMAND_CLIENT_ADD:
        oc_server_peer_add(aggregator, command);
        break;
    case OC_COMMAND_CLIENT_DROP:
        oc_server_peer_drop(aggregator, command->client);
        break;
    case OC_COMMAND_KEY:
        oc_server_codes_open(aggregator, command);
        break;
    case OC_COMMAND_MEMBER_ADD:
        oc_server_group_join(aggregator, command);
        break;
    case OC_COMMAND_GROUP_DROP:
        oc_server_group_drop(aggregator, command->handle);
        break;
    case OC_COMMAND_PARENT_ADD:
        oc_above_connect(aggregator, command->data);
        break;
    case OC_COMMAND_GROUP_ABOVE:
        oc_server_group_above(aggregator, command);
        break;
    case OC_COMMAND_PING:
        aggregator->sweeps = aggregator->sweeps || sweep_is_due(aggregator);
        command->type = OC_COMMAND_PONG;
        oc_mailbox_post(aggregator->config.control, command);
        return;
    case OC_COMMAND_STOP:
        aggregator->stop = true;
        break;
    default:
        break;
    }
    free(command);
}

void oc_commands_carry_out(oc_aggregator_t *aggregator)
{
    oc_command_t *command;

    while (NULL != (command = oc_mailbox_take(&aggregator->inbox))) {
        carry_out(aggregator, command);
    }
}
