/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Owns the engine's tests of trees of servers: real leaves and their parent. Results are compared
 * with scalar code that folds inside hosts, then inside leaves, then over leaves.
 */
/* Test: default 240; sanitizers: all 400 */
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
#include "tests/engine/reductions.h"

static grove_t grove;

/* Of the ranks of a test: their leaf, and their host (each its own if they share none). */
typedef struct {
    uint8_t leaf[MAX_TEST_RANKS], host[MAX_TEST_RANKS];
} layout_t;

static const layout_t
    five_on_three = {{0, 0, 1, 1, 2}, {1, 2, 3, 4, 5}},
    seven_on_two = {{0, 0, 0, 0, 1, 1, 1}, {1, 2, 3, 4, 5, 6, 7}},
    two_of_three = {{0, 1}, {1, 2}},
    unequal_hosts = {{0, 0, 0, 0, 0, 0, 1}, {3, 3, 3, 3, 2, 2, 1}},
    cyclic_hosts = {{0, 1, 2, 0, 1, 2}, {1, 2, 3, 1, 2, 3}},
    single = {{0}, {1, 2, 3}};

static atomic_ullong *resent;    /* contributions, by all ranks */

static const layout_t *layout;
static bool shares_hosts;

/* ---- ranks ---- */

static void run(const layout_t *ranks, bool hosts, uint32_t num_ranks, void (*body)(rank_t *rank))
{
    oc_job_settings_t settings = grove_settings(&grove);

    layout = ranks;
    shares_hosts = hosts;
    assert_int_equal(ranks_run(num_ranks, &settings, body, 100), 0);
}

/* ---- results ---- */

/* Each rank knows only its own leaf, and what it says of the shape is what all say. */
static void check_tree(rank_t *rank, const char *shape)
{
    char text[256];

    CHECK(OC_GROUP_LIVE == oc_group_state(rank->groups[0]));
    oc_group_describe(rank->groups[0], text, sizeof(text));
    if (0 == rank->rank && NULL == strstr(text, shape)) {
        fprintf(stderr, "\"%s\" is not in \"%s\"\n", shape, text);
    }
    CHECK(NULL != strstr(text, shape));
    for (unsigned i = 0; i < grove.num_leaves; i++) {
        CHECK(is_connected(&grove.leaves[i]) == (i == layout->leaf[rank->rank]));
    }
    CHECK(!is_connected(&grove.parent));
    CHECK(0 == rank->counters.failures);
}

static void place(rank_t *rank)
{
    rank->hosts = shares_hosts ? layout->host : NULL;
}

static void all_pairs(rank_t *rank)
{
    place(rank);
    reduce_pairs(rank, layout->leaf);
}

static void body_pairs(rank_t *rank)
{
    all_pairs(rank);
    check_tree(rank, "1 aggregator on each of 2 leaf servers, tree reduction shape: up to 4 ranks "
                     "a leaf");
}

static void body_pairs_node(rank_t *rank)
{
    all_pairs(rank);
    check_tree(rank, "1 aggregator on each of 2 leaf servers, tree reduction shape: up to 2 hosts "
                     "a leaf, 3 hosts with up to 4 ranks");
}

static void all_sizes(rank_t *rank)
{
    place(rank);
    reduce_sizes(rank, layout->leaf);
}

static void body_sizes(rank_t *rank)
{
    all_sizes(rank);
    check_tree(rank, "2 aggregators on each of 3 leaf servers, tree reduction shape: up to 2 ranks "
                     "a leaf");
}

static void body_sizes_node(rank_t *rank)
{
    all_sizes(rank);
    check_tree(rank, "2 aggregators on each of 3 leaf servers, tree reduction shape: up to 1 hosts "
                     "a leaf, 3 hosts with up to 2 ranks");
}

static void body_two_ranks(rank_t *rank)
{
    all_sizes(rank);
    check_tree(rank, "on each of 2 leaf servers");
}

/* A single leaf needs no parent for its results. */
static void body_single(rank_t *rank)
{
    all_sizes(rank);
    check_tree(rank, "1 aggregator on 1 server, flat reduction shape");
}

