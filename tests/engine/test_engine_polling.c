/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Owns the tests of how aggregators wait: asleep, or awake as long as they have groups and no
 * longer.
 */
/* Test: quick 120; all 120 x20 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "tests/engine/harness.h"

/* What the ranks are told. */
#define LEAVE_GROUP 1
#define END         2

/* How often the aggregator has gone to sleep, and whether it is asleep: S, or not: R. */
static unsigned long long sleeps(pid_t pid, char *state)
{
    char path[64], line[256];
    unsigned long long count = 0;
    FILE *file;

    snprintf(path, sizeof(path), "/proc/%d/task/%d/status", (int) pid,
             (int) thread_of(pid, "optcast-agg0"));
    file = fopen(path, "r");
    assert_non_null(file);
    while (NULL != fgets(line, sizeof(line), file)) {
        (void) !sscanf(line, "State: %c", state);
        (void) !sscanf(line, "voluntary_ctxt_switches: %llu", &count);
    }
    fclose(file);
    return count;
}

/* The wanted state when it stays so for ten looks, within ten seconds; else '?'. */
static char settles(pid_t pid, char wanted)
{
    uint64_t end = oc_clock_ns() + 10 * OC_SECOND;
    unsigned long long before = 0, now;
    unsigned streak = 0;
    char state = '?';

    while (streak < 10 && oc_clock_ns() < end) {
        usleep(20000);
        now = sleeps(pid, &state);
        streak = wanted == state && now == before ? streak + 1 : 0;
        before = now;
    }
    return streak < 10 ? '?' : state;
}

static void wait_for(rank_t *rank, int signal)
{
    for (int i = 0; i < 20000 && atomic_load(&rank->shared->signal) < signal; i++) {
        usleep(1000);
    }
    CHECK(atomic_load(&rank->shared->signal) >= signal);
}

static void body_once(rank_t *rank)
{
    float one = 1, sum = 0;

    CHECK(OC_OK == rank_allreduce(rank, 0, OC_OP_SUM, OC_TYPE_FLOAT, &one, &sum, 1));
    CHECK(2 == sum);
}

static void body_until_told(rank_t *rank)
{
    body_once(rank);
    wait_for(rank, LEAVE_GROUP);
    oc_group_destroy(rank->groups[0]);
    rank->groups[0] = NULL;
    rank_barrier(rank);
    atomic_fetch_add(&rank->shared->operations, 1);
    wait_for(rank, END);
}

/* How the aggregator waits while its job has a group, and after that. */
static void expect_of(ranks_t *ranks, pid_t process, char with_group)
{
    char with, without;

    with = settles(process, with_group);
    atomic_store(&ranks->shared->signal, LEAVE_GROUP);
    assert_true(ranks_reach(ranks, 4));
    without = settles(process, 'S');
    atomic_store(&ranks->shared->signal, END);
    assert_int_equal(ranks_wait(ranks), 0);
    assert_int_equal(with, with_group);
    assert_int_equal(without, 'S');
}

static void expect_server(const test_server_t *server, char with_group)
{
    oc_job_settings_t settings = test_settings(server->address);
    ranks_t ranks;

    ranks_start(&ranks, 2, &settings, body_until_told, 60);
    assert_true(ranks_reach(&ranks, 2));
    expect_of(&ranks, server_data_process(server), with_group);
}

static void expect(const char *polling, char with_group)
{
    const char *options[] = {"--polling", polling, NULL};
    test_server_t server;

    server_start(&server, options);
    expect_server(&server, with_group);
    assert_int_equal(server_stop(&server), 0);
}

static void test_adaptive(void **state)
{
    (void) state;
    expect("adaptive", 'S');
}

static void test_busy(void **state)
{
    (void) state;
    expect("busy", 'R');
}

/* On one of the processors that there are. */
static void server_start_narrow(test_server_t *server, const char *const *options)
{
    cpu_set_t before, one;
    int first = 0;

    assert_int_equal(sched_getaffinity(0, sizeof(before), &before), 0);
    while (!CPU_ISSET(first, &before)) {
        first++;
    }
    CPU_ZERO(&one);
    CPU_SET(first, &one);
    assert_int_equal(sched_setaffinity(0, sizeof(one), &one), 0);
    server_start(server, options);
    assert_int_equal(sched_setaffinity(0, sizeof(before), &before), 0);
}

/* Nothing is left for others. */
static void test_busy_warns(void **state)
{
    const char *options[] = {"--polling", "busy", NULL};
    oc_job_settings_t settings;
    test_server_t server;

    (void) state;
    server_start_narrow(&server, options);
    settings = test_settings(server.address);
    assert_int_equal(ranks_run(2, &settings, body_once, 60), 0);
    assert_true(server_said(&server, "with busy polling, aggregators take 1 of 1 processors",
                            5000));
    assert_int_equal(server_stop(&server), 0);
}

/* They share a processor, so they are not busy. */
static void test_too_many_for_busy(void **state)
{
    const char *options[] = {"--polling", "busy", "--aggregators", "2", NULL};
    test_server_t server;

    (void) state;
    server_start_narrow(&server, options);
    expect_server(&server, 'S');
    assert_true(server_said(&server, "2 aggregators would keep 1 processors from each other",
                            5000));
    assert_int_equal(server_stop(&server), 0);
}

static void body_full_host(rank_t *rank)
{
    oc_client_config_t config = {.settings = &rank->settings, .counters = &rank->counters,
                                 .process = rank->rank, .full_host = true};

    oc_client_destroy(rank->client);
    CHECK(OC_OK == oc_client_create(&config, &rank->client));
    body_until_told(rank);
}

static void expect_embedded(void (*body)(rank_t *rank), char with_group)
{
    oc_job_settings_t settings = test_settings("embedded:1");
    ranks_t ranks;

    settings.local.polling = OC_POLLING_BUSY;
    ranks_start(&ranks, 2, &settings, body, 60);
    assert_true(ranks_reach(&ranks, 2));
    expect_of(&ranks, ranks.pids[0], with_group);
}

/* Ranks that take all processors leave none to be busy on. */
static void test_embedded(void **state)
{
    (void) state;
    expect_embedded(body_until_told, 'R');
    expect_embedded(body_full_host, 'S');
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_adaptive),
        cmocka_unit_test(test_busy),
        cmocka_unit_test(test_busy_warns),
        cmocka_unit_test(test_too_many_for_busy),
        cmocka_unit_test(test_embedded),
    };

    alarm(440);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
