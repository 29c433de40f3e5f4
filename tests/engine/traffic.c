/* SPDX-License-Identifier: BSD-3-Clause */
/* Rounds of operations, and what is seen of them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "tests/engine/traffic.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "client/state/types.h"
#include "tests/random.h"

#define MOST      4           /* operations at once */
#define COUNT     20000u      /* elements of a large vector */
#define SMALL     50u
#define ROOT      1u
#define PATIENCE  (60 * OC_SECOND)
#define MORE      3           /* rounds that show that it goes on */
#define SECONDS   100         /* of a rank's life */

typedef struct {
    uint32_t count;
    oc_result_to_t to;         /* of a Reduce it is rank ROOT */
    float *send, *recv, *expected;
    outcome_t outcome;
} traffic_operation_t;

/* Of the job that is being started, for its ranks. */
static traffic_board_t *board;
static unsigned (*obey_order)(rank_t *rank, unsigned order);

/* ---- in a rank ---- */

static void draw(const rank_t *rank, traffic_operation_t *o, oc_random_t *random, unsigned seed, bool *in_place)
{
    bool small = 0 == oc_random_below(random, 2);

    *o = (traffic_operation_t) {.count = small ? SMALL : 1 + (uint32_t) oc_random_below(random, COUNT)};
    o->to = 0 == oc_random_below(random, 3) ? OC_RESULT_TO_ROOT : OC_RESULT_TO_ALL;
    *in_place = 0 != oc_random_below(random, 2) && (OC_RESULT_TO_ALL == o->to || ROOT == rank->rank);
    o->send = malloc(o->count * sizeof(float));
    o->recv = malloc(o->count * sizeof(float));
    o->expected = malloc(o->count * sizeof(float));
    CHECK(NULL != o->send && NULL != o->recv && NULL != o->expected);
    fill_contribution(*in_place ? o->recv : o->send, OC_TYPE_FLOAT, o->count, rank->rank, seed);
    fill_expected(o->expected, OC_OP_SUM, OC_TYPE_FLOAT, o->count, rank->num_ranks, seed);
}

static void operation_begin(rank_t *rank, traffic_operation_t *o, oc_random_t *random, unsigned seed)
{
    oc_allreduce_args_t args = {.op = OC_OP_SUM, .type = OC_TYPE_FLOAT, .root = ROOT,
                                .finished = rank_on_finished, .arg = &o->outcome};
    bool in_place;

    draw(rank, o, random, seed, &in_place);
    args.to = o->to;
    args.ruled = OC_RESULT_TO_ROOT == o->to ? OC_RULED_REDUCE : OC_RULED_ALLREDUCE;
    args.count = o->count;
    args.send = in_place ? o->recv : o->send;
    args.recv = o->recv;
    o->outcome.status = oc_allreduce_start(rank_group(rank, 0), &args);
    o->outcome.done = OC_OK != o->outcome.status;
}

/* false: it has failed. */
static bool operation_end(rank_t *rank, traffic_operation_t *o)
{
    bool gets = OC_RESULT_TO_ALL == o->to || ROOT == rank->rank;
    bool well;

    CHECK(rank_wait(rank, &o->outcome, 1, 20));
    well = OC_OK == o->outcome.status;
    CHECK(!well || !gets || 0 == memcmp(o->recv, o->expected, o->count * sizeof(float)));
    free(o->send);
    free(o->recv);
    free(o->expected);
    return well;
}

/* Whether it was the last one: rank 0 decides, and the job itself tells the others. false: an operation has failed. */
static bool agree(rank_t *rank, bool *last)
{
    static uint16_t mine, all;
    outcome_t outcome;

    mine = 0 == rank->rank && atomic_load(&board->stop);
    (void) rank_start(rank, 0, OC_OP_MAX, OC_TYPE_UINT16, &mine, &all, 1, &outcome);
    CHECK(rank_wait(rank, &outcome, 1, 20));
    CHECK(OC_OK != outcome.status || all <= 1);
    *last = 0 != all;
    return OC_OK == outcome.status;
}

