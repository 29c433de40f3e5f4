/* SPDX-License-Identifier: BSD-3-Clause */
/* The control connection to one server: connecting, heartbeats, messages, end. */
#include "client/servers/connection.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <utlist.h>

#include "base/clock.h"
#include "base/log.h"
#include "client/servers/answers.h"
#include "client/state/collapse.h"
#include "net/socket.h"
#include "protocol/seal.h"

#define PING_INTERVAL OC_SECOND

/*
 * An address that does not answer is left for the next candidate after this time, and after the
 * last one the first gets another try: of a connection that found no room the system asks again
 * after 1, 3 and 7 seconds only, and the time for the set-up is over after 5.
 */
#define ATTEMPT_TIMEOUT (1 * OC_SECOND)

/*
 * A server keeps the process of a job that failed until its clients have read why, and that process
 * turns newcomers of the job away. So who comes back soon after a collapse asks more than once.
 */
#define RETURN_WINDOW   (5 * OC_SECOND)
#define RETURN_INTERVAL (100 * OC_MILLISECOND)

oc_connection_t *oc_connection_find(oc_client_t *client, const char *name)
{
    oc_connection_t *connection;

    DL_FOREACH (client->connections, connection) {
        if (0 == strcmp(connection->name, name) && OC_CONNECTION_DEAD != connection->state) {
            return connection;
        }
    }
    return NULL;
}

/*
 * Who asks again, as long as there is time for the set-up: who came back soon, and whom a server
 * let go before it had read who that was, because of a crowd of others.
 */
static bool may_return(const oc_connection_t *connection, oc_status_t status)
{
    const oc_client_t *client = connection->client;

    return OC_CONNECTION_GREETING == connection->state && NULL == connection->routes
           && (OC_ERR_TIMEOUT == status
               || ((OC_ERR_REFUSED == status || OC_ERR_UNREACHABLE == status)
                   && 0 != client->collapsed
                   && client->now < client->collapsed + RETURN_WINDOW));
}

/*
 * It has, or will have, a session for this process: without BYE that would count as dead, and all
 * of its job would end. Groups that this process has joined by other connections go on.
 */
static void leave_in_order(oc_connection_t *connection)
{
    static const oc_control_t bye = {.type = OC_CONTROL_BYE};

    if (OC_CONNECTION_GREETING == connection->state) {
        (void) oc_stream_send(&connection->stream, &bye);
    }
}

/* While groups are being set up a dead connection is their business; later it is everybody's. */
static void die(oc_connection_t *connection, oc_status_t status, const char *reason)
{
    bool was_ready = OC_CONNECTION_READY == connection->state;

    if (OC_CONNECTION_DEAD == connection->state) {
        return;
    }
    if (may_return(connection, status)) {
        connection->state = OC_CONNECTION_PAUSED;
        connection->attempt_started = connection->client->now;
        return;
    }
    leave_in_order(connection);
    connection->state = OC_CONNECTION_DEAD;
    snprintf(connection->reason, sizeof(connection->reason), "server %.200s %s", connection->name,
             reason);
    if (was_ready) {
        oc_client_collapse(connection->client, status, "%s", connection->reason);
    }
}

static void try_candidates(oc_connection_t *connection, int error)
{
    char reason[128];
    int fd;

    while (connection->candidate < connection->num_candidates) {
        fd = oc_connect_start(&connection->candidates[connection->candidate++]);
        if (fd >= 0) {
            oc_stream_close(&connection->stream);
            oc_stream_init(&connection->stream, fd, OC_MAX_BODY);
            connection->state = OC_CONNECTION_CONNECTING;
            connection->attempt_started = oc_clock_ns();
            return;
        }
        error = errno;
    }
    snprintf(reason, sizeof(reason), "cannot be reached: %s", strerror(error));
    die(connection, OC_ERR_UNREACHABLE, reason);
}

