/* SPDX-License-Identifier: BSD-3-Clause */
/* A job's mailbox, deadlines, newcomers and end. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/random.h>
#include <utlist.h>

#include "base/clock.h"
#include "base/descriptors.h"
#include "base/log.h"
#include "server/job/aggregators.h"
#include "server/job/failure.h"
#include "server/job/gate.h"
#include "server/job/heartbeat.h"
#include "server/job/hosts.h"
#include "server/job/idle.h"
#include "server/job/losses.h"
#include "server/job/notice.h"
#include "server/job/parent.h"
#include "server/job/registry.h"
#include "server/job/session.h"
#include "server/job/vigil.h"

/* A client that UCX lost may just be leaving: its goodbye has this long to arrive. */
#define LOST_PATIENCE (2 * OC_SECOND)

/* The loop sleeps for a second at most. */
#define LONGEST_TURN (3 * OC_SECOND / 2)

/* Deadlines are looked at so often, however many events there are. */
#define TICK_INTERVAL (100 * OC_MILLISECOND)

static void client_lost(oc_job_server_t *job, uint32_t client)
{
    oc_session_t *session;

    HASH_FIND(hh, job->by_client, &client, sizeof(client), session);
    if (NULL != session && 0 == session->lost_at) {
        session->lost_at = oc_clock_ns();
        oc_session_watch(session);
    }
}

static void on_mail(oc_watch_t *watch, uint32_t events)
{
    oc_job_server_t *job =
        (oc_job_server_t *) ((char *) watch - offsetof(oc_job_server_t, mail_watch));
    oc_command_t *command;

    (void) events;
    while (NULL != (command = oc_mailbox_take(&job->mailbox))) {
        switch (command->type) {
        case OC_COMMAND_PONG:
            oc_heartbeat_echo(job, command->token);
            break;
        case OC_COMMAND_GROUP_ERROR:
            oc_warn("a group cannot go on: %s", command->text);
            oc_registry_error(job, command->handle, command->status, command->text);
            break;
        case OC_COMMAND_CLIENT_LOST:
            client_lost(job, command->client);
            break;
        case OC_COMMAND_PARENT_LOST:
            oc_parent_lost(job);
            break;
        case OC_COMMAND_JOB_ERROR:
            oc_job_fail(job, command->status, "%s", command->text);
            break;
        default:
            break;
        }
        free(command);
    }
}

/*
 * A client whose control connection is there has not died: this server cannot serve it, but others can. Of a leaf, or of its
 * clients, the job cannot do without.
 */
static void client_unreachable(oc_session_t *session, const char *name)
{
    oc_job_server_t *job = session->job;
    char reason[OC_MAX_TEXT];

    snprintf(reason, sizeof(reason), "the data connection to %s is broken", name);
    if (OC_PROCESS_LEAF == session->process || NULL != job->parent) {
        oc_job_fail(job, OC_ERR_UNREACHABLE, "%s", reason);
    } else {
        oc_warn("a job goes on without this server: %s", reason);
        oc_losses_end(job, reason);
    }
}

/* How long this process has stood still since the last look: nothing that it has not heard meanwhile is late. */
static uint64_t absence(oc_job_server_t *job, uint64_t now)
{
    uint64_t since = 0 != job->ticked ? now - job->ticked : 0;

    job->ticked = now;
    return since > LONGEST_TURN ? since : 0;
}

static void excuse(oc_session_t *session, uint64_t absent, uint64_t now)
{
    if (0 != session->lost_at) {
        session->lost_at = session->lost_at + absent < now ? session->lost_at + absent : now;
    }
}

/* false: the job has failed because of it. */
static bool job_look_at(oc_session_t *session, uint64_t now)
{
    oc_job_server_t *job = session->job;
    char name[OC_SESSION_NAME_SIZE];

    oc_session_name(session, name);
    if (0 != session->lost_at && now - session->lost_at > LOST_PATIENCE) {
        client_unreachable(session, name);
    } else if (!oc_session_is_there(session, now)) {
        oc_job_fail(job, OC_ERR_TIMEOUT, "%s stopped answering: no heartbeat for %llu seconds",
                    name, OC_EDGE_PATIENCE / OC_SECOND);
    }
    return !job->failed;
}

