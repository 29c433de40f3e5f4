/* SPDX-License-Identifier: BSD-3-Clause */
/* Connecting to the servers of a group and joining them, and who keeps this rank waiting. */
#include "client/setup/joining.h"

#include <stdlib.h>
#include <utlist.h>

#include "base/clock.h"
#include "client/group/place.h"
#include "client/servers/connection.h"
#include "client/servers/network.h"
#include "client/servers/targets.h"
#include "client/servers/tree.h"
#include "client/setup/choose.h"
#include "client/state/readiness.h"
#include "client/state/setup_state.h"

static void connect_servers(oc_group_t *group)
{
    char error[OC_REASON_SIZE / 2];

    group->setup->step = OC_SETUP_CONNECT;
    /* another group's failure may have taken the worker away since the record was made */
    if (OC_OK != oc_client_worker(group->client, error, sizeof(error))
        || OC_OK != oc_targets_connect(group, error, sizeof(error))) {
        oc_setup_give_up(group, "%s", error);
    }
}

static uint32_t count_aggregators(const oc_group_t *group)
{
    uint32_t count = 0;

    for (unsigned i = 0; i < group->servers->num_links; i++) {
        count += group->servers->links[i].connection->num_aggregators;
    }
    return count;
}

static void send_join(oc_group_t *group, oc_link_t *link, unsigned own, uint32_t first)
{
    const oc_job_settings_t *settings = group->client->config.settings;
    oc_control_t message = {.type = OC_CONTROL_JOIN};

    message.join = (oc_join_t) {.group = oc_team_id(group, own),
                                .num_ranks = group->servers->teams.num_ranks,
                                .rank = group->servers->teams.rank,
                                .reply_handle = group->servers->reply_handle,
                                .first_aggregator = first,
                                .chunk_bytes = (uint32_t) oc_settings_largest_chunk(settings),
                                .window = group->servers->teams.window,
                                .small_bytes = (uint32_t) settings->small_size,
                                .reserves = NULL != group->node
                                            || 0 != group->servers->branch.parent
                                            || count_aggregators(group) > 1,
                                .leaves = group->servers->branch.leaves,
                                .leaf = group->servers->branch.leaf};
    link->teams[own].asked = true;
    oc_connection_send(link->connection, &message);
}

static void send_joins(oc_group_t *group)
{
    uint32_t first = 0, count = count_aggregators(group);

    oc_place_limit(group, count);
    group->setup->readiness = oc_readiness_begin(group, count);
    if (NULL == group->setup->readiness) {
        oc_setup_give_up(group, "out of memory");
        return;
    }
    for (unsigned i = 0; i < group->servers->num_links; i++) {
        oc_link_t *link = &group->servers->links[i];

        link->teams = calloc(group->servers->teams.own, sizeof(*link->teams));
        if (NULL == link->teams) {
            oc_setup_give_up(group, "out of memory");
            return;
        }
        for (unsigned t = 0; t < group->servers->teams.own; t++) {
            send_join(group, link, t, oc_team_number(group, t) * count + first);
        }
        first += link->connection->num_aggregators;
    }
}

static bool has_joined(const oc_group_t *group, const oc_link_t *link)
{
    for (unsigned t = 0; t < group->servers->teams.own; t++) {
        if (NULL == link->teams || !link->teams[t].joined) {
            return false;
        }
    }
    return true;
}

/* How many links are at least in the given state; a dead one means giving up. */
static unsigned links_at(oc_group_t *group, bool joined)
{
    unsigned count = 0;

    for (unsigned i = 0; i < group->servers->num_links; i++) {
        const oc_connection_t *connection = group->servers->links[i].connection;

        if (OC_UPLINK_DEAD == connection->uplink.state) {
            oc_setup_give_up(group, "%s", connection->uplink.reason);
        }
        count += joined ? has_joined(group, &group->servers->links[i])
                        : OC_UPLINK_READY == connection->uplink.state;
    }
    return count;
}

static bool all_ready(const oc_group_t *group, unsigned first, const oc_connection_t *connection)
{
    const oc_readiness_t *all = group->setup->readiness;
    unsigned aggregators = count_aggregators(group);

    for (unsigned t = 0; NULL != all && t < group->servers->teams.own; t++) {
        for (unsigned i = first; i < first + connection->num_aggregators; i++) {
            if (!all->lanes[t * aggregators + i].arrived) {
                return false;
            }
        }
    }
    return true;
}

/* NULL: all have done what is to be done now. */
static const oc_connection_t *find_slow(const oc_group_t *group)
{
    unsigned first = 0;

    for (unsigned i = 0; i < group->servers->num_links; i++) {
        const oc_link_t *link = &group->servers->links[i];

        if (OC_UPLINK_READY != link->connection->uplink.state
            || (OC_SETUP_JOIN == group->setup->step
                && (!has_joined(group, link) || !all_ready(group, first, link->connection)))) {
            return link->connection;
        }
        first += link->connection->num_aggregators;
    }
    return NULL;
}

static const char *slow_server(const oc_group_t *group)
{
    const oc_connection_t *connection = find_slow(group);

    return NULL == connection ? "?" : connection->name;
}

/* Who comes back again and again has heard why not yet. */
static void give_up_waiting(oc_group_t *group, int timeout)
{
    const oc_connection_t *connection = find_slow(group);
    const char *reason = NULL == connection ? "" : connection->uplink.reason;

    oc_setup_give_up(group, "server %.200s did not answer within %d seconds%s%.250s",
                     slow_server(group), timeout, '\0' == reason[0] ? "" : "; before, ", reason);
}

static int most_aggregators(const oc_group_t *group)
{
    int most = (int) (OC_MAX_LANES / group->servers->teams.count);

    return most < OC_MAX_GROUP_AGGREGATORS ? most : OC_MAX_GROUP_AGGREGATORS;
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
    } else if (count_aggregators(group) > (uint32_t) most_aggregators(group)) {
        oc_setup_give_up(group, "the servers have %u aggregators, and a communicator can use %d",
                         count_aggregators(group), most_aggregators(group));
    } else {
        group->setup->step = OC_SETUP_JOIN;
        send_joins(group);
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
    return OC_SETUP_RESOLVE == group->setup->step ? wait_for_addresses(group)
                                                  : wait_for_servers(group);
}
