/* SPDX-License-Identifier: BSD-3-Clause */
/* One of the operations that are measured together: its arguments, its buffers, and what has to be in them. */
#ifndef OC_PERF_PART_H
#define OC_PERF_PART_H

#include "tools/perf/calls.h"
#include "tools/perf/perf_job.h"
#include "tools/perf/values.h"

typedef struct {
    oc_perf_options_t options;     /* as if this were the only collective */
    unsigned rank, ranks;
    unsigned char *send, *receive; /* large enough for the largest size */
    int *counts, *first;           /* blocks of all ranks */
    oc_perf_pattern_t input, result;
    oc_perf_layout_t layout;       /* of the row */
    oc_perf_call_t call;
    uint64_t operation;            /* its number, which its values depend on */
} oc_perf_part_t;

/*
 * The one of that index, from 0, of the options. false, with a sentence in error: no memory. To be closed in either case.
 */
bool oc_perf_part_open(oc_perf_part_t *part, const oc_perf_options_t *options, int index,
                       const oc_perf_job_t *job, char *error, size_t size);
void oc_perf_part_close(oc_perf_part_t *part);

/* The first operation shall not wait for pages; after all ranks have their buffers. */
void oc_perf_part_touch(oc_perf_part_t *part);

/* From now on with vectors of at most so many bytes. */
void oc_perf_part_resize(oc_perf_part_t *part, uint64_t size);

#endif
