/* SPDX-License-Identifier: BSD-3-Clause */
/* One large Allreduce of a crowd that has joined a flat communicator, by messages alone. */
#ifndef OC_BENCH_SIZE_REDUCE_H
#define OC_BENCH_SIZE_REDUCE_H

#include "bench/size/crowd.h"

/*
 * Each aggregator gets one chunk of the largest size from each rank. Seconds that it took, or 0 if
 * it did not end, or was not right.
 */
double oc_reduce_once(oc_crowd_t *crowd, const oc_crowd_join_t *join);

#endif