/* A rank sends and receives the vector once, and copies nothing large but 16-bit floats. */
static void body_bytes(rank_t *rank)
{
    place(rank);
    reduce_one(rank, layout->leaf, OC_OP_SUM, OC_TYPE_DOUBLE, 40000, false);
    CHECK(320000 == rank->counters.bytes_sent && 320000 == rank->counters.bytes_received);
    CHECK(0 == rank->counters.bytes_copied);
    reduce_one(rank, layout->leaf, OC_OP_SUM, OC_TYPE_FLOAT16, 40000, true);
    CHECK(480000 == rank->counters.bytes_sent && 480000 == rank->counters.bytes_received);
    CHECK(2 * 160000 == rank->counters.bytes_copied);
    CHECK(2 == rank->counters.allreduce_offloaded);
}

static void test_pairs(void **state)
{
    (void) state;
    grove_start(&grove, 2, "1");
    run(&seven_on_two, false, 7, body_pairs);
    run(&unequal_hosts, true, 7, body_pairs_node);
    run(&seven_on_two, false, 7, body_bytes);
    grove_stop(&grove);
}

static void test_sizes(void **state)
{
    (void) state;
    grove_start(&grove, 3, "2");
    run(&five_on_three, false, 5, body_sizes);
    run(&cyclic_hosts, true, 6, body_sizes_node);
    run(&two_of_three, false, 2, body_two_ranks);
    grove_stop(&grove);
    grove_start(&grove, 1, "1");
    run(&single, false, 3, body_single);
    grove_stop(&grove);
}

static void test_in_flight(void **state)
{
    (void) state;
    grove_start(&grove, 3, "1");
    run(&five_on_three, false, 5, reduce_in_flight);
    grove_stop(&grove);
}

/* ---- memory ---- */

#define WIDE ((1u << 20) / sizeof(float))

static void body_wide(rank_t *rank)
{
    static float send[WIDE], recv[WIDE], expected[WIDE];

    fill_contribution(send, OC_TYPE_FLOAT, WIDE, 0, 3);
    for (size_t i = 0; i < WIDE; i++) {
        expected[i] = send[i] * 4;
    }
    CHECK(OC_OK == rank_allreduce(rank, 0, OC_OP_SUM, OC_TYPE_FLOAT, send, recv, WIDE));
    CHECK(0 == memcmp(recv, expected, sizeof(recv)));
    CHECK(1 == rank->counters.allreduce_offloaded);
    CHECK(8 == rank->counters.chunks);
}

/*
 * Leaves have room for chunks of 256 KiB, and their parent, which keeps one of each leaf beside, for
 * those of 128 KiB: all ranks hear that from their leaves.
 */
static void test_small_parent(void **state)
{
    oc_job_settings_t settings;
    unsigned failed;

    (void) state;
    grove_start_with(&grove, 2, "1", "16M", "1M");
    settings = grove_settings(&grove);
    settings.chunk_size = 256 * 1024;
    failed = ranks_run(4, &settings, body_wide, 30);
    grove_stop(&grove);
    assert_int_equal(failed, 0);
}

/* In place of the second leaf. */
static void start_small_leaf(void)
{
    const char *options[] = {"--aggregators", "1", "--memory-limit", "1M", "--parent",
                             grove.parent.address, NULL};

    assert_int_equal(server_stop(&grove.leaves[1]), 0);
    server_start(&grove.leaves[1], options);
    snprintf(grove.list, sizeof(grove.list), "%s,%s", grove.leaves[0].address,
             grove.leaves[1].address);
}

/*
 * One leaf has less room than the other. What ranks ask for they ask on both, and so do the leaves
 * above: for the parent they would disagree if each said what it has.
 */
static void test_small_leaf(void **state)
{
    oc_job_settings_t settings;
    unsigned failed;

    (void) state;
    grove_start_with(&grove, 2, "1", "16M", "16M");
    start_small_leaf();
    settings = grove_settings(&grove);
    settings.chunk_size = 256 * 1024;
    failed = ranks_run(4, &settings, body_wide, 30);
    grove_stop(&grove);
    assert_int_equal(failed, 0);
}

/* ---- COMMIT ---- */

#define ROUNDS 10
#define CHUNKS 6

/*
 * Rank 1 stops when its first results have let it send all that it has; the last ones it has not,
 * so it has acknowledged nothing, but once in a while when they are very quick. Rank 0, at the
 * other leaf, has all of its own, and does not return.
 */
