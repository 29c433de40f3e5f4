/* SPDX-License-Identifier: BSD-3-Clause */
/* Ends jobs in which no process has joined a group. On the control thread; nothing blocks. */
#ifndef OC_SERVER_JOB_IDLE_H
#define OC_SERVER_JOB_IDLE_H

#include "server/job/job_types.h"

/* To be called about once a second. Tells sessions to retire, and closes those that do not. */
void oc_idle_tick(oc_job_server_t *job);

/*
 * To be called when another job needs the place: for OC_RETIRE_TIME, if no process has joined a
 * group, sessions are told to retire soon.
 */
void oc_idle_retire(oc_job_server_t *job);

#endif
