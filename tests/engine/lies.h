/* SPDX-License-Identifier: BSD-3-Clause */
/* Messages of a multicast group that somebody makes up who has no key: only their code is wrong. */
#ifndef OC_TESTS_ENGINE_LIES_H
#define OC_TESTS_ENGINE_LIES_H

#include <stdbool.h>
#include <stdint.h>

#include "ucx_backend/worker.h"

/* Each kind from two ranks. */
#define LIES 38

typedef struct {
    oc_transfer_t transfer;
    bool told;
    uint8_t bytes[4200];
} lie_t;

/* Sends them all to a rank 1, about this operation, in the names of ranks 0 and 2. */
void lies_tell(lie_t lies[LIES], oc_endpoint_t *endpoint, uint64_t token, uint32_t generation);

/* Whether all have left. */
bool lies_told(const lie_t lies[LIES]);

#endif
