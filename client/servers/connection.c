/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The control connection to one server: who says HELLO, what WELCOME leads to, what servers say, and
 * when it is tried again. All else is the uplink's.
 */
#include "client/servers/connection.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <utlist.h>

#include "base/clock.h"
#include "base/descriptors.h"
#include "base/log.h"
#include "client/servers/answers.h"
#include "client/servers/exposure.h"
#include "client/servers/own_server.h"
#include "client/servers/presence.h"
#include "client/state/collapse.h"
#include "client/state/loss.h"
#include "control/farewell.h"
#include "control/uplink.h"
#include "protocol/seal.h"

#define PING_INTERVAL OC_SECOND

/*
 * A server keeps the process of a job that failed until its clients have read why, and that process
 * turns newcomers of the job away. So who comes back soon after a collapse asks more than once.
 */
#define RETURN_WINDOW   (5 * OC_SECOND)
#define RETURN_INTERVAL (100 * OC_MILLISECOND)

static const oc_control_t bye = {.type = OC_CONTROL_BYE};

oc_connection_t *oc_connection_find(oc_client_t *client, const char *name)
{
    oc_connection_t *connection;

    DL_FOREACH (client->connections, connection) {
        if (0 == strcmp(connection->name, name) && OC_UPLINK_DEAD != connection->uplink.state) {
            return connection;
        }
    }
    return NULL;
}

static bool came_back(const oc_client_t *client)
{
    uint64_t last = client->collapsed > client->renewed ? client->collapsed : client->renewed;

    return 0 != last && client->now < last + RETURN_WINDOW;
}

/*
 * Who asks again, as long as there is time for the set-up: who came back soon, and whom a server
 * let go before it had read who that was, because of a crowd of others.
 */
static bool may_return(const oc_connection_t *connection, oc_status_t status,
                       oc_uplink_state_t state)
{
    const oc_client_t *client = connection->client;

    return OC_UPLINK_GREETING == state && NULL == connection->routes
           && (OC_ERR_TIMEOUT == status
               || ((OC_ERR_REFUSED == status || OC_ERR_UNREACHABLE == status)
                   && came_back(client)));
}

/* Closed, until somebody uses it. */
static void pause_connection(oc_connection_t *connection, const oc_control_t *last_words)
{
    oc_uplink_close(&connection->uplink, last_words);
    connection->paused = connection->client->now;
}

/* No group counts on it, and those to come can do without it. */
static bool is_dispensable(const oc_connection_t *connection)
{
    return 0 == connection->users && connection->client->config.settings->recovery;
}

/* A server that has come back to groups, none of which has gone on with it. */
static bool only_returns(const oc_connection_t *connection)
{
    const oc_group_t *group;
    unsigned fresh = 0;

    DL_FOREACH (connection->client->groups, group) {
        for (unsigned i = 0; NULL != group->servers && i < group->servers->num_links; i++) {
            fresh += connection == group->servers->links[i].connection && group->servers->links[i].fresh;
        }
    }
    return fresh > 0 && fresh == connection->users;
}

