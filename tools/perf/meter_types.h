/* SPDX-License-Identifier: BSD-3-Clause */
/* The data model of a measurement, which the files that carry it out share. */
#ifndef OC_PERF_METER_TYPES_H
#define OC_PERF_METER_TYPES_H

#include "tools/perf/measure.h"
#include "tools/perf/part.h"

struct oc_perf_meter {
    const oc_perf_options_t *options;
    const oc_perf_job_t *job;
    const oc_perf_component_t *component;
    int sides;                    /* 1, or 2 if it compares */
    int iterations, warmup;       /* of a row */
    oc_perf_wire_t wire;          /* open on leaders only */
    bool wire_anywhere;
    oc_perf_part_t parts[OC_PERF_MAX_CALLS]; /* what an iteration does at once */
    int num_parts;
    MPI_Comm comms[OC_PERF_NUM_SIDES][OC_PERF_MAX_CALLS]; /* of each part */
    bool own_comms;               /* those of the second part are the meter's own */
    oc_perf_work_t *work;         /* if it computes … */
    uint64_t units;               /* … in each iteration */
    double *seconds, *own;        /* of this rank, of one side after the other */
    double *alone, *beside;       /* used if it computes */
    uint64_t operations;          /* so far: no two of them use the same values */
    oc_perf_row_t *row;
    char wrong[OC_PERF_NUM_SIDES][OC_PERF_ERROR_SIZE]; /* the first of the row; "": none */
};

#endif
