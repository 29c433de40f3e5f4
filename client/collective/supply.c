/* SPDX-License-Identifier: BSD-3-Clause */
/* What a rank contributes to a supply. */
#include "client/collective/supply.h"

#include <stdlib.h>

void oc_supply_account(oc_allreduce_t *allreduce, uint32_t chunk)
{
    const oc_supply_t *supply = allreduce->supply;
    uint8_t *have = NULL != supply && NULL != supply->of ? supply->of->cut.have : allreduce->cut.have;

    if (NULL != have) {
        oc_cut_set_bit(have, chunk);
    }
}

const void *oc_supply_contribution(const oc_allreduce_t *allreduce, const oc_client_chunk_t *chunk)
{
    const oc_supply_t *supply = allreduce->supply;

    return oc_cut_bit(supply->own, chunk->index) ? (const char *) allreduce->recv + chunk->offset
                                             : supply->zeros;
}

oc_supply_t *oc_supply_new(uint32_t num_chunks, size_t chunk_bytes)
{
    oc_supply_t *supply = calloc(1, sizeof(*supply));

    if (NULL == supply) {
        return NULL;
    }
    supply->own = calloc(num_chunks / 8 + 1, 1);
    supply->zeros = calloc(chunk_bytes, 1);
    if (NULL == supply->own || NULL == supply->zeros) {
        oc_supply_free(supply);
        return NULL;
    }
    return supply;
}

void oc_supply_free(oc_supply_t *supply)
{
    if (NULL != supply) {
        free(supply->own);
        free(supply->zeros);
        free(supply);
    }
}
