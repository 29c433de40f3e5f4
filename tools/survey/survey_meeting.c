/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Whoever connects has a few seconds to say HELLO, beside all others: one that is silent holds up
 * nobody.
 */
#include "tools/survey/survey_meeting.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>

#include "base/clock.h"
#include "base/descriptors.h"
#include "net/socket.h"

#define DOOR     64u           /* connections that have not said HELLO yet */
#define PATIENCE (5 * OC_SECOND)
#define RETRY_MS 200

typedef struct {
    oc_survey_link_t link;     /* fd -1: a free place */
    uint64_t end;
} stranger_t;

typedef struct {
    oc_survey_meeting_t *meeting;
    stranger_t strangers[DOOR];
} door_t;

/* In a time that does not depend on where they differ. */
static bool is_token(const char *token, const char *other)
{
    char a[OC_SURVEY_TOKEN] = "", b[OC_SURVEY_TOKEN] = "";
    unsigned differs = 0;

    snprintf(a, sizeof(a), "%s", token);
    snprintf(b, sizeof(b), "%s", other);
    for (size_t i = 0; i < sizeof(a); i++) {
        differs |= (unsigned) (a[i] ^ b[i]);
    }
    return 0 == differs;
}

static void send_away(oc_survey_link_t *link, const char *text)
{
    oc_survey_message_t message = {.type = NULL == text ? OC_SURVEY_END : OC_SURVEY_REFUSED};

    if (NULL != text) {
        snprintf(message.text, sizeof(message.text), "%s", text);
    }
    (void) oc_survey_link_send(link, &message, oc_clock_ns() + OC_MILLISECOND);
    oc_survey_link_close(link);
}

static const oc_survey_guest_t *same_host(const oc_survey_meeting_t *meeting, uint64_t identity)
{
    for (uint32_t i = 0; i < meeting->count; i++) {
        if (identity == meeting->guests[i].hello.identity) {
            return &meeting->guests[i];
        }
    }
    return NULL;
}

/* The link becomes a guest's, or is closed. */
static void welcome(oc_survey_meeting_t *meeting, oc_survey_link_t *link,
                    const oc_survey_hello_t *hello)
{
    const oc_survey_guest_t *other = same_host(meeting, hello->identity);
    char text[OC_SURVEY_REASON];

    if (!is_token(meeting->token, hello->token)) {
        send_away(link, "this is another token: all processes need the same --token");
    } else if (NULL != other && meeting->processes) {
        meeting->spare++;
        send_away(link, NULL);
    } else if (NULL != other) {
        snprintf(text, sizeof(text), "%s takes part already, and one process of a host is enough",
                 other->hello.name);
        send_away(link, text);
    } else {
        meeting->guests[meeting->count++] = (oc_survey_guest_t) {*link, *hello};
        link->fd = -1;
    }
}

static void hear_stranger(oc_survey_meeting_t *meeting, stranger_t *stranger, uint64_t now)
{
    oc_survey_message_t message;
    oc_status_t status = oc_survey_link_take(&stranger->link, &message);

    if (OC_OK == status && OC_SURVEY_HELLO == message.type) {
        welcome(meeting, &stranger->link, &message.hello);
    } else if (OC_IN_PROGRESS != status || now >= stranger->end) {
        oc_survey_link_close(&stranger->link);
    }
}

static bool is_full(const oc_survey_meeting_t *meeting)
{
    return meeting->count + meeting->spare >= meeting->expected;
}

static void open_door(door_t *door, uint64_t now)
{
    for (unsigned i = 0; i < DOOR; i++) {
        stranger_t *stranger = &door->strangers[i];
        int fd;

        if (stranger->link.fd >= 0) {
            continue;
        }
        fd = oc_fd_make(accept(door->meeting->listen_fd, NULL, NULL));
        if (fd < 0) {
            return;
        }
        oc_socket_prepare(fd);
        oc_survey_link_init(&stranger->link, fd);
        stranger->end = now + PATIENCE;
    }
}

/* Whoever listens is not heard while all places are taken. */
static void door_sleep(const door_t *door)
{
    struct pollfd fds[DOOR + 1];
    unsigned used = 0;

    for (unsigned i = 0; i < DOOR; i++) {
        fds[i] = (struct pollfd) {.fd = door->strangers[i].link.fd, .events = POLLIN};
        used += fds[i].fd >= 0;
    }
    fds[DOOR] = (struct pollfd) {.fd = DOOR == used ? -1 : door->meeting->listen_fd,
                                 .events = POLLIN};
    (void) poll(fds, DOOR + 1, RETRY_MS);
}

