/* SPDX-License-Identifier: BSD-3-Clause */
/* Allgather and Bcast of groups that multicast serves. */
#include "client/group/cast.h"

#include <stdlib.h>
#include <string.h>

#include "client/collective/collective.h"
#include "client/collective/vector.h"
#include "client/group/cast_group.h"
#include "client/group/group.h"

static void on_finished(void *arg, oc_status_t status)
{
    oc_collective_t *collective = arg;

    if (OC_OK != status) {
        collective->group->client->cast_failed = true;
    }
    oc_collective_finish(collective, status);
}

static size_t bytes_of(const oc_collective_t *collective, uint32_t rank)
{
    return NULL != collective->extents ? collective->extents[rank] : collective->cast.block;
}

/* From the beginning of the receive buffer to the end of its last block. */
static size_t span_of(const oc_collective_t *collective)
{
    uint32_t num_ranks = collective->group->params.num_ranks;
    size_t span = 0;

    if (NULL == collective->extents) {
        return num_ranks * collective->cast.block;
    }
    for (uint32_t rank = 0; rank < num_ranks; rank++) {
        size_t end = collective->extents[num_ranks + rank] + bytes_of(collective, rank);

        span = 0 != bytes_of(collective, rank) && end > span ? end : span;
    }
    return span;
}

/* NULL: the memory is the host's, or memory has run out. */
static oc_stage_t *stage_for(oc_client_t *client, oc_device_t *device, const void *memory,
                             size_t size)
{
    oc_arena_t *arena = NULL == device ? NULL : oc_client_arena(client);

    return NULL == arena ? NULL
                         : oc_stage_open(arena, device, (void *) memory, size,
                                         &client->config.counters->bytes_staged);
}

static oc_status_t open_stages(oc_collective_t *collective)
{
    oc_client_t *client = collective->group->client;
    oc_cast_args_t *args = &collective->cast;
    bool sends = NULL != args->send && NULL != collective->send_device;

    if (sends) {
        args->send_stage = stage_for(client, collective->send_device, args->send,
                                     bytes_of(collective, collective->group->params.rank));
    }
    args->recv_stage = stage_for(client, collective->recv_device, args->recv, span_of(collective));
    return (sends && NULL == args->send_stage)
                   || (NULL != collective->recv_device && NULL == args->recv_stage)
               ? OC_ERR_NO_MEMORY
               : OC_OK;
}

static void close_stages(oc_collective_t *collective)
{
    oc_stage_close(collective->cast.send_stage);
    oc_stage_close(collective->cast.recv_stage);
    collective->cast.send_stage = collective->cast.recv_stage = NULL;
}

static void cast_release(oc_client_t *client, oc_collective_t *collective)
{
    (void) client;
    close_stages(collective);
    free(collective->extents);
}

static void cast_begin(oc_collective_t *collective)
{
    oc_group_t *group = collective->group;
    oc_client_t *client = group->client;
    oc_status_t status = open_stages(collective);

    if (OC_OK != status) {
        oc_cast_group_fail(group->cast, status, oc_status_string(status));
    } else {
        status = oc_multicast_start(client->multicast, group->cast, &collective->cast, client->now);
    }
    if (OC_OK != status) {
        oc_group_fail(group, status, oc_cast_group_reason(group->cast));
        oc_collective_finish(collective, status);
    }
    oc_client_cast_account(client);
}

static void count(const oc_collective_t *collective)
{
    const oc_group_params_t *params = &collective->group->params;
    oc_counters_t *counters = collective->group->client->config.counters;

    for (uint32_t rank = 0; params->num_ranks > 1 && rank < params->num_ranks; rank++) {
        if (rank == params->rank) {
            counters->bytes_sent += bytes_of(collective, rank);
        } else {
            /* they come by way of buffers for datagrams */
            counters->bytes_received += bytes_of(collective, rank);
            counters->bytes_copied += bytes_of(collective, rank);
        }
    }
}

/* The others have what they wanted of this rank, whether it gets what it wanted or not. */
static oc_status_t end(oc_collective_t *collective, oc_status_t status,
                       unsigned long long *offloaded)
{
    if (OC_OK == status && NULL != collective->cast.recv_stage) {
        status = oc_stage_flush(collective->cast.recv_stage);
    }
    close_stages(collective);
    if (OC_OK == status) {
        count(collective);
        ++*offloaded;
    }
    return status;
}

static oc_status_t allgather_end(oc_collective_t *collective, oc_status_t status)
{
    return end(collective, status,
               &collective->group->client->config.counters->allgather_offloaded);
}

static oc_status_t bcast_end(oc_collective_t *collective, oc_status_t status)
{
    return end(collective, status, &collective->group->client->config.counters->bcast_offloaded);
}

/* Multicast calls back what it has, and it has all that run. */
static void cast_fail(oc_collective_t *collective)
{
    (void) collective;
}

static const oc_collective_ops_t allgather_ops = {
    .begin = cast_begin, .fail = cast_fail, .end = allgather_end, .release = cast_release};

static const oc_collective_ops_t bcast_ops = {
    .begin = cast_begin, .fail = cast_fail, .end = bcast_end, .release = cast_release};

static oc_collective_t *cast_new(oc_group_t *group, const oc_collective_ops_t *ops, bool blocking,
                                 bool with_extents)
{
    oc_collective_t *collective = oc_collective_new(group, ops);

    if (NULL == collective) {
        return NULL;
    }
    /* the set-up begins with it, and the ranks need not wait for that */
    if (OC_GROUP_NEW == group->state && !blocking) {
        group->params.patient = true;
    }
    collective->cast.blocking = blocking;
    collective->cast.finished = on_finished;
    collective->cast.arg = collective;
    if (with_extents) {
        collective->extents = calloc(2 * (size_t) group->params.num_ranks, sizeof(size_t));
        collective->cast.lengths = collective->extents;
        collective->cast.offsets = collective->extents + group->params.num_ranks;
        if (NULL == collective->extents) {
            oc_collective_free(group->client, collective);
            return NULL;
        }
    }
    return collective;
}

oc_collective_t *oc_allgather_new(oc_group_t *group, const void *allgather_args)
{
    const oc_allgather_args_t *args = allgather_args;
    uint32_t num_ranks = group->params.num_ranks;
    oc_collective_t *collective =
        cast_new(group, &allgather_ops, args->blocking, NULL != args->lengths);

    if (NULL == collective) {
        return NULL;
    }
    collective->finished = args->finished;
    collective->arg = args->arg;
    collective->cast.send = args->send;
    collective->cast.recv = args->recv;
    collective->cast.block = args->block;
    collective->send_device = args->send_device;
    collective->recv_device = args->recv_device;
    if (NULL != args->lengths) {
        memcpy(collective->extents, args->lengths, num_ranks * sizeof(size_t));
        memcpy(collective->extents + num_ranks, args->offsets, num_ranks * sizeof(size_t));
    }
    return collective;
}

/* An Allgather in place, in which all blocks but the root's are empty. */
oc_collective_t *oc_bcast_new(oc_group_t *group, const void *bcast_args)
{
    const oc_bcast_args_t *args = bcast_args;
    oc_collective_t *collective = cast_new(group, &bcast_ops, args->blocking, true);

    if (NULL == collective) {
        return NULL;
    }
    collective->finished = args->finished;
    collective->arg = args->arg;
    collective->cast.recv = args->buffer;
    collective->recv_device = args->device;
    collective->extents[args->root] = args->length;
    return collective;
}