static void body_committed(rank_t *rank)
{
    static float send[CHUNKS * 16384 / sizeof(float)], recv[CHUNKS * 16384 / sizeof(float)];
    unsigned early = 0;

    for (unsigned i = 0; i < ROUNDS; i++) {
        unsigned long long all = rank->counters.bytes_received + sizeof(send);
        uint64_t end = oc_clock_ns() + 5 * OC_SECOND;
        outcome_t outcome;

        CHECK(OC_OK == rank_start(rank, 0, OC_OP_SUM, OC_TYPE_FLOAT, send, recv,
                                  sizeof(send) / sizeof(float), &outcome));
        while (rank->counters.bytes_received + (1 == rank->rank ? 3 * 16384 : 0) < all) {
            CHECK(oc_clock_ns() < end);
            (void) oc_client_progress(rank->client);
        }
        if (0 == rank->rank) {
            rank_linger(rank, 100);
            early += outcome.done;
        }
        rank_compute(rank);
        CHECK(rank_wait(rank, &outcome, 1, 10));
        CHECK(OC_OK == outcome.status);
        rank_barrier(rank);
    }
    CHECK(early <= ROUNDS / 2);
}

static void test_committed(void **state)
{
    oc_job_settings_t settings;

    (void) state;
    grove_start(&grove, 2, "1");
    settings = grove_settings(&grove);
    settings.chunk_size = 16384;
    layout = &two_of_three;
    assert_int_equal(ranks_run(2, &settings, body_committed, 60), 0);
    grove_stop(&grove);
}

/* ---- little memory ---- */

/* For a set-up among the others of a machine that is busy, in seconds. */
#define PATIENCE 20

#define HEAPS    24
#define ELEMENTS 60000u
#define FEW      1000u

static float heap_send[ELEMENTS], heap_recv[2][HEAPS][ELEMENTS];
static outcome_t heap_outcomes[2][HEAPS];

static size_t heap_count(unsigned i)
{
    return i % 2 ? FEW : ELEMENTS;
}

static void begin_heap(rank_t *rank, unsigned group)
{
    for (unsigned i = 0; i < HEAPS; i++) {
        CHECK(OC_OK == rank_start(rank, group, OC_OP_SUM, OC_TYPE_FLOAT, heap_send,
                                  heap_recv[group][i], heap_count(i), &heap_outcomes[group][i]));
    }
}

static void finish_heap(rank_t *rank, unsigned group)
{
    CHECK(rank_wait(rank, heap_outcomes[group], HEAPS, 40));
    for (unsigned i = 0; i < HEAPS; i++) {
        CHECK(OC_OK == heap_outcomes[group][i].status);
        for (size_t k = 0; k < heap_count(i); k++) {
            CHECK((float) (7 * (k % 100) + 21) == heap_recv[group][i][k]);
        }
    }
}

static void warm_up(rank_t *rank)
{
    for (size_t k = 0; k < ELEMENTS; k++) {
        heap_send[k] = (float) (k % 100 + rank->rank);
    }
    rank_set_up_groups(rank, 2);
}

/*
 * The ranks of one leaf begin with one group and those of the other leaf with the other one: each
 * leaf has its memory full of what waits for the other.
 */
static void body_opposite(rank_t *rank)
{
    unsigned first = 0 == layout->leaf[rank->rank] ? 0 : 1;

    warm_up(rank);
    begin_heap(rank, first);
    rank_linger(rank, 300);
    rank_compute(rank);
    begin_heap(rank, 1 - first);
    finish_heap(rank, 0);
    finish_heap(rank, 1);
}

/* Leaf 0 has its memory full of group 0, whose other ranks come only when group 1 is over. */
static void body_waits(rank_t *rank)
{
    bool first = 0 == layout->leaf[rank->rank];

    warm_up(rank);
    if (first) {
        begin_heap(rank, 0);
        rank_linger(rank, 300);
    }
    rank_compute(rank);
    begin_heap(rank, 1);
    finish_heap(rank, 1);
    if (!first) {
        begin_heap(rank, 0);
    }
    finish_heap(rank, 0);
}

/*
 * There is no room for a new group until group 0 is over: it is declined when it has waited for
 * that long enough, and nobody hangs.
 */
static void body_newcomer(rank_t *rank)
{
    bool first = 0 == layout->leaf[rank->rank];
    float number = 1, sum;

    warm_up(rank);
    if (first) {
        begin_heap(rank, 0);
        rank_linger(rank, 300);
    }
    rank_compute(rank);
    rank->settings.connect_timeout = 3;
    CHECK(OC_DECLINED == rank_allreduce(rank, 2, OC_OP_SUM, OC_TYPE_FLOAT, &number, &sum, 1));
    rank_compute(rank);
    if (!first) {
        begin_heap(rank, 0);
    }
    finish_heap(rank, 0);
    rank_barrier(rank);
    rank->settings.connect_timeout = PATIENCE;
    CHECK(OC_OK == rank_allreduce(rank, 3, OC_OP_SUM, OC_TYPE_FLOAT, &number, &sum, 1));
    CHECK(7 == sum);
}

