/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Counters of what arrives on an interface, that anybody may read. Which of them count multicast
 * that nobody here has joined differs between cards: whoever uses one has to try. One thread at a
 * time.
 */
#ifndef OC_MULTICAST_TRANSPORT_WATCH_COUNTERS_H
#define OC_MULTICAST_TRANSPORT_WATCH_COUNTERS_H

#include <stdbool.h>
#include <stdint.h>

#include "multicast/transport/interface.h"

#define OC_WATCH_COUNTERS 32   /* most that are looked at */

typedef struct oc_watch_counters oc_watch_counters_t;

/* NULL: no memory, or the system has none. */
oc_watch_counters_t *oc_watch_counters_open(const oc_interface_t *interface);
/* NULL is allowed. */
void oc_watch_counters_close(oc_watch_counters_t *counters);

/* At least 1. Equal from opening to closing. */
unsigned oc_watch_counters_count(const oc_watch_counters_t *counters);

/* Reads all. May take a millisecond where cards are asked. false: it did not work. */
bool oc_watch_counters_read(oc_watch_counters_t *counters, uint64_t values[OC_WATCH_COUNTERS]);

/* Whether a card's counter of that name may tell: of multicast that arrives. */
bool oc_watch_counters_wants(const char *name);

#endif
