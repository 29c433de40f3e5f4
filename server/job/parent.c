/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A leaf's connection to the server above it. There the leaf is a client like a rank: it says HELLO
 * in the name of the job, joins groups with the number of its leaf, and leaves them. What it adds
 * up goes there from the aggregators (above*.c).
 *
 * Clients are welcome when the parent has welcomed this server: until then nobody knows whether
 * the job can be served. The parent is as necessary as this server itself, so its end is the job's.
 *
 * Its name is looked up once, when the job begins, beside the loop: who comes meanwhile is told in
 * time if that takes too long. The thread is left behind then: this is the job's own process, which
 * is going to end, and a name server's patience is nothing to wait for.
 */
#include "server/job/parent.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>

#include "base/clock.h"
#include "base/log.h"
#include "net/dial.h"
#include "server/job/probe.h"

/*
 * For TCP and WELCOME, once the name is known. Clients wait longer by default, and so hear what is
 * wrong.
 */
#define CONNECT_PATIENCE (3 * OC_SECOND)

/* Asked as often as clients ask this server. */
static const oc_rhythm_t rhythm = {.patience = OC_EDGE_PATIENCE, .step = OC_EDGE_STEP};

typedef enum {
    PARENT_UNKNOWN,            /* nobody has asked for it yet */
    PARENT_CONNECTING,
    PARENT_GREETING,           /* HELLO sent */
    PARENT_READY,
    PARENT_DEAD,
} parent_state_t;

struct oc_parent {
    oc_watch_t watch;
    oc_job_server_t *job;
    const oc_parent_events_t *events;
    parent_state_t state;
    oc_stream_t stream;
    const char *name;          /* as in the settings */
    oc_dial_t dial;
    uint8_t job_id[OC_JOB_ID_SIZE], job_key[OC_JOB_KEY_SIZE];
    uint64_t identity;
    bool resolving;            /* the deadline is that of the name … */
    uint64_t deadline;         /* … or of the WELCOME */
    oc_pulse_t pulse;
    char reason[OC_MAX_TEXT];  /* of a DEAD one */
};

oc_status_t oc_parent_open(oc_job_server_t *job, const oc_parent_events_t *events, char *error,
                           size_t error_size)
{
    const char *text = job->config.parent;
    oc_parent_t *parent;

    if (NULL == text || '\0' == text[0]) {
        return OC_OK;
    }
    parent = calloc(1, sizeof(*parent));
    if (NULL == parent) {
        snprintf(error, error_size, "out of memory");
        return OC_ERR_NO_MEMORY;
    }
    parent->job = job;
    parent->events = events;
    parent->name = text;
    parent->stream.fd = -1;
    oc_pulse_init(&parent->pulse, &rhythm);
    job->parent = parent;
    return oc_dial_open(&parent->dial, job->loop, text, error, error_size);
}

static void disconnect(oc_parent_t *parent)
{
    oc_dial_close(&parent->dial);
    if (parent->stream.fd >= 0) {
        oc_loop_remove(parent->job->loop, &parent->watch);
        oc_stream_close(&parent->stream);
        parent->stream.fd = -1;
    }
}

/* Whenever HELLO was sent: without BYE, the parent would end the job for the other leaves, too. */
static void say_bye(oc_parent_t *parent)
{
    oc_control_t bye = {.type = OC_CONTROL_BYE};

    if (PARENT_GREETING == parent->state || PARENT_READY == parent->state) {
        (void) oc_stream_send(&parent->stream, &bye);
    }
}