/* While groups are being set up a dead connection is their business; later it is everybody's. */
static void connection_on_ended(oc_uplink_t *uplink, oc_status_t status, oc_uplink_state_t state)
{
    oc_connection_t *connection = uplink->arg;

    if (may_return(connection, status, state)) {
        pause_connection(connection, NULL);
    } else if (is_dispensable(connection)) {
        oc_presence_lost(connection);
    } else if (OC_UPLINK_READY == state && only_returns(connection)) {
        oc_loss_of(connection->client, connection->incarnation, uplink->reason);
    } else if (OC_UPLINK_READY == state
               && !((OC_ERR_UNREACHABLE == status || OC_ERR_TIMEOUT == status)
                    && oc_loss_notice(connection, status, uplink->reason))) {
        oc_client_collapse(connection->client, status, "%s", uplink->reason);
    }
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

/* Where somebody would understand it: the server tells others. */
static void say_lost(oc_connection_t *connection)
{
    oc_control_t words = oc_loss_words(connection->client);

    if (OC_UPLINK_READY == connection->uplink.state && !oc_lost_is_empty(&words.loss.servers)) {
        oc_connection_send(connection, &words);
    }
}

/* A server that took this process for dead would end its job, in which others may be. */
static void say_farewell(oc_connection_t *connection)
{
    oc_uplink_state_t state = connection->uplink.state;
    int fd;

    if (OC_UPLINK_GREETING != state && OC_UPLINK_READY != state) {
        return;
    }
    say_lost(connection);
    oc_connection_send(connection, &bye);
    fd = oc_fd_make(fcntl(oc_uplink_fd(&connection->uplink), F_DUPFD_CLOEXEC, 0));
    if (fd >= 0) {
        oc_farewell_begin(&connection->client->farewells, fd);
    }
}

void oc_connection_pause(oc_connection_t *connection)
{
    say_farewell(connection);
    oc_uplink_close(&connection->uplink, NULL);
    connection->paused = 0;
    connection->drains = false;
    close_routes(connection);
}

/* Nothing is lost with it: who needs the server again connects anew. */
static void retire(oc_connection_t *connection)
{
    pause_connection(connection, &bye);
    close_routes(connection);
}

void oc_connection_close(oc_connection_t *connection, const oc_control_t *last_words)
{
    /* also a process whose WELCOME is late leaves in order: without BYE it would count as dead */
    oc_uplink_free(&connection->uplink, last_words);
    close_routes(connection);
    DL_DELETE(connection->client->connections, connection);
    oc_mac_free(connection->leaf_codes);
    free(connection);
}

void oc_connection_send(oc_connection_t *connection, const oc_control_t *message)
{
    oc_uplink_send(&connection->uplink, message);
}

/*
 * The server may be well: it must not take the end of the connection for the death of this process, and tell others.
 * Once it is lost it cannot become anything else. One that was only looked at is left in order, too.
 */
static void part(oc_connection_t *connection, oc_status_t status, const char *why)
{
    char reason[OC_REASON_SIZE];

    snprintf(reason, sizeof(reason), "server %.200s %s", connection->name, why);
    if (OC_UPLINK_READY == connection->uplink.state
        && (is_dispensable(connection) || oc_loss_notice(connection, status, reason))) {
        say_farewell(connection);
    }
}

/* If it ended on purpose, that has been said before. */
static void endpoint_failed(void *arg)
{
    oc_connection_t *connection = arg;

    part(connection, OC_ERR_UNREACHABLE, "is gone: the data connection broke");
    oc_uplink_lost(&connection->uplink, connection->client->now);
}

static void connection_hello(oc_uplink_t *uplink, oc_hello_t *hello)
{
    const oc_connection_t *connection = uplink->arg;
    oc_client_t *client = connection->client;
    size_t length;

    memcpy(hello->job_id, client->job.id, OC_JOB_ID_SIZE);
    memcpy(hello->job_key, client->job.key, OC_JOB_KEY_SIZE);
    hello->process = client->config.process;
    hello->address.data = oc_worker_address(client->worker, &length);
    hello->address.length = (uint32_t) length;
    hello->origins = client->origins;
    oc_admission_admit_peer(client->admission, oc_uplink_fd(uplink));
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

/* false: that has failed, and the connection with it. */
static bool open_routes(oc_connection_t *connection, const oc_welcome_t *welcome)
{
    connection->routes = calloc(welcome->num_aggregators, sizeof(oc_route_t));
    if (NULL == connection->routes) {
        oc_uplink_fail(&connection->uplink, OC_ERR_NO_MEMORY, "cannot be used: out of memory");
        return false;
    }
    /* they connect to this process, too, once it has joined a group */
    oc_admission_admit(connection->client->admission, welcome->origins.addresses,
                       welcome->origins.count);
    if (!oc_admission_is_complete(connection->client->admission)) {
        oc_uplink_fail(&connection->uplink, OC_ERR_NO_MEMORY,
                       "cannot be used: this host cannot admit it to its port");
        return false;
    }
    for (unsigned i = 0; i < welcome->num_aggregators; i++) {
        if (OC_OK != oc_endpoint_open(connection->client->worker, welcome->address[i].data,
                                      endpoint_failed, connection,
                                      &connection->routes[i].endpoint)) {
            oc_uplink_fail(&connection->uplink, OC_ERR_UNREACHABLE, "cannot be reached by UCX (its "
                           "network devices and those of this host have nothing in common)");
            return false;
        }
        connection->num_aggregators++;
    }
    return true;
}

static void connection_on_welcome(oc_uplink_t *uplink, const oc_welcome_t *welcome)
{
    oc_connection_t *connection = uplink->arg;

    if (!make_codes(connection, welcome)) {
        oc_uplink_fail(uplink, OC_ERR_SYSTEM,
                       "cannot be used: OpenSSL's libcrypto does not work here");
    } else if (open_routes(connection, welcome)) {
        connection->parent = welcome->parent;
        connection->incarnation = welcome->incarnation;
        oc_presence_back(connection);
        oc_uplink_accept(uplink);
        /* this rank may be the only one that knows */
        say_lost(connection);
    }
}

static void on_notice(oc_connection_t *connection, const oc_control_t *message)
{
    char text[OC_MAX_TEXT + 1];

    oc_control_text(&message->notice.text, text, sizeof(text));
    if (OC_CONTROL_GROUP_ERROR == message->type) {
        oc_answers_refused(connection, &message->notice, text);
    } else {
        connection->drains = true;
        oc_info("server %s: %s", connection->name, text);
    }
}

/* Nobody of this process counts on a server that was only looked at: that it goes is no news to others, unless it is part of the epoch. */
static bool is_own_end_alone(const oc_connection_t *connection, const oc_lost_t *servers)
{
    oc_lost_t known = connection->client->lost;

    return is_dispensable(connection) && !oc_lost_has_returned(&known, connection->incarnation)
           && oc_lost_add(&known, connection->incarnation) && oc_lost_covers(&known, servers);
}

/* Of another server, or that it goes itself. */
static void hear_of_loss(oc_connection_t *connection, const oc_loss_t *loss)
{
    char text[OC_MAX_TEXT + 1];
    oc_loss_t copy = *loss;

    /* what it points to goes with the connection */
    oc_control_text(&loss->text, text, sizeof(text));
    copy.text = (oc_bytes_t) {.data = (const uint8_t *) text, .length = (uint32_t) strlen(text)};
    if (oc_lost_has(&loss->servers, connection->incarnation)) {
        oc_uplink_fail(&connection->uplink, OC_ERR_UNREACHABLE, "ended its service: %s", text);
    }
    if (!is_own_end_alone(connection, &loss->servers)) {
        oc_loss_hear(connection->client, &copy);
    }
}

static bool connection_on_message(oc_uplink_t *uplink, const oc_control_t *message)
{
    oc_connection_t *connection = uplink->arg;

    switch (message->type) {
    case OC_CONTROL_JOINED:
        oc_answers_joined(connection, &message->joined);
        return true;
    case OC_CONTROL_GROUP_ERROR:
    case OC_CONTROL_DRAIN:
        on_notice(connection, message);
        return true;
    case OC_CONTROL_LOST:
        hear_of_loss(connection, &message->loss);
        return true;
    case OC_CONTROL_SIGHT:
        oc_exposure_sight(connection, &message->sight);
        return true;
    case OC_CONTROL_RETIRE:
        if (OC_UPLINK_READY == uplink->state && !oc_answers_awaited(connection)) {
            retire(connection);
        }
        return true;
    default:
        return false;
    }
}

/*
 * A rank that stands still, in a debugger or without memory, is no error of MPI, and its server is
 * waited for like the rank. That it is dead shows where its connection ends, which the kernel also
 * does when the host is gone. A server that is nothing else is there to answer.
 */
static bool connection_waits(oc_uplink_t *uplink)
{
    oc_connection_t *connection = uplink->arg;
    char why[64];

    if (connection->of_rank) {
        oc_info("server %s has not answered for %d seconds: its process may be stopped, and is "
                "waited for", connection->name,
                connection->client->config.settings->heartbeat_timeout);
        return true;
    }
    snprintf(why, sizeof(why), "stopped answering: no heartbeat for %d seconds",
             connection->client->config.settings->heartbeat_timeout);
    part(connection, OC_ERR_TIMEOUT, why);
    return false;
}

/* Without that, the end of a connection is found when the application comes to look. */
static bool connection_attach(oc_uplink_t *uplink)
{
    const oc_connection_t *connection = uplink->arg;
    struct epoll_event event = {.events = EPOLLIN};

    if (connection->client->control_fd >= 0) {
        (void) epoll_ctl(connection->client->control_fd, EPOLL_CTL_ADD, oc_uplink_fd(uplink), &event);
    }
    return true;
}

static void connection_detach(oc_uplink_t *uplink)
{
    const oc_connection_t *connection = uplink->arg;

    if (connection->client->control_fd >= 0) {
        (void) epoll_ctl(connection->client->control_fd, EPOLL_CTL_DEL, oc_uplink_fd(uplink), NULL);
    }
}

void oc_connections_watch(oc_client_t *client)
{
    oc_connection_t *connection;

    client->control_fd = oc_fd_make(epoll_create1(EPOLL_CLOEXEC));
    DL_FOREACH (client->connections, connection) {
        if (oc_uplink_fd(&connection->uplink) >= 0) {
            (void) connection_attach(&connection->uplink);
        }
    }
    oc_own_server_watch(client, true);
}

uint64_t oc_connections_due(const oc_client_t *client, uint64_t now)
{
    const oc_connection_t *connection;
    uint64_t due = UINT64_MAX;

    DL_FOREACH (client->connections, connection) {
        if (connection->users > 0 && OC_UPLINK_READY == connection->uplink.state) {
            uint64_t own = oc_pulse_due(&connection->uplink.pulse, now);

            due = own < due ? own : due;
        }
    }
    return due;
}

static const oc_uplink_owner_t owner = {.attach = connection_attach,
                                        .detach = connection_detach,
                                        .hello = connection_hello,
                                        .welcome = connection_on_welcome,
                                        .message = connection_on_message,
                                        .waits = connection_waits,
                                        .ended = connection_on_ended,
                                        .title = "server"};

static oc_rhythm_t rhythm_of(const oc_client_t *client)
{
    return (oc_rhythm_t) {
        .interval = PING_INTERVAL,
        .patience = (uint64_t) client->config.settings->heartbeat_timeout * OC_SECOND,
        .step = OC_MAX_QUIET_STEP};
}

oc_connection_t *oc_connection_open(oc_client_t *client, const char *name, unsigned number,
                                    oc_sockaddr_t *candidates, unsigned num_candidates)
{
    oc_connection_t *connection = calloc(1, sizeof(*connection));
    oc_rhythm_t rhythm = rhythm_of(client);

    if (NULL == connection) {
        free(candidates);
        return NULL;
    }
    connection->client = client;
    connection->number = number;
    connection->of_rank = UINT_MAX == number;
    connection->eager_window = client->config.settings->eager_window;
    snprintf(connection->name, sizeof(connection->name), "%s", name);
    DL_APPEND(client->connections, connection);
    oc_uplink_init(&connection->uplink, &owner, connection, connection->name, &rhythm);
    oc_uplink_open(&connection->uplink, candidates, num_candidates, oc_clock_ns());
    return connection;
}

void oc_connection_progress(oc_connection_t *connection)
{
    oc_uplink_t *uplink = &connection->uplink;
    uint64_t now = connection->client->now;

    if (OC_UPLINK_CLOSED == uplink->state && connection->users > 0
        && now > connection->paused + RETURN_INTERVAL) {
        oc_uplink_reopen(uplink, now);
    }
    oc_uplink_look(uplink, now, connection->users > 0);
    oc_uplink_ping(uplink, now);
}

void oc_connections_progress(oc_client_t *client)
{
    oc_connection_t *connection, *next;

    DL_FOREACH_SAFE (client->connections, connection, next) {
        oc_connection_progress(connection);
    }
    oc_farewells_look(&client->farewells);
}

void oc_connections_forget(oc_client_t *client)
{
    oc_farewells_end(&client->farewells);
}
