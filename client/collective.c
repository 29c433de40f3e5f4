/* SPDX-License-Identifier: BSD-3-Clause */
/* What small and large Allreduces have in common: beginning, callbacks, end. */
#include <stdio.h>
#include <stdlib.h>
#include <utlist.h>

#include "client/pack.h"
#include "client/types.h"
#include "reduction/reduction.h"

/* Gaps do not travel, and what is in those of the receive buffer belongs to the caller. */
static bool pack(oc_collective_t *collective)
{
    const oc_allreduce_args_t *args = &collective->args;

    collective->packed = malloc(collective->bytes);
    if (NULL == collective->packed) {
        return false;
    }
    oc_pack(collective->packed, args->send, args->count, collective->element, &args->layout);
    collective->group->client->config.counters->bytes_copied += collective->bytes;
    collective->send = collective->recv = collective->packed;
    return true;
}

static void unpack(oc_collective_t *collective)
{
    const oc_allreduce_args_t *args = &collective->args;

    oc_unpack(args->recv, collective->packed, args->count, collective->element, &args->layout);
    collective->group->client->config.counters->bytes_copied += collective->bytes;
}

oc_collective_t *oc_collective_new(oc_group_t *group, const oc_allreduce_args_t *args)
{
    oc_collective_t *collective = calloc(1, sizeof(*collective));

    if (NULL == collective) {
        return NULL;
    }
    collective->group = group;
    collective->args = *args;
    collective->element = oc_type_size(args->type);
    collective->bytes = args->count * collective->element;
    collective->send = args->send;
    collective->recv = args->recv;
    if (0 != args->layout.extent && !pack(collective)) {
        oc_collective_free(collective);
        return NULL;
    }
    return collective;
}

void oc_collective_free(oc_collective_t *collective)
{
    free(collective->packed);
    free(collective);
}

void oc_collective_start(oc_collective_t *collective)
{
    oc_group_t *group = collective->group;
    oc_status_t status;

    collective->sequence = group->next_sequence++;
    DL_APPEND(group->running, collective);
    group->num_running++;
    if (collective->bytes <= group->client->config.settings->small_size) {
        status = oc_small_start(collective);
    } else {
        status = oc_large_start(collective);
    }
    if (OC_OK != status) {
        /* the others count on this rank's share: nobody can go on */
        oc_client_collapse(group->client, status, "a collective could not be started: %s",
                           oc_status_string(status));
        if (0 == collective->waiting) {
            oc_collective_finish(collective, status);
        }
    }
}

void oc_collective_finish(oc_collective_t *collective, oc_status_t status)
{
    oc_group_t *group = collective->group;
    oc_counters_t *counters = group->client->config.counters;

    if (OC_OK == status) {
        if (NULL != collective->packed) {
            unpack(collective);
        }
        counters->allreduce_offloaded++;
    } else {
        counters->failures++;
    }
    for (unsigned i = 0; i < collective->num_parts; i++) {
        free(collective->parts[i].slots);
    }
    free(collective->parts);
    free(collective->message);
    collective->parts = NULL;
    collective->message = NULL;
    collective->status = status;
    DL_DELETE(group->running, collective);
    group->num_running--;
    DL_APPEND(group->client->finished, collective);
    oc_group_start_queued(group);
}

bool oc_collective_called_back(oc_collective_t *collective, const oc_transfer_t *transfer,
                               const oc_lane_t *lane)
{
    oc_client_t *client = collective->group->client;

    collective->waiting--;
    if (OC_OK != transfer->status && OC_OK == collective->status) {
        collective->status = transfer->status;
        oc_client_collapse(client, transfer->status, "server %.200s: the data connection broke: %s",
                           lane->connection->name, oc_status_string(transfer->status));
    }
    if (OC_OK == collective->status) {
        return true;
    }
    if (0 == collective->waiting) {
        oc_collective_finish(collective, collective->status);
    }
    return false;
}

bool oc_collective_check_reply(oc_collective_t *collective, const oc_lane_t *lane,
                               const void *bytes, size_t length, uint8_t message)
{
    oc_header_t header;

    if (OC_OK == oc_header_decode(bytes, length, &header) && message == header.message
        && header.handle == lane->handle && header.rank == lane->index
        && header.sequence == collective->sequence && header.op == collective->args.op
        && header.type == collective->args.type && header.count == collective->args.count
        && (OC_MESSAGE_COMMIT == message || header.chunk_bytes == collective->bytes)) {
        return true;
    }
    collective->status = OC_ERR_INVALID;
    oc_client_collapse(collective->group->client, OC_ERR_INVALID,
                       "server %.200s sent a reply that does not fit collective %llu",
                       lane->connection->name, (unsigned long long) collective->sequence);
    return false;
}

/*
 * The others count on this rank's share: nobody can go on. What is pending may be nothing, so the
 * collapse is not left to the next progress.
 */
static void refuse_for_want_of_memory(oc_group_t *group)
{
    static const char reason[] = "out of memory";

    oc_client_collapse(group->client, OC_ERR_NO_MEMORY, reason);
    oc_client_settle(group->client);
    if (OC_GROUP_NEW == group->state) {
        oc_group_break(group, OC_ERR_NO_MEMORY, reason);
    } else if (NULL != group->setup && '\0' == group->setup->reason[0]) {
        snprintf(group->setup->reason, sizeof(group->setup->reason), "%s", reason);
    }
}

static oc_status_t start_or_queue(oc_group_t *group, const oc_allreduce_args_t *args)
{
    oc_collective_t *collective = oc_collective_new(group, args);
    oc_status_t status = OC_OK;

    if (NULL == collective) {
        refuse_for_want_of_memory(group);
        return OC_ERR_NO_MEMORY;
    }
    if (OC_GROUP_NEW == group->state) {
        status = oc_setup_begin(group);
    }
    if (OC_OK != status) {
        oc_collective_free(collective);
        return status;
    }
    atomic_fetch_add(&group->client->pending, 1);
    DL_APPEND(group->queue, collective);
    oc_group_start_queued(group);
    return OC_OK;
}

oc_status_t oc_allreduce_start(oc_group_t *group, const oc_allreduce_args_t *args)
{
    oc_client_t *client = group->client;
    oc_status_t status;

    pthread_mutex_lock(&client->lock);
    if (OC_GROUP_DECLINED == group->state) {
        status = OC_DECLINED;
    } else if (OC_GROUP_FAILED == group->state) {
        status = group->status;
    } else {
        status = start_or_queue(group, args);
    }
    pthread_mutex_unlock(&client->lock);
    return status;
}
