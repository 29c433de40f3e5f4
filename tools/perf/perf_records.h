/* SPDX-License-Identifier: BSD-3-Clause */
/* The results for programs: JSON and CSV. */
#ifndef OC_PERF_RECORDS_H
#define OC_PERF_RECORDS_H

#include <stdio.h>

#include "tools/perf/perf_report.h"

/* Errors are in ferror(out). */
void oc_perf_write_json(FILE *out, const oc_perf_facts_t *facts, const oc_perf_row_t *rows,
                        size_t count);
void oc_perf_write_csv(FILE *out, const oc_perf_facts_t *facts, const oc_perf_row_t *rows,
                       size_t count);

#endif
