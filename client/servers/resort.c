/* SPDX-License-Identifier: BSD-3-Clause */
/* From records to the ranks that aggregate when no server is left. */
#include "client/servers/resort.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <uthash.h>

#include "base/clock.h"
#include "base/log.h"
#include "client/plan/division.h"
#include "client/servers/connection.h"
#include "client/servers/membership.h"
#include "client/servers/network.h"
#include "client/servers/own_server.h"
#include "client/servers/targets.h"
#include "client/state/peer_address.h"
#include "client/state/record.h"

/* From one look at the port to the next. */
#define LOOK_INTERVAL (50 * OC_MILLISECOND)

/* Communicators have the same processes in them: each is known once. */
struct oc_known {
    oc_peer_address_t contact;
    UT_hash_handle hh;
};

/* One of a group's reserve. */
struct oc_resort {
    uint32_t rank;
    uint32_t process;
};

bool oc_resort_offers(const oc_group_t *group)
{
    const oc_client_t *client = group->client;

    return client->config.settings->recovery && client->servers.count > 0 && 0 == client->tree
           && group->params.lowest_on_host && !oc_targets_may_want_peers(group);
}

/* ---- who they are ---- */

/* It may have another port than before. false: out of memory. */
static bool know(oc_client_t *client, const oc_peer_address_t *contact)
{
    oc_known_t *known;

    HASH_FIND(hh, client->known, &contact->process, sizeof(contact->process), known);
    if (NULL == known) {
        known = calloc(1, sizeof(*known));
        if (NULL == known) {
            return false;
        }
        known->contact.process = contact->process;
        HASH_ADD(hh, client->known, contact.process, sizeof(known->contact.process), known);
    }
    known->contact = *contact;
    return true;
}

static unsigned count_offers(const oc_group_t *group)
{
    unsigned count = 0;
    oc_record_t record;

    for (uint32_t rank = 0; rank < group->params.num_ranks; rank++) {
        (void) oc_record_of(group, rank, &record);
        count += 0 != record.port;
    }
    return count;
}

static unsigned most_of_reserve(const oc_group_t *group)
{
    uint32_t most = oc_membership_most(group);

    return most < OC_MAX_PEERS ? most : OC_MAX_PEERS;
}

/* All that offer, or as many of them as a communicator can use, evenly spread. */
static bool fill_reserve(oc_group_t *group, unsigned offers)
{
    oc_group_servers_t *servers = group->servers;
    oc_peer_address_t contact;
    oc_record_t record;
    unsigned offer = 0;

    for (uint32_t rank = 0, i = 0; rank < group->params.num_ranks && i < servers->num_resort; rank++) {
        (void) oc_record_of(group, rank, &record);
        if (0 == record.port || offer++ != (unsigned) ((uint64_t) i * offers / servers->num_resort)) {
            continue;
        }
        oc_peer_address_of(&record, &contact);
        servers->resort[i++] = (oc_resort_t) {.rank = rank, .process = contact.process};
        if (!know(group->client, &contact)) {
            return false;
        }
    }
    return true;
}

bool oc_resort_note(oc_group_t *group)
{
    oc_group_servers_t *servers = group->servers;
    unsigned offers = count_offers(group), most = most_of_reserve(group);

    oc_resort_forget(group);
    if (!group->client->config.settings->recovery || 0 == group->client->servers.count || servers->num_peers > 0
        || 0 != servers->branch.parent || 0 == offers) {
        return true;
    }
    servers->num_resort = offers < most ? offers : most;
    servers->resort = calloc(servers->num_resort, sizeof(*servers->resort));
    return NULL != servers->resort && fill_reserve(group, offers);
}

bool oc_resort_is_there(const oc_group_t *group)
{
    return group->servers->num_resort > 0;
}

void oc_resort_forget(oc_group_t *group)
{
    free(group->servers->resort);
    group->servers->resort = NULL;
    group->servers->num_resort = 0;
}

