/* SPDX-License-Identifier: BSD-3-Clause */
/* MPI_Reduce_scatter_block and MPI_Reduce_scatter, nonblocking and persistent ones, too. */
#include "coll_optcast_reduce_scatter.h"

#include <stdlib.h>

#include "coll_optcast_call.h"
#include "coll_optcast_module.h"
#include "coll_optcast_operate.h"
#include "coll_optcast_operation.h"
#include "coll_optcast_pass.h"
#include "coll_optcast_persistent.h"
#include "coll_optcast_reductions.h"

static oc_status_t coll_reduce_scatter_start(const mca_coll_optcast_module_t *m, oc_group_t *group,
                                             mca_coll_optcast_call_t *call,
                                             void (*finished)(void *, oc_status_t), void *arg)
{
    oc_allreduce_args_t args = mca_coll_optcast_reduction_args(call, finished, arg);

    (void) m;
    args.to = OC_RESULT_TO_BLOCKS;
    args.counts = call->layout.elements;
    return oc_allreduce_start(group, &args);
}

/* ---- equal blocks ---- */

static int block_previous(const mca_coll_optcast_module_t *m, const mca_coll_optcast_call_t *call)
{
    return m->prev_reduce_scatter_block(call->sbuf, call->rbuf, call->count, call->dtype, call->op,
                                        m->comm, m->prev_reduce_scatter_block_module);
}

static int block_previous_now(const mca_coll_optcast_module_t *m,
                              const mca_coll_optcast_call_t *call, ompi_request_t **request)
{
    return m->prev_ireduce_scatter_block(call->sbuf, call->rbuf, call->count, call->dtype,
                                         call->op, m->comm, request,
                                         m->prev_ireduce_scatter_block_module);
}

static int block_previous_init(const mca_coll_optcast_module_t *m,
                               const mca_coll_optcast_call_t *call, struct ompi_info_t *info,
                               ompi_request_t **request)
{
    return m->prev_reduce_scatter_block_init(call->sbuf, call->rbuf, call->count, call->dtype,
                                             call->op, m->comm, info, request,
                                             m->prev_reduce_scatter_block_init_module);
}

/* Of one element for each rank: Open MPI does not give back the buffers of a persistent request. */
static int block_previous_unused(const mca_coll_optcast_module_t *m,
                                 const mca_coll_optcast_call_t *call, ompi_request_t **request)
{
    static int unused;

    (void) call;
    return m->prev_reduce_scatter_block_init(MPI_IN_PLACE, &unused, 1, MPI_INT, MPI_SUM, m->comm,
                                             (struct ompi_info_t *) MPI_INFO_NULL, request,
                                             m->prev_reduce_scatter_block_init_module);
}

static bool block_same_numbers(const mca_coll_optcast_module_t *m)
{
    return m->prev_ireduce_scatter_block_module == m->prev_reduce_scatter_block_init_module;
}

static const mca_coll_optcast_operation_t block_operation = {
    .names = {"Reduce_scatter_block", "Ireduce_scatter_block", "Reduce_scatter_block_init"},
    .service = OC_SERVICE_AGGREGATION,
    .by_size = true,
    .ruled = OC_RULED_REDUCE_SCATTER_BLOCK,
    .decide = mca_coll_optcast_decide_reduction,
    .start = coll_reduce_scatter_start,
    .previous = block_previous,
    .previous_now = block_previous_now,
    .previous_init = block_previous_init,
    .previous_unused = block_previous_unused,
    .same_numbers = block_same_numbers,
};

static mca_coll_optcast_call_t block_call_of(mca_coll_optcast_way_t way, const void *sbuf,
                                             void *rbuf, oc_mpi_count_t rcount,
                                             struct ompi_datatype_t *dtype, struct ompi_op_t *op,
                                             struct ompi_communicator_t *comm)
{
    return (mca_coll_optcast_call_t) {.operation = &block_operation, .way = way, .sbuf = sbuf,
                                      .rbuf = rbuf, .count = rcount, .dtype = dtype, .op = op,
                                      .elements = (size_t) rcount
                                                  * (size_t) ompi_comm_size(comm),
                                      .own = (size_t) rcount};
}

