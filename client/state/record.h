/* SPDX-License-Identifier: BSD-3-Clause */
/* What each rank tells the others when a group is set up: doc/protocol.md has the layout. */
#ifndef OC_CLIENT_STATE_RECORD_H
#define OC_CLIENT_STATE_RECORD_H

#include <netinet/in.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/limits.h"
#include "base/rules.h"
#include "client/client.h"
#include "node/offer.h"

/* Bytes for the addresses of an embedded server: 5 for one of IPv4, 17 for one of IPv6. */
#define OC_RECORD_ADDRESS_BYTES 34
#define OC_RECORD_MAX_ADDRESSES (OC_RECORD_ADDRESS_BYTES / 5)

/* A group's id, of the number of the process that proposes it and one that this counts up. */
#define OC_GROUP_ID_BITS 24
#define OC_GROUP_ID(process, count)                                 \
    ((uint64_t) ((process) & ((1u << OC_GROUP_ID_BITS) - 1)) << 40 \
     | (uint64_t) ((count) & ((1u << OC_GROUP_ID_BITS) - 1)) << 16)
#define OC_GROUP_PROCESS(id) ((uint32_t) ((id) >> 40))

/* Of the number of an epoch; 0: the first one. */
#define OC_RECORD_EPOCH(epoch) ((uint32_t) ((epoch) >> 16))

typedef struct {
    bool ready;                /* this rank can take part */
    uint64_t settings;         /* digest of what must be equal on all ranks */
    uint64_t group;            /* OC_GROUP_ID of this process; rank 0's word counts */
    uint64_t job;              /* digest of the job's id */
    uint64_t host;             /* equal for processes that can use loopback */
    oc_offer_t offer;          /* to the ranks of its host */
    oc_network_t network;      /* of this process's host */
    uint64_t away;             /* bits: servers of the list that it has lost, or could not have */
    uint32_t epoch;            /* OC_RECORD_EPOCH of the one that it knows */
    uint16_t port;             /* of the embedded server, 0 if there is none … */
    bool reserve;              /* … which only serves if all others are lost */
    unsigned num_addresses;
    struct in6_addr addresses[OC_RECORD_MAX_ADDRESSES]; /* of IPv4 in their IPv6-mapped form */
} oc_record_t;

/*
 * Chooses the addresses of a host for which a record has room, and returns their number. They are
 * moved to the front; both they and the others keep their order, except that the first IPv4 and
 * the first IPv6 address come before all others.
 */
unsigned oc_record_select(struct in6_addr *addresses, unsigned count);

void oc_record_encode(const oc_record_t *record, uint8_t bytes[OC_RECORD_SIZE]);

/*
 * Returns false if the bytes are of another version of optcast, or no record; then *record is
 * zero.
 */
bool oc_record_decode(const uint8_t bytes[OC_RECORD_SIZE], oc_record_t *record);

/* Decodes the record of a rank, in a group that has received all records; as oc_record_decode. */
bool oc_record_of(const oc_group_t *group, uint32_t rank, oc_record_t *record);

uint64_t oc_settings_digest(const oc_group_t *group);

#endif
