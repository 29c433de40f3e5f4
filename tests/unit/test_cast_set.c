/* SPDX-License-Identifier: BSD-3-Clause */
/* Owns the unit tests of which multicast address the processes of a communicator have. */
/* Test: quick 120 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "multicast/service/cast_set.h"
#include "tests/random.h"

#define MOST_RANKS 64u

static uint8_t records[MOST_RANKS][OC_MULTICAST_RECORD_SIZE];
static uint8_t job_id[OC_JOB_ID_SIZE];
static oc_random_t dice = {.state = 1};

static void begin_job(uint64_t number)
{
    memset(job_id, 0, sizeof(job_id));
    memcpy(job_id, &number, sizeof(number));
}

static void put(uint32_t rank, uint32_t process, uint64_t host)
{
    oc_cast_record_t record = {.ready = true, .token = 1 + oc_random_below(&dice, 1000),
                               .contact = 5, .process = process, .host = host};

    oc_cast_record_encode(&record, records[rank]);
}

static oc_multicast_range_t range_of(const char *text, unsigned count)
{
    oc_multicast_range_t range;
    char error[256];

    assert_int_equal(oc_multicast_range(text, job_id, count, &range, error, sizeof(error)), OC_OK);
    return range;
}

static uint32_t address_by(oc_carrier_t carrier, const char *text, uint32_t num_ranks)
{
    oc_multicast_range_t range = range_of(text, 16);
    struct in_addr address;

    assert_true(oc_cast_set_address(&range, job_id, carrier, records[0], num_ranks, &address));
    return ntohl(address.s_addr);
}

static uint32_t address_of(uint32_t num_ranks)
{
    return address_by(OC_CARRIER_UDP, "", num_ranks);
}

/* It is a set: every order gives the same, one process more or fewer or another one does not. */
static void test_order(void **state)
{
    uint32_t order[MOST_RANKS], whole;

    (void) state;
    begin_job(1);
    for (uint32_t rank = 0; rank < MOST_RANKS; rank++) {
        order[rank] = 1000 + 7 * rank;
        put(rank, order[rank], order[rank] / 4);
    }
    whole = address_of(MOST_RANKS);
    for (unsigned times = 0; times < 100; times++) {
        for (uint32_t rank = 0; rank < MOST_RANKS; rank++) {
            uint32_t other = (uint32_t) oc_random_below(&dice, MOST_RANKS), process = order[rank];

            order[rank] = order[other];
            order[other] = process;
        }
        for (uint32_t rank = 0; rank < MOST_RANKS; rank++) {
            put(rank, order[rank], order[rank] / 4);
        }
        assert_int_equal(address_of(MOST_RANKS), whole);
        assert_int_not_equal(address_of(MOST_RANKS - 1), whole);
    }
    put(5, 999, 3);
    assert_int_not_equal(address_of(MOST_RANKS), whole);
}

/* In how many of so many jobs two of the rows of a matrix of processes have the same address. */
static unsigned count_collisions(unsigned jobs, uint32_t rows, uint32_t columns)
{
    unsigned collisions = 0;

    for (unsigned job = 0; job < jobs; job++) {
        uint32_t seen[MOST_RANKS];
        bool twice = false;

        begin_job(oc_random(&dice));
        for (uint32_t row = 0; row < rows; row++) {
            for (uint32_t rank = 0; rank < columns; rank++) {
                put(rank, row * columns + rank, rank);
            }
            seen[row] = address_of(columns);
            assert_in_range(seen[row], 0xefc00000u, 0xefc3ffffu);
            for (uint32_t other = 0; other < row; other++) {
                twice = twice || seen[other] == seen[row];
            }
        }
        collisions += twice;
    }
    return collisions;
}

/* By chance it is 0.19 % of jobs with 32 rows, so 7.6 of 4000; more than 25 are not by chance. */
static void test_spread(void **state)
{
    (void) state;
    assert_in_range(count_collisions(4000, 32, 8), 0, 25);
    assert_in_range(count_collisions(4000, 32, 2), 0, 25);
}

/* All addresses are as likely: in a block of 32, of which 26 are for sets. */
static void test_evenly(void **state)
{
    unsigned counts[32] = {0};

    (void) state;
    begin_job(77);
    for (uint32_t i = 0; i < 26000; i++) {
        put(0, i, 1);
        put(1, i + 1, 2);
        counts[address_by(OC_CARRIER_UDP, "239.1.2.224/27", 2) - 0xef0102e0u]++;
    }
    for (unsigned i = 0; i < 32; i++) {
        if (0 != counts[i]) {
            assert_in_range(counts[i], 800, 1200);
        }
    }
}

/* Two jobs with the same processes. */
static void test_jobs(void **state)
{
    uint32_t first;

    (void) state;
    put(0, 0, 1);
    put(1, 1, 2);
    begin_job(1);
    first = address_of(2);
    begin_job(2);
    assert_int_not_equal(address_of(2), first);
    begin_job(1);
    assert_int_equal(address_of(2), first);
}

/* What does not leave a host has one of the job's few addresses; with verbs it leaves it. */
static void test_one_host(void **state)
{
    (void) state;
    for (uint64_t job = 0; job < 100; job++) {
        oc_multicast_range_t range;

        begin_job(job);
        range = range_of("", 16);
        put(0, 3, 9);
        put(1, 4, 9);
        assert_in_range(address_of(2), range.own, range.own + 3);
        assert_false(address_by(OC_CARRIER_VERBS, "", 2) - range.own < 4);
        put(1, 4, 8);
        assert_false(address_of(2) - range.own < 4);
        assert_int_equal(address_of(2), address_by(OC_CARRIER_VERBS, "", 2));
    }
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_order),
        cmocka_unit_test(test_spread),
        cmocka_unit_test(test_evenly),
        cmocka_unit_test(test_jobs),
        cmocka_unit_test(test_one_host),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
