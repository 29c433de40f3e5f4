/* SPDX-License-Identifier: BSD-3-Clause */
/* Something to compute: products of matrices that stay in a cache, in small units. One thread at a time. No MPI. */
#ifndef OC_PERF_WORK_H
#define OC_PERF_WORK_H

#include <stdint.h>

typedef struct oc_perf_work oc_perf_work_t;

/* NULL: no memory. */
oc_perf_work_t *oc_perf_work_new(void);
/* NULL is nothing. */
void oc_perf_work_free(oc_perf_work_t *work);

/* Some 20 to 100 us on a processor of today. */
void oc_perf_work_unit(oc_perf_work_t *work);

/* How many units take so many milliseconds, at least 1: computes for about that long, and uses the fastest parts. */
uint64_t oc_perf_work_units(oc_perf_work_t *work, int milliseconds);

#endif
