/* SPDX-License-Identifier: BSD-3-Clause */
/* Blocking and nonblocking collectives: to the engine, or to where they went. */
#include "coll_optcast_operate.h"

#include "opal/runtime/opal_progress.h"

#include "adapter/fallback.h"
#include "adapter/patience.h"

#include "coll_optcast_decide.h"
#include "coll_optcast_device.h"
#include "coll_optcast_han.h"
#include "coll_optcast_hosted.h"
#include "coll_optcast_layout.h"
#include "coll_optcast_memory.h"
#include "coll_optcast_operation.h"
#include "coll_optcast_pass.h"
#include "coll_optcast_previous.h"
#include "coll_optcast_pvars.h"
#include "coll_optcast_report.h"
#include "coll_optcast_request.h"
#include "coll_optcast_state.h"

/*
 * How many nonblocking operations of a communicator that has seen no blocking one take a number
 * of the previous module: see reserve_fallback. A rank that issues more while its set-up is
 * still under way waits for the outcome.
 */
#define MAX_RESERVED 1024

typedef struct {
    atomic_bool done;
    oc_status_t status;
} waiter_t;

static void operate_on_finished(void *arg, oc_status_t status)
{
    waiter_t *waiter = arg;

    waiter->status = status;
    atomic_store(&waiter->done, true);
}

/* An aggregator of this process wants a processor too. */
static bool is_oversubscribed(const mca_coll_optcast_state_t *st)
{
    return st->spare_processors < (oc_client_embeds(st->client) ? 1 : 0);
}

/*
 * Other traffic of this rank goes on meanwhile; a crowded host gets its processor back. The nap
 * comes first, as progress may have brought what is waited for, which the caller looks for next.
 */
static void progress_politely(oc_patience_t *patience)
{
    const mca_coll_optcast_state_t *st = &mca_coll_optcast_state;
    oc_crowding_t crowding = {
        .oversubscribed = is_oversubscribed(st),
        .yields = opal_progress_yield_when_idle || OC_POLLING_YIELD == st->settings.local.polling};

    if (OC_POLLING_BUSY != st->settings.local.polling) {
        (void) oc_patience_nap(patience, st->client, crowding);
    }
    opal_progress();
}

static void wait_for(atomic_bool *done)
{
    oc_patience_t patience = {0};

    while (!atomic_load(done)) {
        progress_politely(&patience);
    }
}

/*
 * Open MPI's simpler algorithms call other collectives of the same communicator, such as an
 * Allgather its Bcast. Those are not the application's, and not for us: they would begin set-ups
 * inside an operation that was left to Open MPI, and be counted.
 */
static int leave_to_previous(mca_coll_optcast_module_t *m, const mca_coll_optcast_call_t *call)
{
    int rc;

    mca_coll_optcast_go_inside(m, 1);
    rc = m->over_han ? mca_coll_optcast_han_call(m, call) : mca_coll_optcast_previous(m, call);
    mca_coll_optcast_go_inside(m, -1);
    return rc;
}

static int operate_fall_back(mca_coll_optcast_module_t *m, const mca_coll_optcast_call_t *call,
                             oc_fallback_t reason)
{
    mca_coll_optcast_count_fallback(reason);
    mca_coll_optcast_report_call(m, call->operation->names[OC_WAY_BLOCKING], call, reason);
    return leave_to_previous(m, call);
}

/* An error here is this rank's own, and the others count on it: the group has to end. */
static int operate_prepare(mca_coll_optcast_module_t *m, mca_coll_optcast_call_t *call)
{
    const mca_coll_optcast_operation_t *operation = call->operation;
    int rc = NULL == operation->prepare ? OMPI_SUCCESS : operation->prepare(m, call);

    if (OMPI_SUCCESS != rc) {
        oc_group_give_up(m->services[operation->service].group, OC_ERR_NO_MEMORY, "out of memory");
    }
    return rc;
}

static oc_status_t run(mca_coll_optcast_module_t *m, mca_coll_optcast_service_t *service,
                       mca_coll_optcast_call_t *call)
{
    waiter_t waiter = {.done = false};
    oc_status_t status;

    if (OC_GROUP_NEW == oc_group_state(service->group)) {
        service->bootstrap.blocking = true;
    }
    status = mca_coll_optcast_start(m, service->group, call, operate_on_finished, &waiter);
    if (OC_OK == status) {
        wait_for(&waiter.done);
        status = waiter.status;
    }
    return status;
}

/* What is left to do when the engine has done its part. */
static int conclude(mca_coll_optcast_module_t *m, mca_coll_optcast_service_t *service,
                    mca_coll_optcast_call_t *call, oc_status_t status)
{
    const mca_coll_optcast_operation_t *operation = call->operation;

    mca_coll_optcast_report_call(m, operation->names[OC_WAY_BLOCKING], call, OC_FALLBACK_NONE);
    if (OC_OK != status) {
        return mca_coll_optcast_report_failure(service, service->group, status);
    }
    return NULL == operation->finish ? OMPI_SUCCESS : operation->finish(m, call);
}

