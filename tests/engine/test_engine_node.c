/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Owns the engine's tests of the node shape: ranks of made-up hosts reduce in shared memory
 * first. Results are compared with scalar code that folds inside hosts, then over hosts.
 */
/* Test: quick 120 -- --few; default 240; threads: all 240 -- --few; sanitizers: all 400 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/log.h"
#include "client/state/record.h"
#include "tests/engine/farm.h"
#include "tests/engine/harness.h"
#include "tests/engine/reductions.h"

/* For a server with little memory: 33 chunks. */
#define TIGHT_VECTOR     400000
#define TIGHT_OPERATIONS 12

/*
 * Of 1 MiB, the reserves of two teams and seven chunks leave too little for a small vector. The
 * large one has more chunks than steps fit.
 */
#define LAST_CHUNK  53248
#define LAST_SMALL  (16384 / sizeof(float))
#define LAST_LARGE  (80 * LAST_CHUNK / sizeof(float))
#define LAST_WINDOW 16

/* By lowest rank; of unequal size; in turn, as launchers map by node. */
static const uint8_t one_and_three[] = {1, 2, 2, 2}, unequal[] = {3, 3, 3, 3, 2, 2, 1},
                     cyclic[] = {1, 2, 1, 2, 1, 2, 1, 2}, one_host[] = {5, 5, 5},
                     alone[] = {1, 2, 3};

/* What ranks tell each other in the tests. */
typedef struct {
    unsigned long long sent[MAX_TEST_RANKS], received[MAX_TEST_RANKS], resent[MAX_TEST_RANKS];
} tally_t;

static tally_t *tally;

/* ---- what the ranks do ---- */

/* Segments that others can attach: each holds a descriptor. */
static unsigned count_segments(void)
{
    char path[64], target[64];
    unsigned count = 0;
    ssize_t length;

    for (int fd = 0; fd < 1024; fd++) {
        snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
        length = readlink(path, target, sizeof(target) - 1);
        target[length > 0 ? length : 0] = '\0';
        count += NULL != strstr(target, "memfd:optcast");
    }
    return count;
}

/* Of this process's bell: how often it was rung without being heard. */
static unsigned count_rings(void)
{
    struct sockaddr_un address;
    unsigned count = 0;
    char nothing;

    for (int fd = 0; fd < 1024; fd++) {
        socklen_t length = sizeof(address);

        if (0 == getsockname(fd, (struct sockaddr *) &address, &length)
            && AF_UNIX == address.sun_family && length > 10
            && 0 == memcmp(address.sun_path + 1, "optcast-", 8)) {
            while (recv(fd, &nothing, sizeof(nothing), MSG_DONTWAIT) >= 0) {
                count++;
            }
        }
    }
    return count;
}

static void live_in_node_shape(rank_t *rank)
{
    char text[256];

    CHECK(OC_GROUP_LIVE == oc_group_state(rank->groups[0]));
    oc_group_describe(rank->groups[0], text, sizeof(text));
    CHECK(NULL != strstr(text, "node reduction shape"));
    CHECK(0 == count_segments());
    /* the one who took the flag of the last sleep may have rung after that was over */
    CHECK(count_rings() <= 1);
}

static void all_pairs(rank_t *rank)
{
    reduce_pairs(rank, NULL);
    live_in_node_shape(rank);
    CHECK(0 == rank->counters.failures);
}

static void body_pairs_1_3(rank_t *rank)
{
    rank->hosts = one_and_three;
    all_pairs(rank);
}

static void body_pairs_unequal(rank_t *rank)
{
    rank->hosts = unequal;
    all_pairs(rank);
}

static void all_sizes(rank_t *rank)
{
    reduce_sizes(rank, NULL);
    live_in_node_shape(rank);
}

static void body_sizes_1_3(rank_t *rank)
{
    rank->hosts = one_and_three;
    all_sizes(rank);
}

static void body_sizes_cyclic(rank_t *rank)
{
    rank->hosts = cyclic;
    all_sizes(rank);
}

static void body_sizes_one_host(rank_t *rank)
{
    rank->hosts = one_host;
    all_sizes(rank);
}

