/* SPDX-License-Identifier: BSD-3-Clause */
/* Life and progress of a process's part in multicast. */
#include "multicast/service/multicast.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <utlist.h>

#include "base/text.h"
#include "multicast/service/activity.h"
#include "multicast/service/cast_member.h"
#include "multicast/service/companion.h"
#include "multicast/service/flood_service.h"
#include "net/address.h"
#include "net/host.h"

/* Datagrams that one transport hands out in a row. */
#define RECEIVE_BATCH 256

/* How often a transport without a descriptor is looked at: ns. */
#define BLIND_INTERVAL 100000u

oc_status_t oc_multicast_create(const oc_multicast_config_t *config, oc_multicast_t **result)
{
    oc_multicast_t *multicast = calloc(1, sizeof(*multicast));

    if (NULL == multicast) {
        return OC_ERR_NO_MEMORY;
    }
    multicast->config = *config;
    memcpy(multicast->job_id, config->job_id, OC_JOB_ID_SIZE);
    multicast->config.job_id = multicast->job_id;
    memcpy(multicast->job_key, config->job_key, OC_JOB_KEY_SIZE);
    multicast->config.job_key = multicast->job_key;
    if (NULL != config->net_devices) {
        multicast->net_devices = strdup(config->net_devices);
        if (NULL == multicast->net_devices) {
            free(multicast);
            return OC_ERR_NO_MEMORY;
        }
    }
    multicast->config.net_devices = multicast->net_devices;
    oc_cast_transports_init(&multicast->transports, config->settings, config->counters,
                            multicast->job_id, config->process);
    *result = multicast;
    return OC_OK;
}

void oc_multicast_destroy(oc_multicast_t *multicast)
{
    if (NULL == multicast) {
        return;
    }
    while (NULL != multicast->members) {
        oc_multicast_leave(multicast, multicast->members->core);
    }
    oc_multicast_show_end(multicast);
    oc_peers_close(multicast->peers);
    oc_cast_transports_close(&multicast->transports);
    oc_senders_clear(&multicast->senders);
    explicit_bzero(multicast->job_key, sizeof(multicast->job_key));
    free(multicast->net_devices);
    free(multicast);
}

static void multicast_advance(oc_cast_member_t *member)
{
    if (member->due > member->multicast->now && !oc_cast_wants_to_send(member->core)) {
        return;
    }
    member->due = oc_cast_progress(member->core, member->multicast->now);
    oc_companion_settle(member);
    oc_cast_member_look(member);
    if (!member->busy && UINT64_MAX == member->due) {
        oc_cast_member_rest(member);
    }
}

oc_status_t oc_multicast_join(oc_multicast_t *multicast, const oc_multicast_params_t *params,
                              const oc_multicast_terms_t *terms, oc_cast_slot_t *own, uint64_t now,
                              oc_cast_group_t **group, char *error, size_t error_size)
{
    oc_cast_member_t *member;
    oc_status_t status = oc_cast_member_join(multicast, params, terms, own, false, now, &member,
                                             error, error_size);

    if (OC_OK == status) {
        status = oc_companion_join(member, params, terms, now, error, error_size);
        if (OC_OK != status) {
            oc_cast_member_leave(member);
        }
    }
    if (OC_OK == status) {
        *group = member->core;
    }
    return status;
}

void oc_multicast_leave(oc_multicast_t *multicast, oc_cast_group_t *group)
{
    oc_cast_member_t *member = oc_cast_member_of(multicast, group);

    if (NULL == member) {
        return;
    }
    oc_companion_leave(member);
    oc_cast_member_leave(member);
}

static void multicast_on_message(void *arg, const uint8_t *bytes, size_t length)
{
    oc_multicast_t *multicast = arg;
    oc_cast_member_t *member = NULL;
    uint64_t token;

    if (oc_cast_message_token(bytes, length, &token)) {
        HASH_FIND(by_token, multicast->tokens, &token, sizeof(token), member);
    }
    /* a group that was left, or is joined in a moment: whoever is in it asks again */
    if (NULL != member) {
        oc_cast_member_message(member, bytes, length);
    }
}

static void on_lost(void *arg, oc_cast_peer_t *peer)
{
    oc_multicast_t *multicast = arg;
    oc_cast_member_t *member;

    DL_FOREACH (multicast->members, member) {
        oc_cast_member_lost(member, peer);
    }
}

static void on_shared(void *arg, size_t length)
{
    oc_multicast_t *multicast = arg;

    multicast->config.counters->bytes_shared += length;
}

static void on_forged_note(void *arg)
{
    oc_multicast_t *multicast = arg;

    multicast->config.counters->messages_forged++;
}