static void publish(rank_t *rank, unsigned rounds, unsigned operations)
{
    atomic_uint *seen = board->seen[rank->rank];
    const oc_group_servers_t *servers = rank->groups[0]->servers;
    unsigned links;
    oc_counters_t counters;

    pthread_mutex_lock(&rank->client->lock);
    counters = rank->counters;
    links = servers->num_links - servers->num_peers;
    pthread_mutex_unlock(&rank->client->lock);
    CHECK(counters.allreduce_offloaded + counters.reduce_offloaded == operations);
    CHECK(0 == counters.failures);
    atomic_store(&seen[TRAFFIC_OPERATIONS], operations);
    atomic_store(&seen[TRAFFIC_RECOVERIES], (unsigned) counters.recoveries);
    atomic_store(&seen[TRAFFIC_RETURNS], (unsigned) counters.returns);
    atomic_store(&seen[TRAFFIC_SERVERS], links);
    atomic_store(&seen[TRAFFIC_ROUNDS], rounds);
}

/* false: an operation has failed. */
static bool round_of(rank_t *rank, unsigned round, unsigned *operations, bool *last)
{
    oc_random_t random = {.state = round};
    uint32_t count = 1 + (uint32_t) oc_random_below(&random, MOST);
    traffic_operation_t o[MOST];
    bool well = true;

    for (uint32_t i = 0; i < count; i++) {
        operation_begin(rank, &o[i], &random, 100 * round + i);
    }
    for (uint32_t i = 0; i < count; i++) {
        well = operation_end(rank, &o[i]) && well;
    }
    *operations += count + 1;
    return well && agree(rank, last);
}

static void say_why(rank_t *rank)
{
    snprintf(board->reasons[rank->rank], sizeof(board->reasons[0]), "%s", oc_group_reason(rank->groups[0]));
    atomic_store(&board->seen[rank->rank][TRAFFIC_ENDED], 1);
}

static void body_traffic(rank_t *rank)
{
    unsigned operations = 0, obeyed = 0;
    bool last = false;

    for (unsigned round = 1; !last; round++) {
        if (!round_of(rank, round, &operations, &last)) {
            say_why(rank);
            return;
        }
        publish(rank, round, operations);
        if (obeyed < atomic_load(&board->orders)) {
            operations += obey_order(rank, ++obeyed);
            atomic_store(&board->seen[rank->rank][TRAFFIC_ORDERS], obeyed);
        }
        rank_linger(rank, 1);
    }
}

/* ---- in the test ---- */

void traffic_start(traffic_t *traffic, uint32_t num_ranks, const oc_job_settings_t *settings,
                   unsigned (*obey)(rank_t *rank, unsigned order))
{
    traffic->board = shared_memory(sizeof(*traffic->board));
    board = traffic->board;
    obey_order = obey;
    ranks_start(&traffic->ranks, num_ranks, settings, body_traffic, SECONDS);
}

unsigned traffic_seen(const traffic_t *traffic, uint32_t rank, traffic_value_t value)
{
    return atomic_load(&traffic->board->seen[rank][value]);
}

static bool is_so(const traffic_t *traffic, traffic_state_t state)
{
    for (uint32_t rank = 0; rank < traffic->ranks.num_ranks; rank++) {
        unsigned seen[TRAFFIC_VALUES];

        for (traffic_value_t value = 0; value < TRAFFIC_VALUES; value++) {
            seen[value] = traffic_seen(traffic, rank, value);
        }
        if (!state(seen)) {
            return false;
        }
    }
    return true;
}

static void __attribute__((noreturn)) traffic_fail(const traffic_t *traffic, const char *what)
{
    for (uint32_t rank = 0; rank < traffic->ranks.num_ranks; rank++) {
        fprintf(stderr, "rank %u: %u operations in %u rounds, %u recoveries, %u returns, %u servers%s%s\n", rank,
                traffic_seen(traffic, rank, TRAFFIC_OPERATIONS), traffic_seen(traffic, rank, TRAFFIC_ROUNDS),
                traffic_seen(traffic, rank, TRAFFIC_RECOVERIES), traffic_seen(traffic, rank, TRAFFIC_RETURNS),
                traffic_seen(traffic, rank, TRAFFIC_SERVERS), 0 != traffic_seen(traffic, rank, TRAFFIC_ENDED) ? ", ended: " : "",
                traffic->board->reasons[rank]);
    }
    fail_msg("%s", what);
    abort();
}