int oc_job_timeout(const oc_job_server_t *job)
{
    return oc_heartbeat_waits(job) ? 1 : 1000;
}

void oc_job_tick(oc_job_server_t *job)
{
    uint64_t now = oc_clock_ns(), absent;
    oc_session_link_t *link;

    oc_heartbeat_tick(job);
    if (now < job->tick_due) {
        return;
    }
    job->tick_due = now + TICK_INTERVAL;
    absent = absence(job, now);
    oc_parent_tick(job);
    oc_idle_tick(job);
    oc_vigil_tick(job, now);
    DL_FOREACH (job->watched, link) {
        excuse(link->session, absent, now);
        if (!job_look_at(link->session, now)) {
            return;
        }
    }
}

static void parent_lost(oc_job_server_t *job, oc_status_t status, const char *reason)
{
    oc_job_fail(job, status, "%s", reason);
}

static const oc_parent_events_t parent_events = {
    .welcomed = oc_sessions_welcome,
    .refused = oc_sessions_refuse,
    .lost = parent_lost,
    .joined = oc_registry_above,
    .group_refused = oc_registry_error_above,
    .pinged = oc_heartbeat_pinged_above,
    .retire = oc_idle_retire,
};

static oc_status_t open_mailbox(oc_job_server_t *job, char *error, size_t error_size)
{
    oc_status_t status = oc_mailbox_open(&job->mailbox);

    if (OC_OK != status) {
        snprintf(error, error_size, "cannot make a mailbox");
        return status;
    }
    job->mail_watch = (oc_watch_t) {.fd = job->mailbox.event_fd, .ready = on_mail};
    status = oc_loop_add(job->loop, &job->mail_watch, EPOLLIN);
    if (OC_OK != status) {
        snprintf(error, error_size, "cannot watch a mailbox");
        oc_mailbox_close(&job->mailbox);
    }
    return status;
}

static oc_status_t job_open_parts(oc_job_server_t *job, char *error, size_t error_size)
{
    oc_status_t status;

    job->handles = oc_handles_new();
    if (NULL == job->handles) {
        snprintf(error, error_size, "out of memory");
        return OC_ERR_NO_MEMORY;
    }
    oc_aggregators_place(job);
    status = oc_parent_open(job, &parent_events, error, error_size);
    if (OC_OK == status) {
        status = oc_hosts_open(job, oc_sessions_welcome, error, error_size);
    }
    if (OC_OK == status) {
        status = oc_aggregators_open(job, error, error_size);
    }
    return status;
}

oc_status_t oc_job_open(oc_loop_t *loop, const oc_job_config_t *config, oc_job_server_t **result,
                        char *error, size_t error_size)
{
    oc_job_server_t *job = calloc(1, sizeof(*job));
    oc_status_t status;

    if (NULL == job) {
        snprintf(error, error_size, "out of memory");
        return OC_ERR_NO_MEMORY;
    }
    job->config = *config;
    job->loop = loop;
    while (0 == job->incarnation) {
        if (sizeof(job->incarnation) != getrandom(&job->incarnation, sizeof(job->incarnation), 0)) {
            snprintf(error, error_size, "the system gives no random numbers");
            free(job);
            return OC_ERR_SYSTEM;
        }
    }
    job->hosts_watch.fd = -1;
    status = open_mailbox(job, error, error_size);
    if (OC_OK != status) {
        free(job);
        return status;
    }
    status = job_open_parts(job, error, error_size);
    if (OC_OK != status) {
        oc_job_close(job);
        return status;
    }
    *result = job;
    return OC_OK;
}

void oc_job_enter(const oc_job_server_t *job)
{
    oc_binding_widen(job->binding);
}

void oc_job_close(oc_job_server_t *job)
{
    if (NULL == job) {
        return;
    }
    /* one in a rank goes with it: who still counts on it has lost a rank */
    if (NULL != job->sessions && !job->failed && 0 != job->config.identity) {
        oc_losses_end(job, "the server was stopped");
    }
    while (NULL != job->sessions) {
        oc_session_close(job->sessions);
    }
    oc_vigil_free(job);
    oc_registry_free(job);
    oc_parent_close(job);
    oc_aggregators_close(job);
    oc_hosts_close(job);
    if (job->next_client > 0) {
        oc_info("%u clients connected", job->next_client);
    }
    oc_loop_remove(job->loop, &job->mail_watch);
    oc_mailbox_close(&job->mailbox);
    free(job);
}