static oc_status_t open_peers(oc_multicast_t *multicast, char *error, size_t error_size)
{
    oc_peers_events_t events = {
        .arrived = multicast_on_message, .lost = on_lost, .shared = on_shared,
        .forged = on_forged_note, .arg = multicast};

    return NULL != multicast->peers
               ? OC_OK
               : oc_peers_open(&events, multicast->net_devices, OC_CAST_MESSAGE_MAX,
                               multicast->job_key, &multicast->peers, error, error_size);
}

static uint64_t digest(const oc_job_settings_t *settings, uint64_t others)
{
    uint64_t hash = oc_hash(OC_HASH_START, &others, sizeof(others));

    hash = oc_settings_hash(hash, &oc_job_settings_table, settings, OC_SCOPE_FIRST);
    return oc_settings_hash(hash, &oc_job_settings_table, settings, OC_SCOPE_MULTICAST);
}

static oc_status_t make_token(uint64_t *token, char *error, size_t error_size)
{
    do {
        if (sizeof(*token) != getrandom(token, sizeof(*token), 0)) {
            snprintf(error, error_size, "the system has no random numbers");
            return OC_ERR_SYSTEM;
        }
    } while (0 == *token);
    return OC_OK;
}

/*
 * The others admit these addresses and no more. One that was left out would show in the first
 * operation only, and as a connection that broke.
 */
static oc_status_t put_hosts(const oc_multicast_t *multicast, oc_contact_t *contact, char *error,
                             size_t error_size)
{
    struct in6_addr found[OC_CONTACT_HOSTS + 1];
    const char *set = getenv("OPTCAST_UCX_NET_DEVICES");
    const char *interfaces = NULL != set ? set : multicast->net_devices;
    unsigned count;

    if (NULL == interfaces || 0 == strcmp(interfaces, "all")) {
        count = oc_origin_addresses(NULL, found, OC_CONTACT_HOSTS + 1);
    } else {
        count = oc_named_addresses(interfaces, found, OC_CONTACT_HOSTS + 1);
        if (0 == count) {
            /* devices that connect otherwise than by TCP */
            count = oc_origin_addresses(NULL, found, OC_CONTACT_HOSTS);
        }
    }
    if (count > OC_CONTACT_HOSTS) {
        snprintf(error, error_size, "its host has more than %u addresses that UCX may use: let "
                 "OPTCAST_UCX_NET_DEVICES name the interfaces that are needed", OC_CONTACT_HOSTS);
        return OC_ERR_LIMIT;
    }
    contact->num_hosts = (uint8_t) count;
    memcpy(contact->hosts, found, count * sizeof(found[0]));
    return OC_OK;
}

static oc_status_t put_address(const oc_multicast_t *multicast, oc_contact_t *contact, char *error,
                               size_t error_size)
{
    size_t length;
    const void *address = oc_peers_address(multicast->peers, &length);

    if (length > sizeof(contact->address)) {
        snprintf(error, error_size, "its UCX address has %zu bytes, and %zu can be told to the "
                 "others: let OPTCAST_UCX_NET_DEVICES name the devices that are needed", length,
                 sizeof(contact->address));
        return OC_ERR_LIMIT;
    }
    memcpy(contact->address, address, length);
    contact->length = (uint16_t) length;
    return OC_OK;
}

static oc_status_t make_record(oc_multicast_t *multicast, oc_cast_record_t *record, char *error,
                               size_t error_size)
{
    oc_contact_t *contact = &multicast->contact;
    oc_status_t status;

    if (OC_MULTICAST_OFF == multicast->config.settings->multicast) {
        snprintf(error, error_size, "coll_optcast_multicast is off");
        return OC_ERR_INVALID;
    }
    status = oc_cast_transports_survey(&multicast->transports, error, error_size);
    if (OC_OK == status) {
        status = open_peers(multicast, error, error_size);
    }
    if (OC_OK == status) {
        status = put_hosts(multicast, contact, error, error_size);
    }
    if (OC_OK == status) {
        status = put_address(multicast, contact, error, error_size);
    }
    if (OC_OK == status) {
        status = make_token(&record->token, error, error_size);
    }
    return status;
}

oc_status_t oc_multicast_record(oc_multicast_t *multicast, uint64_t settings,
                                const oc_offer_t *offer, uint8_t bytes[OC_MULTICAST_RECORD_SIZE],
                                uint8_t contact[OC_CONTACT_MAX], char *error, size_t error_size)
{
    oc_cast_record_t record = {.ready = true, .process = multicast->config.process,
                               .host = oc_host_identity(), .offer = *offer,
                               .settings = digest(multicast->config.settings, settings)};
    oc_status_t status = make_record(multicast, &record, error, error_size);

    if (OC_OK != status) {
        oc_multicast_refuse(bytes);
        return status;
    }
    record.job = oc_hash(OC_HASH_START, multicast->job_id, OC_JOB_ID_SIZE);
    record.contact = oc_contact_digest(multicast->contact.address, multicast->contact.length);
    for (unsigned i = 0; i < OC_CARRIERS; i++) {
        record.carriers[i] = multicast->transports.carriers[i].record;
    }
    oc_cast_record_encode(&record, bytes);
    (void) oc_contact_encode(&multicast->contact, contact);
    return OC_OK;
}

