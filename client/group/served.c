/* SPDX-License-Identifier: BSD-3-Clause */
/* Groups that servers serve: their links and lanes, and what mode auto leaves to others. */
#include "client/group/served.h"

#include <stdio.h>
#include <stdlib.h>

#include "client/collective/kept.h"
#include "client/collective/node.h"
#include "client/group/place.h"
#include "client/recovery/recovery.h"
#include "client/recovery/renewal.h"
#include "client/servers/connection.h"
#include "client/servers/lanes.h"
#include "client/servers/resort.h"
#include "client/state/collapse.h"
#include "client/state/loss.h"
#include "client/state/promise.h"

/* Flat, until it is known which ranks share hosts. */
static oc_status_t served_open(oc_group_t *group)
{
    group->servers = calloc(1, sizeof(*group->servers));
    if (NULL == group->servers) {
        return OC_ERR_NO_MEMORY;
    }
    group->servers->chunk_bytes = oc_settings_largest_chunk(group->client->config.settings);
    oc_place_flat(group);
    return OC_OK;
}

static void served_release(oc_group_t *group)
{
    oc_group_servers_t *servers = group->servers;

    if (NULL == servers) {
        return; /* out of memory when the set-up began again */
    }
    oc_renewal_drop(group);
    for (unsigned i = 0; i < servers->num_links; i++) {
        oc_connection_t *connection = servers->links[i].connection;

        free(servers->links[i].teams);
        if (0 == --connection->users && OC_UPLINK_DEAD == connection->uplink.state) {
            oc_connection_close(connection, NULL);
        }
    }
    free(servers->links);
    servers->links = NULL;
    servers->num_links = 0;
    oc_lanes_free(group);
}

static void served_withdraw(oc_group_t *group)
{
    oc_control_t message = {.type = OC_CONTROL_LEAVE};
    const oc_group_servers_t *servers = group->servers;

    for (unsigned i = 0; NULL != servers && i < servers->num_links; i++) {
        const oc_link_t *link = &servers->links[i];

        for (unsigned t = 0; NULL != link->teams && t < servers->teams.own; t++) {
            message.leave = (oc_leave_t) {.group = oc_team_id(group, t),
                                          .rank = servers->teams.rank, .unsettled = NULL != servers->renewal};
            /* a connection that was made anew since then knows nothing of that, and before WELCOME nothing may be said on it */
            if (link->teams[t].asked && OC_UPLINK_READY == link->connection->uplink.state) {
                oc_connection_send(link->connection, &message);
            }
        }
    }
    served_release(group);
}

/*
 * It may be on its way to servers, and so may what they send with it: that meets nobody, since a
 * handle that was given back rests.
 */
static void give_handle(oc_group_t *group)
{
    if (group->servers->has_handle) {
        oc_handles_give(group->client->handles, group->servers->reply_handle);
        group->servers->has_handle = false;
    }
}

static void served_leave(oc_group_t *group)
{
    served_withdraw(group);
    give_handle(group);
    oc_promise_end(group);
    oc_place_flat(group);
}

static void served_close(oc_group_t *group)
{
    oc_kept_free(group);
    oc_promise_end(group);
    oc_resort_forget(group);
    free(group->servers);
    group->servers = NULL;
}

static bool served_go_live(oc_group_t *group)
{
    oc_client_t *client = group->client;

    /* the service was lost behind the vote of this rank: the group fails at once */
    if (0 == group->servers->num_links) {
        return false;
    }
    group->servers->parts = oc_group_is_renewable(group);
    client->wants_watch = client->wants_watch || group->servers->parts;
    if (NULL != client->embedded && group->servers->num_peers > 0) {
        atomic_store(&client->embeds, true);
    }
    /* a server was lost behind the vote of this rank */
    if (group->servers->epoch != oc_lost_epoch(&client->lost)) {
        snprintf(group->way, sizeof(group->way), "the servers that are left after a loss");
        return oc_recovery_enter(group);
    }
    if (OC_OK != oc_lanes_make(group)) {
        oc_client_collapse(client, OC_ERR_NO_MEMORY, "out of memory");
        return false;
    }
    oc_lanes_describe(group, group->way, sizeof(group->way));
    return true;
}

static void served_fail(oc_group_t *group, oc_status_t status, const char *reason)
{
    (void) status;
    oc_node_fail(group, reason);
}

/* A rank that ends in order, with nothing left to do, is nobody's failure. */
static void served_abandon(oc_group_t *group)
{
    if (0 != group->num_running) {
        oc_node_fail(group, group->reason);
    }
}

/* ---- mode auto ---- */

static bool served_leaves(const oc_group_t *group, oc_ruled_t ruled, unsigned type, uint64_t bytes)
{
    const oc_group_servers_t *servers = group->servers;

    return servers->chosen
           && oc_choice_leaves(&servers->choices[ruled], type, bytes);
}

static bool leaves_everything(const oc_group_t *group)
{
    for (unsigned ruled = 0; ruled < OC_NUM_RULED; ruled++) {
        if (group->servers->choices[ruled].sizes.count > 0) {
            return false;
        }
    }
    return true;
}

bool oc_group_leaves(const oc_group_t *group, oc_ruled_t ruled, unsigned type, uint64_t bytes)
{
    oc_group_state_t state = group->state;

    if (NULL == group->servers) {
        return false;
    }
    if (OC_GROUP_DECLINED == state) {
        return group->params.only_bytes > 0 && !leaves_everything(group)
               && served_leaves(group, ruled, type, bytes);
    }
    return (OC_GROUP_LIVE == state || OC_GROUP_FAILED == state)
           && served_leaves(group, ruled, type, bytes);
}

/* What was chosen may be read then. */
static bool has_chosen(const oc_group_t *group)
{
    oc_group_state_t state = group->state;

    return OC_GROUP_NEW != state && OC_GROUP_SETTING_UP != state && NULL != group->servers
           && group->servers->chosen;
}

bool oc_group_offloads(const oc_group_t *group, oc_ruled_t ruled)
{
    return has_chosen(group) && group->servers->choices[ruled].sizes.count > 0;
}

bool oc_group_explain(const oc_group_t *group, oc_ruled_t ruled, char *buffer, size_t size)
{
    if (!has_chosen(group)) {
        return false;
    }
    oc_choice_print(group->params.rules, &group->servers->situation, ruled,
                    &group->servers->choices[ruled], buffer, size);
    return true;
}

bool oc_group_leaves_all(const oc_group_t *group)
{
    return OC_GROUP_DECLINED == group->state && NULL != group->servers && group->servers->chosen
           && leaves_everything(group);
}

const oc_service_ops_t oc_service_servers = {
    .open = served_open, .go_live = served_go_live, .leaves = served_leaves,
    .withdraw = served_withdraw, .leave = served_leave, .close = served_close,
    .release = served_release, .fail = served_fail, .abandon = served_abandon};
