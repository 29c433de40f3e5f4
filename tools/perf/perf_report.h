/* SPDX-License-Identifier: BSD-3-Clause */
/* The header and the table for people, and progress on a terminal. On rank 0 only. */
#ifndef OC_PERF_REPORT_H
#define OC_PERF_REPORT_H

#include "tools/perf/measure.h"

/* What every row has in common; facts for the header of all outputs. */
typedef struct {
    const oc_perf_options_t *options;
    const oc_perf_job_t *job;
    const oc_perf_component_t *component;
    const char *version;           /* of optcast-perf */
    char mpi[256];                 /* library and version */
} oc_perf_facts_t;

oc_perf_facts_t oc_perf_facts(const oc_perf_options_t *options, const oc_perf_job_t *job,
                              const oc_perf_component_t *component);

/* Names of the row's type and operation, or NULL. */
const char *oc_perf_facts_type(const oc_perf_facts_t *facts);
const char *oc_perf_facts_op(const oc_perf_facts_t *facts);

/*
 * GB/s with GB = 10^9 bytes; 0 without data. Of two operations at once: by the size of one, and the sum of both. Of a
 * stream: by the sizes of all.
 */
double oc_perf_algbw(const oc_perf_facts_t *facts, const oc_perf_row_t *row);
double oc_perf_busbw(const oc_perf_facts_t *facts, const oc_perf_row_t *row);

/* The previous module's median by ours: above 1, coll/optcast is faster. */
double oc_perf_ratio(const oc_perf_row_t *row);

void oc_perf_print_header(const oc_perf_facts_t *facts);
void oc_perf_print_row(const oc_perf_facts_t *facts, const oc_perf_row_t *row);

/* To a terminal on stderr, if there is one: which size is measured; 0 ends it. */
void oc_perf_progress(uint64_t size);

#endif
