/* SPDX-License-Identifier: BSD-3-Clause */
/* Sets of servers, a bit for each. */
#include "client/servers/presence.h"

#include <stdio.h>
#include <utlist.h>

#include "client/state/setup_state.h"

static bool presence_has(uint64_t set, unsigned number)
{
    return number < OC_PRESENCE_SERVERS && 0 != (set >> number & 1);
}

static uint64_t bit_of(const oc_connection_t *connection)
{
    return connection->number < OC_PRESENCE_SERVERS ? (uint64_t) 1 << connection->number : 0;
}

void oc_presence_lost(oc_connection_t *connection)
{
    connection->client->away |= bit_of(connection);
}

void oc_presence_back(oc_connection_t *connection)
{
    if (!oc_lost_has(&connection->client->lost, connection->incarnation)) {
        connection->client->away &= ~bit_of(connection);
    }
}

unsigned oc_presence_count(const oc_group_t *group)
{
    unsigned count = 0;

    for (unsigned i = 0; i < group->client->servers.count; i++) {
        count += !presence_has(group->servers->away, i);
    }
    return count;
}

unsigned oc_presence_number(const oc_group_t *group, unsigned i)
{
    unsigned number = 0;

    for (;; number++) {
        if (!presence_has(group->servers->away, number) && 0 == i--) {
            return number;
        }
    }
}

static void presence_weigh(const oc_client_t *client, uint64_t away, uint64_t *weights, uint64_t *heaviest)
{
    *weights = *heaviest = 0;
    for (unsigned i = 0; i < client->servers.count; i++) {
        uint64_t weight = presence_has(away, i) ? 0 : client->servers.servers[i].weight;

        *weights += weight;
        *heaviest = weight > *heaviest ? weight : *heaviest;
    }
}

void oc_presence_weigh(const oc_group_t *group, uint64_t *weights, uint64_t *heaviest)
{
    presence_weigh(group->client, group->servers->away, weights, heaviest);
}

uint64_t oc_presence_weights(const oc_client_t *client)
{
    uint64_t weights, heaviest;

    presence_weigh(client, client->away, &weights, &heaviest);
    return weights;
}

/* Ranks cannot be spared, nor leaves of a tree. */
static bool can_spare(const oc_group_t *group, const oc_connection_t *connection)
{
    return group->client->config.settings->recovery && !connection->of_rank && 0 == connection->parent
           && 0 == group->client->tree && connection->number < OC_PRESENCE_SERVERS;
}

void oc_presence_do_without(oc_group_t *group, oc_connection_t *connection, const char *reason)
{
    oc_client_t *client = group->client;

    if (!can_spare(group, connection)) {
        oc_setup_give_up(group, "%s", reason);
        return;
    }
    oc_presence_lost(connection);
    snprintf(client->away_reason, sizeof(client->away_reason), "%s", reason);
    group->setup->misses = !oc_setup_has_given_up(group);
    oc_setup_upset(group, reason);
}

void oc_presence_note_drains(oc_client_t *client)
{
    oc_connection_t *connection;

    DL_FOREACH (client->connections, connection) {
        if (connection->drains && 0 == connection->parent && client->config.settings->recovery) {
            oc_presence_lost(connection);
        }
    }
}
