/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The engine's exchanges over the previous module. Both are reserved as persistent requests when
 * the first collective is issued: the previous module numbers them then, in the order that all
 * ranks share, while they are started whenever a rank gets there.
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

static oc_status_t bootstrap_begin(void *context, const oc_exchange_t *exchange)
{
    mca_coll_optcast_module_t *m = context;
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

static oc_status_t bootstrap_start(void *context, int step)
{
    mca_coll_optcast_module_t *m = context;
    ompi_request_t **request = &m->bootstrap.steps[step];

    m->bootstrap.started = step;
    return OMPI_SUCCESS == (*request)->req_start(1, request) ? OC_OK : OC_ERR_SYSTEM;
}

static oc_status_t bootstrap_test(void *context)
{
    mca_coll_optcast_module_t *m = context;
    const ompi_request_t *request = m->bootstrap.steps[m->bootstrap.started];

    if (!REQUEST_COMPLETE(request)) {
        return OC_IN_PROGRESS;
    }
    return OMPI_SUCCESS == request->req_status.MPI_ERROR ? OC_OK : OC_ERR_SYSTEM;
}

const oc_bootstrap_t mca_coll_optcast_bootstrap = {
    .job = bootstrap_job,
    .begin = bootstrap_begin,
    .start = bootstrap_start,
    .test = bootstrap_test,
    .end = bootstrap_end,
};
