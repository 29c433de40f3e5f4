/* SPDX-License-Identifier: BSD-3-Clause */
/* Set-up of a group: exchange of records, connections, joining, vote. */
#include "client/setup.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <utlist.h>

#include "base/clock.h"
#include "base/log.h"
#include "client/place.h"
#include "client/record.h"
#include "client/targets.h"
#include "client/tree.h"
#include "protocol/tag.h"

/* The vote is a minimum: a rank that can go on votes this, one that cannot its own number. */
#define VOTE_YES INT64_MAX

/* Room for the numbers of teams below it. The process and its count: 24 bits each. */
#define GROUP_ID(process, count) \
    ((uint64_t) ((process) & 0xffffff) << 40 | (uint64_t) ((count) & 0xffffff) << 16)

void oc_setup_give_up(oc_group_t *group, const char *format, ...)
{
    va_list args;

    if (oc_setup_has_given_up(group)) {
        return;
    }
    va_start(args, format);
    vsnprintf(group->setup->reason, sizeof(group->setup->reason), format, args);
    va_end(args);
}

bool oc_setup_has_given_up(const oc_group_t *group)
{
    return '\0' != group->setup->reason[0];
}

/* What finds no processor of its own must not keep a rank from one. */
static oc_local_settings_t local_settings(const oc_client_t *client)
{
    oc_local_settings_t local = client->config.settings->local;

    if (OC_POLLING_BUSY == local.polling && client->config.full_host) {
        oc_warn("polling is adaptive, not busy, for the aggregator in process %u: the ranks of "
                "this host leave it no processor; use adaptive for them, too, or fewer of them",
                client->config.process);
        local.polling = OC_POLLING_ADAPTIVE;
    }
    return local;
}

/* Starts the embedded server if there is none, or none that is any good. */
static oc_status_t start_embedded(oc_client_t *client, char *error, size_t error_size)
{
    oc_server_settings_t server_settings;
    oc_embedded_config_t config = {
        .job_id = client->job.id,
        .job_key = client->job.key,
        .all_interfaces = client->config.spans_hosts,
        .timeline = client->config.settings->timeline,
    };

    /* after a collapse it is about to fail, or has: others may not have noticed yet */
    if (NULL != client->embedded
        && (oc_embedded_failed(client->embedded)
            || client->collapsed > client->embedded_opened)) {
        oc_embedded_close(client->embedded);
        client->embedded = NULL;
        atomic_store(&client->embeds, false);
    }
    if (NULL != client->embedded) {
        return OC_OK;
    }
    oc_settings_default(&oc_server_settings_table, &server_settings);
    config.memory_limit = server_settings.memory_limit;
    config.local = local_settings(client);
    client->embedded_opened = oc_clock_ns();
    if (OC_OK != oc_embedded_open(&config, &client->embedded, error, error_size)) {
        return OC_ERR_SYSTEM;
    }
    oc_info("process %u aggregates for its job", client->config.process);
    return OC_OK;
}

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

static void open_embedded(oc_group_t *group, oc_record_t *record)
{
    oc_client_t *client = group->client;
    char error[OC_REASON_SIZE / 2] = "";

    if (OC_OK != start_embedded(client, error, sizeof(error))) {
        go_without_embedded(group, error);
        return;
    }
    record->port = oc_embedded_port(client->embedded);
    record->num_addresses = (uint8_t) oc_own_addresses(record->addresses, OC_MAX_OWN_ADDRESSES);
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
        oc_multicast_refuse(group->setup->reason, group->setup->record);
    } else if (OC_OK != oc_group_cast_record(group, error, sizeof(error))) {
        oc_setup_give_up(group, "%s", error);
    }
}

static void make_record(oc_group_t *group)
{
    oc_client_t *client = group->client;
    oc_record_t record = {.process = client->config.process, .host = oc_host_identity(),
                          .settings = oc_settings_digest(group)};
    char error[OC_REASON_SIZE / 2] = "";

    if (OC_OK != client->servers_status) {
        oc_setup_give_up(group, "coll_optcast_servers: %s", client->servers_error);
    }
    learn_job(group);
    if (OC_OK != oc_client_worker(client, error, sizeof(error))) {
        oc_setup_give_up(group, "%s", error);
    }
    if (!oc_setup_has_given_up(group) && oc_targets_hosts_embedded(group)) {
        open_embedded(group, &record);
    }
    record.ready = !oc_setup_has_given_up(group);
    oc_place_offer(group, &record);
    record.group = GROUP_ID(client->config.process, client->groups_made++);
    memcpy(record.job_id, client->job.id, OC_JOB_ID_SIZE);
    oc_record_encode(&record, group->setup->record);
}

