/* SPDX-License-Identifier: BSD-3-Clause */
/* The door of collectives. */
#ifndef OC_MPICH_ENTER_H
#define OC_MPICH_ENTER_H

#include "mpich/comm.h"

/*
 * What the library knows of the communicator. NULL: the call is left to MPICH, as nothing is offloaded there, or such a
 * call has been left before and will be again; then it is counted, also if MPICH finds that its other arguments are
 * wrong. Communicates nothing.
 * request: of a nonblocking call, or NULL.
 */
oc_mpich_comm_t *oc_mpich_enter(MPI_Comm comm, oc_mpich_kind_t kind, oc_mpich_shape_t shape,
                                const MPI_Request *request);

#endif
