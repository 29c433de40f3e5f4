/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Owns the tests of operations that are begun while the one before runs, where one rank of each host multicasts for all
 * of it. Hosts are made up: all ranks are on this one.
 */
/* Test: quick 120; threads: all 240; sanitizers: all 300 */
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
#include "client/group/relay_blocks.h"
#include "client/group/relay_state.h"
#include "tests/engine/casting.h"
#include "tests/engine/harness.h"
#include "tests/faults/door.h"
#include "tests/random.h"

#define RANKS   6
#define LEADERS 2u
#define PATIENCE (10 * OC_SECOND)

static const uint8_t two_hosts[RANKS] = {1, 1, 1, 2, 2, 2}, uneven[RANKS] = {1, 2, 2, 2, 2, 3};
static const uint8_t *layout;

static void settle_in(rank_t *rank)
{
    rank->hosts = layout;
    rank->service = OC_SERVICE_MULTICAST;
    casting_allgather(rank, 0, 1000, false, 1);
    rank_barrier(rank);
}

static bool is_leader(const rank_t *rank)
{
    return 0 == rank->rank || layout[rank->rank] != layout[rank->rank - 1];
}

static void start_block(rank_t *rank, allgather_t *a, size_t block, unsigned seed)
{
    size_t lengths[MAX_TEST_RANKS];

    for (unsigned i = 0; i < MAX_TEST_RANKS; i++) {
        lengths[i] = block + i * seed;
    }
    casting_lay_out(rank, a, lengths, 3, seed);
    a->nonblocking = true;
    casting_start(rank, 0, a, false, false);
}

static void end(rank_t *rank, allgather_t *a)
{
    CHECK(rank_wait(rank, &a->outcome, 1, 20));
    casting_check(rank, a, 3);
}

/* Allgathers, with the one of settle_in, and Bcasts: all by multicast, which only leaders use. */
static void expect_offloaded(const rank_t *rank, unsigned allgathers, unsigned bcasts)
{
    const oc_counters_t *counters = &rank->counters;

    CHECK(allgathers == counters->allgather_offloaded && bcasts == counters->bcast_offloaded);
    CHECK(0 == counters->failures && is_leader(rank) == (counters->cast.fragments_received > 0));
}

/* This rank's turn is after so many others have been counted. */
static void await_others(rank_t *rank, unsigned count)
{
    uint64_t begun = oc_clock_ns();

    while (atomic_load(&rank->shared->operations) < count) {
        CHECK(oc_clock_ns() < begun + PATIENCE);
        usleep(1000);
    }
}

static void count_in(rank_t *rank)
{
    atomic_fetch_add(&rank->shared->operations, 1);
}

/* So many ranks do not end well. */
static void run_with(const uint8_t *hosts, void (*body)(rank_t *rank), int victims)
{
    oc_job_settings_t settings = cast_settings();

    layout = hosts;
    assert_int_equal(ranks_run(RANKS, &settings, body, 100), victims);
}

static void run(void (*body)(rank_t *rank))
{
    run_with(two_hosts, body, 0);
}

/* ---- the blocks of the next one ---- */

static bool has_blocks_of_next(rank_t *rank)
{
    const oc_relay_t *relay = rank_group(rank, 0)->relay;

    return NULL != relay && NULL != relay->behind && relay->behind->open
           && oc_relay_has_taken_blocks(relay);
}

/* The first one waits for rank 4, on the other host: meanwhile ranks of a host have the others' blocks of the next one. */
static void next_comes(rank_t *rank)
{
    uint64_t begun;
    allgather_t first, next;

    settle_in(rank);
    if (4 == rank->rank) {
        await_others(rank, 3);
    }
    start_block(rank, &first, 300000, 2);
    start_block(rank, &next, 70000, 3);
    begun = oc_clock_ns();
    while (rank->rank < 3 && !has_blocks_of_next(rank)) {
        CHECK(oc_clock_ns() < begun + PATIENCE);
        rank_linger(rank, 1);
    }
    if (rank->rank < 3) {
        CHECK(!first.outcome.done && !next.outcome.done);
        CHECK(0 != rank->rank || rank_group(rank, 0)->relay->cast != rank_group(rank, 0)->relay->behind->cast);
        count_in(rank);
    }
    end(rank, &first);
    end(rank, &next);
    expect_offloaded(rank, 3, 0);
}

static void test_blocks_come_before_the_end(void **state)
{
    (void) state;
    run(next_comes);
}

/* Rank 2 begins the second one when all others have the first: nobody waits for that. */
static void not_waited_for(rank_t *rank)
{
    allgather_t first, next;

    settle_in(rank);
    start_block(rank, &first, 500000, 2);
    if (2 != rank->rank) {
        start_block(rank, &next, 500000, 3);
    }
    end(rank, &first);
    count_in(rank);
    if (2 == rank->rank) {
        await_others(rank, RANKS);
        start_block(rank, &next, 500000, 3);
    }
    end(rank, &next);
    expect_offloaded(rank, 3, 0);
}

