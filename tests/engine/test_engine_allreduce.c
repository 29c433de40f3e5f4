/* SPDX-License-Identifier: BSD-3-Clause */
/* Owns the engine's tests of right results: all sizes, servers and numbers of ranks, bit by bit. */
/* Test: quick 120; threads: all 240 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "client/state/loss.h"
#include "tests/engine/harness.h"

#define MAX_BYTES (1u << 20)
#define GUARD     64

static const struct {
    unsigned op, type;
} pairs[] = {{OC_OP_SUM, OC_TYPE_FLOAT}, {OC_OP_SUM, OC_TYPE_DOUBLE}, {OC_OP_PROD, OC_TYPE_DOUBLE},
             {OC_OP_SUM, OC_TYPE_INT32}, {OC_OP_MIN, OC_TYPE_INT64}, {OC_OP_MAX, OC_TYPE_UINT16},
             {OC_OP_BXOR, OC_TYPE_UINT8}};

#define NUM_PAIRS (sizeof(pairs) / sizeof(pairs[0]))

/* One Allreduce out of place or in place, with guards behind the result. */
static void one(rank_t *rank, unsigned group, unsigned pair, size_t count, bool in_place)
{
    static uint8_t send[MAX_BYTES + GUARD], recv[MAX_BYTES + GUARD], expected[MAX_BYTES];
    unsigned op = pairs[pair].op, type = pairs[pair].type, seed = (unsigned) count + pair;
    size_t bytes = count * oc_type_size(type);
    uint8_t *result = in_place ? send : recv;

    fill_contribution(send, type, count, rank->rank, seed);
    fill_expected(expected, op, type, count, rank->num_ranks, seed);
    memset(recv, 0x5a, bytes);
    memset(result + bytes, 0xc3, GUARD);
    CHECK(OC_OK == rank_allreduce(rank, group, op, type, send, result, count));
    CHECK(0 == memcmp(result, expected, bytes));
    for (int i = 0; i < GUARD; i++) {
        CHECK(0xc3 == result[bytes + (size_t) i]);
    }
    if (!in_place) {
        fill_contribution(expected, type, count, rank->rank, seed);
        CHECK(0 == memcmp(send, expected, bytes));
    }
}

/* Bytes around every limit: a message, a chunk, a lane, a window, all windows. */
static unsigned make_sizes(const rank_t *rank, size_t *sizes)
{
    size_t small = rank->settings.small_size, chunk = rank->settings.chunk_size;
    size_t window = (size_t) rank->settings.window * chunk;
    const size_t limits[] = {small, chunk, 2 * chunk, 3 * chunk, window, 2 * window + chunk,
                             6 * window};
    unsigned count = 0;

    sizes[count++] = 8;
    for (size_t i = 0; i < sizeof(limits) / sizeof(limits[0]); i++) {
        sizes[count++] = limits[i] - 8;
        sizes[count++] = limits[i];
        sizes[count++] = limits[i] + 8;
    }
    return count;
}

static void body_sizes(rank_t *rank)
{
    unsigned long long operations = 0, payload = 0, copied = 0, large = 0;
    size_t sizes[32];
    unsigned num_sizes = make_sizes(rank, sizes);

    for (unsigned i = 0; i < num_sizes; i++) {
        for (unsigned pair = i % 3; pair < NUM_PAIRS; pair += 3) {
            size_t count = sizes[i] / oc_type_size(pairs[pair].type);

            one(rank, 0, pair, count, 0 == (i + pair) % 2);
            operations++;
            payload += sizes[i];
            if (sizes[i] <= rank->settings.small_size) {
                copied += 2 * sizes[i];
            } else if (0 == (i + pair) % 2 && oc_group_is_renewable(rank->groups[0])) {
                copied += sizes[i]; /* in place */
            }
            large += sizes[i] > rank->settings.small_size;
        }
    }
    CHECK(OC_GROUP_LIVE == oc_group_state(rank->groups[0]));
    CHECK(operations == rank->counters.allreduce_offloaded);
    CHECK(payload == rank->counters.bytes_sent);
    CHECK(payload == rank->counters.bytes_received);
    CHECK(copied == rank->counters.bytes_copied);
    CHECK(large <= rank->counters.chunks);
    CHECK(0 == rank->counters.failures);
    CHECK(1 == rank->counters.groups);
    CHECK(0 == oc_client_pending(rank->client));
}

/* Odd counts of small elements: last chunks that end anywhere. */
static void body_odd(rank_t *rank)
{
    static const size_t counts[] = {1, 3, 4095, 4096, 4097, 5001, 16383, 16385, 32771, 49153,
                                    99991, 131071};

    for (size_t i = 0; i < sizeof(counts) / sizeof(counts[0]); i++) {
        one(rank, 0, NUM_PAIRS - 1, counts[i], 0 == i % 2);
        one(rank, 0, NUM_PAIRS - 2, counts[i], 1 == i % 2);
    }
}

static void body_groups(rank_t *rank)
{
    for (unsigned round = 0; round < 6; round++) {
        for (unsigned group = 0; group < 4; group++) {
            one(rank, group, (round + group) % NUM_PAIRS, round % 2 ? 100 : 6000, false);
        }
    }
    CHECK(4 == rank->counters.groups);
    CHECK(24 == rank->counters.allreduce_offloaded);
}

#define IN_FLIGHT 300
#define VECTOR    3000

