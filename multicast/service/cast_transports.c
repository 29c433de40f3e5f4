/* SPDX-License-Identifier: BSD-3-Clause */
/* Transports, opened on demand. */
#include "multicast/service/cast_transports.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "multicast/transport/udp.h"
#include "multicast/transport/udp_staging.h"

oc_cast_transports_wrap_t *oc_cast_transports_wrap;

void oc_cast_transports_init(oc_cast_transports_t *transports, const oc_job_settings_t *settings,
                             oc_cast_counters_t *counters, const uint8_t *job_id,
                             uint32_t process)
{
    memset(transports, 0, sizeof(*transports));
    transports->settings = settings;
    transports->counters = counters;
    transports->source.fd = -1;
    memcpy(transports->job_id, job_id, OC_JOB_ID_SIZE);
    transports->first_number = (uint64_t) process * (OC_CARRIERS * OC_MAX_SLOTS);
}

static void close_slot(oc_cast_slot_t *slot)
{
    slot->transport->ops->close(slot->transport);
    free(slot);
}

void oc_cast_transports_close(oc_cast_transports_t *transports)
{
    for (unsigned i = 0; i < transports->num_open; i++) {
        close_slot(transports->open[i]);
    }
    transports->num_open = 0;
    oc_udp_source_close(&transports->source);
    oc_verbs_source_close(transports->verbs_source);
    transports->verbs_source = NULL;
}

static void survey_udp(oc_cast_transports_t *transports)
{
    oc_carrier_state_t *udp = &transports->carriers[OC_CARRIER_UDP];
    oc_interface_t *interface = &transports->interfaces[OC_CARRIER_UDP];

    if (OC_OK != oc_interface_find(transports->settings->multicast_interface,
                                   oc_multicast_common(&transports->range), interface,
                                   udp->text, sizeof(udp->text))) {
        return;
    }
    if (0 == oc_udp_datagram_size(interface)) {
        snprintf(udp->text, sizeof(udp->text), "the MTU of %s, %u, is too small",
                 interface->name, interface->mtu);
        return;
    }
    if (OC_OK != oc_udp_source_open(interface, OC_UDP_SEND_BUFFER, &transports->source,
                                    udp->text, sizeof(udp->text))) {
        return;
    }
    udp->record.staging = oc_udp_staging_expect(transports->settings->multicast_staging,
                                                oc_udp_datagram_size(interface));
    if (0 == udp->record.staging) {
        snprintf(udp->text, sizeof(udp->text), "there is no socket with room for datagrams");
        return;
    }
    udp->record.datagram_size = (uint32_t) oc_udp_datagram_size(interface);
    udp->record.origin = transports->source.origin;
    udp->record.floods = oc_interface_floods(interface);
    snprintf(udp->text, sizeof(udp->text), "%s", interface->name);
}

static void survey_verbs(oc_cast_transports_t *transports)
{
    oc_carrier_state_t *verbs = &transports->carriers[OC_CARRIER_VERBS];
    const char *interface = transports->settings->multicast_interface, *ethernet;
    static const oc_origin_t unknown;
    char why[OC_CAST_TEXT_SIZE];

    if (OC_OK != oc_verbs_source_open(NULL != interface ? interface : "", &transports->verbs_source,
                                      verbs->text, sizeof(verbs->text))) {
        return;
    }
    verbs->record.origin = oc_verbs_source_origin(transports->verbs_source);
    if (0 == memcmp(verbs->record.origin.address, unknown.address, sizeof(unknown.address))) {
        snprintf(verbs->text, sizeof(verbs->text), "the GID of its port is not known");
        return;
    }
    verbs->record.staging = oc_verbs_staging(transports->verbs_source,
                                             transports->settings->multicast_staging);
    if (0 == verbs->record.staging) {
        snprintf(verbs->text, sizeof(verbs->text), "its device has too short queues");
        return;
    }
    ethernet = oc_verbs_source_ethernet(transports->verbs_source);
    verbs->record.floods = NULL != ethernet;
    if (NULL != ethernet
        && OC_OK != oc_interface_find(ethernet, oc_multicast_common(&transports->range),
                                      &transports->interfaces[OC_CARRIER_VERBS], why,
                                      sizeof(why))) {
        oc_info("whether RoCE floods multicast cannot be tested: %s", why);
    }
    verbs->record.datagram_size =
        (uint32_t) oc_verbs_source_datagram_size(transports->verbs_source);
}

/* Once in a job: by its process 0. */
static void warn_of_scope(const oc_cast_transports_t *transports)
{
    if (0 == transports->first_number && !oc_multicast_is_scoped(&transports->range)) {
        oc_warn("coll_optcast_multicast_address: \"%s\" is not in 239.0.0.0/8, and routers may "
                "pass what is sent there beyond this site: an address from 239.192.0.0 to "
                "239.195.255.255 stays inside", transports->settings->multicast_address);
    }
}