int mca_coll_optcast_reduce_scatter_block(const void *sbuf, void *rbuf, oc_mpi_count_t rcount,
                                          struct ompi_datatype_t *dtype, struct ompi_op_t *op,
                                          struct ompi_communicator_t *comm,
                                          mca_coll_base_module_t *module)
{
    mca_coll_optcast_module_t *m = (mca_coll_optcast_module_t *) module;
    uint64_t bytes = (uint64_t) rcount * (uint64_t) ompi_comm_size(comm) * dtype->super.size;
    mca_coll_optcast_call_t call;
    int rc;

    if (mca_coll_optcast_pass_begin(m, m->least[OC_RULED_REDUCE_SCATTER_BLOCK], bytes, true)) {
        rc = m->prev_reduce_scatter_block(sbuf, rbuf, rcount, dtype, op, comm,
                                          m->prev_reduce_scatter_block_module);
        mca_coll_optcast_pass_end(m);
        return rc;
    }
    call = block_call_of(OC_WAY_BLOCKING, sbuf, rbuf, rcount, dtype, op, comm);
    return mca_coll_optcast_operate(m, &call);
}

int mca_coll_optcast_ireduce_scatter_block(const void *sbuf, void *rbuf, oc_mpi_count_t rcount,
                                           struct ompi_datatype_t *dtype, struct ompi_op_t *op,
                                           struct ompi_communicator_t *comm,
                                           ompi_request_t **request,
                                           mca_coll_base_module_t *module)
{
    mca_coll_optcast_call_t call = block_call_of(OC_WAY_NONBLOCKING, sbuf, rbuf, rcount, dtype, op,
                                                 comm);

    return mca_coll_optcast_operate_now((mca_coll_optcast_module_t *) module, &call, request);
}

int mca_coll_optcast_reduce_scatter_block_init(const void *sbuf, void *rbuf, oc_mpi_count_t rcount,
                                               struct ompi_datatype_t *dtype, struct ompi_op_t *op,
                                               struct ompi_communicator_t *comm,
                                               struct ompi_info_t *info, ompi_request_t **request,
                                               mca_coll_base_module_t *module)
{
    mca_coll_optcast_call_t call = block_call_of(OC_WAY_PERSISTENT, sbuf, rbuf, rcount, dtype, op,
                                                 comm);

    return mca_coll_optcast_operate_init((mca_coll_optcast_module_t *) module, &call, info,
                                         request);
}

/* ---- blocks of any size ---- */

/* The engine knows counts of one kind, whatever those of MPI are. */
static int blocks_prepare(const mca_coll_optcast_module_t *m, mca_coll_optcast_call_t *call)
{
    int size = ompi_comm_size(m->comm);
    size_t *elements = malloc((size_t) size * sizeof(*elements));

    if (NULL == elements) {
        return OMPI_ERR_OUT_OF_RESOURCE;
    }
    for (int i = 0; i < size; i++) {
        elements[i] = OC_MPI_COUNT(call->counts, i);
    }
    call->layout.elements = elements;
    return OMPI_SUCCESS;
}

static int blocks_previous(const mca_coll_optcast_module_t *m, const mca_coll_optcast_call_t *call)
{
    return m->prev_reduce_scatter(call->sbuf, call->rbuf, call->counts, call->dtype, call->op,
                                  m->comm, m->prev_reduce_scatter_module);
}

static int blocks_previous_now(const mca_coll_optcast_module_t *m,
                               const mca_coll_optcast_call_t *call, ompi_request_t **request)
{
    return m->prev_ireduce_scatter(call->sbuf, call->rbuf, call->counts, call->dtype, call->op,
                                   m->comm, request, m->prev_ireduce_scatter_module);
}

static int blocks_previous_init(const mca_coll_optcast_module_t *m,
                                const mca_coll_optcast_call_t *call, struct ompi_info_t *info,
                                ompi_request_t **request)
{
    return m->prev_reduce_scatter_init(call->sbuf, call->rbuf, call->counts, call->dtype, call->op,
                                       m->comm, info, request, m->prev_reduce_scatter_init_module);
}

/* As with equal blocks, of one element in all. */
static int blocks_previous_unused(const mca_coll_optcast_module_t *m,
                                  const mca_coll_optcast_call_t *call, ompi_request_t **request)
{
    int *counts = calloc((size_t) ompi_comm_size(m->comm), sizeof(*counts));
    static int unused;
    int rc;

    (void) call;
    if (NULL == counts) {
        return OMPI_ERR_OUT_OF_RESOURCE;
    }
    counts[0] = 1;
    rc = m->prev_reduce_scatter_init(MPI_IN_PLACE, &unused, OC_MPI_COUNTS_OF(counts), MPI_INT,
                                     MPI_SUM, m->comm, (struct ompi_info_t *) MPI_INFO_NULL,
                                     request, m->prev_reduce_scatter_init_module);
    free(counts);
    return rc;
}