/* Every byte leaves a host once; 16-bit floats do so with twice their size. */
static void body_bytes(rank_t *rank)
{
    const size_t bytes[] = {400, 300000, 8 * 16384};
    unsigned long long sent = 0, received = 0, expected = 0;

    rank->hosts = unequal;
    for (unsigned i = 0; i < 3; i++) {
        reduce_one(rank, NULL, OC_OP_SUM, OC_TYPE_DOUBLE, bytes[i] / 8, false);
        reduce_one(rank, NULL, OC_OP_SUM, OC_TYPE_FLOAT16, bytes[i] / 2, false);
        expected += 3 * bytes[i];
    }
    tally->sent[rank->rank] = rank->counters.bytes_sent;
    tally->received[rank->rank] = rank->counters.bytes_received;
    rank_barrier(rank);
    for (uint32_t r = 0; r < rank->num_ranks; r++) {
        if (rank->hosts[r] == rank->hosts[rank->rank]) {
            sent += tally->sent[r];
            received += tally->received[r];
            CHECK(tally->sent[r] > 0);
        }
    }
    CHECK(expected == sent);
    CHECK(expected == received);
    CHECK((0 != rank->counters.bytes_node) == (6 != rank->rank));
    CHECK(6 == rank->counters.allreduce_offloaded);
    live_in_node_shape(rank);
}

/* A rank that is alone on its host copies nothing large. */
static void body_alone(rank_t *rank)
{
    rank->hosts = one_and_three;
    reduce_one(rank, NULL, OC_OP_SUM, OC_TYPE_DOUBLE, 50000, false);
    reduce_one(rank, NULL, OC_OP_SUM, OC_TYPE_DOUBLE, 50000, true);
    CHECK((0 == rank->counters.bytes_copied) == (0 == rank->rank));
    live_in_node_shape(rank);
}

static void expect_flat(rank_t *rank)
{
    static float send[5000], recv[5000], expected[5000];
    const size_t counts[] = {20, 5000};
    char text[256];

    for (unsigned i = 0; i < 2; i++) {
        fill_contribution(send, OC_TYPE_FLOAT, counts[i], rank->rank, i);
        fill_expected(expected, OC_OP_SUM, OC_TYPE_FLOAT, counts[i], rank->num_ranks, i);
        CHECK(OC_OK == rank_allreduce(rank, 0, OC_OP_SUM, OC_TYPE_FLOAT, send, recv, counts[i]));
        CHECK(0 == memcmp(recv, expected, counts[i] * sizeof(float)));
    }
    oc_group_describe(rank->groups[0], text, sizeof(text));
    CHECK(NULL != strstr(text, "flat reduction shape"));
    CHECK(0 == rank->counters.bytes_node);
    CHECK(20 * 4 + 5000 * 4 == rank->counters.bytes_sent);
}

static void body_rank_order(rank_t *rank)
{
    rank->hosts = one_and_three;
    expect_flat(rank);
}

static void body_alone_each(rank_t *rank)
{
    rank->hosts = alone;
    expect_flat(rank);
}

static unsigned flat_warnings;

static void listen_to_log(oc_log_level_t level, const char *line)
{
    flat_warnings += OC_LOG_WARN == level && NULL != strstr(line, "not reduced inside hosts");
}

static bool is_in_node_shape(rank_t *rank, unsigned group)
{
    char text[256];

    oc_group_describe(rank->groups[group], text, sizeof(text));
    return NULL != strstr(text, "node reduction shape");
}

#define FITTING 15

