/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The devices that UCX uses in a rank. A worker keeps those that it was made with, and all later
 * communicators use it. So it has too many rather than too few: whoever cannot be named now may be
 * a partner later.
 */
#include "client/servers/interfaces.h"

#include <stdlib.h>
#include <utlist.h>

#include "client/plan/division.h"
#include "client/servers/presence.h"
#include "net/devices.h"

#define SYSFS "/sys"

/* Its hosts are about to aggregate instead of servers. */
static bool lacks_servers(const oc_client_t *client)
{
    const oc_group_t *group;

    DL_FOREACH (client->groups, group) {
        if (NULL != group->servers && NULL != group->servers->renewal
            && group->servers->num_links == group->servers->num_peers) {
            return true;
        }
    }
    return false;
}

/* Ranks on hosts that nobody knows yet may aggregate, now or for a later communicator. */
static bool may_have_remote_peers(const oc_client_t *client)
{
    uint32_t hosts = client->config.max_hosts;

    return client->config.spans_hosts
           && (0 == client->servers.count || lacks_servers(client)
               || (OC_PEERS_AUTO == client->config.settings->peer_aggregation
                   && (0 == hosts || hosts > OC_MAX_PEERS
                       || oc_peers_help(hosts, oc_presence_weights(client)))));
}

/* false: an address is not known, or too many interfaces lead to them. */
static bool add_servers(const oc_client_t *client, char *list, size_t size)
{
    bool added = NULL != client->resolver && oc_resolver_done(client->resolver);
    char interface[OC_HOST_SIZE], error[128];

    for (unsigned i = 0; added && i < client->servers.count; i++) {
        unsigned count;
        oc_sockaddr_t *addresses =
            oc_resolver_addresses(client->resolver, i, &count, error, sizeof(error));

        added = NULL != addresses;
        for (unsigned j = 0; added && j < count; j++) {
            /* of several addresses, some may lead nowhere */
            if (oc_interface_toward(&addresses[j], interface, sizeof(interface))) {
                added = oc_devices_add(list, size, interface);
            }
        }
        free(addresses);
    }
    return added;
}

const char *oc_loopback_devices(char *list, size_t size)
{
    char interface[OC_HOST_SIZE];

    list[0] = '\0';
    return oc_loopback_interface(interface, sizeof(interface))
                   && oc_devices_add(list, size, interface)
                   && oc_devices_add_rdma(list, size, SYSFS)
               ? list : NULL;
}

const char *oc_client_devices(const oc_client_t *client, char *list, size_t size)
{
    char interface[OC_HOST_SIZE];

    list[0] = '\0';
    if (may_have_remote_peers(client)) {
        return NULL;
    }
    if (!client->config.spans_hosts
        && !(oc_loopback_interface(interface, sizeof(interface))
             && oc_devices_add(list, size, interface))) {
        return NULL;
    }
    return (0 == client->servers.count || add_servers(client, list, size)) && '\0' != list[0]
                   && oc_devices_add_rdma(list, size, SYSFS)
               ? list : NULL;
}
