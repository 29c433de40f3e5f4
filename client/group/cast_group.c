/* SPDX-License-Identifier: BSD-3-Clause */
/* Groups that multicast serves. */
#include "client/group/cast_group.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <utlist.h>

#include "base/clock.h"
#include "client/collective/collective.h"
#include "client/group/place.h"
#include "client/group/relay_state.h"
#include "client/servers/interfaces.h"
#include "client/state/record.h"
#include "client/state/setup_state.h"

/* Of a communicator that both serve, each rank keeps those of all. */
_Static_assert(OC_RECORD_SIZE + OC_MULTICAST_RECORD_SIZE <= 288, "records are short");

size_t oc_record_size(oc_service_t service)
{
    return OC_SERVICE_MULTICAST == service ? OC_MULTICAST_RECORD_SIZE : OC_RECORD_SIZE;
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
    oc_offer_t offer = {.shares = OC_SHARES_NOTHING};
    oc_status_t status;
    unsigned before;

    if (OC_OK != open_multicast(client)) {
        snprintf(error, error_size, "out of memory");
        oc_multicast_refuse(group->setup->record);
        return OC_ERR_NO_MEMORY;
    }
    before = oc_multicast_open_sockets(client->multicast);
    oc_place_offer(group, oc_host_identity(), &offer);
    status = oc_multicast_record(client->multicast, (uint64_t) group->params.mode, &offer,
                                 group->setup->record, group->setup->contact, error, error_size);
    client->config.counters->open_sockets +=
        oc_multicast_open_sockets(client->multicast) - before;
    return status;
}

/* Of all ranks. */
static oc_multicast_params_t all_of(const oc_group_t *group)
{
    return (oc_multicast_params_t) {
        .num_ranks = group->params.num_ranks, .rank = group->params.rank,
        .records = group->setup->records, .contacts = group->setup->contacts,
        .patient = group->params.patient};
}

/* Of those that are in multicast; this rank is. */
static oc_multicast_params_t params_of(const oc_group_t *group)
{
    oc_multicast_params_t params = all_of(group);

    if (NULL != group->node) {
        params.num_ranks = group->node->num_hosts;
        params.rank = group->node->host;
        params.records = group->setup->leaders;
    }
    return params;
}

oc_status_t oc_group_cast_judge(oc_group_t *group, uint32_t *blamed, char *error,
                                size_t error_size)
{
    oc_multicast_params_t params = all_of(group);

    if (NULL == group->client->multicast) {
        *blamed = params.rank;
        snprintf(error, error_size, "rank %u cannot take part", params.rank);
        return OC_DECLINED;
    }
    return oc_multicast_judge(group->client->multicast, &params, &group->setup->terms, blamed,
                              error, error_size);
}

/* The first one of each host. */
static bool gather_leaders(const oc_group_t *group)
{
    const oc_node_t *node = group->node;
    oc_setup_t *setup = group->setup;

    setup->leaders = calloc(node->num_hosts, OC_MULTICAST_RECORD_SIZE);
    for (uint32_t host = 0; NULL != setup->leaders && host < node->num_hosts; host++) {
        memcpy(setup->leaders + (size_t) host * OC_MULTICAST_RECORD_SIZE,
               setup->records + (size_t) node->leaders[host] * OC_MULTICAST_RECORD_SIZE,
               OC_MULTICAST_RECORD_SIZE);
    }
    return NULL != setup->leaders;
}

bool oc_group_cast_meet(oc_group_t *group)
{
    const oc_node_t *node = group->node;
    oc_setup_t *setup = group->setup;
    oc_multicast_params_t params;

    if (!oc_group_leads(group)) {
        return true;
    }
    if (NULL != node && !gather_leaders(group)) {
        return false;
    }
    params = params_of(group);
    setup->num_neighbours = oc_cast_neighbours(params.num_ranks, params.rank, setup->neighbours);
    for (unsigned i = 0; NULL != node && i < setup->num_neighbours; i++) {
        setup->neighbours[i] = node->leaders[setup->neighbours[i]];
    }
    return true;
}

bool oc_group_cast_admit(oc_group_t *group)
{
    oc_multicast_params_t params;

    if (NULL == group->client->multicast || !oc_group_leads(group)) {
        return true;
    }
    params = params_of(group);
    return oc_multicast_admit(group->client->multicast, &params);
}

