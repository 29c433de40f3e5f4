/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Receives the READY messages of all aggregators of a group. Callers hold the lock of the client.
 */
#ifndef OC_CLIENT_STATE_READINESS_H
#define OC_CLIENT_STATE_READINESS_H

#include <stdbool.h>
#include <stdint.h>

#include "client/client.h"
#include "protocol/message.h"
#include "ucx_backend/worker.h"

/* One message; they all go together, after the last has called back. */
typedef struct {
    oc_transfer_t transfer;
    struct oc_readiness *all;
    unsigned link;             /* of the group: whose aggregator it is … */
    uint32_t index;            /* … and which */
    bool arrived;
    uint8_t bytes[OC_HEADER_SIZE];
} oc_ready_t;

typedef struct oc_readiness {
    oc_group_t *group;         /* as long as this is not abandoned */
    unsigned count, waiting, failed;
    uint32_t chunk_bytes;      /* the largest that all of them take */
    bool abandoned;            /* the set-up is over, and the last one frees this */
    oc_ready_t lanes[];
} oc_readiness_t;

/*
 * Posts the receives. aggregators: number of those of all servers, for each team. Returns NULL if
 * memory has run out.
 */
oc_readiness_t *oc_readiness_begin(oc_group_t *group, unsigned aggregators);

/* Cancels the receives that are left. NULL is allowed. */
void oc_readiness_end(oc_readiness_t *readiness);

#endif
