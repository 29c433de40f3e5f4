/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Owns the engine's tests of what follows the loss of a server while others are left: collectives end with the bits that
 * they would have had, whoever had which of their results, and whether the ranks look or compute.
 *
 * A rank takes a server for lost that is well: as after a break of the network. All that was on the way to this rank is
 * gone with that.
 */
/* Test: default 240 */
/* Test: threads: all 400 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "client/collective/node.h"
#include "client/process/moving.h"
#include "client/state/loss.h"
#include "reduction/reduction.h"
#include "tests/engine/harness.h"
#include "tests/random.h"

#define SERVERS 7
#define RANKS   3
#define COUNT   60000u /* elements of a large vector */
#define SMALL   50u
#define MOST    5      /* at once */
#define ROOT    1u

typedef struct {
    uint32_t count;
    bool in_place;
    oc_result_to_t to;         /* of a Reduce rank ROOT, of a Reduce_scatter equal blocks */
    void *send, *recv, *expected;
    outcome_t outcome;
} operation_t;

/* A thread of the engine counts, too. */
static oc_counters_t counters_of(rank_t *rank)
{
    oc_counters_t counters;

    pthread_mutex_lock(&rank->client->lock);
    counters = rank->counters;
    pthread_mutex_unlock(&rank->client->lock);
    return counters;
}

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

/* Of all vectors. Floats tell in which order they were added. */
static unsigned type;

/* Whole numbers up to 45 are exact. */
static uint16_t to_bfloat16(unsigned value)
{
    float number = (float) value;
    uint32_t bits;

    memcpy(&bits, &number, sizeof(bits));
    return (uint16_t) (bits >> 16);
}

/* Of each rank; NULL: the flat shape. */
static const uint8_t *hosts;

/* In the flat shape the owner of a block adds what is its own itself, as the last. */
static void expect_own_last(const rank_t *rank, const operation_t *o, unsigned seed)
{
    float *sums = o->expected, *some = malloc(o->count * sizeof(*some));
    uint32_t block = o->count / RANKS, first = rank->rank * block;

    CHECK(NULL != some);
    memset(&sums[first], 0, block * sizeof(*sums));
    for (uint32_t i = 1; i <= RANKS; i++) {
        uint32_t r = i < RANKS ? i - 1 + (i > rank->rank ? 1 : 0) : rank->rank;

        fill_contribution(some, type, o->count, r, seed);
        for (uint32_t k = first; k < first + block; k++) {
            sums[k] = 1 == i ? some[k] : sums[k] + some[k];
        }
    }
    free(some);
}

static void fill(const rank_t *rank, const operation_t *o, void *contribution, unsigned seed)
{
    if (OC_TYPE_BFLOAT16 != type) {
        fill_contribution(contribution, type, o->count, rank->rank, seed);
        fill_expected(o->expected, OC_OP_SUM, type, o->count, rank->num_ranks, seed);
        if (OC_RESULT_TO_BLOCKS == o->to && OC_TYPE_FLOAT == type && NULL == hosts) {
            expect_own_last(rank, o, seed);
        }
        return;
    }
    for (uint32_t i = 0; i < o->count; i++) {
        unsigned sum = 0;

        for (uint32_t r = 0; r < rank->num_ranks; r++) {
            sum += (i + r * 5 + seed) % 16;
        }
        ((uint16_t *) contribution)[i] = to_bfloat16((i + rank->rank * 5 + seed) % 16);
        ((uint16_t *) o->expected)[i] = to_bfloat16(sum);
    }
}

static const oc_ruled_t ruled_of[] = {
    [OC_RESULT_TO_ALL] = OC_RULED_ALLREDUCE,
    [OC_RESULT_TO_ROOT] = OC_RULED_REDUCE,
    [OC_RESULT_TO_BLOCKS] = OC_RULED_REDUCE_SCATTER,
};

static void begin_to(rank_t *rank, unsigned group, operation_t *o, uint32_t count, bool in_place, oc_result_to_t to,
                     unsigned seed)
{
    oc_allreduce_args_t args = {.op = OC_OP_SUM, .type = type, .to = to, .root = ROOT, .ruled = ruled_of[to],
                                .finished = rank_on_finished, .arg = &o->outcome};

    if (OC_RESULT_TO_BLOCKS == to) {
        count = (count + RANKS - 1) / RANKS * RANKS;
    }
    *o = (operation_t) {.count = count, .in_place = in_place, .to = to};
    o->send = malloc(count * oc_type_size(type));
    o->recv = malloc(count * oc_type_size(type));
    o->expected = malloc(count * oc_type_size(type));
    CHECK(NULL != o->send && NULL != o->recv && NULL != o->expected);
    in_place = in_place && (OC_RESULT_TO_ROOT != to || ROOT == rank->rank);
    fill(rank, o, in_place ? o->recv : o->send, seed);
    args.count = count;
    args.send = in_place ? o->recv : o->send;
    args.recv = o->recv;
    CHECK(OC_OK == oc_allreduce_start(rank_group(rank, group), &args));
}

