/* SPDX-License-Identifier: BSD-3-Clause */
/* What a program does between the start of operations and the wait for them. */
#ifndef OC_PERF_OUTSIDE_H
#define OC_PERF_OUTSIDE_H

#include <mpi.h>
#include <stdint.h>

#include "tools/perf/work.h"

typedef struct {
    int milliseconds;           /* that it sleeps; 0: it does not */
    oc_perf_work_t *work;       /* NULL, or what it computes instead … */
    uint64_t units;             /* … so much of it */
    int test_every;             /* microseconds between calls of MPI_Testall; 0: there are none */
} oc_perf_outside_t;

/* Returns the seconds that it took. Requests that a test finds complete become MPI_REQUEST_NULL. */
double oc_perf_stay_outside(const oc_perf_outside_t *outside, MPI_Request *requests, int count);

#endif
