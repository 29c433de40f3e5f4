/* SPDX-License-Identifier: BSD-3-Clause */
/* What the sender of a flood test sends. One thread at a time; does not block. */
#ifndef OC_MULTICAST_FLOOD_FLOOD_SENDER_H
#define OC_MULTICAST_FLOOD_FLOOD_SENDER_H

#include "base/mac.h"
#include "multicast/flood/flood_judge.h"
#include "multicast/flood/flood_place.h"

/* Addresses that switches may not prune, and nobody joins: one after the other, by round. */
#define OC_FLOOD_CONTROLS 4u

typedef struct {
    const oc_flood_place_t *place;
    oc_mac_t *seal;
    int fd;                    /* -1: it does not send, or has failed */
    bool begun, marked, over;  /* marked: the slot has begun, and its burst is next */
    uint32_t slot, sent;       /* datagrams of the burst, of which … */
    uint32_t most;             /* … progress sends so many at a time */
    uint64_t due;              /* of the next step; UINT64_MAX: there is none */
} oc_flood_sender_t;

struct in_addr oc_flood_control(uint32_t round);

/* place and seal outlive it. If it cannot send, it is over, and the others see nothing. */
void oc_flood_sender_open(oc_flood_sender_t *sender, const oc_flood_place_t *place, oc_mac_t *seal);
/* Nothing happens if it was never opened, but zero. */
void oc_flood_sender_close(oc_flood_sender_t *sender);

/* All hosts have joined. */
void oc_flood_sender_begin(oc_flood_sender_t *sender, uint64_t now);
void oc_flood_sender_progress(oc_flood_sender_t *sender, uint64_t now);

#endif
