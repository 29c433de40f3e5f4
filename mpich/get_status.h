/* SPDX-License-Identifier: BSD-3-Clause */
/* MPI_Request_get_status, in which MPICH does not look at requests like ours. */
#ifndef OC_MPICH_GET_STATUS_H
#define OC_MPICH_GET_STATUS_H

/* Looks at the operation whose request this is, if it is one of ours, before MPICH tells its state. */
void oc_mpich_get_status_begin(int request);

#endif
