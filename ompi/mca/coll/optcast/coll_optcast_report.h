/* SPDX-License-Identifier: BSD-3-Clause */
/* Prints what users are told, and makes an MPI error code of a failure. Any thread. */
#ifndef MCA_COLL_OPTCAST_REPORT_H
#define MCA_COLL_OPTCAST_REPORT_H

#include "adapter/fallback.h"
#include "client/client.h"

#include "coll_optcast_call.h"
#include "coll_optcast_module.h"

/* Returns the name of a communicator, never NULL or empty. It belongs to the communicator. */
const char *mca_coll_optcast_name(const ompi_communicator_t *comm);
/* Says that a job with servers will not use them in mode auto, if that is so. */
void mca_coll_optcast_report_module(const mca_coll_optcast_module_t *module);
/* Says what becomes of an operation, at coll_optcast_verbose 2. */
void mca_coll_optcast_report_call(const mca_coll_optcast_module_t *module, const char *name,
                                  const mca_coll_optcast_call_t *call, oc_fallback_t reason);
/*
 * Says what came of a set-up, once for each service and outcome. group: the service's own, or that
 * of a persistent operation.
 */
void mca_coll_optcast_report_setup(mca_coll_optcast_service_t *service, oc_group_t *group);
/* Says once why the service has failed, and returns the error of MPI for the operation. */
int mca_coll_optcast_report_failure(mca_coll_optcast_service_t *service, const oc_group_t *group,
                                    oc_status_t status);
/* Prints the counters of rank 0, when the component closes. */
void mca_coll_optcast_report_summary(void);

#endif
