/* SPDX-License-Identifier: BSD-3-Clause */
/* Asks multicast whether its operations have begun. */
#include "client/group/quiet.h"

#include <utlist.h>

#include "client/collective/collective.h"

static uint64_t awaited_until(const oc_client_t *client)
{
    return NULL != client->multicast
               ? oc_multicast_is_awaited_until(client->multicast, client->now) : 0;
}

/* It may last longer from now on; only a look ends it, which begins what was held. */
void oc_quiet_begin(oc_client_t *client)
{
    uint64_t until = awaited_until(client);

    if (until > client->now && until > client->quiet) {
        client->quiet = until;
    }
}

static void start_held(oc_client_t *client)
{
    oc_group_t *group, *next;

    DL_FOREACH_SAFE (client->groups, group, next) {
        if (OC_SERVICE_AGGREGATION == group->params.service) {
            oc_group_start_queued(group);
        }
    }
}

void oc_quiet_look(oc_client_t *client)
{
    uint64_t until;

    if (0 == client->quiet) {
        return;
    }
    until = awaited_until(client);
    client->quiet = until > client->now ? until : 0;
    if (0 == client->quiet) {
        start_held(client);
    }
}

void oc_quiet_limit(const oc_client_t *client, uint64_t *timeout)
{
    uint64_t left = client->quiet > client->now ? client->quiet - client->now : 0;

    if (0 != client->quiet && left < *timeout) {
        *timeout = left;
    }
}
