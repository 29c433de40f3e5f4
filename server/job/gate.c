/* SPDX-License-Identifier: BSD-3-Clause */
/* Accepting connections and judging first messages. */
#include "server/job/gate.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <utlist.h>

#include "base/clock.h"
#include "base/descriptors.h"
#include "base/log.h"
#include "base/throttle.h"
#include "control/stream.h"

/* How long a stranger may take for its HELLO. */
#define STRANGER_PATIENCE (5 * OC_SECOND)

/*
 * So many strangers may be sent away in a second to let others in: then each of 1024 has half a
 * second for its HELLO, however many wait outside.
 */
#define MOST_SENT_AWAY 2048u

/* So often a stranger may ask: a round trip is more than one measurement. */
#define MOST_QUERIES 32

/* Without descriptors or memory the door is shut for a while instead of being tried again. */
#define PAUSE (1 * OC_SECOND)

/* Which part of the process's descriptors strangers may have. */
#define SHARE_OF_DESCRIPTORS 4

/* So many are let in before those that are inside get their turn. */
#define ACCEPTS_A_TURN 64

typedef struct oc_stranger {
    oc_watch_t watch;
    oc_stream_t stream;
    oc_gate_t *gate;
    uint64_t deadline;
    unsigned queries;
    bool watched;
    char name[128];
    struct oc_stranger *prev, *next;
} oc_stranger_t;

struct oc_gate {
    oc_watch_t watch;
    oc_loop_t *loop;
    oc_gate_admit_t admit;
    oc_gate_status_t status;       /* NULL: nobody is told */
    void *arg;
    oc_stranger_t *strangers;
    unsigned num_strangers, max_strangers;
    uint64_t paused_until;         /* 0: not */
    bool crowded;                  /* others wait until somebody goes, or the oldest may be sent away */
    oc_throttle_t complaints;
};

void oc_refuse(int fd, oc_status_t status, const char *reason)
{
    oc_control_t message = {.type = OC_CONTROL_REFUSE};
    oc_stream_t stream;

    message.notice.status = status;
    message.notice.text = (oc_bytes_t) {.data = (const uint8_t *) reason,
                                        .length = (uint32_t) strnlen(reason, OC_MAX_TEXT)};
    oc_stream_init(&stream, fd, 0);
    (void) oc_stream_send(&stream, &message);
    oc_stream_close(&stream);
}

static void open_door(oc_gate_t *gate)
{
    gate->crowded = false;
    oc_loop_change(gate->loop, &gate->watch, 0 == gate->paused_until ? EPOLLIN : 0);
}

/* Frees the stranger; returns its socket, which is no longer watched from here. */
static int stranger_release(oc_stranger_t *stranger)
{
    oc_gate_t *gate = stranger->gate;
    int fd = stranger->stream.fd;

    if (stranger->watched) {
        oc_loop_remove(gate->loop, &stranger->watch);
    }
    DL_DELETE(gate->strangers, stranger);
    gate->num_strangers--;
    if (gate->crowded) {
        open_door(gate);
    }
    stranger->stream.fd = -1;
    oc_stream_close(&stranger->stream);
    free(stranger);
    return fd;
}

static void gate_complain(oc_gate_t *gate, const char *name, const char *reason)
{
    if (oc_throttle_passes(&gate->complaints, oc_clock_ns())) {
        oc_warn("%s was refused: %s", name, reason);
    }
}

static void sum_up_complaints(oc_gate_t *gate, uint64_t now)
{
    unsigned count = oc_throttle_left_out(&gate->complaints, now);

    if (count > 0) {
        oc_warn("%u more complaints about strangers like these were left out", count);
    }
}

static void stranger_refuse(oc_stranger_t *stranger, oc_status_t status, const char *reason)
{
    gate_complain(stranger->gate, stranger->name, reason);
    oc_refuse(stranger_release(stranger), status, reason);
}

static void refuse_garbage(oc_stranger_t *stranger, oc_status_t status)
{
    char reason[128];

    if (OC_ERR_VERSION == status) {
        snprintf(reason, sizeof(reason),
                 "its messages are of another protocol version; this server speaks %d to %d",
                 OC_PROTOCOL_VERSION_MIN, OC_PROTOCOL_VERSION_MAX);
    } else {
        snprintf(reason, sizeof(reason), "what it sent is not a HELLO of this protocol (%s)",
                 oc_status_string(status));
    }
    stranger_refuse(stranger, status, reason);
}

/* Behind the message of this length comes BYE: it was quicker to go in order than this server to look. */
static bool has_gone(oc_stream_t *stream, size_t used)
{
    oc_control_t message;

    oc_stream_drop(stream, used);
    return OC_OK == oc_stream_next(stream, &message, &used) && OC_CONTROL_BYE == message.type && stream->in_used == used;
}

/* Nothing may follow HELLO before WELCOME has come. */
static void turn_away(oc_stranger_t *stranger, size_t used)
{
    if (has_gone(&stranger->stream, used)) {
        oc_fd_close(stranger_release(stranger));
    } else {
        stranger_refuse(stranger, OC_ERR_INVALID, "it sent more than a HELLO");
    }
}

