/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * So many lines in a period and no more: whoever makes others write lines could fill their disk.
 * What was left out is counted. All zeros to begin with; one thread at a time.
 */
#ifndef OC_BASE_THROTTLE_H
#define OC_BASE_THROTTLE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/clock.h"

#define OC_THROTTLE_LINES  10u
#define OC_THROTTLE_PERIOD (10 * OC_SECOND)

typedef struct {
    uint64_t begin;                /* of the period */
    unsigned said, left_out;
} oc_throttle_t;

/* Whether one more line may be said now. */
bool oc_throttle_passes(oc_throttle_t *throttle, uint64_t now);

/* When the period is over: how many lines were left out, which are forgotten; else 0. */
unsigned oc_throttle_left_out(oc_throttle_t *throttle, uint64_t now);

/* Whether there will be something left out to tell of. */
bool oc_throttle_owes(const oc_throttle_t *throttle);

#endif
