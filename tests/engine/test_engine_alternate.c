/* SPDX-License-Identifier: BSD-3-Clause */
/* Owns the tests of several Allgathers of a communicator under way at once, by UDP multicast on the loopback. */
/* Test: quick 120; sanitizers: default 300; threads: all 120 */
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
#include "tests/engine/casting.h"
#include "tests/engine/late.h"
#include "tests/faults/door.h"

#define AT_ONCE 4u
#define ROUNDS  12u
#define BLOCK   60000u

static void start(rank_t *rank, allgather_t *a, size_t block, bool blocking, unsigned seed)
{
    const size_t lengths[MAX_TEST_RANKS] = {block, block, block, block};

    casting_lay_out(rank, a, lengths, 0, seed);
    a->nonblocking = !blocking;
    casting_start(rank, 0, a, 0 != seed % 2, true);
}

static void end(rank_t *rank, allgather_t *a)
{
    CHECK(rank_wait(rank, &a->outcome, 1, 20));
    casting_check(rank, a, 0);
}

/* Some of them as a Bcast would, in which few send, and each time of other sizes. */
static void start_unequal(rank_t *rank, allgather_t *a, unsigned seed)
{
    size_t lengths[MAX_TEST_RANKS] = {0};

    lengths[seed % rank->num_ranks] = 100000;
    lengths[(seed + 1) % rank->num_ranks] = seed;
    casting_lay_out(rank, a, lengths, 3, seed);
    a->nonblocking = true;
    casting_start(rank, 0, a, false, false);
}

static void overlapping(rank_t *rank)
{
    static allgather_t all[AT_ONCE], few, blocking;
    unsigned seed = 0;

    rank->service = OC_SERVICE_MULTICAST;
    for (unsigned round = 0; round < ROUNDS; round++) {
        for (unsigned i = 0; i < AT_ONCE; i++) {
            start(rank, &all[i], 1 + i * (BLOCK / AT_ONCE) + 100 * round, false, seed++);
        }
        start_unequal(rank, &few, seed++);
        if (0 != round % 2) {
            start(rank, &blocking, BLOCK, true, seed++);
            end(rank, &blocking);
        }
        CHECK(rank_wait(rank, &few.outcome, 1, 20));
        casting_check(rank, &few, 3);
        for (unsigned i = AT_ONCE; i > 0; i--) {
            end(rank, &all[i - 1]);
        }
    }
    CHECK(ROUNDS * (AT_ONCE + 1) + ROUNDS / 2 == rank->counters.allgather_offloaded);
    CHECK(0 == rank->counters.failures);
    CHECK(0 == rank->counters.cast.groups_unicast);
}

static void test_overlapping(void **state)
{
    oc_job_settings_t settings = cast_settings();

    (void) state;
    assert_int_equal(ranks_run(4, &settings, overlapping, 60), 0);
    faults_install("drop=0.05,reorder=0.05,duplicate=0.05,seed=11");
    assert_int_equal(ranks_run(4, &settings, overlapping, 90), 0);
}

/* Each by the address of the job, as there is no room for another one. */
static void test_common_address(void **state)
{
    oc_job_settings_t settings = cast_settings();

    (void) state;
    settings.multicast_groups = 1;
    assert_int_equal(ranks_run(3, &settings, overlapping, 60), 0);
}

/* All that were started end with an error on all ranks that live, whichever group they are in. */
static void killed(rank_t *rank)
{
    static allgather_t all[AT_ONCE];
    unsigned failed = 0;

    rank->service = OC_SERVICE_MULTICAST;
    start(rank, &all[0], 1000, true, 0);
    end(rank, &all[0]);
    rank_barrier(rank);
    if (2 == rank->rank) {
        raise(SIGKILL);
    }
    for (unsigned i = 0; i < AT_ONCE; i++) {
        start(rank, &all[i], BLOCK, false, i);
    }
    for (unsigned i = 0; i < AT_ONCE; i++) {
        CHECK(rank_wait(rank, &all[i].outcome, 1, 20));
        failed += all[i].outcome.status < OC_OK;
        casting_release(&all[i]);
    }
    CHECK(AT_ONCE == failed && AT_ONCE == rank->counters.failures);
    CHECK(NULL != strstr(oc_group_reason(rank_group(rank, 0)), "rank 2"));
    casting_outlive(rank);
    oc_group_destroy(rank->groups[0]);
    oc_client_destroy(rank->client);
    exit(EXIT_SUCCESS);
}

static void test_killed_rank(void **state)
{
    oc_job_settings_t settings = cast_settings();

    (void) state;
    settings.heartbeat_timeout = 2;
    /* the one that was killed */
    assert_int_equal(ranks_run(3, &settings, killed, 40), 1);
}

/* Rank 1 gets nothing by multicast any more: all go on without, and leave it after a blocking one, together. */
static void cut_off(rank_t *rank)
{
    static allgather_t all[AT_ONCE];
    oc_status_t status = OC_OK;

    rank->service = OC_SERVICE_MULTICAST;
    late_joins(0, NULL);
    start(rank, &all[0], 1000, true, 0);
    end(rank, &all[0]);
    rank_barrier(rank);
    if (1 == rank->rank) {
        late_is_cut_off(true, false);
    }
    for (unsigned round = 0; round < 50 && OC_OK == status; round++) {
        for (unsigned i = 0; i + 1 < AT_ONCE; i++) {
            start(rank, &all[i], 300000, false, i);
        }
        start(rank, &all[AT_ONCE - 1], 300000, true, AT_ONCE);
        for (unsigned i = 0; i < AT_ONCE; i++) {
            CHECK(rank_wait(rank, &all[i].outcome, 1, 20));
            CHECK(OC_OK == status || OC_DECLINED == all[i].outcome.status);
            status = all[i].outcome.status;
            CHECK(OC_OK == status || OC_DECLINED == status);
            casting_release(&all[i]);
        }
    }
    CHECK(OC_DECLINED == status);
    CHECK(1 != rank->rank || 1 == rank->counters.cast.groups_unicast);
    CHECK(0 == rank->counters.failures);
}

static void test_membership_is_lost(void **state)
{
    oc_job_settings_t settings = cast_settings();

    (void) state;
    assert_int_equal(ranks_run(3, &settings, cut_off, 60), 0);
}

/* Faults are for one test. */
static int mend_network(void **state)
{
    (void) state;
    faults_install("");
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(test_overlapping, mend_network),
        cmocka_unit_test(test_common_address),
        cmocka_unit_test(test_killed_rank),
        cmocka_unit_test(test_membership_is_lost),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
