/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What a host sees of a flood test that has not joined the address of the probes: packets, if this
 * process may look at them, and what the interface's counters say. One thread at a time. Waits for
 * nobody but the kernel: counters are read at OC_FLOOD_SLOTS + 1 marks at most, whoever sends them,
 * and each time may take a millisecond, or several where a card is asked that others ask, too.
 */
#ifndef OC_MULTICAST_FLOOD_FLOOD_WATCH_H
#define OC_MULTICAST_FLOOD_FLOOD_WATCH_H

#include "multicast/flood/flood_frame.h"
#include "multicast/flood/flood_sender.h"

typedef struct oc_flood_watch oc_flood_watch_t;

/* place and seal outlive it. NULL: no memory. */
oc_flood_watch_t *oc_flood_watch_open(const oc_flood_place_t *place, oc_mac_t *seal);
/* NULL is allowed. */
void oc_flood_watch_close(oc_flood_watch_t *watch);

/* Readable when a mark has come, which is to be taken soon; -1: none can come. */
int oc_flood_watch_fd(const oc_flood_watch_t *watch);
void oc_flood_watch_progress(oc_flood_watch_t *watch);

/* All has been sent. OC_FLOOD_UNKNOWN: this process was elsewhere, and another time it may tell. */
oc_flood_verdict_t oc_flood_watch_verdict(oc_flood_watch_t *watch);

#endif
