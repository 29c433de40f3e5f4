/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Owns the engine's tests of when a server that is back is not taken back: soon after it has come and gone, while much is under
 * way, and when a job has lost as many as it can.
 */
/* Test: default 180 -- test_much*; all 400; sanitizers: all 600 */
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
#include "client/collective/kept.h"
#include "client/process/moving.h"
#include "client/state/loss.h"
#include "tests/engine/visitor.h"

static visitor_t visitor;

static void go_and_come(void)
{
    visitor_go(&visitor);
    visitor_come(&visitor, "1", NULL, NULL);
}

/* ---- one that comes and goes ---- */

static unsigned flaps;

static bool has_flapped(const unsigned seen[TRAFFIC_VALUES])
{
    return flaps == seen[TRAFFIC_RECOVERIES] && flaps == seen[TRAFFIC_RETURNS] && 2 == seen[TRAFFIC_SERVERS];
}

/* Each time twice as long, however soon it is there. */
static void test_flaps(void **state)
{
    oc_job_settings_t settings = visitor_settings(20);

    (void) state;
    visitor_begin(&visitor, &settings, "1", NULL);
    for (flaps = 1; flaps <= 4; flaps++) {
        uint64_t gone = oc_clock_ns();

        go_and_come();
        TRAFFIC_AWAIT(&visitor.traffic, has_flapped);
        assert_true(oc_clock_ns() - gone >= OC_SECOND << (flaps - 1));
    }
    visitor_end(&visitor);
}

/* ---- while much is under way ---- */

#define LARGE      (8u << 20)   /* elements, in chunks of which one is on its way at a time */
#define LITTLES    1200u        /* more than can be settled */
#define OVER       (OC_KEPT_SPAN - 1) /* so many of them can end while a large one that was begun before does not */
#define STANDSTILL 1u           /* this rank does nothing any more */

/* Ranks that are in the middle of an order, and what they wait for there. */
typedef struct {
    atomic_uint ready;
    atomic_uint recoveries, returns;
} stand_t;

static stand_t *stand;

typedef struct {
    float send, recv;
    outcome_t outcome;
} little_t;

/* Of the rank whose thread alone may look. */
static bool has_seen(rank_t *rank)
{
    oc_counters_t counters;

    pthread_mutex_lock(&rank->client->lock);
    counters = rank->counters;
    pthread_mutex_unlock(&rank->client->lock);
    return counters.recoveries == atomic_load(&stand->recoveries) && counters.returns == atomic_load(&stand->returns);
}

/* In the middle of all that something becomes of a server. */
static void stand_still(rank_t *rank, bool progress)
{
    uint64_t end = oc_clock_ns() + 60 * OC_SECOND;

    atomic_fetch_add(&stand->ready, 1);
    while (!has_seen(rank)) {
        CHECK(oc_clock_ns() < end);
        if (progress) {
            rank_linger(rank, 1);
        } else {
            usleep(1000);
        }
    }
}

static void begin_little(rank_t *rank, little_t *littles, unsigned count)
{
    for (unsigned i = 0; i < count; i++) {
        littles[i].send = (float) (rank->rank + i);
        CHECK(OC_OK == rank_start(rank, 0, OC_OP_SUM, OC_TYPE_FLOAT, &littles[i].send, &littles[i].recv, 1,
                                  &littles[i].outcome));
    }
}

static void finish_little(rank_t *rank, little_t *littles, unsigned count)
{
    for (unsigned i = 0; i < count; i++) {
        CHECK(rank_wait(rank, &littles[i].outcome, 1, 20));
        CHECK(OC_OK == littles[i].outcome.status);
        CHECK((float) (3 + 3 * i) == littles[i].recv);
    }
}

/*
 * A large one does not come to its end, since a rank does nothing for it, while as many as possible come to theirs, and the next
 * ones wait: few of all these are under way, but many in question.
 */