oc_status_t oc_cast_transports_survey(oc_cast_transports_t *transports, char *error,
                                      size_t error_size)
{
    const oc_job_settings_t *settings = transports->settings;
    char why[OC_CAST_TEXT_SIZE];

    if (transports->surveyed) {
        return OC_OK;
    }
    if (OC_OK != oc_multicast_range(settings->multicast_address, transports->job_id,
                                    (unsigned) settings->multicast_groups, &transports->range, why,
                                    sizeof(why))) {
        snprintf(error, error_size, "coll_optcast_multicast_address: %s", why);
        return OC_ERR_INVALID;
    }
    warn_of_scope(transports);
    if (OC_MULTICAST_VERBS != settings->multicast) {
        survey_udp(transports);
    }
    if (OC_MULTICAST_UDP != settings->multicast) {
        survey_verbs(transports);
    }
    transports->surveyed = true;
    return OC_OK;
}

static oc_status_t open_transport(oc_cast_transports_t *transports, oc_carrier_t carrier,
                                  struct in_addr address, oc_transport_t **transport,
                                  char *error, size_t error_size)
{
    const oc_job_settings_t *settings = transports->settings;
    const char *interface = settings->multicast_interface;

    if (OC_CARRIER_VERBS == carrier) {
        oc_verbs_config_t config = {.interface = NULL != interface ? interface : "",
                                    .source = transports->verbs_source,
                                    .address = address,
                                    .staging = settings->multicast_staging,
                                    .renewed = &transports->counters->memberships_renewed,
                                    .own = &transports->counters->datagrams_own};

        return oc_verbs_open(&config, transport, error, error_size);
    } else {
        oc_udp_config_t config = {.interface = &transports->interfaces[OC_CARRIER_UDP],
                                  .group = address,
                                  .port = (uint16_t) settings->multicast_port,
                                  .staging = settings->multicast_staging,
                                  .source = &transports->source,
                                  .rate = (unsigned) settings->multicast_rate};

        return oc_udp_open(&config, transport, error, error_size);
    }
}

/* Into the place of the slot's former one, if there is one. */
static oc_status_t fill_slot(oc_cast_transports_t *transports, oc_cast_slot_t *slot, char *error,
                             size_t error_size)
{
    uint64_t number = transports->first_number + slot->carrier * OC_MAX_SLOTS + slot->place;
    oc_transport_t *transport, *wrapped;
    oc_status_t status = open_transport(transports, slot->carrier, slot->address, &transport,
                                        error, error_size);

    if (OC_OK != status) {
        return status;
    }
    wrapped = NULL != oc_cast_transports_wrap ? oc_cast_transports_wrap(transport, number)
                                              : transport;
    if (NULL == wrapped) {
        transport->ops->close(transport);
        snprintf(error, error_size, "out of memory");
        return OC_ERR_NO_MEMORY;
    }
    if (NULL != slot->transport) {
        slot->transport->ops->close(slot->transport);
    }
    slot->transport = wrapped;
    return OC_OK;
}

static oc_cast_slot_t *find_slot(const oc_cast_transports_t *transports, oc_carrier_t carrier,
                                 struct in_addr address)
{
    for (unsigned i = 0; i < transports->num_open; i++) {
        oc_cast_slot_t *slot = transports->open[i];

        if (slot->carrier == carrier && slot->address.s_addr == address.s_addr) {
            return slot;
        }
    }
    return NULL;
}

static bool is_common(const oc_cast_transports_t *transports, struct in_addr address)
{
    return address.s_addr == oc_multicast_common(&transports->range).s_addr;
}

/* Memory for datagrams of UDP is the kernel's, which takes it when they come; verbs lock it. */
static unsigned most_slots(const oc_cast_transports_t *transports, oc_carrier_t carrier)
{
    unsigned most = (unsigned) transports->settings->multicast_groups;
    size_t fit = OC_VERBS_STAGING / transports->settings->multicast_staging;

    if (OC_CARRIER_VERBS == carrier && most > fit) {
        most = fit > 1 ? (unsigned) fit : 1;
    }
    return most;
}

/* Which slots of a carrier are open. */
typedef struct {
    unsigned open, used;       /* used: but for the common one */
    oc_cast_slot_t *idlest;    /* that may be closed; NULL: none */
} census_t;

