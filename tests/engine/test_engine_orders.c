/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Owns the test that groups whose ranks begin in different orders all end, with the right results, with
 * memory for two steps on each aggregator, one of which is the reserve that all groups share: in the node
 * shape, and in the flat one, where ranks keep two servers in step. That they would wait for ever
 * without it in the node shape, tests/model/reserve.pml shows, and
 * test_small_has_reserve of test_engine_node in one case. That they do if it is lent to whoever has
 * begun, the narrow window here shows: who has it waits for steps of the other server.
 */
/* Test: default 240; all 240 x5 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/engine/harness.h"

#define RANKS  8
#define GROUPS 12
#define ROUNDS 3
#define COUNT  200003u        /* elements, of several chunks for each team and aggregator */
#define CHUNK  229376u        /* of two hosts, and two of these: all that an aggregator has */
#define FLAT   (CHUNK / 4)    /* the same of eight ranks */

/* Two hosts of four ranks; their numbers begin at 1. */
static const uint8_t hosts[RANKS] = {1, 2, 1, 2, 1, 2, 1, 2};

static int32_t *send_of[GROUPS], *recv_of[GROUPS];

/* Another order on each rank, which is a permutation because 5 and GROUPS have no common factor. */
static unsigned group_at(const rank_t *rank, unsigned round, unsigned place)
{
    unsigned at = 0 == rank->rank % 2 ? place : GROUPS - 1 - place;

    return (5 * at + 3 * rank->rank + round) % GROUPS;
}

static void begin_all(rank_t *rank, unsigned round, outcome_t outcomes[GROUPS])
{
    for (unsigned place = 0; place < GROUPS; place++) {
        unsigned group = group_at(rank, round, place);

        fill_contribution(send_of[group], OC_TYPE_INT32, COUNT, rank->rank, round * GROUPS + group);
        CHECK(OC_OK == rank_start(rank, group, OC_OP_SUM, OC_TYPE_INT32, send_of[group],
                                  recv_of[group], COUNT, &outcomes[group]));
    }
}

static void compare_all(rank_t *rank, unsigned round, const outcome_t outcomes[GROUPS])
{
    int32_t *expected = malloc(COUNT * sizeof(int32_t));

    CHECK(NULL != expected);
    for (unsigned group = 0; group < GROUPS; group++) {
        fill_expected(expected, OC_OP_SUM, OC_TYPE_INT32, COUNT, rank->num_ranks,
                      round * GROUPS + group);
        CHECK(OC_OK == outcomes[group].status);
        CHECK(0 == memcmp(recv_of[group], expected, COUNT * sizeof(int32_t)));
    }
    free(expected);
}

static void run_rounds(rank_t *rank, bool node)
{
    unsigned long long before;
    outcome_t outcomes[GROUPS];
    char text[256];

    rank->hosts = node ? hosts : NULL;
    for (unsigned group = 0; group < GROUPS; group++) {
        send_of[group] = malloc(COUNT * sizeof(int32_t));
        recv_of[group] = malloc(COUNT * sizeof(int32_t));
        CHECK(NULL != send_of[group] && NULL != recv_of[group]);
    }
    rank_set_up_groups(rank, GROUPS);
    oc_group_describe(rank->groups[0], text, sizeof(text));
    CHECK(node == (NULL != strstr(text, "node reduction shape")));
    before = rank->counters.allreduce_offloaded;
    for (unsigned round = 0; round < ROUNDS; round++) {
        begin_all(rank, round, outcomes);
        CHECK(rank_wait(rank, outcomes, GROUPS, 60));
        compare_all(rank, round, outcomes);
    }
    CHECK(before + ROUNDS * GROUPS == rank->counters.allreduce_offloaded);
    for (unsigned group = 0; group < GROUPS; group++) {
        free(send_of[group]);
        free(recv_of[group]);
    }
}

static void body_node(rank_t *rank)
{
    run_rounds(rank, true);
}

static void body_flat(rank_t *rank)
{
    run_rounds(rank, false);
}

/* Else nobody had to wait, and the test says nothing. However it was lent, it was there once. */
static void expect_within_limit(test_server_t *server)
{
    size_t used = 0, limit = 0;
    const char *at = NULL;
    char line[1024] = "";

    while (NULL == at) {
        assert_true(server_line(server, line, sizeof(line), 5000));
        at = strstr(line, "was short of memory");
    }
    at = strstr(at, "at most ");
    assert_non_null(at);
    assert_int_equal(sscanf(at, "at most %zu of %zu bytes were in use", &used, &limit), 2);
    assert_in_range(used, 1, limit);
}

static void run_orders(void (*body)(rank_t *), uint32_t chunk, int window)
{
    const char *options[] = {"--memory-limit", "1M", NULL};
    oc_job_settings_t settings;
    test_server_t servers[2];
    char list[160];

    for (int i = 0; i < 2; i++) {
        server_start(&servers[i], options);
    }
    snprintf(list, sizeof(list), "%s,%s", servers[0].address, servers[1].address);
    settings = test_settings(list);
    settings.peer_aggregation = OC_PEERS_OFF;
    settings.small_size = 1024;
    settings.chunk_size = chunk;
    settings.window = window;
    settings.heartbeat_timeout = 60;
    settings.connect_timeout = 30;
    assert_int_equal(ranks_run(RANKS, &settings, body, 200), 0);
    for (int i = 0; i < 2; i++) {
        expect_within_limit(&servers[i]);
        assert_int_equal(server_stop(&servers[i]), 0);
    }
}

static void test_orders(void **state)
{
    (void) state;
    run_orders(body_node, CHUNK, 3);
}

/*
 * Hosts have room for four steps, and a team has its next chunk on the same aggregator eight steps
 * later: with the first one over, the next gets memory long before it is sent, and then waits for
 * steps of the other aggregator.
 */
static void test_narrow(void **state)
{
    (void) state;
    run_orders(body_node, CHUNK, 1);
}

static void test_flat(void **state)
{
    (void) state;
    run_orders(body_flat, FLAT, 3);
}

static void test_flat_narrow(void **state)
{
    (void) state;
    run_orders(body_flat, FLAT, 1);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_orders), cmocka_unit_test(test_narrow),
        cmocka_unit_test(test_flat), cmocka_unit_test(test_flat_narrow)};

    if (argc > 1) {
        cmocka_set_test_filter(argv[1]);
    }
    return cmocka_run_group_tests(tests, NULL, NULL);
}
