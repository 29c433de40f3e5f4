/* SPDX-License-Identifier: BSD-3-Clause */
/* The failure of a job. On the control thread. */
#ifndef OC_SERVER_JOB_FAILURE_H
#define OC_SERVER_JOB_FAILURE_H

#include "server/job/job_types.h"

/*
 * Nothing of this job goes on, and everybody whose control connection is open hears why: the
 * parent, which is left, and the sessions, which stay. Only the first failure counts. Neither
 * blocks nor frees; to be called from wherever something of the job is found broken.
 */
void oc_job_fail(oc_job_server_t *job, oc_status_t status, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

#endif
