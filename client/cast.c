/* SPDX-License-Identifier: BSD-3-Clause */
/* Groups that multicast serves, and their Allgathers and Bcasts. */
#include "client/cast.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <utlist.h>

#include "base/clock.h"
#include "base/text.h"
#include "client/collective.h"
#include "client/group.h"
#include "client/interfaces.h"
#include "client/setup.h"
#include "client/vector.h"

#define LINGER (50 * OC_MILLISECOND)

/* Of a communicator that both serve, each rank keeps those of all. */
_Static_assert(OC_RECORD_SIZE + OC_MULTICAST_RECORD_SIZE <= 256, "records are short");

size_t oc_record_size(oc_service_t service)
{
    return OC_SERVICE_MULTICAST == service ? OC_MULTICAST_RECORD_SIZE : OC_RECORD_SIZE;
}

/* ---- groups ---- */

/* Beside the settings of multicast itself. */
static uint64_t digest(const oc_group_t *group)
{
    uint64_t numbers[] = {(uint64_t) group->params.mode,
                          (uint64_t) group->client->config.settings->max_ranks};

    return oc_hash(OC_HASH_START, numbers, sizeof(numbers));
}

static oc_status_t open_multicast(oc_client_t *client)
{
    char list[OC_DEVICES_SIZE];
    oc_multicast_config_t config = {
        .settings = client->config.settings, .counters = &client->config.counters->cast,
        .job_id = client->job.id, .job_key = client->job.key,
        .net_devices = client->config.spans_hosts ? NULL
                                                  : oc_loopback_devices(list, sizeof(list)),
        .process = client->config.process};

    return NULL != client->multicast ? OC_OK : oc_multicast_create(&config, &client->multicast);
}

oc_status_t oc_group_cast_record(oc_group_t *group, char *error, size_t error_size)
{
    oc_client_t *client = group->client;
    oc_status_t status;
    unsigned before;

    if (OC_OK != open_multicast(client)) {
        snprintf(error, error_size, "out of memory");
        oc_multicast_refuse(group->setup->record);
        return OC_ERR_NO_MEMORY;
    }
    before = oc_multicast_open_sockets(client->multicast);
    status = oc_multicast_record(client->multicast, digest(group), group->setup->record,
                                 group->setup->contact, error, error_size);
    client->config.counters->open_sockets +=
        oc_multicast_open_sockets(client->multicast) - before;
    return status;
}

static oc_multicast_params_t params_of(const oc_group_t *group)
{
    return (oc_multicast_params_t) {
        .num_ranks = group->params.num_ranks, .rank = group->params.rank,
        .records = group->setup->records, .contacts = group->setup->contacts,
        .patient = group->params.patient};
}

bool oc_group_cast_admit(oc_group_t *group)
{
    oc_multicast_params_t params = params_of(group);

    return NULL == group->client->multicast
           || oc_multicast_admit(group->client->multicast, &params);
}

oc_status_t oc_group_cast_join(oc_group_t *group, uint32_t *blamed, char *error,
                               size_t error_size)
{
    oc_client_t *client = group->client;
    oc_multicast_params_t params = params_of(group);

    if (NULL == client->multicast) {
        *blamed = params.rank;
        snprintf(error, error_size, "rank %u cannot take part", params.rank);
        return OC_DECLINED;
    }
    return oc_multicast_join(client->multicast, &params, client->now, &group->cast, blamed, error,
                             error_size);
}

void oc_group_cast_leave(oc_group_t *group)
{
    if (NULL != group->cast) {
        oc_multicast_leave(group->client->multicast, group->cast);
        group->cast = NULL;
    }
}

/*
 * Messages that have not left need progress when nothing else does. UCX may say too early that
 * they have, when a connection is full: so progress goes on for a moment, if the application lets
 * it.
 */
static void account(oc_client_t *client)
{
    bool pending = oc_multicast_pending(client->multicast) > 0;

    if (pending) {
        client->cast_linger = client->now + LINGER;
    }
    pending = pending || client->now < client->cast_linger;

    if (pending && !client->cast_pending) {
        atomic_fetch_add(&client->pending, 1);
    } else if (!pending && client->cast_pending) {
        atomic_fetch_sub(&client->pending, 1);
    }
    client->cast_pending = pending;
}