static void take_handle(oc_group_t *group)
{
    oc_client_t *client = group->client;
    oc_group_t *other;

    do {
        client->next_handle = (client->next_handle + 1) & OC_HANDLE_MAX;
        HASH_FIND(hh, client->handles, &client->next_handle, sizeof(client->next_handle), other);
    } while (NULL != other);
    group->reply_handle = client->next_handle;
    HASH_ADD(hh, client->handles, reply_handle, sizeof(group->reply_handle), group);
}

static oc_status_t setup_new(oc_group_t *group)
{
    oc_setup_t *setup = calloc(1, sizeof(*setup));
    size_t size = oc_record_size(group->params.service);
    oc_exchange_t exchange;
    oc_status_t status = OC_ERR_NO_MEMORY;

    if (NULL == setup) {
        return status;
    }
    setup->records = calloc((size_t) group->params.num_ranks + 1, size);
    setup->nodes = calloc(group->params.num_ranks, sizeof(*setup->nodes));
    if (NULL != setup->records && NULL != setup->nodes) {
        setup->record = setup->records + group->params.num_ranks * size;
        exchange = (oc_exchange_t) {.record = setup->record, .records = setup->records,
                                    .size = size, .vote = &setup->vote,
                                    .outcome = &setup->outcome};
        status = group->params.bootstrap->begin(group->params.context, &exchange);
    }
    if (OC_OK != status) {
        free(setup->records);
        free(setup->nodes);
        free(setup);
        return status;
    }
    group->setup = setup;
    group->state = OC_GROUP_SETTING_UP;
    DL_APPEND2(group->client->setups, group, setup_prev, setup_next);
    group->client->cast_setups += OC_SERVICE_MULTICAST == group->params.service;
    atomic_fetch_add(&group->client->pending, 1);
    return OC_OK;
}

void oc_setup_drop(oc_group_t *group)
{
    oc_readiness_end(group->setup->readiness);
    free(group->setup->records);
    free(group->setup->nodes);
    free(group->setup);
    group->setup = NULL;
    DL_DELETE2(group->client->setups, group, setup_prev, setup_next);
    group->client->cast_setups -= OC_SERVICE_MULTICAST == group->params.service;
    atomic_fetch_sub(&group->client->pending, 1);
}

static void setup_end(oc_group_t *group)
{
    group->params.bootstrap->end(group->params.context);
    oc_setup_drop(group);
}

/*
 * The exchange itself failed. Declining would be wrong: the other ranks may still be in it, or
 * come to another outcome, while this one would wait for them in the previous module.
 */
static void break_off(oc_group_t *group, const char *what)
{
    setup_end(group);
    oc_group_break(group, OC_ERR_SYSTEM, what);
}

oc_status_t oc_setup_begin(oc_group_t *group)
{
    oc_status_t status = setup_new(group);

    if (OC_OK != status) {
        oc_group_break(group, status, "its set-up cannot begin");
        return status;
    }
    if (OC_SERVICE_MULTICAST == group->params.service) {
        make_cast_record(group);
    } else {
        take_handle(group);
        make_record(group);
    }
    status = group->params.bootstrap->start(group->params.context, 0);
    if (OC_OK != status) {
        break_off(group, "the exchange between the ranks cannot be started");
    }
    return status;
}

static void decline(oc_group_t *group, const char *reason)
{
    char copy[OC_REASON_SIZE];

    snprintf(copy, sizeof(copy), "%s", reason);
    setup_end(group);
    oc_group_decline(group, copy);
}

static void vote(oc_group_t *group)
{
    oc_setup_t *setup = group->setup;

    setup->vote = oc_setup_has_given_up(group) ? (int64_t) group->params.rank : VOTE_YES;
    setup->step = OC_SETUP_VOTE;
    if (OC_OK != group->params.bootstrap->start(group->params.context, 1)) {
        break_off(group, "the vote of the ranks cannot be started");
    }
}

/*
 * All ranks see the same records, so whoever finds a reason here finds the same as the others.
 * The rank that is to blame knows better why.
 */
static bool records_agree(oc_group_t *group, char *reason, size_t size)
{
    oc_record_t first, record;

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
        } else if (0 != memcmp(record.job_id, first.job_id, OC_JOB_ID_SIZE)) {
            snprintf(reason, size, "rank %u belongs to another MPI job than rank 0", rank);
        } else {
            continue;
        }
        group->tells = rank == group->params.rank;
        return false;
    }
    group->id = first.group;
    return true;
}

