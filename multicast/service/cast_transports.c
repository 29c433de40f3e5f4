/* SPDX-License-Identifier: BSD-3-Clause */
/* Transports, opened on demand. */
#include "multicast/service/cast_transports.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "multicast/transport/cast_address.h"
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

void oc_cast_transports_close(oc_cast_transports_t *transports)
{
    for (unsigned i = 0; i < transports->num_open; i++) {
        oc_cast_slot_t *slot = transports->open[i];

        slot->transport->ops->close(slot->transport);
        transports->slots[slot->carrier][slot->number] = NULL;
        free(slot);
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

    if (OC_OK != oc_interface_find(transports->settings->multicast_interface, transports->first,
                                   interface, udp->text, sizeof(udp->text))) {
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
        && OC_OK != oc_interface_find(ethernet, transports->first,
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
    unsigned count = (unsigned) transports->settings->multicast_groups;

    if (0 == transports->first_number && !oc_multicast_is_scoped(transports->first, count)) {
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
                                    (unsigned) settings->multicast_groups, &transports->first, why,
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
                                  unsigned number, oc_transport_t **transport, char *error,
                                  size_t error_size)
{
    const oc_job_settings_t *settings = transports->settings;
    const char *interface = settings->multicast_interface;
    struct in_addr address = oc_multicast_slot(transports->first, number);

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
    uint64_t number = transports->first_number + slot->carrier * OC_MAX_SLOTS + slot->number;
    oc_transport_t *transport, *wrapped;
    oc_status_t status = open_transport(transports, slot->carrier, slot->number, &transport, error,
                                        error_size);

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

static oc_cast_slot_t *add_slot(oc_cast_transports_t *transports, oc_carrier_t carrier,
                                unsigned number, char *error, size_t error_size,
                                oc_status_t *status)
{
    oc_cast_slot_t *slot = calloc(1, sizeof(*slot));

    if (NULL == slot) {
        snprintf(error, error_size, "out of memory");
        *status = OC_ERR_NO_MEMORY;
        return NULL;
    }
    slot->carrier = carrier;
    slot->number = number;
    *status = fill_slot(transports, slot, error, error_size);
    if (OC_OK != *status) {
        free(slot);
        return NULL;
    }
    assert(transports->num_open < OC_CARRIERS * OC_MAX_SLOTS);
    transports->slots[carrier][number] = transports->open[transports->num_open++] = slot;
    return slot;
}

oc_status_t oc_cast_transports_get(oc_cast_transports_t *transports, oc_carrier_t carrier,
                                   unsigned number, oc_cast_slot_t **result, char *error,
                                   size_t error_size)
{
    oc_cast_slot_t *slot = transports->slots[carrier][number];
    oc_status_t status = OC_OK;

    assert(carrier < OC_CARRIERS && number < OC_MAX_SLOTS);
    if (NULL == slot) {
        slot = add_slot(transports, carrier, number, error, error_size, &status);
    } else if (NULL != slot->transport->refused) {
        assert(!slot->receiving);
        status = fill_slot(transports, slot, error, error_size);
    }
    *result = slot;
    return status;
}
