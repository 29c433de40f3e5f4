/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The engine's exchanges over the previous module, in one of three ways.
 *
 * If the first collective of a communicator does not block, both exchanges are reserved as
 * persistent requests when it is issued. The previous module numbers its nonblocking collectives in
 * the order in which they are issued, which has to be the same on all ranks, while each rank starts
 * them whenever it gets there.
 *
 * If it blocks, all ranks are inside that same call and stay there until the set-up is over. Then
 * the records go by the previous module's blocking Allgather, from the waiting thread and without
 * locks: the nonblocking one may connect each rank to each. The votes are nonblocking Allreduces,
 * issued when it is time: all ranks vote equally often. A rank that is ready early would wait for
 * the others inside a blocking one, where waiting costs a processor that they may need to become
 * ready. They are not persistent: Open MPI does not give back all that such a request has.
 *
 * For a persistent operation they are reserved when it is initialised, because ranks may start
 * such operations in any order; that is before the engine says where its buffers are.
 */
#include "coll_optcast.h"

static oc_status_t bootstrap_job(void *context, oc_job_t *job)
{
    (void) context;
    return mca_coll_optcast_job_lookup(job);
}

static oc_status_t reserve(mca_coll_optcast_bootstrap_t *b, const oc_exchange_t *exchange)
{
    const mca_coll_optcast_module_t *m = b->module;
    struct ompi_info_t *info = (struct ompi_info_t *) MPI_INFO_NULL;
    oc_mpi_count_t size = (oc_mpi_count_t) exchange->size;
    int rc;

    rc = m->prev_allgather_init(exchange->record, size, MPI_BYTE, exchange->records, size,
                                MPI_BYTE, m->comm, info, &b->steps[0],
                                m->prev_allgather_init_module);
    if (OMPI_SUCCESS == rc) {
        rc = m->prev_allreduce_init(exchange->vote, exchange->outcome, 1, MPI_INT64_T, MPI_MIN,
                                    m->comm, info, &b->steps[1], m->prev_allreduce_init_module);
    }
    if (OMPI_SUCCESS != rc) {
        mca_coll_optcast_bootstrap_release(b);
        return OC_ERR_SYSTEM;
    }
    return OC_OK;
}

oc_status_t mca_coll_optcast_bootstrap_reserve(mca_coll_optcast_bootstrap_t *b)
{
    size_t size = oc_record_size(b->service);
    uint8_t *buffer = calloc(1 + (size_t) ompi_comm_size(b->module->comm), size);

    if (NULL == buffer) {
        return OC_ERR_NO_MEMORY;
    }
    b->buffer = buffer;
    b->early = (oc_exchange_t) {
        .record = buffer, .records = buffer + size, .size = size,
        .vote = &b->vote, .outcome = &b->outcome};
    return reserve(b, &b->early);
}

void mca_coll_optcast_bootstrap_release(mca_coll_optcast_bootstrap_t *b)
{
    for (int i = 0; i < 2; i++) {
        if (NULL != b->steps[i]) {
            (void) ompi_request_free(&b->steps[i]);
            b->steps[i] = NULL;
        }
    }
    free(b->buffer);
    b->buffer = NULL;
}

static void bootstrap_end(void *context)
{
    mca_coll_optcast_bootstrap_release(context);
}

static oc_status_t bootstrap_begin(void *context, const oc_exchange_t *exchange)
{
    mca_coll_optcast_bootstrap_t *b = context;

    b->exchange = *exchange;
    return b->blocking || NULL != b->buffer ? OC_OK : reserve(b, exchange);
}

/* Between the engine's buffers and those that were reserved early. */
static void copy_in(mca_coll_optcast_bootstrap_t *b, int step)
{
    if (0 == step) {
        memcpy(b->early.record, b->exchange.record, b->exchange.size);
    } else {
        b->vote = *b->exchange.vote;
    }
}

static void copy_out(mca_coll_optcast_bootstrap_t *b, int step)
{
    if (0 == step) {
        memcpy(b->exchange.records, b->early.records,
               (size_t) ompi_comm_size(b->module->comm) * b->exchange.size);
    } else {
        *b->exchange.outcome = b->outcome;
    }
}

static oc_status_t start_blocking(mca_coll_optcast_bootstrap_t *b, int step)
{
    const mca_coll_optcast_module_t *m = b->module;
    int rc;

    if (0 == step) {
        atomic_store(&b->wanted, true);
        return OC_OK;
    }
    rc = m->prev_iallreduce(b->exchange.vote, b->exchange.outcome, 1, MPI_INT64_T, MPI_MIN, m->comm,
                            &b->steps[step], m->prev_iallreduce_module);
    return OMPI_SUCCESS == rc ? OC_OK : OC_ERR_SYSTEM;
}

static oc_status_t bootstrap_start(void *context, int step)
{
    mca_coll_optcast_bootstrap_t *b = context;
    ompi_request_t **request = &b->steps[step];

    b->started = step;
    if (b->blocking) {
        return start_blocking(b, step);
    }
    if (NULL != b->buffer) {
        copy_in(b, step);
    }
    return OMPI_SUCCESS == (*request)->req_start(1, request) ? OC_OK : OC_ERR_SYSTEM;
}

static oc_status_t bootstrap_test(void *context)
{
    mca_coll_optcast_bootstrap_t *b = context;
    const ompi_request_t *request = b->steps[b->started];
    int error;

    if (NULL == request ? atomic_load(&b->wanted) : !REQUEST_COMPLETE(request)) {
        return OC_IN_PROGRESS;
    }
    /* another thread may have completed it */
    atomic_thread_fence(memory_order_acquire);
    error = NULL == request ? b->error : request->req_status.MPI_ERROR;
    if (b->blocking) {
        mca_coll_optcast_bootstrap_release(b);
    } else if (OMPI_SUCCESS == error && NULL != b->buffer) {
        copy_out(b, b->started);
    }
    return OMPI_SUCCESS == error ? OC_OK : OC_ERR_SYSTEM;
}

void mca_coll_optcast_bootstrap_serve(mca_coll_optcast_bootstrap_t *b)
{
    mca_coll_optcast_module_t *m = b->module;
    oc_mpi_count_t size;

    if (!atomic_load(&b->wanted)) {
        return;
    }
    size = (oc_mpi_count_t) b->exchange.size;
    atomic_fetch_add(&m->inside, 1);
    b->error = m->prev_allgather(b->exchange.record, size, MPI_BYTE, b->exchange.records, size,
                                 MPI_BYTE, m->comm, m->prev_allgather_module);
    atomic_fetch_sub(&m->inside, 1);
    atomic_store(&b->wanted, false);
}

const oc_bootstrap_t mca_coll_optcast_bootstrap = {
    .job = bootstrap_job,
    .begin = bootstrap_begin,
    .start = bootstrap_start,
    .test = bootstrap_test,
    .end = bootstrap_end,
};