/* Of multicast: the ranks are the service. */
static void join_ranks(oc_group_t *group)
{
    char reason[OC_REASON_SIZE];
    uint32_t blamed;

    switch (oc_group_cast_join(group, &blamed, reason, sizeof(reason))) {
    case OC_OK:
        group->setup->step = OC_SETUP_PROBE;
        break;
    case OC_DECLINED:
        group->tells = blamed == group->params.rank;
        decline(group, reason);
        break;
    default:
        oc_setup_give_up(group, "%s", reason);
        vote(group);
    }
}

static void wait_for_ranks(oc_group_t *group)
{
    oc_status_t status = oc_cast_group_ready(group->cast);

    if (OC_IN_PROGRESS == status && !oc_setup_has_given_up(group)) {
        return;
    }
    if (oc_setup_has_given_up(group)) {
        /* others may wait to hear this rank for as long as it takes */
        oc_group_cast_fail(group, OC_ERR_CANCELED, group->setup->reason);
    } else if (OC_OK != status) {
        oc_setup_give_up(group, "%s", oc_cast_group_reason(group->cast));
    }
    vote(group);
}

/* All ranks choose the same: no vote is needed. */
static void choose(oc_group_t *group)
{
    if (oc_group_choose(group)) {
        group->setup->step = OC_SETUP_RESOLVE;
    } else {
        decline(group, "Open MPI is expected to be faster");
    }
}

/* Attaching can fail, on one host: all ranks have to know before they join any server. */
static void share(oc_group_t *group)
{
    oc_setup_t *setup = group->setup;

    setup->step = OC_SETUP_SHARE;
    setup->vote = VOTE_YES;
    if (OC_OK != oc_place_attach(group, setup->unshared, sizeof(setup->unshared))) {
        setup->vote = (int64_t) group->params.rank;
    }
    if (OC_OK != group->params.bootstrap->start(group->params.context, 1)) {
        break_off(group, "the vote of the ranks cannot be started");
    }
}

static void share_done(oc_group_t *group)
{
    if (VOTE_YES == group->setup->outcome) {
        oc_place_take(group);
    } else {
        if (group->setup->outcome == (int64_t) group->params.rank) {
            oc_place_tell(group);
        }
        oc_place_flat(group);
    }
    choose(group);
}

static void exchange_done(oc_group_t *group)
{
    char reason[OC_REASON_SIZE + 64];

    if (OC_SERVICE_MULTICAST == group->params.service) {
        join_ranks(group);
        return;
    }
    if (!records_agree(group, reason, sizeof(reason))) {
        decline(group, reason);
        return;
    }
    if (oc_place_find(group)) {
        share(group);
        return;
    }
    oc_place_flat(group);
    choose(group);
}

static void connect_servers(oc_group_t *group)
{
    char error[OC_REASON_SIZE / 2];

    group->setup->step = OC_SETUP_CONNECT;
    /* another group's failure may have taken the worker away since the record was made */
    if (OC_OK != oc_client_worker(group->client, error, sizeof(error))
        || OC_OK != oc_targets_connect(group, error, sizeof(error))) {
        oc_setup_give_up(group, "%s", error);
    }
}

static uint32_t count_aggregators(const oc_group_t *group)
{
    uint32_t count = 0;

    for (unsigned i = 0; i < group->num_links; i++) {
        count += group->links[i].connection->num_aggregators;
    }
    return count;
}

static void send_join(oc_group_t *group, oc_link_t *link, unsigned own, uint32_t first)
{
    const oc_job_settings_t *settings = group->client->config.settings;
    oc_control_t message = {.type = OC_CONTROL_JOIN};

    message.join = (oc_join_t) {
        .group = oc_team_id(group, own), .num_ranks = group->teams.num_ranks,
        .rank = group->teams.rank, .reply_handle = group->reply_handle,
        .first_aggregator = first, .chunk_bytes = (uint32_t) settings->chunk_size,
        .window = group->teams.window, .small_bytes = (uint32_t) settings->small_size,
        .reserves = NULL != group->node || 0 != group->client->tree || oc_lanes_are_paced(group),
        .leaves = group->branch.leaves, .leaf = group->branch.leaf};
    link->teams[own].asked = true;
    oc_connection_send(link->connection, &message);
}

