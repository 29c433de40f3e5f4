/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What liboptcast-mpich.so tells, if it is in the process: MPICH has no room for variables of others in MPI_T.
 * Linked to nothing: without the library none of its functions is there.
 */
#ifndef OC_PERF_PRELOADED_H
#define OC_PERF_PRELOADED_H

#include <stdbool.h>
#include <stdint.h>

#include "mpich/mpich_counters.h"
#include "mpich/mpich_values.h"

typedef struct {
    unsigned (*counters)(optcast_mpi_counter_t *, unsigned); /* NULL: there is no library */
    unsigned (*setting)(unsigned, optcast_mpi_setting_t *);
    int (*mode)(const char *);
} oc_perf_preloaded_t;

/* Looks for the library. Whether it is there, and is one that has all of this. */
bool oc_perf_preloaded_find(oc_perf_preloaded_t *preloaded);
/* 0 if it has no such counter. */
uint64_t oc_perf_preloaded_count(const oc_perf_preloaded_t *preloaded, const char *name);

#endif