static bool blocks_same_numbers(const mca_coll_optcast_module_t *m)
{
    return m->prev_ireduce_scatter_module == m->prev_reduce_scatter_init_module;
}

static const mca_coll_optcast_operation_t blocks_operation = {
    .names = {"Reduce_scatter", "Ireduce_scatter", "Reduce_scatter_init"},
    .service = OC_SERVICE_AGGREGATION,
    .by_size = true,
    .ruled = OC_RULED_REDUCE_SCATTER,
    .decide = mca_coll_optcast_decide_reduction,
    .prepare = blocks_prepare,
    .start = coll_reduce_scatter_start,
    .previous = blocks_previous,
    .previous_now = blocks_previous_now,
    .previous_init = blocks_previous_init,
    .previous_unused = blocks_previous_unused,
    .same_numbers = blocks_same_numbers,
};

static mca_coll_optcast_call_t blocks_call_of(mca_coll_optcast_way_t way, const void *sbuf,
                                              void *rbuf, oc_mpi_counts_t rcounts,
                                              struct ompi_datatype_t *dtype, struct ompi_op_t *op,
                                              struct ompi_communicator_t *comm)
{
    size_t own = OC_MPI_COUNT(rcounts, ompi_comm_rank(comm));
    mca_coll_optcast_call_t call = {.operation = &blocks_operation, .way = way, .sbuf = sbuf,
                                    .rbuf = rbuf, .counts = rcounts, .dtype = dtype, .op = op,
                                    .count = (oc_mpi_count_t) own, .own = own};

    for (int i = 0; i < ompi_comm_size(comm); i++) {
        call.elements += OC_MPI_COUNT(rcounts, i);
    }
    return call;
}

int mca_coll_optcast_reduce_scatter(const void *sbuf, void *rbuf, oc_mpi_counts_t rcounts,
                                    struct ompi_datatype_t *dtype, struct ompi_op_t *op,
                                    struct ompi_communicator_t *comm,
                                    mca_coll_base_module_t *module)
{
    mca_coll_optcast_module_t *m = (mca_coll_optcast_module_t *) module;
    mca_coll_optcast_call_t call;
    int rc;

    if (mca_coll_optcast_pass_begin_unsized(m, m->least[OC_RULED_REDUCE_SCATTER])) {
        rc = m->prev_reduce_scatter(sbuf, rbuf, rcounts, dtype, op, comm,
                                    m->prev_reduce_scatter_module);
        mca_coll_optcast_pass_end(m);
        return rc;
    }
    call = blocks_call_of(OC_WAY_BLOCKING, sbuf, rbuf, rcounts, dtype, op, comm);
    return mca_coll_optcast_operate(m, &call);
}

int mca_coll_optcast_ireduce_scatter(const void *sbuf, void *rbuf, oc_mpi_counts_t rcounts,
                                     struct ompi_datatype_t *dtype, struct ompi_op_t *op,
                                     struct ompi_communicator_t *comm, ompi_request_t **request,
                                     mca_coll_base_module_t *module)
{
    mca_coll_optcast_call_t call = blocks_call_of(OC_WAY_NONBLOCKING, sbuf, rbuf, rcounts, dtype,
                                                  op, comm);

    return mca_coll_optcast_operate_now((mca_coll_optcast_module_t *) module, &call, request);
}

int mca_coll_optcast_reduce_scatter_init(const void *sbuf, void *rbuf, oc_mpi_counts_t rcounts,
                                         struct ompi_datatype_t *dtype, struct ompi_op_t *op,
                                         struct ompi_communicator_t *comm, struct ompi_info_t *info,
                                         ompi_request_t **request, mca_coll_base_module_t *module)
{
    mca_coll_optcast_call_t call = blocks_call_of(OC_WAY_PERSISTENT, sbuf, rbuf, rcounts, dtype,
                                                  op, comm);

    return mca_coll_optcast_operate_init((mca_coll_optcast_module_t *) module, &call, info,
                                         request);
}
