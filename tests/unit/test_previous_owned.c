/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Owns the unit tests of what Open MPI would run of reductions whose result goes to owners, and how
 * long that takes: numbers made by hand.
 */
/* Test: quick 60 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <string.h>

#include "client/plan/previous.h"
#include "client/plan/previous_owned.h"

#define MIB (1ull << 20)

/* Links of 1000 Mbit/s: 8 ns a byte. Copies take 1 ns a byte, and links over RDMA give all. */
static const oc_constants_t constants = {.link_rate = 1000, .link_latency = 1000,
                                         .memory_rate = 8000};

static uint64_t time_of(uint32_t hosts, uint32_t per_host, oc_ruled_t ruled, uint64_t previous,
                        uint64_t bytes)
{
    oc_situation_t situation = {.ranks = hosts * per_host, .hosts = hosts, .per_host = per_host,
                                .network = {.fabric = OC_FABRIC_RDMA}};

    situation.previous[ruled] = previous;
    return oc_previous_time(&constants, &situation, ruled, bytes);
}

static uint64_t forced(oc_ruled_t ruled, uint32_t hosts, uint32_t per_host, unsigned algorithm,
                       uint64_t bytes)
{
    return time_of(hosts, per_host, ruled, OC_PREVIOUS_FORCED + algorithm, bytes);
}

/* Both sides of boundaries of Open MPI's tables, and their corners. */
static void test_decisions(void **state)
{
    static const struct {
        oc_ruled_t ruled;
        uint32_t ranks;
        uint64_t bytes;
        unsigned algorithm;
    } known[] = {
        {OC_RULED_REDUCE, 2, 7, OC_REDUCE_RABENSEIFNER},
        {OC_RULED_REDUCE, 3, 8, OC_REDUCE_BINARY},
        {OC_RULED_REDUCE, 3, 262143, OC_REDUCE_LINEAR},
        {OC_RULED_REDUCE, 3, 524288, OC_REDUCE_CHAIN},
        {OC_RULED_REDUCE, 3, 1 << 30, OC_REDUCE_PIPELINE},
        {OC_RULED_REDUCE, 4, 4095, OC_REDUCE_BINARY},
        {OC_RULED_REDUCE, 7, 65535, OC_REDUCE_CHAIN},
        {OC_RULED_REDUCE, 4, 65536, OC_REDUCE_BINOMIAL},
        {OC_RULED_REDUCE, 7, 524287, OC_REDUCE_LINEAR},
        {OC_RULED_REDUCE, 7, 1048575, OC_REDUCE_BINOMIAL},
        {OC_RULED_REDUCE, 7, 1048576, OC_REDUCE_LINEAR},
        {OC_RULED_REDUCE, 8, 8191, OC_REDUCE_BINARY},
        {OC_RULED_REDUCE, 31, 4096, OC_REDUCE_BINOMIAL},
        {OC_RULED_REDUCE, 255, 1, OC_REDUCE_BINOMIAL},
        {OC_RULED_REDUCE, 256, 8192, OC_REDUCE_IN_ORDER_BINARY},
        {OC_RULED_REDUCE, 65536, 16384, OC_REDUCE_BINOMIAL},
        {OC_RULED_REDUCE_SCATTER, 3, 65535, OC_SCATTER_RING},
        {OC_RULED_REDUCE_SCATTER, 3, 131071, OC_SCATTER_BUTTERFLY},
        {OC_RULED_REDUCE_SCATTER, 4, 7, OC_SCATTER_NONOVERLAPPING},
        {OC_RULED_REDUCE_SCATTER, 4, 262143, OC_SCATTER_HALVING},
        {OC_RULED_REDUCE_SCATTER, 31, 262144, OC_SCATTER_RING},
        {OC_RULED_REDUCE_SCATTER, 63, 524287, OC_SCATTER_BUTTERFLY},
        {OC_RULED_REDUCE_SCATTER, 63, 524288, OC_SCATTER_RING},
        {OC_RULED_REDUCE_SCATTER, 127, 4095, OC_SCATTER_HALVING},
        {OC_RULED_REDUCE_SCATTER, 65536, 8192, OC_SCATTER_BUTTERFLY},
        /* by a block */
        {OC_RULED_REDUCE_SCATTER_BLOCK, 3, 3 * 131071, OC_BLOCK_BUTTERFLY},
        {OC_RULED_REDUCE_SCATTER_BLOCK, 3, 3 * 131072, OC_BLOCK_LINEAR},
        {OC_RULED_REDUCE_SCATTER_BLOCK, 4, 4 * 8, OC_BLOCK_DOUBLING},
        {OC_RULED_REDUCE_SCATTER_BLOCK, 4, 4 * 1048575, OC_BLOCK_HALVING},
        {OC_RULED_REDUCE_SCATTER_BLOCK, 4, 4 * 1048576, OC_BLOCK_LINEAR},
        {OC_RULED_REDUCE_SCATTER_BLOCK, 8, 8 * 524287, OC_BLOCK_HALVING},
        {OC_RULED_REDUCE_SCATTER_BLOCK, 8, 8 * 524288, OC_BLOCK_LINEAR},
        {OC_RULED_REDUCE_SCATTER_BLOCK, 15, 15 * 4194304, OC_BLOCK_BUTTERFLY},
        {OC_RULED_REDUCE_SCATTER_BLOCK, 31, 31 * 2097152, OC_BLOCK_HALVING},
        {OC_RULED_REDUCE_SCATTER_BLOCK, 32, 32 * 262143, OC_BLOCK_LINEAR},
        {OC_RULED_REDUCE_SCATTER_BLOCK, 999, 999 * 262144, OC_BLOCK_BUTTERFLY},
    };

    (void) state;
    for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++) {
        unsigned found = oc_previous_owned_decision(known[i].ruled, known[i].ranks,
                                                    known[i].bytes);

        if (known[i].algorithm != found) {
            fail_msg("%s, %u ranks, %llu bytes: %u", oc_ruled_name(known[i].ruled), known[i].ranks,
                     (unsigned long long) known[i].bytes, found);
        }
    }
}

