/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Owns the engine's tests of the thread that moves collectives on while the application computes: what
 * it does by itself, what it leaves to the application, and that it ends.
 */
/* Test: quick 120; all 120 x20; threads: default 120 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "client/group/quiet.h"
#include "client/process/helper.h"
#include "client/state/types.h"
#include "tests/engine/casting.h"
#include "tests/engine/harness.h"

#define COUNT     50000 /* floats of a large one: many chunks */
#define LARGE     100000 /* floats that are held for multicast */
#define BLOCK     200000
#define AT_ONCE   6
#define ROUNDS    20
#define PATIENCE  (20 * OC_SECOND)
#define MOMENT    (200 * OC_MILLISECOND)

#define KILL_NOW  1 /* what the parent is told by way of operations: the ranks are under way */

static float given[AT_ONCE][COUNT], got[AT_ONCE][COUNT], expected[COUNT];

/* What the client has finished, whoever moved it on. */
static unsigned long long finished(rank_t *rank)
{
    unsigned long long count;

    pthread_mutex_lock(&rank->client->lock);
    count = rank->counters.allreduce_offloaded + rank->counters.allgather_offloaded;
    pthread_mutex_unlock(&rank->client->lock);
    return count;
}

static unsigned long long wakes(rank_t *rank)
{
    unsigned long long count;

    pthread_mutex_lock(&rank->client->lock);
    count = rank->counters.helper_wakes;
    pthread_mutex_unlock(&rank->client->lock);
    return count;
}

/* Without a look at the client: whether so many have finished in that time. */
static bool finish_by_themselves(rank_t *rank, unsigned long long many, uint64_t patience)
{
    uint64_t end = oc_clock_ns() + patience;

    while (finished(rank) < many && oc_clock_ns() < end) {
        usleep(1000);
    }
    return finished(rank) >= many;
}

static void start_some(rank_t *rank, unsigned group, size_t count, unsigned seed,
                       outcome_t outcomes[AT_ONCE])
{
    for (unsigned i = 0; i < AT_ONCE; i++) {
        fill_contribution(given[i], OC_TYPE_FLOAT, count, rank->rank, seed + i);
        memset(got[i], 0, sizeof(got[i]));
        CHECK(OC_OK == rank_start(rank, group, OC_OP_SUM, OC_TYPE_FLOAT, given[i], got[i], count,
                                  &outcomes[i]));
    }
}

static void check_some(rank_t *rank, size_t count, unsigned seed)
{
    for (unsigned i = 0; i < AT_ONCE; i++) {
        fill_expected(expected, OC_OP_SUM, OC_TYPE_FLOAT, count, rank->num_ranks, seed + i);
        CHECK(0 == memcmp(got[i], expected, count * sizeof(float)));
    }
}

/* They end with their results there, but nobody is called back before the application looks. */
static void some(rank_t *rank, size_t count, unsigned seed)
{
    unsigned long long before = finished(rank);
    outcome_t outcomes[AT_ONCE];

    start_some(rank, 0, count, seed, outcomes);
    CHECK(finish_by_themselves(rank, before + AT_ONCE, PATIENCE));
    check_some(rank, count, seed);
    for (unsigned i = 0; i < AT_ONCE; i++) {
        CHECK(!outcomes[i].done);
    }
    CHECK(rank_wait(rank, outcomes, AT_ONCE, 20));
    for (unsigned i = 0; i < AT_ONCE; i++) {
        CHECK(OC_OK == outcomes[i].status);
    }
}

static void body_reductions(rank_t *rank)
{
    rank_set_up_groups(rank, 1);
    for (unsigned round = 0; round < ROUNDS; round++) {
        some(rank, 10, 100 * round);
        some(rank, COUNT, 100 * round + 50);
    }
    CHECK(wakes(rank) > 0);
}

/* As the application computes and looks in turns, and its ranks at different times. */
static void body_turns(rank_t *rank)
{
    outcome_t outcomes[AT_ONCE];

    rank_set_up_groups(rank, 1);
    for (unsigned round = 0; round < 5 * ROUNDS; round++) {
        start_some(rank, 0, round % 2 ? 10 : COUNT, 100 * round, outcomes);
        usleep((round * 977 + rank->rank * 331) % 3000);
        (void) oc_client_progress(rank->client);
        usleep((round * 577 + rank->rank * 731) % 3000);
        CHECK(rank_wait(rank, outcomes, AT_ONCE, 20));
        check_some(rank, round % 2 ? 10 : COUNT, 100 * round);
    }
}

