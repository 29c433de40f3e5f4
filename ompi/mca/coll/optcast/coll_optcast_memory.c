/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What a rank needs so that it has the same modules, and takes the same steps, as the others: they
 * do not wait to be told that it has no memory for that. So there is some in reserve; and a job
 * goes on with all of its ranks or ends, and says why.
 */
#include "coll_optcast_memory.h"

#include "ompi/runtime/mpiruntime.h"

#include "coll_optcast_report.h"
#include "coll_optcast_state.h"

/* Many times what all objects of a communicator take. */
#define RESERVE ((size_t) 256 << 10)

static void *reserve;

void mca_coll_optcast_memory_open(void)
{
    mca_coll_optcast_state_t *st = &mca_coll_optcast_state;

    OPAL_THREAD_LOCK(&st->lock);
    if (NULL == reserve) {
        reserve = malloc(RESERVE);
        if (NULL != reserve) {
            memset(reserve, 1, RESERVE); /* or the system would only have promised it */
        }
    }
    OPAL_THREAD_UNLOCK(&st->lock);
}

void mca_coll_optcast_memory_close(void)
{
    free(reserve);
    reserve = NULL;
}

void mca_coll_optcast_need(const ompi_communicator_t *comm, const char *what)
{
    mca_coll_optcast_state_t *st = &mca_coll_optcast_state;
    void *last;

    OPAL_THREAD_LOCK(&st->lock);
    last = reserve;
    reserve = NULL;
    OPAL_THREAD_UNLOCK(&st->lock);
    if (NULL != last) {
        free(last);
        return;
    }
    opal_output(0, "optcast: communicator \"%s\": out of memory for %s, which the other ranks count on; "
                "the job ends", mca_coll_optcast_name(comm), what);
    (void) ompi_mpi_abort((ompi_communicator_t *) comm, MPI_ERR_NO_MEM);
}

void mca_coll_optcast_end_job(const ompi_communicator_t *comm, const char *why)
{
    opal_output(0, "optcast: communicator \"%s\": %s, and the other ranks wait for it; the job ends",
                mca_coll_optcast_name(comm), why);
    (void) ompi_mpi_abort((ompi_communicator_t *) comm, MPI_ERR_OTHER);
}
