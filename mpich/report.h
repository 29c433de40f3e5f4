/* SPDX-License-Identifier: BSD-3-Clause */
/* What people are told, and how a failure becomes an MPI error. */
#ifndef OC_MPICH_REPORT_H
#define OC_MPICH_REPORT_H

#include "mpich/call.h"
#include "mpich/comm.h"

/* Lines name the host and the process from now on; the settings have been read. */
void oc_mpich_report_open(void);
/* That MPICH does everything on the communicator, and why. */
void oc_mpich_report_refusal(const oc_mpich_comm_t *comm, const char *why);
/* Once, how the set-up of a service has ended. */
void oc_mpich_report_setup(oc_mpich_comm_t *comm, oc_service_t service);
/* One line for each operation, at verbose 2. */
void oc_mpich_report_call(const oc_mpich_comm_t *comm, const oc_mpich_call_t *call,
                          oc_fallback_t reason);
/* Returns the error of MPI for a service that has failed; says once what happened. */
int oc_mpich_report_failure(oc_mpich_comm_t *comm, oc_service_t service, oc_status_t status);
void oc_mpich_report_summary(void);

#endif
