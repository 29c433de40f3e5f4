/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What the module below would do with a reduction that is left to it, and how long that takes:
 * Open MPI's tuned decides by the number of ranks and bytes, HAN reduces inside hosts first, and
 * users can force an algorithm. previous_owned.h has those whose results go to owners.
 * doc/architecture.md has the formulas, and says who measures how well links are used.
 */
#ifndef OC_CLIENT_PLAN_PREVIOUS_H
#define OC_CLIENT_PLAN_PREVIOUS_H

#include "client/plan/model.h"

/*
 * Kinds of previous modules. OC_PREVIOUS_FORCED and one of the algorithms: always that. With
 * OC_PREVIOUS_HAN: what HAN leaves alone, where no host has several ranks, is for that one.
 */
enum {
    OC_PREVIOUS_BEST,       /* nobody knows what it does: the fastest of all algorithms */
    OC_PREVIOUS_TUNED,      /* tuned's own decision */
    OC_PREVIOUS_FORCED = 16,
    OC_PREVIOUS_HAN = 256,
};

/* Of an Allreduce, as coll_tuned_allreduce_algorithm numbers them. */
typedef enum {
    OC_ALGORITHM_LINEAR = 1,
    OC_ALGORITHM_NONOVERLAPPING,
    OC_ALGORITHM_RECURSIVE_DOUBLING,
    OC_ALGORITHM_RING,
    OC_ALGORITHM_SEGMENTED_RING,
    OC_ALGORITHM_RABENSEIFNER,
    OC_ALGORITHM_HAN,       /* not tuned's */
    OC_NUM_ALGORITHMS
} oc_algorithm_t;

/*
 * What would run of an Allreduce; OC_NUM_ALGORITHMS: nobody knows. Commutative operations only.
 */
oc_algorithm_t oc_previous_algorithm(const oc_situation_t *situation, uint64_t bytes);

/* ns that so many bytes of a vector take without us; not OC_FOREVER. No Barriers. */
uint64_t oc_previous_time(const oc_constants_t *constants, const oc_situation_t *situation,
                          oc_ruled_t ruled, uint64_t bytes);

/* "tuned", "HAN", "Rabenseifner": for messages. */
const char *oc_previous_name(const oc_situation_t *situation, oc_ruled_t ruled);

#endif
