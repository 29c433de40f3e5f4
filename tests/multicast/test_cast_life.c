/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Owns the tests of ranks that are late, elsewhere, stopped or dead, and of networks that carry no
 * multicast: what is legal ends well however long it takes, the rest ends with an error in time.
 */
/* Test: quick 120; sanitizers: all 240 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "tests/multicast/fixture.h"

#define MINUTE (60 * OC_SECOND)
#define HOUR   (3600 * OC_SECOND)

/* What it takes to tell all others of an error. */
#define SPREAD OC_SECOND

static unsigned long long idle_turns(void)
{
    unsigned long long sum = 0;

    for (unsigned i = 0; i < config.network.num_nodes; i++) {
        sum += network_traffic(crew_network(crew), i)->idle_turns;
    }
    return sum;
}

/* ---- late ranks ---- */

static void play_late_rank(unsigned late, uint64_t by, bool blocking)
{
    operation_t operation = {.block = 50000, .blocking = blocking};
    unsigned long long messages, turns;

    begin_crew(11);
    expect_probed();
    messages = crew_totals(crew).control_messages;
    turns = idle_turns();
    operation.compute[late] = by;
    (void) crew_add(crew, &operation);
    expect_success(by + OC_SECOND);
    assert_true(crew_outcome(crew, (late + 1) % 11, 0)->end >= by);
    /* ENTER, GO, DONE and LEAVE; for the hour a PING a minute and a PONG between neighbours */
    assert_in_range(crew_totals(crew).control_messages - messages, 40,
                    150 + (blocking ? 2 * 9 * (6 + by / (64 * OC_SECOND)) : 0));
    assert_in_range(idle_turns() - turns, 0, 1000);
}

static void test_rank_a_minute_late(void **state)
{
    (void) state;
    play_late_rank(10, 60 * OC_SECOND, true);
}

static void test_rank_an_hour_late(void **state)
{
    (void) state;
    play_late_rank(10, HOUR, true);
}

static void test_root_an_hour_late(void **state)
{
    (void) state;
    play_late_rank(0, HOUR, false);
}

/* The others have told it, and need no word from it. */
static void test_ranks_compute_after_blocking_operations(void **state)
{
    (void) state;
    begin_crew(12);
    expect_probed();
    for (unsigned i = 0; i < 6; i++) {
        operation_t operation = {.block = 3000 * i, .blocking = true};

        operation.compute[i] = operation.compute[11 - i] = 60 * OC_SECOND;
        (void) crew_add(crew, &operation);
    }
    expect_success(400 * OC_SECOND);
}

/*
 * Late datagrams make ranks ask for much that comes anyway. Who has everything goes on and does not
 * look at the long answers that are still on their way to it; nobody may wait for that.
 */
static void expect_rest_delays_nobody(unsigned operations)
{
    for (unsigned n = 0; n < operations; n++) {
        uint64_t entered = 0;

        for (unsigned i = 0; i < config.network.num_nodes; i++) {
            const outcome_t *outcome = crew_outcome(crew, i, n);

            entered = outcome->begin > entered ? outcome->begin : entered;
        }
        for (unsigned i = 0; i < config.network.num_nodes; i++) {
            assert_true(crew_outcome(crew, i, n)->end < entered + OC_SECOND);
        }
    }
}

static void test_long_messages_to_ranks_that_compute(void **state)
{
    (void) state;
    config.network.faults = (oc_faults_t) {.delay = 0.5, .delay_ms = 14};
    config.network.message_max = 100 * OC_MILLISECOND;
    for (unsigned seed = 0; seed < 20; seed++) {
        config.network.faults.seed = seed;
        begin_crew(4);
        expect_probed();
        for (unsigned i = 0; i < 10; i++) {
            operation_t operation = {.block = 60000, .blocking = true};

            for (unsigned rank = i % 2; i > 0 && rank < 4; rank += 2) {
                operation.compute[rank] = 10 * OC_SECOND;
            }
            (void) crew_add(crew, &operation);
        }
        expect_success(200 * OC_SECOND);
        expect_rest_delays_nobody(10);
    }
}

