/* SPDX-License-Identifier: BSD-3-Clause */
/* From one epoch to the next. */
#include "client/recovery/recovery.h"

#include <stdlib.h>
#include <utlist.h>

#include "base/clock.h"
#include "base/log.h"
#include "client/collective/node.h"
#include "client/collective/supply.h"
#include "client/recovery/renewal.h"
#include "client/servers/connection.h"
#include "client/servers/lanes.h"
#include "client/servers/network.h"
#include "client/servers/presence.h"
#include "client/servers/resort.h"
#include "client/state/collapse.h"
#include "client/state/loss.h"

static bool is_lost(const oc_connection_t *connection)
{
    return OC_UPLINK_DEAD == connection->uplink.state
           || oc_lost_has(&connection->client->lost, connection->incarnation);
}

/* The connection may lead to another one meanwhile, which is no part of the group. */
static bool has_lost_server(const oc_link_t *link)
{
    return is_lost(link->connection) || oc_lost_has(&link->connection->client->lost, link->incarnation);
}

static bool is_live(const oc_group_t *group)
{
    return OC_SERVICE_AGGREGATION == group->params.service && OC_GROUP_LIVE == group->state;
}

/* ---- whether it can be borne ---- */

static bool has_server_left(const oc_group_t *group)
{
    for (unsigned i = 0; i < group->servers->num_links; i++) {
        if (!has_lost_server(&group->servers->links[i])) {
            return true;
        }
    }
    return false;
}

/* One that is going to stay, and is another one than this. */
static bool has_server_beside(const oc_group_t *group, const oc_connection_t *connection)
{
    for (unsigned i = 0; i < group->servers->num_links; i++) {
        const oc_link_t *link = &group->servers->links[i];

        if (!has_lost_server(link) && connection != link->connection && !link->connection->drains) {
            return true;
        }
    }
    return false;
}

static bool can_suspend(const oc_group_t *group)
{
    oc_collective_t *running;

    DL_FOREACH (group->running, running) {
        const oc_allreduce_t *allreduce = oc_allreduce_of(running);

        if (running->bound || OC_OK != running->status || NULL == allreduce->algorithm
            || NULL == allreduce->algorithm->suspend) {
            return false;
        }
    }
    return true;
}

static bool can_go_on(const oc_group_t *group)
{
    return oc_group_is_renewable(group) && can_suspend(group)
           && (has_server_left(group) || oc_resort_is_there(group));
}

bool oc_recovery_can_spare(const oc_connection_t *connection)
{
    const oc_group_t *group;

    DL_FOREACH (connection->client->groups, group) {
        if (is_live(group) && OC_PARTING_NOT == group->parting
            && !(can_go_on(group) && (has_server_beside(group, connection) || oc_resort_is_there(group)))) {
            return false;
        }
    }
    return true;
}

bool oc_recovery_can_begin(const oc_client_t *client)
{
    oc_group_t *group;

    DL_FOREACH (client->groups, group) {
        if (is_live(group) && OC_PARTING_NOT == group->parting && !can_go_on(group)) {
            return false;
        }
    }
    return true;
}

/* ---- the end of an epoch ---- */

static void leave_servers(oc_client_t *client)
{
    oc_connection_t *connection, *next;

    DL_FOREACH_SAFE (client->connections, connection, next) {
        if (is_lost(connection)) {
            oc_presence_lost(connection);
        }
        oc_connection_pause(connection);
        if (0 == connection->users) {
            oc_connection_close(connection, NULL);
        }
    }
}

/* What waits for the engine's own collectives waits for the next ones. */
static void release_holds(oc_group_t *group)
{
    oc_collective_t *running;

    DL_FOREACH (group->running, running) {
        oc_supply_t *supply = oc_allreduce_of(running)->supply;

        if (NULL != supply && supply->holds) {
            supply->of->waiting--;
            supply->holds = false;
        }
    }
}

/* What has nothing under way is not suspended by its last transfer. */
static void suspend_idle(oc_group_t *group)
{
    oc_collective_t *running;

    DL_FOREACH (group->running, running) {
        oc_allreduce_t *allreduce = oc_allreduce_of(running);

        if (allreduce->waiting == (allreduce->steps.hold ? 1 : 0)) {
            allreduce->algorithm->suspend(allreduce);
        }
    }
}

static void end_transfers(oc_client_t *client)
{
    oc_group_t *group;

    DL_FOREACH (client->groups, group) {
        if (is_live(group)) {
            oc_renewal_stop(group);
            release_holds(group);
            suspend_idle(group);
        }
    }
    client->suspending = true;
    leave_servers(client);
    oc_client_close_worker(client);
    client->suspending = false;
    DL_FOREACH (client->groups, group) {
        if (is_live(group) && NULL != group->node) {
            oc_node_stop(group);
        }
    }
}

