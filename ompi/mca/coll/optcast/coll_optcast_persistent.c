/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Persistent collectives. Ranks initialise persistent operations of a communicator in the same
 * order, but may start them in different ones. So each has a group of the engine of its own, in
 * which it can only follow itself; and it takes the tag for the set-up of that group, and its
 * number of the previous module for the case that it is declined, when it is initialised.
 */
#include "coll_optcast_persistent.h"

#include "adapter/fallback.h"

#include "coll_optcast_bootstrap.h"
#include "coll_optcast_decide.h"
#include "coll_optcast_device.h"
#include "coll_optcast_group.h"
#include "coll_optcast_hosted.h"
#include "coll_optcast_memory.h"
#include "coll_optcast_operation.h"
#include "coll_optcast_previous.h"
#include "coll_optcast_pvars.h"
#include "coll_optcast_report.h"
#include "coll_optcast_request.h"

/* Out of memory for it. */
#define WHAT "a persistent operation"

/* What a persistent operation owns beside its request. */
struct mca_coll_optcast_persistent {
    oc_group_t *group;
    mca_coll_optcast_bootstrap_t bootstrap;
};

static void persistent_end(mca_coll_optcast_persistent_t *p)
{
    if (NULL != p->group) {
        oc_group_destroy(p->group);
    }
    mca_coll_optcast_bootstrap_release(&p->bootstrap);
    free(p);
}

static mca_coll_optcast_persistent_t *persistent_new(mca_coll_optcast_module_t *m,
                                                     const mca_coll_optcast_call_t *call)
{
    mca_coll_optcast_persistent_t *p;

    while (NULL == (p = calloc(1, sizeof(*p)))) {
        mca_coll_optcast_need(m->comm, WHAT);
    }
    p->bootstrap.module = m;
    p->bootstrap.service = call->operation->service;
    mca_coll_optcast_bootstrap_reserve(&p->bootstrap);
    while (NULL == (p->group = mca_coll_optcast_group_new(&p->bootstrap, call))) {
        mca_coll_optcast_need(m->comm, WHAT);
    }
    return p;
}

/* It may be anything if the operation is in place. */
static bool has_send_type(const mca_coll_optcast_call_t *call)
{
    return NULL != call->sdtype && MPI_IN_PLACE != call->sbuf;
}

/* MPI does not keep handles for a request that is complete, as one is that was not started. */
static void retain_handles(const mca_coll_optcast_call_t *call)
{
    if (!ompi_datatype_is_predefined(call->dtype)) {
        OBJ_RETAIN(call->dtype);
    }
    if (has_send_type(call) && !ompi_datatype_is_predefined(call->sdtype)) {
        OBJ_RETAIN(call->sdtype);
    }
    if (NULL != call->op && !ompi_op_is_intrinsic(call->op)) {
        OBJ_RETAIN(call->op);
    }
}

static void release_handles(const mca_coll_optcast_call_t *call)
{
    struct ompi_datatype_t *dtype = call->dtype, *sdtype = call->sdtype;
    struct ompi_op_t *op = call->op;

    if (!ompi_datatype_is_predefined(dtype)) {
        OBJ_RELEASE(dtype);
    }
    if (has_send_type(call) && !ompi_datatype_is_predefined(sdtype)) {
        OBJ_RELEASE(sdtype);
    }
    if (NULL != op && !ompi_op_is_intrinsic(op)) {
        OBJ_RELEASE(op);
    }
}

/* MPI_Startall drops what this returns: an error belongs to the request, and shows when it ends. */
static int persistent_start(size_t count, ompi_request_t **requests)
{
    for (size_t i = 0; i < count; i++) {
        mca_coll_optcast_request_t *r = (mca_coll_optcast_request_t *) requests[i];
        int rc;

        mca_coll_optcast_request_activate(r);
        rc = mca_coll_optcast_request_start(r);
        if (OMPI_SUCCESS != rc) {
            mca_coll_optcast_request_complete(r, rc);
        }
    }
    return OMPI_SUCCESS;
}

/* What it owns, but for the request of the previous module. */
static void on_freed(mca_coll_optcast_request_t *r)
{
    release_handles(&r->call);
    persistent_end(r->persistent);
    r->persistent = NULL;
}

/* A request of the previous module whose buffers are doubles. */
static int persistent_wrap(mca_coll_optcast_module_t *m, const mca_coll_optcast_call_t *call,
                           ompi_request_t *inner, mca_coll_optcast_hosted_t *hosted,
                           ompi_request_t **request)
{
    mca_coll_optcast_persistent_t *persistent = calloc(1, sizeof(*persistent));
    mca_coll_optcast_request_t *r;

    if (NULL == persistent) {
        (void) ompi_request_free(&inner);
        mca_coll_optcast_hosted_free(hosted);
        return OMPI_ERR_OUT_OF_RESOURCE;
    }
    retain_handles(call);
    r = mca_coll_optcast_request_new(m, call, persistent_start);
    r->group = NULL;
    r->persistent = persistent;
    r->freed = on_freed;
    r->inner = inner;
    r->hosted = hosted;
    *request = &r->super.super;
    return OMPI_SUCCESS;
}

static int persistent_fall_back(mca_coll_optcast_module_t *m, const mca_coll_optcast_call_t *call,
                                oc_fallback_t reason, struct ompi_info_t *info,
                                ompi_request_t **request)
{
    mca_coll_optcast_hosted_t *hosted;
    ompi_request_t *inner;
    int rc;

    mca_coll_optcast_count_fallback(reason);
    mca_coll_optcast_report_call(m, call->operation->names[OC_WAY_PERSISTENT], call, reason);
    rc = mca_coll_optcast_previous_init(m, call, info, &inner, &hosted);
    if (OMPI_SUCCESS == rc && NULL == hosted) {
        *request = inner;
        return OMPI_SUCCESS;
    }
    return OMPI_SUCCESS == rc ? persistent_wrap(m, call, inner, hosted, request) : rc;
}

int mca_coll_optcast_operate_init(mca_coll_optcast_module_t *m, mca_coll_optcast_call_t *call,
                                  struct ompi_info_t *info, ompi_request_t **request)
{
    const mca_coll_optcast_service_t *service = &m->services[call->operation->service];
    oc_fallback_t reason;
    mca_coll_optcast_persistent_t *persistent;
    mca_coll_optcast_request_t *r;
    int rc;

    mca_coll_optcast_find_devices(m, call);
    reason = call->operation->decide(m, call);
    /* a blocking operation has shown it to all ranks */
    if (OC_FALLBACK_NONE == reason && service->blocking_seen) {
        reason = mca_coll_optcast_left(service->group, call);
    }
    if (OC_FALLBACK_NONE != reason) {
        return persistent_fall_back(m, call, reason, info, request);
    }
    while (NULL != call->operation->prepare && OMPI_SUCCESS != call->operation->prepare(m, call)) {
        mca_coll_optcast_need(m->comm, WHAT);
    }
    persistent = persistent_new(m, call);
    retain_handles(call);
    r = mca_coll_optcast_request_new(m, call, persistent_start);
    r->group = persistent->group;
    r->persistent = persistent;
    r->freed = on_freed;
    while (OMPI_ERR_OUT_OF_RESOURCE
           == (rc = mca_coll_optcast_previous_init(m, call, info, &r->inner, &r->hosted))) {
        mca_coll_optcast_need(m->comm, WHAT);
    }
    *request = &r->super.super;
    if (OMPI_SUCCESS != rc) {
        r->inner = NULL;
        (void) ompi_request_free(request);
    }
    return rc;
}
