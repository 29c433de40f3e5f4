/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Owns the tests of strangers at the control port of a real server: whatever they send, the
 * server says no where it can, notes it, lives on and serves a real group afterwards.
 */
/* Test: quick 120; all 120 x10; threads: default 120 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <arpa/inet.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "protocol/control.h"
#include "server/job/embedded.h"
#include "tests/engine/harness.h"

#define MANY 300

static test_server_t server;
static uint8_t address_bytes[64];
static uint8_t bytes[OC_MAX_HELLO_BODY + OC_FRAME_SIZE + 4096];

/* ---- a stranger ---- */

static int stranger_at(uint16_t port)
{
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons(port),
                                  .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

    assert_true(fd >= 0);
    assert_int_equal(connect(fd, (struct sockaddr *) &address, sizeof(address)), 0);
    return fd;
}

static int stranger(void)
{
    return stranger_at(server.port);
}

static void say(int fd, const void *data, size_t length)
{
    size_t at = 0;

    while (at < length) {
        ssize_t sent = send(fd, (const uint8_t *) data + at, length - at, MSG_NOSIGNAL);

        if (sent <= 0) {
            return;
        }
        at += (size_t) sent;
    }
}

/* What comes until the server closes: its length; -1 when it does not close in time. */
static long listen_to(int fd, uint8_t *buffer, size_t size, int timeout_ms)
{
    uint64_t end = oc_clock_ns() + (uint64_t) timeout_ms * OC_MILLISECOND;
    struct pollfd event = {.fd = fd, .events = POLLIN};
    size_t got = 0;

    while (oc_clock_ns() < end) {
        if (poll(&event, 1, 100) > 0) {
            ssize_t more = recv(fd, buffer + got, size - got, 0);

            if (more <= 0) {
                return (long) got;
            }
            got += (size_t) more;
        }
    }
    return -1;
}

static void expect_refusal(int fd, oc_status_t status, const char *part, int timeout_ms)
{
    uint8_t answer[OC_FRAME_SIZE + OC_MAX_TEXT + 64];
    char text[OC_MAX_TEXT + 1];
    oc_control_t message;
    long length = listen_to(fd, answer, sizeof(answer), timeout_ms);

    close(fd);
    assert_true(length > 0);
    assert_int_equal(oc_control_decode(answer, (size_t) length, sizeof(answer), &message), length);
    assert_int_equal(message.type, OC_CONTROL_REFUSE);
    assert_int_equal(message.notice.status, status);
    oc_control_text(&message.notice.text, text, sizeof(text));
    if (NULL == strstr(text, part)) {
        fail_msg("\"%s\" does not say \"%s\"", text, part);
    }
}

static oc_control_t hello(uint8_t job, uint8_t key)
{
    oc_control_t message = {.type = OC_CONTROL_HELLO};

    message.hello.version_min = OC_PROTOCOL_VERSION_MIN;
    message.hello.version_max = OC_PROTOCOL_VERSION_MAX;
    memset(message.hello.job_id, job, OC_JOB_ID_SIZE);
    memset(message.hello.job_key, key, OC_JOB_KEY_SIZE);
    message.hello.address = (oc_bytes_t) {.data = address_bytes, .length = sizeof(address_bytes)};
    return message;
}

static size_t encode(const oc_control_t *message)
{
    return oc_control_encode(message, bytes, sizeof(bytes));
}

/* ---- a real group ---- */

static void body_real(rank_t *rank)
{
    float send[5000], recv[5000], expected[5000];

    fill_contribution(send, OC_TYPE_FLOAT, 5000, rank->rank, 1);
    fill_expected(expected, OC_OP_SUM, OC_TYPE_FLOAT, 5000, rank->num_ranks, 1);
    CHECK(OC_OK == rank_allreduce(rank, 0, OC_OP_SUM, OC_TYPE_FLOAT, send, recv, 5000));
    CHECK(0 == memcmp(recv, expected, sizeof(recv)));
}

static void expect_service(void)
{
    oc_job_settings_t settings = test_settings(server.address);

    assert_int_equal(ranks_run(2, &settings, body_real, 20), 0);
    assert_int_equal(waitpid(server.pid, NULL, WNOHANG), 0);
}

/* ---- tests ---- */

