/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Allreduces of tests about reduction shapes. Results are compared, element by element, with scalar
 * code that folds inside hosts, then over the hosts of a leaf, then over leaves: ranks are on
 * rank->hosts (NULL: each has a host of its own) and at leaves (NULL: all at one). What is wrong
 * ends the rank.
 */
#ifndef OC_TESTS_ENGINE_REDUCTIONS_H
#define OC_TESTS_ENGINE_REDUCTIONS_H

#include "tests/engine/harness.h"

#define NO_LAST UINT32_MAX

/*
 * What becomes of one element of each rank, which stand in rows of the type's size. The host of rank
 * `last` comes behind all others, unless that is NO_LAST.
 */
void expect_element(const rank_t *rank, const uint8_t *leaves, unsigned op, unsigned type,
                    uint32_t last, const uint8_t *elements, uint8_t *result);

/* Makes all NaNs of a vector the same one. */
void unify_all(unsigned type, uint8_t *vector, size_t count);

/*
 * One of random values on group 0: the result is right, and neither what follows it nor a
 * contribution that is elsewhere has changed.
 */
void reduce_one(rank_t *rank, const uint8_t *leaves, unsigned op, unsigned type, size_t count,
                bool in_place);

/* Every operation on every type, as a message and as chunks. */
void reduce_pairs(rank_t *rank, const uint8_t *leaves);

/* Around every limit: a message, a chunk, the chunks of all ranks, the ring, all in flight. */
void reduce_sizes(rank_t *rank, const uint8_t *leaves);

#define NUM_MIXED 6

/*
 * So many operations at a time, the i-th of counts[i % NUM_MIXED] floats, on two groups begun in
 * different orders. All are offloaded, within so many seconds; they are the first of their rank.
 */
void reduce_many(rank_t *rank, unsigned operations, const size_t counts[NUM_MIXED],
                 unsigned seconds);

/* The same, with more than run at a time: small and large mixed. */
void reduce_in_flight(rank_t *rank);

#endif