/* Segments of a little more than 16 MiB: so many of them fit into what a process shares. */
static void body_budget(rank_t *rank)
{
    float send[10] = {1}, recv[10];

    rank->hosts = one_host;
    oc_log_set_sink(listen_to_log);
    for (unsigned i = 0; i < FITTING + 2; i++) {
        CHECK(OC_OK == rank_allreduce(rank, i, OC_OP_SUM, OC_TYPE_FLOAT, send, recv, 10));
        CHECK(3 == recv[0]);
        CHECK((i < FITTING) == is_in_node_shape(rank, i));
    }
    CHECK((0 == rank->rank) == flat_warnings);
    rank_renew_group(rank, 3);
    CHECK(OC_OK == rank_allreduce(rank, 3, OC_OP_SUM, OC_TYPE_FLOAT, send, recv, 10));
    CHECK(is_in_node_shape(rank, 3));
    rank_renew_group(rank, FITTING);
    CHECK(OC_OK == rank_allreduce(rank, FITTING, OC_OP_SUM, OC_TYPE_FLOAT, send, recv, 10));
    CHECK(!is_in_node_shape(rank, FITTING));
}

/* Who never sleeps is not rung for. */
static void body_awake(rank_t *rank)
{
    float send[10] = {1}, recv[10];
    uint64_t start = oc_clock_ns();
    outcome_t outcome;

    rank->hosts = one_host;
    CHECK(OC_OK == rank_start(rank, 0, OC_OP_SUM, OC_TYPE_FLOAT, send, recv, 10, &outcome));
    while (!outcome.done && oc_clock_ns() - start < 10 * OC_SECOND) {
        (void) oc_client_progress(rank->client);
    }
    CHECK(outcome.done && OC_OK == outcome.status);
    live_in_node_shape(rank);
}

/* Puts a name that nothing has into the record of rank 2. */
static void rename_things(rank_t *rank, bool bell)
{
    uint8_t *bytes = rank->shared->boards[0].records[2];
    oc_record_t record;

    CHECK(oc_record_decode(bytes, &record) && OC_SHARES_MEMORY == record.offer.shares);
    if (bell) {
        memset(record.offer.bell, 0xee, sizeof(record.offer.bell));
    } else {
        memset(record.offer.segment, 0xee, sizeof(record.offer.segment));
    }
    oc_record_encode(&record, bytes);
}

/* The names that rank 2 gives are wrong on all ranks: nobody finds its memory or its bell. */
static void body_unattachable(rank_t *rank)
{
    board_t *board = &rank->shared->boards[0];
    float one_number = 1, sum = 0;
    outcome_t outcome;

    rank->hosts = one_and_three;
    oc_log_set_sink(listen_to_log);
    atomic_store(&board->hold, 1);
    rank_compute(rank);
    (void) rank_start(rank, 0, OC_OP_SUM, OC_TYPE_FLOAT, &one_number, &sum, 1, &outcome);
    rank_compute(rank);
    if (0 == rank->rank) {
        rename_things(rank, 0 != atomic_load(&rank->shared->signal));
        atomic_store(&board->hold, 0);
    }
    CHECK(rank_wait(rank, &outcome, 1, 10));
    CHECK(OC_OK == outcome.status && 4 == sum);
    CHECK((1 == rank->rank) == flat_warnings);
    rank->counters.bytes_sent = 0;
    expect_flat(rank);
}

#define SLEEPERS 40

/* Sleeps as long as nobody wakes it: a lost wake-up costs two seconds, and there are few. */
static void body_sleepers(rank_t *rank)
{
    static float send[20000], recv[20000];
    uint64_t start = oc_clock_ns();
    outcome_t outcome;

    rank->hosts = one_host;
    CHECK(OC_OK == rank_allreduce(rank, 0, OC_OP_SUM, OC_TYPE_FLOAT, send, recv, 10));
    for (unsigned i = 0; i < SLEEPERS; i++) {
        /* one of them comes late: the others sleep already */
        usleep(i % 3 == rank->rank ? 20000 : 0);
        CHECK(OC_OK == rank_start(rank, 0, OC_OP_SUM, OC_TYPE_FLOAT, send, recv,
                                  i % 2 ? 20000 : 10, &outcome));
        while (!outcome.done) {
            if (0 == oc_client_progress(rank->client) && !outcome.done) {
                oc_client_wait(rank->client, 2000000);
            }
        }
        CHECK(OC_OK == outcome.status);
    }
    CHECK(oc_clock_ns() - start < SLEEPERS / 2 * OC_SECOND);
    CHECK(count_rings() <= 1);
}

#define ROUNDS 10

