/* SPDX-License-Identifier: BSD-3-Clause */
/* Allgather and Bcast of groups that multicast serves. */
#include "client/group/cast.h"

#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "client/collective/collective.h"
#include "client/collective/vector.h"
#include "client/group/cast_group.h"
#include "client/group/group.h"
#include "client/group/quiet.h"
#include "client/group/relay.h"
#include "client/group/relay_state.h"

/* An Allgather or a Bcast. */
typedef struct {
    oc_collective_t base;      /* the first member */
    oc_cast_args_t args;       /* for multicast */
    size_t *extents;           /* lengths, then offsets, of all blocks; or NULL */
    oc_device_t *send_device, *recv_device; /* of the buffers; NULL: host memory */
} cast_t;

static void cast_on_finished(void *arg, oc_status_t status)
{
    oc_collective_t *collective = arg;
    const oc_group_t *group = collective->group;
    uint32_t unheard, receiver;

    if (OC_OK != status || oc_cast_group_is_unicast(group->cast, &unheard, &receiver)) {
        group->client->cast_news = true;
    }
    oc_collective_finish(collective, status);
}

static cast_t *cast_of(oc_collective_t *collective)
{
    return (cast_t *) collective;
}

static size_t bytes_of(const cast_t *cast, uint32_t rank)
{
    return NULL != cast->extents ? cast->extents[rank] : cast->args.block;
}

