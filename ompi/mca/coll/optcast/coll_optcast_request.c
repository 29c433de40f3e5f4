/* SPDX-License-Identifier: BSD-3-Clause */
/* Requests of nonblocking operations: completed by the engine, or by the previous module. */
#include "coll_optcast_request.h"

#include "adapter/fallback.h"

#include "coll_optcast_decide.h"
#include "coll_optcast_exchange.h"
#include "coll_optcast_hosted.h"
#include "coll_optcast_layout.h"
#include "coll_optcast_memory.h"
#include "coll_optcast_operation.h"
#include "coll_optcast_pvars.h"
#include "coll_optcast_report.h"
#include "coll_optcast_state.h"

static int request_cancel(ompi_request_t *request, int flag)
{
    (void) request;
    (void) flag;
    return MPI_ERR_REQUEST; /* nonblocking collectives cannot be canceled */
}

static void free_inner(mca_coll_optcast_request_t *r)
{
    if (NULL != r->inner) {
        (void) ompi_request_free(&r->inner);
        r->inner = NULL;
    }
    mca_coll_optcast_hosted_free(r->hosted);
    r->hosted = NULL;
}

static int request_free(ompi_request_t **request)
{
    mca_coll_optcast_request_t *r = (mca_coll_optcast_request_t *) *request;
    ompi_communicator_t *comm = r->super.super.req_mpi_object.comm;
    bool persistent = r->super.super.req_persistent;

    if (!REQUEST_COMPLETE(&r->super.super)) {
        return MPI_ERR_REQUEST;
    }
    free_inner(r);
    mca_coll_optcast_layout_free(&r->call.layout);
    if (NULL != r->freed) {
        r->freed(r);
    }
    OMPI_REQUEST_FINI(&r->super.super);
    opal_free_list_return(&mca_coll_optcast_state.requests, (opal_free_list_item_t *) r);
    *request = MPI_REQUEST_NULL;
    if (persistent) {
        OBJ_RELEASE(comm);
    }
    return OMPI_SUCCESS;
}

static void request_construct(mca_coll_optcast_request_t *r)
{
    r->super.super.req_type = OMPI_REQUEST_COLL;
    r->super.super.req_cancel = request_cancel;
}

OBJ_CLASS_INSTANCE(mca_coll_optcast_request_t, ompi_coll_base_nbc_request_t, request_construct,
                   NULL);

/*
 * The MPI layer puts its own function in the place of req_free, and what it retained in data, and
 * leaves them there: neither may be met again by the next user of the request.
 */
mca_coll_optcast_request_t *mca_coll_optcast_request_new(mca_coll_optcast_module_t *module,
                                                         const mca_coll_optcast_call_t *call,
                                                         ompi_request_start_fn_t start)
{
    mca_coll_optcast_request_t *r;

    while (NULL == (r = (mca_coll_optcast_request_t *) opal_free_list_get(
                        &mca_coll_optcast_state.requests))) {
        mca_coll_optcast_need(module->comm, "a request");
    }
    OMPI_REQUEST_INIT(&r->super.super, NULL != start);
    if (NULL == start) {
        r->super.super.req_state = OMPI_REQUEST_ACTIVE;
    }
    r->super.super.req_start = start;
    r->super.super.req_free = request_free;
    memset(&r->super.data, 0, sizeof(r->super.data));
    r->super.super.req_mpi_object.comm = module->comm;
    /* MPI_Comm_free is legal while this is pending */
    OBJ_RETAIN(module->comm);
    r->super.super.req_status._cancelled = 0;
    r->super.super.req_status.MPI_ERROR = OMPI_SUCCESS;
    r->module = module;
    r->call = *call;
    r->group = module->services[call->operation->service].group;
    r->inner = NULL;
    r->hosted = NULL;
    r->persistent = NULL;
    r->freed = NULL;
    return r;
}

void mca_coll_optcast_request_activate(mca_coll_optcast_request_t *r)
{
    r->super.super.req_status.MPI_ERROR = OMPI_SUCCESS;
    r->super.super.req_complete = REQUEST_PENDING;
    r->super.super.req_state = OMPI_REQUEST_ACTIVE;
}

/* May run other people's callbacks and end the communicator: last, and without locks. */
void mca_coll_optcast_request_complete(mca_coll_optcast_request_t *r, int error)
{
    ompi_communicator_t *comm = r->super.super.req_mpi_object.comm;
    bool persistent = r->super.super.req_persistent;

    if (!persistent) {
        free_inner(r);
        mca_coll_optcast_layout_free(&r->call.layout);
    }
    r->super.super.req_status.MPI_ERROR = error;
    ompi_request_complete(&r->super.super, true);
    if (!persistent) {
        OBJ_RELEASE(comm);
    }
}