static void test_garbage(void **state)
{
    int fd = stranger();

    (void) state;
    say(fd, "GET / HTTP/1.1\r\nHost: x\r\n\r\n", 27);
    expect_refusal(fd, OC_ERR_INVALID, "not a HELLO", 3000);
    assert_true(server_said(&server, "was refused", 20000));
    fd = stranger();
    say(fd, "x", 1);
    expect_refusal(fd, OC_ERR_INVALID, "not a HELLO", 3000);
    fd = stranger();
    memset(bytes, 0, sizeof(bytes));
    say(fd, bytes, sizeof(bytes));
    close(fd);
    expect_service();
}

static void test_wrong_version(void **state)
{
    oc_control_t message = hello(1, 1);
    size_t length;
    int fd = stranger();

    (void) state;
    length = encode(&message);
    bytes[4] = 99;
    say(fd, bytes, length);
    expect_refusal(fd, OC_ERR_VERSION, "another protocol version", 3000);
    message.hello.version_min = OC_PROTOCOL_VERSION_MAX + 1;
    message.hello.version_max = OC_PROTOCOL_VERSION_MAX + 5;
    fd = stranger();
    say(fd, bytes, encode(&message));
    expect_refusal(fd, OC_ERR_VERSION, "it speaks protocol", 3000);
    message.hello.version_min = 0;
    message.hello.version_max = 0;
    fd = stranger();
    say(fd, bytes, encode(&message));
    expect_refusal(fd, OC_ERR_VERSION, "it speaks protocol", 3000);
    assert_true(server_said(&server, "it speaks protocol", 20000));
    expect_service();
}

/* Messages that come later in the conversation, and a server's own ones. */
static void test_other_messages(void **state)
{
    static const uint16_t types[] = {OC_CONTROL_PING, OC_CONTROL_PONG, OC_CONTROL_LEAVE,
                                     OC_CONTROL_BYE, OC_CONTROL_DRAIN};

    (void) state;
    for (size_t i = 0; i < sizeof(types) / sizeof(types[0]); i++) {
        oc_control_t message = {.type = types[i]};
        int fd = stranger();

        say(fd, bytes, encode(&message));
        expect_refusal(fd, OC_ERR_INVALID, "not a HELLO", 3000);
    }
    expect_service();
}

/* Messages that fit one after the other into buffer, until as many have come or nothing more does. */
static unsigned hear_status(int fd, unsigned count, oc_control_t *last)
{
    static uint8_t answers[4096];
    uint64_t end = oc_clock_ns() + 5 * OC_SECOND;
    size_t got = 0, at = 0;
    unsigned heard = 0;

    while (heard < count && oc_clock_ns() < end) {
        struct pollfd event = {.fd = fd, .events = POLLIN};
        long used = oc_control_decode(answers + at, got - at, sizeof(answers), last);

        if (used > 0 && OC_CONTROL_STATUS == last->type) {
            heard++;
            at += (size_t) used;
        } else if (used != 0) {
            return heard;
        } else if (poll(&event, 1, 100) > 0) {
            ssize_t more = recv(fd, answers + got, sizeof(answers) - got, 0);

            if (more <= 0) {
                return heard;
            }
            got += (size_t) more;
        }
    }
    return heard;
}

/* Anybody may ask how it is, several times at once, but not for ever; and say HELLO afterwards. */
static void test_query(void **state)
{
    oc_control_t query = {.type = OC_CONTROL_QUERY}, status, message = hello(1, 1);
    size_t length = encode(&query);
    int fd = stranger();

    (void) state;
    for (unsigned i = 0; i < 3; i++) {
        say(fd, bytes, length);
    }
    assert_int_equal(hear_status(fd, 3, &status), 3);
    assert_int_equal(status.status.version_min, OC_PROTOCOL_VERSION_MIN);
    assert_int_equal(status.status.version_max, OC_PROTOCOL_VERSION_MAX);
    assert_int_equal(status.status.jobs, 0);
    assert_int_equal(status.status.max_jobs, 64);
    assert_int_equal(status.status.aggregators, 1);
    assert_true(status.status.memory_limit == 1ull << 30);
    message.hello.version_min = message.hello.version_max = OC_PROTOCOL_VERSION_MAX + 1;
    say(fd, bytes, encode(&message));
    expect_refusal(fd, OC_ERR_VERSION, "it speaks protocol", 3000);
    fd = stranger();
    length = encode(&query);
    for (unsigned i = 0; i < 32; i++) {
        say(fd, bytes, length);
    }
    assert_int_equal(hear_status(fd, 32, &status), 32);
    say(fd, bytes, length);
    expect_refusal(fd, OC_ERR_LIMIT, "asks too often", 3000);
    expect_service();
}

