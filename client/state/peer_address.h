/* SPDX-License-Identifier: BSD-3-Clause */
/* Where the server in a process is reached, as its record has told. Plain data. */
#ifndef OC_CLIENT_STATE_PEER_ADDRESS_H
#define OC_CLIENT_STATE_PEER_ADDRESS_H

#include "client/state/record.h"

typedef struct {
    uint32_t process;          /* of the job */
    uint64_t host;
    uint16_t port;
    unsigned num_addresses;
    struct in6_addr addresses[OC_RECORD_MAX_ADDRESSES];
} oc_peer_address_t;

void oc_peer_address_of(const oc_record_t *record, oc_peer_address_t *contact);

#endif
