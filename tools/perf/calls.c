/* SPDX-License-Identifier: BSD-3-Clause */
/* One function for each collective, blocking without a request and nonblocking with one. */
#include "tools/perf/calls.h"

typedef void (*start_t)(const oc_perf_call_t *c, MPI_Comm comm, MPI_Request *request);

/* CALL(Allreduce, arguments...) is MPI_Allreduce, or MPI_Iallreduce if there is a request. */
#define CALL(blocking, nonblocking, ...)           \
    do {                                           \
        if (NULL == request) {                     \
            (void) blocking(__VA_ARGS__);          \
        } else {                                   \
            (void) nonblocking(__VA_ARGS__, request); \
        }                                          \
    } while (0)

static void allreduce(const oc_perf_call_t *c, MPI_Comm comm, MPI_Request *request)
{
    CALL(MPI_Allreduce, MPI_Iallreduce, c->send, c->receive, c->count, c->type, c->op, comm);
}

static void allgather(const oc_perf_call_t *c, MPI_Comm comm, MPI_Request *request)
{
    CALL(MPI_Allgather, MPI_Iallgather, c->send, c->count, c->type, c->receive, c->count, c->type,
         comm);
}

static void allgatherv(const oc_perf_call_t *c, MPI_Comm comm, MPI_Request *request)
{
    int rank;

    MPI_Comm_rank(comm, &rank);
    CALL(MPI_Allgatherv, MPI_Iallgatherv, c->send, c->counts[rank], c->type, c->receive, c->counts,
         c->first, c->type, comm);
}

static void bcast(const oc_perf_call_t *c, MPI_Comm comm, MPI_Request *request)
{
    CALL(MPI_Bcast, MPI_Ibcast, c->receive, c->count, c->type, c->root, comm);
}

static void reduce(const oc_perf_call_t *c, MPI_Comm comm, MPI_Request *request)
{
    CALL(MPI_Reduce, MPI_Ireduce, c->send, c->receive, c->count, c->type, c->op, c->root, comm);
}

static void reduce_scatter(const oc_perf_call_t *c, MPI_Comm comm, MPI_Request *request)
{
    CALL(MPI_Reduce_scatter, MPI_Ireduce_scatter, c->send, c->receive, c->counts, c->type, c->op,
         comm);
}

static void reduce_scatter_block(const oc_perf_call_t *c, MPI_Comm comm, MPI_Request *request)
{
    CALL(MPI_Reduce_scatter_block, MPI_Ireduce_scatter_block, c->send, c->receive, c->count,
         c->type, c->op, comm);
}

static void barrier(const oc_perf_call_t *c, MPI_Comm comm, MPI_Request *request)
{
    (void) c;
    CALL(MPI_Barrier, MPI_Ibarrier, comm);
}

static const start_t starts[OC_PERF_COLLECTIVE_END] = {
    [OC_PERF_ALLREDUCE] = allreduce,
    [OC_PERF_ALLGATHER] = allgather,
    [OC_PERF_ALLGATHERV] = allgatherv,
    [OC_PERF_BCAST] = bcast,
    [OC_PERF_REDUCE] = reduce,
    [OC_PERF_REDUCE_SCATTER] = reduce_scatter,
    [OC_PERF_REDUCE_SCATTER_BLOCK] = reduce_scatter_block,
    [OC_PERF_BARRIER] = barrier,
};

double oc_perf_call(const oc_perf_call_t *const *calls, const MPI_Comm *comms, int count,
                    const oc_perf_outside_t *outside)
{
    MPI_Request requests[OC_PERF_MAX_CALLS];
    double seconds = 0;
    int started = 0;

    for (int i = 0; i < count; i++) {
        const oc_perf_call_t *call = calls[i];

        starts[call->collective](call, comms[i], call->nonblocking ? &requests[started] : NULL);
        started += call->nonblocking;
    }
    if (started > 0) {
        seconds = NULL != outside ? oc_perf_stay_outside(outside, requests, started) : 0;
        (void) MPI_Waitall(started, requests, MPI_STATUSES_IGNORE);
    }
    return seconds;
}

MPI_Datatype oc_perf_mpi_type(oc_perf_type_t type)
{
    /* handles are no constants in every MPI */
    const MPI_Datatype types[OC_PERF_TYPE_END] = {
        [OC_PERF_INT8] = MPI_INT8_T,     [OC_PERF_INT16] = MPI_INT16_T,
        [OC_PERF_INT32] = MPI_INT32_T,   [OC_PERF_INT64] = MPI_INT64_T,
        [OC_PERF_UINT8] = MPI_UINT8_T,   [OC_PERF_UINT16] = MPI_UINT16_T,
        [OC_PERF_UINT32] = MPI_UINT32_T, [OC_PERF_UINT64] = MPI_UINT64_T,
        [OC_PERF_FLOAT] = MPI_FLOAT,     [OC_PERF_DOUBLE] = MPI_DOUBLE,
        [OC_PERF_BYTE] = MPI_BYTE,       [OC_PERF_CHAR] = MPI_CHAR,
    };

    return types[type];
}

MPI_Op oc_perf_mpi_op(oc_perf_op_t op)
{
    const MPI_Op ops[OC_PERF_OP_END + 1] = {
        [OC_PERF_SUM] = MPI_SUM,   [OC_PERF_PROD] = MPI_PROD, [OC_PERF_MIN] = MPI_MIN,
        [OC_PERF_MAX] = MPI_MAX,   [OC_PERF_BAND] = MPI_BAND, [OC_PERF_BOR] = MPI_BOR,
        [OC_PERF_BXOR] = MPI_BXOR, [OC_PERF_LAND] = MPI_LAND, [OC_PERF_LOR] = MPI_LOR,
        [OC_PERF_LXOR] = MPI_LXOR, [OC_PERF_OP_END] = MPI_OP_NULL,
    };

    return ops[op];
}
