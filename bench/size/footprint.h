/* SPDX-License-Identifier: BSD-3-Clause */
/* What thousands of ranks take of the memory of one process. */
#ifndef OC_BENCH_SIZE_FOOTPRINT_H
#define OC_BENCH_SIZE_FOOTPRINT_H

#include "bench/size/crowd.h"
#include "tests/engine/harness.h"

/* KiB that UCX takes for so many endpoints to the crowd's worker, in a process of its own. */
double oc_memory_of_endpoints(const oc_crowd_t *crowd, unsigned count);

typedef struct {
    double setup;              /* KiB of the heap while a communicator is set up, beyond … */
    double live;               /* … and when it is live */
    double process;            /* … what the process has before it is made: KiB resident … */
    double ucx;                /* … and of those, what UCX's worker takes */
} oc_rank_memory_t;

/* Of one rank in a communicator of so many, the others of which only seem to be there. */
bool oc_memory_of_rank(const test_server_t *server, unsigned ranks, oc_rank_memory_t *memory);

#endif
