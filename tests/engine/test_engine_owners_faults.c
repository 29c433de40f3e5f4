/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Owns the engine's tests of what goes wrong where results go to some ranks only: servers that die or
 * have little memory, ranks that stand still, and ranks that disagree about who owns what.
 */
/* Test: default 180; threads: all 240; sanitizers: all 400 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "tests/engine/grove.h"
#include "tests/engine/harness.h"
#include "tests/engine/owners.h"

#define LARGE (1u << 18)   /* floats */

static const uint8_t two_each[] = {1, 1, 2, 2, 3, 3};

static float vector[LARGE], block[LARGE];

/* Blocks that grow with the rank; roots in turn. */
static oc_status_t run_one(rank_t *rank, unsigned number)
{
    size_t counts[MAX_TEST_RANKS], count = 0;
    outcome_t outcome = {0};
    oc_allreduce_args_t args = {.send = vector, .recv = block, .op = OC_OP_SUM,
                                .type = OC_TYPE_FLOAT, .to = OC_RESULT_TO_BLOCKS,
                                .counts = counts, .finished = rank_on_finished, .arg = &outcome};
    oc_status_t status;

    for (uint32_t r = 0; r < rank->num_ranks; r++) {
        counts[r] = LARGE / 2 / rank->num_ranks + r;
        count += counts[r];
    }
    args.count = count;
    if (0 == number % 3) {
        args.to = OC_RESULT_TO_ROOT;
        args.root = number % rank->num_ranks;
    }
    status = oc_allreduce_start(rank_group(rank, 0), &args);
    if (OC_OK == status) {
        CHECK(rank_wait(rank, &outcome, 1, 12));
        status = outcome.status;
    }
    atomic_fetch_add(&rank->shared->operations, 1);
    return status;
}

/* ---- who dies ---- */

static void body_until_error(rank_t *rank)
{
    oc_status_t status = OC_OK;

    for (unsigned i = 0; i < 100000 && OC_OK == status; i++) {
        status = run_one(rank, i);
    }
    CHECK(status < 0);
    CHECK(OC_GROUP_FAILED == oc_group_state(rank->groups[0]));
    CHECK(NULL != strstr(oc_group_reason(rank->groups[0]), "server"));
    CHECK(0 == oc_client_pending(rank->client));
}

static void body_nodes_until_error(rank_t *rank)
{
    rank->hosts = two_each;
    body_until_error(rank);
}

static void kill_server_of(uint32_t num_ranks, void (*body)(rank_t *rank))
{
    test_server_t server;
    oc_job_settings_t settings;
    ranks_t ranks;
    bool reached;

    server_start(&server, NULL);
    settings = test_settings(server.address);
    ranks_start(&ranks, num_ranks, &settings, body, 40);
    reached = ranks_reach(&ranks, 4 * num_ranks);
    kill(server_data_process(&server), SIGKILL);
    assert_int_equal(ranks_wait(&ranks), 0);
    (void) server_stop(&server);
    assert_true(reached);
}

static void test_server_dies(void **state)
{
    (void) state;
    kill_server_of(3, body_until_error);
    kill_server_of(6, body_nodes_until_error);
}

/* ---- who stands still ---- */

/* The last rank computes in between, and everybody waits for it. */
static void body_still(rank_t *rank)
{
    for (unsigned i = 0; i < 4; i++) {
        if (rank->rank + 1 == rank->num_ranks) {
            usleep(1500000);
        }
        CHECK(OC_OK == run_one(rank, i));
    }
    CHECK(0 == rank->counters.failures);
}

static void test_rank_stands_still(void **state)
{
    oc_job_settings_t settings = test_settings("embedded");

    (void) state;
    settings.heartbeat_timeout = 1;
    assert_int_equal(ranks_run(4, &settings, body_still, 40), 0);
}

/* ---- little memory ---- */

static void body_flight(rank_t *rank)
{
    owners_in_flight(rank, 200);
}

static void body_nodes_flight(rank_t *rank)
{
    rank->hosts = two_each;
    owners_in_flight(rank, 200);
}

