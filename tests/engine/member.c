/* SPDX-License-Identifier: BSD-3-Clause */
/* Control messages and floods of a process that plays itself. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "tests/engine/member.h"

#include <arpa/inet.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/clock.h"
#include "net/socket.h"

/* Messages that UCX may have at a time. */
#define MOST_UNDER_WAY 64

/* Also on emulated processors. */
#define PATIENCE_MS 30000

uint32_t member_peer;

static void on_failed(void *arg)
{
    (void) arg;
}

static void call(member_t *member, uint16_t port)
{
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons(port),
                                  .sin_addr.s_addr = htonl(0 != member_peer ? member_peer
                                                                            : INADDR_LOOPBACK)};
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

    assert_true(fd >= 0);
    assert_int_equal(connect(fd, (struct sockaddr *) &address, sizeof(address)), 0);
    oc_socket_prepare(fd);
    oc_stream_init(&member->stream, fd, OC_MAX_BODY);
}

void member_say(member_t *member, const oc_control_t *message)
{
    assert_int_equal(oc_stream_send(&member->stream, message), OC_OK);
}

/* READY, for example, which nobody here needs. */
static void look_away(member_t *member)
{
    oc_unexpected_t message;

    (void) oc_worker_progress(member->worker);
    while (oc_unexpected_take(member->worker, 0, 0, &message)) {
        oc_unexpected_drop(member->worker, &message);
    }
}

bool member_hear(member_t *member, oc_control_t *message, unsigned timeout_ms)
{
    uint64_t end = oc_clock_ns() + timeout_ms * OC_MILLISECOND;
    oc_status_t status = OC_OK;
    size_t used;

    do {
        if (NULL != member->worker) {
            look_away(member);
        }
        status = oc_stream_read(&member->stream);
        if (OC_OK == oc_stream_next(&member->stream, message, &used)) {
            assert_in_range(used, 1, sizeof(member->kept));
            memcpy(member->kept, member->stream.in, used);
            oc_stream_drop(&member->stream, used);
            return oc_control_decode(member->kept, used, OC_MAX_BODY, message) > 0;
        }
        usleep(1000);
    } while (OC_OK == status && oc_clock_ns() < end);
    return false;
}

bool member_is_left(member_t *member, unsigned timeout_ms)
{
    uint64_t end = oc_clock_ns() + timeout_ms * OC_MILLISECOND;
    oc_control_t message;

    while (oc_clock_ns() < end) {
        if (!member_hear(member, &message, 1) && OC_OK != oc_stream_read(&member->stream)) {
            return true;
        }
    }
    return false;
}

void member_expect(member_t *member, uint16_t type, const char *part, unsigned timeout_ms)
{
    char text[OC_MAX_TEXT + 1];
    oc_control_t message = {.type = OC_CONTROL_PONG};

    while (OC_CONTROL_PONG == message.type) {
        assert_true(member_hear(member, &message, timeout_ms));
    }
    assert_int_equal(message.type, type);
    oc_control_text(&message.notice.text, text, sizeof(text));
    if (NULL == strstr(text, part)) {
        fail_msg("\"%s\" does not say \"%s\"", text, part);
    }
}

void member_prepare(member_t *member)
{
    char error[256];

    *member = (member_t) {.stream.fd = -1};
    assert_int_equal(oc_worker_open(NULL, &member->worker, error, sizeof(error)), OC_OK);
}

void member_hello(member_t *member, uint16_t port, const oc_job_t *job, uint32_t process)
{
    oc_control_t message = {.type = OC_CONTROL_HELLO};
    size_t length;

    message.hello.version_min = OC_PROTOCOL_VERSION_MIN;
    message.hello.version_max = OC_PROTOCOL_VERSION_MAX;
    memcpy(message.hello.job_id, job->id, OC_JOB_ID_SIZE);
    memcpy(message.hello.job_key, job->key, OC_JOB_KEY_SIZE);
    message.hello.process = process;
    message.hello.address.data = oc_worker_address(member->worker, &length);
    message.hello.address.length = (uint32_t) length;
    call(member, port);
    member_say(member, &message);
}

void member_greet(member_t *member, uint16_t port, const oc_job_t *job, uint32_t process)
{
    member_prepare(member);
    member_hello(member, port, job, process);
}

void member_welcome(member_t *member)
{
    oc_control_t message;

    assert_true(member_hear(member, &message, PATIENCE_MS));
    assert_int_equal(message.type, OC_CONTROL_WELCOME);
    assert_int_equal(oc_endpoint_open(member->worker, message.welcome.address[0].data, on_failed,
                                      NULL, &member->endpoint), OC_OK);
}

void member_open(member_t *member, uint16_t port, const oc_job_t *job, uint32_t process)
{
    member_greet(member, port, job, process);
    member_welcome(member);
}

oc_joined_t member_join(member_t *member, const oc_join_t *join)
{
    oc_control_t message = {.type = OC_CONTROL_JOIN, .join = *join};

    member_say(member, &message);
    do {
        assert_true(member_hear(member, &message, PATIENCE_MS));
    } while (OC_CONTROL_PONG == message.type);
    assert_int_equal(message.type, OC_CONTROL_JOINED);
    assert_int_equal(message.joined.group, join->group);
    return message.joined;
}

typedef struct {
    oc_transfer_t transfer;
    unsigned *under_way;
} flood_t;

static void on_gone(oc_transfer_t *transfer)
{
    flood_t *flood = (flood_t *) transfer;

    --*flood->under_way;
    free(flood);
}

/* Stops when the server is gone, or takes nothing more for a while. */
void member_flood(member_t *member, unsigned count, size_t length, uint64_t tag, uint64_t step)
{
    uint64_t last = oc_clock_ns();
    unsigned under_way = 0, begun = 0;
    uint8_t *data = calloc(1, length);

    assert_non_null(data);
    while ((begun < count || under_way > 0) && oc_clock_ns() < last + 2 * OC_SECOND) {
        while (begun < count && under_way < MOST_UNDER_WAY) {
            flood_t *flood = calloc(1, sizeof(*flood));

            assert_non_null(flood);
            flood->transfer.done = on_gone;
            flood->under_way = &under_way;
            under_way++;
            oc_send_eager(member->endpoint, &flood->transfer, data, length, tag + begun * step);
            begun++;
        }
        if (0 != oc_worker_progress(member->worker)) {
            last = oc_clock_ns();
        }
    }
    if (under_way > 0) {
        /* what is left ends with the worker */
        oc_endpoint_close(member->endpoint);
        member->endpoint = NULL;
        oc_worker_close(member->worker);
        member->worker = NULL;
    }
    free(data);
}

void member_close(member_t *member, bool in_order)
{
    oc_control_t message = {.type = OC_CONTROL_BYE};

    if (in_order) {
        (void) oc_stream_send(&member->stream, &message);
    }
    oc_stream_close(&member->stream);
    if (NULL != member->worker) {
        look_away(member);
    }
    oc_endpoint_close(member->endpoint);
    oc_worker_close(member->worker);
    member->endpoint = NULL;
    member->worker = NULL;
}
