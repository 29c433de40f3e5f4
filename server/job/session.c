/* SPDX-License-Identifier: BSD-3-Clause */
/* One process of the job and its control connection. */
#include "server/job/session.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <unistd.h>
#include <utlist.h>

#include "base/clock.h"
#include "base/descriptors.h"
#include "base/log.h"
#include "net/socket.h"
#include "server/job/aggregators.h"
#include "server/job/eager.h"
#include "server/job/failure.h"
#include "server/job/heartbeat.h"
#include "server/job/hosts.h"
#include "server/job/losses.h"
#include "server/job/notice.h"
#include "server/job/parent.h"
#include "server/job/registry.h"
#include "server/job/vigil.h"

/* How a leaf is asked whether it is there. */
static const oc_rhythm_t leaf_rhythm = {
    .interval = OC_SECOND, .patience = OC_EDGE_PATIENCE, .step = OC_EDGE_STEP};

/*
 * How long a job whose processes have all left to come back is kept: they would meet in different processes, if one came
 * to the old one and others to the next.
 */
#define RETURN_TIME (10 * OC_SECOND)

static bool session_is_leaf(const oc_session_t *session)
{
    return OC_PROCESS_LEAF == session->process;
}

void oc_session_close(oc_session_t *session)
{
    oc_job_server_t *job = session->job;
    oc_command_t drop = {.type = OC_COMMAND_CLIENT_DROP, .client = session->client};

    oc_loop_remove(job->loop, &session->watch);
    DL_DELETE(job->sessions, session);
    HASH_DEL(job->by_client, session);
    job->num_sessions--;
    oc_heartbeat_forget(session);
    if (NULL != session->watched.session) {
        DL_DELETE(job->watched, &session->watched);
    }
    oc_vigil_forget(session);
    oc_registry_forget(session);
    oc_eager_forget(session);
    oc_aggregators_post(job, &drop);
    oc_stream_close(&session->stream);
    free(session->address);
    free(session);
}

/* The client lost another server, or found something wrong: the others hear what began it. */
static void gave_up(oc_session_t *session, const oc_notice_t *notice)
{
    oc_job_server_t *job = session->job;
    char text[OC_MAX_TEXT + 1], name[OC_SESSION_NAME_SIZE];

    oc_control_text(&notice->text, text, sizeof(text));
    oc_session_name(session, name);
    oc_session_close(session);
    oc_job_fail(job, notice->status < OC_OK ? (oc_status_t) notice->status : OC_ERR_REFUSED,
                "%s gave up: %s", name, text);
}

static void unexpected(oc_session_t *session, const oc_control_t *message)
{
    char name[OC_SESSION_NAME_SIZE];

    oc_session_name(session, name);
    oc_job_fail(session->job, OC_ERR_INVALID, "%s sent an unexpected message of type %u", name,
                message->type);
    oc_session_close(session);
}

static void add_route(oc_session_t *session, unsigned aggregator, const uint8_t *address,
                      uint32_t length)
{
    oc_command_t *command = oc_command_new(OC_COMMAND_CLIENT_ADD, address, length);

    if (NULL == command) {
        oc_job_fail(session->job, OC_ERR_NO_MEMORY, "the server is out of memory");
        return;
    }
    command->client = session->client;
    oc_aggregator_post(session->job->aggregators[aggregator], command);
}

/*
 * Aggregators connect to the worker of a process when it joins the first group: not before it has
 * read in WELCOME from where they may do so.
 */
static void reach(oc_session_t *session)
{
    for (unsigned i = 0; NULL != session->address && i < session->job->num_aggregators; i++) {
        add_route(session, i, session->address, session->address_length);
    }
    free(session->address);
    session->address = NULL;
}

/* Before WELCOME, a leaf does not know yet whether it can serve. */
static bool is_due(const oc_session_t *session, const oc_control_t *message)
{
    return session->welcomed || OC_CONTROL_BYE == message->type;
}

/* One for each aggregator: more of them would be endpoints that nobody counts. */
static bool route_fits(const oc_session_t *session, const oc_leaf_route_t *route)
{
    return session_is_leaf(session) && route->aggregator < session->job->num_aggregators
           && 0 == (session->routes & UINT64_C(1) << route->aggregator);
}

/* Of a leaf, READY and results go to the workers that ROUTE names. */
static bool is_reachable(const oc_session_t *session)
{
    return !session_is_leaf(session) || __builtin_popcountll(session->routes)
                                    == (int) session->job->num_aggregators;
}