static oc_status_t rank_block(rank_t *rank, unsigned group, const float *one, float *sum)
{
    outcome_t outcome = {0};
    oc_allreduce_args_t args = {.send = one, .recv = sum, .count = 1, .op = OC_OP_SUM,
                                .type = OC_TYPE_FLOAT, .blocking = true,
                                .finished = rank_on_finished, .arg = &outcome};

    CHECK(OC_OK == oc_allreduce_start(rank_group(rank, group), &args));
    CHECK(rank_wait(rank, &outcome, 1, 20));
    return outcome.status;
}

/* Blocking ones of another group, beside those that the helper moves: neither keeps the other waiting. */
static void body_beside(rank_t *rank)
{
    unsigned long long before;
    outcome_t outcomes[AT_ONCE];
    float one = 1, sum;

    rank_set_up_groups(rank, 2);
    for (unsigned round = 0; round < ROUNDS; round++) {
        before = finished(rank);
        start_some(rank, 0, COUNT, 100 * round, outcomes);
        usleep(2000);
        for (unsigned i = 0; i < 10; i++) {
            CHECK(OC_OK == rank_block(rank, 1, &one, &sum) && (float) rank->num_ranks == sum);
        }
        CHECK(finish_by_themselves(rank, before + AT_ONCE + 10, PATIENCE));
        CHECK(rank_wait(rank, outcomes, AT_ONCE, 20));
        check_some(rank, COUNT, 100 * round);
    }
}

/* Blocking ones after a nonblocking one: the helper sleeps until there is another. */
static void body_blocking_after(rank_t *rank)
{
    unsigned long long before = 0;
    float one = 1, sum;

    rank_set_up_groups(rank, 1);
    some(rank, COUNT, 1);
    for (unsigned i = 0; i < 1000; i++) {
        CHECK(OC_OK == rank_block(rank, 0, &one, &sum) && (float) rank->num_ranks == sum);
        usleep(200);
        before = i < 500 ? wakes(rank) : before;
    }
    CHECK(wakes(rank) == before);
}

static void allgather_start(rank_t *rank, bool blocking, uint8_t *blocks, outcome_t *outcome)
{
    oc_allgather_args_t args = {.recv = blocks, .block = BLOCK, .blocking = blocking,
                                .finished = rank_on_finished, .arg = outcome};

    *outcome = (outcome_t) {0};
    casting_fill(blocks + rank->rank * BLOCK, BLOCK, rank->rank, 1);
    CHECK(OC_OK == oc_allgather_start(rank_group(rank, 0), &args));
}

static void body_allgathers(rank_t *rank)
{
    static uint8_t blocks[MAX_TEST_RANKS * BLOCK];
    outcome_t outcome;

    rank->service = OC_SERVICE_MULTICAST;
    casting_allgather(rank, 0, 1000, false, 7);
    CHECK(0 == wakes(rank));
    for (unsigned round = 0; round < ROUNDS; round++) {
        unsigned long long before = finished(rank);

        memset(blocks, 0, sizeof(blocks));
        allgather_start(rank, false, blocks, &outcome);
        CHECK(finish_by_themselves(rank, before + 1, PATIENCE));
        for (uint32_t i = 0; i < rank->num_ranks; i++) {
            CHECK(casting_fits(blocks + i * BLOCK, BLOCK, i, 1));
        }
        CHECK(!outcome.done);
        CHECK(rank_wait(rank, &outcome, 1, 20) && OC_OK == outcome.status);
    }
}

/* How often the helper wakes in a tenth of a second in which collectives seem to begin all the time. */
static unsigned long long wakes_of_hasty(rank_t *rank, uint64_t *elapsed)
{
    unsigned long long before = wakes(rank);
    uint64_t begin = oc_clock_ns();

    do {
        usleep(200);
        pthread_mutex_lock(&rank->client->lock);
        oc_helper_notice(rank->client, true);
        pthread_mutex_unlock(&rank->client->lock);
        *elapsed = oc_clock_ns() - begin;
    } while (*elapsed < 100 * OC_MILLISECOND);
    return wakes(rank) - before;
}

/* On a busy machine what begins all the time may pause. */
static void body_left_alone(rank_t *rank)
{
    outcome_t outcomes[AT_ONCE];
    unsigned tries = 0;
    bool few = false;

    rank_set_up_groups(rank, 1);
    if (0 != rank->rank) {
        start_some(rank, 0, COUNT, 1, outcomes);
    }
    while (0 != rank->rank && !few && tries++ < 30) {
        uint64_t elapsed;

        few = wakes_of_hasty(rank, &elapsed) <= elapsed / (2 * OC_MILLISECOND);
    }
    CHECK(0 == rank->rank || few);
    rank_barrier(rank);
    if (0 == rank->rank) {
        start_some(rank, 0, COUNT, 1, outcomes);
    }
    CHECK(rank_wait(rank, outcomes, AT_ONCE, 20));
    check_some(rank, COUNT, 1);
}

