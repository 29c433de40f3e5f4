/* SPDX-License-Identifier: BSD-3-Clause */
/* Groups: creation, the turns of their life, and the queue of collectives. */
#include "client/group/group.h"

#include <stdio.h>
#include <stdlib.h>
#include <utlist.h>

#include "base/log.h"
#include "client/collective/collective.h"
#include "client/collective/node.h"
#include "client/group/cast_group.h"
#include "client/group/place.h"
#include "client/servers/connection.h"
#include "client/servers/lanes.h"
#include "client/state/collapse.h"
#include "client/state/setup_state.h"

oc_status_t oc_group_create(oc_client_t *client, const oc_group_params_t *params,
                            oc_group_t **result)
{
    oc_group_t *group;

    if (params->num_ranks > OC_MAX_RANKS) {
        return OC_ERR_LIMIT;
    }
    group = calloc(1, sizeof(*group));
    if (NULL == group) {
        return OC_ERR_NO_MEMORY;
    }
    group->client = client;
    group->params = *params;
    group->chunk_bytes = client->config.settings->chunk_size;
    snprintf(group->name, sizeof(group->name), "%s", params->name);
    oc_place_flat(group);
    pthread_mutex_lock(&client->lock);
    DL_APPEND(client->groups, group);
    pthread_mutex_unlock(&client->lock);
    *result = group;
    return OC_OK;
}

static void release_links(oc_group_t *group)
{
    for (unsigned i = 0; i < group->num_links; i++) {
        oc_connection_t *connection = group->links[i].connection;

        free(group->links[i].teams);
        if (0 == --connection->users && OC_CONNECTION_DEAD == connection->state) {
            oc_connection_close(connection, NULL);
        }
    }
    free(group->links);
    group->links = NULL;
    group->num_links = 0;
    oc_lanes_free(group);
}

static void leave_servers(oc_group_t *group)
{
    oc_control_t message = {.type = OC_CONTROL_LEAVE};

    for (unsigned i = 0; i < group->num_links; i++) {
        const oc_link_t *link = &group->links[i];

        for (unsigned t = 0; NULL != link->teams && t < group->teams.own; t++) {
            message.leave = (oc_leave_t) {.group = oc_team_id(group, t),
                                          .rank = group->teams.rank};
            if (link->teams[t].asked) {
                oc_connection_send(link->connection, &message);
            }
        }
    }
    release_links(group);
}

static void leave_service(oc_group_t *group)
{
    if (OC_SERVICE_MULTICAST == group->params.service) {
        oc_group_cast_leave(group);
    } else {
        leave_servers(group);
    }
}

/*
 * It may be on its way to servers, and so may what they send with it: that meets nobody, since a
 * handle that was given back rests.
 */
static void give_handle(oc_group_t *group)
{
    if (group->has_handle) {
        oc_handles_give(group->client->handles, group->reply_handle);
        group->has_handle = false;
    }
}

void oc_group_destroy(oc_group_t *group)
{
    oc_client_t *client;

    if (NULL == group) {
        return;
    }
    client = group->client;
    pthread_mutex_lock(&client->lock);
    leave_service(group);
    DL_DELETE(client->groups, group);
    give_handle(group);
    oc_node_free(group);
    if (NULL == client->groups) {
        oc_stock_trim(&client->stock);
    }
    pthread_mutex_unlock(&client->lock);
    free(group);
}

oc_group_state_t oc_group_state(const oc_group_t *group)
{
    return group->state;
}

const char *oc_group_reason(const oc_group_t *group)
{
    return group->reason;
}

bool oc_group_tells(const oc_group_t *group)
{
    return group->tells;
}

void oc_group_describe(const oc_group_t *group, char *buffer, size_t size)
{
    snprintf(buffer, size, "%s", group->way);
}

static bool is_left(const oc_group_t *group, unsigned type, uint64_t bytes)
{
    return group->chosen
           && oc_choice_leaves(&group->choice, &group->situation, type, bytes);
}

bool oc_group_leaves(const oc_group_t *group, unsigned type, uint64_t bytes)
{
    oc_group_state_t state = group->state;

    if (OC_GROUP_DECLINED == state) {
        return group->params.only_bytes > 0 && group->choice.sizes.count > 0
               && is_left(group, type, bytes);
    }
    return (OC_GROUP_LIVE == state || OC_GROUP_FAILED == state) && is_left(group, type, bytes);
}