static void test_oversize(void **state)
{
    static const uint8_t frame[OC_FRAME_SIZE] = {'O', 'C', 'S', 'T', OC_PROTOCOL_VERSION_MAX, 0,
                                                 OC_CONTROL_HELLO, 0, 0xff, 0xff, 0xff, 0xff};
    uint32_t body = OC_MAX_HELLO_BODY + 1;
    int fd = stranger();

    (void) state;
    say(fd, frame, sizeof(frame));
    expect_refusal(fd, OC_ERR_LIMIT, "not a HELLO", 3000);
    memset(bytes, 0xaa, sizeof(bytes));
    memcpy(bytes, frame, sizeof(frame));
    for (int i = 0; i < 4; i++) {
        bytes[8 + i] = (uint8_t) (body >> (8 * i));
    }
    fd = stranger();
    say(fd, bytes, OC_FRAME_SIZE + body);
    expect_refusal(fd, OC_ERR_LIMIT, "not a HELLO", 3000);
    expect_service();
}

static void test_more_than_hello(void **state)
{
    oc_control_t message = hello(2, 2);
    size_t length = encode(&message);
    int fd = stranger();

    (void) state;
    say(fd, bytes, length + 1);
    expect_refusal(fd, OC_ERR_INVALID, "more than a HELLO", 3000);
    expect_service();
}

/* Who goes again before the server has looked is nobody to complain of. */
static void test_gone_at_once(void **state)
{
    oc_control_t messages[] = {hello(2, 2), {.type = OC_CONTROL_BYE}};
    static uint8_t all[sizeof(bytes)];
    struct pollfd event = {.events = POLLIN};
    size_t length = 0;

    (void) state;
    for (unsigned i = 0; i < 2; i++) {
        size_t added = encode(&messages[i]);

        memcpy(all + length, bytes, added);
        length += added;
    }
    event.fd = stranger();
    say(event.fd, all, length);
    assert_int_equal(poll(&event, 1, 3000), 1);
    assert_int_equal(recv(event.fd, bytes, sizeof(bytes), 0), 0);
    close(event.fd);
    assert_false(server_said(&server, "more than a HELLO", 300));
    expect_service();
}

static void test_half_messages(void **state)
{
    oc_control_t message = hello(3, 3);
    size_t length = encode(&message);

    (void) state;
    for (size_t cut = 0; cut < length; cut += 7) {
        int fd = stranger();

        say(fd, bytes, cut);
        close(fd);
    }
    assert_true(server_said(&server, "left in the middle", 20000));
    expect_service();
}

/* A worker address that is none: the job's process judges it, and only that job suffers. */
static void expect_welcome(int fd)
{
    struct pollfd event = {.fd = fd, .events = POLLIN};
    uint8_t frame[OC_FRAME_SIZE];

    assert_int_equal(poll(&event, 1, 3000), 1);
    assert_int_equal(recv(fd, frame, sizeof(frame), MSG_PEEK | MSG_WAITALL), sizeof(frame));
    assert_int_equal(frame[6], OC_CONTROL_WELCOME);
}

/* The address is used when the process joins a group. */
static void test_rubbish_address(void **state)
{
    oc_control_t message = hello(4, 4);
    oc_control_t join = {.type = OC_CONTROL_JOIN,
                         .join = {.group = 1, .num_ranks = 1, .chunk_bytes = 8192, .window = 1}};
    uint8_t answer[256];
    int fd;

    (void) state;
    for (int fill = 0; fill < 256; fill += 51) {
        memset(message.hello.job_id, 40 + fill, OC_JOB_ID_SIZE);
        memset(address_bytes, fill, sizeof(address_bytes));
        fd = stranger();
        say(fd, bytes, encode(&message));
        expect_welcome(fd);
        say(fd, bytes, encode(&join));
        (void) listen_to(fd, answer, sizeof(answer), 300);
        close(fd);
    }
    memset(address_bytes, 0, sizeof(address_bytes));
    expect_service();
}

