/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Owns the tests of crowds in front of a server: more than a thousand connections that say nothing
 * leave the process its descriptors, and whoever belongs to the job gets in among them. So it is
 * where no descriptor is left, and then nothing spins.
 */
/* Test: default 90 alone */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <arpa/inet.h>
#include <dirent.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "protocol/control.h"
#include "server/job/embedded.h"
#include "tests/engine/harness.h"

#define CROWD 1100

/* What an MPI process may have open by default, and what it may use itself. */
#define USUAL_LIMIT 1024
#define OWN_FILES   700

static const uint8_t id[OC_JOB_ID_SIZE] = {1}, key[OC_JOB_KEY_SIZE] = {2};

/* ---- connections ---- */

static int connection_to(uint16_t port)
{
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons(port),
                                  .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

    if (fd < 0 || 0 != connect(fd, (struct sockaddr *) &address, sizeof(address))) {
        return -1;
    }
    return fd;
}

/* Whether the server has closed it, within the time. */
static bool is_closed(int fd, int timeout_ms)
{
    uint64_t end = oc_clock_ns() + (uint64_t) timeout_ms * OC_MILLISECOND;
    struct pollfd event = {.fd = fd, .events = POLLIN};
    char rest[1024];

    while (poll(&event, 1, timeout_ms) > 0 && oc_clock_ns() < end) {
        if (recv(fd, rest, sizeof(rest), 0) <= 0) {
            return true;
        }
    }
    return false;
}

/* A process of the job says HELLO; true when it is welcome. */
static bool is_welcome_now(uint16_t port)
{
    static uint8_t bytes[OC_FRAME_SIZE + OC_MAX_HELLO_BODY], address[64];
    oc_control_t message = {.type = OC_CONTROL_HELLO};
    struct pollfd event = {.fd = connection_to(port), .events = POLLIN};
    uint8_t answer[65536];
    size_t length;
    ssize_t got = -1;

    message.hello.version_min = OC_PROTOCOL_VERSION_MIN;
    message.hello.version_max = OC_PROTOCOL_VERSION_MAX;
    memcpy(message.hello.job_id, id, sizeof(id));
    memcpy(message.hello.job_key, key, sizeof(key));
    message.hello.address = (oc_bytes_t) {.data = address, .length = sizeof(address)};
    length = oc_control_encode(&message, bytes, sizeof(bytes));
    if (event.fd >= 0 && (ssize_t) length == send(event.fd, bytes, length, MSG_NOSIGNAL)
        && 1 == poll(&event, 1, 3000)) {
        got = recv(event.fd, answer, sizeof(answer), 0);
    }
    close(event.fd);
    return got > OC_FRAME_SIZE && OC_CONTROL_WELCOME == answer[6];
}

/* As clients do it: a crowd may push in before the HELLO. */
static bool is_welcome(uint16_t port)
{
    uint64_t end = oc_clock_ns() + 5 * OC_SECOND;

    while (!is_welcome_now(port)) {
        if (oc_clock_ns() > end) {
            return false;
        }
        usleep(100000);
    }
    return true;
}

/* ---- the crowd, a process of its own ---- */

/* Who is sent away comes again: at most so many at a time, until it is ended. */
static void __attribute__((noreturn)) be_crowd(uint16_t port, int ready)
{
    struct rlimit limit = {.rlim_cur = CROWD + 100, .rlim_max = CROWD + 100};
    static int fds[CROWD];

    (void) setrlimit(RLIMIT_NOFILE, &limit);
    alarm(240);
    for (int i = 0; i < CROWD; i++) {
        fds[i] = connection_to(port);
    }
    (void) !write(ready, "", 1);
    for (int i = 0;; i = (i + 1) % CROWD) {
        if (fds[i] < 0 || is_closed(fds[i], 0)) {
            close(fds[i]);
            fds[i] = connection_to(port);
        }
        usleep(500);
    }
}

