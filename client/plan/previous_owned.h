/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * As previous.h, for reductions whose result goes to owners. In previous.c is what is common, and
 * who asks.
 */
#ifndef OC_CLIENT_PLAN_PREVIOUS_OWNED_H
#define OC_CLIENT_PLAN_PREVIOUS_OWNED_H

#include "client/plan/model.h"

/* As coll_tuned_NAME_algorithm numbers them; a chain and a pipeline in one piece are the same. */
enum {
    OC_REDUCE_LINEAR = 1,
    OC_REDUCE_CHAIN,
    OC_REDUCE_PIPELINE,
    OC_REDUCE_BINARY,
    OC_REDUCE_BINOMIAL,
    OC_REDUCE_IN_ORDER_BINARY,
    OC_REDUCE_RABENSEIFNER,
    OC_REDUCE_HAN,             /* not tuned's */
};
enum {
    OC_SCATTER_NONOVERLAPPING = 1,
    OC_SCATTER_HALVING,
    OC_SCATTER_RING,
    OC_SCATTER_BUTTERFLY,
};
enum {
    OC_BLOCK_LINEAR = 1,
    OC_BLOCK_DOUBLING,
    OC_BLOCK_HALVING,
    OC_BLOCK_BUTTERFLY,
};

/* What tuned's own decision is for so many bytes of all blocks together. */
unsigned oc_previous_owned_decision(oc_ruled_t ruled, uint32_t ranks, uint64_t bytes);

/*
 * ns that it takes. algorithm 0: nobody knows which; then it is as fast as links are. A Reduce is
 * as fast as the faster one of that and of libnbc, since the same is chosen for nonblocking ones.
 */
uint64_t oc_previous_owned_time(const oc_constants_t *constants, const oc_situation_t *situation,
                                oc_ruled_t ruled, unsigned algorithm, uint64_t bytes);

/* "binomial tree" */
const char *oc_previous_owned_name(oc_ruled_t ruled, unsigned algorithm);

#endif
