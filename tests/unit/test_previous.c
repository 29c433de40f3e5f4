/* SPDX-License-Identifier: BSD-3-Clause */
/* Owns the unit tests of what Open MPI would run, and how long it takes: numbers made by hand. */
/* Test: quick 60 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <string.h>

#include "client/plan/previous.h"

#define KIB (1ull << 10)
#define MIB (1ull << 20)

/* Links of 100 Mbit/s: 80 ns a byte. */
static const oc_constants_t constants = {.link_rate = 100, .link_latency = 30000,
                                         .memory_rate = 8000};

static oc_situation_t situation_of(uint32_t hosts, uint32_t per_host, uint64_t previous)
{
    return (oc_situation_t) {.ranks = hosts * per_host, .hosts = hosts, .per_host = per_host,
                             .network = {.fabric = OC_FABRIC_TCP},
                             .previous = {[OC_RULED_ALLREDUCE] = previous}};
}

static oc_algorithm_t tuned(uint32_t ranks, uint64_t bytes)
{
    oc_situation_t situation = situation_of(ranks, 1, OC_PREVIOUS_TUNED);

    return oc_previous_algorithm(&situation, bytes);
}

static uint64_t time_of(uint32_t hosts, uint32_t per_host, uint64_t previous, uint64_t bytes)
{
    oc_situation_t situation = situation_of(hosts, per_host, previous);

    return oc_previous_time(&constants, &situation, OC_RULED_ALLREDUCE, bytes);
}

static uint64_t forced(oc_algorithm_t algorithm)
{
    return OC_PREVIOUS_FORCED + (uint64_t) algorithm;
}

/* Both sides of boundaries of Open MPI's table, and its corners. */
static void test_tuned(void **state)
{
    static const struct {
        uint32_t ranks;
        uint64_t bytes;
        oc_algorithm_t algorithm;
    } known[] = {
        {2, 1, OC_ALGORITHM_RING}, {3, 8, OC_ALGORITHM_RECURSIVE_DOUBLING},
        {3, 4095, OC_ALGORITHM_RECURSIVE_DOUBLING}, {3, 4096, OC_ALGORITHM_RING},
        {2, 65535, OC_ALGORITHM_RING}, {2, 65536, OC_ALGORITHM_SEGMENTED_RING},
        {3, 262143, OC_ALGORITHM_SEGMENTED_RING}, {3, 262144, OC_ALGORITHM_RABENSEIFNER},
        {4, 15, OC_ALGORITHM_RING}, {4, 16, OC_ALGORITHM_RECURSIVE_DOUBLING},
        {7, 8191, OC_ALGORITHM_RECURSIVE_DOUBLING}, {7, 8192, OC_ALGORITHM_RABENSEIFNER},
        {8, 1, OC_ALGORITHM_RECURSIVE_DOUBLING}, {15, 1 << 30, OC_ALGORITHM_RABENSEIFNER},
        {16, 63, OC_ALGORITHM_SEGMENTED_RING}, {31, 4095, OC_ALGORITHM_RECURSIVE_DOUBLING},
        {31, 4096, OC_ALGORITHM_RABENSEIFNER}, {32, 127, OC_ALGORITHM_SEGMENTED_RING},
        {63, 128, OC_ALGORITHM_RABENSEIFNER}, {64, 262143, OC_ALGORITHM_RECURSIVE_DOUBLING},
        {127, 262144, OC_ALGORITHM_RABENSEIFNER}, {128, 131071, OC_ALGORITHM_NONOVERLAPPING},
        {255, 131072, OC_ALGORITHM_RECURSIVE_DOUBLING}, {256, 4096, OC_ALGORITHM_RABENSEIFNER},
        {512, 2047, OC_ALGORITHM_NONOVERLAPPING}, {2047, 16384, OC_ALGORITHM_RABENSEIFNER},
        {2048, 4095, OC_ALGORITHM_SEGMENTED_RING}, {4095, 4096, OC_ALGORITHM_RECURSIVE_DOUBLING},
        {4096, 16383, OC_ALGORITHM_SEGMENTED_RING}, {65536, 32768, OC_ALGORITHM_RABENSEIFNER},
        {65536, 32767, OC_ALGORITHM_RECURSIVE_DOUBLING},
    };

    (void) state;
    for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++) {
        if (known[i].algorithm != tuned(known[i].ranks, known[i].bytes)) {
            fail_msg("%u ranks, %llu bytes: %u", known[i].ranks,
                     (unsigned long long) known[i].bytes, tuned(known[i].ranks, known[i].bytes));
        }
    }
}

