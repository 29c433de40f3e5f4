/* SPDX-License-Identifier: BSD-3-Clause */
/* The life of a renewal. */
#include "client/recovery/renewal.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <utlist.h>

#include "base/clock.h"
#include "base/log.h"
#include "client/collective/collective.h"
#include "client/collective/node.h"
#include "client/recovery/relink.h"
#include "client/recovery/resuming.h"
#include "client/recovery/settling.h"
#include "client/servers/connection.h"
#include "client/servers/lanes.h"
#include "client/servers/membership.h"
#include "client/servers/resort.h"
#include "client/state/collapse.h"
#include "client/state/loss.h"

/* The ranks of a host that hear of a loss at the same time have met long before. */
#define HOST_PATIENCE OC_SECOND

/* The engine's own collectives were of the epoch before; what the host has of them, it has taken. */
static void drop_inner(oc_group_t *group)
{
    oc_collective_t *running, *next;

    DL_FOREACH_SAFE (group->running, running, next) {
        if (NULL != running->inner) {
            oc_collective_drop_inner(running);
        }
    }
}

static void renewal_clear(oc_renewal_t *renewal)
{
    oc_readiness_end(renewal->readiness);
    free(renewal->vector);
    free(renewal->states);
    free(renewal->chunks);
    free(renewal->sources);
    *renewal = (oc_renewal_t) {.step = OC_RENEWAL_HOST};
}

void oc_renewal_stop(oc_group_t *group)
{
    oc_renewal_t *renewal = group->servers->renewal;

    if (NULL != renewal) {
        oc_readiness_end(renewal->readiness);
        renewal->readiness = NULL;
    }
}

/* Who leaves the group before it joins again has nothing to say. */
static void forget_memberships(oc_group_servers_t *servers)
{
    for (unsigned i = 0; i < servers->num_links; i++) {
        for (unsigned t = 0; NULL != servers->links[i].teams && t < servers->teams.own; t++) {
            servers->links[i].teams[t] = (oc_membership_t) {.asked = false};
        }
    }
}

bool oc_renewal_begin(oc_group_t *group)
{
    oc_group_servers_t *servers = group->servers;
    oc_client_t *client = group->client;

    if (NULL == servers->renewal) {
        servers->renewal = calloc(1, sizeof(*servers->renewal));
        if (NULL == servers->renewal) {
            return false;
        }
        if (0 == client->renewals++) {
            client->unsettled = oc_clock_ns();
        }
        atomic_fetch_add(&client->pending, 1);
    }
    renewal_clear(servers->renewal);
    servers->renewal->looked = client->now;
    servers->id = servers->first_id ^ oc_lost_epoch(&client->lost);
    servers->numbering = (oc_numbering_t) {.first = 0};
    forget_memberships(servers);
    return true;
}

void oc_renewal_drop(oc_group_t *group)
{
    oc_renewal_t *renewal = NULL != group->servers ? group->servers->renewal : NULL;
    oc_client_t *client = group->client;

    if (NULL == renewal) {
        return;
    }
    group->servers->renewal = NULL;
    renewal_clear(renewal);
    free(renewal);
    if (0 == --client->renewals) {
        client->config.counters->recovery_time += (oc_clock_ns() - client->unsettled) / 1000;
    }
    atomic_fetch_sub(&client->pending, 1);
}

/*
 * A server that cannot be reached any more, or says no, or nothing, is lost as well; a rank has died, or has left the group
 * if that is over here, too.
 */
static void lose(oc_group_t *group, const oc_link_t *link, const char *why)
{
    char reason[OC_REASON_SIZE];

    snprintf(reason, sizeof(reason), "server %.200s %s", link->connection->name, why);
    if (link->connection->of_rank && OC_PARTING_NOT != group->parting) {
        group->parting = OC_PARTING_ALONE;
    } else if (link->connection->of_rank || 0 == link->incarnation) {
        oc_client_collapse(group->client, OC_ERR_UNREACHABLE, "%s", reason);
    } else {
        oc_loss_of(group->client, link->incarnation, reason);
    }
}

/* NULL: none is. */
static const oc_link_t *find_dead(const oc_group_t *group)
{
    for (unsigned i = 0; i < group->servers->num_links; i++) {
        const oc_link_t *link = &group->servers->links[i];

        if (OC_UPLINK_DEAD == link->connection->uplink.state) {
            return link;
        }
    }
    return NULL;
}

static uint64_t timeout_of(const oc_group_t *group)
{
    return (uint64_t) group->client->config.settings->connect_timeout * OC_SECOND;
}