/* All that say HELLO have the same one. */
static void pass_key(oc_job_server_t *job, const oc_hello_t *hello)
{
    oc_secret_t secret = {.leaf = NULL != job->parent ? job->config.identity : 0};

    if (job->has_key) {
        return;
    }
    job->has_key = true;
    memcpy(secret.key, hello->job_key, OC_JOB_KEY_SIZE);
    for (unsigned i = 0; i < job->num_aggregators; i++) {
        oc_command_t *command = oc_command_new(OC_COMMAND_KEY, &secret, sizeof(secret));

        if (NULL == command) {
            oc_job_fail(job, OC_ERR_NO_MEMORY, "the server is out of memory");
            break;
        }
        oc_aggregator_post(job->aggregators[i], command);
    }
    explicit_bzero(&secret, sizeof(secret));
}

static void job_admit(oc_job_server_t *job, int fd, const oc_hello_t *hello)
{
    const char *reason = "";
    oc_status_t status;

    if (OC_PROCESS_LEAF == hello->process && NULL != job->parent) {
        oc_refuse(fd, OC_ERR_REFUSED, "this server is a leaf itself (it has a --parent), and trees "
                                      "of servers have two levels");
        return;
    }
    if (OC_PROCESS_LEAF == hello->process && 0 == job->config.identity) {
        oc_refuse(fd, OC_ERR_REFUSED, "a server in a process of the job can be no parent");
        return;
    }
    pass_key(job, hello);
    oc_parent_greet(job, hello);
    status = oc_parent_status(job, &reason);
    if (OC_OK != status && OC_IN_PROGRESS != status) {
        oc_refuse(fd, status, reason);
    } else {
        oc_session_new(job, fd, hello);
    }
}

void oc_job_adopt(oc_job_server_t *job, int fd, const uint8_t *bytes, size_t length)
{
    oc_control_t message;

    if (oc_control_decode(bytes, length, OC_MAX_HELLO_BODY, &message) != (long) length
        || OC_CONTROL_HELLO != message.type) {
        oc_fd_close(fd);
        return;
    }
    if (job->failed) {
        oc_refuse(fd, OC_ERR_REFUSED, "the job has failed on this server");
    } else if (job->draining) {
        oc_refuse(fd, OC_ERR_REFUSED, "the server is going to stop");
    } else {
        job_admit(job, fd, &message.hello);
    }
}

void oc_job_drain(oc_job_server_t *job, const char *reason)
{
    oc_session_t *session, *next;

    job->draining = true;
    DL_FOREACH_SAFE (job->sessions, session, next) {
        oc_session_notice(session, OC_CONTROL_DRAIN, 0, OC_OK, reason);
    }
}

void oc_job_echo(oc_job_server_t *job, uint32_t token)
{
    oc_heartbeat_echo(job, token);
}

void oc_job_retire(oc_job_server_t *job)
{
    oc_idle_retire(job);
}

bool oc_job_has_joined(const oc_job_server_t *job)
{
    return job->has_joined;
}

unsigned oc_job_sessions(const oc_job_server_t *job)
{
    return job->num_sessions;
}

bool oc_job_awaits(const oc_job_server_t *job)
{
    return !job->draining && 0 != job->awaited_until && oc_clock_ns() < job->awaited_until;
}

void oc_job_load(const oc_job_server_t *job, oc_load_t *load)
{
    *load = (oc_load_t) {.clients = job->num_sessions, .members = job->num_members,
                         .eager_windows = job->eager_windows};
}

void oc_job_burst(oc_job_server_t *job, const char *with, uint64_t used, uint64_t bound)
{
    oc_job_fail(job, OC_ERR_NO_MEMORY, "the server's process for this job%s holds %llu bytes of "
                "memory, and may hold %llu: its ranks have sent what the server did not ask for yet; "
                "start it with a higher --memory-limit, or lower coll_optcast_window", with,
                (unsigned long long) used, (unsigned long long) bound);
}

unsigned oc_job_open_sockets(const oc_job_server_t *job)
{
    return oc_admission_open_sockets(job->admission);
}

bool oc_job_failed(const oc_job_server_t *job)
{
    return job->failed;
}
