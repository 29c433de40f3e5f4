/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Owns the tests of a log that nobody reads: a server whose stderr is a full pipe goes on serving
 * its jobs, also while strangers give it something to complain about, and says how many lines
 * were lost once somebody reads. What strangers do again and again is summed up.
 */
/* Test: default 60 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <arpa/inet.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/clock.h"
#include "tests/engine/harness.h"

/* Clients give a server up that has not answered for six seconds. */
#define LONGER_THAN_PATIENCE 9

#define STRANGERS 300

static test_server_t server;

static void complain_about_me(void)
{
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons(server.port),
                                  .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

    assert_true(fd >= 0);
    assert_int_equal(connect(fd, (struct sockaddr *) &address, sizeof(address)), 0);
    (void) send(fd, "GET / HTTP/1.1\r\n\r\n", 18, MSG_NOSIGNAL);
    close(fd);
}

/* The server's end stays as it is: only this open of the pipe does not wait. */
static void fill_log(void)
{
    char path[64], line[128];
    int fd;

    snprintf(path, sizeof(path), "/proc/self/fd/%d", server.output);
    fd = open(path, O_WRONLY | O_NONBLOCK | O_CLOEXEC);
    assert_true(fd >= 0);
    memset(line, '.', sizeof(line));
    line[sizeof(line) - 1] = '\n';
    assert_true(fcntl(fd, F_SETPIPE_SZ, 4096) > 0);
    while (write(fd, line, sizeof(line)) > 0) {
        continue;
    }
    while (write(fd, "\n", 1) > 0) {
        continue;
    }
    close(fd);
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

static void body_once(rank_t *rank)
{
    float one = 1, sum = 0;

    CHECK(OC_OK == rank_allreduce(rank, 0, OC_OP_SUM, OC_TYPE_FLOAT, &one, &sum, 1));
    CHECK(2 == sum);
}

static void test_full_log(void **state)
{
    static const char *const options[] = {"--log-level", "debug", NULL};
    oc_job_settings_t settings;
    ranks_t ranks;
    uint64_t begin;

    (void) state;
    server_start(&server, options);
    settings = test_settings(server.address);
    ranks_start(&ranks, 2, &settings, body_holds, 50);
    assert_true(ranks_reach(&ranks, 10));
    fill_log();
    begin = oc_clock_ns();
    while (oc_clock_ns() - begin < LONGER_THAN_PATIENCE * OC_SECOND) {
        complain_about_me();
        usleep(20000);
    }
    assert_true(ranks_reach(&ranks, atomic_load(&ranks.shared->operations) + 20));
    /* a job that comes now is served, too */
    assert_int_equal(ranks_run(2, &settings, body_once, 20), 0);
    atomic_store(&ranks.shared->signal, 1);
    assert_int_equal(ranks_wait(&ranks), 0);
    assert_true(server_said(&server, "lines were lost because nobody read them", 20000));
    assert_int_equal(server_stop(&server), 0);
}

/* Hundreds of strangers are ten lines in ten seconds, and a sum. */
static void test_many_complaints(void **state)
{
    char line[1024];
    unsigned refused = 0, sums = 0, more = 0, number;
    uint64_t begin, end;

    (void) state;
    server_start(&server, NULL);
    begin = oc_clock_ns();
    for (int i = 0; i < STRANGERS; i++) {
        complain_about_me();
    }
    end = oc_clock_ns() + 15 * OC_SECOND;
    while (refused + more < STRANGERS && oc_clock_ns() < end) {
        if (server_line(&server, line, sizeof(line), 100)) {
            refused += NULL != strstr(line, " was refused: ");
            if (NULL != strstr(line, "more complaints about strangers")) {
                assert_int_equal(sscanf(strstr(line, "warning: "), "warning: %u more", &number), 1);
                more += number;
                sums++;
            }
        }
    }
    assert_true(sums >= 1);
    assert_true(refused >= 1);
    assert_true(refused <= 10 * ((oc_clock_ns() - begin) / (10 * OC_SECOND) + 1));
    /* of one that was gone before it was looked at there is nothing to say */
    assert_true(refused + more <= STRANGERS);
    assert_true(refused + more >= STRANGERS * 9 / 10);
    assert_int_equal(server_stop(&server), 0);
}

int main(int argc, char **argv)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_full_log),
        cmocka_unit_test(test_many_complaints),
    };

    if (argc > 1) {
        cmocka_set_test_filter(argv[1]);
    }
    signal(SIGPIPE, SIG_IGN);
    alarm(240);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
