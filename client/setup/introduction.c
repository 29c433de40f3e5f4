/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * How the ranks of a group introduce themselves: the record that each gives to the others, with the
 * start of the server that it offers, and the judgement of all records.
 */
#include "client/setup/introduction.h"

#include <arpa/inet.h>
#include <stdio.h>
#include <string.h>

#include "base/log.h"
#include "base/text.h"
#include "client/group/cast_group.h"
#include "client/group/place.h"
#include "client/servers/own_server.h"
#include "client/servers/presence.h"
#include "client/servers/resort.h"
#include "client/servers/targets.h"
#include "client/state/record.h"
#include "client/state/setup_state.h"

/* Addresses of this host that are looked at. */
#define MAX_OWN_ADDRESSES 64

/* Beside servers that work it is not needed: this host offers nothing then, and the others see. */
static void go_without_embedded(oc_group_t *group, const char *error)
{
    oc_client_t *client = group->client;

    if (0 == client->servers.count) {
        oc_setup_give_up(group, "the embedded server cannot start: %s", error);
    } else if (!client->embedded_missed) {
        client->embedded_missed = true;
        oc_warn("this host does not aggregate beside the servers, which makes them slower, because "
                "the embedded server cannot start: %s; allow more open files and threads, or set "
                "coll_optcast_peer_aggregation to off", error);
    }
}

/* Others may still reach this host by those that are told. */
static void report_untold(const struct in6_addr *addresses, unsigned count)
{
    char text[512] = "", one[INET6_ADDRSTRLEN];
    size_t length = 0;

    for (unsigned i = 0; i < count && length < sizeof(text); i++) {
        (void) inet_ntop(AF_INET6, &addresses[i], one, sizeof(one));
        length += (size_t) snprintf(text + length, sizeof(text) - length, " %s", one);
    }
    if (count > 0) {
        oc_info("other ranks are not told %u of the addresses of this host, for which a record has "
                "no room:%s", count, text);
    }
}

static void tell_addresses(oc_record_t *record)
{
    struct in6_addr addresses[MAX_OWN_ADDRESSES];
    unsigned count = oc_own_addresses(addresses, MAX_OWN_ADDRESSES);

    record->num_addresses = oc_record_select(addresses, count);
    memcpy(record->addresses, addresses, record->num_addresses * sizeof(*addresses));
    report_untold(addresses + record->num_addresses, count - record->num_addresses);
}

static void open_embedded(oc_group_t *group, oc_record_t *record)
{
    oc_client_t *client = group->client;
    char error[OC_REASON_SIZE / 2];

    if (OC_OK != oc_own_server_start(client, error, sizeof(error))) {
        go_without_embedded(group, error);
        return;
    }
    record->port = oc_embedded_port(client->embedded);
    tell_addresses(record);
}

/* If all servers are lost; without a socket this host has no part in that. */
static void offer_reserve(oc_group_t *group, oc_record_t *record)
{
    char error[OC_REASON_SIZE / 2];
    oc_status_t status = oc_own_server_offer(group->client, &record->port, error, sizeof(error));

    if (OC_OK != status) {
        record->port = 0;
        oc_info("process %u will not aggregate if all servers are lost: %s", group->client->config.process, error);
        return;
    }
    record->reserve = true;
    tell_addresses(record);
}

static void learn_job(oc_group_t *group)
{
    oc_client_t *client = group->client;

    if (!client->has_job) {
        client->has_job =
            OC_OK == group->params.bootstrap->job(group->params.context, &client->job);
    }
    if (!client->has_job) {
        oc_setup_give_up(group,
                         "it has no valid settings, or does not know the identity of its job");
    }
}

static void make_cast_record(oc_group_t *group)
{
    char error[OC_REASON_SIZE / 2];

    learn_job(group);
    if (oc_setup_has_given_up(group)) {
        oc_multicast_refuse(group->setup->record);
    } else if (OC_OK != oc_group_cast_record(group, error, sizeof(error))) {
        oc_setup_give_up(group, "%s", error);
    }
}