/* ---- ranks that stop ---- */

static void play_pause(uint64_t duration, bool blocking)
{
    for (unsigned rank = 0; rank < 11; rank += 5) {
        begin_crew(11);
        expect_probed();
        (void) crew_add(crew, &(operation_t) {.block = 300000, .blocking = blocking});
        crew_pause(crew, rank, now() + OC_MILLISECOND, duration);
        expect_success(duration + 10 * OC_SECOND);
    }
}

static void test_stopped_for_half_a_minute(void **state)
{
    (void) state;
    play_pause(30 * OC_SECOND, false);
}

/* As by a debugger: MPI has no limit for how long a rank may stand still. */
static void test_stopped_while_all_wait(void **state)
{
    (void) state;
    play_pause(OC_SECOND, true);
    play_pause(10 * MINUTE, true);
}

/*
 * Ranks have nothing to tell each other for long, but are there. A fragment takes 70 ms, so that
 * multicast is given up in the middle, and the rest takes less long by messages.
 */
static void test_operation_takes_long(void **state)
{
    size_t lengths[11] = {[1] = 400000};

    (void) state;
    config.network.rate = 20000;
    config.network.send_queue = 16384;
    begin_crew(11);
    expect_probed();
    (void) crew_add(crew, &(operation_t) {.lengths = lengths, .blocking = true});
    expect_success(60 * OC_SECOND);
    assert_true(crew_outcome(crew, 2, 0)->end - crew_outcome(crew, 2, 0)->begin
                > 5 * OC_SECOND);
}

/* Its peers must neither fill its memory with messages nor wait busily. */
static void play_hour(bool blocking, unsigned most)
{
    unsigned long long messages;

    begin_crew(4);
    expect_probed();
    messages = crew_totals(crew).control_messages;
    (void) crew_add(crew, &(operation_t) {.block = 1000000, .blocking = blocking});
    crew_pause(crew, 2, now() + OC_MILLISECOND, HOUR);
    expect_success(HOUR + 10 * OC_SECOND);
    assert_in_range(crew_totals(crew).control_messages - messages, 20, most);
}

static void test_stopped_for_an_hour(void **state)
{
    (void) state;
    config.network.faults.drop = 0.05;
    play_hour(false, 500);
    play_hour(true, 1000); /* the others ask each other each minute */
}

/* ---- dead ranks ---- */

/* All that live get the same error, that late, which names the dead rank. */
static void expect_failure(unsigned dead, unsigned operation, oc_status_t status, uint64_t limit)
{
    char name[16];

    snprintf(name, sizeof(name), "rank %u ", dead);
    assert_true(crew_play(crew, limit));
    for (unsigned i = 0; i < config.network.num_nodes; i++) {
        if (i == dead) {
            continue;
        }
        assert_true(crew_outcome(crew, i, operation)->over);
        assert_int_equal(crew_outcome(crew, i, operation)->status, status);
        assert_int_equal(oc_cast_group_ready(crew_group(crew, i)), status);
        assert_non_null(strstr(oc_cast_group_reason(crew_group(crew, i)), name));
        assert_int_equal(oc_cast_pending(crew_group(crew, i)), 0);
    }
}

static void play_death(unsigned dead, uint64_t notice, bool blocking)
{
    uint64_t begin;

    begin_crew(16);
    expect_probed();
    begin = now();
    (void) crew_add(crew, &(operation_t) {.block = 300000, .blocking = blocking});
    (void) crew_add(crew, &(operation_t) {.block = 1, .queued = true});
    crew_kill(crew, dead, now() + OC_MILLISECOND, notice);
    expect_failure(dead, 0, OC_ERR_UNREACHABLE, notice + SPREAD);
    for (unsigned i = 0; i < 16; i++) {
        assert_true(i == dead || OC_OK != crew_outcome(crew, i, 1)->status);
        assert_true(i == dead || crew_outcome(crew, i, 0)->end >= begin + notice);
    }
}

/* Until it is known, it may only stand still. */
static void test_leaf_dies_silently(void **state)
{
    (void) state;
    play_death(12, HOUR, true);
}