/* Whole vectors of a MiB, which take 8388608 ns. */
static void test_reduce(void **state)
{
    const uint64_t one = 8 * MIB;
    static const oc_ruled_t reduce = OC_RULED_REDUCE;

    (void) state;
    /* between two hosts all are as fast as libnbc's chain */
    assert_int_equal(forced(reduce, 2, 1, OC_REDUCE_LINEAR, MIB), 1000 + one);
    /* from three on Rabenseifner's of libnbc is the least for long ones: 2 x 3/4 of a vector */
    assert_int_equal(forced(reduce, 4, 1, OC_REDUCE_LINEAR, MIB), 4 * 1000 + one * 3 / 2);
    assert_int_equal(forced(reduce, 4, 1, OC_REDUCE_RABENSEIFNER, MIB),
                     4 * 1000 + one * 3 / 2);
    /* one more than a power of two gives it all first */
    assert_int_equal(forced(reduce, 5, 1, OC_REDUCE_RABENSEIFNER, MIB),
                     6 * 1000 + one * 5 / 2);
    /* up a binomial tree of three hosts, with copies in each */
    assert_int_equal(forced(reduce, 3, 1, OC_REDUCE_BINOMIAL, 100), 2 * (1000 + 800));
    assert_int_equal(forced(reduce, 3, 2, OC_REDUCE_BINOMIAL, 100), 2 * (1000 + 800) + 250 + 100);
    /* of a binary one: 1 and 2 go to 0, behind 3 and 4, 5 and 6, 7 */
    assert_int_equal(forced(reduce, 3, 1, OC_REDUCE_BINARY, 100), 2 * (1000 + 800));
    assert_int_equal(forced(reduce, 8, 1, OC_REDUCE_BINARY, 100), 4 * (1000 + 800));
    assert_int_equal(forced(reduce, 2, 1, OC_REDUCE_BINARY, 100), 1000 + 800);
    /* short messages of a chain are under way at the same time */
    assert_int_equal(forced(reduce, 3, 1, OC_REDUCE_CHAIN, 100), 1000 + 800 + 250 + 100);
}

/* Over TCP: what is exchanged with others is hindered if it takes more than 3 ms, on five hosts. */
static void test_tcp(void **state)
{
    static const oc_ruled_t block = OC_RULED_REDUCE_SCATTER_BLOCK;
    oc_situation_t s = {.ranks = 8, .hosts = 8, .per_host = 1, .network = {.fabric = OC_FABRIC_TCP}};

    (void) state;
    s.previous[block] = OC_PREVIOUS_FORCED + OC_BLOCK_HALVING;
    s.previous[OC_RULED_REDUCE] = OC_PREVIOUS_FORCED + OC_REDUCE_BINOMIAL;
    assert_int_equal(oc_previous_time(&constants, &s, block, 750000), 3000 + 656250ull * 800 / 95);
    assert_int_equal(oc_previous_time(&constants, &s, block, 752000), 3000 + 658000ull * 800 / 70);
    /* trees and chains, and few hosts, are not */
    assert_int_equal(oc_previous_time(&constants, &s, OC_RULED_REDUCE, 100),
                     3 * 1000 + 300 * 800 / 95);
    s.ranks = s.hosts = 4;
    assert_int_equal(oc_previous_time(&constants, &s, block, 752000), 2000 + 564000ull * 800 / 95);
}