/* More than the engine lets run at a time, on two groups at once, small and large mixed. */
static void body_in_flight(rank_t *rank)
{
    static float send[VECTOR], recv[IN_FLIGHT][VECTOR], expected[VECTOR];
    static outcome_t outcomes[IN_FLIGHT];

    fill_contribution(send, OC_TYPE_FLOAT, VECTOR, rank->rank, 1);
    fill_expected(expected, OC_OP_SUM, OC_TYPE_FLOAT, VECTOR, rank->num_ranks, 1);
    for (unsigned i = 0; i < IN_FLIGHT; i++) {
        CHECK(OC_OK == rank_start(rank, i % 10 < 9 ? 0 : 1, OC_OP_SUM, OC_TYPE_FLOAT, send,
                                  recv[i], i % 3 ? 200 : VECTOR, &outcomes[i]));
    }
    CHECK(rank_wait(rank, outcomes, IN_FLIGHT, 15));
    for (unsigned i = 0; i < IN_FLIGHT; i++) {
        CHECK(OC_OK == outcomes[i].status);
        CHECK(0 == memcmp(recv[i], expected, (i % 3 ? 200 : VECTOR) * sizeof(float)));
    }
    CHECK(IN_FLIGHT == rank->counters.allreduce_offloaded);
}

/*
 * Three seconds of as much as the aggregators can do, with a heartbeat timeout of one: heartbeats
 * and new groups get through all the same.
 */
static void body_busy(rank_t *rank)
{
    static float send[32][VECTOR], recv[32][VECTOR];
    static outcome_t outcomes[32];
    uint64_t end = oc_clock_ns() + 3 * OC_SECOND;
    int32_t more = 1, votes = 1;

    for (unsigned round = 0; votes > 0; round++) {
        unsigned group = round / 64 % 4;

        for (unsigned i = 0; i < 32; i++) {
            CHECK(OC_OK == rank_start(rank, group, OC_OP_SUM, OC_TYPE_FLOAT, send[i], recv[i],
                                      i % 2 ? 16 : VECTOR, &outcomes[i]));
        }
        CHECK(rank_wait(rank, outcomes, 32, 12));
        for (unsigned i = 0; i < 32; i++) {
            CHECK(OC_OK == outcomes[i].status);
        }
        more = 0 == rank->rank && oc_clock_ns() < end;
        CHECK(OC_OK == rank_allreduce(rank, group, OC_OP_SUM, OC_TYPE_INT32, &more, &votes, 1));
    }
}

static void run(const char *servers, uint32_t num_ranks, void (*body)(rank_t *rank))
{
    oc_job_settings_t settings = test_settings(servers);

    assert_int_equal(ranks_run(num_ranks, &settings, body, 50), 0);
}

static void run_external(unsigned num_servers, const char *aggregators, uint32_t num_ranks,
                         void (*body)(rank_t *rank))
{
    const char *options[] = {"--aggregators", aggregators, NULL};
    test_server_t servers[2];
    char list[256] = "";
    oc_job_settings_t settings;
    unsigned failed;

    for (unsigned i = 0; i < num_servers; i++) {
        server_start(&servers[i], options);
        snprintf(list + strlen(list), sizeof(list) - strlen(list), "%s%s", i > 0 ? "," : "",
                 servers[i].address);
    }
    settings = test_settings(list);
    failed = ranks_run(num_ranks, &settings, body, 50);
    for (unsigned i = 0; i < num_servers; i++) {
        assert_int_equal(server_stop(&servers[i]), 0);
    }
    assert_int_equal(failed, 0);
}

static void test_embedded_1(void **state)
{
    (void) state;
    run("embedded", 2, body_sizes);
    run("embedded:1", 3, body_odd);
}

static void test_embedded_2(void **state)
{
    (void) state;
    run("embedded:2", 3, body_sizes);
}

static void test_embedded_3(void **state)
{
    (void) state;
    run("embedded:3", 4, body_odd);
    run("embedded:3", 2, body_groups);
}

static void test_single_rank(void **state)
{
    (void) state;
    run("embedded", 1, body_odd);
}

static void test_external_1(void **state)
{
    (void) state;
    run_external(1, "1", 2, body_sizes);
    run_external(1, "3", 3, body_odd);
}

static void test_external_2(void **state)
{
    (void) state;
    run_external(2, "1", 3, body_sizes);
    run_external(2, "2", 4, body_odd);
}

static void test_groups(void **state)
{
    (void) state;
    run("embedded:2", 3, body_groups);
    run_external(2, "1", 2, body_groups);
}

static void test_in_flight(void **state)
{
    (void) state;
    run("embedded:2", 2, body_in_flight);
    run_external(1, "2", 4, body_in_flight);
}

static void test_busy(void **state)
{
    const char *options[] = {"--aggregators", "1", NULL};
    test_server_t server;
    oc_job_settings_t settings;

    (void) state;
    server_start(&server, options);
    settings = test_settings(server.address);
    settings.heartbeat_timeout = 1;
    assert_true(ranks_succeed(&server, 4, &settings, body_busy, 30));
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_embedded_1),
        cmocka_unit_test(test_embedded_2),
        cmocka_unit_test(test_embedded_3),
        cmocka_unit_test(test_single_rank),
        cmocka_unit_test(test_external_1),
        cmocka_unit_test(test_external_2),
        cmocka_unit_test(test_groups),
        cmocka_unit_test(test_in_flight),
        cmocka_unit_test(test_busy),
    };

    alarm(1120);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