int mca_coll_optcast_operate(mca_coll_optcast_module_t *m, mca_coll_optcast_call_t *call)
{
    const mca_coll_optcast_operation_t *operation = call->operation;
    mca_coll_optcast_service_t *service = &m->services[operation->service];
    oc_status_t status;
    oc_fallback_t reason;
    int rc;

    if (0 != atomic_load_explicit(&m->inside, memory_order_relaxed)
        || mca_coll_optcast_han_is_calling()) {
        return operation->previous(m, call);
    }
    mca_coll_optcast_find_devices(m, call);
    reason = operation->decide(m, call);
    if (OC_FALLBACK_NONE != reason) {
        return operate_fall_back(m, call, reason);
    }
    reason = mca_coll_optcast_left(service->group, call);
    if (OC_FALLBACK_NONE != reason) {
        service->blocking_seen = true;
        return operate_fall_back(m, call, reason);
    }
    rc = operate_prepare(m, call);
    if (OMPI_SUCCESS != rc) {
        return rc;
    }
    status = run(m, service, call);
    service->blocking_seen = true;
    mca_coll_optcast_report_setup(service, service->group);
    if (OC_DECLINED != status) {
        rc = conclude(m, service, call, status);
    }
    mca_coll_optcast_layout_free(&call->layout);
    return OC_DECLINED == status
               ? operate_fall_back(m, call, mca_coll_optcast_left(service->group, call))
               : rc;
}

static int fall_back_now(mca_coll_optcast_module_t *m, const mca_coll_optcast_call_t *call,
                         oc_fallback_t reason, ompi_request_t **request)
{
    mca_coll_optcast_count_fallback(reason);
    mca_coll_optcast_report_call(m, call->operation->names[OC_WAY_NONBLOCKING], call, reason);
    return mca_coll_optcast_previous_now(m, call, request);
}

/* What an operation falls back on if its communicator gets no service. */
typedef struct {
    ompi_request_t *request;    /* persistent, and not started; NULL: nothing is reserved */
    mca_coll_optcast_hosted_t *hosted;
} reservation_t;

/*
 * The previous module numbers its nonblocking collectives in the order in which they are issued,
 * and that has to be the same on all ranks; but ranks learn at different times whether a set-up
 * succeeded. So the first operations of a communicator, until one that blocks, take exactly one
 * number each on every rank, whatever it knows:
 *
 *   outcome unknown   a persistent request, started if it is left to the previous module after all
 *   declined          the previous module does the operation right away
 *   live              a small persistent request, never started; …
 *   … but left        … as declined: mode auto has found that this one is better left (also if the
 *                     service has failed since)
 */
static int reserve_fallback(mca_coll_optcast_module_t *m, const mca_coll_optcast_call_t *call,
                            reservation_t *reserved)
{
    const mca_coll_optcast_operation_t *operation = call->operation;
    const oc_group_t *group = m->services[operation->service].group;
    int rc;

    if (OC_GROUP_LIVE != oc_group_state(group)
        || OC_FALLBACK_NONE != mca_coll_optcast_left(group, call)) {
        return mca_coll_optcast_previous_init(m, call, (struct ompi_info_t *) MPI_INFO_NULL,
                                              &reserved->request, &reserved->hosted);
    }
    rc = operation->previous_unused(m, call, &reserved->request);
    if (OMPI_SUCCESS == rc) {
        (void) ompi_request_free(&reserved->request);
    }
    reserved->request = NULL;
    return rc;
}

/* Without a reservation the outcome must be known before anything is issued. */
static void await_setup(const oc_group_t *group)
{
    oc_patience_t patience = {0};

    while (OC_GROUP_SETTING_UP == oc_group_state(group)) {
        progress_politely(&patience);
    }
}

static int start_now(mca_coll_optcast_module_t *m, mca_coll_optcast_call_t *call,
                     reservation_t *reserved, ompi_request_t **request)
{
    mca_coll_optcast_request_t *r;
    int rc = operate_prepare(m, call);

    if (OMPI_SUCCESS != rc) {
        if (NULL != reserved->request) {
            (void) ompi_request_free(&reserved->request);
        }
        mca_coll_optcast_hosted_free(reserved->hosted);
        return rc;
    }
    r = mca_coll_optcast_request_new(m, call, NULL);
    r->inner = reserved->request;
    r->hosted = reserved->hosted;
    rc = mca_coll_optcast_request_start(r);
    if (OMPI_SUCCESS != rc) {
        mca_coll_optcast_request_discard(r);
        return rc;
    }
    *request = &r->super.super;
    return OMPI_SUCCESS;
}

int mca_coll_optcast_operate_now(mca_coll_optcast_module_t *m, mca_coll_optcast_call_t *call,
                                 ompi_request_t **request)
{
    const mca_coll_optcast_operation_t *operation = call->operation;
    mca_coll_optcast_service_t *service = &m->services[operation->service];
    reservation_t reserved = {.request = NULL};
    oc_fallback_t reason;
    bool must_reserve;
    int rc = OMPI_SUCCESS;

    if (0 != atomic_load_explicit(&m->inside, memory_order_relaxed)) {
        return operation->previous_now(m, call, request);
    }
    mca_coll_optcast_find_devices(m, call);
    reason = operation->decide(m, call);
    if (OC_FALLBACK_NONE != reason) {
        return fall_back_now(m, call, reason, request);
    }
    must_reserve = !service->blocking_seen && service->reserved < MAX_RESERVED;
    if (!must_reserve) {
        await_setup(service->group);
    }
    service->reserved += must_reserve;
    reason = mca_coll_optcast_left(service->group, call);
    if (OC_FALLBACK_NONE != reason && (!must_reserve || operation->same_numbers(m))) {
        return fall_back_now(m, call, reason, request);
    }
    while (must_reserve && OMPI_ERR_OUT_OF_RESOURCE == (rc = reserve_fallback(m, call, &reserved))) {
        mca_coll_optcast_need(m->comm, "a nonblocking operation");
    }
    return OMPI_SUCCESS == rc ? start_now(m, call, &reserved, request) : rc;
}