static void begin_in(rank_t *rank, unsigned group, operation_t *o, uint32_t count, bool in_place, unsigned seed)
{
    begin_to(rank, group, o, count, in_place, OC_RESULT_TO_ALL, seed);
}

static void begin(rank_t *rank, operation_t *o, uint32_t count, bool in_place, unsigned seed)
{
    begin_in(rank, 0, o, count, in_place, seed);
}

/* Operations of this rank that have ended well: all are offloaded. */
static unsigned finished;

static void operation_free(operation_t *o)
{
    free(o->send);
    free(o->recv);
    free(o->expected);
}

static void check_result(rank_t *rank, const operation_t *o)
{
    size_t bytes = o->count * oc_type_size(type);

    switch (o->to) {
    case OC_RESULT_TO_BLOCKS:
        CHECK(0 == memcmp(o->recv, (char *) o->expected + rank->rank * (bytes / RANKS), bytes / RANKS));
        break;
    case OC_RESULT_TO_ROOT:
        CHECK(ROOT != rank->rank || 0 == memcmp(o->recv, o->expected, bytes));
        break;
    default:
        CHECK(0 == memcmp(o->recv, o->expected, bytes));
    }
}

static void finish(rank_t *rank, operation_t *o)
{
    oc_counters_t counters;

    CHECK(rank_wait(rank, &o->outcome, 1, 20));
    CHECK(OC_OK == o->outcome.status);
    finished++;
    counters = counters_of(rank);
    CHECK(counters.allreduce_offloaded + counters.reduce_offloaded + counters.reduce_scatter_offloaded >= finished);
    check_result(rank, o);
    operation_free(o);
}

