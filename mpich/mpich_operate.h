/* SPDX-License-Identifier: BSD-3-Clause */
/* The way of a collective to the engine, or back to MPICH. Threads of the program. */
#ifndef OC_MPICH_OPERATE_H
#define OC_MPICH_OPERATE_H

#include "mpich/call.h"
#include "mpich/comm.h"

/*
 * Carries out the call, or starts it and sets request. false: it is left to MPICH, on all ranks of
 * the communicator. rc: what MPI's function returns.
 */
bool oc_mpich_operate(oc_mpich_comm_t *comm, oc_mpich_call_t *call, MPI_Request *request, int *rc);

/* For decide: what goes by multicast, if that carries no fewer bytes than least. */
oc_fallback_t oc_mpich_decide_cast(const oc_mpich_comm_t *comm, uint64_t least, uint64_t bytes);

#endif