static void send_joins(oc_group_t *group)
{
    uint32_t first = 0, count = count_aggregators(group);

    oc_place_limit(group, count);
    group->setup->readiness = oc_readiness_begin(group, count);
    if (NULL == group->setup->readiness) {
        oc_setup_give_up(group, "out of memory");
        return;
    }
    for (unsigned i = 0; i < group->num_links; i++) {
        oc_link_t *link = &group->links[i];

        link->teams = calloc(group->teams.own, sizeof(*link->teams));
        if (NULL == link->teams) {
            oc_setup_give_up(group, "out of memory");
            return;
        }
        for (unsigned t = 0; t < group->teams.own; t++) {
            send_join(group, link, t, oc_team_number(group, t) * count + first);
        }
        first += link->connection->num_aggregators;
    }
}

static bool has_joined(const oc_group_t *group, const oc_link_t *link)
{
    for (unsigned t = 0; t < group->teams.own; t++) {
        if (NULL == link->teams || !link->teams[t].joined) {
            return false;
        }
    }
    return true;
}

/* How many links are at least in the given state; a dead one means giving up. */
static unsigned links_at(oc_group_t *group, bool joined)
{
    unsigned count = 0;

    for (unsigned i = 0; i < group->num_links; i++) {
        const oc_connection_t *connection = group->links[i].connection;

        if (OC_CONNECTION_DEAD == connection->state) {
            oc_setup_give_up(group, "%s", connection->reason);
        }
        count += joined ? has_joined(group, &group->links[i])
                        : OC_CONNECTION_READY == connection->state;
    }
    return count;
}

static bool all_ready(const oc_group_t *group, unsigned first, const oc_connection_t *connection)
{
    const oc_readiness_t *all = group->setup->readiness;
    unsigned aggregators = count_aggregators(group);

    for (unsigned t = 0; NULL != all && t < group->teams.own; t++) {
        for (unsigned i = first; i < first + connection->num_aggregators; i++) {
            if (!all->lanes[t * aggregators + i].arrived) {
                return false;
            }
        }
    }
    return true;
}

static const char *slow_server(const oc_group_t *group)
{
    unsigned first = 0;

    for (unsigned i = 0; i < group->num_links; i++) {
        const oc_link_t *link = &group->links[i];

        if (OC_CONNECTION_READY != link->connection->state
            || (OC_SETUP_JOIN == group->setup->step
                && (!has_joined(group, link) || !all_ready(group, first, link->connection)))) {
            return link->connection->name;
        }
        first += link->connection->num_aggregators;
    }
    return "?";
}

static int most_aggregators(const oc_group_t *group)
{
    int most = (int) (OC_MAX_LANES / group->teams.count);

    return most < OC_MAX_GROUP_AGGREGATORS ? most : OC_MAX_GROUP_AGGREGATORS;
}

/* All are connected. Peers come last: beside leaves of a tree there are none. */
static void join_servers(oc_group_t *group)
{
    char reason[OC_REASON_SIZE];
    oc_status_t status;

    if (!oc_tree_find(group, reason, sizeof(reason))) {
        oc_setup_give_up(group, "%s", reason);
        return;
    }
    status = oc_targets_add_peers(group, reason, sizeof(reason));
    if (OC_IN_PROGRESS == status) {
        return;
    }
    if (OC_OK != status) {
        oc_setup_give_up(group, "%s", reason);
    } else if (0 != group->branch.leaves && !oc_group_choose(group)) {
        /* a rank whose leaf is not there does not know: all have to vote */
        oc_setup_give_up(group, "Open MPI is expected to be faster than a tree of servers");
    } else if (count_aggregators(group) > (uint32_t) most_aggregators(group)) {
        oc_setup_give_up(group, "the servers have %u aggregators, and a communicator can use %d",
                         count_aggregators(group), most_aggregators(group));
    } else {
        group->setup->step = OC_SETUP_JOIN;
        send_joins(group);
    }
}

static void wait_for_servers(oc_group_t *group)
{
    oc_setup_t *setup = group->setup;
    int timeout = group->client->config.settings->connect_timeout;
    unsigned there = links_at(group, OC_SETUP_JOIN == setup->step);

    setup->quiet += group->client->elapsed;
    if (NULL != setup->readiness && setup->readiness->failed > 0) {
        oc_setup_give_up(group, "server %.200s sent something else than READY",
                         slow_server(group));
    }
    if (!oc_setup_has_given_up(group) && there == group->num_links
        && (NULL == setup->readiness || 0 == setup->readiness->waiting)) {
        if (OC_SETUP_JOIN == setup->step) {
            vote(group);
            return;
        }
        join_servers(group);
    }
    if (setup->quiet > (uint64_t) timeout * OC_SECOND) {
        oc_setup_give_up(group, "server %.200s did not answer within %d seconds",
                         slow_server(group), timeout);
    }
    if (oc_setup_has_given_up(group)) {
        vote(group);
    }
}

