/* SPDX-License-Identifier: BSD-3-Clause */
/* What all collectives have in common: the queue of their group, beginning and end. */
#include "client/collective/collective.h"

#include <string.h>
#include <utlist.h>

oc_collective_t *oc_collective_new(oc_group_t *group, const oc_collective_ops_t *ops)
{
    oc_collective_t *collective = oc_stock_take(&group->client->stock, ops->size);

    if (NULL != collective) {
        memset(collective, 0, ops->size);
        collective->group = group;
        collective->ops = ops;
    }
    return collective;
}

void oc_collective_free(oc_client_t *client, oc_collective_t *collective)
{
    size_t size = collective->ops->size;

    collective->ops->release(client, collective);
    oc_stock_give(&client->stock, collective, size);
}

static void collective_start(oc_collective_t *collective)
{
    oc_group_t *group = collective->group;

    DL_APPEND(group->running, collective);
    group->num_running++;
    collective->ops->begin(collective);
}

void oc_collective_start_inner(oc_collective_t *collective, oc_collective_t *before)
{
    oc_group_t *group = collective->group;

    if (NULL != before) {
        DL_PREPEND_ELEM(group->running, before, collective);
    } else {
        DL_APPEND(group->running, collective);
    }
    group->num_running++;
    group->client->inner++;
    atomic_fetch_add(&group->client->pending, 1);
    collective->ops->begin(collective);
}

/* Of the engine's own, which nobody calls back for. */
static void collective_free_inner(oc_collective_t *collective)
{
    oc_client_t *client = collective->group->client;

    oc_collective_free(client, collective);
    client->inner--;
    atomic_fetch_sub(&client->pending, 1);
}

void oc_collective_drop_inner(oc_collective_t *collective)
{
    oc_group_t *group = collective->group;

    DL_DELETE(group->running, collective);
    group->num_running--;
    (void) collective->ops->end(collective, OC_ERR_CANCELED);
    collective_free_inner(collective);
}

void oc_group_start_queued(oc_group_t *group)
{
    oc_collective_t *collective;

    while (OC_GROUP_LIVE == group->state && NULL != (collective = group->queue)
           && collective->ops->may_begin(group)) {
        DL_DELETE(group->queue, collective);
        collective_start(collective);
    }
}

void oc_collective_hand_out(oc_client_t *client, oc_collective_t *collective)
{
    client->background -= collective->background;
    client->bound -= collective->bound;
    DL_APPEND(client->finished, collective);
}

void oc_collective_finish(oc_collective_t *collective, oc_status_t status)
{
    oc_group_t *group = collective->group;

    status = collective->ops->end(collective, status);
    if (OC_OK != status && OC_PARTING_NOT == group->parting) {
        group->client->config.counters->failures++;
    }
    collective->status = status;
    DL_DELETE(group->running, collective);
    group->num_running--;
    if (NULL != collective->inner) {
        collective->inner(collective, status);
        collective_free_inner(collective);
    } else {
        oc_collective_hand_out(group->client, collective);
    }
    oc_group_start_queued(group);
}
