/* SPDX-License-Identifier: BSD-3-Clause */
/* The states of a control connection, and what leads from one to the next. */
#include "control/uplink.h"

#include <assert.h>
#include <errno.h>
#include <poll.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>

#include "base/clock.h"
#include "base/limits.h"

static const oc_control_t bye = {.type = OC_CONTROL_BYE};

/* What may follow a state, by bits. Only builds with checks ask. */
static const unsigned successors[] __attribute__((unused)) = {
    [OC_UPLINK_CLOSED] = 1u << OC_UPLINK_CLOSED | 1u << OC_UPLINK_CONNECTING | 1u << OC_UPLINK_DEAD,
    [OC_UPLINK_CONNECTING] = 1u << OC_UPLINK_CLOSED | 1u << OC_UPLINK_CONNECTING
                             | 1u << OC_UPLINK_GREETING | 1u << OC_UPLINK_DEAD,
    [OC_UPLINK_GREETING] = 1u << OC_UPLINK_CLOSED | 1u << OC_UPLINK_READY | 1u << OC_UPLINK_DEAD,
    [OC_UPLINK_READY] = 1u << OC_UPLINK_CLOSED | 1u << OC_UPLINK_DEAD,
    [OC_UPLINK_DEAD] = 1u << OC_UPLINK_CLOSED,
};

static void uplink_become(oc_uplink_t *uplink, oc_uplink_state_t state)
{
    assert(successors[uplink->state] & 1u << state);
    uplink->since = state == uplink->state ? uplink->since : uplink->now;
    uplink->state = state;
}

static bool is_talking(const oc_uplink_t *uplink)
{
    return OC_UPLINK_GREETING == uplink->state || OC_UPLINK_READY == uplink->state;
}

int oc_uplink_fd(const oc_uplink_t *uplink)
{
    return uplink->dial.fd >= 0 ? uplink->dial.fd : uplink->stream.fd;
}

uint32_t oc_uplink_events(const oc_uplink_t *uplink)
{
    if (OC_UPLINK_CONNECTING == uplink->state) {
        return POLLOUT;
    }
    return oc_stream_wants_write(&uplink->stream) ? POLLIN | POLLOUT : POLLIN;
}

void oc_uplink_init(oc_uplink_t *uplink, const oc_uplink_owner_t *owner, void *arg,
                    const char *name, const oc_rhythm_t *rhythm)
{
    *uplink = (oc_uplink_t) {.owner = owner, .arg = arg, .name = name, .stream.fd = -1};
    oc_dial_init(&uplink->dial, NULL, 0);
    oc_pulse_init(&uplink->pulse, rhythm);
}

static void drop_socket(oc_uplink_t *uplink)
{
    assert(uplink->dial.fd < 0 || uplink->stream.fd < 0);
    if (oc_uplink_fd(uplink) >= 0 && NULL != uplink->owner->detach) {
        uplink->owner->detach(uplink);
    }
    oc_dial_stop(&uplink->dial);
    oc_stream_close(&uplink->stream);
}

void oc_uplink_fail(oc_uplink_t *uplink, oc_status_t status, const char *format, ...)
{
    oc_uplink_state_t before = uplink->state;
    int length;
    va_list args;

    if (OC_UPLINK_DEAD == before) {
        return;
    }
    length = snprintf(uplink->reason, sizeof(uplink->reason), "%s %.200s ", uplink->owner->title,
                      uplink->name);
    va_start(args, format);
    vsnprintf(uplink->reason + length, sizeof(uplink->reason) - (size_t) length, format, args);
    va_end(args);
    if (OC_UPLINK_GREETING == before) {
        (void) oc_stream_send(&uplink->stream, &bye);
    }
    drop_socket(uplink);
    uplink_become(uplink, OC_UPLINK_DEAD);
    uplink->owner->ended(uplink, status, before);
}

void oc_uplink_close(oc_uplink_t *uplink, const oc_control_t *last_words)
{
    if (NULL != last_words
        && (OC_UPLINK_READY == uplink->state
            || (OC_UPLINK_GREETING == uplink->state && OC_CONTROL_BYE == last_words->type))) {
        (void) oc_stream_send(&uplink->stream, last_words);
    }
    drop_socket(uplink);
    uplink_become(uplink, OC_UPLINK_CLOSED);
}

void oc_uplink_free(oc_uplink_t *uplink, const oc_control_t *last_words)
{
    oc_uplink_close(uplink, last_words);
    oc_dial_close(&uplink->dial);
}