/* Some at once, in the middle of which one of the ranks loses a server. */
static void round_of(rank_t *rank, unsigned round)
{
    oc_random_t random = {.state = seed_of() + round};
    uint32_t count = 1 + (uint32_t) oc_random_below(&random, MOST);
    uint32_t looks = (uint32_t) oc_random_below(&random, 400);
    operation_t o[MOST];

    for (uint32_t i = 0; i < count; i++) {
        static const oc_result_to_t tos[] = {OC_RESULT_TO_ALL, OC_RESULT_TO_ALL, OC_RESULT_TO_ROOT, OC_RESULT_TO_BLOCKS};
        bool small = 0 == oc_random_below(&random, 3), in_place = 0 != oc_random_below(&random, 2);
        uint32_t length = small ? SMALL : 1 + (uint32_t) oc_random_below(&random, COUNT);

        begin_to(rank, 0, &o[i], length, in_place, tos[oc_random_below(&random, 4)], 100 * round + i);
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

/* Who has ended all of its operations may hear of the loss later. A server that comes back may be lost once more. */
static void await_recoveries(rank_t *rank, unsigned long long count)
{
    for (unsigned i = 0; counters_of(rank).recoveries < count; i++) {
        CHECK(i < 2000);
        rank_linger(rank, 10);
    }
    rank_barrier(rank);
}

static void body_rounds(rank_t *rank)
{
    operation_t first;

    begin(rank, &first, SMALL, false, 1);
    finish(rank, &first);
    for (unsigned round = 0; round < SERVERS - 1; round++) {
        round_of(rank, round);
        rank_barrier(rank);
        await_recoveries(rank, round + 1);
    }
    /* with the one that is left */
    begin(rank, &first, COUNT, true, 7);
    finish(rank, &first);
}

/* Rank 0 does what others wait for, and looks for nothing that the network brings. Without a host it has done so. */
static void give(rank_t *rank)
{
    for (unsigned i = 0; 0 == rank->rank && NULL != rank->hosts && i < 50; i++) {
        pthread_mutex_lock(&rank->client->lock);
        (void) oc_client_nodes_progress(rank->client);
        pthread_mutex_unlock(&rank->client->lock);
        usleep(1000);
    }
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
        give(rank);
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
    CHECK(counters_of(rank).bytes_supplied > 0);
}

/* ---- groups that their callers have done with ---- */

/* Groups with a collective behind them, so that they are live. */
static void set_up(rank_t *rank, unsigned groups)
{
    for (unsigned g = 0; g < groups; g++) {
        operation_t o;

        begin_in(rank, g, &o, SMALL, false, g);
        finish(rank, &o);
    }
}

static void destroy(rank_t *rank, unsigned group)
{
    oc_group_destroy(rank->groups[group]);
    rank->groups[group] = NULL;
}

static unsigned parting(rank_t *rank)
{
    unsigned count;

    pthread_mutex_lock(&rank->client->lock);
    count = rank->client->parting;
    pthread_mutex_unlock(&rank->client->lock);
    return count;
}

/* Until all groups that were destroyed are over. */
static void await_partings(rank_t *rank, unsigned seconds)
{
    for (unsigned i = 0; parting(rank) > 0; i++) {
        CHECK(i < 100 * seconds);
        rank_linger(rank, 10);
    }
}

/* All but one rank have the last result of a group, and have destroyed that, when the last one loses its result. */
static void body_destroyed(rank_t *rank)
{
    operation_t o;

    set_up(rank, SERVERS);
    for (unsigned g = 1; g < SERVERS; g++) {
        rank_barrier(rank);
        begin_in(rank, g, &o, SMALL, 0 == g % 2, g);
        give(rank);
        if (0 != rank->rank) {
            finish(rank, &o);
            destroy(rank, g);
            CHECK(parting(rank) > 0);
        }
        rank_compute(rank);
        if (0 == rank->rank) {
            lose(rank);
            finish(rank, &o);
            destroy(rank, g);
        }
        rank_compute(rank);
    }
    await_partings(rank, 20);
    CHECK(counters_of(rank).barrier_offloaded == 0 && counters_of(rank).recoveries >= SERVERS - 1);
    begin(rank, &o, COUNT, true, 7);
    finish(rank, &o);
}

/* All but one rank have left a group, and the last one does not hear of it. */
static void body_left(rank_t *rank)
{
    operation_t o;

    set_up(rank, 2);
    destroy(rank, 1);
    give(rank);
    if (0 != rank->rank) {
        await_partings(rank, 20);
    }
    rank_compute(rank);
    if (0 == rank->rank) {
        lose(rank);
        CHECK(parting(rank) > 0);
    }
    /* what else there is goes on meanwhile */
    for (unsigned i = 0; i < 10; i++) {
        begin(rank, &o, COUNT, true, i);
        finish(rank, &o);
    }
    await_partings(rank, 20);
    CHECK(counters_of(rank).failures == 0);
    begin(rank, &o, COUNT, true, 7);
    finish(rank, &o);
}

/* The others wait for a rank that stands still; when they have given it up, it hears so. */
static void body_stopped(rank_t *rank)
{
    operation_t o;

    set_up(rank, 2);
    rank_barrier(rank);
    begin_in(rank, 1, &o, SMALL, false, 1);
    give(rank);
    if (0 != rank->rank) {
        finish(rank, &o);
        destroy(rank, 1);
    }
    rank_compute(rank);
    if (0 == rank->rank) {
        pthread_mutex_lock(&rank->client->lock);
    } else if (1 == rank->rank) {
        lose(rank);
    }
    if (0 != rank->rank) {
        await_partings(rank, 20);
    }
    rank_compute(rank);
    if (0 == rank->rank) {
        pthread_mutex_unlock(&rank->client->lock);
        CHECK(rank_wait(rank, &o.outcome, 1, 20));
        CHECK(o.outcome.status < OC_OK);
        CHECK(NULL != strstr(oc_group_reason(rank->groups[1]), "a rank has left it"));
        operation_free(&o);
    }
}

/* One rank has begun what others begin when the server is lost: with other servers it is cut in another way. */
static void body_ahead(rank_t *rank)
{
    static const oc_result_to_t tos[] = {OC_RESULT_TO_ALL, OC_RESULT_TO_ROOT, OC_RESULT_TO_BLOCKS};
    /* so that a lane less makes larger chunks */
    static const uint32_t counts[] = {20000, 24000, 20000};
    operation_t o;

    set_up(rank, 1);
    for (unsigned round = 0; round < SERVERS - 1; round++) {
        rank_barrier(rank);
        if (ROOT == rank->rank) {
            begin_to(rank, 0, &o, counts[round % 3], true, tos[round % 3], round);
            rank_linger(rank, 20);
            lose(rank);
        }
        rank_compute(rank);
        await_recoveries(rank, round + 1);
        if (ROOT != rank->rank) {
            begin_to(rank, 0, &o, counts[round % 3], true, tos[round % 3], round);
        }
        finish(rank, &o);
    }
}

/* ---- results for some ranks ---- */

/*
 * Whoever gets no result returns when all owners have theirs, and computes; a rank that lacks its result when a server is
 * lost still gets it.
 */
static void body_owners(rank_t *rank)
{
    operation_t o;

    set_up(rank, 1);
    for (unsigned round = 0; round < SERVERS - 1; round++) {
        oc_random_t random = {.state = seed_of() + round};
        oc_result_to_t to = 0 == round % 2 ? OC_RESULT_TO_ROOT : OC_RESULT_TO_BLOCKS;
        uint32_t looks = (uint32_t) oc_random_below(&random, 300);

        rank_barrier(rank);
        begin_to(rank, 0, &o, COUNT, round % 4 < 2, to, 5 + round);
        for (uint32_t i = 0; ROOT == rank->rank && i < looks; i++) {
            (void) oc_client_progress(rank->client);
            usleep(10);
        }
        if (ROOT == rank->rank) {
            /* what the others have done by now has not been seen here */
            usleep(20000);
            lose(rank);
        }
        finish(rank, &o);
        await_recoveries(rank, round + 1);
        rank_compute(rank);
    }
    CHECK(counters_of(rank).reduce_offloaded == SERVERS / 2 && counters_of(rank).reduce_scatter_offloaded == SERVERS / 2);
}

static void (*body_of_ranks)(rank_t *rank);

static void body_on_hosts(rank_t *rank)
{
    rank->hosts = hosts;
    body_of_ranks(rank);
}

/* On a busy machine a server may be slow to come back. */
static int connect_timeout = 20;

static void run_on(const uint8_t *made_up, unsigned type_of_all, void (*body)(rank_t *rank), unsigned servers)
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
    settings.connect_timeout = connect_timeout;
    hosts = made_up;
    type = type_of_all;
    body_of_ranks = body;
    failed = ranks_run(RANKS, &settings, body_on_hosts, 60);
    for (unsigned i = 0; i < servers; i++) {
        assert_int_equal(server_stop(&server[i]), 0);
    }
    assert_int_equal(failed, 0);
}

static const uint8_t alone[RANKS] = {1, 2, 2}, pair[RANKS] = {1, 1, 2}, together[RANKS] = {1, 1, 1};

/* Nobody but rank 0 waits for what it does not look for: it sends for itself, or is alone on its host. */
static void run(void (*body)(rank_t *rank), unsigned servers)
{
    run_on(NULL, OC_TYPE_FLOAT, body, servers);
    run_on(alone, OC_TYPE_INT32, body, servers);
}

static void test_rounds(void **state)
{
    (void) state;
    run(body_rounds, SERVERS);
    /* hosts of several ranks add these first, as the test does */
    run_on(pair, OC_TYPE_FLOAT, body_rounds, SERVERS);
    run_on(pair, OC_TYPE_BFLOAT16, body_rounds, SERVERS);
    run_on(together, OC_TYPE_FLOAT, body_rounds, SERVERS);
}

static void test_away(void **state)
{
    (void) state;
    run(body_away, SERVERS);
}

static void test_destroyed(void **state)
{
    (void) state;
    run(body_destroyed, SERVERS);
}

static void test_left(void **state)
{
    (void) state;
    connect_timeout = 3;
    run(body_left, 3);
    connect_timeout = 20;
}

static void test_stopped(void **state)
{
    (void) state;
    connect_timeout = 3;
    run(body_stopped, 3);
    connect_timeout = 20;
}

static void test_ahead(void **state)
{
    (void) state;
    run(body_ahead, SERVERS);
    run_on(pair, OC_TYPE_FLOAT, body_ahead, SERVERS);
}

static void test_owners(void **state)
{
    (void) state;
    run(body_owners, SERVERS);
    run_on(pair, OC_TYPE_FLOAT, body_owners, SERVERS);
    run_on(pair, OC_TYPE_BFLOAT16, body_owners, SERVERS);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_rounds),
        cmocka_unit_test(test_away),
        cmocka_unit_test(test_destroyed),
        cmocka_unit_test(test_left),
        cmocka_unit_test(test_stopped),
        cmocka_unit_test(test_ahead),
        cmocka_unit_test(test_owners),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
