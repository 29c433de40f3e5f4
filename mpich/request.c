/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * MPICH calls poll in its test functions, MPI_Wait and MPI_Waitany, without moving itself on in MPI_Wait; wait for
 * each of our requests of an MPI_Waitall; and neither in MPI_Request_get_status. Their status may be no
 * valid pointer: it is for query to fill in.
 */
#include "mpich/request.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <utlist.h>

#include "base/clock.h"

#include "mpich/memory.h"
#include "mpich/mpich_start.h"
#include "mpich/pmpi.h"
#include "mpich/report.h"
#include "mpich/state.h"

/* Polls that are no further apart are those of a wait, … */
#define AT_ONCE (OC_MILLISECOND / 50)
/* … which may be one for messages of the program, too: MPI_Waitany does not tell. */
#define LONGEST_NAP_US 200

typedef struct live live_t;
struct live {
    oc_mpich_comm_t *comm;
    oc_mpich_call_t call;
    MPI_Request handle;
    atomic_bool done;           /* by the engine … */
    oc_status_t status;         /* … with this */
    atomic_int users;           /* the request, until it is freed, and the engine, until it has ended */
    atomic_bool told;           /* to MPICH */
    int error;                  /* of MPI */
    oc_patience_t patience;     /* of polls that follow each other at once … */
    uint64_t polled;            /* … since the last one */
    live_t *prev, *next;
};

/* Of this process, from start to free. */
static live_t *lives;
static pthread_mutex_t lives_lock = PTHREAD_MUTEX_INITIALIZER;

static void live_free(live_t *r)
{
    oc_mpich_layout_free(&r->call.layout);
    oc_mpich_comm_let_go(r->comm);
    free(r);
}

static void live_let_go(live_t *r)
{
    if (1 == atomic_fetch_sub(&r->users, 1)) {
        live_free(r);
    }
}

static void live_on_finished(void *arg, oc_status_t status)
{
    live_t *r = arg;

    r->status = status;
    atomic_store(&r->done, true);
    live_let_go(r);
}

/* On a thread of the program: types are unpacked here. */
static void live_tell(live_t *r)
{
    const oc_mpich_operation_t *operation = r->call.operation;

    if (OC_OK != r->status) {
        r->error = oc_mpich_report_failure(r->comm, operation->service, r->status);
    } else if (NULL != operation->finish) {
        r->error = operation->finish(r->comm, &r->call);
    }
    (void) PMPI_Grequest_complete(r->handle);
}

/*
 * MPI_Wait polls again and again, and MPI_Test once: nobody tells which of them it is. A program that does
 * something between its tests is not kept waiting.
 */
static void move_on(live_t *r)
{
    if (oc_clock_ns() - r->polled > AT_ONCE) {
        r->patience = (oc_patience_t) {.most_us = LONGEST_NAP_US};
    }
    oc_mpich_progress(&r->patience);
    r->polled = oc_clock_ns();
}

static int live_poll(void *state, MPI_Status *status)
{
    live_t *r = state;

    (void) status;
    if (!atomic_load(&r->done)) {
        move_on(r);
    }
    if (atomic_load(&r->done) && !atomic_exchange(&r->told, true)) {
        live_tell(r);
    }
    return MPI_SUCCESS;
}

static int live_wait(int count, void **states, double timeout, MPI_Status *status)
{
    oc_patience_t patience = {0};

    (void) timeout;
    for (int i = 0; i < count; i++) {
        live_t *r = states[i];

        while (!atomic_load(&r->done)) {
            oc_mpich_progress(&patience);
        }
        (void) live_poll(r, status);
    }
    return MPI_SUCCESS;
}

static int live_query(void *state, MPI_Status *status)
{
    const live_t *r = state;

    (void) PMPI_Status_set_elements(status, MPI_BYTE, 0);
    (void) PMPI_Status_set_cancelled(status, 0);
    status->MPI_SOURCE = MPI_ANY_SOURCE;
    status->MPI_TAG = MPI_ANY_TAG;
    return r->error;
}

/*
 * Also of one that is still under way, though MPI forbids that for collectives: what arrives then is nowhere to
 * be unpacked, and the program cannot look at it.
 */
static int live_freed(void *state)
{
    live_t *r = state;

    pthread_mutex_lock(&lives_lock);
    DL_DELETE(lives, r);
    pthread_mutex_unlock(&lives_lock);
    live_let_go(r);
    return MPI_SUCCESS;
}

/* Nonblocking collectives cannot be cancelled. */
static int live_cancel(void *state, int complete)
{
    (void) state;
    (void) complete;
    return MPI_ERR_REQUEST;
}

bool oc_mpich_request_is_possible(void)
{
    static _Atomic(void *) found;

    /* its address may have been looked up before there was an MPI library */
    if (NULL == atomic_load(&found)) {
        atomic_store(&found, dlsym(RTLD_DEFAULT, "PMPIX_Grequest_start"));
    }
    return NULL != atomic_load(&found);
}

static void make_request(live_t *r)
{
    if (MPI_SUCCESS
        != PMPIX_Grequest_start(live_query, live_freed, live_cancel, live_poll,
                                live_wait, r, &r->handle)) {
        oc_mpich_need(r->comm->comm, r->comm->name, "a request");
    }
    pthread_mutex_lock(&lives_lock);
    DL_APPEND(lives, r);
    pthread_mutex_unlock(&lives_lock);
}

oc_status_t oc_mpich_request_start(oc_mpich_comm_t *c, const oc_mpich_call_t *call,
                                   MPI_Request *request)
{
    live_t *r = calloc(1, sizeof(*r));
    oc_status_t status;

    if (NULL == r) {
        oc_mpich_need(c->comm, c->name, "a request");
    }
    r->comm = c;
    r->call = *call;
    atomic_init(&r->users, 2);
    oc_mpich_comm_hold(c);
    status = oc_mpich_start(c, &r->call, live_on_finished, r);
    if (OC_OK != status) {
        live_free(r);
        return status;
    }
    make_request(r);
    *request = r->handle;
    return OC_OK;
}

void oc_mpich_request_look(MPI_Request request)
{
    live_t *r;

    pthread_mutex_lock(&lives_lock);
    DL_FOREACH (lives, r) {
        if (request == r->handle) {
            break;
        }
    }
    if (NULL != r) {
        atomic_fetch_add(&r->users, 1);
    }
    pthread_mutex_unlock(&lives_lock);
    if (NULL != r) {
        (void) live_poll(r, MPI_STATUS_IGNORE);
        live_let_go(r);
    }
}