static void watch_door(oc_survey_meeting_t *meeting, door_t *door)
{
    while (!is_full(meeting) && oc_clock_ns() < meeting->end) {
        door_sleep(door);
        open_door(door, oc_clock_ns());
        for (unsigned i = 0; i < DOOR && !is_full(meeting); i++) {
            if (door->strangers[i].link.fd >= 0) {
                hear_stranger(meeting, &door->strangers[i], oc_clock_ns());
            }
        }
    }
    for (unsigned i = 0; i < DOOR; i++) {
        if (door->strangers[i].link.fd >= 0) {
            send_away(&door->strangers[i].link, "as many hosts as were expected have come");
        }
    }
}

/* h2 comes before h10. */
static int by_name(const void *a, const void *b)
{
    const oc_survey_guest_t *x = a, *y = b;

    return strverscmp(x->hello.name, y->hello.name);
}

static void explain_absence(const oc_survey_meeting_t *meeting, char *error, size_t error_size)
{
    size_t used = (size_t) snprintf(error, error_size, "%u of %u %s have come in time:",
                                    meeting->count + meeting->spare, meeting->expected,
                                    meeting->processes ? "processes" : "hosts");

    for (uint32_t i = 0; i < meeting->count && used < error_size; i++) {
        used += (size_t) snprintf(error + used, error_size - used, "%s %s", i > 0 ? "," : "",
                                  meeting->guests[i].hello.name);
    }
    if (used < error_size) {
        snprintf(error + used, error_size - used, "; start one process on each host, and see "
                 "whether TCP to this one is blocked");
    }
}

bool oc_survey_meet(oc_survey_meeting_t *meeting, char *error, size_t error_size)
{
    oc_survey_message_t message;
    door_t *door = calloc(1, sizeof(*door));

    meeting->count = 1;
    if (NULL == door
        || OC_OK != oc_survey_link_await(&meeting->guests[0].link, &message,
                                         oc_clock_ns() + PATIENCE)) {
        snprintf(error, error_size, "out of memory");
        free(door);
        return false;
    }
    meeting->guests[0].hello = message.hello;
    door->meeting = meeting;
    for (unsigned i = 0; i < DOOR; i++) {
        door->strangers[i].link.fd = -1;
    }
    watch_door(meeting, door);
    free(door);
    if (!is_full(meeting)) {
        explain_absence(meeting, error, error_size);
        return false;
    }
    qsort(meeting->guests + 1, meeting->count - 1, sizeof(*meeting->guests), by_name);
    return true;
}

void oc_survey_part(oc_survey_guest_t *guests, uint32_t count, const char *text)
{
    for (uint32_t i = 0; i < count; i++) {
        send_away(&guests[i].link, text);
    }
}

/* -1: not this time. */
static int try_address(const oc_sockaddr_t *address, char *error, size_t error_size)
{
    int fd = oc_connect_start(address), failed = fd < 0 ? errno : 0;
    struct pollfd event = {.fd = fd, .events = POLLOUT};
    socklen_t length = sizeof(failed);
    char text[128];

    if (fd >= 0 && poll(&event, 1, (int) (PATIENCE / OC_MILLISECOND)) <= 0) {
        failed = ETIMEDOUT;
    } else if (fd >= 0 && 0 != getsockopt(fd, SOL_SOCKET, SO_ERROR, &failed, &length)) {
        failed = errno;
    }
    if (0 == failed) {
        return fd;
    }
    oc_sockaddr_text(address, text, sizeof(text));
    snprintf(error, error_size, "no coordinator answers at %s: %s", text, strerror(failed));
    if (fd >= 0) {
        oc_fd_close(fd);
    }
    return -1;
}

int oc_survey_reach(const oc_sockaddr_t *addresses, unsigned count, uint64_t end, char *error,
                    size_t error_size)
{
    static const struct timespec pause = {.tv_nsec = RETRY_MS * (long) OC_MILLISECOND};

    snprintf(error, error_size, "the coordinator has no address");
    while (oc_clock_ns() < end && count > 0) {
        for (unsigned i = 0; i < count; i++) {
            int fd = try_address(&addresses[i], error, error_size);

            if (fd >= 0) {
                return fd;
            }
        }
        nanosleep(&pause, NULL);
    }
    return -1;
}