void oc_group_cast_fail(oc_group_t *group, oc_status_t status, const char *reason)
{
    if (NULL != group->cast) {
        oc_cast_group_fail(group->cast, status, reason);
        account(group->client);
    }
}

/* Groups whose collectives have ended with an error; those of idle ones show with the next. */
static void take_failures(oc_client_t *client)
{
    oc_group_t *group;

    client->cast_failed = false;
    DL_FOREACH (client->groups, group) {
        if (NULL != group->cast && oc_cast_group_ready(group->cast) < OC_OK) {
            oc_group_fail(group, oc_cast_group_ready(group->cast),
                          oc_cast_group_reason(group->cast));
        }
    }
}

static bool has_work(const oc_client_t *client)
{
    return NULL != client->multicast
           && (client->cast_setups > 0 || oc_multicast_pending(client->multicast) > 0);
}

void oc_client_cast_progress(oc_client_t *client)
{
    if (!has_work(client) && !client->cast_pending) {
        return;
    }
    oc_multicast_progress(client->multicast, client->now);
    if (client->cast_failed) {
        take_failures(client);
    }
    account(client);
}

int oc_client_cast_sleep(oc_client_t *client, struct pollfd *fds, uint64_t *timeout)
{
    return has_work(client) ? oc_multicast_sleep(client->multicast, fds, client->now, timeout) : 0;
}

/* ---- collectives ---- */

static void on_finished(void *arg, oc_status_t status)
{
    oc_collective_t *collective = arg;

    if (OC_OK != status) {
        collective->group->client->cast_failed = true;
    }
    oc_collective_finish(collective, status);
}

static oc_collective_t *cast_new(oc_group_t *group, oc_collective_kind_t kind, bool blocking,
                                 bool with_extents)
{
    oc_collective_t *collective = oc_collective_new(group);

    if (NULL == collective) {
        return NULL;
    }
    /* the set-up begins with it, and the ranks need not wait for that */
    if (OC_GROUP_NEW == group->state && !blocking) {
        group->params.patient = true;
    }
    collective->kind = kind;
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

static oc_collective_t *allgather_new(oc_group_t *group, const void *allgather_args)
{
    const oc_allgather_args_t *args = allgather_args;
    uint32_t num_ranks = group->params.num_ranks;
    oc_collective_t *collective =
        cast_new(group, OC_COLLECTIVE_ALLGATHER, args->blocking, NULL != args->lengths);

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
static oc_collective_t *bcast_new(oc_group_t *group, const void *bcast_args)
{
    const oc_bcast_args_t *args = bcast_args;
    oc_collective_t *collective = cast_new(group, OC_COLLECTIVE_BCAST, args->blocking, true);

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

void oc_cast_free(oc_collective_t *collective)
{
    close_stages(collective);
    free(collective->extents);
}

void oc_cast_begin(oc_collective_t *collective)
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
    account(client);
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
    if (OC_COLLECTIVE_BCAST == collective->kind) {
        counters->bcast_offloaded++;
    } else {
        counters->allgather_offloaded++;
    }
}

/* The others have what they wanted of this rank, whether it gets what it wanted or not. */
oc_status_t oc_cast_end(oc_collective_t *collective, oc_status_t status)
{
    if (OC_OK == status && NULL != collective->cast.recv_stage) {
        status = oc_stage_flush(collective->cast.recv_stage);
    }
    close_stages(collective);
    if (OC_OK == status) {
        count(collective);
    }
    return status;
}

oc_status_t oc_allgather_start(oc_group_t *group, const oc_allgather_args_t *args)
{
    return oc_collective_submit(group, allgather_new, args, 0, 0);
}

oc_status_t oc_bcast_start(oc_group_t *group, const oc_bcast_args_t *args)
{
    return oc_collective_submit(group, bcast_new, args, 0, 0);
}
