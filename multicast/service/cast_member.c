/* SPDX-License-Identifier: BSD-3-Clause */
/* Members: a group of the protocol, with the peers and the slot that it reaches the others by. */
#include "multicast/service/cast_member.h"

#include <arpa/inet.h>
#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <utlist.h>

#include "base/clock.h"
#include "base/log.h"
#include "multicast/service/activity.h"
#include "multicast/service/cast_hosts.h"
#include "multicast/service/cast_set.h"
#include "multicast/service/flood_service.h"
#include "multicast/wire/cast_message.h"
#include "multicast/wire/contact.h"

static unsigned net_cast(void *context, const oc_outgoing_t *datagrams, unsigned count)
{
    const oc_cast_member_t *member = context;
    const oc_cast_slot_t *slot = member->slot;

    assert(NULL != slot); /* a group without one has failed */
    if (OC_CARRIER_UDP == member->carrier) {
        /* what ranks of one host say to each other is not for the network */
        oc_udp_source_confine(&member->multicast->transports.source, 1 == member->num_hosts);
    }
    return slot->receiving ? 0 : slot->transport->ops->send(slot->transport, datagrams, count);
}

/* TCP gives the queue another piece while less than two of a connection are there (TCP Small Queues). */
static size_t net_queued(void *context)
{
    const oc_cast_slot_t *slot = ((const oc_cast_member_t *) context)->slot;

    return NULL != slot ? 2 * slot->transport->piece : 0;
}

static unsigned net_connections(void *context)
{
    return ((const oc_cast_member_t *) context)->multicast->connections;
}

static void net_post(void *context, uint32_t rank, const void *head, size_t head_length,
                     const void *data, size_t data_length)
{
    oc_cast_member_t *member = context;

    if (NULL != member->peers[rank]) {
        oc_cast_peer_post(member->peers[rank], NULL, head, head_length, data, data_length);
    }
}

static void net_tell(void *context, uint32_t rank, const void *head, size_t head_length,
                     const void *data, size_t data_length)
{
    oc_cast_member_t *member = context;

    if (NULL != member->peers[rank]) {
        oc_cast_peer_post(member->peers[rank], member->outbox, head, head_length, data,
                          data_length);
    }
}

static size_t net_room(void *context, uint32_t rank)
{
    const oc_cast_member_t *member = context;

    return NULL != member->peers[rank] ? oc_cast_peer_room(member->peers[rank]) : 0;
}

static unsigned net_unsent(void *context)
{
    return oc_outbox_unsent(((const oc_cast_member_t *) context)->outbox);
}

static bool net_knows(void *context, uint32_t rank)
{
    const oc_cast_member_t *member = context;

    return NULL != member->peers[rank] && oc_cast_peer_is_reachable(member->peers[rank]);
}

static size_t net_contact(void *context, uint8_t *bytes)
{
    const oc_multicast_t *multicast = ((const oc_cast_member_t *) context)->multicast;

    return oc_contact_encode(&multicast->contact, bytes);
}

static void net_heard(void *context, uint32_t rank)
{
    oc_cast_member_t *member = context;

    if (NULL != member->peers[rank]) {
        oc_cast_peer_heard(member->peers[rank]);
    }
}

/* Its host may connect from now on, and before it is told that it may. */
static void net_learn(void *context, uint32_t rank, const uint8_t *bytes, size_t length, bool shy)
{
    oc_cast_member_t *member = context;
    oc_contact_t contact;

    if (NULL == member->peers[rank]) {
        return;
    }
    if (!oc_cast_peer_is_known(member->peers[rank])) {
        if (!oc_contact_decode(bytes, length, &contact)) {
            oc_debug("a contact of rank %u makes no sense", rank);
            return;
        }
        oc_admission_admit(oc_peers_admission(member->multicast->peers), contact.hosts,
                           contact.num_hosts);
        oc_cast_peer_learn(member->peers[rank], contact.address, contact.length, shy);
    }
    if (!shy) {
        oc_cast_peer_heard(member->peers[rank]);
    }
}

