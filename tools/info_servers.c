/* SPDX-License-Identifier: BSD-3-Clause */
/* Connects to servers, one after the other, and sends QUERY a few times. */
#include "tools/info_servers.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "base/clock.h"
#include "base/descriptors.h"
#include "control/stream.h"
#include "net/address.h"
#include "net/socket.h"
#include "tools/info_tell.h"

#define QUERIES       16
#define PATIENCE_MS   5000
#define MAX_ADDRESSES 16

typedef struct {
    oc_server_status_t status;
    char release[64];
    uint64_t trips[QUERIES];    /* ns, sorted */
} answer_t;

static uint64_t deadline(void)
{
    return oc_clock_ns() + PATIENCE_MS * OC_MILLISECOND;
}

/* false, with a sentence in error, if nothing happens on the socket by then. */
static bool await(int fd, short events, uint64_t end, char *error, size_t error_size)
{
    struct pollfd event = {.fd = fd, .events = events};
    uint64_t now = oc_clock_ns();

    if (now < end && poll(&event, 1, (int) ((end - now) / OC_MILLISECOND) + 1) > 0) {
        return true;
    }
    snprintf(error, error_size, "no whole answer comes within %d seconds: is the port blocked?",
             PATIENCE_MS / 1000);
    return false;
}

/* -1 with errno or a sentence in error. */
static int connect_to(const oc_sockaddr_t *address, char *error, size_t error_size)
{
    int fd = oc_connect_start(address), failed = fd < 0 ? errno : 0;
    socklen_t length = sizeof(failed);

    if (fd >= 0 && !await(fd, POLLOUT, deadline(), error, error_size)) {
        oc_fd_close(fd);
        return -1;
    }
    if (fd >= 0 && 0 != getsockopt(fd, SOL_SOCKET, SO_ERROR, &failed, &length)) {
        failed = errno;
    }
    if (0 == failed) {
        return fd;
    }
    snprintf(error, error_size, "%s%s", strerror(failed),
             ECONNREFUSED == failed ? ": start optcast-server there" : "");
    oc_fd_close(fd);
    return -1;
}

/* Any of its addresses. */
static int reach(const oc_host_port_t *name, char *error, size_t error_size)
{
    oc_sockaddr_t addresses[MAX_ADDRESSES];
    unsigned count = 0;
    int fd = -1;

    if (OC_OK != oc_resolve_all(name, addresses, MAX_ADDRESSES, &count, error, error_size)) {
        return -1;
    }
    for (unsigned i = 0; i < count && fd < 0; i++) {
        fd = connect_to(&addresses[i], error, error_size);
    }
    return fd;
}

/* What it says of itself; false with what it, or this program, says is wrong. */
static bool take(const oc_control_t *message, answer_t *answer, char *error, size_t error_size)
{
    if (OC_CONTROL_STATUS == message->type) {
        answer->status = message->status;
        oc_control_text(&message->status.release, answer->release, sizeof(answer->release));
        return true;
    }
    if (OC_CONTROL_REFUSE == message->type) {
        oc_control_text(&message->notice.text, error, error_size);
    } else {
        snprintf(error, error_size, "it answers with a message of type %u", message->type);
    }
    return false;
}

static bool hear(oc_stream_t *stream, answer_t *answer, char *error, size_t error_size)
{
    oc_status_t status, read_status = OC_OK;
    uint64_t end = deadline(); /* of the whole answer, however many pieces it comes in */
    oc_control_t message;
    size_t used;
    bool good;

    while (OC_IN_PROGRESS == (status = oc_stream_next(stream, &message, &used))) {
        if (OC_OK != read_status) {
            snprintf(error, error_size, "it closes the connection");
            return false;
        }
        if (!await(stream->fd, POLLIN, end, error, error_size)) {
            return false;
        }
        read_status = oc_stream_read(stream);
    }
    if (OC_OK != status) {
        snprintf(error, error_size, "what answers is no optcast-server, or one of another version");
        return false;
    }
    good = take(&message, answer, error, error_size);
    oc_stream_drop(stream, used);
    return good;
}

static int by_length(const void *a, const void *b)
{
    const uint64_t *x = a, *y = b;

    return (*x > *y) - (*x < *y);
}

static bool ask(oc_stream_t *stream, answer_t *answer, char *error, size_t error_size)
{
    static const oc_control_t query = {.type = OC_CONTROL_QUERY};

    for (unsigned i = 0; i < QUERIES; i++) {
        uint64_t begin = oc_clock_ns();

        if (OC_OK != oc_stream_send(stream, &query)) {
            snprintf(error, error_size, "it closes the connection");
            return false;
        }
        if (!hear(stream, answer, error, error_size)) {
            return false;
        }
        answer->trips[i] = oc_clock_ns() - begin;
    }
    qsort(answer->trips, QUERIES, sizeof(answer->trips[0]), by_length);
    return true;
}