/*
 * Rank 1 stops with its last result, so it has no COMMIT yet, but once in a while one that is very
 * quick. Whatever else it has: nobody returns.
 */
static void body_committed(rank_t *rank)
{
    static const uint8_t together[] = {1, 1};
    static float send[4 * 8192 / sizeof(float)], recv[4 * 8192 / sizeof(float)];
    unsigned long long share = sizeof(send) / 2, before;
    unsigned early = 0;
    uint64_t start, received;
    outcome_t outcome;

    rank->hosts = together;
    CHECK(OC_OK == rank_allreduce(rank, 0, OC_OP_SUM, OC_TYPE_FLOAT, send, recv, 10));
    for (unsigned i = 0; i < ROUNDS; i++) {
        before = rank->counters.bytes_received;
        received = 0;
        CHECK(OC_OK == rank_start(rank, 0, OC_OP_SUM, OC_TYPE_FLOAT, send, recv,
                                  sizeof(send) / sizeof(float), &outcome));
        start = oc_clock_ns();
        while (!outcome.done && oc_clock_ns() - start < 5 * OC_SECOND) {
            (void) oc_client_progress(rank->client);
            if (0 == received && rank->counters.bytes_received == before + share) {
                received = oc_clock_ns();
            }
            /* rank 0 goes on looking for a while */
            if (0 != received && (1 == rank->rank || oc_clock_ns() - received > OC_SECOND / 5)) {
                break;
            }
        }
        CHECK(rank->counters.bytes_received == before + share);
        early += outcome.done;
        rank_compute(rank);
        CHECK(rank_wait(rank, &outcome, 1, 10));
        CHECK(OC_OK == outcome.status);
        rank_barrier(rank);
    }
    CHECK(early <= ROUNDS / 2);
}

static void body_in_flight(rank_t *rank)
{
    rank->hosts = unequal;
    reduce_in_flight(rank);
}

/*
 * On two groups at a time, begun in different orders, with little more memory in the server than a
 * chunk for each team: later chunks must not take what an earlier one needs.
 */
static void body_tight(rank_t *rank)
{
    static const size_t counts[] = {TIGHT_VECTOR, TIGHT_VECTOR, TIGHT_VECTOR, TIGHT_VECTOR,
                                    500,          500};

    rank->hosts = cyclic;
    reduce_many(rank, TIGHT_OPERATIONS, counts, 40);
}

/* Whatever serves it: what hosts make of it is the same, bit by bit. */
static void body_bits(rank_t *rank)
{
    const size_t counts[] = {1, 100, 3000, 20000, 90001};

    rank->hosts = unequal;
    for (unsigned i = 0; i < sizeof(counts) / sizeof(counts[0]); i++) {
        reduce_one(rank, NULL, OC_OP_SUM, OC_TYPE_FLOAT, counts[i], 0 == i % 2);
        reduce_one(rank, NULL, OC_OP_SUM, OC_TYPE_DOUBLE, counts[i], 0 != i % 2);
        reduce_one(rank, NULL, OC_OP_PROD, OC_TYPE_FLOAT, counts[i], 0 == i % 2);
        reduce_one(rank, NULL, OC_OP_SUM, OC_TYPE_BFLOAT16, counts[i], 0 != i % 2);
    }
    CHECK(sizeof(counts) / sizeof(counts[0]) * 4 == rank->counters.allreduce_offloaded);
    live_in_node_shape(rank);
}

/* Rank 3 does not even look at its client meanwhile. */
static void meet_idly(rank_t *rank)
{
    if (3 == rank->rank) {
        rank_compute(rank);
    } else {
        rank_barrier(rank);
    }
}

static void progress_for(rank_t *rank, uint64_t duration, unsigned long long chunks)
{
    for (uint64_t start = oc_clock_ns();
         oc_clock_ns() - start < duration && rank->counters.chunks < chunks;) {
        (void) oc_client_progress(rank->client);
    }
}

/*
 * Rank 3 gives its steps, as many as fit, but does not send the small vector, which is the first of
 * them. The chunks of rank 2's team go on, until the server's memory is full of those whose steps
 * fit only when the small one is done.
 */