void oc_cast_member_free(oc_cast_member_t *member)
{
    if (NULL == member) {
        return;
    }
    oc_flood_drop(member);
    oc_cast_group_free(member->core);
    for (uint32_t rank = 0; NULL != member->peers && rank < member->num_ranks; rank++) {
        if (NULL != member->peers[rank]) {
            oc_cast_peer_release(member->peers[rank]);
        }
    }
    while (member->num_admitted > 0) {
        oc_senders_dismiss(&member->multicast->senders, &member->origins[--member->num_admitted]);
    }
    oc_outbox_drop(member->outbox);
    oc_multicast_release(member->multicast, member->slot);
    free(member->peers);
    free(member->origins);
    free(member);
}

static oc_cast_member_t *member_new(oc_multicast_t *multicast, const oc_multicast_params_t *params,
                                    const oc_multicast_terms_t *terms, bool second)
{
    oc_cast_member_t *member = calloc(1, sizeof(*member));

    if (NULL == member) {
        return NULL;
    }
    member->multicast = multicast;
    member->token = terms->token;
    member->carrier = terms->carrier;
    member->num_ranks = params->num_ranks;
    member->rank = params->rank;
    member->second = second;
    member->peers = calloc(params->num_ranks, sizeof(oc_cast_peer_t *));
    member->origins = calloc(params->num_ranks, sizeof(oc_origin_t));
    member->outbox = oc_outbox_new();
    if (NULL == member->peers || NULL == member->origins || NULL == member->outbox) {
        oc_cast_member_free(member);
        return NULL;
    }
    return member;
}

/* What ranks of this host get can go through memory that they share. */
static void cast_member_share(oc_cast_member_t *member, const uint32_t *hosts)
{
    for (uint32_t rank = 0; rank < member->num_ranks; rank++) {
        if (rank != member->rank && hosts[rank] == hosts[member->rank]) {
            oc_cast_peer_share(member->peers[rank], member->multicast->config.process);
        }
    }
}

/* What it sends from now on is taken. false: no memory. */
static bool cast_member_admit(oc_cast_member_t *member, uint32_t rank, const oc_origin_t *origin)
{
    if (!oc_senders_admit(&member->multicast->senders, origin)) {
        return false;
    }
    member->origins[rank] = *origin;
    member->num_admitted++;
    return true;
}

static void learn_neighbours(oc_cast_member_t *member, const uint8_t *contacts)
{
    uint32_t neighbours[OC_CAST_NEIGHBOURS];
    unsigned count = oc_cast_neighbours(member->num_ranks, member->rank, neighbours);

    for (unsigned i = 0; i < count; i++) {
        net_learn(member, neighbours[i], contacts + i * OC_CONTACT_MAX, OC_CONTACT_MAX, false);
    }
}

/* Peers and hosts, from records that were found to be good. */
static oc_status_t meet(oc_cast_member_t *member, const uint8_t *records, const uint8_t *contacts,
                        const uint32_t *hosts)
{
    oc_cast_record_t record;
    bool good = true;

    for (uint32_t rank = 0; good && rank < member->num_ranks; rank++) {
        oc_cast_record_decode(records + (size_t) rank * OC_MULTICAST_RECORD_SIZE, &record);
        good = cast_member_admit(member, rank, &record.carriers[member->carrier].origin);
        if (good && rank != member->rank) {
            member->peers[rank] = oc_cast_peer_get(member->multicast->peers, record.process,
                                                   record.contact);
            good = NULL != member->peers[rank];
        }
    }
    if (good) {
        cast_member_share(member, hosts);
        learn_neighbours(member, contacts);
    }
    return good ? OC_OK : OC_ERR_NO_MEMORY;
}

/* own: the member has it from now on. */
static oc_status_t open_slot(oc_cast_member_t *member, oc_cast_slot_t *own, uint32_t datagram_size,
                             char *error, size_t error_size)
{
    oc_cast_transports_t *transports = &member->multicast->transports;
    oc_status_t status = OC_OK;

    if (NULL == own) {
        member->crowded = true;
        status = oc_cast_transports_get(transports, member->carrier,
                                        oc_multicast_common(&transports->range), &own, error,
                                        error_size);
    }
    if (OC_OK != status) {
        return status;
    }
    if (own->transport->datagram_size < datagram_size) {
        snprintf(error, error_size, "%s carries datagrams of %zu bytes, %u were expected",
                 own->transport->ops->name, own->transport->datagram_size, datagram_size);
        oc_multicast_release(member->multicast, own);
        return OC_ERR_INVALID;
    }
    member->slot = own;
    return OC_OK;
}

