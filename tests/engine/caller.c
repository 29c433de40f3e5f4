/* SPDX-License-Identifier: BSD-3-Clause */
/* What a caller says, and the judgement of the answers. */
#include "tests/engine/caller.h"

#include <arpa/inet.h>
#include <poll.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "net/socket.h"

static void __attribute__((format(printf, 2, 3))) complain(caller_t *caller, const char *format, ...)
{
    va_list args;

    if ('\0' == caller->wrong[0]) {
        va_start(args, format);
        vsnprintf(caller->wrong, sizeof(caller->wrong), format, args);
        va_end(args);
    }
}

bool caller_open(caller_t *caller, uint16_t port)
{
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons(port),
                                  .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

    memset(caller, 0, sizeof(*caller));
    if (fd < 0 || 0 != connect(fd, (struct sockaddr *) &address, sizeof(address))) {
        if (fd >= 0) {
            close(fd);
        }
        return false;
    }
    oc_socket_prepare(fd);
    oc_stream_init(&caller->stream, fd, OC_MAX_BODY);
    caller->open = true;
    return true;
}

void caller_close(caller_t *caller, bool reset)
{
    struct linger at_once = {.l_onoff = 1, .l_linger = 0};

    if (!caller->open) {
        return;
    }
    if (reset) {
        (void) setsockopt(caller->stream.fd, SOL_SOCKET, SO_LINGER, &at_once, sizeof(at_once));
    }
    oc_stream_close(&caller->stream);
    caller->open = false;
}

void caller_send(caller_t *caller, const uint8_t *bytes, size_t length)
{
    struct pollfd event = {.fd = caller->stream.fd, .events = POLLOUT};
    size_t at = 0;

    while (caller->open && at < length && poll(&event, 1, 1000) > 0) {
        ssize_t sent = send(caller->stream.fd, bytes + at, length - at, MSG_NOSIGNAL | MSG_DONTWAIT);

        if (sent <= 0) {
            return;
        }
        at += (size_t) sent;
    }
}

void caller_count(caller_t *caller, const oc_control_t *message)
{
    if (OC_CONTROL_JOIN == message->type) {
        caller->joins++;
    } else if (OC_CONTROL_PING == message->type) {
        caller->pings++;
        caller->last_ping = message->ping;
    } else if (OC_CONTROL_QUERY == message->type) {
        caller->queries++;
    } else if (OC_CONTROL_WATCH == message->type || OC_CONTROL_LOOK == message->type) {
        caller->watches++;
    }
}

void caller_count_any(caller_t *caller)
{
    caller->joins++;
    caller->pings++;
    caller->queries++;
    caller->watches++;
    caller->vague = true;
}

void caller_say(caller_t *caller, const oc_control_t *message)
{
    static uint8_t bytes[OC_MAX_HELLO_BODY + OC_FRAME_SIZE];
    size_t length = oc_control_encode(message, bytes, sizeof(bytes));

    if (0 == length || !caller->open) {
        return;
    }
    caller_count(caller, message);
    caller_send(caller, bytes, length);
}

static void judge(caller_t *caller, const oc_control_t *message)
{
    switch (message->type) {
    case OC_CONTROL_WELCOME:
        if (caller->welcomed || caller->refused) {
            complain(caller, "WELCOME comes after another answer");
        }
        caller->welcomed = true;
        break;
    case OC_CONTROL_REFUSE:
        if (caller->welcomed) {
            complain(caller, "REFUSE comes after WELCOME");
        }
        caller->refused = true;
        break;
    case OC_CONTROL_JOINED:
        if (++caller->joined > caller->joins) {
            complain(caller, "more JOINEDs come than JOINs were sent");
        }
        break;
    case OC_CONTROL_PONG:
        if (++caller->pongs > caller->pings) {
            complain(caller, "more PONGs come than PINGs were sent");
        }
        if (!caller->vague && caller->pongs == caller->pings && message->ping != caller->last_ping) {
            complain(caller, "PONG %u answers PING %u", message->ping, caller->last_ping);
        }
        break;
    case OC_CONTROL_GROUP_ERROR:
    case OC_CONTROL_JOB_ERROR:
    case OC_CONTROL_DRAIN:
        caller->failed = true;
        break;
    case OC_CONTROL_LOST:
    case OC_CONTROL_PING: /* for a leaf */
        break;
    case OC_CONTROL_STATUS:
        if (++caller->statuses > caller->queries) {
            complain(caller, "more STATUSes come than QUERYs were sent");
        }
        break;
    case OC_CONTROL_SIGHT:
        if (++caller->sights > caller->watches) {
            complain(caller, "more SIGHTs come than WATCHes and LOOKs were sent");
        }
        break;
    default:
        complain(caller, "message %u comes, which is no server's", message->type);
    }
    if (!caller->welcomed && OC_CONTROL_REFUSE != message->type
        && OC_CONTROL_JOB_ERROR != message->type && OC_CONTROL_STATUS != message->type) {
        complain(caller, "message %u comes before WELCOME", message->type);
    }
}

void caller_hear(caller_t *caller)
{
    oc_status_t read_status, status;
    oc_control_t message;
    size_t used;

    if (!caller->open) {
        return;
    }
    read_status = oc_stream_read(&caller->stream);
    while (OC_OK == (status = oc_stream_next(&caller->stream, &message, &used))) {
        judge(caller, &message);
        oc_stream_drop(&caller->stream, used);
    }
    if (OC_IN_PROGRESS != status) {
        complain(caller, "what comes is no message (%s)", oc_status_string(status));
    }
    if (OC_OK != read_status) {
        caller_close(caller, false);
    }
}
