/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Jobs of which nobody has ever joined a group. They would keep a process and a place among the
 * jobs as long as they say nothing, so their sessions are told to retire. A client that wants
 * nothing says BYE, and connects anew when it does; one that is just joining does so, which ends
 * this for its whole job; and of one that says nothing the connection is closed.
 *
 * Clients look at their connections only while they are inside MPI: what they find there then are
 * these words and the end of the connection, in this order.
 */
#include "server/job/idle.h"

#include <utlist.h>

#include "base/clock.h"
#include "base/log.h"
#include "server/job/notice.h"
#include "server/job/session.h"

/*
 * How long a process of a job without a member is left in peace, and how long its answer may take;
 * and if somebody else waits for the place. Also then there is time to join: one that is told with
 * its WELCOME could not.
 */
#define IDLE_TIME    (30 * OC_SECOND)
#define GRACE        (5 * OC_SECOND)
#define URGENT_TIME  (1 * OC_SECOND)
#define URGENT_GRACE (1 * OC_SECOND)

/*
 * A leaf passes the question on to its own clients, and leaves when the last of them has gone. It
 * is never closed: its clients may have joined groups in which this server has no part.
 */
#define NEVER UINT64_MAX

#define LOOK_INTERVAL OC_SECOND

/* Who comes when the others go is told when it is looked at, and closed when it is again. */
_Static_assert(URGENT_TIME + URGENT_GRACE + 2 * LOOK_INTERVAL <= OC_RETIRE_TIME,
               "who comes late has gone by then");

static void idle_tell(oc_session_t *session, uint64_t now, uint64_t grace)
{
    uint64_t end = OC_PROCESS_LEAF == session->process ? NEVER : now + grace;

    if (0 == session->retires_at) {
        oc_session_notice(session, OC_CONTROL_RETIRE, 0, OC_OK,
                          "no process of the job has joined a communicator");
    }
    if (0 == session->retires_at || end < session->retires_at) {
        session->retires_at = end;
    }
}

static void idle_end(oc_session_t *session)
{
    char name[OC_SESSION_NAME_SIZE];

    oc_session_name(session, name);
    oc_info("the connection of %s is closed: no process of its job has joined a communicator, and "
            "others may need the place", name);
    oc_session_close(session);
}

void oc_idle_tick(oc_job_server_t *job)
{
    uint64_t now = oc_clock_ns();
    bool needed = now < job->needed_until;
    uint64_t time = needed ? URGENT_TIME : IDLE_TIME;
    oc_session_t *session, *next;

    if (job->has_joined || job->failed || now - job->idle_looked < LOOK_INTERVAL / 2) {
        return;
    }
    job->idle_looked = now;
    DL_FOREACH_SAFE (job->sessions, session, next) {
        if (0 != session->retires_at && now > session->retires_at) {
            idle_end(session);
        } else if (now - session->since > time) {
            idle_tell(session, now, needed ? URGENT_GRACE : GRACE);
        }
    }
}

/* Who comes later hears it, too: a place that is waited for is free as soon as nobody is there. */
void oc_idle_retire(oc_job_server_t *job)
{
    uint64_t now = oc_clock_ns();
    oc_session_t *session, *next;

    job->needed_until = now + OC_RETIRE_TIME;
    DL_FOREACH_SAFE (job->sessions, session, next) {
        if (!job->has_joined && !job->failed) {
            idle_tell(session, now, URGENT_GRACE);
        }
    }
}
