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

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "base/clock.h"
#include "base/log.h"
#include "control/uplink.h"
#include "net/lookup.h"
#include "server/job/probe.h"

/*
 * For TCP and WELCOME, once the name is known. Clients wait longer by default, and so hear what is
 * wrong.
 */
#define CONNECT_PATIENCE (3 * OC_SECOND)

/* Asked as often as clients ask this server. */
static const oc_rhythm_t rhythm = {.patience = OC_EDGE_PATIENCE, .step = OC_EDGE_STEP};

struct oc_parent {
    oc_watch_t watch;          /* of the socket that the uplink has */
    oc_job_server_t *job;
    const oc_parent_events_t *events;
    oc_uplink_t uplink;
    oc_lookup_t lookup;        /* of its name */
    bool wanted;               /* some process has said HELLO: the next two are known */
    uint8_t job_id[OC_JOB_ID_SIZE], job_key[OC_JOB_KEY_SIZE];
    char own_name[80];         /* where this leaf listens */
    uint64_t deadline;         /* of the name, then of the WELCOME */
    uint64_t identity;
    oc_status_t status;        /* not OC_OK: it serves the job no more, or not at all … */
    char reason[OC_UPLINK_REASON_SIZE]; /* … and why not */
};

/* The uplink sends and wants to send: the loop has to know. */
static void follow(oc_parent_t *parent)
{
    if (oc_uplink_fd(&parent->uplink) >= 0) {
        oc_loop_change(parent->job->loop, &parent->watch, oc_uplink_events(&parent->uplink));
    }
}

static void send_up(oc_parent_t *parent, const oc_control_t *message)
{
    oc_uplink_send(&parent->uplink, message);
    follow(parent);
}

