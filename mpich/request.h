/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Requests of nonblocking operations: MPICH's extended generalized requests, which it polls when the
 * program tests or waits for them. The engine's own thread moves the operations on meanwhile; a request completes,
 * and is unpacked, on a thread of the program.
 */
#ifndef OC_MPICH_REQUEST_H
#define OC_MPICH_REQUEST_H

#include "mpich/call.h"
#include "mpich/comm.h"

/* Whether the MPI library has such requests. */
bool oc_mpich_request_is_possible(void);
/*
 * Starts the operation. OC_OK: it is under way, and request is its; OC_DECLINED: nothing was done; an
 * error: it was not started.
 */
oc_status_t oc_mpich_request_start(oc_mpich_comm_t *comm, const oc_mpich_call_t *call,
                                   MPI_Request *request);
/* Looks at the operation whose request this is, if it is one of ours: MPICH does not in all functions. */
void oc_mpich_request_look(MPI_Request request);

#endif