static void test_scatter(void **state)
{
    const uint64_t one = 8 * MIB;
    static const oc_ruled_t scatter = OC_RULED_REDUCE_SCATTER, block = OC_RULED_REDUCE_SCATTER_BLOCK;

    (void) state;
    assert_int_equal(forced(scatter, 4, 1, OC_SCATTER_RING, MIB), 3 * 1000 + one * 3 / 4);
    assert_int_equal(forced(scatter, 4, 1, OC_SCATTER_HALVING, MIB), 2 * 1000 + one * 3 / 4);
    assert_int_equal(forced(block, 4, 1, OC_BLOCK_HALVING, MIB), 2 * 1000 + one * 3 / 4);
    /* two ranks of a host send halves at once; a butterfly halves inside first */
    assert_int_equal(forced(block, 4, 2, OC_BLOCK_HALVING, MIB), 2 * 1000 + one * 3 / 2 + 250);
    assert_int_equal(forced(block, 4, 2, OC_BLOCK_BUTTERFLY, MIB),
                     3 * 1000 + one * 3 / 4 + 250 + MIB);
    assert_int_equal(forced(scatter, 4, 2, OC_SCATTER_BUTTERFLY, MIB),
                     3 * 1000 + one * 3 / 4 + 250 + MIB);
    /* not a power of two: all of it first */
    assert_int_equal(forced(block, 3, 1, OC_BLOCK_HALVING, 3 * MIB),
                     1000 + 3 * one + 2 * 1000 + 2 * one);
    /* two steps with all but the own quarter or half */
    assert_int_equal(forced(block, 4, 1, OC_BLOCK_DOUBLING, MIB), 2 * 1000 + one * 5 / 4);
    /* what tuned takes for a Reduce of four ranks, and three quarters to the others */
    assert_int_equal(forced(block, 4, 1, OC_BLOCK_LINEAR, 4 * MIB),
                     1000 + 3 * 4 * one + 1000 + 3 * one);
    assert_int_equal(forced(scatter, 8, 1, OC_SCATTER_NONOVERLAPPING, 8 * MIB),
                     3 * (1000 + 8 * one) + 1000 + 7 * one);
    assert_int_equal(time_of(4, 1, block, OC_PREVIOUS_TUNED, 4 * MIB),
                     forced(block, 4, 1, OC_BLOCK_LINEAR, 4 * MIB));
    assert_int_equal(time_of(4, 1, scatter, OC_PREVIOUS_TUNED, 4 * MIB),
                     forced(scatter, 4, 1, OC_SCATTER_RING, 4 * MIB));
}

/* What nobody knows is as fast as links. HAN has a Reduce, for hosts with several ranks. */
static void test_unknown(void **state)
{
    const uint64_t one = 8 * MIB;

    (void) state;
    assert_int_equal(time_of(4, 1, OC_RULED_REDUCE, OC_PREVIOUS_BEST, MIB), one);
    assert_int_equal(time_of(4, 1, OC_RULED_REDUCE_SCATTER, OC_PREVIOUS_BEST, MIB), one * 3 / 4);
    /* two hosts pass on whole vectors; more take Rabenseifner's */
    assert_int_equal(time_of(2, 2, OC_RULED_REDUCE, OC_PREVIOUS_HAN + OC_PREVIOUS_BEST, MIB),
                     1000 + one + 250 + MIB);
    assert_int_equal(time_of(4, 2, OC_RULED_REDUCE, OC_PREVIOUS_HAN + OC_PREVIOUS_BEST, MIB),
                     4 * 1000 + one * 3 / 2 + 2 * 250 + MIB);
    assert_int_equal(time_of(4, 1, OC_RULED_REDUCE, OC_PREVIOUS_HAN + OC_PREVIOUS_TUNED, MIB),
                     time_of(4, 1, OC_RULED_REDUCE, OC_PREVIOUS_TUNED, MIB));
    assert_int_equal(time_of(4, 2, OC_RULED_REDUCE_SCATTER, OC_PREVIOUS_HAN + OC_PREVIOUS_TUNED,
                             MIB),
                     time_of(4, 2, OC_RULED_REDUCE_SCATTER, OC_PREVIOUS_TUNED, MIB));
}

static void expect_name(oc_ruled_t ruled, uint64_t previous, const char *name)
{
    oc_situation_t situation = {.ranks = 8, .hosts = 4, .per_host = 2};

    situation.previous[ruled] = previous;
    assert_string_equal(oc_previous_name(&situation, ruled), name);
}

static void test_names(void **state)
{
    (void) state;
    expect_name(OC_RULED_REDUCE, OC_PREVIOUS_TUNED, "tuned");
    expect_name(OC_RULED_REDUCE, OC_PREVIOUS_HAN + OC_PREVIOUS_TUNED, "HAN");
    expect_name(OC_RULED_REDUCE_SCATTER, OC_PREVIOUS_HAN + OC_PREVIOUS_TUNED, "tuned");
    expect_name(OC_RULED_REDUCE, OC_PREVIOUS_FORCED + OC_REDUCE_BINOMIAL, "binomial tree");
    expect_name(OC_RULED_REDUCE_SCATTER_BLOCK, OC_PREVIOUS_FORCED + OC_BLOCK_BUTTERFLY, "butterfly");
    expect_name(OC_RULED_REDUCE, OC_PREVIOUS_BEST, "the best of Open MPI");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_decisions),
        cmocka_unit_test(test_reduce),
        cmocka_unit_test(test_tcp),
        cmocka_unit_test(test_scatter),
        cmocka_unit_test(test_unknown),
        cmocka_unit_test(test_names),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