static void test_parent_dies_silently(void **state)
{
    (void) state;
    play_death(1, HOUR, true);
}

static void test_root_dies_silently(void **state)
{
    (void) state;
    play_death(0, HOUR, true);
}

static void test_death_is_known(void **state)
{
    (void) state;
    play_death(5, 100 * OC_MILLISECOND, true);
}

static void test_death_is_known_in_nonblocking_operation(void **state)
{
    (void) state;
    play_death(5, 100 * OC_MILLISECOND, false);
}

static void test_rank_dies_before_it_enters(void **state)
{
    operation_t operation = {.block = 100, .blocking = true};

    (void) state;
    begin_crew(4);
    expect_probed();
    operation.compute[3] = HOUR;
    (void) crew_add(crew, &operation);
    crew_kill(crew, 3, now() + 60 * OC_SECOND, OC_SECOND);
    expect_failure(3, 0, OC_ERR_UNREACHABLE, 62 * OC_SECOND);
}

static unsigned long long posted(unsigned rank)
{
    return network_traffic(crew_network(crew), rank)->messages;
}

/* Nothing would ever break if nobody sent anything to a host that is not there any more. */
static void play_vanished_before_it_enters(unsigned dead, bool blocking)
{
    operation_t operation = {.block = 100, .blocking = blocking};
    uint32_t neighbours[OC_CAST_NEIGHBOURS];
    unsigned count = oc_cast_neighbours(16, dead, neighbours), watcher = neighbours[count - 1];
    unsigned long long before;

    begin_crew(16);
    expect_probed();
    operation.compute[dead] = HOUR;
    (void) crew_add(crew, &operation);
    crew_kill(crew, dead, now() + OC_MILLISECOND, UINT64_MAX);
    assert_false(network_run(crew_network(crew), now() + OC_SECOND / 2, NULL, NULL));
    before = posted(watcher);
    assert_false(network_run(crew_network(crew), now() + 20 * OC_SECOND, NULL, NULL));
    /* after 1, 3, 7 and 15 seconds; and as many PONGs to each neighbour that waits likewise */
    assert_in_range(posted(watcher) - before, blocking ? 4 : 0, blocking ? 4 * OC_CAST_NEIGHBOURS : 0);
}

static void test_leaf_vanishes_before_it_enters(void **state)
{
    (void) state;
    play_vanished_before_it_enters(12, true);
}

static void test_parent_vanishes_before_it_enters(void **state)
{
    (void) state;
    play_vanished_before_it_enters(1, true);
}

static void test_root_vanishes_before_it_enters(void **state)
{
    (void) state;
    play_vanished_before_it_enters(0, true);
}

static void test_nobody_is_asked_whether_it_enters_a_nonblocking_operation(void **state)
{
    (void) state;
    play_vanished_before_it_enters(12, false);
}

/* Whoever learns of it, all have to know. */
static void test_one_rank_cannot_go_on(void **state)
{
    operation_t operation = {.block = 100, .blocking = true};

    (void) state;
    begin_crew(4);
    expect_probed();
    operation.compute[3] = HOUR;
    (void) crew_add(crew, &operation);
    (void) crew_add(crew, &(operation_t) {.block = 5, .queued = true});
    (void) network_run(crew_network(crew), now() + OC_SECOND, NULL, NULL);
    oc_cast_group_fail(crew_group(crew, 2), OC_ERR_SYSTEM, "the disk of rank 2 is full");
    for (unsigned i = 0; i < 4; i++) {
        network_wake(crew_network(crew), i);
    }
    (void) network_run(crew_network(crew), now() + OC_SECOND, NULL, NULL);
    for (unsigned i = 0; i < 3; i++) {
        assert_int_equal(crew_outcome(crew, i, 0)->status, OC_ERR_SYSTEM);
        assert_int_equal(crew_outcome(crew, i, 1)->status, OC_ERR_SYSTEM);
        assert_string_equal(oc_cast_group_reason(crew_group(crew, i)),
                            "the disk of rank 2 is full");
    }
    /* the late one learns of it as soon as it enters */
    assert_true(crew_play(crew, 2 * HOUR));
    assert_int_equal(crew_outcome(crew, 3, 0)->status, OC_ERR_SYSTEM);
}

