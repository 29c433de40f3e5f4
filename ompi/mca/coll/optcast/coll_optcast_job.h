/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What rank 0 of the job decides for all ranks, and how the others get it: identity, settings,
 * rules.
 */
#ifndef MCA_COLL_OPTCAST_JOB_H
#define MCA_COLL_OPTCAST_JOB_H

#include "client/client.h"

/* Returns an upper bound of the number of hosts of the job, as far as this rank knows. */
uint32_t mca_coll_optcast_job_max_hosts(void);
/* Publishes it on rank 0. To be called while the component is opened. */
void mca_coll_optcast_job_publish(void);
/*
 * Takes over what rank 0 has published. All ranks have to call it once, before there is a
 * communicator. Returns whether rank 0 takes part.
 */
bool mca_coll_optcast_job_adopt(void);
/* Returns the identity of the job, or OC_ERR_INVALID if it is not known. Does not block. */
oc_status_t mca_coll_optcast_job_lookup(oc_job_t *job);

#endif
