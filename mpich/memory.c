/* SPDX-License-Identifier: BSD-3-Clause */
/* The end of a job that one rank cannot go on with. */
#include "mpich/memory.h"

#include <stdlib.h>

#include "base/log.h"

#include "mpich/pmpi.h"

void oc_mpich_end_job(MPI_Comm comm, const char *name, const char *why)
{
    oc_error("communicator \"%s\": %s, and the other ranks wait for it; the job ends", name, why);
    (void) PMPI_Abort(comm, MPI_ERR_OTHER);
    abort();
}

void oc_mpich_need(MPI_Comm comm, const char *name, const char *what)
{
    oc_error("communicator \"%s\": out of memory for %s, which the other ranks count on; the job ends",
             name, what);
    (void) PMPI_Abort(comm, MPI_ERR_NO_MEM);
    abort();
}