#define SMALL_GROUPS 20
#define SMALL_EACH   12
#define SMALL_COUNT  1024

/* The four ranks of the first leaf have sent all that they have. */
static void wait_for_leaf(rank_t *rank)
{
    uint64_t end = oc_clock_ns() + 20 * OC_SECOND;

    while (atomic_load(&rank->shared->signal) < 4) {
        CHECK(oc_clock_ns() < end);
        rank_linger(rank, 1);
    }
}

/*
 * Small ones alone, for which one rank of the second leaf is late. Who has no room drops what came
 * early, and asks for it again: a leaf its ranks, the parent its leaves.
 */
static void body_small(rank_t *rank)
{
    static float send[SMALL_COUNT], recv[SMALL_GROUPS][SMALL_EACH][SMALL_COUNT];
    static outcome_t outcomes[SMALL_GROUPS][SMALL_EACH];

    for (unsigned k = 0; k < SMALL_COUNT; k++) {
        send[k] = (float) (k % 100 + rank->rank);
    }
    rank_set_up_groups(rank, SMALL_GROUPS);
    for (unsigned i = 0; i < SMALL_GROUPS * SMALL_EACH; i++) {
        unsigned group = (i + 3 * rank->rank) % SMALL_GROUPS, n = i / SMALL_GROUPS;

        if (0 == i && 6 == rank->rank) {
            wait_for_leaf(rank);
        }
        CHECK(OC_OK == rank_start(rank, group, OC_OP_SUM, OC_TYPE_FLOAT, send, recv[group][n],
                                  SMALL_COUNT, &outcomes[group][n]));
    }
    if (0 == layout->leaf[rank->rank]) {
        rank_linger(rank, 1000);
        atomic_fetch_add(&rank->shared->signal, 1);
    }
    CHECK(rank_wait(rank, outcomes[0], SMALL_GROUPS * SMALL_EACH, 40));
    for (unsigned i = 0; i < SMALL_GROUPS * SMALL_EACH; i++) {
        unsigned group = i % SMALL_GROUPS, n = i / SMALL_GROUPS;

        CHECK(OC_OK == outcomes[group][n].status);
        for (unsigned k = 0; k < SMALL_COUNT; k++) {
            CHECK((float) (7 * (k % 100) + 21) == recv[group][n][k]);
        }
    }
    atomic_fetch_add(resent, rank->counters.messages_resent);
}

static void run_tight(void (*body)(rank_t *rank), size_t chunk, const char *memory,
                      const char *parent_memory)
{
    oc_job_settings_t settings;

    grove_start_with(&grove, 2, "1", memory, parent_memory);
    settings = grove_settings(&grove);
    settings.small_size = 4096;
    settings.chunk_size = chunk;
    settings.window = 8;
    settings.connect_timeout = PATIENCE;
    settings.heartbeat_timeout = 10;
    layout = &seven_on_two;
    shares_hosts = false;
    atomic_store(resent, 0);
    assert_int_equal(ranks_run(7, &settings, body, 100), 0);
}

/* How many contributions that server asked for again, as it says at the end of the job. */
static unsigned long long asked_again(test_server_t *server)
{
    unsigned long long waited, asked, all = 0;
    char line[1024];

    while (server_line(server, line, sizeof(line), 3000) && NULL == strstr(line, "is over")) {
        const char *at = strstr(line, "short of memory: ");

        if (NULL != at && 2 == sscanf(at, "short of memory: %llu collectives waited for it, %llu",
                                      &waited, &asked)) {
            all += asked;
        }
    }
    return all;
}

static void run_short(void (*body)(rank_t *rank), const char *memory)
{
    run_tight(body, 49152, memory, memory);
    assert_true(server_said(&grove.leaves[0], "was short of memory", 20000));
    grove_stop(&grove);
}

static void test_opposite(void **state)
{
    (void) state;
    run_short(body_opposite, "1M");
}

static void test_waits(void **state)
{
    (void) state;
    run_short(body_waits, "1M");
}

static void test_newcomer(void **state)
{
    (void) state;
    run_short(body_newcomer, "1200K");
}

