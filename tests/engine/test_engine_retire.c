/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Owns the engine's tests of places that jobs without a member give to others: who comes late, and
 * who cannot go.
 */
/* Test: all 240; sanitizers: all 400 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>
#include <unistd.h>

#include "base/clock.h"
#include "tests/engine/harness.h"
#include "tests/engine/member.h"

#define NOBODY "no process of the job has joined"

/* So long a job is left in peace, whoever comes. */
#define MIN_AGE_US 10500000

/* Less than an idle job may stay where nobody needs its place, on whatever machine. */
#define SOON_MS 15000

static test_server_t server;

static oc_job_t new_job(void)
{
    oc_job_t job;

    fill_random(&job, sizeof(job));
    return job;
}

/* A client of a job of its own: whether there is a place for it, within the time that it waits. */
static bool has_place(uint16_t port)
{
    oc_job_t job = new_job();
    oc_control_t message;
    member_t member;
    bool welcome;

    member_greet(&member, port, &job, 0);
    assert_true(member_hear(&member, &message, SOON_MS));
    welcome = OC_CONTROL_WELCOME == message.type;
    assert_true(welcome || OC_CONTROL_REFUSE == message.type);
    member_close(&member, welcome);
    return welcome;
}

/* The processes that had it end first, which takes them seconds where each byte is checked. */
static bool gets_place(uint16_t port)
{
    uint64_t end = oc_clock_ns() + 20 * OC_SECOND;

    while (!has_place(port)) {
        if (oc_clock_ns() > end) {
            return false;
        }
        usleep(100000);
    }
    return true;
}

/*
 * The place of its job is needed when it comes. It has time to join, and if it does not, it is no
 * reason to wait for half a minute.
 */
static void test_late(void **state)
{
    const char *options[] = {"--max-jobs", "1", NULL};
    oc_job_t job = new_job(), other = new_job();
    member_t silent, late, waiting;
    oc_control_t message;

    (void) state;
    server_start(&server, options);
    member_prepare(&late);
    member_open(&silent, server.port, &job, 7);
    usleep(MIN_AGE_US);
    member_greet(&waiting, server.port, &other, 0);
    member_expect(&silent, OC_CONTROL_RETIRE, NOBODY, SOON_MS);
    member_hello(&late, server.port, &job, 8);
    member_welcome(&late);
    member_close(&silent, true);
    member_expect(&late, OC_CONTROL_RETIRE, NOBODY, SOON_MS);
    assert_true(member_is_left(&late, SOON_MS));
    assert_true(server_said(&server, "the connection of process 8 is closed", SOON_MS));
    member_close(&late, false);
    assert_true(member_hear(&waiting, &message, SOON_MS));
    member_close(&waiting, OC_CONTROL_WELCOME == message.type);
    assert_true(gets_place(server.port));
    assert_int_equal(server_stop(&server), 0);
}

static bool answers(member_t *member)
{
    oc_control_t message = {.type = OC_CONTROL_PING, .ping = 5};

    member_say(member, &message);
    return member_hear(member, &message, 3000) && OC_CONTROL_PONG == message.type;
}

/* The same, but it joins: its job keeps the place, and nobody of it has to go. */
static void test_late_joins(void **state)
{
    const char *options[] = {"--max-jobs", "1", NULL};
    oc_join_t join = {.group = 1, .num_ranks = 1, .chunk_bytes = 4096, .window = 1};
    oc_job_t job = new_job(), other = new_job();
    member_t silent, late, waiting;

    (void) state;
    server_start(&server, options);
    member_prepare(&late);
    member_open(&silent, server.port, &job, 7);
    usleep(MIN_AGE_US);
    member_greet(&waiting, server.port, &other, 0);
    member_expect(&silent, OC_CONTROL_RETIRE, NOBODY, SOON_MS);
    member_hello(&late, server.port, &job, 8);
    member_welcome(&late);
    usleep(500000);
    (void) member_join(&late, &join);
    member_expect(&waiting, OC_CONTROL_REFUSE, "which is its max-jobs", SOON_MS);
    member_close(&waiting, false);
    assert_true(answers(&late) && answers(&silent));
    member_close(&late, true);
    member_close(&silent, true);
    assert_int_equal(server_stop(&server), 0);
}

/* ---- a leaf ---- */

static void wait_for_signal(rank_t *rank)
{
    uint64_t end = oc_clock_ns() + 80 * OC_SECOND;

    rank_barrier(rank);
    atomic_fetch_add(&rank->shared->operations, 1);
    while (0 == atomic_load(&rank->shared->signal)) {
        CHECK(oc_clock_ns() < end);
        usleep(1000);
    }
}

static void body_holds(rank_t *rank)
{
    float one = 1, sum = 0;

    for (unsigned turn = 0; turn < 2; turn++) {
        CHECK(OC_OK == rank_allreduce(rank, 0, OC_OP_SUM, OC_TYPE_FLOAT, &one, &sum, 1));
        CHECK((float) rank->num_ranks == sum && turn + 1 == rank->counters.allreduce_offloaded);
        if (0 == turn) {
            wait_for_signal(rank);
        }
    }
    CHECK(0 == rank->counters.failures);
}

/* Idle, told so, and closed: as soon as any other client would be. */
#define LONGEST_IDLE_MS 47000

/*
 * The only group of a job has all its members on one leaf, so that the parent has no part in it:
 * for the parent nobody has joined, and the leaf is a client that does not go. It stays connected,
 * since with the connection the job would end; and who needs a place gets that of another job.
 */
static void test_leaf(void **state)
{
    const char *options[] = {"--max-jobs", "2", NULL};
    const char *leaf_options[] = {"--parent", server.address, NULL};
    uint64_t begin = oc_clock_ns();
    oc_job_settings_t settings;
    oc_job_t job = new_job();
    test_server_t leaf;
    member_t silent;
    ranks_t ranks;

    (void) state;
    server_start(&server, options);
    server_start(&leaf, leaf_options);
    settings = test_settings(leaf.address);
    ranks_start(&ranks, 2, &settings, body_holds, 90);
    assert_true(ranks_reach(&ranks, 2));
    member_open(&silent, server.port, &job, 7);
    usleep(MIN_AGE_US);
    /* the older one is asked first */
    assert_false(has_place(server.port));
    assert_true(has_place(server.port));
    member_expect(&silent, OC_CONTROL_RETIRE, NOBODY, 100);
    member_close(&silent, false);
    while (oc_clock_ns() - begin < LONGEST_IDLE_MS * OC_MILLISECOND) {
        usleep(10000);
    }
    atomic_store(&ranks.shared->signal, 1);
    assert_int_equal(ranks_wait(&ranks), 0);
    assert_int_equal(server_stop(&leaf), 0);
    assert_int_equal(server_stop(&server), 0);
}

int main(int argc, char **argv)
{
    static const struct CMUnitTest tests[] = {
        /* first: its ranks are forked before this process has a worker */
        cmocka_unit_test(test_leaf),
        cmocka_unit_test(test_late),
        cmocka_unit_test(test_late_joins),
    };

    if (argc > 1) {
        cmocka_set_test_filter(argv[1]);
    }
    alarm(680);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
