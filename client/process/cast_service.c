/* SPDX-License-Identifier: BSD-3-Clause */
/* Progress of multicast in a client. */
#include "client/process/cast_service.h"

#include <stdio.h>
#include <utlist.h>

#include "base/log.h"
#include "client/group/cast_group.h"
#include "client/group/group.h"
#include "client/group/quiet.h"
#include "client/group/relay.h"

#define NO_MORE "multicast does not reach all ranks any more"

/* One of the ranks tells it, once. If one rank multicasts for each host, it is that which is numbered. */
static void tell_unicast(oc_group_t *group, uint32_t unheard, uint32_t receiver)
{
    const uint32_t *leaders = NULL == group->node ? NULL : group->node->leaders;
    char whose[32] = "of all other ranks";

    if (group->cast_told || 0 != group->params.rank) {
        return;
    }
    group->cast_told = true;
    if (unheard < (NULL == leaders ? group->params.num_ranks : group->node->num_hosts)) {
        snprintf(whose, sizeof(whose), "of rank %u", NULL == leaders ? unheard : leaders[unheard]);
    }
    oc_warn("communicator \"%s\": multicast %s does not reach rank %u any more: this communicator goes "
            "on without multicast; does the network have an IGMP querier?", group->name, whose,
            NULL == leaders ? receiver : leaders[receiver]);
}

/* A blocking operation has ended in the same way on all ranks: they go on with the previous module. */
static void take_unicast(oc_group_t *group)
{
    uint32_t unheard, receiver;

    if (!oc_cast_group_is_unicast(group->cast, &unheard, &receiver)) {
        return;
    }
    tell_unicast(group, unheard, receiver);
    /* a leader may still have to hand on what the last operation has brought: its end is news as well */
    if (OC_GROUP_LIVE == group->state && NULL == group->relay
        && oc_multicast_is_closed(group->client->multicast, group->cast)) {
        oc_group_decline(group, NO_MORE);
    }
}

/* Groups whose collectives have ended with an error or by unicast; those of idle ones show with the next. */
static void take_news(oc_client_t *client)
{
    oc_group_t *group;

    client->cast_news = false;
    DL_FOREACH (client->groups, group) {
        if (NULL != group->cast && oc_cast_group_ready(group->cast) < OC_OK) {
            oc_group_fail(group, oc_cast_group_ready(group->cast),
                          oc_cast_group_reason(group->cast));
        } else if (NULL != group->cast) {
            take_unicast(group);
        } else if (group->cast_closed && OC_GROUP_LIVE == group->state) {
            oc_group_decline(group, NO_MORE);
        }
    }
}

/*
 * Those to servers that large vectors are under way on, less by the part that peers have of a Reduce_scatter, which is
 * about that of others. What goes to peers comes to hosts by the same links as the datagrams: these would take from
 * it, and servers would wait for owners whose results do not come through. Without servers it makes no difference, as
 * all goes over the links of hosts, in whichever order.
 */
static unsigned count_busy_lanes(const oc_group_t *group)
{
    const oc_group_servers_t *servers = group->servers;
    unsigned part = servers->num_peers > 0 ? servers->for_servers_scattered : OC_WEIGHT_ONE;
    unsigned busy = 0;

    for (unsigned i = 0; i < servers->num_lanes * servers->teams.own; i++) {
        busy += 0 != servers->lanes[i].flying && !servers->lanes[i].connection->of_rank;
    }
    return (busy * part + OC_WEIGHT_ONE - 1) / OC_WEIGHT_ONE;
}

static unsigned busy_connections(const oc_client_t *client)
{
    const oc_group_t *group;
    unsigned busy = 0;

    DL_FOREACH (client->groups, group) {
        if (NULL != group->running && NULL != group->servers && NULL != group->servers->lanes) {
            busy += count_busy_lanes(group);
        }
    }
    return busy;
}

static bool has_work(const oc_client_t *client)
{
    return NULL != client->multicast
           && (client->cast_setups > 0 || oc_multicast_pending(client->multicast) > 0
               || oc_multicast_show_is_on(client->multicast));
}

void oc_client_cast_progress(oc_client_t *client)
{
    bool works = has_work(client) || client->cast_pending || 0 != client->quiet;

    if (!works && NULL == client->relays && !client->cast_news) {
        return;
    }
    if (works && NULL != client->multicast) {
        oc_multicast_beside(client->multicast, busy_connections(client));
        oc_multicast_progress(client->multicast, client->now);
    }
    oc_quiet_look(client);
    (void) oc_client_relays_progress(client);
    if (client->cast_news) {
        take_news(client);
    }
    if (NULL != client->multicast) {
        oc_client_cast_account(client);
    }
}

int oc_client_cast_sleep(oc_client_t *client, struct pollfd *fds, uint64_t *timeout)
{
    oc_quiet_limit(client, timeout);
    return has_work(client) ? oc_multicast_sleep(client->multicast, fds, client->now, timeout) : 0;
}