static oc_status_t make_core(oc_cast_member_t *member, const oc_multicast_params_t *params,
                             const oc_multicast_terms_t *terms, const uint32_t *hosts, uint64_t now)
{
    const oc_multicast_config_t *service = &member->multicast->config;
    const oc_job_settings_t *settings = service->settings;
    oc_cast_config_t config = {
        .num_ranks = params->num_ranks, .rank = params->rank, .token = member->token,
        .job_key = member->multicast->job_key, .hosts = hosts,
        .datagram_size = terms->datagram_size, .staging = terms->staging,
        .chains = (uint32_t) settings->multicast_senders, .window = settings->multicast_window,
        .second = member->second,
        .probe_timeout =
            params->patient ? 0 : (uint64_t) settings->connect_timeout * OC_SECOND,
        .net = {.context = member, .cast = net_cast, .queued = net_queued,
                .connections = net_connections, .post = net_post, .tell = net_tell,
                .room = net_room, .unsent = net_unsent, .knows = net_knows,
                .contact = net_contact, .learn = net_learn, .heard = net_heard},
        .counters = service->counters};

    return oc_cast_group_new(&config, now, &member->core);
}

static oc_status_t equip(oc_cast_member_t *member, const oc_multicast_params_t *params,
                         const oc_multicast_terms_t *terms, uint64_t now)
{
    uint32_t *hosts = calloc(params->num_ranks, sizeof(*hosts));
    oc_status_t status = OC_ERR_NO_MEMORY;

    if (NULL != hosts
        && oc_hosts_number(params->records, params->num_ranks, hosts, &member->num_hosts)) {
        status = meet(member, params->records, params->contacts, hosts);
    }
    if (OC_OK == status) {
        status = make_core(member, params, terms, hosts, now);
    }
    free(hosts);
    return status;
}

static void cast_member_cannot(oc_cast_member_t *member, oc_status_t status, const char *why)
{
    char reason[OC_CAST_MAX_TEXT];

    snprintf(reason, sizeof(reason), "rank %u cannot multicast: %s", member->rank, why);
    oc_cast_group_fail(member->core, status, reason);
    oc_cast_member_look(member);
    oc_cast_member_wake(member);
}

void oc_cast_member_refused(oc_cast_member_t *member, const char *why)
{
    if (oc_cast_group_ready(member->core) >= OC_OK) {
        cast_member_cannot(member, OC_ERR_REFUSED, why);
    }
}

/* Joins its address, and begins the flood test if there is one. */
static oc_status_t begin_to_multicast(oc_cast_member_t *member, const oc_multicast_terms_t *terms,
                                      oc_cast_slot_t *own, char *error, size_t error_size)
{
    oc_status_t status = open_slot(member, own, terms->datagram_size, error, error_size);

    if (OC_OK == status && terms->tested
        && !oc_flood_begin(member, (oc_flood_role_t) terms->role)) {
        snprintf(error, error_size, "out of memory");
        status = OC_ERR_NO_MEMORY;
    }
    return status;
}

bool oc_multicast_reserve(oc_multicast_t *multicast, const oc_multicast_params_t *params,
                          const oc_multicast_terms_t *terms, oc_cast_slot_t **own)
{
    oc_cast_transports_t *transports = &multicast->transports;
    oc_carrier_t carrier = (oc_carrier_t) terms->carrier;
    struct in_addr address;
    char error[256];

    *own = NULL;
    if (!oc_cast_set_address(&transports->range, multicast->job_id, carrier, params->records,
                             params->num_ranks, &address)) {
        return false;
    }
    if (OC_OK != oc_cast_transports_get(transports, carrier, address, own, error,
                                        sizeof(error))) {
        oc_debug("a communicator gets no multicast address of its own: %s", error);
        return false;
    }
    return true;
}

