/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Owns the engine's tests of reductions whose result goes to some ranks only, Reduce and
 * Reduce_scatter: right results, bit by bit, in all shapes, and as few bytes as they need.
 */
/* Test: default 240; threads: all 240; sanitizers: all 400 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tests/engine/farm.h"
#include "tests/engine/grove.h"
#include "tests/engine/harness.h"
#include "tests/engine/owners.h"

static const uint8_t one_and_three[] = {1, 2, 2, 2}, unequal[] = {3, 3, 3, 3, 2, 2, 1},
                     cyclic[] = {1, 2, 1, 2, 1, 2, 1, 2}, one_host[] = {5, 5, 5},
                     two_each[] = {1, 1, 2, 2, 3, 3};

/* ---- flat ---- */

static void body_pairs(rank_t *rank)
{
    owner_pairs(rank, NULL);
    CHECK(0 == rank->counters.failures && 1 == rank->counters.groups);
    CHECK(0 == oc_client_pending(rank->client));
}

static void body_sizes(rank_t *rank)
{
    owner_sizes(rank, NULL);
    CHECK(0 == rank->counters.failures);
}

static void body_flight(rank_t *rank)
{
    owners_in_flight(rank, 300);
}

static void run(const char *servers, uint32_t num_ranks, void (*body)(rank_t *rank))
{
    oc_job_settings_t settings = test_settings(servers);

    assert_int_equal(ranks_run(num_ranks, &settings, body, 50), 0);
}

static void test_embedded(void **state)
{
    (void) state;
    run("embedded", 3, body_pairs);
    run("embedded", 5, body_sizes);
    run("embedded:2", 4, body_sizes);
    run("embedded", 2, body_sizes);
    run("embedded", 1, body_sizes);
}

static void test_in_flight(void **state)
{
    (void) state;
    run("embedded", 3, body_flight);
    run("embedded:1", 4, body_flight);
}

static void test_rank_order(void **state)
{
    oc_job_settings_t settings = test_settings("embedded");

    (void) state;
    settings.reproducible = OC_REPRODUCIBLE_RANK_ORDER;
    assert_int_equal(ranks_run(4, &settings, body_pairs, 50), 0);
    assert_int_equal(ranks_run(3, &settings, body_sizes, 50), 0);
}

static void run_servers(const char *const *weights, const char *aggregators, uint32_t num_ranks,
                        void (*body)(rank_t *rank))
{
    oc_job_settings_t settings = test_settings("");

    farm_run(weights, aggregators, num_ranks, &settings, body, 50);
}

static const char *const one[] = {"", NULL}, *const two[] = {"", "weight=0.5", NULL},
                  *const three[] = {"", "weight=2", "", NULL}, *const heavy[] = {"weight=9", NULL};

/* Fewer than ranks, which aggregate, too; and enough. */
static void test_servers(void **state)
{
    (void) state;
    run_servers(one, "1", 3, body_pairs);
    run_servers(two, "2", 4, body_sizes);
    run_servers(three, "1", 3, body_flight);
    run_servers(heavy, "3", 4, body_sizes);
}

/* The server completes nothing: owners do, maybe with other instructions. */
static void run_with(const char *of_server, const char *of_ranks)
{
    oc_job_settings_t settings;
    unsigned failed;
    farm_t farm;

    setenv("OPTCAST_ISA", of_server, 1);
    farm_start(&farm, "1", heavy);
    setenv("OPTCAST_ISA", of_ranks, 1);
    settings = test_settings(farm.list);
    failed = ranks_run(3, &settings, body_pairs, 50);
    farm_stop(&farm);
    unsetenv("OPTCAST_ISA");
    assert_int_equal(failed, 0);
}

static void test_instruction_sets(void **state)
{
    (void) state;
    run_with("baseline", "avx2");
    run_with("avx2", "avx512");
}

/* ---- how many bytes go ---- */

#define BYTES_COUNT 240000u

