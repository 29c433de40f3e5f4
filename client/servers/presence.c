/* SPDX-License-Identifier: BSD-3-Clause */
/* Sets of servers, a bit for each. */
#include "client/servers/presence.h"

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
