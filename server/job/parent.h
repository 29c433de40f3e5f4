/* SPDX-License-Identifier: BSD-3-Clause */
/* The server above; all do nothing in a job that has none. On the control thread. */
#ifndef OC_SERVER_JOB_PARENT_H
#define OC_SERVER_JOB_PARENT_H

#include "server/job/job_types.h"

/* Begins to look the name up. On failure a sentence in error. */
oc_status_t oc_parent_open(oc_job_server_t *job, char *error, size_t error_size);
/* In the name of the job that this process says it is of. Only the first call counts. */
void oc_parent_greet(oc_job_server_t *job, const oc_hello_t *hello);
/* OC_OK: it serves the job, or none is needed. OC_IN_PROGRESS. An error: *reason says why not. */
oc_status_t oc_parent_status(const oc_job_server_t *job, const char **reason);
uint64_t oc_parent_identity(const oc_job_server_t *job);
void oc_parent_join(oc_job_server_t *job, const oc_registered_group_t *group);
void oc_parent_leave(oc_job_server_t *job, const oc_registered_group_t *group);
/* As often as clients ask whether this server is there. */
void oc_parent_ping(oc_job_server_t *job);
void oc_parent_tick(oc_job_server_t *job);
/* The answer to its PING. */
void oc_parent_pong(oc_job_server_t *job, uint32_t number);
/* Its data connection broke. */
void oc_parent_lost(oc_job_server_t *job);
/* The job has failed: the other leaves hear why. */
void oc_parent_give_up(oc_job_server_t *job, oc_status_t status, const char *text);
void oc_parent_close(oc_job_server_t *job);

#endif