static void begin_pulse(oc_connection_t *connection)
{
    int seconds = connection->client->config.settings->heartbeat_timeout;
    oc_rhythm_t rhythm = {.interval = PING_INTERVAL, .patience = (uint64_t) seconds * OC_SECOND,
                          .step = OC_MAX_QUIET_STEP};

    oc_pulse_init(&connection->pulse, &rhythm);
}

oc_connection_t *oc_connection_open(oc_client_t *client, const char *name, bool of_rank,
                                    oc_sockaddr_t *candidates, unsigned num_candidates)
{
    oc_connection_t *connection = calloc(1, sizeof(*connection));

    if (NULL == connection) {
        free(candidates);
        return NULL;
    }
    connection->client = client;
    connection->of_rank = of_rank;
    connection->stream.fd = -1;
    begin_pulse(connection);
    connection->eager_window = client->config.settings->eager_window;
    snprintf(connection->name, sizeof(connection->name), "%s", name);
    connection->candidates = candidates;
    connection->num_candidates = num_candidates;
    DL_APPEND(client->connections, connection);
    try_candidates(connection, EHOSTUNREACH);
    return connection;
}

static void close_routes(oc_connection_t *connection)
{
    for (unsigned i = 0; i < connection->num_aggregators; i++) {
        oc_endpoint_close(connection->routes[i].endpoint);
    }
    free(connection->routes);
    connection->routes = NULL;
    connection->num_aggregators = 0;
}

/* Nothing is lost with it: who needs the server again connects anew. */
static void retire(oc_connection_t *connection)
{
    static const oc_control_t bye = {.type = OC_CONTROL_BYE};

    (void) oc_stream_send(&connection->stream, &bye);
    close_routes(connection);
    oc_stream_close(&connection->stream);
    connection->retires = false;
    connection->state = OC_CONNECTION_PAUSED;
    connection->attempt_started = connection->client->now;
}

void oc_connection_close(oc_connection_t *connection, const oc_control_t *last_words)
{
    /* also a process whose WELCOME is late leaves in order: without BYE it would count as dead */
    if (NULL != last_words
        && (OC_CONNECTION_READY == connection->state
            || (OC_CONNECTION_GREETING == connection->state
                && OC_CONTROL_BYE == last_words->type))) {
        (void) oc_stream_send(&connection->stream, last_words);
    }
    close_routes(connection);
    DL_DELETE(connection->client->connections, connection);
    oc_stream_close(&connection->stream);
    oc_mac_free(connection->leaf_codes);
    free(connection->candidates);
    free(connection);
}

void oc_connection_send(oc_connection_t *connection, const oc_control_t *message)
{
    if (OC_CONNECTION_DEAD != connection->state
        && OC_OK != oc_stream_send(&connection->stream, message)) {
        die(connection, OC_ERR_UNREACHABLE, "closed the connection");
    }
}

static void greet(oc_connection_t *connection)
{
    oc_client_t *client = connection->client;
    oc_control_t message = {.type = OC_CONTROL_HELLO};
    oc_hello_t *hello = &message.hello;
    size_t length;

    hello->version_min = OC_PROTOCOL_VERSION_MIN;
    hello->version_max = OC_PROTOCOL_VERSION_MAX;
    memcpy(hello->job_id, client->job.id, OC_JOB_ID_SIZE);
    memcpy(hello->job_key, client->job.key, OC_JOB_KEY_SIZE);
    hello->process = client->config.process;
    hello->address.data = oc_worker_address(client->worker, &length);
    hello->address.length = (uint32_t) length;
    hello->origins = client->origins;
    oc_admission_admit_peer(client->admission, connection->stream.fd);
    connection->state = OC_CONNECTION_GREETING;
    oc_connection_send(connection, &message);
}

