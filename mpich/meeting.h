/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * How the ranks of a communicator get to know what they have to decide by. Collective: to be called by all
 * ranks in the same blocking collective of it; they come to the same end.
 */
#ifndef OC_MPICH_MEETING_H
#define OC_MPICH_MEETING_H

#include "mpich/comm.h"

/* The terms of the job, if a rank has them. */
void oc_mpich_meet(oc_mpich_comm_t *comm);
/* Where the ranks are, which makes groups of those that have met. */
void oc_mpich_place(oc_mpich_comm_t *comm);
/* Sets up the service; waits until it is live, or will never be. */
void oc_mpich_set_up(oc_mpich_comm_t *comm, oc_service_t service);

#endif