static void look(oc_parent_t *parent)
{
    oc_uplink_look(&parent->uplink, oc_clock_ns(), true);
    follow(parent);
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
static void find_own_name(oc_parent_t *parent)
{
    const oc_sockaddr_t *listen = parent->job->config.listen;
    oc_sockaddr_t address = {.length = sizeof(address.address)};

    if (is_any(listen)
        && 0 == getsockname(oc_uplink_fd(&parent->uplink), (struct sockaddr *) &address.address,
                            &address.length)) {
        /* the port is at the same place in both structures */
        ((struct sockaddr_in *) &address.address)->sin_port =
            ((const struct sockaddr_in *) &listen->address)->sin_port;
        listen = &address;
    }
    oc_sockaddr_text(listen, parent->own_name, sizeof(parent->own_name));
}

static void parent_on_ready(oc_watch_t *watch, uint32_t events)
{
    (void) events;
    look((oc_parent_t *) watch);
}

static bool parent_attach(oc_uplink_t *uplink)
{
    oc_parent_t *parent = uplink->arg;

    parent->watch = (oc_watch_t) {.fd = oc_uplink_fd(uplink), .ready = parent_on_ready};
    return OC_OK == oc_loop_add(parent->job->loop, &parent->watch, oc_uplink_events(uplink));
}

static void detach(oc_uplink_t *uplink)
{
    oc_parent_t *parent = uplink->arg;

    oc_loop_remove(parent->job->loop, &parent->watch);
}

static void parent_hello(oc_uplink_t *uplink, oc_hello_t *hello)
{
    oc_parent_t *parent = uplink->arg;

    memcpy(hello->job_id, parent->job_id, OC_JOB_ID_SIZE);
    memcpy(hello->job_key, parent->job_key, OC_JOB_KEY_SIZE);
    hello->process = OC_PROCESS_LEAF;
    find_own_name(parent);
    hello->address.data = (const uint8_t *) parent->own_name;
    hello->address.length = (uint32_t) strlen(parent->own_name);
    hello->origins = parent->job->origins;
    oc_admission_admit_peer(parent->job->admission, oc_uplink_fd(uplink));
}

/* The name's addresses are known, and somebody needs the parent. */
static void dial(oc_parent_t *parent)
{
    const char *reason;
    unsigned count;
    oc_sockaddr_t *candidates = oc_lookup_take(&parent->lookup, &count, &reason);

    parent->deadline = oc_clock_ns() + CONNECT_PATIENCE;
    if (NULL == candidates) {
        oc_uplink_fail(&parent->uplink, OC_ERR_UNREACHABLE, "cannot be reached: %s", reason);
    } else {
        oc_uplink_open(&parent->uplink, candidates, count, oc_clock_ns());
    }
}

static void parent_on_resolved(void *arg)
{
    oc_parent_t *parent = arg;

    if (parent->wanted && OC_UPLINK_CLOSED == parent->uplink.state) {
        dial(parent);
    }
}

void oc_parent_greet(oc_job_server_t *job, const oc_hello_t *hello)
{
    oc_parent_t *parent = job->parent;

    if (NULL == parent || parent->wanted) {
        return;
    }
    parent->wanted = true;
    memcpy(parent->job_id, hello->job_id, OC_JOB_ID_SIZE);
    memcpy(parent->job_key, hello->job_key, OC_JOB_KEY_SIZE);
    parent->deadline = oc_clock_ns() + OC_NAME_PATIENCE;
    if (oc_lookup_is_over(&parent->lookup)) {
        dial(parent);
    }
}

/* ---- messages ---- */

/* false: it cannot be the parent of this server, which is told. */
static bool is_suitable(oc_parent_t *parent, const oc_welcome_t *welcome)
{
    unsigned own = parent->job->num_aggregators;

    if (0 == welcome->identity || 0 != welcome->parent) {
        oc_uplink_fail(&parent->uplink, OC_ERR_INVALID,
                       "is a leaf itself, and trees of servers have two levels");
    } else if (welcome->num_aggregators != own) {
        oc_uplink_fail(&parent->uplink, OC_ERR_INVALID, "has %u aggregators and this leaf %u: "
                       "start both with the same --aggregators", welcome->num_aggregators, own);
    } else {
        return true;
    }
    return false;
}

static void parent_introduce(oc_parent_t *parent, const oc_welcome_t *welcome)
{
    oc_control_t message = {.type = OC_CONTROL_ROUTE};
    oc_job_server_t *job = parent->job;
    size_t length;

    for (unsigned i = 0; i < job->num_aggregators; i++) {
        oc_command_t *command = oc_command_new(OC_COMMAND_PARENT_ADD, welcome->address[i].data,
                                               welcome->address[i].length);

        if (NULL == command) {
            oc_uplink_fail(&parent->uplink, OC_ERR_NO_MEMORY, "cannot be used: out of memory");
            return;
        }
        oc_aggregator_post(job->aggregators[i], command);
        message.route.aggregator = i;
        message.route.address.data = oc_aggregator_address(job->aggregators[i], &length);
        message.route.address.length = (uint32_t) length;
        send_up(parent, &message);
    }
}

static void parent_on_welcome(oc_uplink_t *uplink, const oc_welcome_t *welcome)
{
    oc_parent_t *parent = uplink->arg;

    if (!is_suitable(parent, welcome)) {
        return;
    }
    parent->identity = welcome->identity;
    oc_uplink_accept(uplink);
    oc_admission_admit(parent->job->admission, welcome->origins.addresses,
                       welcome->origins.count);
    parent_introduce(parent, welcome);
    if (OC_UPLINK_READY == uplink->state) {
        parent->events->welcomed(parent->job);
    }
}

static void on_group_error(oc_parent_t *parent, const oc_notice_t *notice)
{
    char text[OC_MAX_TEXT + 1], reason[OC_MAX_TEXT + 1];

    oc_control_text(&notice->text, text, sizeof(text));
    snprintf(reason, sizeof(reason), "%s %.200s refused: %.280s", parent->uplink.owner->title,
             parent->uplink.name, text);
    parent->events->group_refused(parent->job, notice->group, (oc_status_t) notice->status, reason);
}

static void on_drain(oc_parent_t *parent, const oc_notice_t *notice)
{
    char text[OC_MAX_TEXT + 1];

    oc_control_text(&notice->text, text, sizeof(text));
    oc_info("parent server %s: %s", parent->uplink.name, text);
}

static bool parent_on_message(oc_uplink_t *uplink, const oc_control_t *message)
{
    oc_parent_t *parent = uplink->arg;

    switch (message->type) {
    case OC_CONTROL_JOINED:
        parent->events->joined(parent->job, &message->joined);
        return true;
    case OC_CONTROL_PING:
        parent->events->pinged(parent->job, message->ping);
        return true;
    case OC_CONTROL_GROUP_ERROR:
        on_group_error(parent, &message->notice);
        return true;
    case OC_CONTROL_DRAIN:
        on_drain(parent, &message->notice);
        return true;
    case OC_CONTROL_RETIRE:
        /* with the last client, this goes too; who joins here joins there */
        parent->events->retire(parent->job);
        return true;
    default:
        return false;
    }
}

static void note_end(oc_parent_t *parent, oc_status_t status, const char *reason)
{
    parent->status = status;
    snprintf(parent->reason, sizeof(parent->reason), "%s", reason);
}

/* Who waits to be welcome has to be refused; who was has lost its service. */
static void parent_on_ended(oc_uplink_t *uplink, oc_status_t status, oc_uplink_state_t state)
{
    oc_parent_t *parent = uplink->arg;

    note_end(parent, status, uplink->reason);
    if (OC_UPLINK_READY == state) {
        parent->events->lost(parent->job, status, uplink->reason);
    } else {
        oc_warn("a job is turned away: %s", uplink->reason);
        parent->events->refused(parent->job, status, uplink->reason);
    }
}

static const oc_uplink_owner_t owner = {
    .attach = parent_attach, .detach = detach, .hello = parent_hello, .welcome = parent_on_welcome,
    .message = parent_on_message, .ended = parent_on_ended, .title = "its parent server"};

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
    oc_uplink_init(&parent->uplink, &owner, parent, text, &rhythm);
    job->parent = parent;
    return oc_lookup_open(&parent->lookup, job->loop, text, parent_on_resolved, parent, error,
                          error_size);
}

