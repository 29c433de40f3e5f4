/* SPDX-License-Identifier: BSD-3-Clause */
/* The data model of a measurement, which the files that carry it out share. */
#ifndef OC_PERF_METER_H
#define OC_PERF_METER_H

#include "tools/perf/calls.h"
#include "tools/perf/measure.h"
#include "tools/perf/values.h"

struct oc_perf_meter {
    const oc_perf_options_t *options;
    const oc_perf_job_t *job;
    const oc_perf_component_t *component;
    int sides;                    /* 1, or 2 if it compares */
    int iterations, warmup;       /* of a row */
    oc_perf_wire_t wire;          /* open on leaders only */
    bool wire_anywhere;
    unsigned char *send, *receive; /* large enough for the largest size */
    double *seconds, *own;        /* of this rank, of one side after the other */
    int *counts, *first;          /* blocks of all ranks */
    oc_perf_pattern_t input, result;
    uint64_t operations;          /* so far: no two of them use the same values */
    oc_perf_layout_t layout;      /* of the row */
    oc_perf_call_t call;
    oc_perf_row_t *row;
    char wrong[OC_PERF_NUM_SIDES][OC_PERF_ERROR_SIZE]; /* the first of the row; "": none */
};

#endif