static void check_connected(oc_connection_t *connection)
{
    struct pollfd event = {.fd = connection->stream.fd, .events = POLLOUT};
    socklen_t length = sizeof(int);
    int error = 0;

    if (poll(&event, 1, 0) > 0) {
        (void) getsockopt(event.fd, SOL_SOCKET, SO_ERROR, &error, &length);
        if (0 == error) {
            greet(connection);
        } else {
            try_candidates(connection, error);
        }
    } else if (connection->client->now > connection->attempt_started + ATTEMPT_TIMEOUT
               && connection->users > 0) {
        connection->candidate %= connection->num_candidates;
        try_candidates(connection, ETIMEDOUT);
    }
}

static void read_messages(oc_connection_t *connection);

/* If it ended on purpose, that has been said before. */
static void endpoint_failed(void *arg)
{
    oc_connection_t *connection = arg;

    read_messages(connection);
    if (OC_CONNECTION_READY == connection->state) {
        die(connection, OC_ERR_UNREACHABLE, "is gone: the data connection broke");
    }
}

/* Members of leaves have the same numbers on each, so that these have keys of their own. */
static bool make_codes(oc_connection_t *connection, const oc_welcome_t *welcome)
{
    oc_client_t *client = connection->client;

    if (0 != welcome->parent) {
        /* a connection that comes back after RETIRE has some already */
        oc_mac_free(connection->leaf_codes);
        connection->leaf_codes = oc_seal_new(client->job.key, welcome->identity);
        connection->codes = connection->leaf_codes;
    } else {
        if (NULL == client->codes) {
            client->codes = oc_seal_new(client->job.key, 0);
        }
        connection->codes = client->codes;
    }
    return NULL != connection->codes;
}

static void on_welcome(oc_connection_t *connection, const oc_welcome_t *welcome)
{
    if (OC_CONNECTION_GREETING != connection->state
        || welcome->version < OC_PROTOCOL_VERSION_MIN
        || welcome->version > OC_PROTOCOL_VERSION_MAX) {
        die(connection, OC_ERR_VERSION, "answered in an unknown protocol version");
        return;
    }
    if (!make_codes(connection, welcome)) {
        die(connection, OC_ERR_SYSTEM, "cannot be used: OpenSSL's libcrypto does not work here");
        return;
    }
    connection->routes = calloc(welcome->num_aggregators, sizeof(oc_route_t));
    if (NULL == connection->routes) {
        die(connection, OC_ERR_NO_MEMORY, "cannot be used: out of memory");
        return;
    }
    /* they connect to this process, too, once it has joined a group */
    oc_admission_admit(connection->client->admission, welcome->origins.addresses,
                       welcome->origins.count);
    if (!oc_admission_is_complete(connection->client->admission)) {
        die(connection, OC_ERR_NO_MEMORY, "cannot be used: this host cannot admit it to its port");
        return;
    }
    for (unsigned i = 0; i < welcome->num_aggregators; i++) {
        if (OC_OK != oc_endpoint_open(connection->client->worker, welcome->address[i].data,
                                      endpoint_failed, connection,
                                      &connection->routes[i].endpoint)) {
            die(connection, OC_ERR_UNREACHABLE, "cannot be reached by UCX (its network devices "
                "and those of this host have nothing in common)");
            return;
        }
        connection->num_aggregators++;
    }
    connection->parent = welcome->parent;
    connection->state = OC_CONNECTION_READY;
    oc_pulse_begin(&connection->pulse, connection->client->now);
}

static void on_notice(oc_connection_t *connection, const oc_control_t *message)
{
    char text[OC_MAX_TEXT + 1], reason[OC_MAX_TEXT + 32];

    oc_control_text(&message->notice.text, text, sizeof(text));
    switch (message->type) {
    case OC_CONTROL_REFUSE:
        snprintf(reason, sizeof(reason), "refused: %s", text);
        die(connection,
            OC_ERR_TIMEOUT == message->notice.status ? OC_ERR_TIMEOUT : OC_ERR_REFUSED, reason);
        break;
    case OC_CONTROL_GROUP_ERROR:
        oc_answers_refused(connection, &message->notice, text);
        break;
    case OC_CONTROL_JOB_ERROR:
        snprintf(reason, sizeof(reason), "ended its service: %s", text);
        die(connection, OC_ERR_REFUSED, reason);
        break;
    default:
        oc_info("server %s: %s", connection->name, text);
    }
}