/* Also the setting, and that the tests above can fail. */
static void body_nobody(rank_t *rank)
{
    unsigned long long before;
    outcome_t outcomes[AT_ONCE];

    rank_set_up_groups(rank, 1);
    before = finished(rank);
    start_some(rank, 0, COUNT, 1, outcomes);
    CHECK(!finish_by_themselves(rank, before + AT_ONCE, MOMENT));
    CHECK(rank_wait(rank, outcomes, AT_ONCE, 20));
    CHECK(0 == wakes(rank) && NULL == rank->client->helper);
}

/* Held for multicast, of which another operation begins when nothing has to wait any more: it is not forgotten. */
static void body_held(rank_t *rank)
{
    static float sent[LARGE], sums[LARGE], sum[LARGE];
    outcome_t outcome;
    bool held;

    rank_set_up_groups(rank, 1);
    fill_contribution(sent, OC_TYPE_FLOAT, LARGE, rank->rank, 1);
    fill_expected(sum, OC_OP_SUM, OC_TYPE_FLOAT, LARGE, rank->num_ranks, 1);
    pthread_mutex_lock(&rank->client->lock);
    rank->client->quiet = oc_clock_ns() + PATIENCE;
    pthread_mutex_unlock(&rank->client->lock);
    CHECK(OC_OK == rank_start(rank, 0, OC_OP_SUM, OC_TYPE_FLOAT, sent, sums, LARGE, &outcome));
    pthread_mutex_lock(&rank->client->lock);
    held = NULL != rank_group(rank, 0)->queue;
    oc_quiet_begin(rank->client);
    pthread_mutex_unlock(&rank->client->lock);
    CHECK(held);
    CHECK(rank_wait(rank, &outcome, 1, 10) && OC_OK == outcome.status);
    CHECK(0 == memcmp(sums, sum, sizeof(sums)));
}

/* The set-up is the application's: it calls the bootstrap. */
static void body_setup(rank_t *rank)
{
    outcome_t outcomes[AT_ONCE];

    start_some(rank, 0, COUNT, 1, outcomes);
    CHECK(!finish_by_themselves(rank, 1, MOMENT));
    CHECK(rank_wait(rank, outcomes, AT_ONCE, 20));
    check_some(rank, COUNT, 1);
}

/*
 * What others wait for may not be over with a blocking Bcast of this rank. Where nobody looks at the client between
 * operations, the helper is there for that.
 */
static void body_unattended(rank_t *rank)
{
    rank->service = OC_SERVICE_MULTICAST;
    casting_bcast(rank, 0, LARGE, 0);
    CHECK(NULL == rank->client->helper);
    rank->client->config.unattended = true;
    casting_bcast(rank, 0, LARGE, 1);
    CHECK(NULL != rank->client->helper);
}

/* Before any operation. Reductions that do not block begin at once then, and nobody has to look. */
static void body_set_up_first(rank_t *rank)
{
    oc_group_t *group = rank_group(rank, 0);
    uint64_t end = oc_clock_ns() + PATIENCE;

    CHECK(OC_GROUP_NEW == oc_group_state(group));
    CHECK(OC_OK == oc_group_set_up(group));
    CHECK(OC_GROUP_NEW != oc_group_state(group));
    while (OC_GROUP_LIVE != oc_group_state(group) && oc_clock_ns() < end) {
        (void) oc_client_progress(rank->client);
    }
    CHECK(OC_GROUP_LIVE == oc_group_state(group));
    CHECK(OC_OK == oc_group_set_up(group)); /* there is nothing left to do */
    some(rank, COUNT, 1);
}

/* The client ends in the middle. */
static void body_left(rank_t *rank)
{
    static outcome_t outcomes[AT_ONCE];

    rank_set_up_groups(rank, 1);
    start_some(rank, 0, COUNT, 1, outcomes);
    if (0 == rank->rank) {
        usleep(20000);
    }
    oc_client_destroy(rank->client);
    _exit(0);
}