/* Each rank sends what it does not own, once, and gets what it owns. */
static void body_bytes(rank_t *rank)
{
    unsigned long long sent, received, part = BYTES_COUNT / rank->num_ranks;

    scatter_one(rank, NULL, OC_OP_SUM, OC_TYPE_FLOAT, BYTES_COUNT, BLOCKS_EQUAL, false);
    CHECK((BYTES_COUNT - part) * 4 == rank->counters.bytes_sent);
    CHECK(part * 4 == rank->counters.bytes_received);
    CHECK(0 == rank->counters.bytes_copied);
    sent = rank->counters.bytes_sent;
    received = rank->counters.bytes_received;
    scatter_one(rank, NULL, OC_OP_SUM, OC_TYPE_BFLOAT16, BYTES_COUNT, BLOCKS_EQUAL, false);
    CHECK((BYTES_COUNT - part) * 2 == rank->counters.bytes_sent - sent);
    CHECK(part * 4 == rank->counters.bytes_received - received);
    sent = rank->counters.bytes_sent;
    received = rank->counters.bytes_received;
    root_one(rank, NULL, OC_OP_SUM, OC_TYPE_BFLOAT16, BYTES_COUNT, 1, false);
    CHECK(BYTES_COUNT * 2 == rank->counters.bytes_sent - sent);
    CHECK((1 == rank->rank ? BYTES_COUNT * 2 : 0) == rank->counters.bytes_received - received);
    CHECK(0 == rank->counters.bytes_copied);
}

static void test_bytes(void **state)
{
    (void) state;
    run("embedded", 4, body_bytes);
    run_servers(two, "1", 3, body_bytes);
    run_servers(three, "1", 4, body_bytes);
}

/* ---- several ranks a host ---- */

static void body_one_and_three(rank_t *rank)
{
    rank->hosts = one_and_three;
    owner_pairs(rank, NULL);
}

static void body_unequal(rank_t *rank)
{
    rank->hosts = unequal;
    owner_sizes(rank, NULL);
}

static void body_cyclic(rank_t *rank)
{
    rank->hosts = cyclic;
    owner_sizes(rank, NULL);
}

static void body_one_host(rank_t *rank)
{
    rank->hosts = one_host;
    owner_sizes(rank, NULL);
}

static void body_node_flight(rank_t *rank)
{
    rank->hosts = two_each;
    owners_in_flight(rank, 300);
}

static void test_nodes(void **state)
{
    (void) state;
    run("embedded", 4, body_one_and_three);
    run("embedded", 7, body_unequal);
    run("embedded", 3, body_one_host);
    run("embedded", 6, body_node_flight);
    run_servers(three, "1", 8, body_cyclic);
    run_servers(one, "2", 6, body_node_flight);
}

/* ---- trees of servers ---- */

static const uint8_t five_on_three[] = {0, 0, 1, 1, 2};
/* three hosts of two ranks on two leaves: hosts 0 and 1, and host 2 */
static const uint8_t leaves_of_two_each[] = {0, 0, 0, 0, 1, 1};

static void body_tree_pairs(rank_t *rank)
{
    owner_pairs(rank, five_on_three);
}

static void body_tree_sizes(rank_t *rank)
{
    owner_sizes(rank, five_on_three);
}

static void body_tree_node(rank_t *rank)
{
    rank->hosts = two_each;
    owner_sizes(rank, leaves_of_two_each);
}

static void run_tree(unsigned num_leaves, const char *aggregators, uint32_t num_ranks,
                     void (*body)(rank_t *rank))
{
    grove_t grove = {0};
    oc_job_settings_t settings;
    unsigned failed;

    grove_start(&grove, num_leaves, aggregators);
    settings = grove_settings(&grove);
    failed = ranks_run(num_ranks, &settings, body, 50);
    grove_stop(&grove);
    assert_int_equal(failed, 0);
}

static void test_trees(void **state)
{
    (void) state;
    run_tree(3, "1", 5, body_tree_pairs);
    run_tree(3, "2", 5, body_tree_sizes);
    run_tree(2, "1", 6, body_tree_node);
    run_tree(2, "2", 4, body_flight);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_embedded),
        cmocka_unit_test(test_in_flight),
        cmocka_unit_test(test_rank_order),
        cmocka_unit_test(test_servers),
        cmocka_unit_test(test_instruction_sets),
        cmocka_unit_test(test_bytes),
        cmocka_unit_test(test_nodes),
        cmocka_unit_test(test_trees),
    };

    alarm(1120);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