/* More addresses than are admitted one by one: nobody waits for long, and nobody is forgotten. */
static void test_many_hosts(void **state)
{
    static int fds[80];
    oc_control_t message = hello(6, 6);
    unsigned count = sizeof(fds) / sizeof(fds[0]);

    (void) state;
    message.hello.origins.count = OC_MAX_ORIGINS;
    for (unsigned i = 0; i < count; i++) {
        for (unsigned j = 0; j < OC_MAX_ORIGINS; j++) {
            memset(&message.hello.origins.addresses[j], 0xfd, sizeof(struct in6_addr));
            message.hello.origins.addresses[j].s6_addr[14] = (uint8_t) i;
            message.hello.origins.addresses[j].s6_addr[15] = (uint8_t) j;
        }
        fds[i] = stranger();
        say(fds[i], bytes, encode(&message));
    }
    for (unsigned i = 0; i < count; i++) {
        expect_welcome(fds[i]);
    }
    /* the first end is that of the job */
    for (unsigned i = 0; i < count; i++) {
        close(fds[i]);
    }
    expect_service();
}

static void body_holds(rank_t *rank)
{
    float one = 1, sum = 0;

    /* rank 0 says when it is enough, and all leave in the same round */
    while (sum < 1.5f) {
        one = 0 == rank->rank && 0 != atomic_load(&rank->shared->signal) ? 2.0f : 1.0f;
        CHECK(OC_OK == rank_allreduce(rank, 0, OC_OP_MAX, OC_TYPE_FLOAT, &one, &sum, 1));
        usleep(1000);
    }
}

/* Somebody who knows a job's name but not its key changes nothing for that job. */
static void test_wrong_key(void **state)
{
    oc_job_settings_t settings = test_settings(server.address);
    oc_control_t message = hello(0, 0);
    ranks_t ranks;
    bool reached;
    int fd;

    (void) state;
    ranks_start(&ranks, 2, &settings, body_holds, 30);
    reached = ranks_reach(&ranks, 10);
    memcpy(message.hello.job_id, ranks.shared->job.id, OC_JOB_ID_SIZE);
    memcpy(message.hello.job_key, ranks.shared->job.key, OC_JOB_KEY_SIZE);
    message.hello.job_key[OC_JOB_KEY_SIZE - 1] ^= 0x80;
    fd = stranger();
    say(fd, bytes, encode(&message));
    expect_refusal(fd, OC_ERR_REFUSED, "key", 3000);
    assert_true(server_said(&server, "key", 20000));
    reached = reached && ranks_reach(&ranks, atomic_load(&ranks.shared->operations) + 20);
    atomic_store(&ranks.shared->signal, 1);
    assert_int_equal(ranks_wait(&ranks), 0);
    assert_true(reached);
    expect_service();
}

static void test_many_connections(void **state)
{
    static int fds[MANY];

    (void) state;
    for (int i = 0; i < MANY; i++) {
        fds[i] = stranger();
    }
    expect_service();
    for (int i = 0; i < MANY; i++) {
        close(fds[i]);
    }
    /* come and gone */
    for (int i = 0; i < MANY; i++) {
        close(stranger());
    }
    expect_service();
}

/* A byte a second is not a HELLO; nor is nothing at all. Others are served meanwhile. */
static void test_slow(void **state)
{
    oc_control_t message = hello(5, 5);
    size_t length = encode(&message);
    int slow = stranger(), silent = stranger();
    uint64_t begin = oc_clock_ns();

    (void) state;
    expect_service();
    for (size_t i = 0; i < length && oc_clock_ns() - begin < 4 * OC_SECOND; i++) {
        say(slow, bytes + i, 1);
        usleep(500000);
    }
    expect_refusal(silent, OC_ERR_TIMEOUT, "in time", 5000);
    expect_refusal(slow, OC_ERR_TIMEOUT, "in time", 2000);
    assert_true(oc_clock_ns() - begin < 8 * OC_SECOND);
    assert_true(oc_clock_ns() - begin > 4 * OC_SECOND);
    assert_true(server_said(&server, "no HELLO came in time", 20000));
    expect_service();
}