static void handle(oc_connection_t *connection, const oc_control_t *message)
{
    switch (message->type) {
    case OC_CONTROL_WELCOME:
        on_welcome(connection, &message->welcome);
        break;
    case OC_CONTROL_JOINED:
        oc_answers_joined(connection, &message->joined);
        break;
    case OC_CONTROL_PONG:
        oc_pulse_answer(&connection->pulse, message->ping);
        break;
    case OC_CONTROL_REFUSE:
    case OC_CONTROL_GROUP_ERROR:
    case OC_CONTROL_JOB_ERROR:
    case OC_CONTROL_DRAIN:
        on_notice(connection, message);
        break;
    case OC_CONTROL_RETIRE:
        connection->retires = OC_CONNECTION_READY == connection->state
                              && !oc_answers_awaited(connection);
        break;
    default:
        die(connection, OC_ERR_INVALID, "sent a message that only clients send");
    }
}

static bool is_talking(const oc_connection_t *connection)
{
    return OC_CONNECTION_GREETING == connection->state
           || OC_CONNECTION_READY == connection->state;
}

static void read_messages(oc_connection_t *connection)
{
    oc_status_t read_status = oc_stream_read(&connection->stream), status = OC_OK;
    oc_control_t message;
    size_t used;

    while (is_talking(connection) && !connection->retires
           && OC_OK == (status = oc_stream_next(&connection->stream, &message, &used))) {
        handle(connection, &message);
        oc_stream_drop(&connection->stream, used);
    }
    if (connection->retires) {
        retire(connection);
    }
    if (!is_talking(connection)) {
        return;
    }
    if (OC_IN_PROGRESS != status && OC_OK != status) {
        die(connection, status, "does not speak this protocol");
    } else if (OC_OK != read_status || OC_OK != oc_stream_flush(&connection->stream)) {
        die(connection, OC_ERR_UNREACHABLE, "is gone: it closed the connection");
    }
}

/*
 * A rank that stands still, in a debugger or without memory, is no error of MPI, and its server is
 * waited for like the rank. That it is dead shows where its connection ends, which the kernel also
 * does when the host is gone. A server that is nothing else is there to answer.
 */
static void miss_heartbeat(oc_connection_t *connection)
{
    int seconds = connection->client->config.settings->heartbeat_timeout;
    char reason[96];

    if (!connection->of_rank) {
        snprintf(reason, sizeof(reason), "stopped answering: no heartbeat for %d seconds", seconds);
        die(connection, OC_ERR_TIMEOUT, reason);
    } else {
        oc_info("server %s has not answered for %d seconds: its process may be stopped, and is "
                "waited for", connection->name, seconds);
    }
}

static void heartbeat(oc_connection_t *connection)
{
    oc_control_t message = {.type = OC_CONTROL_PING};

    if (oc_pulse_missed(&connection->pulse, connection->client->now)) {
        miss_heartbeat(connection);
    } else if (oc_pulse_ask(&connection->pulse, connection->client->now)) {
        message.ping = connection->pulse.number;
        oc_connection_send(connection, &message);
    }
}

void oc_connection_progress(oc_connection_t *connection)
{
    if (OC_CONNECTION_CONNECTING == connection->state) {
        check_connected(connection);
    }
    if (OC_CONNECTION_PAUSED == connection->state && connection->users > 0
        && connection->client->now > connection->attempt_started + RETURN_INTERVAL) {
        connection->candidate--;
        try_candidates(connection, ECONNREFUSED);
    }
    if (is_talking(connection)) {
        read_messages(connection);
    }
    if (OC_CONNECTION_READY == connection->state) {
        heartbeat(connection);
    }
}