/* A group's id is never used again: codes of messages depend on it. */
static bool has_ids(const oc_client_t *client)
{
    return client->groups_made < 1u << OC_GROUP_ID_BITS;
}

static void make_server_record(oc_group_t *group)
{
    oc_client_t *client = group->client;
    oc_record_t record = {.host = oc_host_identity(),
                          .settings = oc_settings_digest(group),
                          .network = client->config.network};

    if (OC_OK != client->servers_status) {
        oc_setup_give_up(group, "coll_optcast_servers: %s", client->servers_error);
    }
    learn_job(group);
    oc_presence_note_drains(client);
    oc_targets_probe_away(client);
    group->setup->epoch = oc_lost_epoch(&client->lost);
    record.epoch = OC_RECORD_EPOCH(group->setup->epoch);
    record.away = client->away;
    if (!has_ids(client)) {
        oc_setup_give_up(group, "process %u has begun %u communicators, and has no more ids",
                         client->config.process, client->groups_made);
    }
    if (!oc_setup_has_given_up(group) && oc_targets_hosts_embedded(group)) {
        open_embedded(group, &record);
    } else if (!oc_setup_has_given_up(group) && oc_resort_offers(group)) {
        offer_reserve(group, &record);
    }
    record.ready = !oc_setup_has_given_up(group);
    oc_place_offer(group, record.host, &record.offer);
    record.group = OC_GROUP_ID(client->config.process, client->groups_made);
    client->groups_made += has_ids(client);
    record.job = oc_hash(OC_HASH_START, client->job.id, OC_JOB_ID_SIZE);
    oc_record_encode(&record, group->setup->record);
}

void oc_introduction_make(oc_group_t *group)
{
    if (OC_SERVICE_MULTICAST == group->params.service) {
        make_cast_record(group);
    } else {
        make_server_record(group);
    }
}

/*
 * Without a server the ranks only serve themselves if there was one: a list of servers that were never there is a mistake, which
 * the user has to see.
 */
static bool is_served(oc_group_t *group, bool none_ever, char *reason, size_t size)
{
    const oc_client_t *client = group->client;

    if (0 == client->servers.count || oc_presence_count(group) > 0
        || (!none_ever && oc_targets_count_peers(group) > 0)) {
        return true;
    }
    group->tells = 0 == group->params.rank;
    if (!none_ever) {
        snprintf(reason, size, "all servers in coll_optcast_servers are lost, and no rank can aggregate instead");
    } else if ('\0' != client->away_reason[0]) {
        snprintf(reason, size, "no server in coll_optcast_servers can be had: %s", client->away_reason);
    } else {
        snprintf(reason, size, "no server in coll_optcast_servers can be had by all ranks");
    }
    return false;
}

/*
 * All ranks see the same records, so whoever finds a reason here finds the same as the others.
 * The rank that is to blame knows better why.
 */
bool oc_introduction_agree(oc_group_t *group, char *reason, size_t size)
{
    oc_record_t first, record;
    bool none_ever = true;

    oc_record_decode(group->setup->records, &first);
    for (uint32_t rank = 0; rank < group->params.num_ranks; rank++) {
        if (!oc_record_of(group, rank, &record)) {
            snprintf(reason, size, "rank %u has another version of optcast", rank);
        } else if (!record.ready) {
            snprintf(reason, size, "rank %u cannot take part%s%s", rank,
                     rank == group->params.rank ? ": " : "",
                     rank == group->params.rank ? group->setup->reason : "");
        } else if (record.settings != first.settings) {
            snprintf(reason, size, "rank %u has other coll_optcast settings than rank 0", rank);
        } else if (record.job != first.job) {
            snprintf(reason, size, "rank %u belongs to another MPI job than rank 0", rank);
        } else {
            group->servers->away |= record.away;
            group->setup->differs = group->setup->differs || record.epoch != first.epoch;
            none_ever = none_ever && 0 == record.epoch;
            continue;
        }
        group->tells = rank == group->params.rank;
        return false;
    }
    group->servers->id = group->servers->first_id = first.group;
    return is_served(group, none_ever, reason, size);
}
