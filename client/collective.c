/* SPDX-License-Identifier: BSD-3-Clause */
/* What all collectives have in common: the queue, beginning and end. */
#include "client/collective.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <utlist.h>

#include "client/allreduce.h"
#include "client/cast.h"
#include "client/client_inside.h"
#include "client/group.h"
#include "client/setup.h"

oc_collective_t *oc_collective_new(oc_group_t *group)
{
    oc_collective_t *collective = oc_stock_take(&group->client->stock, sizeof(*collective));

    if (NULL != collective) {
        memset(collective, 0, sizeof(*collective));
        collective->group = group;
    }
    return collective;
}

void oc_collective_free(oc_client_t *client, oc_collective_t *collective)
{
    if (OC_COLLECTIVE_ALLREDUCE == collective->kind) {
        oc_allreduce_free(client, collective);
    } else {
        oc_cast_free(collective);
    }
    oc_stock_give(&client->stock, collective, sizeof(*collective));
}

void oc_collective_start(oc_collective_t *collective)
{
    oc_group_t *group = collective->group;

    DL_APPEND(group->running, collective);
    group->num_running++;
    if (OC_COLLECTIVE_ALLREDUCE == collective->kind) {
        oc_allreduce_begin(collective);
    } else {
        oc_cast_begin(collective);
    }
}

void oc_collective_finish(oc_collective_t *collective, oc_status_t status)
{
    oc_group_t *group = collective->group;

    status = OC_COLLECTIVE_ALLREDUCE == collective->kind ? oc_allreduce_end(collective, status)
                                                         : oc_cast_end(collective, status);
    if (OC_OK != status) {
        group->client->config.counters->failures++;
    }
    collective->status = status;
    DL_DELETE(group->running, collective);
    group->num_running--;
    DL_APPEND(group->client->finished, collective);
    oc_group_start_queued(group);
}

/*
 * The others count on this rank's share: nobody can go on. What is pending may be nothing, so the
 * collapse is not left to the next progress.
 */
static void give_up(oc_group_t *group, oc_status_t status, const char *reason)
{
    if (OC_SERVICE_MULTICAST == group->params.service) {
        oc_group_fail(group, status, reason);
    } else {
        oc_client_collapse(group->client, status, "%s", reason);
        oc_client_settle(group->client);
    }
    if (OC_GROUP_NEW == group->state) {
        oc_group_break(group, status, reason);
    } else if (NULL != group->setup) {
        oc_setup_give_up(group, "%s", reason);
    }
}

void oc_group_give_up(oc_group_t *group, oc_status_t status, const char *reason)
{
    oc_client_t *client = group->client;

    pthread_mutex_lock(&client->lock);
    if (OC_GROUP_DECLINED != group->state && OC_GROUP_FAILED != group->state) {
        give_up(group, status, reason);
    }
    pthread_mutex_unlock(&client->lock);
}

static oc_status_t start_or_queue(oc_group_t *group, oc_collective_make_fn_t *make,
                                  const void *args)
{
    oc_collective_t *collective = make(group, args);
    oc_status_t status = OC_OK;

    if (NULL == collective) {
        give_up(group, OC_ERR_NO_MEMORY, "out of memory");
        return OC_ERR_NO_MEMORY;
    }
    if (OC_GROUP_NEW == group->state) {
        status = oc_setup_begin(group);
    }
    if (OC_OK != status) {
        oc_collective_free(group->client, collective);
        return status;
    }
    atomic_fetch_add(&group->client->pending, 1);
    DL_APPEND(group->queue, collective);
    oc_group_start_queued(group);
    return OC_OK;
}

oc_status_t oc_collective_submit(oc_group_t *group, oc_collective_make_fn_t *make,
                                 const void *args, unsigned type, uint64_t bytes)
{
    oc_client_t *client = group->client;
    oc_status_t status;

    pthread_mutex_lock(&client->lock);
    if (OC_GROUP_DECLINED == group->state || oc_group_leaves(group, type, bytes)) {
        status = OC_DECLINED;
    } else if (OC_GROUP_FAILED == group->state) {
        status = group->status;
    } else {
        status = start_or_queue(group, make, args);
    }
    pthread_mutex_unlock(&client->lock);
    return status;
}
