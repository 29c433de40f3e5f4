/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What a rank offers to those of its host, in the record that it gives to all: memory to share, and a bell to
 * be woken by. Pure functions; any thread.
 */
#ifndef OC_NODE_OFFER_H
#define OC_NODE_OFFER_H

#include <stdbool.h>
#include <stdint.h>

#include "base/wire.h"
#include "node/doorbell.h"
#include "node/segment.h"

typedef enum {
    OC_SHARES_NOTHING,         /* nobody asked */
    OC_SHARES_MEMORY,          /* segment and bell are there */
    OC_SHARES_FAILED,          /* it would, but cannot */
} oc_shares_t;

typedef struct {
    oc_shares_t shares;
    uint64_t node;             /* equal for ranks that share memory */
    uint8_t segment[OC_SEGMENT_NAME_SIZE];
    uint8_t bell[OC_DOORBELL_NAME_SIZE];
} oc_offer_t;

/* Bytes that these write and read; shares is not among them. */
#define OC_OFFER_SIZE (8 + OC_SEGMENT_NAME_SIZE + OC_DOORBELL_NAME_SIZE)

void oc_offer_put(oc_writer_t *w, const oc_offer_t *offer);

/* All but shares, which has been set. false: names without memory, or shares is none of them. */
bool oc_offer_get(oc_reader_t *r, oc_offer_t *offer);

#endif