/* ---- probing ---- */

/* Datagrams from and to ranks that get through: a bit for each; and the longest that does. */
static unsigned from_mask, to_mask;
static size_t longest = SIZE_MAX;

static bool block_directions(void *arg, unsigned from, unsigned to, uint8_t *bytes, size_t length)
{
    (void) arg;
    (void) bytes;
    return (from_mask >> from & 1) && (to_mask >> to & 1) && length <= longest;
}

static void expect_probing_fails(const char *name)
{
    config.network.meddler = (meddler_t) {.datagram = block_directions};
    begin_crew(4);
    assert_true(crew_probe(crew, config.probe_timeout));
    (void) network_run(crew_network(crew), now() + SPREAD, NULL, NULL);
    for (unsigned i = 0; i < 4; i++) {
        assert_true(oc_cast_group_ready(crew_group(crew, i)) < OC_OK);
        assert_non_null(strstr(oc_cast_group_reason(crew_group(crew, i)), name));
    }
}

static void test_no_multicast_at_all(void **state)
{
    (void) state;
    from_mask = to_mask = 0;
    expect_probing_fails("does not carry multicast");
}

/* A link on the way has a smaller MTU: what says little passes, fragments do not. */
static void test_no_large_datagrams(void **state)
{
    (void) state;
    from_mask = to_mask = ~0u;
    longest = config.network.datagram_size - 1;
    expect_probing_fails("does not carry multicast");
    longest = SIZE_MAX;
}

static void test_no_multicast_to_one_rank(void **state)
{
    (void) state;
    from_mask = ~0u;
    to_mask = ~(1u << 2);
    expect_probing_fails("reaches rank 2");
}

static void test_no_multicast_from_one_rank(void **state)
{
    (void) state;
    from_mask = ~(1u << 1);
    to_mask = ~0u;
    expect_probing_fails("of rank 1");
}

static void test_probing_with_losses(void **state)
{
    (void) state;
    config.network.faults.drop = 0.3;
    for (unsigned seed = 0; seed < 50; seed++) {
        config.network.faults.seed = seed;
        begin_crew(12);
        expect_probed();
    }
}

static void test_probing_with_bursts(void **state)
{
    (void) state;
    config.network.faults = (oc_faults_t) {.drop = 0.3, .burst = 10};
    for (unsigned seed = 0; seed < 50; seed++) {
        config.network.faults.seed = seed;
        begin_crew(4);
        expect_probed();
    }
}

static void test_silent_rank_while_probing(void **state)
{
    (void) state;
    config.born[3] = HOUR;
    begin_crew(4);
    (void) network_run(crew_network(crew), now() + config.probe_timeout + SPREAD, NULL, NULL);
    for (unsigned i = 0; i < 3; i++) {
        assert_int_equal(oc_cast_group_ready(crew_group(crew, i)), OC_ERR_TIMEOUT);
        assert_non_null(strstr(oc_cast_group_reason(crew_group(crew, i)), "rank 3 "));
    }
}

/* A rank that is elsewhere does not drown in requests for probes. */
static void test_rank_joins_an_hour_late(void **state)
{
    (void) state;
    config.born[3] = HOUR;
    config.probe_timeout = 0;
    begin_crew(4);
    assert_true(crew_probe(crew, HOUR + 5 * OC_SECOND));
    assert_in_range(crew_totals(crew).control_messages, 3, 3 * 400);
    (void) crew_add(crew, &(operation_t) {.block = 50000, .blocking = true});
    expect_success(OC_SECOND);
}

/*
 * A rank is there, and the network takes its time to join it: it hears none of what others send for
 * it, which is no reason to say that there is no multicast, and neither is that it sends nothing.
 */