static unsigned stand_behind(rank_t *rank, unsigned order)
{
    static little_t littles[LITTLES];
    float *send = malloc(LARGE * sizeof(float)), *recv = malloc(LARGE * sizeof(float)), *expected = malloc(LARGE * sizeof(float));
    outcome_t outcome;

    CHECK(NULL != send && NULL != recv && NULL != expected);
    fill_contribution(send, OC_TYPE_FLOAT, LARGE, rank->rank, order);
    fill_expected(expected, OC_OP_SUM, OC_TYPE_FLOAT, LARGE, rank->num_ranks, order);
    rank_barrier(rank);
    CHECK(OC_OK == rank_start(rank, 0, OC_OP_SUM, OC_TYPE_FLOAT, send, recv, LARGE, &outcome));
    begin_little(rank, littles, LITTLES);
    finish_little(rank, littles, OVER);
    CHECK(!outcome.done);
    stand_still(rank, STANDSTILL != rank->rank);
    finish_little(rank, littles, LITTLES);
    CHECK(rank_wait(rank, &outcome, 1, 40));
    CHECK(OC_OK == outcome.status);
    CHECK(0 == memcmp(recv, expected, LARGE * sizeof(float)));
    free(send);
    free(recv);
    free(expected);
    return 1 + LITTLES;
}

/* Rank 0 has begun all that it can; the others nothing. */
static unsigned stand_ahead(rank_t *rank, unsigned order)
{
    static little_t littles[OC_MAX_IN_FLIGHT];

    (void) order;
    if (0 == rank->rank) {
        begin_little(rank, littles, OC_MAX_IN_FLIGHT);
    }
    stand_still(rank, true);
    if (0 != rank->rank) {
        begin_little(rank, littles, OC_MAX_IN_FLIGHT);
    }
    finish_little(rank, littles, OC_MAX_IN_FLIGHT);
    return OC_MAX_IN_FLIGHT;
}

static void await_stand(void)
{
    uint64_t end = oc_clock_ns() + 60 * OC_SECOND;

    while (atomic_load(&stand->ready) < VISITOR_RANKS) {
        assert_true(oc_clock_ns() < end);
        usleep(1000);
    }
}

/* Returns when all ranks stand, until they have seen so much. */
static void begin_stand(unsigned (*obey)(rank_t *rank, unsigned order), bool both, unsigned losses, unsigned comebacks)
{
    oc_job_settings_t settings = visitor_settings(20);

    settings.window = 1;
    settings.chunk_size = 4096;
    atomic_store(&stand->ready, 0);
    atomic_store(&stand->recoveries, losses);
    atomic_store(&stand->returns, comebacks);
    if (both) {
        visitor_begin(&visitor, &settings, "1", obey);
    } else {
        visitor_begin_away(&visitor, &settings, "1", obey);
    }
    traffic_order(&visitor.traffic);
    await_stand();
}

static bool is_back_once(const unsigned seen[TRAFFIC_VALUES])
{
    return 1 == seen[TRAFFIC_RECOVERIES] && 1 == seen[TRAFFIC_RETURNS] && 2 == seen[TRAFFIC_SERVERS];
}

static void end_stand(traffic_state_t state)
{
    traffic_await_obedience(&visitor.traffic);
    TRAFFIC_AWAIT(&visitor.traffic, state);
    visitor_end(&visitor);
}

static void test_much_and_back(void **state)
{
    (void) state;
    begin_stand(stand_behind, false, 1, 1);
    visitor_come(&visitor, "1", NULL, NULL);
    end_stand(is_back_once);
}

static void test_much_and_lost(void **state)
{
    (void) state;
    begin_stand(stand_behind, true, 1, 0);
    visitor_go(&visitor);
    traffic_await_obedience(&visitor.traffic);
    visitor_come(&visitor, "1", NULL, NULL);
    end_stand(is_back_once);
}

static void test_much_and_told_to_stop(void **state)
{
    (void) state;
    begin_stand(stand_behind, true, 1, 0);
    assert_int_equal(kill(visitor.server.pid, SIGTERM), 0);
    end_stand(visitor_first_away);
}

static void test_ahead(void **state)
{
    (void) state;
    begin_stand(stand_ahead, false, 1, 1);
    visitor_come(&visitor, "1", NULL, NULL);
    end_stand(is_back_once);
}

/* ---- when a job has lost as many as it can ---- */

/* Incarnations of no server: with the number of no server of the list they can have come back, too. */
#define MADE_UP   UINT64_C(0x4d41444500000000)
#define NO_NUMBER 4711

/* For the next orders. */
typedef struct {
    atomic_uint lost, returned;
} plan_t;

static plan_t *plan;