static census_t count_slots(const oc_cast_transports_t *transports, oc_carrier_t carrier)
{
    census_t census = {.open = 0};

    for (unsigned i = 0; i < transports->num_open; i++) {
        oc_cast_slot_t *slot = transports->open[i];

        if (slot->carrier != carrier) {
            continue;
        }
        census.open++;
        if (slot->users > 0) {
            census.used += !is_common(transports, slot->address);
        } else if (NULL == census.idlest || slot->rested < census.idlest->rested) {
            census.idlest = slot;
        }
    }
    return census;
}

static void remove_slot(oc_cast_transports_t *transports, oc_cast_slot_t *slot)
{
    unsigned i = 0;

    assert(0 == slot->users && 0 == slot->listeners && !slot->receiving);
    while (transports->open[i] != slot) {
        i++;
    }
    transports->open[i] = transports->open[--transports->num_open];
    close_slot(slot);
}

/* Whether a group may begin to use an address that none uses: the common one has a place kept. */
static bool has_room(const oc_cast_transports_t *transports, oc_carrier_t carrier,
                     struct in_addr address)
{
    return is_common(transports, address)
           || count_slots(transports, carrier).used + 1 < most_slots(transports, carrier);
}

/* The place of an address that nobody uses will do. */
static void make_place(oc_cast_transports_t *transports, oc_carrier_t carrier)
{
    census_t census = count_slots(transports, carrier);

    if (census.open >= most_slots(transports, carrier)) {
        assert(NULL != census.idlest);
        remove_slot(transports, census.idlest);
    }
}

static unsigned free_place(const oc_cast_transports_t *transports, oc_carrier_t carrier)
{
    uint64_t taken = 0;
    unsigned place = 0;

    for (unsigned i = 0; i < transports->num_open; i++) {
        if (transports->open[i]->carrier == carrier) {
            taken |= 1ull << transports->open[i]->place;
        }
    }
    while (0 != (taken >> place & 1)) {
        place++;
    }
    assert(place < OC_MAX_SLOTS);
    return place;
}

static oc_status_t add_slot(oc_cast_transports_t *transports, oc_carrier_t carrier,
                            struct in_addr address, oc_cast_slot_t **result, char *error,
                            size_t error_size)
{
    oc_cast_slot_t *slot = calloc(1, sizeof(*slot));
    oc_status_t status;

    if (NULL == slot) {
        snprintf(error, error_size, "out of memory");
        return OC_ERR_NO_MEMORY;
    }
    slot->carrier = carrier;
    slot->address = address;
    slot->place = free_place(transports, carrier);
    status = fill_slot(transports, slot, error, error_size);
    if (OC_OK != status) {
        free(slot);
        return status;
    }
    assert(transports->num_open < OC_CARRIERS * OC_MAX_SLOTS);
    *result = transports->open[transports->num_open++] = slot;
    return OC_OK;
}

oc_status_t oc_cast_transports_get(oc_cast_transports_t *transports, oc_carrier_t carrier,
                                   struct in_addr address, oc_cast_slot_t **result, char *error,
                                   size_t error_size)
{
    oc_cast_slot_t *slot = find_slot(transports, carrier, address);
    oc_status_t status = OC_OK;

    assert(carrier < OC_CARRIERS);
    if ((NULL == slot || 0 == slot->users) && !has_room(transports, carrier, address)) {
        snprintf(error, error_size, "this process has joined as many multicast addresses as it "
                 "may (coll_optcast_multicast_groups)");
        return OC_ERR_LIMIT;
    }
    if (NULL == slot) {
        make_place(transports, carrier);
        status = add_slot(transports, carrier, address, &slot, error, error_size);
    } else if (NULL != slot->transport->refused) {
        assert(!slot->receiving);
        status = fill_slot(transports, slot, error, error_size);
    }
    if (OC_OK == status) {
        slot->users++;
        *result = slot;
    }
    return status;
}

/* The one that has rested longest of too many; NULL: they are not too many. */
static oc_cast_slot_t *find_idlest(const oc_cast_transports_t *transports)
{
    oc_cast_slot_t *idlest = NULL;
    unsigned count = 0;

    for (unsigned i = 0; i < transports->num_open; i++) {
        oc_cast_slot_t *slot = transports->open[i];

        if (0 == slot->users) {
            count++;
            idlest = NULL == idlest || slot->rested < idlest->rested ? slot : idlest;
        }
    }
    return count > OC_IDLE_SLOTS ? idlest : NULL;
}

void oc_cast_transports_put(oc_cast_transports_t *transports, oc_cast_slot_t *slot)
{
    oc_cast_slot_t *idlest;

    assert(slot->users > 0);
    if (--slot->users > 0) {
        return;
    }
    slot->rested = ++transports->rests;
    /* one that hands out is left to the next call */
    while (NULL != (idlest = find_idlest(transports)) && !idlest->receiving) {
        remove_slot(transports, idlest);
    }
}