void oc_multicast_offer(const uint8_t bytes[OC_MULTICAST_RECORD_SIZE], oc_offer_t *offer)
{
    oc_cast_record_t record;

    *offer = (oc_offer_t) {0};
    if (oc_cast_record_decode(bytes, &record)) {
        *offer = record.offer;
    }
}

void oc_multicast_refuse(uint8_t bytes[OC_MULTICAST_RECORD_SIZE])
{
    oc_cast_record_encode(&(oc_cast_record_t) {.ready = false}, bytes);
}

oc_status_t oc_multicast_start(oc_multicast_t *multicast, oc_cast_group_t *group,
                               const oc_cast_args_t *args, uint64_t now, oc_cast_group_t **which)
{
    oc_cast_member_t *member = oc_cast_member_of(multicast, group);
    oc_status_t status = oc_companion_start(&member, args, now);

    if (NULL != which) {
        *which = member->core;
    }
    oc_cast_member_look(member);
    oc_cast_member_wake(member);
    return status;
}

bool oc_multicast_is_closed(const oc_multicast_t *multicast, const oc_cast_group_t *group)
{
    const oc_cast_member_t *member = oc_cast_member_of(multicast, group);

    return oc_cast_group_is_closed(group) && 0 == oc_cast_pending(member->companion->core);
}

void oc_multicast_fail(oc_multicast_t *multicast, oc_cast_group_t *group, oc_status_t status,
                       const char *reason)
{
    oc_cast_member_t *member = oc_cast_member_of(multicast, group);

    oc_cast_group_fail(group, status, reason);
    if (NULL != member) {
        oc_companion_settle(member);
    }
}

void oc_multicast_more(oc_multicast_t *multicast, const oc_cast_group_t *which)
{
    oc_cast_member_wake(oc_cast_member_of(multicast, which));
}

static void on_datagram(void *arg, const oc_origin_t *from, const uint8_t *bytes, size_t length)
{
    oc_multicast_t *multicast = arg;
    oc_cast_member_t *member = NULL;
    oc_datagram_t header;

    if (!oc_senders_have(&multicast->senders, from)) {
        multicast->config.counters->datagrams_foreign++;
        return;
    }
    if (oc_datagram_decode(bytes, length, &header)) {
        HASH_FIND(by_token, multicast->tokens, &header.token, sizeof(header.token), member);
    }
    if (NULL == member) {
        multicast->config.counters->fragments_foreign++;
        return;
    }
    oc_cast_member_datagram(member, &header, bytes);
    oc_cast_member_wake(member);
}

/*
 * The network has said no only after the groups had begun to probe, or has to let this process in
 * again.
 */
static void multicast_tell_members(oc_multicast_t *multicast, const oc_cast_slot_t *slot)
{
    oc_cast_member_t *member;

    DL_FOREACH (multicast->members, member) {
        if (member->slot == slot && NULL != slot->transport->refused) {
            oc_cast_member_refused(member, slot->transport->refused);
        } else if (member->slot == slot) {
            oc_cast_group_absent(member->core, slot->transport->absent);
        }
    }
}

static void multicast_receive(oc_multicast_t *multicast)
{
    for (unsigned i = 0; i < multicast->transports.num_open; i++) {
        oc_cast_slot_t *slot = multicast->transports.open[i];

        if (slot->listeners > 0) {
            slot->receiving = true;
            (void) slot->transport->ops->receive(slot->transport, RECEIVE_BATCH, on_datagram,
                                                 multicast);
            slot->receiving = false;
            if (NULL != slot->transport->refused || slot->transport->absent || slot->absent) {
                multicast_tell_members(multicast, slot);
                slot->absent = slot->transport->absent;
            }
        }
    }
}

/* This process has not looked for so long. */
static void tell_missed(const oc_multicast_t *multicast, uint64_t time)
{
    oc_cast_member_t *member;

    DL_FOREACH2 (multicast->active, member, active_next) {
        oc_cast_group_missed(member->core, time);
    }
}

void oc_multicast_progress(oc_multicast_t *multicast, uint64_t now)
{
    oc_cast_member_t *member, *next;

    if (NULL == multicast->peers
        || (NULL == multicast->members && NULL == multicast->show
            && 0 == oc_peers_pending(multicast->peers))) {
        return;
    }
    tell_missed(multicast, now - multicast->now);
    multicast->now = now;
    multicast_receive(multicast);
    oc_floods_progress(multicast);
    (void) oc_peers_progress(multicast->peers);
    DL_FOREACH_SAFE2 (multicast->active, member, next, active_next) {
        multicast_advance(member);
    }
    oc_members_take_turns(multicast);
}