void oc_multicast_release(oc_multicast_t *multicast, oc_cast_slot_t *own)
{
    if (NULL != own) {
        oc_cast_transports_put(&multicast->transports, own);
    }
}

static bool token_is_taken(const oc_multicast_t *multicast, uint64_t token)
{
    const oc_cast_member_t *other;

    HASH_FIND(by_token, multicast->tokens, &token, sizeof(token), other);
    return NULL != other;
}

oc_status_t oc_cast_member_join(oc_multicast_t *multicast, const oc_multicast_params_t *params,
                                const oc_multicast_terms_t *terms, oc_cast_slot_t *own, bool second,
                                uint64_t now, oc_cast_member_t **result, char *error, size_t error_size)
{
    oc_cast_member_t *member;
    oc_status_t status;

    if (token_is_taken(multicast, terms->token)) {
        oc_multicast_release(multicast, own);
        snprintf(error, error_size, "rank 0 uses the token of another communicator");
        return OC_ERR_INVALID;
    }
    member = member_new(multicast, params, terms, second);
    if (NULL == member || OC_OK != equip(member, params, terms, now)) {
        oc_cast_member_free(member);
        oc_multicast_release(multicast, own);
        snprintf(error, error_size, "out of memory");
        return OC_ERR_NO_MEMORY;
    }
    DL_APPEND(multicast->members, member);
    HASH_ADD(by_token, multicast->tokens, token, sizeof(member->token), member);
    HASH_ADD(by_core, multicast->cores, core, sizeof(member->core), member);
    status = begin_to_multicast(member, terms, own, error, error_size);
    if (OC_OK != status) {
        cast_member_cannot(member, status, error);
    } else {
        oc_cast_member_look(member);
        oc_cast_member_wake(member);
    }
    *result = member;
    return OC_OK;
}

void oc_cast_member_leave(oc_cast_member_t *member)
{
    oc_multicast_t *multicast = member->multicast;

    oc_cast_member_retire(member);
    HASH_DELETE(by_token, multicast->tokens, member);
    HASH_DELETE(by_core, multicast->cores, member);
    DL_DELETE(multicast->members, member);
    oc_cast_member_free(member);
}

void oc_cast_member_message(oc_cast_member_t *member, const uint8_t *bytes, size_t length)
{
    oc_cast_message(member->core, bytes, length, member->multicast->now);
    oc_cast_member_wake(member);
}

void oc_cast_member_datagram(oc_cast_member_t *member, const oc_datagram_t *header,
                             const uint8_t *bytes)
{
    oc_cast_datagram(member->core, header, bytes, member->multicast->now);
}

void oc_cast_member_lost(oc_cast_member_t *member, const oc_cast_peer_t *peer)
{
    char reason[160];

    for (uint32_t rank = 0; rank < member->num_ranks; rank++) {
        if (member->peers[rank] == peer) {
            snprintf(reason, sizeof(reason), "rank %u (process %u of the job) cannot be reached: "
                     "%s", rank, oc_cast_peer_process(peer), oc_cast_peer_reason(peer));
            oc_cast_group_fail(member->core, OC_ERR_UNREACHABLE, reason);
            oc_cast_member_wake(member);
        }
    }
}

void oc_multicast_describe(const oc_multicast_t *multicast, const oc_cast_group_t *group,
                           char *buffer, size_t size)
{
    const oc_cast_transports_t *transports = &multicast->transports;
    const oc_cast_member_t *member = oc_cast_member_of(multicast, group);
    struct in_addr address;
    char text[INET_ADDRSTRLEN] = "";

    if (NULL == member) {
        buffer[0] = '\0';
        return;
    }
    address = member->slot->address;
    (void) inet_ntop(AF_INET, &address, text, sizeof(text));
    snprintf(buffer, size, "%s multicast %s%s on %s, %u host%s", oc_carrier_name(member->carrier),
             text, member->crowded ? " (common to the job)" : "",
             transports->carriers[member->carrier].text, member->num_hosts,
             1 == member->num_hosts ? "" : "s");
}
