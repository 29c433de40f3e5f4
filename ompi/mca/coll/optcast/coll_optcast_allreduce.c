/* SPDX-License-Identifier: BSD-3-Clause */
/* MPI_Allreduce and MPI_Iallreduce: to the engine, or to where they went. */
#include "coll_optcast.h"

#include "opal/runtime/opal_progress.h"

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
        mca_coll_optcast_bootstrap_serve(&m->bootstrap);
        progress_politely(&rounds);
    }
}

static int fall_back(mca_coll_optcast_module_t *m, const mca_coll_optcast_call_t *call,
                     oc_fallback_t reason)
{
    mca_coll_optcast_count_fallback(reason);
    mca_coll_optcast_tell(m, "Allreduce", call, reason);
    return m->prev_allreduce(call->sbuf, call->rbuf, call->count, call->dtype, call->op, m->comm,
                             m->prev_allreduce_module);
}

int mca_coll_optcast_allreduce(const void *sbuf, void *rbuf, oc_mpi_count_t count,
                               struct ompi_datatype_t *dtype, struct ompi_op_t *op,
                               struct ompi_communicator_t *comm, mca_coll_base_module_t *module)
{
    mca_coll_optcast_module_t *m = (mca_coll_optcast_module_t *) module;
    mca_coll_optcast_call_t call = {sbuf, rbuf, count, dtype, op, 0, 0};
    oc_fallback_t reason = mca_coll_optcast_decide(m, &call, false);
    waiter_t waiter = {.done = false};
    oc_allreduce_args_t args;
    oc_status_t status;

    (void) comm;
    if (OC_FALLBACK_NONE != reason) {
        return fall_back(m, &call, reason);
    }
    args = mca_coll_optcast_engine_args(&call, on_finished, &waiter);
    if (OC_GROUP_NEW == oc_group_state(m->group)) {
        m->bootstrap.blocking = true;
    }
    status = oc_allreduce_start(m->group, &args);
    if (OC_OK == status) {
        wait_for(m, &waiter.done);
        status = waiter.status;
    }
    m->blocking_seen = true;
    mca_coll_optcast_report_setup(m, m->group);
    if (OC_DECLINED == status) {
        return fall_back(m, &call, OC_FALLBACK_SETUP);
    }
    mca_coll_optcast_tell(m, "Allreduce", &call, OC_FALLBACK_NONE);
    return OC_OK == status ? OMPI_SUCCESS : mca_coll_optcast_report_failure(m, m->group, status);
}

static int fall_back_now(mca_coll_optcast_module_t *m, const mca_coll_optcast_call_t *call,
                         oc_fallback_t reason, ompi_request_t **request)
{
    mca_coll_optcast_count_fallback(reason);
    mca_coll_optcast_tell(m, "Iallreduce", call, reason);
    return m->prev_iallreduce(call->sbuf, call->rbuf, call->count, call->dtype, call->op, m->comm,
                              request, m->prev_iallreduce_module);
}

/* What MPI would have got without us; the previous module takes a number for it. */
static int previous_init(mca_coll_optcast_module_t *m, const mca_coll_optcast_call_t *call,
                         ompi_request_t **request)
{
    return m->prev_allreduce_init(call->sbuf, call->rbuf, call->count, call->dtype, call->op,
                                  m->comm, (struct ompi_info_t *) MPI_INFO_NULL, request,
                                  m->prev_allreduce_init_module);
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
static int reserve_fallback(mca_coll_optcast_module_t *m, const mca_coll_optcast_call_t *call,
                            ompi_request_t **reserved)
{
    static int unused;
    mca_coll_optcast_call_t nothing = {MPI_IN_PLACE, &unused, 1, MPI_INT, MPI_SUM, 0, 0};
    int rc;

    if (OC_GROUP_LIVE != oc_group_state(m->group)) {
        return previous_init(m, call, reserved);
    }
    rc = previous_init(m, &nothing, reserved);
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

int mca_coll_optcast_iallreduce(const void *sbuf, void *rbuf, oc_mpi_count_t count,
                                struct ompi_datatype_t *dtype, struct ompi_op_t *op,
                                struct ompi_communicator_t *comm, ompi_request_t **request,
                                mca_coll_base_module_t *module)
{
    mca_coll_optcast_module_t *m = (mca_coll_optcast_module_t *) module;
    mca_coll_optcast_call_t call = {sbuf, rbuf, count, dtype, op, 0, 0};
    oc_fallback_t reason = mca_coll_optcast_decide(m, &call, true);
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
    m->reserved += must_reserve;
    if (OC_GROUP_DECLINED == oc_group_state(m->group) && (!must_reserve || same_numbers(m))) {
        return fall_back_now(m, &call, OC_FALLBACK_SETUP, request);
    }
    rc = must_reserve ? reserve_fallback(m, &call, &reserved) : OMPI_SUCCESS;
    if (OMPI_SUCCESS != rc) {
        return rc;
    }
    r = mca_coll_optcast_request_new(m, NULL);
    r->inner = reserved;
    rc = mca_coll_optcast_request_start(r, &call);
    if (OMPI_SUCCESS != rc) {
        mca_coll_optcast_request_discard(r);
        return rc;
    }
    *request = &r->super.super;
    return OMPI_SUCCESS;
}