static void judge_hello(oc_stranger_t *stranger, const oc_hello_t *hello, size_t used)
{
    oc_gate_t *gate = stranger->gate;
    oc_stream_t *stream = &stranger->stream;
    char reason[256] = "";

    if (hello->version_min > OC_PROTOCOL_VERSION_MAX
        || hello->version_max < OC_PROTOCOL_VERSION_MIN) {
        snprintf(reason, sizeof(reason),
                 "it speaks protocol %u to %u, this server speaks %d to %d", hello->version_min,
                 hello->version_max, OC_PROTOCOL_VERSION_MIN, OC_PROTOCOL_VERSION_MAX);
        stranger_refuse(stranger, OC_ERR_VERSION, reason);
    } else if (stream->in_used > used) {
        turn_away(stranger, used);
    } else {
        /* whoever admits it watches the same socket */
        oc_loop_remove(gate->loop, &stranger->watch);
        stranger->watched = false;
        if (gate->admit(gate->arg, stream->fd, hello, stream->in, used, reason, sizeof(reason))) {
            (void) stranger_release(stranger);
        } else {
            stranger_refuse(stranger, OC_ERR_REFUSED, reason);
        }
    }
}

/* false: the stranger is gone, who asks too often, or does not read the answers. */
static bool gate_answer(oc_stranger_t *stranger)
{
    oc_gate_t *gate = stranger->gate;
    oc_control_t message = {.type = OC_CONTROL_STATUS};

    if (NULL == gate->status) {
        stranger_refuse(stranger, OC_ERR_REFUSED,
                        "a server that is embedded in a job answers to nobody else");
        return false;
    }
    if (++stranger->queries > MOST_QUERIES) {
        stranger_refuse(stranger, OC_ERR_LIMIT, "it asks too often");
        return false;
    }
    message.status = gate->status(gate->arg);
    if (OC_OK != oc_stream_send(&stranger->stream, &message)
        || oc_stream_wants_write(&stranger->stream)) {
        oc_fd_close(stranger_release(stranger));
        return false;
    }
    return true;
}

static void stranger_ready(oc_watch_t *watch, uint32_t events)
{
    oc_stranger_t *stranger = (oc_stranger_t *) watch;
    oc_status_t read_status, status;
    oc_control_t message;
    size_t used;

    (void) events;
    read_status = oc_stream_read(&stranger->stream);
    while (OC_OK == (status = oc_stream_next(&stranger->stream, &message, &used))
           && OC_CONTROL_QUERY == message.type) {
        if (!gate_answer(stranger)) {
            return;
        }
        oc_stream_drop(&stranger->stream, used);
    }
    if (OC_OK == status && OC_CONTROL_HELLO == message.type) {
        judge_hello(stranger, &message.hello, used);
    } else if (OC_IN_PROGRESS != status) {
        refuse_garbage(stranger, OC_OK == status ? OC_ERR_INVALID : status);
    } else if (OC_OK != read_status) {
        if (stranger->stream.in_used > 0) {
            gate_complain(stranger->gate, stranger->name, "it left in the middle of a message");
        }
        oc_fd_close(stranger_release(stranger));
    }
}

static void stranger_new(oc_gate_t *gate, int fd, const oc_sockaddr_t *from)
{
    oc_stranger_t *stranger = calloc(1, sizeof(*stranger));

    if (NULL == stranger) {
        oc_fd_close(fd);
        return;
    }
    oc_socket_prepare(fd);
    oc_stream_init(&stranger->stream, fd, OC_MAX_HELLO_BODY);
    oc_sockaddr_text(from, stranger->name, sizeof(stranger->name));
    stranger->watch = (oc_watch_t) {.fd = fd, .ready = stranger_ready};
    stranger->gate = gate;
    stranger->deadline = oc_clock_ns() + STRANGER_PATIENCE;
    DL_APPEND(gate->strangers, stranger);
    gate->num_strangers++;
    stranger->watched = OC_OK == oc_loop_add(gate->loop, &stranger->watch, EPOLLIN);
    if (!stranger->watched) {
        stranger_refuse(stranger, OC_ERR_SYSTEM, "the server has no room for it");
        return;
    }
    /* whoever has said HELLO already cannot be driven out any more */
    stranger_ready(&stranger->watch, EPOLLIN);
}

static void pause_gate(oc_gate_t *gate, int error)
{
    if (oc_throttle_passes(&gate->complaints, oc_clock_ns())) {
        oc_warn("connections have to wait: %s", strerror(error));
    }
    oc_loop_change(gate->loop, &gate->watch, 0);
    gate->paused_until = oc_clock_ns() + PAUSE;
}

/* It may have said HELLO while this process stood still. */
static void send_oldest_away(oc_gate_t *gate, const char *reason)
{
    oc_stranger_t *oldest = gate->strangers;

    stranger_ready(&oldest->watch, EPOLLIN);
    if (oldest == gate->strangers) {
        stranger_refuse(oldest, OC_ERR_TIMEOUT, reason);
    }
}