static void test_rank_that_begins_late(void **state)
{
    (void) state;
    run(not_waited_for);
}

/* Much more than the first one brings: its end does not wait for copies of that. */
static void large_waits(rank_t *rank)
{
    const size_t length = 3000000;
    uint8_t *buffer = calloc(1, length);
    outcome_t outcome = {0};
    allgather_t first;

    settle_in(rank);
    if (4 == rank->rank) {
        await_others(rank, 3);
    }
    start_block(rank, &first, 1000, 2);
    CHECK(OC_OK == casting_start_bcast(rank, 0, buffer, length, 1, false, &outcome));
    if (rank->rank < 3) {
        rank_linger(rank, 300);
        CHECK(!first.outcome.done && !rank_group(rank, 0)->relay->behind->open);
        count_in(rank);
    }
    end(rank, &first);
    CHECK(rank_wait(rank, &outcome, 1, 20) && OC_OK == outcome.status && casting_has_bcast(buffer, length, 1));
    free(buffer);
    expect_offloaded(rank, 2, 1);
}

static void test_large_blocks_wait(void **state)
{
    (void) state;
    run(large_waits);
}

/* ---- many ---- */

#define AHEAD 5

static void draw(oc_random_t *dice, unsigned index, size_t lengths[MAX_TEST_RANKS])
{
    for (unsigned i = 0; i < MAX_TEST_RANKS; i++) {
        size_t most = (size_t) 1 << oc_random_below(dice, 17);

        lengths[i] = oc_random_below(dice, 4) > 0 ? oc_random_below(dice, most + 1) : 0;
    }
    lengths[index % RANKS]++;
}

/* Up to five under way, blocking ones among them, of ranks that come at any time. */
static void at_random(rank_t *rank)
{
    static allgather_t all[AHEAD];
    oc_random_t common = {11}, own = {rank->rank + 1};
    size_t lengths[MAX_TEST_RANKS];
    const unsigned count = 120;

    settle_in(rank);
    for (unsigned i = 0; i < count + AHEAD; i++) {
        allgather_t *a = &all[i % AHEAD];

        if (i >= AHEAD) {
            end(rank, a);
        }
        if (i < count) {
            draw(&common, i, lengths);
            usleep(0 == oc_random_below(&own, 4) ? (useconds_t) oc_random_below(&own, 3000) : 0);
            casting_lay_out(rank, a, lengths, 3, i);
            a->nonblocking = 0 != oc_random_below(&common, 5);
            casting_start(rank, 0, a, 0 == oc_random_below(&common, 2), false);
        }
    }
    expect_offloaded(rank, count + 1, 0);
}

static void test_many(void **state)
{
    (void) state;
    run(at_random);
    run_with(uneven, at_random, 0);
    faults_install("drop=0.05,duplicate=0.02,reorder=0.05,seed=5");
    run(at_random);
}

/* A root that is no leader gives more than an Allgather brings, or less. */
static void bcast_behind(rank_t *rank)
{
    static const size_t lengths[] = {3000000, 200000, 10};
    uint8_t *buffer = malloc(lengths[0]);
    allgather_t first, last;
    outcome_t outcome;

    settle_in(rank);
    for (unsigned i = 0; i < sizeof(lengths) / sizeof(lengths[0]); i++) {
        outcome = (outcome_t) {0};
        memset(buffer, 0, lengths[i]);
        start_block(rank, &first, 40000, 2);
        CHECK(OC_OK == casting_start_bcast(rank, 0, buffer, lengths[i], 4, false, &outcome));
        start_block(rank, &last, 1, 3);
        end(rank, &first);
        CHECK(rank_wait(rank, &outcome, 1, 20) && OC_OK == outcome.status);
        CHECK(casting_has_bcast(buffer, lengths[i], 4));
        end(rank, &last);
    }
    free(buffer);
    expect_offloaded(rank, 7, 3);
}

static void test_bcast_behind(void **state)
{
    (void) state;
    run(bcast_behind);
    run_with(uneven, bcast_behind, 0);
}

/* ---- failures, and the end of multicast ---- */

static void expect_failure(rank_t *rank, allgather_t *a)
{
    CHECK(rank_wait(rank, &a->outcome, 1, 20));
    CHECK(a->outcome.status < OC_OK && OC_DECLINED != a->outcome.status);
    casting_release(a);
}

/* One rank gives up while two are under way: both fail on all ranks. */
static void abandoned(rank_t *rank)
{
    allgather_t first, next;

    settle_in(rank);
    start_block(rank, &first, 3000000, 2);
    start_block(rank, &next, 3000000, 3);
    if (4 == rank->rank) {
        CHECK(NULL != rank_group(rank, 0)->relay->behind);
        oc_group_give_up(rank_group(rank, 0), OC_ERR_NO_MEMORY, "rank 4 has had enough");
    }
    expect_failure(rank, &first);
    expect_failure(rank, &next);
    CHECK(NULL == rank_group(rank, 0)->relay);
    CHECK(OC_GROUP_FAILED == oc_group_state(rank_group(rank, 0)));
}