static void test_small(void **state)
{
    (void) state;
    run_tight(body_small, 4096, "1M", "16M");
    assert_int_equal(asked_again(&grove.parent), 0);
    assert_int_equal(asked_again(&grove.leaves[0]) + asked_again(&grove.leaves[1]),
                     atomic_load(resent));
    assert_true(atomic_load(resent) > 0);
    grove_stop(&grove);
    run_tight(body_small, 4096, "16M", "1M");
    assert_true(asked_again(&grove.parent) > 0);
    assert_int_equal(atomic_load(resent), 0);
    grove_stop(&grove);
}

/* ---- failures ---- */

#define LARGE 200000u

/* … of the ranks of leaf 1, and of the others. */
static char expected_reason[160], expected_elsewhere[160];

static oc_status_t until_error(rank_t *rank)
{
    static float send[LARGE], recv[LARGE];
    oc_status_t status = OC_OK;

    for (unsigned i = 0; OC_OK == status; i++) {
        status = rank_allreduce(rank, 0, OC_OP_SUM, OC_TYPE_FLOAT, send, recv, i % 3 ? LARGE : 50);
    }
    return status;
}

/* Every rank learns what began it. */
static void check_failed(rank_t *rank)
{
    const char *reason,
        *expected = 1 == layout->leaf[rank->rank] ? expected_reason : expected_elsewhere;

    CHECK(until_error(rank) < 0);
    CHECK(OC_GROUP_FAILED == oc_group_state(rank->groups[0]));
    reason = oc_group_reason(rank->groups[0]);
    if (NULL == strstr(reason, expected)) {
        fprintf(stderr, "\"%s\" is not in \"%s\"\n", expected, reason);
    }
    CHECK(NULL != strstr(reason, expected));
    CHECK(0 == oc_client_pending(rank->client));
}

static void body_fails(rank_t *rank)
{
    check_failed(rank);
}

/* The daemons live: a new group finds service again. */
static void body_comes_back(rank_t *rank)
{
    float number = 1, sum = 0;

    check_failed(rank);
    rank_barrier(rank);
    usleep(300000);
    CHECK(OC_OK == rank_allreduce(rank, 1, OC_OP_SUM, OC_TYPE_FLOAT, &number, &sum, 1));
    CHECK((float) rank->num_ranks == sum);
}

/* What signal does to that server's process, in the middle of things. */
static void strike(test_server_t *server, int signal, bool supervisor, const char *reason,
                   const char *elsewhere, void (*body)(rank_t *rank))
{
    oc_job_settings_t settings;
    ranks_t ranks;
    uint64_t begin;
    pid_t pid;

    grove.drain_timeout = "1";
    grove_start(&grove, 2, "1");
    settings = grove_settings(&grove);
    /* a leaf needs five seconds to miss its parent */
    settings.heartbeat_timeout = server == &grove.parent ? 8 : 5;
    layout = &seven_on_two;
    snprintf(expected_reason, sizeof(expected_reason), reason, server->address);
    snprintf(expected_elsewhere, sizeof(expected_elsewhere), elsewhere, server->address);
    ranks_start(&ranks, 7, &settings, body, 60);
    assert_true(ranks_reach(&ranks, 70));
    pid = supervisor ? server->pid : server_data_process(server);
    begin = oc_clock_ns();
    (void) kill(pid, signal);
    assert_int_equal(ranks_wait(&ranks), 0);
    assert_true(oc_clock_ns() - begin < 20 * OC_SECOND);
    if (SIGSTOP == signal) {
        (void) kill(pid, SIGCONT);
    }
    for (unsigned i = 0; i < 2; i++) {
        (void) server_stop(&grove.leaves[i]);
    }
    (void) server_stop(&grove.parent);
    grove.drain_timeout = NULL;
}

static void test_leaf_dies(void **state)
{
    (void) state;
    strike(&grove.leaves[1], SIGKILL, false, "server %s", "leaf server %s of the job is gone",
           body_comes_back);
    strike(&grove.leaves[1], SIGKILL, true, "server %s", "leaf server %s ", body_fails);
}

/* Its drain timeout passes before the job is over. */
static void test_leaf_is_stopped(void **state)
{
    (void) state;
    strike(&grove.leaves[1], SIGTERM, true, "server %s", "leaf server %s", body_fails);
}

/* Its own ranks see it; those of the other leaf learn it from the parent. */
static void test_leaf_hangs(void **state)
{
    (void) state;
    strike(&grove.leaves[1], SIGSTOP, false, "server %s stopped answering",
           "leaf server %s stopped answering", body_fails);
}

