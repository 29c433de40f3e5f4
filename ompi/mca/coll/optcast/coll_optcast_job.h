/* SPDX-License-Identifier: BSD-3-Clause */
/* What ranks know of their job before there is a communicator. */
#ifndef MCA_COLL_OPTCAST_JOB_H
#define MCA_COLL_OPTCAST_JOB_H

#include "client/client.h"

/* How many hosts the job is on at most, as far as this rank knows. */
uint32_t mca_coll_optcast_job_max_hosts(void);
/* While the component is opened; rank 0 tells the others. */
void mca_coll_optcast_job_publish(void);
/* Once, before there is a communicator, all ranks; whether rank 0 takes part. */
bool mca_coll_optcast_job_adopt(void);
/* Never waits. */
oc_status_t mca_coll_optcast_job_lookup(oc_job_t *job);

#endif
