/* SPDX-License-Identifier: BSD-3-Clause */
/* The ranks of this job: communicators, hosts, and what all ranks have to know alike. */
#ifndef OC_PERF_JOB_H
#define OC_PERF_JOB_H

#include <mpi.h>
#include <stdbool.h>

#include "tools/perf/component.h"

#define OC_PERF_ERROR_SIZE 512

typedef struct {
    int rank, ranks;
    int hosts, ranks_per_host;  /* the most ranks that a host has */
    bool leader;                /* of the ranks of its host */
    bool suspended;             /* the communicators that do without coll/optcast really do */
    MPI_Comm control;           /* of this program itself; without coll/optcast if possible */
    MPI_Comm ours;              /* what is measured */
    MPI_Comm previous;          /* the same without coll/optcast; or another one with it */
} oc_perf_job_t;

void oc_perf_job_open(oc_perf_job_t *job, const oc_perf_component_t *component);
void oc_perf_job_close(oc_perf_job_t *job);

/*
 * All ranks together: true if error is "" on all of them. Otherwise rank 0 prints the error of
 * the first rank that has one, in one line.
 */
bool oc_perf_job_agree(const oc_perf_job_t *job, const char *error);

#endif
