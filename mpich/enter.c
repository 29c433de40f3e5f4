/* SPDX-License-Identifier: BSD-3-Clause */
/* Communicators of a library that is on, and calls that are known to be left. */
#include "mpich/enter.h"

#include "mpich/life.h"
#include "mpich/state.h"

/* Found before anything is made of the arguments. */
static bool is_left(const oc_mpich_comm_t *c, oc_mpich_kind_t kind, oc_mpich_shape_t shape,
                    const MPI_Request *request)
{
    oc_fallback_t why;

    if (!oc_mpich_left_has(&c->left, kind, shape, &why)) {
        return false;
    }
    /* a blocking one sets up what others want */
    for (int i = 0; NULL == request && i < OC_MPICH_NUM_SERVICES; i++) {
        if (c->services[i].wanted) {
            return false;
        }
    }
    if (OC_FALLBACK_NONE != why) {
        oc_mpich_count_fallback(why);
    }
    return true;
}

oc_mpich_comm_t *oc_mpich_enter(MPI_Comm comm, oc_mpich_kind_t kind, oc_mpich_shape_t shape,
                                const MPI_Request *request)
{
    oc_mpich_comm_t *c = oc_mpich_life_is_on() ? oc_mpich_comm_of(comm) : NULL;

    return NULL == c || is_left(c, kind, shape, request) ? NULL : c;
}