void oc_resort_free(oc_client_t *client)
{
    oc_known_t *known, *next;

    HASH_ITER (hh, client->known, known, next) {
        HASH_DEL(client->known, known);
        free(known);
    }
}

/* ---- when they are needed ---- */

static oc_known_t *find_known(const oc_client_t *client, uint32_t process)
{
    oc_known_t *known;

    HASH_FIND(hh, client->known, &process, sizeof(process), known);
    return known;
}

static oc_status_t start_own(oc_client_t *client, char *error, size_t error_size)
{
    oc_status_t status = oc_own_server_start(client, error, error_size);

    if (OC_OK == status) {
        atomic_store(&client->embeds, true);
    }
    return status;
}

static oc_status_t link_one(oc_group_t *group, const oc_resort_t *one, char *error, size_t error_size)
{
    oc_client_t *client = group->client;
    oc_link_t *link = &group->servers->links[group->servers->num_links];
    oc_connection_t *connection;

    if (one->rank == group->params.rank) {
        oc_status_t status = start_own(client, error, error_size);

        if (OC_OK != status) {
            return status;
        }
    }
    connection = oc_targets_connect_peer(client, &find_known(client, one->process)->contact, error, error_size);
    if (NULL == connection) {
        return OC_ERR_NO_MEMORY;
    }
    *link = (oc_link_t) {.connection = connection, .peer = one->rank};
    connection->users++;
    group->servers->num_links++;
    group->servers->num_peers++;
    return OC_OK;
}

static oc_status_t link_all(oc_group_t *group, char *error, size_t error_size)
{
    oc_group_servers_t *servers = group->servers;
    oc_link_t *links = realloc(servers->links, servers->num_resort * sizeof(*links));
    oc_status_t status = OC_OK;

    if (NULL == links) {
        snprintf(error, error_size, "out of memory");
        return OC_ERR_NO_MEMORY;
    }
    servers->links = links;
    servers->resorted = true;
    for (unsigned i = 0; OC_OK == status && i < servers->num_resort; i++) {
        status = link_one(group, &servers->resort[i], error, error_size);
    }
    return status;
}

/* They are the last ones. Others of the job may still be there, so each leaves as for a new epoch. */
static void unlink_all(oc_group_t *group)
{
    oc_group_servers_t *servers = group->servers;

    for (; servers->num_peers > 0; servers->num_peers--) {
        oc_link_t *link = &servers->links[--servers->num_links];

        free(link->teams);
        if (0 == --link->connection->users) {
            oc_connection_pause(link->connection);
            oc_connection_close(link->connection, NULL);
        }
    }
    servers->resorted = false;
}

void oc_resort_call(oc_group_t *group)
{
    char error[OC_REASON_SIZE];

    for (unsigned i = 0; i < group->servers->num_resort; i++) {
        const oc_known_t *known = find_known(group->client, group->servers->resort[i].process);

        (void) oc_targets_connect_peer(group->client, &known->contact, error, sizeof(error));
    }
}

void oc_resort_look(oc_client_t *client)
{
    const oc_known_t *own = find_known(client, client->config.process);
    char error[OC_REASON_SIZE];

    if (NULL == own || client->now - client->called < LOOK_INTERVAL) {
        return;
    }
    client->called = client->now;
    if (!oc_own_server_is_called(client)) {
        return;
    }
    if (OC_OK != oc_client_worker(client, error, sizeof(error)) || OC_OK != start_own(client, error, sizeof(error))
        || NULL == oc_targets_connect_peer(client, &own->contact, error, sizeof(error))) {
        oc_warn("process %u cannot aggregate for others, which have no server left: %s", client->config.process, error);
    }
}

oc_status_t oc_resort_settle(oc_group_t *group, char *error, size_t error_size)
{
    oc_group_servers_t *servers = group->servers;

    if (0 == servers->num_links && servers->num_resort > 0) {
        return link_all(group, error, error_size);
    }
    if (servers->resorted && servers->num_links > servers->num_peers) {
        unlink_all(group);
    }
    return OC_OK;
}
