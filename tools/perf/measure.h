/* SPDX-License-Identifier: BSD-3-Clause */
/* One row of the table: buffers, iterations, times, checks and counters of one size. */
#ifndef OC_PERF_MEASURE_H
#define OC_PERF_MEASURE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tools/perf/component.h"
#include "tools/perf/layout.h"
#include "tools/perf/meter.h"
#include "tools/perf/perf_job.h"
#include "tools/perf/wire.h"

typedef struct {
    bool known;
    double sent_max, received_max; /* bytes of one operation, of the host that has most */
    double sent_sum, received_sum;
    int hosts;                     /* whose counters could be read */
} oc_perf_wire_use_t;

/* What was found on one communicator. Times are on rank 0 only, in seconds. */
typedef struct {
    double *seconds;               /* of each iteration, that of the slowest rank */
    double median, min, max;
    double *own;                   /* if it overlaps: those of operations waited for at once … */
    double own_median;             /* … */
    double hidden;                 /* … and the part of these that was not waited for: 0 to 1 */
    double *alone, *beside;        /* if it computes: that without an operation, and beside one … */
    double alone_median, beside_median;
    double slowdown;               /* … and what it lost: 0.1 if it took 1.1 times as long */
    uint64_t wrong;                /* elements, of all ranks and iterations */
    double processor;              /* seconds of one iteration, of all ranks together: the mean … */
    double threads;                /* … and of that all but the thread that calls MPI */
    oc_perf_counters_t counters;   /* of all timed iterations: offloaded is that of the rank
                                    * with the least, the others of that with the most */
    oc_perf_wire_use_t wire;
} oc_perf_side_t;

enum { OC_PERF_OURS, OC_PERF_PREVIOUS, OC_PERF_NUM_SIDES };

typedef struct {
    uint64_t bytes, count;
    int iterations;                /* that were timed */
    oc_perf_side_t sides[OC_PERF_NUM_SIDES];
} oc_perf_row_t;

/* For the rows that follow, on all ranks alike: no more iterations than the options say. */
void oc_perf_meter_effort(oc_perf_meter_t *meter, int iterations, int warmup);

/* All ranks together: measures with vectors of at most size bytes. false: no memory, as above. */
bool oc_perf_meter_row(oc_perf_meter_t *meter, uint64_t size, oc_perf_row_t *row);
void oc_perf_row_free(oc_perf_row_t *row);

#endif