/* false, here and below: that is none of what may come. */
static bool session_take_join(oc_session_t *session, const oc_control_t *message)
{
    if (!is_reachable(session)) {
        return false;
    }
    reach(session);
    oc_registry_join(session, &message->join);
    return true;
}

static bool session_take_pong(oc_session_t *session, const oc_control_t *message)
{
    if (!session_is_leaf(session)) {
        return false;
    }
    oc_pulse_answer(&session->pulse, message->ping);
    return true;
}

static bool session_take_route(oc_session_t *session, const oc_control_t *message)
{
    const oc_leaf_route_t *route = &message->route;

    if (!route_fits(session, route)) {
        return false;
    }
    session->routes |= UINT64_C(1) << route->aggregator;
    add_route(session, route->aggregator, route->address.data, route->address.length);
    return true;
}

/* It comes back with a new worker after that, or has come. */
static bool session_take_loss(oc_session_t *session, const oc_control_t *message)
{
    if (session_is_leaf(session)) {
        return false;
    }
    oc_losses_hear(session->job, &message->loss);
    return true;
}

/* What a session that goes on may say. */
static bool session_take(oc_session_t *session, oc_control_t *message)
{
    switch (message->type) {
    case OC_CONTROL_JOIN:
        return session_take_join(session, message);
    case OC_CONTROL_LEAVE:
        oc_registry_leave(session, &message->leave);
        return true;
    case OC_CONTROL_PING:
        oc_heartbeat_pinged(session, message->ping);
        return true;
    case OC_CONTROL_PONG:
        return session_take_pong(session, message);
    case OC_CONTROL_ROUTE:
        return session_take_route(session, message);
    case OC_CONTROL_WATCH:
        oc_vigil_begin(session, &message->lookout);
        explicit_bzero(message->lookout.key, sizeof(message->lookout.key));
        return true;
    case OC_CONTROL_LOST:
        return session_take_loss(session, message);
    case OC_CONTROL_LOOK:
        oc_vigil_look(session, message->look);
        return true;
    default:
        return false;
    }
}

/* Who has not been welcomed cannot say that it goes for a new epoch, which it does if the job has seen any. */
static bool comes_back(const oc_session_t *session)
{
    return session->returns || (!session->welcomed && !oc_lost_is_empty(&session->job->lost));
}

/* false: the session is gone. */
static bool session_handle(oc_session_t *session, oc_control_t *message)
{
    bool due = is_due(session, message);

    if (due && OC_CONTROL_BYE == message->type) {
        if (comes_back(session)) {
            session->job->awaited_until = oc_clock_ns() + RETURN_TIME;
        }
        oc_session_close(session);
        return false;
    }
    if (due && OC_CONTROL_JOB_ERROR == message->type) {
        gave_up(session, &message->notice);
        return false;
    }
    session->returns = OC_CONTROL_LOST == message->type;
    if (due && session_take(session, message)) {
        return true;
    }
    unexpected(session, message);
    return false;
}

static void vanished(oc_session_t *session, oc_status_t status)
{
    oc_job_server_t *job = session->job;
    char name[OC_SESSION_NAME_SIZE];

    oc_session_name(session, name);
    oc_session_close(session);
    if (OC_ERR_UNREACHABLE == status) {
        oc_job_fail(job, status, "%s of the job is gone or gave up", name);
    } else {
        oc_job_fail(job, status, "%s sent what is not a message (%s)", name,
                    oc_status_string(status));
    }
}

static void session_ready(oc_watch_t *watch, uint32_t events)
{
    oc_session_t *session = (oc_session_t *) watch;
    oc_status_t read_status = oc_stream_read_some(&session->stream), status;
    oc_control_t message;
    size_t used;

    (void) events;
    while (OC_OK == (status = oc_stream_next(&session->stream, &message, &used))) {
        if (!session_handle(session, &message)) {
            return;
        }
        oc_stream_drop(&session->stream, used);
    }
    if (OC_IN_PROGRESS != status) {
        vanished(session, status);
    } else if (OC_OK != read_status || OC_OK != oc_stream_flush(&session->stream)) {
        vanished(session, OC_ERR_UNREACHABLE);
    } else {
        oc_loop_change(session->job->loop, &session->watch,
                       oc_stream_wants_write(&session->stream) ? EPOLLIN | EPOLLOUT : EPOLLIN);
    }
}

/*
 * Ranks ask their own leaf only, which may wait for others: nobody but their parent sees that one
 * of these has stopped.
 */
