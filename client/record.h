/* SPDX-License-Identifier: BSD-3-Clause */
/* What each rank tells the others when a group is set up: doc/protocol.md has the layout. */
#ifndef OC_CLIENT_RECORD_H
#define OC_CLIENT_RECORD_H

#include <netinet/in.h>
#include <stdbool.h>
#include <stdint.h>

#include "client/client.h"
#include "node/doorbell.h"
#include "node/segment.h"
#include "protocol/limits.h"

/* Addresses of an embedded server that its process tells the others. */
#define OC_MAX_OWN_ADDRESSES 8

/* What a rank offers to those of its host. */
typedef enum {
    OC_SHARES_NOTHING,         /* nobody asked */
    OC_SHARES_MEMORY,          /* segment and bell are there */
    OC_SHARES_FAILED,          /* it would, but cannot */
} oc_shares_t;

typedef struct {
    uint8_t ready;             /* this rank can take part */
    uint64_t settings;         /* digest of what must be equal on all ranks */
    uint64_t group;            /* rank 0's word counts */
    uint8_t job_id[OC_JOB_ID_SIZE];
    uint32_t process;
    uint64_t host;             /* equal for processes that can use loopback */
    uint64_t node;             /* equal for ranks that share memory */
    uint8_t shares;            /* oc_shares_t */
    uint8_t segment[OC_SEGMENT_NAME_SIZE];
    uint8_t bell[OC_DOORBELL_NAME_SIZE];
    uint16_t port;             /* of the embedded server, 0 if there is none */
    uint8_t num_addresses;
    struct in6_addr addresses[OC_MAX_OWN_ADDRESSES];
} oc_record_t;

void oc_record_encode(const oc_record_t *record, uint8_t bytes[OC_RECORD_SIZE]);

/* false: another version of optcast, or somebody else, made these bytes. */
bool oc_record_decode(const uint8_t bytes[OC_RECORD_SIZE], oc_record_t *record);

/* That of a rank of a group that has all of them; as oc_record_decode. */
bool oc_record_of(const oc_group_t *group, uint32_t rank, oc_record_t *record);

uint64_t oc_settings_digest(const oc_group_t *group);

#endif