uint64_t oc_multicast_is_awaited_until(const oc_multicast_t *multicast, uint64_t now)
{
    const oc_cast_member_t *member;
    uint64_t until = 0, one;

    DL_FOREACH2 (multicast->active, member, active_next) {
        one = oc_cast_is_awaited_until(member->core, now);
        until = one > until ? one : until;
    }
    return until;
}

void oc_multicast_beside(oc_multicast_t *multicast, unsigned connections)
{
    multicast->connections = connections;
}

unsigned oc_multicast_pending(const oc_multicast_t *multicast)
{
    return multicast->num_busy
           + (NULL != multicast->peers ? oc_peers_pending(multicast->peers) : 0);
}

/* Which slots are waited for until there is room to send; false: a member is due. */
static bool multicast_look_ahead(oc_multicast_t *multicast, uint64_t now, uint64_t *timeout)
{
    oc_cast_member_t *member;

    for (unsigned i = 0; i < multicast->transports.num_open; i++) {
        multicast->transports.open[i]->sending = false;
    }
    DL_FOREACH2 (multicast->active, member, active_next) {
        if (member->due <= now) {
            return false;
        }
        *timeout = member->due - now < *timeout ? member->due - now : *timeout;
        if (NULL != member->slot) {
            member->slot->sending |= oc_cast_wants_to_send(member->core);
        }
    }
    return true;
}

static bool arm_slot(const oc_cast_slot_t *slot, uint64_t now, struct pollfd *fd,
                     uint64_t *timeout)
{
    oc_transport_t *transport = slot->transport;
    uint64_t wait = BLIND_INTERVAL;

    if (!transport->ops->arm(transport, slot->sending)) {
        return false;
    }
    *fd = (struct pollfd) {.fd = transport->event_fd, .events = transport->events};
    if (transport->event_fd >= 0) {
        wait = 0 == transport->due ? UINT64_MAX : transport->due - now;
    }
    *timeout = wait < *timeout ? wait : *timeout;
    return true;
}

int oc_multicast_sleep(oc_multicast_t *multicast, struct pollfd *fds, uint64_t now,
                       uint64_t *timeout)
{
    int count = 1;

    if (NULL == multicast->peers) {
        return 0;
    }
    fds[0].events = POLLIN;
    if (!multicast_look_ahead(multicast, now, timeout)
        || !oc_peers_arm(multicast->peers, &fds[0].fd)) {
        return -1;
    }
    for (unsigned i = 0; i < multicast->transports.num_open; i++) {
        const oc_cast_slot_t *slot = multicast->transports.open[i];

        if (slot->listeners > 0 && !arm_slot(slot, now, &fds[count++], timeout)) {
            return -1;
        }
    }
    return count + oc_floods_sleep(multicast, fds + count, now, timeout);
}

/* Whether another rank is here; records that make no sense are for the judgement. */
static bool shares_host(const oc_multicast_params_t *params)
{
    uint64_t host = oc_host_identity();
    oc_cast_record_t record;

    for (uint32_t rank = 0; rank < params->num_ranks; rank++) {
        if (rank != params->rank
            && oc_cast_record_decode(params->records + (size_t) rank * OC_MULTICAST_RECORD_SIZE,
                                     &record)
            && record.host == host) {
            return true;
        }
    }
    return false;
}

/* Others are admitted when they are found. */
static void admit_neighbours(oc_admission_t *admission, const oc_multicast_params_t *params)
{
    uint32_t neighbours[OC_CAST_NEIGHBOURS];
    unsigned count = oc_cast_neighbours(params->num_ranks, params->rank, neighbours);
    oc_contact_t contact;

    for (unsigned i = 0; i < count; i++) {
        if (oc_contact_decode(params->contacts + i * OC_CONTACT_MAX, OC_CONTACT_MAX, &contact)) {
            (void) oc_admission_note(admission, contact.hosts, contact.num_hosts);
        }
    }
}

bool oc_multicast_admit(oc_multicast_t *multicast, const oc_multicast_params_t *params)
{
    oc_admission_t *admission;

    if (NULL == multicast->peers) {
        return true;
    }
    admission = oc_peers_admission(multicast->peers);
    admit_neighbours(admission, params);
    if (shares_host(params)) {
        (void) oc_admission_note(admission, &in6addr_loopback, 1);
    }
    oc_admission_renew(admission);
    return oc_admission_is_complete(admission);
}

unsigned oc_multicast_open_sockets(const oc_multicast_t *multicast)
{
    return NULL == multicast->peers
               ? 0 : oc_admission_open_sockets(oc_peers_admission(multicast->peers));
}