/* A server that dies while all compute: the group fails, and the application hears of it. */
static void body_lost(rank_t *rank)
{
    outcome_t outcomes[AT_ONCE];
    oc_group_t *group = rank_group(rank, 0);
    uint64_t end = oc_clock_ns() + PATIENCE;

    rank_set_up_groups(rank, 1);
    if (0 == rank->rank) {
        rank_barrier(rank);
    } else {
        start_some(rank, 0, COUNT, 1, outcomes);
        rank_barrier(rank);
    }
    atomic_fetch_add(&rank->shared->operations, KILL_NOW);
    if (0 == rank->rank) {
        return; /* its part is missing: nothing can finish */
    }
    while (OC_GROUP_LIVE == oc_group_state(group) && oc_clock_ns() < end) {
        usleep(1000);
    }
    CHECK(OC_GROUP_FAILED == oc_group_state(group));
    CHECK(!outcomes[0].done);
    CHECK(rank_wait(rank, outcomes, AT_ONCE, 20));
    CHECK(outcomes[0].status < OC_OK && outcomes[AT_ONCE - 1].status < OC_OK);
}

static oc_job_settings_t settings_for(const char *servers)
{
    oc_job_settings_t settings = test_settings(servers);

    settings.progress = OC_PROGRESS_THREAD;
    return settings;
}

static void succeed(void (*body)(rank_t *rank))
{
    const char *options[] = {"--aggregators", "2", NULL};
    oc_job_settings_t settings;
    test_server_t server;

    server_start(&server, options);
    settings = settings_for(server.address);
    assert_true(ranks_succeed(&server, 3, &settings, body, 30));
}

static void test_reductions(void **state)
{
    (void) state;
    succeed(body_reductions);
}

static void test_left_alone(void **state)
{
    (void) state;
    succeed(body_left_alone);
}

static void test_embedded(void **state)
{
    oc_job_settings_t settings = settings_for("embedded:2");

    (void) state;
    assert_int_equal(ranks_run(3, &settings, body_reductions, 30), 0);
}

static void test_turns(void **state)
{
    (void) state;
    succeed(body_turns);
}

static void test_beside_blocking(void **state)
{
    (void) state;
    succeed(body_beside);
}

static void test_blocking_after(void **state)
{
    (void) state;
    succeed(body_blocking_after);
}

static void test_allgathers(void **state)
{
    oc_job_settings_t settings = cast_settings();

    (void) state;
    settings.progress = OC_PROGRESS_THREAD;
    assert_int_equal(ranks_run(3, &settings, body_allgathers, 30), 0);
}

static void test_without(void **state)
{
    const char *options[] = {NULL};
    oc_job_settings_t settings;
    test_server_t server;

    (void) state;
    server_start(&server, options);
    settings = settings_for(server.address);
    settings.progress = OC_PROGRESS_MPI;
    assert_true(ranks_succeed(&server, 3, &settings, body_nobody, 30));
}

static void test_held_is_not_forgotten(void **state)
{
    const char *options[] = {NULL};
    oc_job_settings_t settings;
    test_server_t server;

    (void) state;
    server_start(&server, options);
    settings = settings_for(server.address);
    settings.progress = OC_PROGRESS_MPI;
    assert_true(ranks_succeed(&server, 3, &settings, body_held, 30));
}

static void test_setup_waits(void **state)
{
    (void) state;
    succeed(body_setup);
}

static void test_unattended(void **state)
{
    oc_job_settings_t settings = cast_settings();

    (void) state;
    settings.progress = OC_PROGRESS_THREAD;
    assert_int_equal(ranks_run(3, &settings, body_unattended, 30), 0);
}

static void test_set_up_first(void **state)
{
    (void) state;
    succeed(body_set_up_first);
}

static void test_left_behind(void **state)
{
    (void) state;
    succeed(body_left);
}

static void test_lost_server(void **state)
{
    const char *options[] = {NULL};
    oc_job_settings_t settings;
    test_server_t server;
    ranks_t ranks;
    int status;

    (void) state;
    server_start(&server, options);
    settings = settings_for(server.address);
    ranks_start(&ranks, 3, &settings, body_lost, 30);
    assert_true(ranks_reach(&ranks, 3 * KILL_NOW));
    assert_int_equal(kill(server_data_process(&server), SIGKILL), 0);
    assert_int_equal(ranks_wait(&ranks), 0);
    status = server_stop(&server);
    assert_true(WIFEXITED(status));
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_reductions), cmocka_unit_test(test_left_alone), cmocka_unit_test(test_embedded),
        cmocka_unit_test(test_turns),       cmocka_unit_test(test_allgathers),
        cmocka_unit_test(test_beside_blocking), cmocka_unit_test(test_blocking_after),
        cmocka_unit_test(test_without),     cmocka_unit_test(test_setup_waits),
        cmocka_unit_test(test_held_is_not_forgotten), cmocka_unit_test(test_unattended),
        cmocka_unit_test(test_set_up_first),
        cmocka_unit_test(test_left_behind), cmocka_unit_test(test_lost_server),
    };

    alarm(480);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
