/* SPDX-License-Identifier: BSD-3-Clause */
/* Groups: creation, the turns of their life, and the queue of collectives. */
#include "client/group/group.h"

#include <stdio.h>
#include <stdlib.h>
#include <utlist.h>

#include "base/log.h"
#include "client/collective/collective.h"
#include "client/group/cast_group.h"
#include "client/group/served.h"
#include "client/servers/exposure.h"
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
    snprintf(group->name, sizeof(group->name), "%s", params->name);
    group->service = OC_SERVICE_MULTICAST == params->service ? &oc_service_multicast
                                                             : &oc_service_servers;
    if (OC_OK != group->service->open(group)) {
        free(group);
        return OC_ERR_NO_MEMORY;
    }
    oc_client_lock(client);
    DL_APPEND(client->groups, group);
    pthread_mutex_unlock(&client->lock);
    *result = group;
    return OC_OK;
}

void oc_group_end(oc_group_t *group)
{
    oc_client_t *client = group->client;

    group->service->leave(group);
    DL_DELETE(client->groups, group);
    client->parting -= OC_PARTING_NOT != group->parting;
    if (NULL == client->groups) {
        oc_stock_trim(&client->stock);
    }
    group->service->close(group);
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

static void finish_one(oc_group_t *group, oc_collective_t *collective, oc_status_t status)
{
    DL_DELETE(group->queue, collective);
    collective->status = status;
    oc_collective_hand_out(group->client, collective);
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
    group->service->leave(group);
    finish_queued(group, OC_DECLINED);
}

/* What came before anybody knew that it is better left to others. */
static void decline_queued(oc_group_t *group)
{
    oc_collective_t *collective, *next;

    DL_FOREACH_SAFE (group->queue, collective, next) {
        if (group->service->leaves(group, collective->ruled, collective->type, collective->bytes)) {
            finish_one(group, collective, OC_DECLINED);
        }
    }
}

void oc_group_go_live(oc_group_t *group)
{
    /* whoever sees it live may ask for its way, without the lock */
    bool ready = group->service->go_live(group);

    decline_queued(group);
    group->state = OC_GROUP_LIVE;
    oc_debug("\"%s\" has service", group->name);
    group->client->config.counters->groups++;
    oc_exposure_consider(group);
    if (ready) {
        oc_group_start_queued(group);
    }
}

/*
 * Running collectives end when their transfers have been taken back from UCX, and at once if they
 * have none: their chunks wait for those of others.
 */
static void group_become_failed(oc_group_t *group, oc_status_t status, const char *reason)
{
    oc_collective_t *collective, *next;

    group->status = status;
    snprintf(group->reason, sizeof(group->reason), "%s", reason);
    group->state = OC_GROUP_FAILED;
    group->service->release(group);
    finish_queued(group, status);
    DL_FOREACH_SAFE (group->running, collective, next) {
        collective->status = status;
        collective->ops->fail(collective);
    }
}

void oc_group_break(oc_group_t *group, oc_status_t status, const char *reason)
{
    group->service->withdraw(group);
    group_become_failed(group, status, reason);
    group->service->fail(group, status, reason);
}

void oc_group_abandon(oc_group_t *group)
{
    if (NULL != group->setup) {
        oc_setup_drop(group);
    }
    group_become_failed(group, OC_ERR_CANCELED, "its client is gone");
    group->service->abandon(group);
}

void oc_group_fail(oc_group_t *group, oc_status_t status, const char *reason)
{
    if (OC_GROUP_SETTING_UP == group->state && group->setup->step > OC_SETUP_RESOLVE) {
        group->setup->broken = status;
        oc_setup_give_up(group, "%s", reason);
        group->service->release(group);
    } else if (OC_GROUP_LIVE == group->state) {
        group_become_failed(group, status, reason);
        group->service->fail(group, status, reason);
    }
}
