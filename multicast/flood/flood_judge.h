/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Does the network deliver multicast to hosts that have not joined? The plan of a flood test, and
 * what follows from what a host has counted meanwhile. Pure functions, any thread.
 *
 * Rank 0 sends in slots of three kinds, in turn: nothing; to an address that no switch prunes; to
 * an address that some hosts have joined, and this one has not. Whatever counts what arrives on the
 * interface is a gauge.
 */
#ifndef OC_MULTICAST_FLOOD_FLOOD_JUDGE_H
#define OC_MULTICAST_FLOOD_FLOOD_JUDGE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/clock.h"

typedef enum {
    OC_PHASE_QUIET,            /* nothing is sent: what else there is on the network shows */
    OC_PHASE_CONTROL,          /* what would show a flood shows this */
    OC_PHASE_PROBE,
    OC_PHASES
} oc_flood_phase_t;

#define OC_FLOOD_ROUNDS 7u     /* of one slot of each kind */
#define OC_FLOOD_SLOTS  (OC_FLOOD_ROUNDS * OC_PHASES)
#define OC_FLOOD_BURST  64u    /* datagrams in a slot */

/* In ns: from when all have joined to the first slot, to the burst of a slot, and to the next. */
#define OC_FLOOD_SETTLE (180 * OC_MILLISECOND)
#define OC_FLOOD_LEAD   (7 * OC_MILLISECOND)
#define OC_FLOOD_TAIL   (9 * OC_MILLISECOND)

/* The larger one counts, of several about the same host, or of several hosts that may use it. */
typedef enum {
    OC_FLOOD_UNKNOWN,          /* nobody has looked */
    OC_FLOOD_BLIND,            /* nothing here tells */
    OC_FLOOD_GUARDED,          /* what has not been joined would show, and does not arrive */
    OC_FLOOD_FLOODED,          /* it arrives */
    OC_FLOOD_VERDICTS
} oc_flood_verdict_t;

typedef struct {
    uint32_t burst;            /* how much a burst adds to it, if it arrives */
    uint64_t counts[OC_FLOOD_SLOTS];
    bool valid[OC_FLOOD_SLOTS];/* nothing of another slot is in it */
} oc_flood_gauge_t;

/* Kinds take turns in each round, so that nothing that comes at regular times looks like one. */
oc_flood_phase_t oc_flood_phase(uint32_t slot);

/* Never OC_FLOOD_UNKNOWN. */
oc_flood_verdict_t oc_flood_judge(const oc_flood_gauge_t *gauge);

/* Whether enough of it is valid to say something. */
bool oc_flood_is_attended(const oc_flood_gauge_t *gauge);

#endif
