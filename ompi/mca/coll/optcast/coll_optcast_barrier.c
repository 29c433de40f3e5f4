/* SPDX-License-Identifier: BSD-3-Clause */
/* MPI_Barrier, MPI_Ibarrier and MPI_Barrier_init. */
#include "coll_optcast_barrier.h"

#include "adapter/fallback.h"
#include "reduction/reduction.h"

#include "coll_optcast_call.h"
#include "coll_optcast_module.h"
#include "coll_optcast_operate.h"
#include "coll_optcast_operation.h"
#include "coll_optcast_pass.h"
#include "coll_optcast_persistent.h"
#include "coll_optcast_reductions.h"

/* Mode auto leaves it, unless a rule says otherwise: it takes no bytes off any link. */
static oc_fallback_t barrier_decide(const mca_coll_optcast_module_t *m,
                                    mca_coll_optcast_call_t *call)
{
    oc_fallback_t left;

    call->oc_op = OC_OP_BOR;
    call->oc_type = OC_TYPE_UINT8;
    call->bytes = sizeof(call->token);
    left = mca_coll_optcast_decide_size(m, call);
    if (OC_FALLBACK_NONE != left) {
        return left;
    }
    return NULL == m->services[OC_SERVICE_AGGREGATION].group ? OC_FALLBACK_RANKS : OC_FALLBACK_NONE;
}

static oc_status_t coll_barrier_start(const mca_coll_optcast_module_t *m, oc_group_t *group,
                                      mca_coll_optcast_call_t *call,
                                      void (*finished)(void *, oc_status_t), void *arg)
{
    oc_allreduce_args_t args = {
        .send = &call->token, .recv = &call->token, .count = 1, .to = OC_RESULT_TO_NOBODY,
        .ruled = OC_RULED_BARRIER, .op = call->oc_op, .type = call->oc_type,
        .blocking = OC_WAY_BLOCKING == call->way, .finished = finished, .arg = arg};

    (void) m;
    return oc_allreduce_start(group, &args);
}

static int barrier_previous(const mca_coll_optcast_module_t *m, const mca_coll_optcast_call_t *call)
{
    (void) call;
    return m->prev_barrier(m->comm, m->prev_barrier_module);
}

static int barrier_previous_now(const mca_coll_optcast_module_t *m,
                                const mca_coll_optcast_call_t *call, ompi_request_t **request)
{
    (void) call;
    return m->prev_ibarrier(m->comm, request, m->prev_ibarrier_module);
}

static int barrier_previous_init(const mca_coll_optcast_module_t *m,
                                 const mca_coll_optcast_call_t *call, struct ompi_info_t *info,
                                 ompi_request_t **request)
{
    (void) call;
    return m->prev_barrier_init(m->comm, info, request, m->prev_barrier_init_module);
}

static int barrier_previous_unused(const mca_coll_optcast_module_t *m,
                                   const mca_coll_optcast_call_t *call, ompi_request_t **request)
{
    return barrier_previous_init(m, call, (struct ompi_info_t *) MPI_INFO_NULL, request);
}

static bool barrier_same_numbers(const mca_coll_optcast_module_t *m)
{
    return m->prev_ibarrier_module == m->prev_barrier_init_module;
}

static const mca_coll_optcast_operation_t operation = {
    .names = {"Barrier", "Ibarrier", "Barrier_init"},
    .service = OC_SERVICE_AGGREGATION,
    .by_size = true,
    .ruled = OC_RULED_BARRIER,
    .decide = barrier_decide,
    .start = coll_barrier_start,
    .previous = barrier_previous,
    .previous_now = barrier_previous_now,
    .previous_init = barrier_previous_init,
    .previous_unused = barrier_previous_unused,
    .same_numbers = barrier_same_numbers,
};

static mca_coll_optcast_call_t barrier_call_of(mca_coll_optcast_way_t way)
{
    return (mca_coll_optcast_call_t) {.operation = &operation, .way = way, .no_result = true,
                                      .dtype = MPI_BYTE};
}

int mca_coll_optcast_barrier(struct ompi_communicator_t *comm, mca_coll_base_module_t *module)
{
    mca_coll_optcast_module_t *m = (mca_coll_optcast_module_t *) module;
    mca_coll_optcast_call_t call;
    int rc;

    if (mca_coll_optcast_pass_begin(m, m->least[OC_RULED_BARRIER], 1, false)) {
        rc = m->prev_barrier(comm, m->prev_barrier_module);
        mca_coll_optcast_pass_end(m);
        return rc;
    }
    call = barrier_call_of(OC_WAY_BLOCKING);
    return mca_coll_optcast_operate(m, &call);
}

int mca_coll_optcast_ibarrier(struct ompi_communicator_t *comm, ompi_request_t **request,
                              mca_coll_base_module_t *module)
{
    mca_coll_optcast_call_t call = barrier_call_of(OC_WAY_NONBLOCKING);

    (void) comm;
    return mca_coll_optcast_operate_now((mca_coll_optcast_module_t *) module, &call, request);
}

int mca_coll_optcast_barrier_init(struct ompi_communicator_t *comm, struct ompi_info_t *info,
                                  ompi_request_t **request, mca_coll_base_module_t *module)
{
    mca_coll_optcast_call_t call = barrier_call_of(OC_WAY_PERSISTENT);

    (void) comm;
    return mca_coll_optcast_operate_init((mca_coll_optcast_module_t *) module, &call, info,
                                         request);
}
