/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Results that some ranks have and others lack, after the loss of a server. They go the way of a reduction, of bytes by
 * bitwise or: one rank that has a chunk contributes it, all others contribute zeros. So servers need to know nothing of it,
 * and each byte arrives as it is.
 */
#ifndef OC_CLIENT_COLLECTIVE_SUPPLY_H
#define OC_CLIENT_COLLECTIVE_SUPPLY_H

#include "client/collective/allreduce.h"

struct oc_supply {
    oc_allreduce_t *of;        /* whose chunks these are, with its cut; NULL: of a small one that is over here */
    bool holds;                /* that counts in its waiting */
    uint8_t *own;              /* a bit for each of its chunks: this rank contributes it */
    void *zeros;               /* as long as a chunk */
};

static inline bool oc_cut_bit(const uint8_t *bits, uint32_t i)
{
    return 0 != (bits[i / 8] >> i % 8 & 1);
}

static inline void oc_cut_set_bit(uint8_t *bits, uint32_t i)
{
    bits[i / 8] |= (uint8_t) (1u << i % 8);
}

/* The result of a chunk is where it belongs: that is noted of the vector that it is of, where account is kept. */
void oc_supply_account(oc_allreduce_t *allreduce, uint32_t chunk);

/* What this rank contributes to a chunk at an offset of the vector. */
const void *oc_supply_contribution(const oc_allreduce_t *allreduce, const oc_client_chunk_t *chunk);

/* For num_chunks of chunk_bytes; nothing is contributed yet. NULL: out of memory. */
oc_supply_t *oc_supply_new(uint32_t num_chunks, size_t chunk_bytes);
void oc_supply_free(oc_supply_t *supply);

#endif
