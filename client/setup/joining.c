/* SPDX-License-Identifier: BSD-3-Clause */
/* Connecting to the servers of a group and joining them, and who keeps this rank waiting. */
#include "client/setup/joining.h"

#include <stdio.h>
#include <stdlib.h>
#include <utlist.h>

#include "base/clock.h"
#include "client/group/place.h"
#include "client/servers/connection.h"
#include "client/servers/membership.h"
#include "client/servers/network.h"
#include "client/servers/presence.h"
#include "client/servers/resort.h"
#include "client/servers/targets.h"
#include "client/servers/tree.h"
#include "client/setup/choose.h"
#include "client/state/readiness.h"
#include "client/state/setup_state.h"

/* If all servers are lost, with the last resort from the beginning. */
static oc_status_t connect_targets(oc_group_t *group, char *error, size_t error_size)
{
    if (group->client->servers.count > 0 && 0 == oc_presence_count(group) && oc_resort_note(group)
        && oc_resort_is_there(group)) {
        return oc_resort_settle(group, error, error_size);
    }
    return oc_targets_connect(group, error, error_size);
}

static void connect_servers(oc_group_t *group)
{
    char error[OC_REASON_SIZE / 2];

    group->setup->step = OC_SETUP_CONNECT;
    /* another group's failure may have taken the worker away since the record was made */
    if (OC_OK != oc_client_worker(group->client, error, sizeof(error))
        || OC_OK != connect_targets(group, error, sizeof(error))) {
        oc_setup_give_up(group, "%s", error);
    }
}

/* How many links are at least in the given state; a dead one means giving up. */
static unsigned links_at(oc_group_t *group, bool joined)
{
    unsigned count = 0;

    for (unsigned i = 0; i < group->servers->num_links; i++) {
        oc_connection_t *connection = group->servers->links[i].connection;

        if (OC_UPLINK_DEAD == connection->uplink.state) {
            oc_presence_do_without(group, connection, connection->uplink.reason);
        }
        count += joined ? oc_membership_joined(group, &group->servers->links[i])
                        : OC_UPLINK_READY == connection->uplink.state;
    }
    return count;
}

/* NULL: all have done what is to be done now. */
static oc_connection_t *find_slow(const oc_group_t *group)
{
    const oc_link_t *link = oc_membership_slow(group, OC_SETUP_JOIN == group->setup->step
                                                       ? group->setup->readiness
                                                       : NULL);

    return NULL != link ? link->connection : NULL;
}

static const char *slow_server(const oc_group_t *group)
{
    const oc_connection_t *connection = find_slow(group);

    return NULL == connection ? "?" : connection->name;
}

/* Who comes back again and again has heard why not yet. */
static void give_up_waiting(oc_group_t *group, int timeout)
{
    oc_connection_t *connection = find_slow(group);
    const char *before = NULL == connection ? "" : connection->uplink.reason;
    char reason[OC_REASON_SIZE];

    snprintf(reason, sizeof(reason), "server %.200s did not answer within %d seconds%s%.250s", slow_server(group), timeout,
             '\0' == before[0] ? "" : "; before, ", before);
    if (NULL != connection) {
        oc_presence_do_without(group, connection, reason);
    } else {
        oc_setup_give_up(group, "%s", reason);
    }
}

/* Whether connecting lacks no address. Gives up when they do not come. */
static bool has_addresses(oc_group_t *group)
{
    int timeout = group->client->config.settings->connect_timeout;

    switch (oc_targets_resolve(group)) {
    case OC_OK:
        return true;
    case OC_IN_PROGRESS:
        if (group->setup->quiet > (uint64_t) timeout * OC_SECOND) {
            oc_setup_give_up(group, "the names in coll_optcast_servers were not resolved within %d "
                             "seconds", timeout);
        }
        break;
    default:
        oc_setup_give_up(group, "no thread can be started to resolve the names of the servers");
    }
    return false;
}