bool oc_session_is_there(oc_session_t *session, uint64_t now)
{
    oc_control_t message = {.type = OC_CONTROL_PING};

    if (!session_is_leaf(session) || NULL == session->memberships) {
        return true;
    }
    if (oc_pulse_missed(&session->pulse, now)) {
        return false;
    }
    if (oc_pulse_ask(&session->pulse, now)) {
        message.ping = session->pulse.number;
        oc_session_send(session, &message);
    }
    return true;
}

void oc_session_watch(oc_session_t *session)
{
    if (NULL == session->watched.session) {
        session->watched.session = session;
        DL_APPEND(session->job->watched, &session->watched);
    }
}

static void welcome(oc_session_t *session)
{
    oc_job_server_t *job = session->job;
    oc_control_t message = {.type = OC_CONTROL_WELCOME};
    size_t length;

    message.welcome.version = session->version;
    message.welcome.identity = job->config.identity;
    message.welcome.parent = oc_parent_identity(job);
    message.welcome.incarnation = job->incarnation;
    message.welcome.num_aggregators = (uint16_t) job->num_aggregators;
    for (unsigned i = 0; i < job->num_aggregators; i++) {
        message.welcome.address[i].data = oc_aggregator_address(job->aggregators[i], &length);
        message.welcome.address[i].length = (uint32_t) length;
    }
    message.welcome.origins = job->origins;
    session->welcomed = true;
    oc_session_send(session, &message);
    oc_losses_tell(session);
}

/* Its parent serves the job, and its hosts are admitted. */
static bool may_welcome(const oc_job_server_t *job)
{
    const char *reason;

    return !job->hosts_wait && OC_OK == oc_parent_status(job, &reason);
}

static const char not_admitted[] = "the server cannot admit its host, or the one of its parent, to its data ports";

void oc_sessions_welcome(oc_job_server_t *job)
{
    oc_session_t *session, *next;

    if (!may_welcome(job)) {
        return;
    }
    if (!oc_admission_is_complete(job->admission)) {
        oc_sessions_refuse(job, OC_ERR_NO_MEMORY, not_admitted);
        return;
    }

    DL_FOREACH_SAFE (job->sessions, session, next) {
        if (!session->welcomed) {
            welcome(session);
        }
    }
}

void oc_sessions_refuse(oc_job_server_t *job, oc_status_t status, const char *reason)
{
    oc_session_t *session, *next;

    DL_FOREACH_SAFE (job->sessions, session, next) {
        if (!session->welcomed) {
            oc_session_notice(session, OC_CONTROL_REFUSE, 0, status, reason);
            oc_session_close(session);
        }
    }
}

/*
 * The aggregators of a leaf have a worker each, of which ROUTE tells; here it says its name.
 * false: no memory.
 */
static bool session_introduce(oc_session_t *session, const oc_hello_t *hello)
{
    if (session_is_leaf(session)) {
        oc_control_text(&hello->address, session->leaf, sizeof(session->leaf));
        return true;
    }
    session->address = malloc(hello->address.length);
    if (NULL == session->address) {
        return false;
    }
    memcpy(session->address, hello->address.data, hello->address.length);
    session->address_length = hello->address.length;
    return true;
}

void oc_session_new(oc_job_server_t *job, int fd, const oc_hello_t *hello)
{
    oc_session_t *session = calloc(1, sizeof(*session));

    if (NULL == session) {
        oc_fd_close(fd);
        return;
    }
    oc_socket_prepare(fd);
    oc_stream_init(&session->stream, fd, OC_MAX_HELLO_BODY);
    session->watch = (oc_watch_t) {.fd = fd, .ready = session_ready};
    session->job = job;
    session->client = ++job->next_client;
    session->process = hello->process;
    session->since = oc_clock_ns();
    oc_pulse_init(&session->pulse, &leaf_rhythm);
    session->version = hello->version_max < OC_PROTOCOL_VERSION_MAX ? hello->version_max
                                                                    : OC_PROTOCOL_VERSION_MAX;
    if (!session_introduce(session, hello)
        || OC_OK != oc_loop_add(job->loop, &session->watch, EPOLLIN)) {
        oc_fd_close(fd);
        free(session->address);
        free(session);
        return;
    }
    DL_APPEND(job->sessions, session);
    HASH_ADD(hh, job->by_client, client, sizeof(session->client), session);
    job->num_sessions++;
    if (session_is_leaf(session)) {
        oc_session_watch(session);
    }
    oc_hosts_admit(job, fd, &hello->origins);
    if (!may_welcome(job)) {
        return;
    }
    if (oc_admission_is_complete(job->admission)) {
        welcome(session);
    } else {
        oc_session_notice(session, OC_CONTROL_REFUSE, 0, OC_ERR_NO_MEMORY, not_admitted);
        oc_session_close(session);
    }
}
