/* SPDX-License-Identifier: BSD-3-Clause */
/* One row of the table: buffers, iterations, times, checks and counters of one size. */
#ifndef OC_PERF_MEASURE_H
#define OC_PERF_MEASURE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tools/perf/component.h"
#include "tools/perf/layout.h"
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
    uint64_t wrong;                /* elements, of all ranks and iterations */
    double processor;              /* seconds of one operation, of all ranks together: the mean */
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

typedef struct oc_perf_meter oc_perf_meter_t;

/*
 * All ranks together. NULL, on all ranks and after a message, if one of them has no memory, or if
 * sizes or interfaces do not work out. Options, job and component outlive it.
 */
oc_perf_meter_t *oc_perf_meter_open(const oc_perf_options_t *options, const oc_perf_job_t *job,
                                    const oc_perf_component_t *component);
void oc_perf_meter_close(oc_perf_meter_t *meter);

/* For the rows that follow, on all ranks alike: no more iterations than the options say. */
void oc_perf_meter_effort(oc_perf_meter_t *meter, int iterations, int warmup);

/* All ranks together: measures with vectors of at most size bytes. false: no memory, as above. */
bool oc_perf_meter_row(oc_perf_meter_t *meter, uint64_t size, oc_perf_row_t *row);
void oc_perf_row_free(oc_perf_row_t *row);

#endif