static void block_small(rank_t *rank, const float *small, float *small_sum, const float *large,
                        float *large_sum, outcome_t outcomes[2])
{
    if (2 == rank->rank) {
        meet_idly(rank);
    }
    CHECK(OC_OK == rank_start(rank, 0, OC_OP_SUM, OC_TYPE_FLOAT, small, small_sum, LAST_SMALL,
                              &outcomes[0]));
    CHECK(OC_OK == rank_start(rank, 0, OC_OP_SUM, OC_TYPE_FLOAT, large, large_sum, LAST_LARGE,
                              &outcomes[1]));
    for (unsigned i = 0; 3 == rank->rank && i < 2000; i++) {
        (void) oc_client_progress(rank->client);
    }
    if (2 == rank->rank) {
        /* half of the steps that fit are those of its team */
        progress_for(rank, 5 * OC_SECOND, LAST_WINDOW - 1);
    } else {
        meet_idly(rank);
    }
    if (3 != rank->rank) {
        progress_for(rank, OC_SECOND / 5, UINT64_MAX);
    }
    meet_idly(rank);
}

static void body_small_last(rank_t *rank)
{
    static const uint8_t pairs[] = {1, 1, 2, 2};
    static float small[LAST_SMALL], small_sum[LAST_SMALL], large[LAST_LARGE],
        large_sum[LAST_LARGE];
    outcome_t outcomes[2];

    rank->hosts = pairs;
    for (unsigned i = 0; i < LAST_LARGE; i++) {
        large[i] = (float) (i % 100 + rank->rank);
        small[i % LAST_SMALL] = (float) rank->rank;
    }
    CHECK(OC_OK == rank_allreduce(rank, 0, OC_OP_SUM, OC_TYPE_FLOAT, small, small_sum, 10));
    rank_barrier(rank);
    block_small(rank, small, small_sum, large, large_sum, outcomes);
    CHECK(rank_wait(rank, outcomes, 2, 15));
    CHECK(OC_OK == outcomes[0].status && OC_OK == outcomes[1].status);
    for (unsigned i = 0; i < LAST_LARGE; i++) {
        CHECK((float) (4 * (i % 100) + 6) == large_sum[i] && 6 == small_sum[i % LAST_SMALL]);
    }
    tally->resent[rank->rank] = rank->counters.messages_resent;
    rank_barrier(rank);
    /* there was no memory for the small one when it came */
    CHECK(tally->resent[0] + tally->resent[1] + tally->resent[2] + tally->resent[3] > 0);
}

/* Until the service ends, which is within the patience of rank_allreduce for everybody. */
static void body_until_error(rank_t *rank)
{
    static float send[200000], recv[200000];
    oc_status_t status = OC_OK;

    rank->hosts = unequal;
    for (unsigned i = 0; OC_OK == status; i++) {
        status = rank_allreduce(rank, 0, OC_OP_SUM, OC_TYPE_FLOAT, send, recv,
                                i % 3 ? 200000 : 50);
    }
    CHECK(OC_GROUP_FAILED == oc_group_state(rank->groups[0]));
    CHECK(NULL != strstr(oc_group_reason(rank->groups[0]), "server"));
}

/* Rank 2 gives up in the middle: its host, and the others, do not wait for it. */
static void body_give_up(rank_t *rank)
{
    static float send[200000], recv[200000];
    oc_status_t status = OC_OK;

    rank->hosts = one_and_three;
    CHECK(OC_OK == rank_allreduce(rank, 0, OC_OP_SUM, OC_TYPE_FLOAT, send, recv, 100));
    rank_barrier(rank);
    if (2 == rank->rank) {
        usleep(300000);
        oc_group_give_up(rank->groups[0], OC_ERR_NO_MEMORY, "rank 2 has had enough");
    } else {
        status = rank_allreduce(rank, 0, OC_OP_SUM, OC_TYPE_FLOAT, send, recv, 200000);
        CHECK(OC_OK != status);
        CHECK(NULL != strstr(oc_group_reason(rank->groups[0]), "has had enough"));
    }
    CHECK(OC_GROUP_FAILED == oc_group_state(rank->groups[0]));
}

