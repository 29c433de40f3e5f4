/* SPDX-License-Identifier: BSD-3-Clause */
/* Asks multicast whether its operations have begun. */
#include "client/group/quiet.h"

#include <utlist.h>

#include "client/collective/collective.h"

void oc_quiet_begin(oc_client_t *client)
{
    uint64_t until =
        NULL != client->multicast ? oc_multicast_is_awaited_until(client->multicast, client->now) : 0;

    client->quiet = until > client->now ? until : 0;
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
    if (0 != client->quiet) {
        oc_quiet_begin(client);
        if (0 == client->quiet) {
            start_held(client);
        }
    }
}

void oc_quiet_limit(const oc_client_t *client, uint64_t *timeout)
{
    uint64_t left = client->quiet > client->now ? client->quiet - client->now : 0;

    if (0 != client->quiet && left < *timeout) {
        *timeout = left;
    }
}