/* ---- connecting ---- */

static bool uplink_attach(oc_uplink_t *uplink)
{
    return NULL == uplink->owner->attach || uplink->owner->attach(uplink);
}

static void connect_next(oc_uplink_t *uplink, uint64_t now)
{
    drop_socket(uplink);
    while (OC_IN_PROGRESS == oc_dial_next(&uplink->dial, now)) {
        uplink_become(uplink, OC_UPLINK_CONNECTING);
        if (uplink_attach(uplink)) {
            return;
        }
        uplink->dial.error = ENOMEM;
        oc_dial_stop(&uplink->dial);
    }
    oc_uplink_fail(uplink, OC_ERR_UNREACHABLE, "cannot be reached: %s",
                   strerror(uplink->dial.error));
}

void oc_uplink_open(oc_uplink_t *uplink, oc_sockaddr_t *candidates, unsigned num_candidates,
                    uint64_t now)
{
    assert(OC_UPLINK_CLOSED == uplink->state && NULL == uplink->dial.candidates);
    uplink->now = now;
    oc_dial_init(&uplink->dial, candidates, num_candidates);
    connect_next(uplink, now);
}

void oc_uplink_reopen(oc_uplink_t *uplink, uint64_t now)
{
    assert(OC_UPLINK_CLOSED == uplink->state && NULL != uplink->dial.candidates);
    uplink->now = now;
    oc_dial_again(&uplink->dial);
    connect_next(uplink, now);
}

static void greet(oc_uplink_t *uplink)
{
    oc_control_t message = {.type = OC_CONTROL_HELLO};

    uplink->unsent = OC_OK;
    message.hello.version_min = OC_PROTOCOL_VERSION_MIN;
    message.hello.version_max = OC_PROTOCOL_VERSION_MAX;
    oc_stream_init(&uplink->stream, oc_dial_take(&uplink->dial), OC_MAX_BODY);
    uplink_become(uplink, OC_UPLINK_GREETING);
    uplink->owner->hello(uplink, &message.hello);
    oc_uplink_send(uplink, &message);
}

static void check_connected(oc_uplink_t *uplink, uint64_t now, bool wanted)
{
    switch (oc_dial_look(&uplink->dial, now, wanted)) {
    case OC_OK:
        greet(uplink);
        break;
    case OC_IN_PROGRESS:
        break;
    default:
        connect_next(uplink, now);
    }
}

/* ---- messages ---- */

/* The next look finds the end, after what the server may have said before. */
static void uplink_break_off(oc_uplink_t *uplink, oc_status_t status)
{
    uplink->unsent = status;
    shutdown(uplink->stream.fd, SHUT_RDWR);
}

void oc_uplink_send(oc_uplink_t *uplink, const oc_control_t *message)
{
    oc_status_t status;

    if (!is_talking(uplink) || OC_OK != uplink->unsent) {
        return;
    }
    status = oc_stream_send(&uplink->stream, message);
    if (OC_OK != status) {
        uplink_break_off(uplink, status);
    }
}

void oc_uplink_ping(oc_uplink_t *uplink, uint64_t now)
{
    oc_control_t message = {.type = OC_CONTROL_PING};

    if (OC_UPLINK_READY == uplink->state && oc_pulse_ask(&uplink->pulse, now)) {
        message.ping = uplink->pulse.number;
        oc_uplink_send(uplink, &message);
    }
}

void oc_uplink_accept(oc_uplink_t *uplink)
{
    uplink_become(uplink, OC_UPLINK_READY);
    uplink->reason[0] = '\0';
    oc_pulse_begin(&uplink->pulse, uplink->now);
}

static void uplink_on_welcome(oc_uplink_t *uplink, const oc_welcome_t *welcome)
{
    if (OC_UPLINK_GREETING != uplink->state) {
        oc_uplink_fail(uplink, OC_ERR_INVALID, "sent WELCOME twice");
    } else if (welcome->version < OC_PROTOCOL_VERSION_MIN
               || welcome->version > OC_PROTOCOL_VERSION_MAX) {
        oc_uplink_fail(uplink, OC_ERR_VERSION, "answered in an unknown protocol version");
    } else {
        uplink->owner->welcome(uplink, welcome);
        assert(OC_UPLINK_GREETING != uplink->state);
    }
}

