/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The servers that a job has lost, by the incarnations of their processes, and those that have come to it since it began: two
 * sets that only grow. Together they are the epoch of all of the job's groups: whoever hears of others takes the unions.
 * Plain data: no allocation, no threads.
 */
#ifndef OC_PROTOCOL_LOST_H
#define OC_PROTOCOL_LOST_H

#include <stdbool.h>
#include <stdint.h>

#include "base/limits.h"

/* A server of the job's list that runs again. */
typedef struct {
    uint64_t incarnation;
    uint16_t number;           /* in the list, from 0 */
} oc_returned_t;

typedef struct {
    uint16_t count;
    uint64_t servers[OC_MAX_LOST]; /* ascending, none of them 0 */
    uint16_t num_returned;
    oc_returned_t returned[OC_MAX_LOST]; /* by their incarnations, ascending, none of them 0; they may be lost again */
} oc_lost_t;

bool oc_lost_has(const oc_lost_t *lost, uint64_t server);
bool oc_lost_has_returned(const oc_lost_t *lost, uint64_t incarnation);
bool oc_lost_is_empty(const oc_lost_t *lost);

/* Adds what is not there yet. false: there is no room for all, and lost stays as it was. */
bool oc_lost_add(oc_lost_t *lost, uint64_t server);
bool oc_lost_add_returned(oc_lost_t *lost, oc_returned_t returned);
bool oc_lost_join(oc_lost_t *lost, const oc_lost_t *others);

/* Whether it has all that others has. */
bool oc_lost_covers(const oc_lost_t *lost, const oc_lost_t *others);

/* A number of the sets; 0: they are empty. Different ones have the same number with a probability of 2^-48. */
uint64_t oc_lost_epoch(const oc_lost_t *lost);

#endif
