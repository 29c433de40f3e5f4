/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Owns the engine's tests of data processes as the supervisor deals with them: those that hang, what
 * they know of each other, and clients that never join.
 * Test: default 120
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "tests/engine/harness.h"
#include "tests/engine/member.h"

static test_server_t server;

static oc_job_t new_job(void)
{
    oc_job_t job;

    fill_random(&job, sizeof(job));
    return job;
}

static oc_join_t join_of(uint32_t rank, uint32_t num_ranks)
{
    return (oc_join_t) {.group = 1, .num_ranks = num_ranks, .rank = rank, .chunk_bytes = 4096,
                        .window = 1};
}

static bool is_alive(pid_t pid)
{
    return 0 == kill(pid, 0) && memory_kib_of(pid, "VmRSS") > 0;
}

static bool is_gone_within(pid_t pid, unsigned seconds)
{
    uint64_t end = oc_clock_ns() + seconds * OC_SECOND;

    while (is_alive(pid) && oc_clock_ns() < end) {
        usleep(10000);
    }
    return !is_alive(pid);
}

/* ---- processes that hang ---- */

static void expect_place(void)
{
    oc_job_t job = new_job();
    member_t member;

    member_open(&member, server.port, &job, 0);
    member_close(&member, true);
}

static void expect_no_place(void)
{
    oc_job_t job = new_job();
    member_t member;

    member_greet(&member, server.port, &job, 0);
    member_expect(&member, OC_CONTROL_REFUSE, "which is its max-jobs", 5000);
    member_close(&member, false);
}

/*
 * Stopped, it is left alone as long as one of its clients is there, and others find no place; when
 * the last one has gone it is ended, and there is one.
 */
static void test_hang(void **state)
{
    const char *options[] = {"--max-jobs", "1", NULL};
    oc_join_t join = join_of(0, 2);
    oc_job_t job = new_job();
    member_t first, second;
    pid_t pid;

    (void) state;
    server_start(&server, options);
    member_open(&first, server.port, &job, 0);
    member_open(&second, server.port, &job, 1);
    (void) member_join(&first, &join);
    pid = server_data_process(&server);
    /* the supervisor has asked it since the clients came */
    usleep(3500000);
    assert_int_equal(kill(pid, SIGSTOP), 0);
    member_close(&first, false);
    usleep(15000000);
    assert_true(is_alive(pid));
    expect_no_place();
    member_close(&second, true);
    assert_true(is_gone_within(pid, 5));
    assert_true(server_said(&server, "does not answer, and its clients are gone: it is ended", 100));
    expect_place();
    assert_int_equal(server_stop(&server), 0);
}

/* It goes on as if nothing had been. */
static void test_continued(void **state)
{
    oc_join_t join = join_of(0, 1);
    oc_control_t message = {.type = OC_CONTROL_PING, .ping = 77};
    oc_job_t job = new_job();
    member_t member;
    pid_t pid;

    (void) state;
    server_start(&server, NULL);
    member_open(&member, server.port, &job, 0);
    (void) member_join(&member, &join);
    pid = server_data_process(&server);
    usleep(2500000);
    assert_int_equal(kill(pid, SIGSTOP), 0);
    usleep(14000000);
    assert_int_equal(kill(pid, SIGCONT), 0);
    member_say(&member, &message);
    assert_true(member_hear(&member, &message, 5000));
    assert_int_equal(message.type, OC_CONTROL_PONG);
    assert_int_equal(message.ping, 77);
    member_close(&member, true);
    assert_true(server_said(&server, "is over", 5000));
    assert_int_equal(server_stop(&server), 0);
}

int main(int argc, char **argv)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_hang),
        cmocka_unit_test(test_continued),
    };

    if (argc > 1) {
        cmocka_set_test_filter(argv[1]);
    }
    alarm(120);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
