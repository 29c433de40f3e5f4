/* SPDX-License-Identifier: BSD-3-Clause */
/* From a record to an address. */
#include "client/state/peer_address.h"

#include <string.h>

void oc_peer_address_of(const oc_record_t *record, oc_peer_address_t *contact)
{
    *contact = (oc_peer_address_t) {.process = OC_GROUP_PROCESS(record->group), .host = record->host, .port = record->port,
                               .num_addresses = record->num_addresses};
    memcpy(contact->addresses, record->addresses, sizeof(contact->addresses));
}
