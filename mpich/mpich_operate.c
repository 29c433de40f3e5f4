/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A communicator gets its services in blocking collectives only, in which all ranks wait for each other anyway.
 * A nonblocking one that comes before is left to MPICH, but its service is wanted from then on: the next
 * blocking collective sets it up, whatever it is itself. All ranks issue the collectives of a
 * communicator in the same order, so they decide alike.
 */
#include "mpich/mpich_operate.h"

#include "adapter/reason.h"

#include "mpich/meeting.h"
#include "mpich/mpich_start.h"
#include "mpich/pmpi.h"
#include "mpich/report.h"
#include "mpich/request.h"
#include "mpich/state.h"

typedef struct {
    atomic_bool done;
    oc_status_t status;
} waiter_t;

static void blocking_on_finished(void *arg, oc_status_t status)
{
    waiter_t *waiter = arg;

    waiter->status = status;
    atomic_store(&waiter->done, true);
}

static oc_status_t run_blocking(const oc_mpich_comm_t *c, oc_mpich_call_t *call)
{
    waiter_t waiter = {.done = false};
    oc_patience_t patience = {0};
    oc_status_t status = oc_mpich_start(c, call, blocking_on_finished, &waiter);

    if (OC_OK != status) {
        return status;
    }
    while (!atomic_load(&waiter.done)) {
        oc_mpich_progress(&patience);
    }
    return waiter.status;
}

/* Services that this call or a nonblocking one before it is for. */
static void set_up_services(oc_mpich_comm_t *c, const oc_mpich_call_t *call, oc_fallback_t reason)
{
    for (int i = 0; i < OC_MPICH_NUM_SERVICES; i++) {
        bool needed = OC_FALLBACK_NONE == reason && (oc_service_t) i == call->operation->service;

        if (!needed && !c->services[i].wanted) {
            continue;
        }
        if (OC_MEETING_MET == c->meeting) {
            oc_mpich_place(c);
        }
        oc_mpich_set_up(c, (oc_service_t) i);
        c->services[i].wanted = false;
    }
}

/* By the next blocking collective. */
static bool may_be_set_up(const oc_mpich_comm_t *c, const oc_mpich_service_t *service)
{
    return NULL == service->group ? OC_MEETING_PLACED != c->meeting
                                  : OC_GROUP_NEW == oc_group_state(service->group);
}

/* Why the call is left, once it is known what the terms say of it; nonblocking ones have conditions of their own. */
static oc_fallback_t find_reason(oc_mpich_comm_t *c, const oc_mpich_call_t *call,
                                 oc_fallback_t reason)
{
    oc_mpich_service_t *service = &c->services[call->operation->service];

    if (call->blocking) {
        set_up_services(c, call, reason);
    } else if (OC_FALLBACK_NONE == reason && may_be_set_up(c, service)) {
        service->wanted = true;
        return OC_FALLBACK_ORDER;
    } else if (OC_FALLBACK_NONE == reason && !oc_mpich_request_is_possible()) {
        return OC_FALLBACK_ORDER;
    }
    if (OC_FALLBACK_NONE != reason) {
        return reason;
    }
    return NULL == service->group ? OC_FALLBACK_SETUP
                                  : oc_reason_of(service->group, call->operation->ruled,
                                                   call->oc_type, call->bytes);
}

/* What the settings do not offer is nobody's to count. */
static bool is_wanted_at_all(oc_service_t service)
{
    return OC_SERVICE_MULTICAST != service
           || OC_MULTICAST_OFF != oc_mpich_state.terms.multicast;
}

static bool leave_to_mpich(const oc_mpich_comm_t *c, const oc_mpich_call_t *call, oc_fallback_t reason)
{
    oc_mpich_count_fallback(reason);
    oc_mpich_report_call(c, call, reason);
    return false;
}

/* Not what may be otherwise next time, nor where each call is reported. */
static void remember_left(oc_mpich_comm_t *c, const oc_mpich_call_t *call, oc_fallback_t decided,
                          oc_fallback_t reason)
{
    oc_mpich_kind_t kind = call->operation->kind;
    oc_mpich_shape_t shape = {.count = call->count, .type = call->type, .op = call->op};

    if (oc_mpich_state.settings.verbose > 1) {
        return;
    }
    if (OC_FALLBACK_PLACE == decided) { /* whatever the shape is */
        oc_mpich_left_add_all(&c->left, kind, decided);
    } else if (OC_FALLBACK_SETUP != reason && OC_FALLBACK_ORDER != reason
               && NULL == call->counts.values) {
        oc_mpich_left_add(&c->left, kind, shape, reason);
    }
}

/* What is left to do when the engine has done its part. */
static int operate_conclude(oc_mpich_comm_t *c, oc_mpich_call_t *call, oc_status_t status)
{
    const oc_mpich_operation_t *operation = call->operation;

    if (OC_OK != status) {
        return oc_mpich_report_failure(c, operation->service, status);
    }
    return NULL == operation->finish ? MPI_SUCCESS : operation->finish(c, call);
}

/* rc: of MPI, unless the operation is declined. */
static oc_status_t start_or_run(oc_mpich_comm_t *c, oc_mpich_call_t *call, MPI_Request *request,
                                int *rc)
{
    oc_status_t status;

    if (!call->blocking) {
        status = oc_mpich_request_start(c, call, request);
        if (OC_DECLINED != status) {
            *rc = OC_OK == status ? MPI_SUCCESS
                                  : oc_mpich_report_failure(c, call->operation->service, status);
        }
        return status;
    }
    status = run_blocking(c, call);
    if (OC_DECLINED != status) {
        *rc = operate_conclude(c, call, status);
    }
    oc_mpich_layout_free(&call->layout);
    return status;
}

bool oc_mpich_operate(oc_mpich_comm_t *c, oc_mpich_call_t *call, MPI_Request *request, int *rc)
{
    oc_fallback_t decided, reason;

    call->blocking = NULL == request;
    if (!call->blocking) {
        *request = MPI_REQUEST_NULL; /* also if it fails */
    }
    if (call->blocking && OC_MEETING_NONE == c->meeting) {
        oc_mpich_meet(c);
    }
    if (OC_MEETING_MET != c->meeting && OC_MEETING_PLACED != c->meeting) {
        return leave_to_mpich(c, call, OC_FALLBACK_SETUP);
    }
    if (OC_MODE_NEVER == c->mode || !is_wanted_at_all(call->operation->service)) {
        oc_mpich_left_add_all(&c->left, call->operation->kind, OC_FALLBACK_NONE);
        return false;
    }
    decided = call->operation->decide(c, call);
    reason = find_reason(c, call, decided);
    if (OC_FALLBACK_NONE != reason) {
        remember_left(c, call, decided, reason);
        return leave_to_mpich(c, call, reason);
    }
    if (OC_DECLINED == start_or_run(c, call, request, rc)) {
        return leave_to_mpich(c, call, OC_FALLBACK_SETUP);
    }
    oc_mpich_report_call(c, call, OC_FALLBACK_NONE);
    if (MPI_SUCCESS != *rc) {
        (void) PMPI_Comm_call_errhandler(c->comm, *rc);
    }
    return true;
}

oc_fallback_t oc_mpich_decide_cast(const oc_mpich_comm_t *c, uint64_t least, uint64_t bytes)
{
    if (UINT64_MAX == least) {
        return OC_FALLBACK_PLACE;
    }
    if (0 == bytes || bytes < least) {
        return OC_FALLBACK_SIZE;
    }
    return c->size > oc_mpich_state.settings.max_ranks ? OC_FALLBACK_RANKS : OC_FALLBACK_NONE;
}
