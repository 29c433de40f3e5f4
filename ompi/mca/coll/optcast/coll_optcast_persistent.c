/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * MPI_Allreduce_init. Ranks initialise persistent operations of a communicator in the same order,
 * but may start them in different ones. So each has a group of the engine of its own, in which it
 * can only follow itself; and it takes its numbers of the previous module, for the set-up of that
 * group and for the case that it is declined, when it is initialised.
 */
#include "coll_optcast.h"

static void persistent_end(mca_coll_optcast_persistent_t *p)
{
    if (NULL == p) {
        return;
    }
    oc_group_destroy(p->group);
    mca_coll_optcast_bootstrap_release(&p->bootstrap);
    if (!ompi_datatype_is_predefined(p->call.dtype)) {
        OBJ_RELEASE(p->call.dtype);
    }
    if (!ompi_op_is_intrinsic(p->call.op)) {
        OBJ_RELEASE(p->call.op);
    }
    free(p);
}

/* MPI does not keep handles for a request that is complete, as one is that was not started. */
static mca_coll_optcast_persistent_t *persistent_new(mca_coll_optcast_module_t *m,
                                                     const mca_coll_optcast_call_t *call)
{
    mca_coll_optcast_persistent_t *p = calloc(1, sizeof(*p));

    if (NULL == p) {
        return NULL;
    }
    p->call = *call;
    p->bootstrap.module = m;
    if (!ompi_datatype_is_predefined(call->dtype)) {
        OBJ_RETAIN(call->dtype);
    }
    if (!ompi_op_is_intrinsic(call->op)) {
        OBJ_RETAIN(call->op);
    }
    p->group = mca_coll_optcast_group_new(m, &p->bootstrap);
    if (NULL == p->group || OC_OK != mca_coll_optcast_bootstrap_reserve(&p->bootstrap)) {
        persistent_end(p);
        return NULL;
    }
    return p;
}

/* MPI_Startall drops what this returns: an error belongs to the request, and shows when it ends. */
static int persistent_start(size_t count, ompi_request_t **requests)
{
    for (size_t i = 0; i < count; i++) {
        mca_coll_optcast_request_t *r = (mca_coll_optcast_request_t *) requests[i];
        int rc;

        mca_coll_optcast_request_activate(r);
        rc = mca_coll_optcast_request_start(r, &r->persistent->call);
        if (OMPI_SUCCESS != rc) {
            mca_coll_optcast_request_complete(r, rc);
        }
    }
    return OMPI_SUCCESS;
}

void mca_coll_optcast_persistent_free(mca_coll_optcast_request_t *r)
{
    persistent_end(r->persistent);
    r->persistent = NULL;
}

static int fall_back(mca_coll_optcast_module_t *m, const mca_coll_optcast_call_t *call,
                     oc_fallback_t reason, struct ompi_info_t *info, ompi_request_t **request)
{
    mca_coll_optcast_count_fallback(reason);
    mca_coll_optcast_tell(m, "Allreduce_init", call, reason);
    return m->prev_allreduce_init(call->sbuf, call->rbuf, call->count, call->dtype, call->op,
                                  m->comm, info, request, m->prev_allreduce_init_module);
}

int mca_coll_optcast_allreduce_init(const void *sbuf, void *rbuf, oc_mpi_count_t count,
                                    struct ompi_datatype_t *dtype, struct ompi_op_t *op,
                                    struct ompi_communicator_t *comm, struct ompi_info_t *info,
                                    ompi_request_t **request, mca_coll_base_module_t *module)
{
    mca_coll_optcast_module_t *m = (mca_coll_optcast_module_t *) module;
    mca_coll_optcast_call_t call = {sbuf, rbuf, count, dtype, op, 0, 0};
    oc_fallback_t reason = mca_coll_optcast_decide(m, &call, false);
    mca_coll_optcast_persistent_t *persistent;
    mca_coll_optcast_request_t *r;
    int rc;

    (void) comm;
    /* a blocking operation has shown it to all ranks */
    if (OC_FALLBACK_NONE == reason && m->blocking_seen
        && OC_GROUP_DECLINED == oc_group_state(m->group)) {
        reason = OC_FALLBACK_SETUP;
    }
    if (OC_FALLBACK_NONE != reason) {
        return fall_back(m, &call, reason, info, request);
    }
    persistent = persistent_new(m, &call);
    if (NULL == persistent) {
        return OMPI_ERR_OUT_OF_RESOURCE;
    }
    r = mca_coll_optcast_request_new(m, persistent_start);
    r->group = persistent->group;
    r->persistent = persistent;
    rc = m->prev_allreduce_init(sbuf, rbuf, count, dtype, op, m->comm, info, &r->inner,
                                m->prev_allreduce_init_module);
    *request = &r->super.super;
    if (OMPI_SUCCESS != rc) {
        r->inner = NULL;
        (void) ompi_request_free(request);
    }
    return rc;
}