/* Returns when all were there. */
static pid_t crowd_start(uint16_t port)
{
    int ready[2];
    pid_t pid;
    char byte;

    assert_int_equal(pipe2(ready, O_CLOEXEC), 0);
    pid = fork();
    assert_true(pid >= 0);
    if (0 == pid) {
        be_crowd(port, ready[1]);
    }
    close(ready[1]);
    assert_int_equal(read(ready[0], &byte, 1), 1);
    close(ready[0]);
    return pid;
}

static void crowd_end(pid_t pid)
{
    kill(pid, SIGKILL);
    waitpid(pid, NULL, 0);
}

/* ---- this process ---- */

static void allow(rlim_t count, bool for_good)
{
    struct rlimit limit;

    getrlimit(RLIMIT_NOFILE, &limit);
    limit.rlim_cur = count;
    if (for_good) {
        limit.rlim_max = count;
    }
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &limit), 0);
}

static unsigned open_descriptors(void)
{
    DIR *folder = opendir("/proc/self/fd");
    unsigned count = 0;

    assert_non_null(folder);
    while (NULL != readdir(folder)) {
        count++;
    }
    closedir(folder);
    return count - 3;
}

static double cpu_seconds(void)
{
    struct timespec used;

    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &used);
    return (double) used.tv_sec + (double) used.tv_nsec * 1e-9;
}

static oc_embedded_t *embedded_start(void)
{
    oc_embedded_config_t config = {.job_id = id, .job_key = key, .memory_limit = 1u << 24};
    oc_embedded_t *embedded = NULL;
    char error[256] = "";

    assert_int_equal(oc_embedded_open(&config, &embedded, error, sizeof(error)), OC_OK);
    return embedded;
}

/* ---- tests ---- */

/* The application needs its descriptors, and the job its service. */
static void test_embedded(void **state)
{
    oc_embedded_t *embedded;
    static int files[OWN_FILES];
    pid_t crowd;

    (void) state;
    allow(USUAL_LIMIT, false);
    embedded = embedded_start();
    crowd = crowd_start(oc_embedded_port(embedded));
    for (int i = 0; i < OWN_FILES; i++) {
        files[i] = open("/dev/null", O_RDONLY | O_CLOEXEC);
        assert_true(files[i] >= 0);
    }
    assert_true(open_descriptors() < OWN_FILES + 150);
    for (int i = 0; i < OWN_FILES; i++) {
        close(files[i]);
    }
    assert_true(is_welcome(oc_embedded_port(embedded)));
    crowd_end(crowd);
    oc_embedded_close(embedded);
}

/* Whoever came first has had the most time for a HELLO. */
static void test_oldest_first(void **state)
{
    oc_embedded_t *embedded = embedded_start();
    int fds[70];

    (void) state;
    for (int i = 0; i < 70; i++) {
        fds[i] = connection_to(oc_embedded_port(embedded));
        assert_true(fds[i] >= 0);
    }
    for (int i = 0; i < 6; i++) {
        assert_true(is_closed(fds[i], 2000));
    }
    for (int i = 6; i < 70; i++) {
        assert_false(is_closed(fds[i], 0));
    }
    for (int i = 0; i < 70; i++) {
        close(fds[i]);
    }
    oc_embedded_close(embedded);
}

/* The application itself has used up its descriptors, and gives them back later. */
static void test_none_left(void **state)
{
    oc_embedded_t *embedded;
    static int files[USUAL_LIMIT];
    int last, waiting[3], silent[3];
    double used;

    (void) state;
    allow(256, false);
    embedded = embedded_start();
    for (int i = 0; i < 3; i++) {
        silent[i] = connection_to(oc_embedded_port(embedded));
        waiting[i] = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
        assert_true(silent[i] >= 0 && waiting[i] >= 0);
    }
    usleep(200000);
    for (last = 0; (files[last] = open("/dev/null", O_RDONLY | O_CLOEXEC)) >= 0; last++) {
        continue;
    }
    for (int i = 0; i < 3; i++) {
        struct sockaddr_in address = {.sin_family = AF_INET,
                                      .sin_port = htons(oc_embedded_port(embedded)),
                                      .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};

        assert_int_equal(connect(waiting[i], (struct sockaddr *) &address, sizeof(address)), 0);
    }
    /* those who have been silent give way */
    for (int i = 0; i < 3; i++) {
        assert_true(is_closed(silent[i], 2000));
    }
    used = cpu_seconds();
    sleep(3);
    assert_true(cpu_seconds() - used < 0.3);
    while (last > 0) {
        close(files[--last]);
    }
    assert_true(is_welcome(oc_embedded_port(embedded)));
    for (int i = 0; i < 3; i++) {
        close(silent[i]);
        close(waiting[i]);
    }
    oc_embedded_close(embedded);
}

