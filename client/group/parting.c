/* SPDX-License-Identifier: BSD-3-Clause */
/* Groups on their way out. */
#include "client/group/parting.h"

#include <utlist.h>

#include "base/clock.h"
#include "client/collective/allreduce.h"
#include "client/collective/collective.h"
#include "client/collective/node.h"
#include "client/collective/small.h"
#include "client/group/group.h"
#include "client/recovery/renewal.h"
#include "client/recovery/settling.h"
#include "client/servers/membership.h"
#include "reduction/reduction.h"

static void drop(void *arg, oc_status_t status)
{
    (void) arg;
    (void) status;
}

/* Who would be called back may be gone. */
static void disown(oc_group_t *group)
{
    oc_collective_t *collective;

    DL_FOREACH (group->queue, collective) {
        collective->finished = drop;
    }
    DL_FOREACH (group->running, collective) {
        collective->finished = drop;
    }
    DL_FOREACH (group->client->finished, collective) {
        collective->finished = group == collective->group ? drop : collective->finished;
    }
}

/* But for the engine's own. */
static bool is_idle(const oc_group_t *group)
{
    const oc_collective_t *running;

    DL_FOREACH (group->running, running) {
        if (NULL == running->inner) {
            return false;
        }
    }
    return NULL == group->queue;
}

/* Its last collective. false: out of memory. */
static bool begin_barrier(oc_group_t *group)
{
    uint8_t *token = &group->servers->token;
    oc_allreduce_args_t args = {.send = token, .recv = token, .count = 1, .op = OC_OP_BOR, .type = OC_TYPE_UINT8,
                                .to = OC_RESULT_TO_NOBODY, .ruled = OC_RULED_BARRIER, .blocking = true,
                                .finished = drop};
    oc_collective_t *collective = oc_allreduce_new(group, &args);

    if (NULL == collective) {
        return false;
    }
    atomic_fetch_add(&group->client->pending, 1);
    DL_APPEND(group->queue, collective);
    group->parting = OC_PARTING_LEAVES;
    group->client->parting++;
    oc_group_start_queued(group);
    /* the ranks of its host need not wait until this one comes back */
    (void) oc_client_nodes_progress(group->client);
    return true;
}

/* Whether its ranks are to leave it together. */
static bool can_part(const oc_group_t *group)
{
    return OC_GROUP_LIVE == group->state && NULL != group->servers && group->servers->parts && is_idle(group);
}

/* What runs has memory of its caller's, which UCX gives back with the worker. */
static void end_now(oc_group_t *group)
{
    if (0 == group->num_running) {
        oc_group_end(group);
    } else {
        disown(group);
        oc_group_abandon(group);
    }
}

void oc_group_destroy(oc_group_t *group)
{
    oc_client_t *client;

    if (NULL == group) {
        return;
    }
    client = group->client;
    oc_client_lock(client);
    if (!can_part(group) || !begin_barrier(group)) {
        end_now(group);
    }
    pthread_mutex_unlock(&client->lock);
}

/*
 * The others may have left already, and then nobody joins it anew: this is known only to them. If somebody is left who
 * needs more of this group, after so long a time, it hears from the servers that it cannot go on.
 */
static bool is_waiting_in_vain(const oc_group_t *group)
{
    const oc_renewal_t *renewal = group->servers->renewal;

    return NULL != renewal && renewal->step <= OC_RENEWAL_JOIN
           && renewal->quiet > (uint64_t) group->client->config.settings->connect_timeout * OC_SECOND;
}

/* Others wait for this rank on servers: these tell them if it leaves what it has joined. */
static void tell_servers(oc_group_t *group)
{
    oc_renewal_t *renewal = group->servers->renewal;

    if (NULL != renewal && renewal->step < OC_RENEWAL_JOIN) {
        renewal->readiness = oc_membership_join(group);
    }
}

/* No other rank is left: what the last Barrier waits for does not come. */
static void part_alone_now(oc_group_t *group)
{
    oc_collective_t *running;

    tell_servers(group);
    oc_group_break(group, OC_ERR_CANCELED, "its ranks leave it");
    DL_FOREACH (group->running, running) {
        oc_allreduce_t *allreduce = oc_allreduce_of(running);

        /* the Barrier, and a round of a settlement, in which the others are not any more */
        if (NULL != allreduce->state && oc_settling_is_small(allreduce)) {
            oc_small_cancel(allreduce);
        }
    }
}

void oc_parting_progress(oc_client_t *client)
{
    oc_group_t *group, *next;

    if (0 == client->parting) {
        return;
    }
    DL_FOREACH_SAFE (client->groups, group, next) {
        if (OC_PARTING_NOT == group->parting) {
            continue;
        }
        if (OC_GROUP_LIVE == group->state
            && (OC_PARTING_ALONE == group->parting || is_waiting_in_vain(group))) {
            part_alone_now(group);
        }
        if (0 == group->num_running && NULL == group->queue) {
            oc_group_end(group);
        }
    }
}