static void drop_links(oc_group_t *group)
{
    static const oc_control_t bye = {.type = OC_CONTROL_BYE};
    oc_group_servers_t *servers = group->servers;
    unsigned left = 0;

    for (unsigned i = 0; i < servers->num_links; i++) {
        oc_link_t *link = &servers->links[i];

        if (!has_lost_server(link)) {
            servers->links[left++] = *link;
            continue;
        }
        servers->num_peers -= link->connection->of_rank;
        free(link->teams);
        if (0 == --link->connection->users) {
            oc_connection_close(link->connection, &bye);
        }
    }
    servers->num_links = left;
    oc_lanes_free(group);
}

/* ---- the next one ---- */

/* A loss is worth a warning, of one process; that a server is back is not. */
static void report_change(oc_client_t *client)
{
    client->config.counters->recoveries += client->lost.count > client->losses;
    client->config.counters->returns += client->lost.num_returned - client->returns;
    client->losses = client->lost.count;
    client->returns = client->lost.num_returned;
    if (client->loss_is_one && 0 == client->config.process) {
        oc_warn("%s; the job goes on without it", client->loss_reason);
    } else {
        oc_info("%s; the job goes on", client->loss_reason);
    }
}

/* Nobody here needs a group any more that only waits for its end. */
static void part_alone(oc_client_t *client)
{
    oc_group_t *group;

    DL_FOREACH (client->groups, group) {
        if (is_live(group) && OC_PARTING_NOT != group->parting && !can_go_on(group)) {
            group->parting = OC_PARTING_ALONE;
        }
    }
}

/* Whose connection is dead is lost for this process: the others have to know. A rank has died. */
static void lose_dead(const oc_group_t *group)
{
    for (unsigned i = 0; i < group->servers->num_links; i++) {
        const oc_link_t *link = &group->servers->links[i];
        const oc_uplink_t *uplink = &link->connection->uplink;

        if (OC_UPLINK_DEAD != uplink->state) {
            continue;
        }
        if (link->connection->of_rank && OC_PARTING_NOT == group->parting) {
            oc_client_collapse(group->client, OC_ERR_UNREACHABLE, "%s", uplink->reason);
        } else if (!link->connection->of_rank && 0 != link->incarnation) {
            oc_loss_of(group->client, link->incarnation, uplink->reason);
        }
    }
}

/* false: a rank is among them. */
static bool lose_all_dead(oc_client_t *client)
{
    oc_group_t *group;

    DL_FOREACH (client->groups, group) {
        if (is_live(group)) {
            lose_dead(group);
        }
    }
    return OC_OK == client->collapse;
}

void oc_recovery_begin(oc_client_t *client)
{
    char error[OC_REASON_SIZE];
    oc_group_t *group;

    if (!lose_all_dead(client)) {
        return;
    }
    client->losing = false;
    report_change(client);
    part_alone(client);
    end_transfers(client);
    client->renewed = oc_clock_ns();
    DL_FOREACH (client->groups, group) {
        if (!is_live(group)) {
            continue;
        }
        drop_links(group);
        if (OC_PARTING_ALONE != group->parting && !oc_renewal_begin(group)) {
            oc_client_collapse(client, OC_ERR_NO_MEMORY, "out of memory");
            return;
        }
    }
    /* they are greeted with its address */
    if ((NULL != client->connections || client->renewals > 0)
        && OC_OK != oc_client_worker(client, error, sizeof(error))) {
        oc_client_collapse(client, OC_ERR_SYSTEM, "%s", error);
    }
}

bool oc_recovery_enter(oc_group_t *group)
{
    oc_client_t *client = group->client;

    if (!can_go_on(group)) {
        oc_client_collapse(client, client->loss_status, "%s", client->loss_reason);
        return false;
    }
    lose_dead(group);
    if (OC_OK != client->collapse) {
        return false;
    }
    if (NULL != group->node) {
        oc_node_stop(group);
    }
    drop_links(group);
    if (!oc_renewal_begin(group)) {
        oc_client_collapse(client, OC_ERR_NO_MEMORY, "out of memory");
        return false;
    }
    return true;
}

void oc_recovery_progress(oc_client_t *client)
{
    oc_group_t *group;

    if (0 == client->renewals) {
        return;
    }
    DL_FOREACH (client->groups, group) {
        if (NULL != group->servers && NULL != group->servers->renewal && !client->losing
            && OC_OK == client->collapse) {
            oc_renewal_progress(group);
        }
    }
}