/* From the beginning of the receive buffer to the end of its last block. */
static size_t cast_span_of(const cast_t *cast)
{
    uint32_t num_ranks = cast->base.group->params.num_ranks;
    size_t span = 0;

    if (NULL == cast->extents) {
        return num_ranks * cast->args.block;
    }
    for (uint32_t rank = 0; rank < num_ranks; rank++) {
        size_t end = cast->extents[num_ranks + rank] + bytes_of(cast, rank);

        span = 0 != bytes_of(cast, rank) && end > span ? end : span;
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

static oc_status_t open_stages(cast_t *cast)
{
    oc_client_t *client = cast->base.group->client;
    oc_cast_args_t *args = &cast->args;
    bool sends = NULL != args->send && NULL != cast->send_device;

    if (sends) {
        args->send_stage = stage_for(client, cast->send_device, args->send,
                                     bytes_of(cast, cast->base.group->params.rank));
    }
    args->recv_stage = stage_for(client, cast->recv_device, args->recv, cast_span_of(cast));
    return (sends && NULL == args->send_stage)
                   || (NULL != cast->recv_device && NULL == args->recv_stage)
               ? OC_ERR_NO_MEMORY
               : OC_OK;
}

static void close_stages(cast_t *cast)
{
    oc_stage_close(cast->args.send_stage);
    oc_stage_close(cast->args.recv_stage);
    cast->args.send_stage = cast->args.recv_stage = NULL;
}

static void cast_release(oc_client_t *client, oc_collective_t *collective)
{
    cast_t *cast = cast_of(collective);

    (void) client;
    close_stages(cast);
    free(cast->extents);
}

static oc_status_t cast_start(cast_t *cast)
{
    oc_group_t *group = cast->base.group;
    oc_status_t status = open_stages(cast);

    if (OC_OK != status) {
        return status;
    }
    if (NULL != group->node) {
        return oc_relay_begin(&cast->base, &cast->args);
    }
    group->client->now = oc_clock_ns();
    status = oc_multicast_start(group->client->multicast, group->cast, &cast->args,
                                group->client->now, NULL);
    oc_quiet_begin(group->client);
    return status;
}

static void cast_begin(oc_collective_t *collective)
{
    oc_group_t *group = collective->group;
    oc_status_t status = cast_start(cast_of(collective));
    const char *reason = oc_status_string(status);

    if (OC_OK != status) {
        if (NULL != group->cast && oc_cast_group_ready(group->cast) < OC_OK) {
            reason = oc_cast_group_reason(group->cast);
        }
        oc_group_fail(group, status, reason);
        oc_collective_finish(collective, status);
    }
    oc_client_cast_account(group->client);
}

static void cast_count(const cast_t *cast)
{
    const oc_group_params_t *params = &cast->base.group->params;
    oc_counters_t *counters = cast->base.group->client->config.counters;

    for (uint32_t rank = 0; params->num_ranks > 1 && rank < params->num_ranks; rank++) {
        if (rank == params->rank) {
            counters->bytes_sent += bytes_of(cast, rank);
        } else {
            /* they come by way of buffers for datagrams */
            counters->bytes_received += bytes_of(cast, rank);
            oc_count_copied(cast->base.group->client, bytes_of(cast, rank));
        }
    }
}

/* The others have what they wanted of this rank, whether it gets what it wanted or not. */
static oc_status_t cast_end(oc_collective_t *collective, oc_status_t status,
                            unsigned long long *offloaded)
{
    cast_t *cast = cast_of(collective);

    if (OC_OK == status && NULL != cast->args.recv_stage) {
        status = oc_stage_flush(cast->args.recv_stage);
    }
    close_stages(cast);
    if (OC_OK == status) {
        cast_count(cast);
        ++*offloaded;
    }
    return status;
}

static oc_status_t allgather_end(oc_collective_t *collective, oc_status_t status)
{
    return cast_end(collective, status,
                    &collective->group->client->config.counters->allgather_offloaded);
}

static oc_status_t bcast_end(oc_collective_t *collective, oc_status_t status)
{
    return cast_end(collective, status,
                    &collective->group->client->config.counters->bcast_offloaded);
}

/* Multicast calls back what it has, and it has all that run but for those of a host. */
static void cast_fail(oc_collective_t *collective)
{
    oc_relay_fail(collective->group, collective->status);
}

/* Multicast has a queue of its own, what the ranks of a host do together has not. */
static bool cast_may_begin(const oc_group_t *group)
{
    return NULL == group->node || group->num_running < OC_RELAYS;
}

static const oc_collective_ops_t allgather_ops = {
    .size = sizeof(cast_t), .may_begin = cast_may_begin, .begin = cast_begin, .fail = cast_fail,
    .end = allgather_end, .release = cast_release};

static const oc_collective_ops_t bcast_ops = {
    .size = sizeof(cast_t), .may_begin = cast_may_begin, .begin = cast_begin, .fail = cast_fail,
    .end = bcast_end, .release = cast_release};

static cast_t *cast_new(oc_group_t *group, const oc_collective_ops_t *ops, bool blocking,
                        bool with_extents)
{
    oc_collective_t *collective = oc_collective_new(group, ops);
    cast_t *cast;

    if (NULL == collective) {
        return NULL;
    }
    /* the set-up begins with it, and the ranks need not wait for that */
    if (OC_GROUP_NEW == group->state && !blocking) {
        group->params.patient = true;
    }
    cast = cast_of(collective);
    cast->args.blocking = blocking;
    cast->args.finished = cast_on_finished;
    cast->args.arg = collective;
    if (with_extents) {
        cast->extents = calloc(2 * (size_t) group->params.num_ranks, sizeof(size_t));
        cast->args.lengths = cast->extents;
        cast->args.offsets = cast->extents + group->params.num_ranks;
        if (NULL == cast->extents) {
            oc_collective_free(group->client, collective);
            return NULL;
        }
    }
    return cast;
}

oc_collective_t *oc_allgather_new(oc_group_t *group, const void *allgather_args)
{
    const oc_allgather_args_t *args = allgather_args;
    uint32_t num_ranks = group->params.num_ranks;
    cast_t *cast = cast_new(group, &allgather_ops, args->blocking, NULL != args->lengths);

    if (NULL == cast) {
        return NULL;
    }
    cast->base.finished = args->finished;
    cast->base.arg = args->arg;
    cast->base.background = !args->blocking;
    cast->base.bound = NULL != args->send_device || NULL != args->recv_device;
    cast->args.send = args->send;
    cast->args.recv = args->recv;
    cast->args.block = args->block;
    cast->send_device = args->send_device;
    cast->recv_device = args->recv_device;
    if (NULL != args->lengths) {
        memcpy(cast->extents, args->lengths, num_ranks * sizeof(size_t));
        memcpy(cast->extents + num_ranks, args->offsets, num_ranks * sizeof(size_t));
    }
    return &cast->base;
}

/* An Allgather in place, in which all blocks but the root's are empty. */
oc_collective_t *oc_bcast_new(oc_group_t *group, const void *bcast_args)
{
    const oc_bcast_args_t *args = bcast_args;
    cast_t *cast = cast_new(group, &bcast_ops, args->blocking, true);

    if (NULL == cast) {
        return NULL;
    }
    cast->base.finished = args->finished;
    cast->base.arg = args->arg;
    cast->base.background = !args->blocking;
    cast->base.bound = NULL != args->device;
    cast->args.recv = args->buffer;
    cast->recv_device = args->device;
    cast->extents[args->root] = args->length;
    return &cast->base;
}
