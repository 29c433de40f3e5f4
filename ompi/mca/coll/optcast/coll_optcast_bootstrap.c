/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The engine's exchanges over the previous module, in one of two ways.
 *
 * If the first collective of a communicator blocks, all ranks are inside that same call and stay
 * there until the set-up is over: the previous module's blocking collectives can be used, from
 * the waiting thread and without locks.
 *
 * If it does not block, both exchanges are reserved as persistent requests when it is issued. The
 * previous module numbers its nonblocking collectives in the order in which they are issued,
 * which has to be the same on all ranks, while each rank starts them whenever it gets there.
 */
#include "coll_optcast.h"

static oc_status_t bootstrap_job(void *context, oc_job_t *job)
{
    (void) context;
    return mca_coll_optcast_job_lookup(job);
}

static void bootstrap_end(void *context)
{
    mca_coll_optcast_module_t *m = context;

    for (int i = 0; i < 2; i++) {
        if (NULL != m->bootstrap.steps[i]) {
            (void) ompi_request_free(&m->bootstrap.steps[i]);
            m->bootstrap.steps[i] = NULL;
        }
    }
}

static oc_status_t reserve(mca_coll_optcast_module_t *m, const oc_exchange_t *exchange)
{
    struct ompi_info_t *info = (struct ompi_info_t *) MPI_INFO_NULL;
    oc_mpi_count_t size = (oc_mpi_count_t) exchange->size;
    int rc;

    rc = m->prev_allgather_init(exchange->record, size, MPI_BYTE, exchange->records, size,
                                MPI_BYTE, m->comm, info, &m->bootstrap.steps[0],
                                m->prev_allgather_init_module);
    if (OMPI_SUCCESS == rc) {
        rc = m->prev_allreduce_init(exchange->vote, exchange->outcome, 1, MPI_INT64_T, MPI_MIN,
                                    m->comm, info, &m->bootstrap.steps[1],
                                    m->prev_allreduce_init_module);
    }
    if (OMPI_SUCCESS != rc) {
        bootstrap_end(m);
        return OC_ERR_SYSTEM;
    }
    return OC_OK;
}

static oc_status_t bootstrap_begin(void *context, const oc_exchange_t *exchange)
{
    mca_coll_optcast_module_t *m = context;

    m->bootstrap.exchange = *exchange;
    return m->bootstrap.blocking ? OC_OK : reserve(m, exchange);
}

static oc_status_t bootstrap_start(void *context, int step)
{
    mca_coll_optcast_module_t *m = context;
    ompi_request_t **request = &m->bootstrap.steps[step];

    if (m->bootstrap.blocking) {
        atomic_store(&m->bootstrap.wanted, step + 1);
        return OC_OK;
    }
    m->bootstrap.started = step;
    return OMPI_SUCCESS == (*request)->req_start(1, request) ? OC_OK : OC_ERR_SYSTEM;
}

static oc_status_t bootstrap_test(void *context)
{
    mca_coll_optcast_module_t *m = context;
    const ompi_request_t *request = m->bootstrap.steps[m->bootstrap.started];
    int error;

    if (m->bootstrap.blocking) {
        if (atomic_load(&m->bootstrap.done) != atomic_load(&m->bootstrap.wanted)) {
            return OC_IN_PROGRESS;
        }
        error = m->bootstrap.error;
    } else {
        if (!REQUEST_COMPLETE(request)) {
            return OC_IN_PROGRESS;
        }
        error = request->req_status.MPI_ERROR;
    }
    return OMPI_SUCCESS == error ? OC_OK : OC_ERR_SYSTEM;
}

void mca_coll_optcast_bootstrap_serve(mca_coll_optcast_module_t *m)
{
    const oc_exchange_t *exchange = &m->bootstrap.exchange;
    oc_mpi_count_t size = (oc_mpi_count_t) exchange->size;
    int wanted = atomic_load(&m->bootstrap.wanted);

    if (!m->bootstrap.blocking || atomic_load(&m->bootstrap.done) == wanted) {
        return;
    }
    if (1 == wanted) {
        m->bootstrap.error = m->prev_allgather(exchange->record, size, MPI_BYTE,
                                               exchange->records, size, MPI_BYTE, m->comm,
                                               m->prev_allgather_module);
    } else {
        m->bootstrap.error = m->prev_allreduce(exchange->vote, exchange->outcome, 1, MPI_INT64_T,
                                               MPI_MIN, m->comm, m->prev_allreduce_module);
    }
    atomic_store(&m->bootstrap.done, wanted);
}

const oc_bootstrap_t mca_coll_optcast_bootstrap = {
    .job = bootstrap_job,
    .begin = bootstrap_begin,
    .start = bootstrap_start,
    .test = bootstrap_test,
    .end = bootstrap_end,
};
