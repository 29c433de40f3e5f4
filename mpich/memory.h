/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What a rank needs so that it takes the same steps as the others, who do not wait to be told that it has no
 * memory for that: a job goes on with all of its ranks or ends, and says why.
 */
#ifndef OC_MPICH_MEMORY_H
#define OC_MPICH_MEMORY_H

#include <mpi.h>

/* Memory for what is missing: ends the job. */
void oc_mpich_need(MPI_Comm comm, const char *name, const char *what) __attribute__((noreturn));
/* Ends the job, and says why. name: of the communicator. */
void oc_mpich_end_job(MPI_Comm comm, const char *name, const char *why) __attribute__((noreturn));

#endif