static void on_farewell(oc_uplink_t *uplink, const oc_control_t *message)
{
    char text[OC_MAX_TEXT + 1];

    oc_control_text(&message->notice.text, text, sizeof(text));
    if (OC_CONTROL_JOB_ERROR == message->type) {
        oc_uplink_fail(uplink, OC_ERR_REFUSED, "ended its service: %s", text);
    } else {
        oc_uplink_fail(uplink,
                       OC_ERR_TIMEOUT == message->notice.status ? OC_ERR_TIMEOUT : OC_ERR_REFUSED,
                       "refused: %s", text);
    }
}

static void uplink_handle(oc_uplink_t *uplink, const oc_control_t *message)
{
    switch (message->type) {
    case OC_CONTROL_WELCOME:
        uplink_on_welcome(uplink, &message->welcome);
        break;
    case OC_CONTROL_PONG:
        oc_pulse_answer(&uplink->pulse, message->ping);
        break;
    case OC_CONTROL_REFUSE:
    case OC_CONTROL_JOB_ERROR:
        on_farewell(uplink, message);
        break;
    default:
        if (!uplink->owner->message(uplink, message)) {
            oc_uplink_fail(uplink, OC_ERR_INVALID, "sent a message that only clients send");
        }
    }
}

static void on_gone(oc_uplink_t *uplink)
{
    if (OC_OK == uplink->unsent || OC_ERR_UNREACHABLE == uplink->unsent) {
        oc_uplink_fail(uplink, OC_ERR_UNREACHABLE, "is gone: it closed the connection");
    } else if (OC_ERR_TIMEOUT == uplink->unsent) {
        oc_uplink_fail(uplink, OC_ERR_TIMEOUT, "does not read what it is sent");
    } else {
        oc_uplink_fail(uplink, uplink->unsent, "cannot be sent a message: %s",
                       oc_status_string(uplink->unsent));
    }
}

/* Whether all that was to be sent went, or can still go; otherwise the connection is broken off. */
static bool uplink_flush(oc_uplink_t *uplink)
{
    oc_status_t status = OC_OK == uplink->unsent ? oc_stream_flush(&uplink->stream) : OC_OK;

    if (OC_OK != status) {
        uplink_break_off(uplink, status);
    }
    return OC_OK == uplink->unsent;
}

/* What came before the end is looked at first: it may say why. */
static void read_messages(oc_uplink_t *uplink)
{
    oc_status_t read_status = oc_stream_read(&uplink->stream), status = OC_OK;
    oc_control_t message;
    size_t used;

    while (is_talking(uplink)
           && OC_OK == (status = oc_stream_next(&uplink->stream, &message, &used))) {
        uplink_handle(uplink, &message);
        if (is_talking(uplink)) {
            oc_stream_drop(&uplink->stream, used);
        }
    }
    if (!is_talking(uplink)) {
        return;
    }
    if (OC_IN_PROGRESS != status) {
        oc_uplink_fail(uplink, status, "does not speak this protocol");
    } else if (OC_OK != read_status) {
        on_gone(uplink);
    }
}

static void read_and_write(oc_uplink_t *uplink)
{
    read_messages(uplink);
    if (is_talking(uplink) && !uplink_flush(uplink)) {
        /* now its end can be read, and before that what the server has said meanwhile */
        read_messages(uplink);
    }
}

static void check_pulse(oc_uplink_t *uplink, uint64_t now)
{
    if (oc_pulse_missed(&uplink->pulse, now)
        && (NULL == uplink->owner->waits || !uplink->owner->waits(uplink))) {
        oc_uplink_fail(uplink, OC_ERR_TIMEOUT, "stopped answering: no heartbeat for %llu seconds",
                       (unsigned long long) (uplink->pulse.rhythm.patience / OC_SECOND));
    }
}

void oc_uplink_look(oc_uplink_t *uplink, uint64_t now, bool wanted)
{
    uplink->now = now;
    if (OC_UPLINK_CONNECTING == uplink->state) {
        check_connected(uplink, now, wanted);
    }
    if (is_talking(uplink)) {
        read_and_write(uplink);
    }
    if (OC_UPLINK_READY == uplink->state) {
        check_pulse(uplink, now);
    }
}

void oc_uplink_lost(oc_uplink_t *uplink, uint64_t now)
{
    if (OC_UPLINK_READY == uplink->state) {
        oc_uplink_look(uplink, now, true);
    }
    if (OC_UPLINK_READY == uplink->state) {
        oc_uplink_fail(uplink, OC_ERR_UNREACHABLE, "is gone: the data connection broke");
    }
}
