/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Communicators by an attribute, which goes with them: handles are small numbers that MPICH uses
 * again. A duplicate begins anew.
 */
#include "mpich/comm.h"

#include <stdio.h>
#include <stdlib.h>

#include "mpich/handles.h"
#include "mpich/pmpi.h"
#include "mpich/state.h"

/*
 * The last one that a thread has asked for: it asks for the same again, mostly, and MPICH takes its
 * time. Valid until any communicator is freed, since its handle may be another one's then.
 */
static atomic_uint frees;
static _Thread_local struct {
    MPI_Comm comm;
    unsigned frees;
    oc_mpich_comm_t *known;
} last;

static void comm_destroy(oc_mpich_comm_t *c)
{
    for (int i = 0; i < OC_MPICH_NUM_SERVICES; i++) {
        if (NULL != c->services[i].group) {
            oc_group_destroy(c->services[i].group);
        }
    }
    free(c);
}

void oc_mpich_comm_hold(oc_mpich_comm_t *c)
{
    atomic_fetch_add(&c->users, 1);
}

void oc_mpich_comm_let_go(oc_mpich_comm_t *c)
{
    if (1 == atomic_fetch_sub(&c->users, 1)) {
        comm_destroy(c);
    }
}

/* In MPI_Comm_free, and for MPI_COMM_WORLD in MPI_Finalize. */
static int comm_freed(MPI_Comm comm, int keyval, void *value, void *extra)
{
    oc_mpich_comm_t *c = value;

    (void) comm;
    (void) keyval;
    (void) extra;
    atomic_fetch_add(&frees, 1);
    oc_mpich_comm_let_go(c);
    return MPI_SUCCESS;
}

int oc_mpich_comm_make_keyval(void)
{
    int keyval = MPI_KEYVAL_INVALID;

    (void) PMPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, comm_freed, &keyval, NULL);
    return keyval;
}

static void name_of(MPI_Comm comm, char name[MPI_MAX_OBJECT_NAME])
{
    int length = 0;

    if (MPI_SUCCESS != PMPI_Comm_get_name(comm, name, &length) || 0 == length) {
        snprintf(name, MPI_MAX_OBJECT_NAME, "unnamed");
    }
}

static oc_mpich_comm_t *comm_new(MPI_Comm comm)
{
    oc_mpich_comm_t *c = calloc(1, sizeof(*c));
    int inter = 1;

    if (NULL == c || MPI_SUCCESS != PMPI_Comm_test_inter(comm, &inter)) {
        free(c);
        return NULL;
    }
    c->comm = comm;
    (void) PMPI_Comm_rank(comm, &c->rank);
    (void) PMPI_Comm_size(comm, &c->size);
    c->usable = !inter && c->size > 1;
    c->next_try = 1;
    name_of(comm, c->name);
    atomic_init(&c->users, 1);
    for (int i = 0; i < OC_MPICH_NUM_SERVICES; i++) {
        c->services[i].exchange.comm = MPI_COMM_NULL;
    }
    if (MPI_SUCCESS != PMPI_Comm_set_attr(comm, oc_mpich_state.keyval, c)) {
        free(c);
        return NULL;
    }
    return c;
}

static oc_mpich_comm_t *look_up(MPI_Comm comm)
{
    oc_mpich_comm_t *c = NULL;
    int found = 0;

    if (MPI_SUCCESS != PMPI_Comm_get_attr(comm, oc_mpich_state.keyval, &c, &found)) {
        return NULL;
    }
    return found ? c : comm_new(comm);
}

oc_mpich_comm_t *oc_mpich_comm_of(MPI_Comm comm)
{
    unsigned now = atomic_load_explicit(&frees, memory_order_acquire);

    if (NULL == last.known || comm != last.comm || now != last.frees) {
        if (!oc_mpich_is_comm(comm)) {
            return NULL;
        }
        last.known = look_up(comm);
        last.comm = comm;
        last.frees = now;
    }
    return NULL != last.known && last.known->usable ? last.known : NULL;
}