/* Nobody is left to give way. */
static void test_none_at_all(void **state)
{
    oc_embedded_t *embedded;
    static int files[USUAL_LIMIT];
    struct sockaddr_in address;
    double used;
    int last, waiting;

    (void) state;
    allow(256, false);
    embedded = embedded_start();
    address = (struct sockaddr_in) {.sin_family = AF_INET,
                                    .sin_port = htons(oc_embedded_port(embedded)),
                                    .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    waiting = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    for (last = 0; (files[last] = open("/dev/null", O_RDONLY | O_CLOEXEC)) >= 0; last++) {
        continue;
    }
    assert_int_equal(connect(waiting, (struct sockaddr *) &address, sizeof(address)), 0);
    used = cpu_seconds();
    sleep(3);
    assert_true(cpu_seconds() - used < 0.3);
    while (last > 0) {
        close(files[--last]);
    }
    assert_true(is_welcome(oc_embedded_port(embedded)));
    close(waiting);
    oc_embedded_close(embedded);
}

static void body_real(rank_t *rank)
{
    float one = 1, sum = 0;

    CHECK(OC_OK == rank_allreduce(rank, 0, OC_OP_SUM, OC_TYPE_FLOAT, &one, &sum, 1));
    CHECK(2 == sum);
}

/* In a process of its own, which cannot have its descriptors back. */
static int serve_in_a_crowd(rlim_t descriptors)
{
    oc_job_settings_t settings;
    test_server_t server;
    pid_t crowd;
    int failed = 0;

    alarm(240);
    if (0 != descriptors) {
        allow(descriptors, true);
    }
    server_start(&server, NULL);
    settings = test_settings(server.address);
    if (0 != descriptors) {
        /* the crowd cannot be large in here, but it can be larger than this */
        crowd = fork();
        if (0 == crowd) {
            for (;;) {
                if (connection_to(server.port) < 0) {
                    usleep(1000);
                    closefrom(server.output + 1);
                }
            }
        }
        usleep(500000);
    } else {
        crowd = crowd_start(server.port);
    }
    for (int i = 0; i < 3; i++) {
        failed += 0 != ranks_run(2, &settings, body_real, 20);
    }
    crowd_end(crowd);
    failed += 0 != server_stop(&server);
    return failed;
}

static void check_daemon(rlim_t descriptors)
{
    int status;
    pid_t pid = fork();

    assert_true(pid >= 0);
    if (0 == pid) {
        _exit(serve_in_a_crowd(descriptors));
    }
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_int_equal(status, 0);
}

static void test_daemon(void **state)
{
    (void) state;
    check_daemon(0);
}

/* It may not have more of them than a few strangers would use up. */
static void test_poor_daemon(void **state)
{
    (void) state;
    check_daemon(64);
}

int main(int argc, char **argv)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_embedded),   cmocka_unit_test(test_oldest_first),
        cmocka_unit_test(test_none_left),  cmocka_unit_test(test_none_at_all),
        cmocka_unit_test(test_daemon),     cmocka_unit_test(test_poor_daemon),
    };

    if (argc > 1) {
        cmocka_set_test_filter(argv[1]);
    }
    signal(SIGPIPE, SIG_IGN);
    alarm(360);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
