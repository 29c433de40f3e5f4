/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Owns the engine's tests of what follows the loss of a server while others are left: collectives end with the bits that
 * they would have had, whoever had which of their results, and whether the ranks look or compute.
 *
 * A rank takes a server for lost that is well: as after a break of the network. All that was on the way to this rank is
 * gone with that.
 */
/* Test: quick 120 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "client/process/moving.h"
#include "client/state/loss.h"
#include "tests/engine/harness.h"
#include "tests/random.h"

#define SERVERS 7
#define RANKS   3
#define COUNT   60000u /* floats of a large vector */
#define SMALL   50u
#define MOST    5      /* at once */

typedef struct {
    uint32_t count;
    bool in_place;
    float *send, *recv, *expected;
    outcome_t outcome;
} operation_t;

/* SEED of the environment makes other schedules. */
static uint64_t seed_of(void)
{
    const char *text = getenv("SEED");

    return NULL != text ? 1000 * strtoull(text, NULL, 10) : 0;
}

/* The rank's last link is lost. */
static void lose(rank_t *rank)
{
    oc_client_t *client = rank->client;
    const oc_group_servers_t *servers = rank->groups[0]->servers;

    pthread_mutex_lock(&client->lock);
    CHECK(oc_loss_notice(servers->links[servers->num_links - 1].connection, OC_ERR_TIMEOUT,
                         "a server was taken for lost"));
    oc_client_settle(client);
    pthread_mutex_unlock(&client->lock);
}

static void begin(rank_t *rank, operation_t *o, uint32_t count, bool in_place, unsigned seed)
{
    *o = (operation_t) {.count = count, .in_place = in_place};
    o->send = malloc(count * sizeof(float));
    o->recv = malloc(count * sizeof(float));
    o->expected = malloc(count * sizeof(float));
    CHECK(NULL != o->send && NULL != o->recv && NULL != o->expected);
    fill_contribution(in_place ? o->recv : o->send, OC_TYPE_FLOAT, count, rank->rank, seed);
    fill_expected(o->expected, OC_OP_SUM, OC_TYPE_FLOAT, count, rank->num_ranks, seed);
    CHECK(OC_OK == rank_start(rank, 0, OC_OP_SUM, OC_TYPE_FLOAT, in_place ? o->recv : o->send,
                              o->recv, count, &o->outcome));
}

static void finish(rank_t *rank, operation_t *o)
{
    CHECK(rank_wait(rank, &o->outcome, 1, 20));
    CHECK(OC_OK == o->outcome.status);
    CHECK(0 == memcmp(o->recv, o->expected, o->count * sizeof(float)));
    free(o->send);
    free(o->recv);
    free(o->expected);
}

/* Some at once, in the middle of which one of the ranks loses a server. */
static void round_of(rank_t *rank, unsigned round)
{
    oc_random_t random = {.state = seed_of() + round};
    uint32_t count = 1 + (uint32_t) oc_random_below(&random, MOST);
    uint32_t looks = (uint32_t) oc_random_below(&random, 400);
    operation_t o[MOST];

    for (uint32_t i = 0; i < count; i++) {
        bool small = 0 == oc_random_below(&random, 3);

        begin(rank, &o[i], small ? SMALL : 1 + (uint32_t) oc_random_below(&random, COUNT),
              0 != oc_random_below(&random, 2),
              100 * round + i);
    }
    for (uint32_t i = 0; round % RANKS == rank->rank && i < looks; i++) {
        (void) oc_client_progress(rank->client);
        usleep(10);
    }
    if (round % RANKS == rank->rank) {
        lose(rank);
    }
    for (uint32_t i = 0; i < count; i++) {
        finish(rank, &o[i]);
    }
}

static void body_rounds(rank_t *rank)
{
    operation_t first;

    begin(rank, &first, SMALL, false, 1);
    finish(rank, &first);
    for (unsigned round = 0; round < SERVERS - 1; round++) {
        round_of(rank, round);
        rank_barrier(rank);
        CHECK(rank->counters.recoveries == round + 1);
    }
    /* with the one that is left */
    begin(rank, &first, COUNT, true, 7);
    finish(rank, &first);
}

/*
 * All but one rank have the result, and compute from then on: it was on its way to the last one when that lost the
 * server. Nobody but a thread of theirs can give it what it lacks.
 */
static void body_away(rank_t *rank)
{
    operation_t o;

    /* all lanes have been used */
    for (unsigned i = 0; i < 4 * SERVERS; i++) {
        begin(rank, &o, SMALL, false, 1);
        finish(rank, &o);
    }
    for (unsigned round = 0; round < SERVERS - 1; round++) {
        rank_barrier(rank);
        /* blocking or not, and each lane in turn */
        begin(rank, &o, 0 == round % 2 ? SMALL : COUNT, 0 == round % 3, 2 + round);
        if (0 != rank->rank && 0 == round % 2) {
            finish(rank, &o);
        } else if (0 != rank->rank) {
            rank_linger(rank, 20);
        }
        rank_compute(rank);
        if (0 == rank->rank) {
            lose(rank);
        }
        if (0 == rank->rank || 0 != round % 2) {
            finish(rank, &o);
        }
        rank_compute(rank);
    }
    CHECK(rank->counters.bytes_supplied > 0);
}

static void run(void (*body)(rank_t *rank), unsigned servers)
{
    static test_server_t server[SERVERS];
    const char *options[] = {"--aggregators", "2", NULL};
    oc_job_settings_t settings;
    char list[SERVERS * 80] = "";
    unsigned failed;

    for (unsigned i = 0; i < servers; i++) {
        server_start(&server[i], options);
        snprintf(list + strlen(list), sizeof(list) - strlen(list), "%s%s", i > 0 ? "," : "",
                 server[i].address);
    }
    settings = test_settings(list);
    settings.recovery = 1;
    failed = ranks_run(RANKS, &settings, body, 60);
    for (unsigned i = 0; i < servers; i++) {
        assert_int_equal(server_stop(&server[i]), 0);
    }
    assert_int_equal(failed, 0);
}

static void test_rounds(void **state)
{
    (void) state;
    run(body_rounds, SERVERS);
}

static void test_away(void **state)
{
    (void) state;
    run(body_away, SERVERS);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_rounds),
        cmocka_unit_test(test_away),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
