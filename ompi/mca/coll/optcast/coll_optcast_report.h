/* SPDX-License-Identifier: BSD-3-Clause */
/* Lines for people, and the MPI error code of a failure. */
#ifndef MCA_COLL_OPTCAST_REPORT_H
#define MCA_COLL_OPTCAST_REPORT_H

#include "client/client.h"

#include "coll_optcast_call.h"
#include "coll_optcast_fallback.h"
#include "coll_optcast_module.h"

/* What to call a communicator; never NULL or empty. Belongs to the communicator. */
const char *mca_coll_optcast_name(const ompi_communicator_t *comm);
/* Once, when a job with servers will not use them in mode auto. */
void mca_coll_optcast_report_module(const mca_coll_optcast_module_t *module);
/* Of an operation, at coll_optcast_verbose 2. */
void mca_coll_optcast_report_call(const mca_coll_optcast_module_t *module, const char *name,
                                  const mca_coll_optcast_call_t *call, oc_fallback_t reason);
/* group: the service's own, or that of a persistent operation */
void mca_coll_optcast_report_setup(mca_coll_optcast_service_t *service, oc_group_t *group);
int mca_coll_optcast_report_failure(mca_coll_optcast_service_t *service, const oc_group_t *group,
                                    oc_status_t status);
void mca_coll_optcast_report_summary(void);

#endif