static unsigned fewest_rounds(const traffic_t *traffic)
{
    unsigned fewest = UINT32_MAX;

    for (uint32_t rank = 0; rank < traffic->ranks.num_ranks; rank++) {
        unsigned rounds = traffic_seen(traffic, rank, TRAFFIC_ROUNDS);

        fewest = rounds < fewest ? rounds : fewest;
    }
    return fewest;
}

static void await_rounds(const traffic_t *traffic)
{
    unsigned rounds = fewest_rounds(traffic) + MORE;
    uint64_t end = oc_clock_ns() + PATIENCE;

    while (fewest_rounds(traffic) < rounds) {
        if (oc_clock_ns() > end) {
            traffic_fail(traffic, "it does not go on");
        }
        usleep(1000);
    }
}

static void await_state(const traffic_t *traffic, traffic_state_t state, const char *what)
{
    uint64_t end = oc_clock_ns() + PATIENCE;

    while (!is_so(traffic, state)) {
        if (oc_clock_ns() > end) {
            traffic_fail(traffic, what);
        }
        usleep(1000);
    }
}

void traffic_await(const traffic_t *traffic, traffic_state_t state, const char *what)
{
    await_state(traffic, state, what);
    await_rounds(traffic);
}

void traffic_hold(const traffic_t *traffic, traffic_state_t state, const char *what, unsigned ms)
{
    uint64_t end = oc_clock_ns() + ms * OC_MILLISECOND;

    while (oc_clock_ns() < end) {
        if (!is_so(traffic, state)) {
            traffic_fail(traffic, what);
        }
        usleep(1000);
    }
    await_rounds(traffic);
}

static unsigned given;

void traffic_order(traffic_t *traffic)
{
    given = atomic_fetch_add(&traffic->board->orders, 1) + 1;
}

static bool has_obeyed(const unsigned seen[TRAFFIC_VALUES])
{
    return seen[TRAFFIC_ORDERS] >= given;
}

void traffic_await_obedience(const traffic_t *traffic)
{
    TRAFFIC_AWAIT(traffic, has_obeyed);
}

/* All ranks have ended: with an error or not. */
static void reap_ranks(traffic_t *traffic, bool failed)
{
    unsigned wrong = ranks_wait(&traffic->ranks);

    traffic->ranks.shared = NULL;
    for (uint32_t rank = 0; rank < traffic->ranks.num_ranks; rank++) {
        if (0 != wrong || failed != (0 != traffic_seen(traffic, rank, TRAFFIC_ENDED))) {
            traffic_fail(traffic, "the job does not end as it should");
        }
    }
}

void traffic_stop(traffic_t *traffic)
{
    atomic_store(&traffic->board->stop, true);
    reap_ranks(traffic, false);
}

static bool has_ended(const unsigned seen[TRAFFIC_VALUES])
{
    return 0 != seen[TRAFFIC_ENDED];
}

void traffic_expect_failure(traffic_t *traffic, const char *reason)
{
    await_state(traffic, has_ended, "an operation fails");
    reap_ranks(traffic, true);
    for (uint32_t rank = 0; rank < traffic->ranks.num_ranks; rank++) {
        if (NULL == strstr(traffic->board->reasons[rank], reason)) {
            traffic_fail(traffic, reason);
        }
    }
}

void traffic_kill(traffic_t *traffic)
{
    for (uint32_t rank = 0; NULL != traffic->ranks.shared && rank < traffic->ranks.num_ranks; rank++) {
        (void) kill(traffic->ranks.pids[rank], SIGKILL);
        (void) waitpid(traffic->ranks.pids[rank], NULL, 0);
    }
    traffic->ranks.shared = NULL;
}