/* One server for several ranks, which aggregate, too, and keep step with it. */
static void run_tight(uint32_t num_ranks, uint32_t window, void (*body)(rank_t *rank))
{
    const char *options[] = {"--memory-limit", "1M", "--aggregators", "1", NULL};
    test_server_t server;
    oc_job_settings_t settings;
    bool waited;

    server_start(&server, options);
    settings = test_settings(server.address);
    settings.chunk_size = 65536;
    settings.window = (int) window;
    assert_int_equal(ranks_run(num_ranks, &settings, body, 60), 0);
    waited = server_said(&server, "was short of memory", 5000);
    assert_int_equal(server_stop(&server), 0);
    assert_true(waited);
}

static void test_tight(void **state)
{
    (void) state;
    run_tight(5, 8, body_flight);
    run_tight(6, 8, body_nodes_flight);
}

static void test_tight_tree(void **state)
{
    grove_t grove = {0};
    oc_job_settings_t settings;
    unsigned failed;
    bool waited;

    (void) state;
    grove_start_with(&grove, 2, "1", "1M", "1M");
    settings = grove_settings(&grove);
    settings.chunk_size = 65536;
    settings.window = 8;
    failed = ranks_run(5, &settings, body_flight, 60);
    waited = server_said(&grove.leaves[0], "was short of memory", 5000);
    grove_stop(&grove);
    assert_int_equal(failed, 0);
    assert_true(waited);
}

/* ---- who disagrees ---- */

/* Each of them does one of its own; all learn that it cannot be. */
static void disagree(rank_t *rank, oc_allreduce_args_t *args)
{
    outcome_t outcome = {0};

    args->send = vector;
    args->recv = block;
    args->op = OC_OP_SUM;
    args->type = OC_TYPE_FLOAT;
    args->finished = rank_on_finished;
    args->arg = &outcome;
    CHECK(OC_OK == oc_allreduce_start(rank_group(rank, 0), args));
    CHECK(rank_wait(rank, &outcome, 1, 12));
    CHECK(outcome.status < 0);
    CHECK(OC_GROUP_FAILED == oc_group_state(rank->groups[0]));
}

static void body_two_roots(rank_t *rank)
{
    oc_allreduce_args_t args = {.count = LARGE, .to = OC_RESULT_TO_ROOT, .root = rank->rank % 2};

    disagree(rank, &args);
}

static void body_two_kinds(rank_t *rank)
{
    oc_allreduce_args_t args = {.count = LARGE / 12 * 12,
                                .to = 0 == rank->rank ? OC_RESULT_TO_ALL : OC_RESULT_TO_BLOCKS};

    disagree(rank, &args);
}

/* The sum is the same. */
static void body_two_cuts(rank_t *rank)
{
    size_t counts[] = {60000, 60000, 60000};
    oc_allreduce_args_t args = {.count = 180000, .to = OC_RESULT_TO_BLOCKS, .counts = counts};

    counts[0] += 2 == rank->rank ? 20000 : 0;
    counts[1] -= 2 == rank->rank ? 20000 : 0;
    disagree(rank, &args);
}

static void body_two_roots_on_nodes(rank_t *rank)
{
    rank->hosts = two_each;
    body_two_roots(rank);
}

/* All but the first rank agree about a root: nobody else claims what it does not own. */
static void body_one_root_too_many(rank_t *rank)
{
    oc_allreduce_args_t args = {.count = LARGE, .to = OC_RESULT_TO_ROOT,
                                .root = 0 == rank->rank ? 2 : 1};

    disagree(rank, &args);
}

static void test_disagreement(void **state)
{
    oc_job_settings_t settings = test_settings("embedded:2"), all = test_settings("embedded");
    grove_t grove = {0};
    unsigned failed;

    (void) state;
    assert_int_equal(ranks_run(3, &settings, body_two_roots, 30), 0);
    assert_int_equal(ranks_run(3, &settings, body_two_kinds, 30), 0);
    assert_int_equal(ranks_run(3, &settings, body_two_cuts, 30), 0);
    assert_int_equal(ranks_run(3, &all, body_one_root_too_many, 30), 0);
    assert_int_equal(ranks_run(6, &all, body_two_roots_on_nodes, 30), 0);
    grove_start(&grove, 2, "2");
    settings = grove_settings(&grove);
    failed = ranks_run(4, &settings, body_two_roots, 30);
    grove_stop(&grove);
    assert_int_equal(failed, 0);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_server_dies),
        cmocka_unit_test(test_rank_stands_still),
        cmocka_unit_test(test_tight),
        cmocka_unit_test(test_tight_tree),
        cmocka_unit_test(test_disagreement),
    };

    alarm(900);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
