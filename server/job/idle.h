/* SPDX-License-Identifier: BSD-3-Clause */
/* Jobs that nobody has joined. On the control thread. */
#ifndef OC_SERVER_JOB_IDLE_H
#define OC_SERVER_JOB_IDLE_H

#include "server/job/job_types.h"

/* About once a second: tells sessions to retire, and closes those that do not. */
void oc_idle_tick(oc_job_server_t *job);

/* Others need the place, for OC_RETIRE_TIME: if nobody has joined, sessions retire soon. */
void oc_idle_retire(oc_job_server_t *job);

#endif
