/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Owns the engine's tests of what else ranks tell each other with their votes for a group of servers: which starts of these they have
 * joined, and how much they can keep for it.
 */
/* Test: default 60; sanitizers: all 300 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include <utlist.h>

#include "base/clock.h"
#include "client/collective/kept.h"
#include "client/state/promise.h"
#include "client/state/setup_state.h"
#include "tests/engine/harness.h"

#define RANKS 3
#define LATE  2u   /* this rank joins the second start */
#define SMALL 64u

static test_server_t server = {.pid = -1};
static ranks_t ranks;

static oc_job_settings_t settings_for(const char *servers)
{
    oc_job_settings_t settings = test_settings(servers);

    settings.recovery = 1;
    settings.connect_timeout = 20;
    return settings;
}

static void wait_for_signal(rank_t *rank, int signal)
{
    uint64_t end = oc_clock_ns() + 60 * OC_SECOND;

    while (signal > atomic_load(&rank->shared->signal)) {
        CHECK(oc_clock_ns() < end);
        usleep(1000);
    }
}

/* Moves on until the set-up has come to that step. */
static void reach_step(rank_t *rank, oc_setup_step_t step)
{
    uint64_t end = oc_clock_ns() + 60 * OC_SECOND;

    while (NULL == rank_group(rank, 0)->setup || step != rank_group(rank, 0)->setup->step) {
        CHECK(oc_clock_ns() < end);
        if (0 == oc_client_progress(rank->client)) {
            usleep(100);
        }
    }
}

/* Moves on until the next exchange of the set-up has been started: its vote. */
static void give_vote(rank_t *rank)
{
    uint64_t end = oc_clock_ns() + 60 * OC_SECOND;
    int before = rank->meetings[0].step;

    while (before == rank->meetings[0].step) {
        CHECK(oc_clock_ns() < end);
        if (0 == oc_client_progress(rank->client)) {
            usleep(100);
        }
    }
}

static void check_reduced(rank_t *rank, unsigned seed)
{
    float send[SMALL], recv[SMALL], expected[SMALL];

    fill_contribution(send, OC_TYPE_FLOAT, SMALL, rank->rank, seed);
    fill_expected(expected, OC_OP_SUM, OC_TYPE_FLOAT, SMALL, rank->num_ranks, seed);
    CHECK(OC_OK == rank_allreduce(rank, 0, OC_OP_SUM, OC_TYPE_FLOAT, send, recv, SMALL));
    CHECK(0 == memcmp(recv, expected, sizeof(recv)));
}

/* ---- a server that is started anew between two ranks' JOINs ---- */

static void join_two_starts(rank_t *rank)
{
    float send = 1, recv = 0;
    outcome_t outcome;

    CHECK(OC_OK == rank_start(rank, 0, OC_OP_SUM, OC_TYPE_FLOAT, &send, &recv, 1, &outcome));
    reach_step(rank, LATE == rank->rank ? OC_SETUP_RESOLVE : OC_SETUP_VOTE);
    atomic_fetch_add(&rank->shared->operations, 1);
    if (LATE == rank->rank) {
        wait_for_signal(rank, 1);
        give_vote(rank);
        atomic_fetch_add(&rank->shared->operations, 1);
    }
    /* nobody has heard of the loss before all have voted */
    wait_for_signal(rank, 2);
    CHECK(rank_wait(rank, &outcome, 1, 20));
    CHECK(OC_OK == outcome.status && (float) rank->num_ranks == recv);
    check_reduced(rank, 1);
    CHECK(2 == rank->counters.allreduce_offloaded);
    /* not live with two starts, which a new epoch may mend or not: set up again */
    CHECK(rank->client->groups_made > 1);
}

static void test_two_starts(void **state)
{
    const char *options[] = {NULL};
    oc_job_settings_t settings;
    char listen[32];

    (void) state;
    server_start(&server, options);
    snprintf(listen, sizeof(listen), "%s", server.address);
    settings = settings_for(listen);
    ranks_start(&ranks, RANKS, &settings, join_two_starts, 60);
    assert_true(ranks_reach(&ranks, RANKS));
    server_kill(&server);
    server_start_at(&server, listen, options);
    atomic_store(&ranks.shared->signal, 1);
    assert_true(ranks_reach(&ranks, RANKS + 1));
    atomic_store(&ranks.shared->signal, 2);
    assert_int_equal(ranks_wait(&ranks), 0);
    assert_int_equal(server_stop(&server), 0);
}

/* ---- a rank that has promised nearly all that it can keep ---- */

#define LITTLES 200u

/* Bytes of results that the group keeps of small ones that do not block. */
static size_t bytes_kept(rank_t *rank)
{
    const oc_kept_t *kept;
    size_t bytes = 0;

    DL_FOREACH (rank_group(rank, 0)->servers->kept[1], kept) {
        bytes += kept->bytes;
    }
    return bytes;
}

/* All end; and there are never more than this under way, or kept, but for one. */
static void wait_for_all(rank_t *rank, const outcome_t *outcomes, uint64_t most, size_t size)
{
    for (unsigned i = 0; i < LITTLES; i++) {
        const oc_group_t *group = rank_group(rank, 0);

        CHECK(rank_wait(rank, &outcomes[i], 1, 20));
        CHECK(bytes_kept(rank) <= most + size && group->num_running <= most / size + 2);
    }
}

/* Others have promised nothing yet, and have to wait for it. */
static void keep_little(rank_t *rank)
{
    static float send[LITTLES][SMALL], recv[LITTLES][SMALL], expected[SMALL];
    static outcome_t outcomes[LITTLES];
    uint64_t before = LATE == rank->rank ? OC_KEPT_TOTAL - (8u << 10) : 0;

    rank->client->kept_promised = before;
    check_reduced(rank, 0);
    CHECK(1u << 10 == rank_group(rank, 0)->servers->kept_most);
    CHECK(before + (1u << 10) == rank->client->kept_promised);
    for (unsigned i = 0; i < LITTLES; i++) {
        fill_contribution(send[i], OC_TYPE_FLOAT, SMALL, rank->rank, i);
        CHECK(OC_OK == rank_start(rank, 0, OC_OP_SUM, OC_TYPE_FLOAT, send[i], recv[i], SMALL, &outcomes[i]));
    }
    wait_for_all(rank, outcomes, 1u << 10, sizeof(send[0]));
    for (unsigned i = 0; i < LITTLES; i++) {
        fill_expected(expected, OC_OP_SUM, OC_TYPE_FLOAT, SMALL, rank->num_ranks, i);
        CHECK(OC_OK == outcomes[i].status && 0 == memcmp(recv[i], expected, sizeof(expected)));
    }
    rank_renew_group(rank, 0);
    while (rank->client->parting > 0) {
        rank_linger(rank, 1);
    }
    check_reduced(rank, 1);
    CHECK(before + rank_group(rank, 0)->servers->kept_most == rank->client->kept_promised);
}

static void test_little_left(void **state)
{
    const char *options[] = {NULL};
    oc_job_settings_t settings;

    (void) state;
    server_start(&server, options);
    settings = settings_for(server.address);
    assert_true(ranks_succeed(&server, RANKS, &settings, keep_little, 60));
}

static int clean(void **state)
{
    (void) state;
    server_kill(&server);
    return 0;
}

int main(int argc, char **argv)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(test_two_starts, clean),
        cmocka_unit_test_teardown(test_little_left, clean),
    };

    if (argc > 1) {
        cmocka_set_test_filter(argv[1]);
    }
    return cmocka_run_group_tests(tests, NULL, NULL);
}