/* Rank 1 hears that so many more are lost, or are back, which the job has not known. */
static unsigned hear_of_many(rank_t *rank, unsigned order)
{
    static const char text[] = "servers that never were";
    oc_loss_t loss = {.text = {(const uint8_t *) text, sizeof(text) - 1}};
    oc_client_t *client = rank->client;
    uint64_t next = MADE_UP + 1000 * order;

    for (unsigned i = 0; i < atomic_load(&plan->lost); i++) {
        CHECK(oc_lost_add(&loss.servers, next++));
    }
    for (unsigned i = 0; i < atomic_load(&plan->returned); i++) {
        CHECK(oc_lost_add_returned(&loss.servers, (oc_returned_t) {.incarnation = next++, .number = NO_NUMBER}));
    }
    if (1 == rank->rank) {
        pthread_mutex_lock(&client->lock);
        oc_loss_hear(client, &loss);
        oc_client_settle(client);
        pthread_mutex_unlock(&client->lock);
    }
    return 0;
}

static unsigned recoveries, returns;

static bool has_both(const unsigned seen[TRAFFIC_VALUES])
{
    return recoveries == seen[TRAFFIC_RECOVERIES] && returns == seen[TRAFFIC_RETURNS] && 2 == seen[TRAFFIC_SERVERS];
}

static bool has_one(const unsigned seen[TRAFFIC_VALUES])
{
    return recoveries == seen[TRAFFIC_RECOVERIES] && returns == seen[TRAFFIC_RETURNS] && 1 == seen[TRAFFIC_SERVERS];
}

/* All ranks hear of it, and go on with the same servers. */
static void make_up(unsigned lost, unsigned returned, traffic_state_t then)
{
    atomic_store(&plan->lost, lost);
    atomic_store(&plan->returned, returned);
    recoveries += lost > 0;
    returns += returned;
    traffic_order(&visitor.traffic);
    traffic_await_obedience(&visitor.traffic);
    TRAFFIC_AWAIT(&visitor.traffic, then);
}

static void go_and_return(void)
{
    recoveries++;
    returns++;
    go_and_come();
    TRAFFIC_AWAIT(&visitor.traffic, has_both);
}

/* It is there all the time, as long as it would take to come back the next time. */
static void go_for_good(unsigned ms)
{
    recoveries++;
    go_and_come();
    TRAFFIC_AWAIT(&visitor.traffic, has_one);
    TRAFFIC_HOLD(&visitor.traffic, has_one, ms);
}

static void begin_epochs(void)
{
    oc_job_settings_t settings = visitor_settings(20);

    recoveries = returns = 0;
    visitor_begin(&visitor, &settings, "1", hear_of_many);
}

/* As many are left as there are servers, so that each can be lost once more; and when that has been, the job ends. */
static void test_most_losses(void **state)
{
    (void) state;
    begin_epochs();
    make_up(OC_MAX_LOST - 4, 0, has_both);
    go_and_return();
    /* the next one makes OC_MAX_LOST - 2 */
    go_for_good(3500);
    make_up(1, 0, has_one);
    make_up(1, 0, has_one);
    server_kill(&visitor.kept);
    traffic_expect_failure(&visitor.traffic, visitor.kept.address);
    assert_int_equal(server_stop(&visitor.server), 0);
}

static void test_most_returns(void **state)
{
    (void) state;
    begin_epochs();
    make_up(0, OC_MAX_LOST - 3, has_both);
    go_and_return();
    go_for_good(3500);
    visitor_end(&visitor);
}

static int clean(void **state)
{
    (void) state;
    visitor_clean(&visitor);
    return 0;
}

int main(int argc, char **argv)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(test_flaps, clean),
        cmocka_unit_test_teardown(test_much_and_back, clean),
        cmocka_unit_test_teardown(test_much_and_lost, clean),
        cmocka_unit_test_teardown(test_much_and_told_to_stop, clean),
        cmocka_unit_test_teardown(test_ahead, clean),
        cmocka_unit_test_teardown(test_most_losses, clean),
        cmocka_unit_test_teardown(test_most_returns, clean),
    };

    stand = shared_memory(sizeof(*stand));
    plan = shared_memory(sizeof(*plan));
    if (argc > 1) {
        cmocka_set_test_filter(argv[1]);
    }
    return cmocka_run_group_tests(tests, NULL, NULL);
}
