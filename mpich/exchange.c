/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The engine asks for an exchange under its lock, where MPICH must not be called: its progress could
 * come back to us. So what is asked for is noted, and done by the thread that waits for the set-up.
 */
#include "mpich/exchange.h"

#include "mpich/pmpi.h"
#include "mpich/state.h"

/* Messages have a communicator of their own: any tag does. */
#define TAG 1

static oc_status_t set_up_job(void *context, oc_job_t *job)
{
    const oc_mpich_state_t *st = &oc_mpich_state;

    (void) context;
    *job = st->terms.job;
    return st->settings_valid ? OC_OK : OC_ERR_INVALID;
}

static oc_status_t set_up_begin(void *context, const oc_exchange_t *exchange)
{
    oc_mpich_exchange_t *x = context;

    x->buffers = *exchange;
    return MPI_COMM_NULL == x->comm ? OC_ERR_INVALID : OC_OK;
}

static oc_status_t set_up_start(void *context, oc_exchange_step_t step)
{
    oc_mpich_exchange_t *x = context;

    x->step = step;
    atomic_store(&x->status, OC_IN_PROGRESS);
    atomic_store(&x->wanted, true);
    return OC_OK;
}

static oc_status_t set_up_test(void *context)
{
    oc_mpich_exchange_t *x = context;

    return (oc_status_t) atomic_load(&x->status);
}

static void set_up_end(void *context)
{
    (void) context;
}

const oc_bootstrap_t oc_mpich_bootstrap = {
    .job = set_up_job,
    .begin = set_up_begin,
    .start = set_up_start,
    .test = set_up_test,
    .end = set_up_end,
};

static int start_contacts(oc_mpich_exchange_t *x)
{
    const oc_exchange_t *b = &x->buffers;
    int size = (int) b->contact_size, rc = MPI_SUCCESS;

    for (unsigned i = 0; MPI_SUCCESS == rc && i < *b->num_neighbours; i++) {
        int peer = (int) b->neighbours[i];

        rc = PMPI_Irecv((char *) b->contacts + i * b->contact_size, size, MPI_BYTE, peer, TAG,
                        x->comm, &x->requests[x->num_requests++]);
        if (MPI_SUCCESS == rc) {
            rc = PMPI_Isend(b->contact, size, MPI_BYTE, peer, TAG, x->comm,
                            &x->requests[x->num_requests++]);
        }
    }
    return rc;
}

static int start_step(oc_mpich_exchange_t *x)
{
    const oc_exchange_t *b = &x->buffers;

    x->num_requests = 0;
    switch (x->step) {
    case OC_EXCHANGE_RECORDS:
        x->num_requests = 1;
        return PMPI_Iallgather(b->record, (int) b->size, MPI_BYTE, b->records, (int) b->size, MPI_BYTE,
                               x->comm, &x->requests[0]);
    case OC_EXCHANGE_CONTACTS:
        return start_contacts(x);
    default:
        x->num_requests = 1;
        return PMPI_Iallreduce(b->vote, b->outcome, OC_VOTE_WORDS, MPI_INT64_T, MPI_MIN, x->comm,
                               &x->requests[0]);
    }
}

/* Whether all that is under way has ended. */
static int test_requests(oc_mpich_exchange_t *x, bool *ended)
{
    int rc = MPI_SUCCESS;

    *ended = true;
    for (int i = 0; MPI_SUCCESS == rc && *ended && i < x->num_requests; i++) {
        int done = 0;

        rc = PMPI_Test(&x->requests[i], &done, MPI_STATUS_IGNORE);
        *ended = 0 != done;
    }
    return rc;
}

bool oc_mpich_exchange_progress(oc_mpich_exchange_t *x)
{
    bool ended = false;
    int rc = MPI_SUCCESS;

    if (atomic_exchange(&x->wanted, false)) {
        rc = start_step(x);
    } else if (OC_IN_PROGRESS != atomic_load(&x->status) || 0 == x->num_requests) {
        /* it has not been asked for, or only just now, by another thread's progress: the next look starts it */
        return true;
    }
    if (MPI_SUCCESS == rc) {
        rc = test_requests(x, &ended);
    }
    if (MPI_SUCCESS == rc && ended) {
        x->num_requests = 0;
        atomic_store(&x->status, OC_OK);
    }
    return MPI_SUCCESS == rc;
}