/* Who waits to be welcome has to be refused; who was has lost its service. */
static void die(oc_parent_t *parent, oc_status_t status, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

static void die(oc_parent_t *parent, oc_status_t status, const char *format, ...)
{
    bool was_ready = PARENT_READY == parent->state;
    int length = snprintf(parent->reason, sizeof(parent->reason), "its parent server %.200s ",
                          parent->name);
    va_list args;

    va_start(args, format);
    vsnprintf(parent->reason + length, sizeof(parent->reason) - (size_t) length, format, args);
    va_end(args);
    if (!was_ready) {
        say_bye(parent);
    }
    parent->state = PARENT_DEAD;
    disconnect(parent);
    if (was_ready) {
        parent->events->lost(parent->job, status, parent->reason);
    } else {
        oc_warn("a job is turned away: %s", parent->reason);
        parent->events->refused(parent->job, status, parent->reason);
    }
}

static void send_up(oc_parent_t *parent, const oc_control_t *message)
{
    if (OC_OK != oc_stream_send(&parent->stream, message)) {
        /* it is found gone when it is read from */
        shutdown(parent->stream.fd, SHUT_RDWR);
    } else if (oc_stream_wants_write(&parent->stream)) {
        oc_loop_change(parent->job->loop, &parent->watch, EPOLLIN | EPOLLOUT);
    }
}

/* ---- connecting ---- */

static bool is_any(const oc_sockaddr_t *address)
{
    const struct sockaddr_in *in = (const struct sockaddr_in *) &address->address;
    const struct sockaddr_in6 *in6 = (const struct sockaddr_in6 *) &address->address;

    return AF_INET == in->sin_family ? INADDR_ANY == in->sin_addr.s_addr
                                     : IN6_IS_ADDR_UNSPECIFIED(&in6->sin6_addr);
}

/* Where this leaf listens; on all addresses: the one that leads to the parent. */
static void own_name(const oc_parent_t *parent, char *name, size_t size)
{
    const oc_sockaddr_t *listen = parent->job->config.listen;
    oc_sockaddr_t address = {.length = sizeof(address.address)};

    if (is_any(listen)
        && 0 == getsockname(parent->stream.fd, (struct sockaddr *) &address.address,
                            &address.length)) {
        /* the port is at the same place in both structures */
        ((struct sockaddr_in *) &address.address)->sin_port =
            ((const struct sockaddr_in *) &listen->address)->sin_port;
        listen = &address;
    }
    oc_sockaddr_text(listen, name, size);
}

static void greet(oc_parent_t *parent)
{
    oc_control_t message = {.type = OC_CONTROL_HELLO};
    oc_hello_t *hello = &message.hello;
    char name[80] = "";

    hello->version_min = OC_PROTOCOL_VERSION_MIN;
    hello->version_max = OC_PROTOCOL_VERSION_MAX;
    memcpy(hello->job_id, parent->job_id, OC_JOB_ID_SIZE);
    memcpy(hello->job_key, parent->job_key, OC_JOB_KEY_SIZE);
    hello->process = OC_PROCESS_LEAF;
    own_name(parent, name, sizeof(name));
    hello->address.data = (const uint8_t *) name;
    hello->address.length = (uint32_t) strlen(name);
    hello->origins = parent->job->origins;
    oc_admission_admit_peer(parent->job->admission, parent->stream.fd);
    parent->state = PARENT_GREETING;
    send_up(parent, &message);
}

static void parent_ready(oc_watch_t *watch, uint32_t events);

static void on_dialed(void *arg, int fd, const char *reason)
{
    oc_parent_t *parent = arg;

    if (fd < 0) {
        die(parent, OC_ERR_UNREACHABLE, "cannot be reached: %s", reason);
        return;
    }
    oc_stream_init(&parent->stream, fd, OC_MAX_BODY);
    parent->watch = (oc_watch_t) {.fd = fd, .ready = parent_ready};
    if (OC_OK == oc_loop_add(parent->job->loop, &parent->watch, EPOLLIN)) {
        greet(parent);
    } else {
        die(parent, OC_ERR_NO_MEMORY, "cannot be reached: %s", strerror(ENOMEM));
    }
}

void oc_parent_greet(oc_job_server_t *job, const oc_hello_t *hello)
{
    oc_parent_t *parent = job->parent;

    if (NULL == parent || PARENT_UNKNOWN != parent->state) {
        return;
    }
    memcpy(parent->job_id, hello->job_id, OC_JOB_ID_SIZE);
    memcpy(parent->job_key, hello->job_key, OC_JOB_KEY_SIZE);
    parent->resolving = oc_dial_is_resolving(&parent->dial);
    parent->deadline = oc_clock_ns() + (parent->resolving ? OC_NAME_PATIENCE : CONNECT_PATIENCE);
    parent->state = PARENT_CONNECTING;
    oc_dial_connect(&parent->dial, on_dialed, parent);
}

/* ---- messages ---- */

/* false: it cannot be the parent of this server, which is told. */
static bool is_suitable(oc_parent_t *parent, const oc_welcome_t *welcome)
{
    unsigned own = parent->job->num_aggregators;

    if (welcome->version < OC_PROTOCOL_VERSION_MIN || welcome->version > OC_PROTOCOL_VERSION_MAX) {
        die(parent, OC_ERR_VERSION, "answered in an unknown protocol version");
    } else if (0 == welcome->identity || 0 != welcome->parent) {
        die(parent, OC_ERR_INVALID, "is a leaf itself, and trees of servers have two levels");
    } else if (welcome->num_aggregators != own) {
        die(parent, OC_ERR_INVALID, "has %u aggregators and this leaf %u: start both with the same "
            "--aggregators", welcome->num_aggregators, own);
    } else {
        return true;
    }
    return false;
}

static void introduce(oc_parent_t *parent, const oc_welcome_t *welcome)
{
    oc_control_t message = {.type = OC_CONTROL_ROUTE};
    oc_job_server_t *job = parent->job;
    size_t length;

    for (unsigned i = 0; i < job->num_aggregators; i++) {
        oc_command_t *command = oc_command_new(OC_COMMAND_PARENT_ADD, welcome->address[i].data,
                                               welcome->address[i].length);

        if (NULL == command) {
            die(parent, OC_ERR_NO_MEMORY, "cannot be used: out of memory");
            return;
        }
        oc_aggregator_post(job->aggregators[i], command);
        message.route.aggregator = i;
        message.route.address.data = oc_aggregator_address(job->aggregators[i], &length);
        message.route.address.length = (uint32_t) length;
        send_up(parent, &message);
    }
}

static void on_welcome(oc_parent_t *parent, const oc_welcome_t *welcome)
{
    if (PARENT_GREETING != parent->state) {
        die(parent, OC_ERR_INVALID, "sent WELCOME twice");
        return;
    }
    if (!is_suitable(parent, welcome)) {
        return;
    }
    parent->identity = welcome->identity;
    parent->state = PARENT_READY;
    oc_admission_admit(parent->job->admission, welcome->origins.addresses,
                       welcome->origins.count);
    introduce(parent, welcome);
    if (PARENT_READY == parent->state) {
        parent->events->welcomed(parent->job);
    }
}

static void on_notice(oc_parent_t *parent, const oc_control_t *message)
{
    char text[OC_MAX_TEXT + 1], reason[OC_MAX_TEXT + 1];

    oc_control_text(&message->notice.text, text, sizeof(text));
    switch (message->type) {
    case OC_CONTROL_GROUP_ERROR:
        snprintf(reason, sizeof(reason), "its parent server %.200s refused: %.280s", parent->name,
                 text);
        parent->events->group_refused(parent->job, message->notice.group,
                                      (oc_status_t) message->notice.status, reason);
        break;
    case OC_CONTROL_REFUSE:
        die(parent, OC_ERR_REFUSED, "refused: %s", text);
        break;
    case OC_CONTROL_JOB_ERROR:
        die(parent, OC_ERR_REFUSED, "ended its service: %s", text);
        break;
    default:
        oc_info("parent server %s: %s", parent->name, text);
    }
}

static void handle(oc_parent_t *parent, const oc_control_t *message)
{
    switch (message->type) {
    case OC_CONTROL_WELCOME:
        on_welcome(parent, &message->welcome);
        break;
    case OC_CONTROL_JOINED:
        parent->events->joined(parent->job, &message->joined);
        break;
    case OC_CONTROL_PING:
        parent->events->pinged(parent->job, message->ping);
        break;
    case OC_CONTROL_PONG:
        oc_pulse_answer(&parent->pulse, message->ping);
        break;
    case OC_CONTROL_REFUSE:
    case OC_CONTROL_GROUP_ERROR:
    case OC_CONTROL_JOB_ERROR:
    case OC_CONTROL_DRAIN:
        on_notice(parent, message);
        break;
    case OC_CONTROL_RETIRE:
        /* with the last client, this goes too; who joins here joins there */
        parent->events->retire(parent->job);
        break;
    default:
        die(parent, OC_ERR_INVALID, "sent a message that only clients send");
    }
}

static void parent_ready(oc_watch_t *watch, uint32_t events)
{
    oc_parent_t *parent = (oc_parent_t *) watch;
    oc_status_t read_status = oc_stream_read(&parent->stream), status = OC_OK;
    oc_control_t message;
    size_t used;

    (void) events;
    while (PARENT_DEAD != parent->state
           && OC_OK == (status = oc_stream_next(&parent->stream, &message, &used))) {
        handle(parent, &message);
        if (PARENT_DEAD != parent->state) {
            oc_stream_drop(&parent->stream, used);
        }
    }
    if (PARENT_DEAD == parent->state) {
        return;
    }
    if (OC_IN_PROGRESS != status) {
        die(parent, status, "does not speak this protocol");
    } else if (OC_OK != read_status || OC_OK != oc_stream_flush(&parent->stream)) {
        die(parent, OC_ERR_UNREACHABLE, "is gone: it closed the connection");
    } else {
        oc_loop_change(parent->job->loop, &parent->watch,
                       oc_stream_wants_write(&parent->stream) ? EPOLLIN | EPOLLOUT : EPOLLIN);
    }
}

/* ---- what the job asks for ---- */

oc_status_t oc_parent_status(const oc_job_server_t *job, const char **reason)
{
    const oc_parent_t *parent = job->parent;

    if (NULL == parent || PARENT_READY == parent->state) {
        return OC_OK;
    }
    *reason = parent->reason;
    return PARENT_DEAD == parent->state ? OC_ERR_REFUSED : OC_IN_PROGRESS;
}

uint64_t oc_parent_identity(const oc_job_server_t *job)
{
    return NULL == job->parent ? 0 : job->parent->identity;
}

static bool is_there(const oc_job_server_t *job)
{
    return NULL != job->parent && PARENT_READY == job->parent->state;
}

void oc_parent_join(oc_job_server_t *job, const oc_registered_group_t *group)
{
    oc_control_t message = {.type = OC_CONTROL_JOIN, .join = group->join};

    if (!is_there(job) || 0 == group->join.leaves) {
        return;
    }
    message.join.num_ranks = group->join.leaves;
    message.join.rank = group->join.leaf;
    message.join.leaves = message.join.leaf = 0;
    /* leaves with other memory may take smaller chunks, but all ask for the same */
    message.join.chunk_bytes = group->asked;
    /* all that comes from there has this one in its tags; clients' messages have other kinds */
    message.join.reply_handle = group->handle;
    send_up(job->parent, &message);
}

void oc_parent_leave(oc_job_server_t *job, const oc_registered_group_t *group)
{
    oc_control_t message = {.type = OC_CONTROL_LEAVE};

    if (is_there(job) && 0 != group->join.leaves) {
        message.leave = (oc_leave_t) {.group = group->id, .rank = group->join.leaf};
        send_up(job->parent, &message);
    }
}

void oc_parent_ping(oc_job_server_t *job)
{
    oc_parent_t *parent = job->parent;
    oc_control_t message = {.type = OC_CONTROL_PING};

    if (is_there(job) && oc_pulse_ask(&parent->pulse, oc_clock_ns())) {
        message.ping = parent->pulse.number;
        send_up(parent, &message);
    }
}

void oc_parent_pong(oc_job_server_t *job, uint32_t number)
{
    oc_control_t message = {.type = OC_CONTROL_PONG, .ping = number};

    if (is_there(job)) {
        send_up(job->parent, &message);
    }
}

static void check_deadline(oc_parent_t *parent, uint64_t now)
{
    if (parent->resolving && !oc_dial_is_resolving(&parent->dial)) {
        parent->resolving = false;
        parent->deadline = now + CONNECT_PATIENCE;
    }
    if (now <= parent->deadline) {
        return;
    }
    if (parent->resolving) {
        die(parent, OC_ERR_TIMEOUT, "has a name that could not be looked up within %llu seconds",
            OC_NAME_PATIENCE / OC_SECOND);
    } else {
        die(parent, OC_ERR_TIMEOUT, "did not answer within %llu seconds",
            CONNECT_PATIENCE / OC_SECOND);
    }
}

void oc_parent_tick(oc_job_server_t *job)
{
    oc_parent_t *parent = job->parent;
    uint64_t now = oc_clock_ns();

    if (NULL == parent) {
        return;
    }
    if (PARENT_CONNECTING == parent->state) {
        oc_dial_tick(&parent->dial);
    }
    if (PARENT_CONNECTING == parent->state || PARENT_GREETING == parent->state) {
        check_deadline(parent, now);
    }
    if (PARENT_READY == parent->state && oc_pulse_missed(&parent->pulse, now)) {
        die(parent, OC_ERR_TIMEOUT, "stopped answering: no heartbeat for %llu seconds",
            OC_EDGE_PATIENCE / OC_SECOND);
    }
}

void oc_parent_lost(oc_job_server_t *job)
{
    if (is_there(job)) {
        die(job->parent, OC_ERR_UNREACHABLE, "is gone: the data connection broke");
    }
}

void oc_parent_give_up(oc_job_server_t *job, oc_status_t status, const char *text)
{
    oc_control_t message = {.type = OC_CONTROL_JOB_ERROR};

    if (is_there(job)) {
        message.notice.status = status;
        message.notice.text = (oc_bytes_t) {.data = (const uint8_t *) text,
                                            .length = (uint32_t) strnlen(text, OC_MAX_TEXT)};
        (void) oc_stream_send(&job->parent->stream, &message);
        job->parent->state = PARENT_DEAD;
        disconnect(job->parent);
    }
}

void oc_parent_close(oc_job_server_t *job)
{
    if (NULL != job->parent) {
        say_bye(job->parent);
        disconnect(job->parent);
        free(job->parent);
        job->parent = NULL;
    }
}
