/* SPDX-License-Identifier: BSD-3-Clause */
/* MPI_Allreduce and MPI_Iallreduce: what is offloaded, and what happens to the rest. */
#include "coll_optcast.h"

#include "opal/runtime/opal_progress.h"
#include "opal/util/output.h"

#include "reduction/reduction.h"

/*
 * How many nonblocking operations of a communicator that has seen no blocking one take a number
 * of the previous module: see reserve_fallback. A rank that issues more while its set-up is
 * still under way waits for the outcome.
 */
#define MAX_RESERVED 1024

/* Rounds of a wait without news before it sleeps, and for how long (µs), if oversubscribed. */
#define PATIENT_ROUNDS 16
#define NAP_US         100

typedef struct {
    const void *sbuf;
    void *rbuf;
    oc_mpi_count_t count;
    struct ompi_datatype_t *dtype;
    struct ompi_op_t *op;
    unsigned oc_op, oc_type;
} allreduce_t;

/*
 * A pure function of what MPI makes equal on all ranks. Nonblocking MAX and MIN of at most two
 * integers never come here: Open MPI agrees on communicator ids that way, from inside progress,
 * and in an order that differs between ranks.
 */
static oc_fallback_t decide(const mca_coll_optcast_module_t *m, allreduce_t *call,
                            bool nonblocking)
{
    const oc_job_settings_t *settings = &mca_coll_optcast_component.settings;
    size_t bytes;

    call->oc_op = ompi_op_is_intrinsic(call->op) ? mca_coll_optcast_op(call->op) : 0;
    if (0 == call->oc_op) {
        return OC_FALLBACK_OP;
    }
    call->oc_type = mca_coll_optcast_type(call->dtype);
    if (0 == call->oc_type) {
        return OC_FALLBACK_TYPE;
    }
    if (NULL == oc_reduce_kernel(call->oc_op, call->oc_type)) {
        return OC_FALLBACK_OP;
    }
    if (nonblocking && call->count <= 2
        && (OC_OP_MAX == call->oc_op || OC_OP_MIN == call->oc_op)
        && OC_TYPE_FLOAT != call->oc_type && OC_TYPE_DOUBLE != call->oc_type) {
        return OC_FALLBACK_ORDER;
    }
    bytes = (size_t) call->count * oc_type_size(call->oc_type);
    if (0 == bytes || (OC_MODE_AUTO == m->mode && bytes < settings->min_size)) {
        return OC_FALLBACK_SIZE;
    }
    return OC_FALLBACK_NONE;
}

static void tell_operation(const mca_coll_optcast_module_t *m, const char *name,
                           const allreduce_t *call, oc_fallback_t reason)
{
    static const char *const texts[] = {
        "goes to the servers", "falls back: operation", "falls back: type",
        "falls back: size", "falls back: no service", "falls back: order"};

    OC_VERBOSE(2, "optcast: %s on \"%s\": %zu x %s, %s: %s", name, m->comm->c_name,
               (size_t) call->count, call->dtype->name, call->op->o_name, texts[reason]);
}

static oc_allreduce_args_t engine_args(const allreduce_t *call,
                                       void (*finished)(void *, oc_status_t), void *arg)
{
    return (oc_allreduce_args_t) {
        .send = MPI_IN_PLACE == call->sbuf ? call->rbuf : call->sbuf,
        .recv = call->rbuf,
        .count = (size_t) call->count,
        .op = call->oc_op,
        .type = call->oc_type,
        .finished = finished,
        .arg = arg,
    };
}

typedef struct {
    atomic_bool done;
    oc_status_t status;
} waiter_t;

static void on_finished(void *arg, oc_status_t status)
{
    waiter_t *waiter = arg;

    waiter->status = status;
    atomic_store(&waiter->done, true);
}

/* Other traffic of this rank goes on meanwhile; a crowded host gets its processor back. */
static void progress_politely(unsigned *rounds)
{
    mca_coll_optcast_component_t *cm = &mca_coll_optcast_component;

    opal_progress();
    if (cm->oversubscribed && ++*rounds > PATIENT_ROUNDS) {
        oc_client_wait(cm->client, NAP_US);
    }
}

static void wait_for(mca_coll_optcast_module_t *m, atomic_bool *done)
{
    unsigned rounds = 0;

    while (!atomic_load(done)) {
        mca_coll_optcast_bootstrap_serve(m);
        progress_politely(&rounds);
    }
}

static int fall_back(mca_coll_optcast_module_t *m, const allreduce_t *call, oc_fallback_t reason)
{
    mca_coll_optcast_count_fallback(reason);
    tell_operation(m, "Allreduce", call, reason);
    return m->prev_allreduce(call->sbuf, call->rbuf, call->count, call->dtype, call->op, m->comm,
                             m->prev_allreduce_module);
}

int mca_coll_optcast_allreduce(const void *sbuf, void *rbuf, oc_mpi_count_t count,
                               struct ompi_datatype_t *dtype, struct ompi_op_t *op,
                               struct ompi_communicator_t *comm, mca_coll_base_module_t *module)
{
    mca_coll_optcast_module_t *m = (mca_coll_optcast_module_t *) module;
    allreduce_t call = {sbuf, rbuf, count, dtype, op, 0, 0};
    oc_fallback_t reason = decide(m, &call, false);
    waiter_t waiter = {.done = false};
    oc_allreduce_args_t args;
    oc_status_t status;