static void test_parent_dies(void **state)
{
    (void) state;
    strike(&grove.parent, SIGKILL, false, "parent server %s is gone", "parent server %s is gone",
           body_comes_back);
    /* its process may see that before it is ended, too, and say so */
    strike(&grove.parent, SIGKILL, true, "parent server %s ", "parent server %s ", body_fails);
}

static void test_parent_hangs(void **state)
{
    (void) state;
    strike(&grove.parent, SIGSTOP, false, "parent server %s stopped answering",
           "parent server %s stopped answering", body_fails);
}

/* Ranks of different leaves disagree: the parent finds it. */
static void body_mismatch(rank_t *rank)
{
    static float send[LARGE], recv[LARGE];
    bool first = 0 == layout->leaf[rank->rank];

    CHECK(OC_OK == rank_allreduce(rank, 0, OC_OP_SUM, OC_TYPE_FLOAT, send, recv, 100));
    rank_barrier(rank);
    CHECK(OC_OK != rank_allreduce(rank, 0, OC_OP_SUM, OC_TYPE_FLOAT, send, recv,
                                  first ? LARGE : LARGE - 1));
    CHECK(OC_GROUP_FAILED == oc_group_state(rank->groups[0]));
    CHECK(NULL != strstr(oc_group_reason(rank->groups[0]), "disagree about collective 1"));
    CHECK(NULL != strstr(oc_group_reason(rank->groups[0]), "leaf 0 has sum of 200000 "));
    CHECK(NULL != strstr(oc_group_reason(rank->groups[0]), "leaf 1 has sum of 199999 "));
}

/* Ranks of one leaf do: the leaf finds it, and ranks 4 to 6 are its members 0 to 2. */
static void body_mismatch_in_leaf(rank_t *rank)
{
    static float send[LARGE], recv[LARGE];
    const char *reason;

    CHECK(OC_OK == rank_allreduce(rank, 0, OC_OP_SUM, OC_TYPE_FLOAT, send, recv, 100));
    rank_barrier(rank);
    CHECK(OC_OK != rank_allreduce(rank, 0, OC_OP_SUM, OC_TYPE_FLOAT, send, recv,
                                  5 == rank->rank ? LARGE - 1 : LARGE));
    CHECK(OC_GROUP_FAILED == oc_group_state(rank->groups[0]));
    reason = oc_group_reason(rank->groups[0]);
    CHECK(NULL != strstr(reason, "member 1 of leaf 1 has sum of 199999 "));
}

/* Rank 5 gives up: all ranks of both leaves learn why. */
static void body_gives_up(rank_t *rank)
{
    static float send[LARGE], recv[LARGE];

    CHECK(OC_OK == rank_allreduce(rank, 0, OC_OP_SUM, OC_TYPE_FLOAT, send, recv, 100));
    rank_barrier(rank);
    if (5 == rank->rank) {
        usleep(300000);
        oc_group_give_up(rank->groups[0], OC_ERR_NO_MEMORY, "rank 5 has had enough");
    } else {
        CHECK(0 > rank_allreduce(rank, 0, OC_OP_SUM, OC_TYPE_FLOAT, send, recv, LARGE));
        CHECK(NULL != strstr(oc_group_reason(rank->groups[0]), "has had enough"));
    }
    CHECK(OC_GROUP_FAILED == oc_group_state(rank->groups[0]));
}

static void test_disagreement(void **state)
{
    (void) state;
    grove_start(&grove, 2, "1");
    run(&seven_on_two, false, 7, body_mismatch);
    run(&seven_on_two, false, 7, body_mismatch_in_leaf);
    run(&seven_on_two, false, 7, body_gives_up);
    grove_stop(&grove);
}

int main(int argc, char **argv)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_pairs),           cmocka_unit_test(test_sizes),
        cmocka_unit_test(test_small_parent),    cmocka_unit_test(test_small_leaf),
        cmocka_unit_test(test_in_flight),       cmocka_unit_test(test_committed),
        cmocka_unit_test(test_opposite),        cmocka_unit_test(test_waits),
        cmocka_unit_test(test_newcomer),        cmocka_unit_test(test_small),
        cmocka_unit_test(test_leaf_dies),       cmocka_unit_test(test_leaf_is_stopped),
        cmocka_unit_test(test_leaf_hangs),      cmocka_unit_test(test_parent_dies),
        cmocka_unit_test(test_parent_hangs),    cmocka_unit_test(test_disagreement),
    };

    if (argc > 1) {
        cmocka_set_test_filter(argv[1]);
    }
    resent = shared_memory(sizeof(*resent));
    alarm(1160);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
