/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The servers that a job has lost, by the incarnations of their processes: a set that only grows. It is the epoch of all
 * of the job's groups: whoever hears of another set takes the union. Plain data: no allocation, no threads.
 */
#ifndef OC_PROTOCOL_LOST_H
#define OC_PROTOCOL_LOST_H

#include <stdbool.h>
#include <stdint.h>

#include "base/limits.h"

typedef struct {
    uint16_t count;
    uint64_t servers[OC_MAX_LOST]; /* ascending, none of them 0 */
} oc_lost_t;

bool oc_lost_has(const oc_lost_t *lost, uint64_t server);

/* Adds what is not there yet. false: there is no room for all, and lost stays as it was. */
bool oc_lost_add(oc_lost_t *lost, uint64_t server);
bool oc_lost_join(oc_lost_t *lost, const oc_lost_t *others);

/* Whether it has all that others has. */
bool oc_lost_covers(const oc_lost_t *lost, const oc_lost_t *others);

/* A number of the set; 0: it is empty. Different sets have the same number with a probability of 2^-48. */
uint64_t oc_lost_epoch(const oc_lost_t *lost);

#endif
