/* SPDX-License-Identifier: BSD-3-Clause */
/* One process of the job and its control connection. On the control thread. */
#ifndef OC_SERVER_JOB_SESSION_H
#define OC_SERVER_JOB_SESSION_H

#include "server/job/job_types.h"

/* Of a process that said HELLO: takes fd over, which is closed if that cannot be. */
void oc_session_new(oc_job_server_t *job, int fd, const oc_hello_t *hello);
/* What they have waited for is there: they are welcome, unless they wait for something else. */
void oc_sessions_welcome(oc_job_server_t *job);
/* It has not, and will not: they are refused. */
void oc_sessions_refuse(oc_job_server_t *job, oc_status_t status, const char *reason);
/* Its ranks have left all groups. Frees it. */
void oc_session_close(oc_session_t *session);
/* About once a second. Asks a leaf that has groups whether it is there; false, once: it is not. */
bool oc_session_is_there(oc_session_t *session, uint64_t now);
/* From now on the tick looks at it. */
void oc_session_watch(oc_session_t *session);

#endif