static void test_rank_that_gives_up(void **state)
{
    (void) state;
    run(abandoned);
}

/* Rank 5 is gone when all count on its blocks. */
static void widowed(rank_t *rank)
{
    allgather_t first, next;

    settle_in(rank);
    start_block(rank, &first, 3000000, 2);
    start_block(rank, &next, 3000000, 3);
    if (5 == rank->rank) {
        CHECK(NULL != rank_group(rank, 0)->relay->behind);
        kill(getpid(), SIGKILL);
    }
    expect_failure(rank, &first);
    expect_failure(rank, &next);
    casting_outlive(rank);
    _exit(EXIT_SUCCESS); /* there is one less to meet at the end */
}

static void test_rank_that_dies(void **state)
{
    (void) state;
    run_with(two_hosts, widowed, 1);
}

/* About the second one only. */
static void disagreeing(rank_t *rank)
{
    allgather_t first, next;

    settle_in(rank);
    start_block(rank, &first, 100000, 2);
    start_block(rank, &next, 100000, 4 == rank->rank ? 4 : 3);
    CHECK(rank_wait(rank, &first.outcome, 1, 20));
    casting_release(&first);
    expect_failure(rank, &next);
    CHECK(NULL != strstr(oc_group_reason(rank_group(rank, 0)), "disagree"));
}

static void test_ranks_that_disagree(void **state)
{
    (void) state;
    run(disagreeing);
}

/* Processes end with two under way, at any moment. */
static void left(rank_t *rank)
{
    static uint8_t bytes[RANKS * 3000000 + 100];
    oc_allgather_args_t args = {.recv = bytes, .block = 3000000, .finished = rank_on_finished};
    static outcome_t outcomes[2];

    settle_in(rank);
    for (unsigned i = 0; i < 2; i++) {
        args.arg = &outcomes[i];
        CHECK(OC_OK == oc_allgather_start(rank_group(rank, 0), &args));
    }
    CHECK(NULL != rank_group(rank, 0)->relay->behind);
    rank_linger(rank, 3 * rank->rank);
}

static void test_ranks_that_leave(void **state)
{
    (void) state;
    run(left);
}

/* More than a host's ring has places for. */
#define LONG ((size_t) 12 * 128 << 10)

/* Of the last operation: leaders have it by multicast, while the one before has not been handed on. */
static bool close_early(rank_t *rank, unsigned round)
{
    uint8_t *buffer = calloc(1, LONG), small[10];
    outcome_t before = {0}, last = {0};
    bool goes_on;

    if (is_leader(rank)) {
        await_others(rank, round * RANKS + RANKS - LEADERS);
    }
    goes_on = OC_OK == casting_start_bcast(rank, 0, buffer, LONG, 0, false, &before)
              && OC_OK == casting_start_bcast(rank, 0, small, sizeof(small), 0, true, &last);
    while (goes_on && is_leader(rank)
           && (NULL == rank_group(rank, 0)->relay->behind || !rank_group(rank, 0)->relay->behind->cast_over)) {
        rank_linger(rank, 1);
    }
    count_in(rank);
    await_others(rank, (round + 1) * RANKS);
    CHECK(!goes_on || !before.done);
    CHECK(!goes_on || (rank_wait(rank, &before, 1, 20) && rank_wait(rank, &last, 1, 20)));
    CHECK(!goes_on || (OC_OK == before.status && OC_OK == last.status));
    CHECK(!goes_on || (casting_has_bcast(buffer, LONG, 0) && casting_has_bcast(small, sizeof(small), 0)));
    free(buffer);
    rank_barrier(rank);
    return goes_on;
}

static void closed_early(rank_t *rank)
{
    unsigned round = 0;

    settle_in(rank);
    while (close_early(rank, round)) {
        CHECK(++round < 20);
    }
    CHECK(2 * round == rank->counters.bcast_offloaded && round > 0);
    CHECK(OC_GROUP_DECLINED == oc_group_state(rank_group(rank, 0)));
}

static void test_end_of_multicast_behind(void **state)
{
    (void) state;
    faults_install("cut=200");
    run(closed_early);
}

/* Faults are for one test. */
static int mend_network(void **state)
{
    (void) state;
    faults_install("");
    return 0;
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_blocks_come_before_the_end),
        cmocka_unit_test(test_rank_that_begins_late),
        cmocka_unit_test(test_large_blocks_wait),
        cmocka_unit_test_teardown(test_many, mend_network),
        cmocka_unit_test(test_bcast_behind),
        cmocka_unit_test(test_rank_that_gives_up),
        cmocka_unit_test(test_rank_that_dies),
        cmocka_unit_test(test_ranks_that_disagree),
        cmocka_unit_test(test_ranks_that_leave),
        cmocka_unit_test_teardown(test_end_of_multicast_behind, mend_network),
    };

    if (argc > 1) {
        cmocka_set_test_filter(argv[1]);
    }
    return cmocka_run_group_tests(tests, NULL, NULL);
}