/* Over TCP, with links of 80 ns a byte. */
static void test_times(void **state)
{
    const uint64_t halving = forced(OC_ALGORITHM_RABENSEIFNER);

    (void) state;
    /*
     * 4 steps; 3/2 of the vector, of which messages of 32 KiB go at full speed and longer ones at
     * 60 %
     */
    assert_int_equal(time_of(4, 1, halving, 64 * KIB), 4 * 30000 + 98304 * 80);
    assert_int_equal(time_of(4, 1, halving, MIB), 4 * 30000 + 1572864ull * 8000 / 60);
    assert_int_equal(time_of(4, 1, OC_PREVIOUS_TUNED, MIB), time_of(4, 1, halving, MIB));
    /* four ranks on a host: messages between hosts are a quarter as long */
    assert_int_equal(time_of(2, 4, halving, 256 * KIB),
                     2 * 30000 + 262144 * 80 + 4 * 7500 + 393216);
    /* 6 steps and 3/2 of the vector at 90 % */
    assert_int_equal(time_of(4, 1, forced(OC_ALGORITHM_RING), MIB),
                     6 * 30000 + 1572864ull * 8000 / 90);
    /* the whole vector twice */
    assert_int_equal(time_of(4, 1, forced(OC_ALGORITHM_RECURSIVE_DOUBLING), 32 * KIB),
                     2 * (30000 + 32768 * 80));
    /* up and down a binomial tree, at 60 % */
    assert_int_equal(time_of(4, 1, forced(OC_ALGORITHM_NONOVERLAPPING), 9000),
                     4 * (30000 + 1200000));
    /* three vectors in and three out at rank 0, at 95 % */
    assert_int_equal(time_of(4, 1, forced(OC_ALGORITHM_LINEAR), 9500), 2 * 30000 + 6 * 800000);
    /* what a link gets in 3 ms goes at full speed */
    assert_int_equal(time_of(4, 1, forced(OC_ALGORITHM_RECURSIVE_DOUBLING), 37500),
                     2 * (30000 + 37500 * 80));
    assert_int_equal(time_of(4, 1, forced(OC_ALGORITHM_RECURSIVE_DOUBLING), 37503),
                     2 * (30000 + 37503ull * 8000 / 60));
}

/* With less than 8 bytes a rank they are recursive doubling. */
static void test_short_rings(void **state)
{
    (void) state;
    assert_int_equal(time_of(4, 1, forced(OC_ALGORITHM_RING), 31), 2 * (30000 + 31 * 80));
    assert_int_equal(time_of(4, 1, forced(OC_ALGORITHM_SEGMENTED_RING), 8),
                     2 * (30000 + 8 * 80));
    assert_true(time_of(4, 1, forced(OC_ALGORITHM_RING), 32) > 6 * 30000);
}

/* Where nobody knows what decides, the fastest; and with RDMA all of the rate. */
static void test_best(void **state)
{
    oc_situation_t situation = situation_of(8, 1, OC_PREVIOUS_BEST);

    (void) state;
    assert_int_equal(oc_previous_algorithm(&situation, MIB), OC_NUM_ALGORITHMS);
    assert_int_equal(oc_previous_time(&constants, &situation, OC_RULED_ALLREDUCE, 16 * MIB),
                     time_of(8, 1, forced(OC_ALGORITHM_RING), 16 * MIB));
    situation.network.fabric = OC_FABRIC_RDMA;
    assert_int_equal(oc_previous_time(&constants, &situation, OC_RULED_ALLREDUCE, 16 * MIB),
                     6 * 30000 + 29360128ull * 80);
}

/* HAN is for hosts with several ranks; where there are none, what is below it is. */
static void test_han(void **state)
{
    uint64_t tuned_below = OC_PREVIOUS_HAN + OC_PREVIOUS_TUNED;

    (void) state;
    /* two steps inside each host, and two halves of a vector and back between four, at 40 % */
    assert_int_equal(time_of(4, 2, tuned_below, 10000),
                     4 * 30000 + 15000ull * 8000 / 40 + 2 * 7500 + 10000 * 1);
    assert_int_equal(time_of(4, 1, tuned_below, MIB), time_of(4, 1, OC_PREVIOUS_TUNED, MIB));
    assert_int_equal(time_of(8, 1, OC_PREVIOUS_HAN + forced(OC_ALGORITHM_RING), MIB),
                     time_of(8, 1, forced(OC_ALGORITHM_RING), MIB));
    assert_int_equal(time_of(8, 1, OC_PREVIOUS_HAN + OC_PREVIOUS_BEST, MIB),
                     time_of(8, 1, OC_PREVIOUS_BEST, MIB));
}

static const char *name_of(uint32_t per_host, uint64_t previous)
{
    oc_situation_t situation = situation_of(4, per_host, previous);

    return oc_previous_name(&situation, OC_RULED_ALLREDUCE);
}

static void test_names(void **state)
{
    (void) state;
    assert_string_equal(name_of(1, OC_PREVIOUS_TUNED), "tuned");
    assert_string_equal(name_of(2, OC_PREVIOUS_HAN + OC_PREVIOUS_TUNED), "HAN");
    assert_string_equal(name_of(1, OC_PREVIOUS_HAN + OC_PREVIOUS_TUNED), "tuned");
    assert_string_equal(name_of(1, OC_PREVIOUS_BEST), "the best of Open MPI");
    assert_string_equal(name_of(2, forced(OC_ALGORITHM_RING)), "ring");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_tuned),
        cmocka_unit_test(test_times),
        cmocka_unit_test(test_short_rings),
        cmocka_unit_test(test_best),
        cmocka_unit_test(test_han),
        cmocka_unit_test(test_names),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
