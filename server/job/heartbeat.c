/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Heartbeats: one round of questions to aggregators and supervisor serves all PINGs that came
 * before it began. Who waits for the next round and who for the present one is in a list each, so
 * that a PING costs the same however many sessions there are.
 */
#include "server/job/heartbeat.h"

#include <utlist.h>

#include "base/clock.h"
#include "server/job/aggregators.h"
#include "server/job/notice.h"
#include "server/job/parent.h"

/*
 * A round wakes all aggregators and the supervisor. Of thousands of processes PINGs arrive one by
 * one: with a round as soon as the last one is over, rounds would take as much time as the
 * messages.
 */
#define ROUND_INTERVAL (1 * OC_MILLISECOND)

/* The new round serves all that wait. */
static void ask_for_all(oc_job_server_t *job)
{
    oc_session_link_t *link;

    DL_FOREACH (job->waiting, link) {
        link->session->ping.asked = true;
        link->session->ping.waits = false;
    }
    job->asked = job->waiting;
    job->waiting = NULL;
    job->parent_ping.asked = job->parent_ping.waits;
    job->parent_ping.waits = false;
}

static void round_start(oc_job_server_t *job)
{
    oc_command_t ping = {.type = OC_COMMAND_PING, .token = ++job->round};

    ask_for_all(job);
    job->round_due = oc_clock_ns() + ROUND_INTERVAL;
    job->round_waits = job->num_aggregators;
    oc_aggregators_post(job, &ping);
    oc_parent_ping(job);
    if (NULL != job->config.ask) {
        job->round_waits++;
        job->config.ask(job->config.arg, job->round);
    }
}

bool oc_heartbeat_waits(const oc_job_server_t *job)
{
    return 0 == job->round_waits && (NULL != job->waiting || job->parent_ping.waits);
}

void oc_heartbeat_tick(oc_job_server_t *job)
{
    if (oc_heartbeat_waits(job) && oc_clock_ns() >= job->round_due) {
        round_start(job);
    }
}

/* Who is in the present round already goes on to the next one afterwards. */
void oc_heartbeat_pinged(oc_session_t *session, uint32_t number)
{
    oc_ping_t *ping = &session->ping;

    if (!ping->asked && !ping->waits) {
        session->pinged.session = session;
        DL_APPEND(session->job->waiting, &session->pinged);
    }
    ping->number = number;
    ping->waits = true;
    oc_heartbeat_tick(session->job);
}

void oc_heartbeat_pinged_above(oc_job_server_t *job, uint32_t number)
{
    job->parent_ping.number = number;
    job->parent_ping.waits = true;
    oc_heartbeat_tick(job);
}

void oc_heartbeat_forget(oc_session_t *session)
{
    if (session->ping.asked) {
        DL_DELETE(session->job->asked, &session->pinged);
    } else if (session->ping.waits) {
        DL_DELETE(session->job->waiting, &session->pinged);
    }
    session->ping = (oc_ping_t) {0};
}

static void heartbeat_answer(oc_session_t *session)
{
    oc_control_t pong = {.type = OC_CONTROL_PONG, .ping = session->ping.number};

    session->ping.asked = false;
    if (session->ping.waits) {
        DL_APPEND(session->job->waiting, &session->pinged);
    }
    oc_session_send(session, &pong);
}

void oc_heartbeat_echo(oc_job_server_t *job, uint32_t token)
{
    oc_session_link_t *first;

    if (token != job->round || 0 == job->round_waits || 0 != --job->round_waits) {
        return;
    }
    while (NULL != (first = job->asked)) {
        DL_DELETE(job->asked, first);
        heartbeat_answer(first->session);
    }
    if (job->parent_ping.asked) {
        job->parent_ping.asked = false;
        oc_parent_pong(job, job->parent_ping.number);
    }
    oc_heartbeat_tick(job);
}
