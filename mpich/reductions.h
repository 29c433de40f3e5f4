/* SPDX-License-Identifier: BSD-3-Clause */
/* What reductions have in common. */
#ifndef OC_MPICH_REDUCTIONS_H
#define OC_MPICH_REDUCTIONS_H

#include "mpich/call.h"
#include "mpich/comm.h"

/* For decide: by operation, type and bytes of the vector. */
oc_fallback_t oc_mpich_decide_reduction(const oc_mpich_comm_t *comm, oc_mpich_call_t *call);
/* The arguments for the engine, but for who gets the result: all. */
oc_allreduce_args_t oc_mpich_reduction_args(const oc_mpich_call_t *call,
                                            void (*finished)(void *, oc_status_t), void *arg);
/* The group that reduces for the communicator. */
oc_group_t *oc_mpich_reduction_group(const oc_mpich_comm_t *comm);

#endif