/*
 * By when they came, and not by when they were heard of last: else a byte now and then, from
 * connections that are there already, would drive out those whose HELLO is on its way.
 */
static void oldest_gives_way(oc_gate_t *gate)
{
    send_oldest_away(gate, "many connections came before its HELLO did");
}

static uint64_t crowd_patience(const oc_gate_t *gate)
{
    return gate->max_strangers * OC_SECOND / MOST_SENT_AWAY;
}

/* All strangers have as much time: the first one is the oldest. */
static bool oldest_had_time(const oc_gate_t *gate, uint64_t now)
{
    return now + STRANGER_PATIENCE >= gate->strangers->deadline + crowd_patience(gate);
}

/* Whether there is room, after the oldest stranger has gone if it may be sent away. */
static bool gate_make_room(oc_gate_t *gate)
{
    if (gate->num_strangers < gate->max_strangers) {
        return true;
    }
    if (!oldest_had_time(gate, oc_clock_ns())) {
        gate->crowded = true;
        oc_loop_change(gate->loop, &gate->watch, 0);
        return false;
    }
    oldest_gives_way(gate);
    return gate->num_strangers < gate->max_strangers;
}

/* Whether somebody was there, and is in. */
static bool let_in(oc_gate_t *gate)
{
    oc_sockaddr_t from = {.length = sizeof(from.address)};
    int fd = oc_fd_make(accept4(gate->watch.fd, (struct sockaddr *) &from.address, &from.length,
                                SOCK_CLOEXEC));

    if (fd >= 0) {
        stranger_new(gate, fd, &from);
    } else if ((EMFILE == errno || ENFILE == errno) && NULL != gate->strangers) {
        /* with its descriptor it goes on in the next round */
        oldest_gives_way(gate);
    } else if (EMFILE == errno || ENFILE == errno || ENOBUFS == errno || ENOMEM == errno) {
        pause_gate(gate, errno);
    }
    return fd >= 0;
}

static void gate_ready(oc_watch_t *watch, uint32_t events)
{
    oc_gate_t *gate = (oc_gate_t *) watch;
    unsigned turn = 0;

    (void) events;
    while (turn < ACCEPTS_A_TURN && gate_make_room(gate) && let_in(gate)) {
        turn++;
    }
}

static unsigned bounded_by_descriptors(unsigned wanted)
{
    struct rlimit limit;

    if (0 == getrlimit(RLIMIT_NOFILE, &limit) && limit.rlim_cur / SHARE_OF_DESCRIPTORS < wanted) {
        return (unsigned) limit.rlim_cur / SHARE_OF_DESCRIPTORS + 1;
    }
    return wanted;
}

oc_status_t oc_gate_open(oc_loop_t *loop, int listening, unsigned max_strangers,
                         oc_gate_admit_t admit, void *arg, oc_gate_t **result, char *error,
                         size_t error_size)
{
    oc_gate_t *gate = calloc(1, sizeof(*gate));

    if (NULL == gate) {
        oc_fd_close(listening);
        snprintf(error, error_size, "out of memory");
        return OC_ERR_NO_MEMORY;
    }
    gate->loop = loop;
    gate->max_strangers = bounded_by_descriptors(max_strangers);
    gate->admit = admit;
    gate->arg = arg;
    gate->watch.ready = gate_ready;
    gate->watch.fd = listening;
    if (OC_OK != oc_loop_add(loop, &gate->watch, EPOLLIN)) {
        snprintf(error, error_size, "cannot watch the listening socket");
        oc_fd_close(gate->watch.fd);
        free(gate);
        return OC_ERR_SYSTEM;
    }
    *result = gate;
    return OC_OK;
}

void oc_gate_answer(oc_gate_t *gate, oc_gate_status_t status)
{
    gate->status = status;
}

void oc_gate_close(oc_gate_t *gate)
{
    if (NULL == gate) {
        return;
    }
    while (NULL != gate->strangers) {
        oc_fd_close(stranger_release(gate->strangers));
    }
    oc_loop_remove(gate->loop, &gate->watch);
    oc_fd_close(gate->watch.fd);
    free(gate);
}

int oc_gate_timeout(const oc_gate_t *gate)
{
    return gate->crowded ? (int) (crowd_patience(gate) / OC_MILLISECOND) + 1 : 1000;
}

bool oc_gate_has_strangers(const oc_gate_t *gate)
{
    return NULL != gate->strangers || 0 != gate->paused_until
           || oc_throttle_owes(&gate->complaints);
}

void oc_gate_tick(oc_gate_t *gate)
{
    uint64_t now = oc_clock_ns();

    if (0 != gate->paused_until && now > gate->paused_until) {
        gate->paused_until = 0;
        open_door(gate);
    }
    if (gate->crowded && (NULL == gate->strangers || oldest_had_time(gate, now))) {
        open_door(gate);
    }
    /* all have as much time: they are in the order of their deadlines */
    while (NULL != gate->strangers && now > gate->strangers->deadline) {
        send_oldest_away(gate, "no HELLO came in time");
    }
    sum_up_complaints(gate, now);
}