static void wait_for_addresses(oc_group_t *group)
{
    int timeout = group->client->config.settings->connect_timeout;

    switch (oc_targets_resolve(group)) {
    case OC_OK:
        connect_servers(group);
        return;
    case OC_IN_PROGRESS:
        group->setup->quiet += group->client->elapsed;
        if (group->setup->quiet > (uint64_t) timeout * OC_SECOND) {
            oc_setup_give_up(group, "the names in coll_optcast_servers were not resolved within %d "
                             "seconds", timeout);
        }
        break;
    default:
        oc_setup_give_up(group, "no thread can be started to resolve the names of the servers");
    }
    if (oc_setup_has_given_up(group)) {
        vote(group);
    }
}

static void vote_done(oc_group_t *group)
{
    oc_setup_t *setup = group->setup;
    int64_t outcome = setup->outcome;
    oc_status_t broken = setup->broken;
    char reason[OC_REASON_SIZE];

    if (VOTE_YES != outcome) {
        snprintf(reason, sizeof(reason), "rank %lld has no service", (long long) outcome);
        /* nothing is wrong if all have chosen so */
        group->tells = outcome == (int64_t) group->params.rank
                       && !(group->chosen && 0 == group->choice.sizes.count);
        decline(group, outcome == (int64_t) group->params.rank ? setup->reason : reason);
        return;
    }
    snprintf(reason, sizeof(reason), "%s", setup->reason);
    setup_end(group);
    oc_group_go_live(group);
    if (OC_OK != broken) {
        oc_group_fail(group, broken, reason);
    }
}

void oc_setup_progress(oc_group_t *group)
{
    oc_setup_t *setup = group->setup;

    if (OC_SETUP_RESOLVE == setup->step) {
        wait_for_addresses(group);
        return;
    }
    if (OC_SETUP_CONNECT == setup->step || OC_SETUP_JOIN == setup->step) {
        wait_for_servers(group);
        return;
    }
    if (OC_SETUP_PROBE == setup->step) {
        wait_for_ranks(group);
        return;
    }
    switch (group->params.bootstrap->test(group->params.context)) {
    case OC_IN_PROGRESS:
        return;
    case OC_OK:
        break;
    default:
        break_off(group, "the exchange between the ranks failed");
        return;
    }
    if (OC_SETUP_EXCHANGE == setup->step) {
        exchange_done(group);
    } else if (OC_SETUP_SHARE == setup->step) {
        share_done(group);
    } else {
        vote_done(group);
    }
}

/* Which of this rank's teams has this number; teams.own: none. */
static unsigned find_team(const oc_group_t *group, uint64_t id)
{
    unsigned t = 0;

    while (t < group->teams.own && oc_team_id(group, t) != id) {
        t++;
    }
    return t;
}

static bool is_team(const oc_group_t *group, uint64_t id)
{
    return find_team(group, id) < group->teams.own;
}

void oc_setup_joined(oc_client_t *client, oc_connection_t *connection, const oc_joined_t *joined)
{
    oc_group_t *group;

    DL_FOREACH2 (client->setups, group, setup_next) {
        unsigned t = find_team(group, joined->group);

        if (OC_SETUP_JOIN != group->setup->step || t == group->teams.own) {
            continue;
        }
        for (unsigned i = 0; i < group->num_links; i++) {
            oc_link_t *link = &group->links[i];

            if (link->connection == connection && NULL != link->teams) {
                link->teams[t].handle = joined->handle;
                link->teams[t].joined = true;
            }
        }
    }
}

/* A group that was declined or destroyed may have left before the server's words came. */
static bool counts_on_service(const oc_group_t *group)
{
    return OC_GROUP_LIVE == group->state
           || (NULL != group->setup && OC_SETUP_VOTE == group->setup->step
               && VOTE_YES == group->setup->vote);
}

void oc_setup_refused(oc_connection_t *connection, const oc_notice_t *notice, const char *text)
{
    oc_client_t *client = connection->client;
    oc_group_t *group;

    DL_FOREACH2 (client->setups, group, setup_next) {
        if (is_team(group, notice->group) && OC_SETUP_JOIN == group->setup->step) {
            oc_setup_give_up(group, "server %.200s refused: %s", connection->name, text);
        }
    }
    DL_FOREACH (client->groups, group) {
        if (is_team(group, notice->group) && counts_on_service(group)) {
            oc_client_collapse(client, (oc_status_t) notice->status,
                               "server %.200s ended a group: %s", connection->name, text);
        }
    }
}