/* Ranks of one host disagree about the operation. */
static void body_mismatch(rank_t *rank)
{
    static float send[20000], recv[20000];
    size_t count = 2 == rank->rank ? 19000 : 20000;

    rank->hosts = one_and_three;
    CHECK(OC_OK == rank_allreduce(rank, 0, OC_OP_SUM, OC_TYPE_FLOAT, send, recv, 100));
    rank_barrier(rank);
    CHECK(OC_OK != rank_allreduce(rank, 0, OC_OP_SUM, OC_TYPE_FLOAT, send, recv, count));
    CHECK(OC_GROUP_FAILED == oc_group_state(rank->groups[0]));
}

/* ---- the tests ---- */

static oc_job_settings_t node_settings(const char *servers)
{
    oc_job_settings_t settings = test_settings(servers);

    settings.small_size = 1024;
    settings.chunk_size = 8192;
    return settings;
}

static void run(const char *servers, uint32_t num_ranks, void (*body)(rank_t *rank), int window)
{
    oc_job_settings_t settings = node_settings(servers);

    settings.window = window;
    assert_int_equal(ranks_run(num_ranks, &settings, body, 100), 0);
}

static void run_external(const char *aggregators, uint32_t num_ranks, void (*body)(rank_t *rank))
{
    const char *options[] = {"--aggregators", aggregators, NULL};
    oc_job_settings_t settings;
    test_server_t server;

    server_start(&server, options);
    settings = node_settings(server.address);
    settings.peer_aggregation = OC_PEERS_OFF;
    assert_true(ranks_succeed(&server, num_ranks, &settings, body, 100));
}

static void test_pairs(void **state)
{
    (void) state;
    run_external("1", 4, body_pairs_1_3);
    run("embedded:2", 7, body_pairs_unequal, 3);
}

static void test_sizes(void **state)
{
    (void) state;
    run("embedded:2", 4, body_sizes_1_3, 3);
    run_external("3", 8, body_sizes_cyclic);
    run("embedded", 3, body_sizes_one_host, 1);
}

/* Peers on each host, with shares that differ from that of the server. */
static void test_peers(void **state)
{
    test_server_t server;
    oc_job_settings_t settings;

    (void) state;
    run("embedded", 4, body_sizes_1_3, 2);
    server_start(&server, NULL);
    settings = node_settings(server.address);
    settings.window = 1;
    assert_true(ranks_succeed(&server, 4, &settings, body_sizes_1_3, 100));
}

/* On servers of these weights, with so many aggregators each. */
static void bits_with(const char *const *weights, const char *aggregators, int window,
                      size_t chunk)
{
    oc_job_settings_t settings = node_settings("");

    settings.peer_aggregation = OC_PEERS_OFF;
    settings.window = window;
    settings.chunk_size = chunk;
    farm_run(weights, aggregators, 7, &settings, body_bits, 100);
}

static void test_same_bits(void **state)
{
    (void) state;
    bits_with((const char *[]) {"", NULL}, "1", 1, 4096);
    bits_with((const char *[]) {"", NULL}, "3", 8, 65536);
    bits_with((const char *[]) {"weight=3", "", NULL}, "1", 3, 8192);
    bits_with((const char *[]) {"", "", NULL}, "2", 2, 12288);
    bits_with((const char *[]) {"", "", "", NULL}, "1", 4, 16384);
    bits_with((const char *[]) {"weight=0.5", "", "", NULL}, "2", 1, 8192);
    run("embedded", 7, body_bits, 2);
}

static void test_bytes(void **state)
{
    (void) state;
    run_external("2", 7, body_bytes);
    run_external("2", 4, body_alone);
}

static void test_rank_order(void **state)
{
    oc_job_settings_t settings = node_settings("embedded:1");

    (void) state;
    settings.reproducible = OC_REPRODUCIBLE_RANK_ORDER;
    assert_int_equal(ranks_run(4, &settings, body_rank_order, 50), 0);
    run("embedded:1", 3, body_alone_each, 3);
}