    (void) comm;
    if (OC_FALLBACK_NONE != reason) {
        return fall_back(m, &call, reason);
    }
    args = engine_args(&call, on_finished, &waiter);
    if (OC_GROUP_NEW == oc_group_state(m->group)) {
        m->bootstrap.blocking = true;
    }
    status = oc_allreduce_start(m->group, &args);
    if (OC_OK == status) {
        wait_for(m, &waiter.done);
        status = waiter.status;
    }
    m->blocking_seen = true;
    mca_coll_optcast_report_setup(m);
    if (OC_DECLINED == status) {
        return fall_back(m, &call, OC_FALLBACK_SETUP);
    }
    tell_operation(m, "Allreduce", &call, OC_FALLBACK_NONE);
    return OC_OK == status ? OMPI_SUCCESS : mca_coll_optcast_report_failure(m, status);
}

static int fall_back_now(mca_coll_optcast_module_t *m, const allreduce_t *call,
                         oc_fallback_t reason, ompi_request_t **request)
{
    mca_coll_optcast_count_fallback(reason);
    tell_operation(m, "Iallreduce", call, reason);
    return m->prev_iallreduce(call->sbuf, call->rbuf, call->count, call->dtype, call->op, m->comm,
                              request, m->prev_iallreduce_module);
}

/*
 * The previous module numbers its nonblocking collectives in the order in which they are issued,
 * and that has to be the same on all ranks; but ranks learn at different times whether a set-up
 * succeeded. So the first operations of a communicator, until one that blocks, take exactly one
 * number each on every rank, whatever it knows:
 *
 *   outcome unknown   a persistent request, started if the set-up is declined, else unused
 *   declined          the previous module does the operation right away
 *   live              a persistent request of one element, never started
 *
 * The last is not the first because Open MPI does not give back the buffers of a persistent
 * request, and those of the first are as large as the vector.
 */
static int reserve_fallback(mca_coll_optcast_module_t *m, const allreduce_t *call,
                            ompi_request_t **reserved)
{
    struct ompi_info_t *info = (struct ompi_info_t *) MPI_INFO_NULL;
    static int unused;
    int rc;

    m->reserved++;
    if (OC_GROUP_LIVE != oc_group_state(m->group)) {
        return m->prev_allreduce_init(call->sbuf, call->rbuf, call->count, call->dtype, call->op,
                                      m->comm, info, reserved, m->prev_allreduce_init_module);
    }
    rc = m->prev_allreduce_init(MPI_IN_PLACE, &unused, 1, MPI_INT, MPI_SUM, m->comm, info,
                                reserved, m->prev_allreduce_init_module);
    if (OMPI_SUCCESS == rc) {
        (void) ompi_request_free(reserved);
    }
    *reserved = NULL;
    return rc;
}

/* Without a reservation the outcome must be known before anything is issued. */
static void await_setup(mca_coll_optcast_module_t *m)
{
    unsigned rounds = 0;

    while (OC_GROUP_SETTING_UP == oc_group_state(m->group)) {
        progress_politely(&rounds);
    }
}

/* Whether the previous module numbers an immediate operation like one that was reserved. */
static bool same_numbers(const mca_coll_optcast_module_t *m)
{
    return m->prev_iallreduce_module == m->prev_allreduce_init_module;
}

static int start_nonblocking(mca_coll_optcast_module_t *m, const allreduce_t *call,
                             mca_coll_optcast_request_t *r)
{
    oc_allreduce_args_t args = engine_args(call, mca_coll_optcast_request_finished, r);
    oc_status_t status = oc_allreduce_start(m->group, &args);

    if (OC_OK == status) {
        return OMPI_SUCCESS;
    }
    if (OC_DECLINED == status) {
        return mca_coll_optcast_request_fall_back(r);
    }
    return mca_coll_optcast_report_failure(m, status);
}

int mca_coll_optcast_iallreduce(const void *sbuf, void *rbuf, oc_mpi_count_t count,
                                struct ompi_datatype_t *dtype, struct ompi_op_t *op,
                                struct ompi_communicator_t *comm, ompi_request_t **request,
                                mca_coll_base_module_t *module)
{
    mca_coll_optcast_module_t *m = (mca_coll_optcast_module_t *) module;
    allreduce_t call = {sbuf, rbuf, count, dtype, op, 0, 0};
    oc_fallback_t reason = decide(m, &call, true);
    mca_coll_optcast_request_t *r;
    ompi_request_t *reserved = NULL;
    bool must_reserve;
    int rc;

    (void) comm;
    if (OC_FALLBACK_NONE != reason) {
        return fall_back_now(m, &call, reason, request);
    }
    must_reserve = !m->blocking_seen && m->reserved < MAX_RESERVED;
    if (!must_reserve) {
        await_setup(m);
    }
    if (OC_GROUP_DECLINED == oc_group_state(m->group) && (!must_reserve || same_numbers(m))) {
        m->reserved += must_reserve;
        return fall_back_now(m, &call, OC_FALLBACK_SETUP, request);
    }
    rc = must_reserve ? reserve_fallback(m, &call, &reserved) : OMPI_SUCCESS;
    if (OMPI_SUCCESS != rc) {
        return rc;
    }
    r = mca_coll_optcast_request_new(m);
    r->inner = reserved;
    tell_operation(m, "Iallreduce", &call, OC_FALLBACK_NONE);
    rc = start_nonblocking(m, &call, r);
    if (OMPI_SUCCESS != rc) {
        mca_coll_optcast_request_discard(r);
        return rc;
    }
    *request = &r->super.super;
    return OMPI_SUCCESS;
}