static void count_quiet(oc_group_t *group)
{
    oc_renewal_t *renewal = group->servers->renewal;
    uint64_t elapsed = group->client->now - renewal->looked;

    renewal->looked = group->client->now;
    renewal->quiet += elapsed < OC_MAX_QUIET_STEP ? elapsed : OC_MAX_QUIET_STEP;
}

/*
 * It has answered, and waits for other ranks, as MPI does. One that has come back has shown nothing yet: if it alone of
 * several is not ready, its network is not. A rank that offers its service begins with it when its process comes to
 * look, so that it is waited for like the rank; but its host accepts connections at once.
 */
static bool may_take_its_time(const oc_group_t *group, const oc_link_t *slow)
{
    const oc_uplink_t *uplink = &slow->connection->uplink;

    if (slow->connection->of_rank) {
        return OC_UPLINK_CONNECTING != uplink->state || uplink->now - uplink->since < timeout_of(group);
    }
    if (!oc_membership_joined(group, slow)) {
        return false;
    }
    return !slow->fresh || 1 == group->servers->num_links
           || !oc_membership_others_ready(group, group->servers->renewal->readiness, slow);
}

/* The link that is waited for; NULL: all have done their part. */
static const oc_link_t *renewal_wait(oc_group_t *group)
{
    const oc_renewal_t *renewal = group->servers->renewal;
    const oc_link_t *slow = oc_membership_slow(group, renewal->readiness);

    count_quiet(group);
    if (NULL != slow && renewal->quiet > timeout_of(group) && !may_take_its_time(group, slow)) {
        lose(group, slow, "does not answer again");
    }
    return slow;
}

/* With what there is, or the last resort. */
static void connect_all(oc_group_t *group)
{
    oc_renewal_t *renewal = group->servers->renewal;
    char error[OC_REASON_SIZE / 2];

    if (OC_OK != oc_resort_settle(group, error, sizeof(error))) {
        oc_client_collapse(group->client, OC_ERR_SYSTEM, "%s; nobody can aggregate instead: %s",
                           group->client->loss_reason, error);
        return;
    }
    renewal->quiet = 0;
    renewal->step = OC_RENEWAL_CONNECT;
}

/* Links to those that have come back; who cannot have them tells the others. */
static void link_returned(oc_group_t *group)
{
    char reason[OC_REASON_SIZE / 2];
    uint64_t lost;

    switch (oc_relink(group, &lost, reason, sizeof(reason))) {
    case OC_OK:
        connect_all(group);
        break;
    case OC_IN_PROGRESS:
        break;
    case OC_ERR_NO_MEMORY:
        oc_client_collapse(group->client, OC_ERR_NO_MEMORY, "out of memory");
        break;
    default:
        oc_loss_of(group->client, lost, reason);
    }
}

/* What a link is to, or was, runs no more, or is too much: that is lost. false: there is none such. */
static bool lose_unusable(oc_group_t *group)
{
    bool too_many = oc_membership_aggregators(group) > oc_membership_most(group);
    char reason[OC_REASON_SIZE];

    for (unsigned i = 0; i < group->servers->num_links; i++) {
        const oc_link_t *link = &group->servers->links[i];
        bool other = 0 != link->incarnation && link->incarnation != link->connection->incarnation;
        bool unfit = link->fresh && (too_many || 0 != link->connection->parent);

        if (other || unfit) {
            snprintf(reason, sizeof(reason), "server %.200s %s", link->connection->name,
                     other ? "was started anew" : "is a leaf now, or has more aggregators than a communicator can use");
            oc_loss_of(group->client, link->incarnation, reason);
            return true;
        }
    }
    return false;
}

static void join(oc_group_t *group)
{
    oc_renewal_t *renewal = group->servers->renewal;

    if (lose_unusable(group)) {
        return;
    }
    renewal->quiet = 0;
    renewal->readiness = oc_membership_join(group);
    if (NULL == renewal->readiness) {
        oc_client_collapse(group->client, OC_ERR_NO_MEMORY, "out of memory");
        return;
    }
    renewal->step = OC_RENEWAL_JOIN;
}

/* One that has come back has less room than the others, in which collectives that are cut already would not fit. */
static bool lose_narrow(oc_group_t *group)
{
    const oc_group_servers_t *servers = group->servers;
    bool narrow = servers->renewal->readiness->chunk_bytes < servers->chunk_bytes;

    for (unsigned i = 0; narrow && i < servers->num_links; i++) {
        if (servers->links[i].fresh) {
            lose(group, &servers->links[i], "has less memory for chunks than before");
            return true;
        }
    }
    return false;
}

