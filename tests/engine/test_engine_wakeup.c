/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Owns the engine's tests against lost wake-ups: pauses let aggregators and ranks fall asleep
 * between operations, and a message that wakes nobody shows as a hang.
 */
/* Test: quick 120; all 120 x20; threads: default 120 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <pthread.h>
#include <stdatomic.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "tests/engine/harness.h"

#define OPERATIONS 2500
#define MAX_PAUSE  300   /* microseconds; aggregators sleep after 50 */
#define SETUPS     12
#define TIME_LIMIT (15 * OC_SECOND)

/*
 * The next heartbeat, up to a second later, wakes whoever missed a message: a delay like that is
 * a lost wake-up too. A few may be a busy machine's, beside those when it stood still.
 */
#define SLOW     (200 * OC_MILLISECOND)
#define MAX_SLOW 2

static uint32_t next_random(uint32_t *random)
{
    *random = *random * 1664525u + 1013904223u;
    return *random >> 8;
}

/* A machine that stands still keeps also those from running whom nobody has to wake. */
#define GLANCE (10 * OC_MILLISECOND)

static atomic_bool watches;
static atomic_uint stalls;

static void *watch(void *unused)
{
    uint64_t last = oc_clock_ns(), now;

    while (atomic_load(&watches)) {
        usleep(GLANCE / 1000);
        now = oc_clock_ns();
        if (now - last > SLOW / 2) {
            atomic_fetch_add(&stalls, 1);
        }
        last = now;
    }
    return unused;
}

/* Every rank pauses at its own times, so that each is sometimes the last one. */
static void body_pauses(rank_t *rank)
{
    static int32_t send[4096], recv[4096], expected[4096];
    uint32_t random = rank->rank + 1, shared_random = 7;
    unsigned slow = 0;
    pthread_t watcher;
    uint64_t begin;

    atomic_store(&watches, true);
    CHECK(0 == pthread_create(&watcher, NULL, watch, NULL));
    for (unsigned i = 0; i < OPERATIONS; i++) {
        size_t count = next_random(&shared_random) % 2 ? 16 : 4096;

        if (0 == i % 64) {
            fill_contribution(send, OC_TYPE_INT32, 4096, rank->rank, i);
            fill_expected(expected, OC_OP_SUM, OC_TYPE_INT32, 4096, rank->num_ranks, i);
        }
        usleep(next_random(&random) % MAX_PAUSE);
        begin = oc_clock_ns();
        CHECK(OC_OK == rank_allreduce(rank, 0, OC_OP_SUM, OC_TYPE_INT32, send, recv, count));
        CHECK(0 == memcmp(recv, expected, 4 * count));
        slow += i > 0 && oc_clock_ns() - begin > SLOW;
    }
    atomic_store(&watches, false);
    (void) pthread_join(watcher, NULL);
    CHECK(slow <= MAX_SLOW + atomic_load(&stalls));
}

static void body_setup(rank_t *rank)
{
    int32_t one = 1, sum = 0;

    for (unsigned group = 0; group < 3; group++) {
        CHECK(OC_OK == rank_allreduce(rank, group, OC_OP_SUM, OC_TYPE_INT32, &one, &sum, 1));
        CHECK((int32_t) rank->num_ranks == sum);
    }
}

static void expect_quick(uint64_t begin)
{
    assert_true(oc_clock_ns() - begin < TIME_LIMIT);
}

static void test_external(void **state)
{
    const char *options[] = {"--aggregators", "2", NULL};
    uint64_t begin = oc_clock_ns();
    oc_job_settings_t settings;
    test_server_t server;

    (void) state;
    server_start(&server, options);
    settings = test_settings(server.address);
    assert_true(ranks_succeed(&server, 3, &settings, body_pauses, 20));
    expect_quick(begin);
}

static void test_embedded(void **state)
{
    uint64_t begin = oc_clock_ns();
    oc_job_settings_t settings = test_settings("embedded:2");

    (void) state;
    assert_int_equal(ranks_run(2, &settings, body_pauses, 20), 0);
    expect_quick(begin);
}

/* One job after the other on the same server: nobody sleeps through a connection either. */
static void test_setups(void **state)
{
    const char *options[] = {"--aggregators", "2", NULL};
    oc_job_settings_t settings;
    test_server_t server;
    unsigned failed = 0;

    (void) state;
    server_start(&server, options);
    settings = test_settings(server.address);
    for (int i = 0; i < SETUPS && 0 == failed; i++) {
        failed = ranks_run(4, &settings, body_setup, 15);
    }
    assert_int_equal(server_stop(&server), 0);
    assert_int_equal(failed, 0);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_external),
        cmocka_unit_test(test_embedded),
        cmocka_unit_test(test_setups),
    };

    alarm(480);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