static double microseconds(uint64_t ns)
{
    return (double) ns / 1000;
}

/* Whether a job that begins now would be served, and a sentence about it. */
static bool judge(const oc_server_status_t *status, char *text, size_t size)
{
    bool speaks = status->version_min <= OC_PROTOCOL_VERSION_MAX
                  && status->version_max >= OC_PROTOCOL_VERSION_MIN;
    bool has_room = status->jobs < status->max_jobs;

    if (!speaks) {
        snprintf(text, size, "it speaks protocol %u to %u, this release %d to %d: install the same "
                 "on both", status->version_min, status->version_max, OC_PROTOCOL_VERSION_MIN,
                 OC_PROTOCOL_VERSION_MAX);
    } else if (!has_room) {
        snprintf(text, size, "it has %u jobs, which is its max-jobs: wait, or start it with more",
                 status->jobs);
    } else {
        snprintf(text, size, "%u of %u jobs, %u aggregator%s and %llu bytes for each", status->jobs,
                 status->max_jobs, status->aggregators, 1 == status->aggregators ? "" : "s",
                 (unsigned long long) status->memory_limit);
    }
    return speaks && has_room;
}

static void print_answer(const answer_t *answer)
{
    printf("  %-28s release %s, protocol %u to %u, round trip %.0f us (%.0f to %.0f)\n", "",
           answer->release, answer->status.version_min, answer->status.version_max,
           microseconds(answer->trips[QUERIES / 2]), microseconds(answer->trips[0]),
           microseconds(answer->trips[QUERIES - 1]));
}

static void tell_answer(const char *name, const answer_t *answer)
{
    const oc_server_status_t *status = &answer->status;

    printf("optcast:server:%s:release:%s\n"
           "optcast:server:%s:protocol:%u to %u\n"
           "optcast:server:%s:jobs:%u\n"
           "optcast:server:%s:max_jobs:%u\n"
           "optcast:server:%s:round_trip_us:%.1f\n",
           name, answer->release, name, status->version_min, status->version_max, name,
           status->jobs, name, status->max_jobs, name,
           microseconds(answer->trips[QUERIES / 2]));
}

static void print_verdict(const char *name, bool good, const char *text, const answer_t *answer)
{
    if (oc_info_is_parsable()) {
        printf("optcast:server:%s:serves:%s%s%s\n", name, good ? "yes" : "no", good ? "" : ": ",
               good ? "" : text);
    } else {
        printf("%s: %s\n", good ? "yes" : "no", text);
    }
    if (NULL == answer) {
        return;
    }
    if (oc_info_is_parsable()) {
        tell_answer(name, answer);
    } else {
        print_answer(answer);
    }
}

static bool ask_one(const oc_host_port_t *name)
{
    char text[OC_HOST_SIZE + 8], verdict[512] = "";
    answer_t answer = {.release = ""};
    oc_stream_t stream;
    bool answers, good;
    int fd;

    snprintf(text, sizeof(text), "%s:%u", name->host, name->port);
    if (!oc_info_is_parsable()) {
        printf("  %-28s ", text);
        fflush(stdout);
    }
    fd = reach(name, verdict, sizeof(verdict));
    oc_stream_init(&stream, fd, OC_MAX_BODY);
    answers = fd >= 0 && ask(&stream, &answer, verdict, sizeof(verdict));
    oc_stream_close(&stream);
    good = answers && judge(&answer.status, verdict, sizeof(verdict));
    print_verdict(text, good, verdict, answers ? &answer : NULL);
    return good;
}

bool oc_info_servers(const char *text)
{
    oc_server_list_t list = {.count = 0};
    char error[512];
    bool good = true;

    if (0 == strncmp(text, "embedded", strlen("embedded"))) {
        if (!oc_info_is_parsable()) {
            printf("  %s: servers inside a job, of which there are none to be asked\n", text);
        }
        return true;
    }
    if (OC_OK != oc_server_list_parse(text, &list, error, sizeof(error))) {
        fprintf(stderr, "optcast-info: --servers: %s\n", error);
        return false;
    }
    for (unsigned i = 0; i < list.count; i++) {
        good = ask_one(&list.servers[i].name) && good;
    }
    oc_server_list_free(&list);
    return good;
}