void mca_coll_optcast_request_discard(mca_coll_optcast_request_t *r)
{
    ompi_request_t *request = &r->super.super;
    ompi_communicator_t *comm = request->req_mpi_object.comm;

    request->req_complete = REQUEST_COMPLETED;
    (void) request_free(&request);
    OBJ_RELEASE(comm);
}

static mca_coll_optcast_service_t *service_of(const mca_coll_optcast_request_t *r)
{
    return &r->module->services[r->call.operation->service];
}

void mca_coll_optcast_request_await_inner(mca_coll_optcast_request_t *r)
{
    mca_coll_optcast_state_t *st = &mca_coll_optcast_state;

    OPAL_THREAD_LOCK(&st->lock);
    opal_list_append(&st->inner, &r->super.super.super.super);
    OPAL_THREAD_UNLOCK(&st->lock);
}

/* Starts the reserved request of the previous module. */
static int start_inner(mca_coll_optcast_request_t *r)
{
    int rc;

    mca_coll_optcast_hosted_load(r->hosted);
    rc = r->inner->req_start(1, &r->inner);
    if (OMPI_SUCCESS == rc) {
        mca_coll_optcast_request_await_inner(r);
    }
    return rc;
}

static int request_fall_back(mca_coll_optcast_request_t *r)
{
    mca_coll_optcast_count_fallback(mca_coll_optcast_left(r->group, &r->call));
    return start_inner(r);
}

static void request_on_finished(void *arg, oc_status_t status)
{
    mca_coll_optcast_request_t *r = arg;
    int rc = OMPI_SUCCESS;

    mca_coll_optcast_report_setup(service_of(r), r->group);
    if (OC_DECLINED == status) {
        rc = request_fall_back(r);
        if (OMPI_SUCCESS == rc) {
            return;
        }
    } else if (OC_OK != status) {
        rc = mca_coll_optcast_report_failure(service_of(r), r->group, status);
    } else if (NULL != r->call.operation->finish) {
        rc = r->call.operation->finish(r->module, &r->call);
    }
    mca_coll_optcast_request_complete(r, rc);
}

oc_status_t mca_coll_optcast_start(const mca_coll_optcast_module_t *m, oc_group_t *group,
                                   mca_coll_optcast_call_t *call,
                                   void (*finished)(void *, oc_status_t), void *arg)
{
    oc_status_t status = call->operation->start(m, group, call, finished, arg);

    if (status < OC_OK) {
        oc_group_give_up(group, status, oc_status_string(status));
    }
    /* the first messages of a set-up leave now: it may be long until progress is called */
    mca_coll_optcast_exchange_progress();
    return status;
}

int mca_coll_optcast_request_start(mca_coll_optcast_request_t *r)
{
    const mca_coll_optcast_operation_t *operation = r->call.operation;
    const char *name = NULL != r->persistent ? "Start" : operation->names[OC_WAY_NONBLOCKING];
    oc_status_t status;

    if (NULL == r->group) {
        return start_inner(r);
    }
    status = mca_coll_optcast_start(r->module, r->group, &r->call, request_on_finished, r);
    if (OC_DECLINED == status) {
        mca_coll_optcast_report_call(r->module, name, &r->call,
                                     mca_coll_optcast_left(r->group, &r->call));
        return request_fall_back(r);
    }
    mca_coll_optcast_report_call(r->module, name, &r->call, OC_FALLBACK_NONE);
    return OC_OK == status ? OMPI_SUCCESS
                           : mca_coll_optcast_report_failure(service_of(r), r->group, status);
}

static int end_inner(const mca_coll_optcast_request_t *r)
{
    int rc = r->inner->req_status.MPI_ERROR;

    return OMPI_SUCCESS == rc ? mca_coll_optcast_hosted_store(r->hosted) : rc;
}

int mca_coll_optcast_request_progress(void)
{
    mca_coll_optcast_state_t *st = &mca_coll_optcast_state;
    mca_coll_optcast_request_t *r, *next;
    opal_list_t done;
    int events = 0;

    if (OPAL_THREAD_TRYLOCK(&st->lock)) {
        return 0;
    }
    OBJ_CONSTRUCT(&done, opal_list_t);
    OPAL_LIST_FOREACH_SAFE(r, next, &st->inner, mca_coll_optcast_request_t) {
        if (REQUEST_COMPLETE(r->inner)) {
            opal_list_remove_item(&st->inner, &r->super.super.super.super);
            opal_list_append(&done, &r->super.super.super.super);
        }
    }
    OPAL_THREAD_UNLOCK(&st->lock);
    while (NULL != (r = (mca_coll_optcast_request_t *) opal_list_remove_first(&done))) {
        mca_coll_optcast_request_complete(r, end_inner(r));
        events++;
    }
    OBJ_DESTRUCT(&done);
    return events;
}
