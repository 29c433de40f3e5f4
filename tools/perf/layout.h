/* SPDX-License-Identifier: BSD-3-Clause */
/* What a size means for a collective: counts, buffers, and the definitions of bandwidth. No MPI. */
#ifndef OC_PERF_LAYOUT_H
#define OC_PERF_LAYOUT_H

#include <stddef.h>
#include <stdint.h>

#include "tools/perf/perf_options.h"

/*
 * The whole vector is what one rank contributes to allreduce, reduce, reduce_scatter(_block) and
 * bcast, and what all ranks together contribute to allgather and allgatherv. Its elements are
 * numbered; blocks of ranks follow each other in it.
 */
typedef struct {
    uint64_t total;             /* elements of the whole vector */
    uint64_t count;             /* argument of the call; of unequal blocks the largest */
    uint64_t send, receive;     /* elements of this rank's buffers; 0: none */
    uint64_t input;             /* elements that this rank has to fill ... */
    uint64_t input_first;       /* ... from this one of the whole vector on */
    uint64_t input_at;          /* ... here in the buffer */
    bool input_in_receive;      /* ... that it receives into */
    uint64_t output;            /* elements that this rank gets, from the begin of its buffer */
    uint64_t output_first;
} oc_perf_layout_t;

/* Of a pair the options of one, 0 or 1, for which the other is the second; all of a stream have the same. */
oc_perf_options_t oc_perf_options_of(const oc_perf_options_t *options, int index);

/*
 * For at most size bytes, rounded down to what can be divided, but at least one element (of
 * each rank).
 */
oc_perf_layout_t oc_perf_layout(const oc_perf_options_t *options, uint64_t size, unsigned rank,
                                unsigned ranks);

/*
 * A rank's share of a vector of that many elements: equal, but for a rest of one element, or, by
 * the options, for rank 0.
 */
uint64_t oc_perf_block_first(const oc_perf_options_t *options, uint64_t total, unsigned rank,
                             unsigned ranks);
uint64_t oc_perf_block_count(const oc_perf_options_t *options, uint64_t total, unsigned rank,
                             unsigned ranks);

/* Bus bandwidth per algorithm bandwidth, as nccl-tests define it; 0 without data. */
double oc_perf_bus_factor(oc_perf_collective_t collective, unsigned ranks);

#endif
