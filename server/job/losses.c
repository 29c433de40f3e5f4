/* SPDX-License-Identifier: BSD-3-Clause */
/* What a server does about lost ones: it is the way by which ranks hear of each other. */
#include "server/job/losses.h"

#include <string.h>
#include <utlist.h>

#include "base/log.h"
#include "server/job/failure.h"
#include "server/job/notice.h"
#include "server/job/parent.h"
#include "server/job/registry.h"

static void losses_send(oc_session_t *session, const oc_bytes_t *text)
{
    oc_control_t message = {.type = OC_CONTROL_LOST};

    message.loss.servers = session->job->lost;
    message.loss.text = *text;
    oc_session_send(session, &message);
}

/* In a tree, neither leaves nor their clients can. */
static bool can_do_without(const oc_session_t *session)
{
    return session->welcomed && OC_PROCESS_LEAF != session->process && NULL == session->job->parent;
}

static void tell_all(oc_job_server_t *job, const oc_bytes_t *text)
{
    oc_session_t *session;

    DL_FOREACH (job->sessions, session) {
        if (can_do_without(session)) {
            losses_send(session, text);
        }
    }
}

/* For those that cannot go on, too. */
static void end_service(oc_job_server_t *job, const char *reason)
{
    oc_session_t *session;

    DL_FOREACH (job->sessions, session) {
        if (!can_do_without(session)) {
            oc_session_notice(session, OC_CONTROL_JOB_ERROR, 0, OC_ERR_REFUSED, reason);
        }
    }
    /* without this, a parent would take it for the end of the job on this leaf */
    oc_parent_give_up(job, OC_ERR_REFUSED, reason);
    job->failed = true;
}

static void report_own(const oc_job_server_t *job, const char *text)
{
    if (job->draining) {
        oc_info("the job goes on without this server, which was told to stop");
    } else {
        oc_warn("processes of a job have taken this server for lost, which it is not, and go on without it: %s",
                text);
    }
}

void oc_losses_hear(oc_job_server_t *job, const oc_loss_t *loss)
{
    char text[OC_MAX_TEXT + 1];

    if (job->failed || oc_lost_covers(&job->lost, &loss->servers)) {
        return;
    }
    oc_control_text(&loss->text, text, sizeof(text));
    if (!oc_lost_join(&job->lost, &loss->servers)) {
        oc_job_fail(job, OC_ERR_LIMIT, "the job has lost more than %d servers, or more have returned; the last one: %s",
                    OC_MAX_LOST, text);
        return;
    }
    oc_info("the servers of the job are others now: %s", text);
    tell_all(job, &loss->text);
    /* they come back with other groups, which need the memory */
    oc_registry_begin_epoch(job, oc_lost_epoch(&job->lost));
    if (oc_lost_has(&job->lost, job->incarnation)) {
        report_own(job, text);
        end_service(job, "its job goes on without it");
    }
}

void oc_losses_tell(oc_session_t *session)
{
    static const char text[] = "servers of the job were lost, or came back, before this process came";
    oc_bytes_t bytes = {.data = (const uint8_t *) text, .length = sizeof(text) - 1};

    if (!oc_lost_is_empty(&session->job->lost) && OC_PROCESS_LEAF != session->process) {
        losses_send(session, &bytes);
    }
}

void oc_losses_end(oc_job_server_t *job, const char *reason)
{
    oc_bytes_t text = {.data = (const uint8_t *) reason,
                       .length = (uint32_t) strnlen(reason, OC_MAX_TEXT)};

    if (oc_lost_add(&job->lost, job->incarnation)) {
        tell_all(job, &text);
    }
    end_service(job, reason);
}
