/* SPDX-License-Identifier: BSD-3-Clause */
/* The beginning of an operation in the engine. Threads of the program. */
#ifndef OC_MPICH_START_H
#define OC_MPICH_START_H

#include "mpich/call.h"
#include "mpich/comm.h"

/*
 * Prepares the call, and starts it as oc_allreduce_start does; its layout is to be freed in any case. An error: the operation was not started, and the group has failed
 * for all ranks, since the others count on this one's part.
 */
oc_status_t oc_mpich_start(const oc_mpich_comm_t *comm, oc_mpich_call_t *call,
                           void (*finished)(void *, oc_status_t), void *arg);

#endif
