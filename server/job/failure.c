/* SPDX-License-Identifier: BSD-3-Clause */
/* The failure of a job: it is marked, and everybody hears the reason. */
#include "server/job/failure.h"

#include <stdarg.h>
#include <stdio.h>
#include <utlist.h>

#include "base/log.h"
#include "server/job/notice.h"
#include "server/job/parent.h"

void oc_job_fail(oc_job_server_t *job, oc_status_t status, const char *format, ...)
{
    oc_session_t *session, *next;
    char text[OC_MAX_TEXT + 1];
    va_list args;

    va_start(args, format);
    vsnprintf(text, sizeof(text), format, args);
    va_end(args);
    if (job->failed) {
        return;
    }
    job->failed = true;
    if (job->num_sessions > 0) {
        oc_info("the job ends: %s", text);
    }
    oc_parent_give_up(job, status, text);
    DL_FOREACH_SAFE (job->sessions, session, next) {
        oc_session_notice(session, OC_CONTROL_JOB_ERROR, 0, status, text);
    }
}
