/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Contributions to small collectives, and which of them may be dropped. Of the aggregator, on its
 * thread.
 */
#ifndef OC_SERVER_AGGREGATOR_CACHE_H
#define OC_SERVER_AGGREGATOR_CACHE_H

#include "server/aggregator/aggregator_types.h"

/* Where the data of a rank's piece begin: the result takes the place of rank 0's, with a header. */
size_t oc_piece_offset(uint32_t rank);
/* Bytes. */
size_t oc_piece_size(const oc_reduction_t *reduction, uint32_t rank);
/* Of the pool, to held[rank]; false: there is none. */
bool oc_piece_take(oc_reduction_t *reduction, uint32_t rank);
/* Back to the pool, if there is one. What is of a reserve is given back by the caller. */
void oc_piece_give(oc_reduction_t *reduction, uint32_t rank);
/* So much of it, as the pool counts, may be dropped from now on. */
void oc_cache_add(oc_reduction_t *reduction, size_t cost);
/* Nothing of it may be dropped any more. */
void oc_cache_leave(oc_reduction_t *reduction);
/* Walks all that may be dropped: what is wrong, or NULL; see base/check.h. */
const char *oc_cache_check(const oc_aggregator_t *aggregator);
/* What the pieces of a small collective count in the pool; 0 of a large one. */
size_t oc_pieces_cost(const oc_reduction_t *reduction);
/*
 * Drops what other collectives do not need yet, if that makes room for so much. reduction: who
 * wants it, and keeps what it has; or NULL.
 */
bool oc_cache_make_room(oc_aggregator_t *aggregator, const oc_reduction_t *reduction, size_t size);

#endif
