/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The exchanges that a set-up of the engine needs, by messages of MPICH on a communicator of the set-up's
 * own. All ranks are in a blocking collective until the set-up is over; the thread in it moves the
 * exchange on, and no other one.
 */
#ifndef OC_MPICH_EXCHANGE_H
#define OC_MPICH_EXCHANGE_H

#include <mpi.h>
#include <stdatomic.h>
#include <stdbool.h>

#include "client/client.h"

typedef struct {
    MPI_Comm comm;              /* MPI_COMM_NULL: no set-up is under way */
    oc_exchange_t buffers;      /* of the engine */
    oc_exchange_step_t step;    /* that was asked for last */
    atomic_bool wanted;         /* it is to be started */
    atomic_int status;          /* oc_status_t of it */
    MPI_Request requests[2 * OC_CAST_NEIGHBOURS];
    int num_requests;           /* 0: none is under way */
} oc_mpich_exchange_t;

/* The context is an oc_mpich_exchange_t. The engine calls it under its lock; nothing blocks. */
extern const oc_bootstrap_t oc_mpich_bootstrap;

/*
 * Starts what is wanted and looks whether it has ended. Without locks. false: MPICH has failed, and may
 * still write to the buffers of what is under way.
 */
bool oc_mpich_exchange_progress(oc_mpich_exchange_t *exchange);

#endif
