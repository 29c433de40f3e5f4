/* SPDX-License-Identifier: BSD-3-Clause */
/* What the files of a job need of the job itself. On the control thread. */
#ifndef OC_SERVER_JOB_JOB_INSIDE_H
#define OC_SERVER_JOB_JOB_INSIDE_H

#include "server/job/job_types.h"

void oc_job_fail(oc_job_server_t *job, oc_status_t status, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
oc_session_t *oc_job_session(oc_job_server_t *job, uint32_t client);

#endif