bool oc_group_cast_reserve(oc_group_t *group)
{
    oc_multicast_params_t params;

    if (!oc_group_leads(group)) {
        return true;
    }
    params = params_of(group);
    return oc_multicast_reserve(group->client->multicast, &params, &group->setup->terms,
                                &group->setup->own_address);
}

void oc_group_cast_release(oc_group_t *group)
{
    oc_multicast_release(group->client->multicast, group->setup->own_address);
    group->setup->own_address = NULL;
}

oc_status_t oc_group_cast_join(oc_group_t *group, char *error, size_t error_size)
{
    oc_client_t *client = group->client;
    oc_cast_slot_t *own = group->setup->own_address;
    oc_multicast_params_t params;

    if (!oc_group_leads(group)) {
        return OC_OK;
    }
    params = params_of(group);
    group->setup->own_address = NULL;
    return oc_multicast_join(client->multicast, &params, &group->setup->terms, own, client->now,
                             &group->cast, error, error_size);
}

oc_status_t oc_group_cast_ready(const oc_group_t *group)
{
    return NULL == group->cast ? OC_OK : oc_cast_group_ready(group->cast);
}

bool oc_group_cast_flood_is_sent(oc_group_t *group)
{
    oc_client_t *client = group->client;

    return oc_multicast_flood_is_sent(client->multicast, group->cast, client->now);
}

oc_flood_verdict_t oc_group_cast_flood_end(oc_group_t *group, char *text, size_t text_size)
{
    return oc_multicast_flood_end(group->client->multicast, group->cast, text, text_size);
}

void oc_group_cast_flood_note(oc_group_t *group, oc_flood_verdict_t verdict)
{
    oc_multicast_flood_note(group->client->multicast, &group->setup->terms, verdict);
}

/* How long after the last message progress goes on. */
#define LINGER (50 * OC_MILLISECOND)

/*
 * Messages that have not left need progress when nothing else does. UCX may say too early that
 * they have, when a connection is full: so progress goes on for a moment, if the application lets
 * it.
 */
void oc_client_cast_account(oc_client_t *client)
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
        oc_multicast_fail(group->client->multicast, group->cast, status, reason);
        oc_client_cast_account(group->client);
    }
    if (NULL != group->node && NULL != group->node->ring) {
        oc_ring_fail(group->node->ring, reason);
    }
}

/* ---- the service of a group ---- */

static oc_status_t multicast_open(oc_group_t *group)
{
    (void) group;
    return OC_OK;
}

static bool multicast_go_live(oc_group_t *group)
{
    if (!oc_group_leads(group)) {
        snprintf(group->way, sizeof(group->way), "multicast of rank %u, for all ranks of its host",
                 group->node->ranks[0]);
        return true;
    }
    if (NULL == group->cast) {
        return false;
    }
    oc_multicast_describe(group->client->multicast, group->cast, group->way, sizeof(group->way));
    return true;
}

static bool multicast_leaves(const oc_group_t *group, oc_ruled_t ruled, unsigned type,
                             uint64_t bytes)
{
    (void) group;
    (void) ruled;
    (void) type;
    (void) bytes;
    return false;
}

/* The ranks hear of it when the group fails, and there is nothing to be given back. */
static void multicast_keep(oc_group_t *group)
{
    (void) group;
}

static void multicast_leave(oc_group_t *group)
{
    if (NULL != group->cast) {
        oc_multicast_leave(group->client->multicast, group->cast);
        group->cast = NULL;
    }
    while (NULL != group->relay) {
        oc_relay_drop(group);
    }
    oc_node_free(group);
}

/* Nobody is called back any more. */
static void multicast_abandon(oc_group_t *group)
{
    oc_collective_t *collective, *next;

    if (NULL == group->cast && NULL == group->node) {
        return;
    }
    multicast_leave(group);
    DL_FOREACH_SAFE (group->running, collective, next) {
        DL_DELETE(group->running, collective);
        oc_collective_free(group->client, collective);
    }
}

const oc_service_ops_t oc_service_multicast = {
    .open = multicast_open, .go_live = multicast_go_live, .leaves = multicast_leaves,
    .withdraw = multicast_keep, .leave = multicast_leave, .close = multicast_keep,
    .release = multicast_keep, .fail = oc_group_cast_fail, .abandon = multicast_abandon};