static void begin_rounds(oc_group_t *group)
{
    oc_renewal_t *renewal = group->servers->renewal;

    if (lose_narrow(group)) {
        return;
    }
    if (OC_OK != oc_lanes_make(group)) {
        oc_client_collapse(group->client, OC_ERR_NO_MEMORY, "out of memory");
        return;
    }
    renewal->step = OC_RENEWAL_RANGE;
    oc_settling_ask(group);
}

static void go_on(oc_group_t *group)
{
    char way[OC_WAY_SIZE];

    for (unsigned i = 0; i < group->servers->num_links; i++) {
        group->servers->links[i].fresh = false;
    }
    oc_lanes_describe(group, way, sizeof(way));
    oc_info("\"%s\" goes on: %s", group->name, way);
    oc_resume(group);
    oc_renewal_drop(group);
    oc_group_start_queued(group);
}

static void take_answer(oc_group_t *group)
{
    oc_renewal_t *renewal = group->servers->renewal;

    renewal->answered = false;
    oc_settling_hear(group);
    while (OC_OK == group->client->collapse && OC_RENEWAL_SETTLED != renewal->step
           && !oc_settling_ask(group)) {
        renewal->step++;
    }
    if (OC_OK == group->client->collapse && OC_RENEWAL_SETTLED == renewal->step) {
        go_on(group);
    }
}

/*
 * The others may have lost other servers, and count on one that this rank has lost, or the other way round: nobody else would tell
 * them of each other's.
 */
static void call_others(oc_group_t *group)
{
    oc_renewal_t *renewal = group->servers->renewal;

    if (OC_RENEWAL_CONNECT != renewal->step && !renewal->called && renewal->quiet > timeout_of(group)) {
        renewal->called = true;
        oc_resort_call(group);
    }
}

/* NULL: all servers have answered. */
static const oc_link_t *find_silent(const oc_group_t *group)
{
    for (unsigned i = 0; i < group->servers->num_links; i++) {
        const oc_link_t *link = &group->servers->links[i];

        if (!link->connection->of_rank && OC_UPLINK_READY != link->connection->uplink.state) {
            return link;
        }
    }
    return NULL;
}

/*
 * The ranks of the host may know of other losses, and nobody is left who would tell them of each other's. So a server that
 * does not answer is lost while they wait, too, and where no server is left, those that are to take their place are called
 * before it is certain that they have to: they tell everybody.
 */
static void look_beside_host(oc_group_t *group)
{
    const oc_renewal_t *renewal = group->servers->renewal;
    const oc_link_t *silent = find_silent(group);
    char error[OC_REASON_SIZE / 2];

    if (NULL != silent && renewal->quiet > timeout_of(group)) {
        lose(group, silent, "does not answer again");
    } else if (0 == group->servers->num_links && renewal->quiet > HOST_PATIENCE
               && OC_OK != oc_resort_settle(group, error, sizeof(error))) {
        oc_client_collapse(group->client, OC_ERR_SYSTEM, "%s; nobody can aggregate instead: %s",
                           group->client->loss_reason, error);
    } else {
        call_others(group);
    }
}

static void leave_host(oc_group_t *group)
{
    count_quiet(group);
    if (oc_node_restart(group)) {
        drop_inner(group);
        group->servers->renewal->step = OC_RENEWAL_RETURN;
    } else {
        look_beside_host(group);
    }
}

static void come_back(oc_group_t *group)
{
    if (NULL != renewal_wait(group)) {
        call_others(group);
        return;
    }
    if (group->client->losing) {
        return;
    }
    if (OC_RENEWAL_CONNECT == group->servers->renewal->step) {
        join(group);
    } else {
        begin_rounds(group);
    }
}

void oc_renewal_progress(oc_group_t *group)
{
    oc_renewal_t *renewal = group->servers->renewal;
    const oc_link_t *dead = renewal->step <= OC_RENEWAL_JOIN ? find_dead(group) : NULL;

    if (NULL != dead) {
        lose(group, dead, "cannot be reached again");
    } else if (OC_RENEWAL_HOST == renewal->step) {
        leave_host(group);
    } else if (OC_RENEWAL_RETURN == renewal->step) {
        link_returned(group);
    } else if (renewal->step <= OC_RENEWAL_JOIN) {
        come_back(group);
    } else if (renewal->answered) {
        take_answer(group);
    } else if (NULL != group->node) {
        /* if one of the host's ranks is in another epoch, which it could not tell the server, the rounds do not go on */
        count_quiet(group);
        call_others(group);
    }
}