/*
 * First servers that are asked what they are, then all if these are no leaves, then peers: beside
 * leaves of a tree there are none. OC_IN_PROGRESS: some have to be connected first.
 */
static oc_status_t complete_links(oc_group_t *group, char *reason, size_t size)
{
    oc_status_t status = oc_tree_find(group, reason, size);

    if (OC_OK == status) {
        return oc_targets_add_peers(group, reason, size);
    }
    if (OC_IN_PROGRESS == status && has_addresses(group)) {
        status = oc_targets_connect_all(group, reason, size);
        return OC_OK == status ? OC_IN_PROGRESS : status;
    }
    return status;
}

/* What becomes of it when servers are lost. false: out of memory. */
static bool note_recovery(oc_group_t *group)
{
    oc_group_servers_t *servers = group->servers;
    bool noted = servers->resorted || oc_resort_note(group);
    bool has_list = servers->num_links > servers->num_peers || group->client->servers.count > 0;

    servers->renews = group->client->config.settings->recovery && 0 == servers->branch.parent
                      && 0 == servers->branch.leaves && has_list
                      && (group->client->servers.count > 1 || servers->num_peers > 0 || servers->num_resort > 0);
    return noted;
}

/* All that there are links to are connected. */
static void join_servers(oc_group_t *group)
{
    char reason[OC_REASON_SIZE];
    oc_status_t status = complete_links(group, reason, sizeof(reason));

    if (OC_IN_PROGRESS == status) {
        return;
    }
    if (OC_OK != status) {
        oc_setup_give_up(group, "%s", reason);
    } else if (0 != group->servers->branch.leaves && !oc_group_choose(group)) {
        /* a rank whose leaf is not there does not know: all have to vote */
        group->setup->no_gain = true;
    } else if (oc_membership_aggregators(group) > oc_membership_most(group)) {
        oc_setup_give_up(group, "the servers have %u aggregators, and a communicator can use %u",
                         oc_membership_aggregators(group), oc_membership_most(group));
    } else {
        group->setup->step = OC_SETUP_JOIN;
        oc_place_limit(group, oc_membership_aggregators(group));
        group->setup->readiness = note_recovery(group) ? oc_membership_join(group) : NULL;
        if (NULL == group->setup->readiness) {
            oc_setup_give_up(group, "out of memory");
        }
    }
}

/* Whether this is over. */
static bool wait_for_servers(oc_group_t *group)
{
    oc_setup_t *setup = group->setup;
    int timeout = group->client->config.settings->connect_timeout;
    unsigned there = links_at(group, OC_SETUP_JOIN == setup->step);

    setup->quiet += group->client->elapsed;
    if (NULL != setup->readiness && setup->readiness->failed > 0) {
        oc_setup_give_up(group, "server %.200s sent something else than READY",
                         slow_server(group));
    }
    if (!oc_setup_has_given_up(group) && there == group->servers->num_links
        && (NULL == setup->readiness || 0 == setup->readiness->waiting)) {
        if (OC_SETUP_JOIN == setup->step) {
            return true;
        }
        join_servers(group);
        if (setup->no_gain) {
            return true;
        }
    }
    if (setup->quiet > (uint64_t) timeout * OC_SECOND) {
        give_up_waiting(group, timeout);
    }
    return oc_setup_has_given_up(group);
}

/* Whether this is over. What goes wrong with connecting is for the next look. */
static bool wait_for_addresses(oc_group_t *group)
{
    group->setup->quiet += group->client->elapsed;
    if (has_addresses(group)) {
        connect_servers(group);
        return false;
    }
    return oc_setup_has_given_up(group);
}

bool oc_joining_progress(oc_group_t *group)
{
    /* others may have joined before, and know that it is gone, or joined what took its place */
    if (group->setup->epoch != oc_lost_epoch(&group->client->lost)) {
        oc_setup_upset(group, group->client->loss_reason);
    }
    return OC_SETUP_RESOLVE == group->setup->step ? wait_for_addresses(group)
                                                  : wait_for_servers(group);
}
