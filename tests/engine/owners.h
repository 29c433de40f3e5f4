/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Reductions whose result goes to some ranks only. Results are compared, element by element, with
 * scalar code that folds as reductions.h says; in a Reduce_scatter the owner's host comes last. What is
 * wrong ends the rank.
 */
#ifndef OC_TESTS_ENGINE_OWNERS_H
#define OC_TESTS_ENGINE_OWNERS_H

#include "tests/engine/harness.h"

/* Ways to cut a vector into blocks. */
typedef enum {
    BLOCKS_EQUAL,
    BLOCKS_GROWING,           /* each one larger than the one before, the first one empty */
    BLOCKS_HALF,              /* one has half of the vector */
    BLOCKS_SINGLE,            /* one has all of it */
    BLOCKS_ODD,               /* elements left over, and empty ones */
    BLOCKS_WAYS
} blocks_t;

/* Whether its results are to be in rank order, as the settings of the rank say. */
bool owners_in_order(const rank_t *rank);

/*
 * A Reduce_scatter of about so many elements of random values on group 0: the block is right, and
 * neither what is around it nor the vector, unless it is in place, has changed.
 */
void scatter_one(rank_t *rank, const uint8_t *leaves, unsigned op, unsigned type, size_t count,
                 blocks_t way, bool in_place);

/* A Reduce, as above; on other ranks than the root there is no receive buffer. */
void root_one(rank_t *rank, const uint8_t *leaves, unsigned op, unsigned type, size_t count,
              uint32_t root, bool in_place);

/* Every operation on every type, both kinds. */
void owner_pairs(rank_t *rank, const uint8_t *leaves);

/* Around every limit, all ways to cut it, and each rank as a root. */
void owner_sizes(rank_t *rank, const uint8_t *leaves);

/* So many of all kinds at a time, on two groups begun in different orders. */
void owners_in_flight(rank_t *rank, unsigned operations);

#endif
