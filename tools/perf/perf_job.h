/* SPDX-License-Identifier: BSD-3-Clause */
/* The ranks of this job: communicators, hosts, and what all ranks have to know alike. */
#ifndef OC_PERF_JOB_H
#define OC_PERF_JOB_H

#include <mpi.h>
#include <stdbool.h>
#include <stdio.h>

#include "tools/perf/arguments.h"
#include "tools/perf/component.h"

#define OC_PERF_ERROR_SIZE 512

typedef struct {
    const char *program;        /* for messages */
    int rank, ranks;
    int hosts, ranks_per_host;  /* the most ranks that a host has */
    bool leader;                /* of the ranks of its host */
    bool suspended;             /* the communicators that do without coll/optcast really do */
    MPI_Comm control;           /* of this program itself; without coll/optcast if possible */
    MPI_Comm ours;              /* what is measured */
    MPI_Comm previous;          /* the same without coll/optcast; or another one with it */
} oc_perf_job_t;

/* ours is made in the mode that the component has then. */
void oc_perf_job_open(oc_perf_job_t *job, const char *program,
                      const oc_perf_component_t *component);
void oc_perf_job_close(oc_perf_job_t *job);

/*
 * All ranks together: true if error is "" on all of them. Otherwise rank 0 prints the error of
 * the first rank that has one, in one line.
 */
bool oc_perf_job_agree(const oc_perf_job_t *job, const char *error);

/* The MPI library and its version, in one line. */
void oc_perf_library(char *text, size_t size);

/*
 * Instead of measuring: rank 0 speaks for all, who have the same arguments. Returns the exit
 * status.
 */
int oc_perf_answer(oc_perf_command_t command, const char *program, const char *version,
                   void (*help)(FILE *out), const char *error);

#endif
