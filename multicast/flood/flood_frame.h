/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The datagrams of a flood test, as bytes. Each has a code under a key of its group, as all that a
 * rank sends. doc/multicast.md has the layout. One thread at a time.
 */
#ifndef OC_MULTICAST_FLOOD_FLOOD_FRAME_H
#define OC_MULTICAST_FLOOD_FLOOD_FRAME_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/mac.h"
#include "multicast/flood/flood_judge.h"

#define OC_FLOOD_FRAME_SIZE  32
#define OC_FLOOD_INDEX_AT    22 /* for filters: the number of a datagram in its burst, a byte */

typedef enum {
    OC_FLOOD_FRAME_MARK,       /* to those that watch: a slot begins */
    OC_FLOOD_FRAME_CONTROL,
    OC_FLOOD_FRAME_PROBE,
    OC_FLOOD_FRAMES
} oc_flood_kind_t;

typedef struct {
    oc_flood_kind_t kind;
    uint32_t slot;             /* OC_FLOOD_SLOTS: the mark behind the last one */
    uint32_t index;            /* in the burst; 0 of a mark */
} oc_flood_frame_t;

/* NULL: no memory, or libcrypto does not work. Freed by oc_mac_free. */
oc_mac_t *oc_flood_seal_new(const uint8_t *job_key, uint64_t token);

void oc_flood_frame_encode(oc_mac_t *seal, uint64_t token, const oc_flood_frame_t *frame,
                           uint8_t bytes[OC_FLOOD_FRAME_SIZE]);

/* false: it is no such datagram of the group with this token. Does not look at the code. */
bool oc_flood_frame_decode(uint64_t token, const uint8_t *bytes, size_t length,
                           oc_flood_frame_t *frame);

/* The same, and its code fits. */
bool oc_flood_frame_open(oc_mac_t *seal, uint64_t token, const uint8_t *bytes, size_t length,
                         oc_flood_frame_t *frame);

#endif