static void body_unwakeable(rank_t *rank)
{
    atomic_store(&rank->shared->signal, 1);
    body_unattachable(rank);
}

static void test_unattachable(void **state)
{
    (void) state;
    run("embedded:1", 4, body_unattachable, 3);
    run("embedded:1", 4, body_unwakeable, 3);
}

static void test_budget(void **state)
{
    oc_job_settings_t settings = node_settings("embedded:1");

    (void) state;
    settings.chunk_size = 1 << 20;
    settings.window = 64;
    assert_int_equal(ranks_run(3, &settings, body_budget, 60), 0);
    run("embedded:1", 3, body_awake, 3);
}

static void test_in_flight(void **state)
{
    (void) state;
    run("embedded:2", 7, body_in_flight, 3);
    run_external("1", 7, body_in_flight);
}

static void test_tight_memory(void **state)
{
    const char *options[] = {"--memory-limit", "1M", NULL};
    oc_job_settings_t settings;
    test_server_t server;

    (void) state;
    server_start(&server, options);
    settings = test_settings(server.address);
    settings.peer_aggregation = OC_PEERS_OFF;
    settings.small_size = 2000;
    settings.chunk_size = 49152;
    settings.window = 3;
    assert_true(ranks_succeed(&server, 8, &settings, body_tight, 100));
}

static void test_small_has_reserve(void **state)
{
    const char *options[] = {"--memory-limit", "1M", NULL};
    oc_job_settings_t settings;
    test_server_t server;

    (void) state;
    server_start(&server, options);
    settings = test_settings(server.address);
    settings.peer_aggregation = OC_PEERS_OFF;
    settings.small_size = LAST_SMALL * sizeof(float);
    settings.chunk_size = LAST_CHUNK;
    settings.window = LAST_WINDOW;
    assert_true(ranks_succeed(&server, 4, &settings, body_small_last, 60));
}

static void test_sleepers(void **state)
{
    (void) state;
    run("embedded:1", 3, body_sleepers, 3);
}

static void test_committed(void **state)
{
    (void) state;
    run("embedded:1", 2, body_committed, 3);
}

static void test_server_dies(void **state)
{
    oc_job_settings_t settings;
    test_server_t server;
    ranks_t ranks;

    (void) state;
    server_start(&server, NULL);
    settings = node_settings(server.address);
    settings.peer_aggregation = OC_PEERS_OFF;
    ranks_start(&ranks, 7, &settings, body_until_error, 60);
    assert_true(ranks_reach(&ranks, 21));
    (void) kill(server_data_process(&server), SIGKILL);
    assert_int_equal(ranks_wait(&ranks), 0);
    (void) server_stop(&server);
}

static void test_give_up(void **state)
{
    (void) state;
    run("embedded:2", 4, body_give_up, 3);
}

static void test_mismatch(void **state)
{
    (void) state;
    run("embedded:2", 4, body_mismatch, 3);
}

/* usage: test_engine_node [--few]: without those that take long, where all is slow */
int main(int argc, char **argv)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_sizes),        cmocka_unit_test(test_pairs),
        cmocka_unit_test(test_peers),        cmocka_unit_test(test_same_bits),
        cmocka_unit_test(test_budget),       cmocka_unit_test(test_tight_memory),
    }, few[] = {
        cmocka_unit_test(test_bytes),        cmocka_unit_test(test_rank_order),
        cmocka_unit_test(test_unattachable), cmocka_unit_test(test_in_flight),
        cmocka_unit_test(test_server_dies),  cmocka_unit_test(test_small_has_reserve),
        cmocka_unit_test(test_give_up),      cmocka_unit_test(test_mismatch),
        cmocka_unit_test(test_sleepers),     cmocka_unit_test(test_committed),
    };
    int failed;

    alarm(1160);
    tally = shared_memory(sizeof(*tally));
    failed = cmocka_run_group_tests(few, NULL, NULL);
    if (argc < 2 || 0 != strcmp(argv[1], "--few")) {
        failed += cmocka_run_group_tests(tests, NULL, NULL);
    }
    return failed;
}