static void test_network_joins_a_rank_late(void **state)
{
    (void) state;
    for (unsigned rank = 0; rank < 12; rank += 5) {
        memset(config.joined, 0, sizeof(config.joined));
        config.joined[rank] = config.probe_timeout + 3 * OC_SECOND;
        begin_crew(12);
        assert_true(crew_probe(crew, config.joined[rank] + OC_SECOND));
        for (unsigned i = 0; i < 12; i++) {
            assert_int_equal(oc_cast_group_ready(crew_group(crew, i)), OC_OK);
        }
        (void) crew_add(crew, &(operation_t) {.block = 50000, .blocking = true});
        expect_success(OC_SECOND);
    }
}

static void test_ranks_do_not_wait_for_each_other(void **state)
{
    (void) state;
    config.eager = true;
    config.network.faults.drop = 0.2;
    for (unsigned seed = 0; seed < 20; seed++) {
        config.network.faults.seed = seed;
        config.born[seed % 5] = 300 * OC_MILLISECOND;
        begin_crew(5);
        (void) crew_add(crew, &(operation_t) {.block = 50000, .blocking = true});
        (void) crew_add(crew, &(operation_t) {.block = 10, .blocking = true});
        assert_string_equal(crew_run(crew, 5 * OC_SECOND), "");
    }
}

/* ---- ends ---- */

/* Operations that are under way are dropped without a word. */
static void test_groups_are_freed_early(void **state)
{
    (void) state;
    begin_crew(3);
    expect_probed();
    (void) crew_add(crew, &(operation_t) {.block = 500000});
    (void) crew_add(crew, &(operation_t) {.block = 500000, .queued = true});
    (void) network_run(crew_network(crew), now() + OC_MILLISECOND / 2, NULL, NULL);
    assert_int_equal(oc_cast_pending(crew_group(crew, 0)), 2);
    oc_cast_group_free(NULL);
}

static void test_failed_groups_refuse_operations(void **state)
{
    (void) state;
    begin_crew(3);
    expect_probed();
    oc_cast_group_fail(crew_group(crew, 0), OC_ERR_SYSTEM, "first");
    oc_cast_group_fail(crew_group(crew, 0), OC_ERR_TIMEOUT, "second");
    assert_string_equal(oc_cast_group_reason(crew_group(crew, 0)), "first");
    (void) crew_add(crew, &(operation_t) {.block = 5});
    assert_true(crew_play(crew, OC_SECOND));
    for (unsigned i = 0; i < 3; i++) {
        assert_int_equal(crew_outcome(crew, i, 0)->status, OC_ERR_SYSTEM);
    }
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up_crew, tear_down_crew)
    const struct CMUnitTest tests[] = {
        TEST(test_rank_a_minute_late),
        TEST(test_rank_an_hour_late),
        TEST(test_root_an_hour_late),
        TEST(test_ranks_compute_after_blocking_operations),
        TEST(test_long_messages_to_ranks_that_compute),
        TEST(test_stopped_for_half_a_minute),
        TEST(test_stopped_while_all_wait),
        TEST(test_operation_takes_long),
        TEST(test_stopped_for_an_hour),
        TEST(test_leaf_dies_silently),
        TEST(test_parent_dies_silently),
        TEST(test_root_dies_silently),
        TEST(test_death_is_known),
        TEST(test_death_is_known_in_nonblocking_operation),
        TEST(test_rank_dies_before_it_enters),
        TEST(test_leaf_vanishes_before_it_enters),
        TEST(test_parent_vanishes_before_it_enters),
        TEST(test_root_vanishes_before_it_enters),
        TEST(test_nobody_is_asked_whether_it_enters_a_nonblocking_operation),
        TEST(test_one_rank_cannot_go_on),
        TEST(test_no_multicast_at_all),
        TEST(test_no_large_datagrams),
        TEST(test_no_multicast_to_one_rank),
        TEST(test_no_multicast_from_one_rank),
        TEST(test_probing_with_losses),
        TEST(test_probing_with_bursts),
        TEST(test_silent_rank_while_probing),
        TEST(test_rank_joins_an_hour_late),
        TEST(test_network_joins_a_rank_late),
        TEST(test_ranks_do_not_wait_for_each_other),
        TEST(test_groups_are_freed_early),
        TEST(test_failed_groups_refuse_operations),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