bool oc_group_explain(const oc_group_t *group, char *buffer, size_t size)
{
    oc_group_state_t state = group->state;

    if (OC_GROUP_NEW == state || OC_GROUP_SETTING_UP == state || !group->chosen) {
        return false;
    }
    oc_choice_print(group->params.rules, &group->situation, &group->choice, buffer, size);
    return true;
}

bool oc_group_leaves_all(const oc_group_t *group)
{
    return OC_GROUP_DECLINED == group->state && group->chosen && 0 == group->choice.sizes.count;
}

static void finish_one(oc_group_t *group, oc_collective_t *collective, oc_status_t status)
{
    DL_DELETE(group->queue, collective);
    collective->status = status;
    DL_APPEND(group->client->finished, collective);
}

static void finish_queued(oc_group_t *group, oc_status_t status)
{
    oc_collective_t *collective, *next;

    DL_FOREACH_SAFE (group->queue, collective, next) {
        finish_one(group, collective, status);
    }
}

void oc_group_decline(oc_group_t *group, const char *reason)
{
    snprintf(group->reason, sizeof(group->reason), "%s", reason);
    group->state = OC_GROUP_DECLINED;
    leave_service(group);
    give_handle(group);
    oc_place_flat(group);
    finish_queued(group, OC_DECLINED);
}

/* What came before anybody knew that it is better left to others. */
static void decline_queued(oc_group_t *group)
{
    oc_collective_t *collective, *next;

    if (!group->chosen) {
        return;
    }
    DL_FOREACH_SAFE (group->queue, collective, next) {
        if (is_left(group, collective->type, collective->bytes)) {
            finish_one(group, collective, OC_DECLINED);
        }
    }
}

void oc_group_go_live(oc_group_t *group)
{
    bool has_links = group->num_links > 0, has_lanes = has_links && OC_OK == oc_lanes_make(group);
    bool has_service = has_lanes || NULL != group->cast;

    /* whoever sees it live may ask for its way, without the lock */
    if (NULL != group->cast) {
        oc_multicast_describe(group->client->multicast, group->cast, group->way,
                              sizeof(group->way));
    } else if (has_lanes) {
        oc_lanes_describe(group, group->way, sizeof(group->way));
    }
    decline_queued(group);
    if (NULL != group->client->embedded && group->num_peers > 0) {
        atomic_store(&group->client->embeds, true);
    }
    group->state = OC_GROUP_LIVE;
    oc_debug("\"%s\" has service", group->name);
    group->client->config.counters->groups++;
    if (has_service) {
        oc_group_start_queued(group);
    } else if (has_links) {
        oc_client_collapse(group->client, OC_ERR_NO_MEMORY, "out of memory");
    }
}

/*
 * Running collectives end when their transfers have been taken back from UCX, and at once if they
 * have none: their chunks wait for those of others.
 */
static void become_failed(oc_group_t *group, oc_status_t status, const char *reason)
{
    oc_collective_t *collective, *next;

    group->status = status;
    snprintf(group->reason, sizeof(group->reason), "%s", reason);
    group->state = OC_GROUP_FAILED;
    release_links(group);
    finish_queued(group, status);
    DL_FOREACH_SAFE (group->running, collective, next) {
        collective->status = status;
        collective->ops->fail(collective);
    }
    /* a rank that ends in order, with nothing left to do, is nobody's failure */
    if (OC_ERR_CANCELED != status || 0 != group->num_running) {
        oc_node_fail(group, reason);
    }
}

void oc_group_break(oc_group_t *group, oc_status_t status, const char *reason)
{
    leave_servers(group);
    become_failed(group, status, reason);
    oc_group_cast_fail(group, status, reason);
}

void oc_group_abandon(oc_group_t *group)
{
    oc_collective_t *collective, *next;

    if (NULL != group->setup) {
        oc_setup_drop(group);
    }
    become_failed(group, OC_ERR_CANCELED, "its client is gone");
    if (NULL != group->cast) {
        oc_group_cast_leave(group);
        DL_FOREACH_SAFE (group->running, collective, next) {
            DL_DELETE(group->running, collective);
            oc_collective_free(group->client, collective);
        }
    }
}

void oc_group_fail(oc_group_t *group, oc_status_t status, const char *reason)
{
    if (OC_GROUP_SETTING_UP == group->state && group->setup->step > OC_SETUP_RESOLVE) {
        group->setup->broken = status;
        oc_setup_give_up(group, "%s", reason);
        release_links(group);
    } else if (OC_GROUP_LIVE == group->state) {
        become_failed(group, status, reason);
        oc_group_cast_fail(group, status, reason);
    }
}