/* The same gate inside an MPI process: it has a deadline too, also before the first session. */
static void test_slow_at_embedded(void **state)
{
    uint8_t id[OC_JOB_ID_SIZE] = {1}, key[OC_JOB_KEY_SIZE] = {2};
    oc_embedded_config_t config = {.job_id = id, .job_key = key, .memory_limit = 1u << 24};
    oc_embedded_t *embedded = NULL;
    oc_control_t message = hello(9, 9);
    char error[256] = "";
    uint8_t answer[512];
    int fd;
    long got;

    (void) state;
    assert_int_equal(oc_embedded_open(&config, &embedded, error, sizeof(error)), OC_OK);
    fd = stranger_at(oc_embedded_port(embedded));
    say(fd, bytes, encode(&message));
    expect_refusal(fd, OC_ERR_REFUSED, "does not belong to this job", 3000);
    fd = stranger_at(oc_embedded_port(embedded));
    got = listen_to(fd, answer, sizeof(answer), 8000);
    close(fd);
    assert_false(oc_embedded_failed(embedded));
    oc_embedded_close(embedded);
    assert_true(got > 0);
}

/* Clients that the process of their job has no descriptors for are closed, and the log says why. */
static void be_short_of_descriptors(void)
{
    struct rlimit limit = {.rlim_cur = 48, .rlim_max = 48};
    oc_control_t message = hello(11, 11);
    size_t length = encode(&message);

    if (0 != setrlimit(RLIMIT_NOFILE, &limit)) {
        _exit(EXIT_FAILURE);
    }
    server_start(&server, NULL);
    for (int i = 0; i < 40; i++) {
        say(stranger(), bytes, length);
    }
    if (!server_said(&server, "its process may have 48 descriptors", 10000)) {
        _exit(EXIT_FAILURE);
    }
    (void) server_stop(&server);
    _exit(EXIT_SUCCESS);
}

static void test_descriptors(void **state)
{
    int status = -1;
    pid_t pid;

    (void) state;
    fflush(NULL);
    pid = fork();
    if (0 == pid) {
        be_short_of_descriptors();
    }
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_int_equal(status, 0);
}

/* Any bytes behind a right magic, and right frames with any body. */
static void test_random(void **state)
{
    uint32_t random = 2463534242u;

    (void) state;
    for (int i = 0; i < 400; i++) {
        size_t length = 12 + random % 400;
        int fd = stranger();

        for (size_t at = 0; at < length; at++) {
            random = random * 1664525u + 1013904223u;
            bytes[at] = (uint8_t) (random >> 24);
        }
        memcpy(bytes, "OCST\1\0", 6);
        if (i % 2) {
            bytes[6] = OC_CONTROL_HELLO;
            bytes[7] = 0;
            bytes[8] = (uint8_t) (length - 12);
            bytes[9] = (uint8_t) ((length - 12) >> 8);
            bytes[10] = bytes[11] = 0;
        }
        say(fd, bytes, length);
        close(fd);
    }
    expect_service();
}

static int setup(void **state)
{
    (void) state;
    server_start(&server, NULL);
    return 0;
}

/* After all this it ends as it should, when it is told to. */
static int teardown(void **state)
{
    int status = server_stop(&server);

    (void) state;
    if (0 != status) {
        fprintf(stderr, "the server ended with status 0x%x\n", status);
    }
    return 0 == status ? 0 : -1;
}

#define AT_SERVER(test) cmocka_unit_test_setup_teardown(test, setup, teardown)

int main(int argc, char **argv)
{
    static const struct CMUnitTest tests[] = {
        AT_SERVER(test_garbage),
        AT_SERVER(test_wrong_version),
        AT_SERVER(test_other_messages),
        AT_SERVER(test_query),
        AT_SERVER(test_oversize),
        AT_SERVER(test_more_than_hello),
        AT_SERVER(test_gone_at_once),
        AT_SERVER(test_half_messages),
        AT_SERVER(test_rubbish_address),
        AT_SERVER(test_many_hosts),
        AT_SERVER(test_wrong_key),
        AT_SERVER(test_many_connections),
        AT_SERVER(test_random),
        AT_SERVER(test_slow),
        cmocka_unit_test(test_slow_at_embedded),
        cmocka_unit_test(test_descriptors),
    };

    if (argc > 1) {
        cmocka_set_test_filter(argv[1]);
    }
    signal(SIGPIPE, SIG_IGN);
    alarm(480);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