/* ---- what the job asks for ---- */

oc_status_t oc_parent_status(const oc_job_server_t *job, const char **reason)
{
    const oc_parent_t *parent = job->parent;

    if (NULL == parent) {
        return OC_OK;
    }
    if (OC_OK != parent->status) {
        *reason = parent->reason;
        return parent->status;
    }
    return OC_UPLINK_READY == parent->uplink.state ? OC_OK : OC_IN_PROGRESS;
}

uint64_t oc_parent_identity(const oc_job_server_t *job)
{
    return NULL == job->parent ? 0 : job->parent->identity;
}

static bool is_there(const oc_job_server_t *job)
{
    return NULL != job->parent && OC_UPLINK_READY == job->parent->uplink.state;
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
    if (is_there(job)) {
        oc_uplink_ping(&job->parent->uplink, oc_clock_ns());
        follow(job->parent);
    }
}

void oc_parent_pong(oc_job_server_t *job, uint32_t number)
{
    oc_control_t message = {.type = OC_CONTROL_PONG, .ping = number};

    if (is_there(job)) {
        send_up(job->parent, &message);
    }
}

static void check_deadline(oc_parent_t *parent)
{
    if (oc_clock_ns() <= parent->deadline) {
        return;
    }
    if (OC_UPLINK_CLOSED == parent->uplink.state && !oc_lookup_is_over(&parent->lookup)) {
        oc_uplink_fail(&parent->uplink, OC_ERR_TIMEOUT, "has a name that could not be looked up "
                       "within %llu seconds", OC_NAME_PATIENCE / OC_SECOND);
    } else if (OC_UPLINK_CONNECTING == parent->uplink.state
               || OC_UPLINK_GREETING == parent->uplink.state) {
        oc_uplink_fail(&parent->uplink, OC_ERR_TIMEOUT, "did not answer within %llu seconds",
                       CONNECT_PATIENCE / OC_SECOND);
    }
}

void oc_parent_tick(oc_job_server_t *job)
{
    if (NULL != job->parent && job->parent->wanted) {
        look(job->parent);
        check_deadline(job->parent);
    }
}

void oc_parent_lost(oc_job_server_t *job)
{
    if (is_there(job)) {
        oc_uplink_lost(&job->parent->uplink, oc_clock_ns());
    }
}

void oc_parent_give_up(oc_job_server_t *job, oc_status_t status, const char *text)
{
    oc_control_t message = {.type = OC_CONTROL_JOB_ERROR};

    if (is_there(job)) {
        message.notice.status = status;
        message.notice.text = (oc_bytes_t) {.data = (const uint8_t *) text,
                                            .length = (uint32_t) strnlen(text, OC_MAX_TEXT)};
        oc_uplink_close(&job->parent->uplink, &message);
        note_end(job->parent, status, text);
    }
}

void oc_parent_close(oc_job_server_t *job)
{
    static const oc_control_t bye = {.type = OC_CONTROL_BYE};

    if (NULL != job->parent) {
        oc_uplink_free(&job->parent->uplink, &bye);
        oc_lookup_close(&job->parent->lookup);
        free(job->parent);
        job->parent = NULL;
    }
}
