/* SPDX-License-Identifier: BSD-3-Clause */
/* Owns the unit tests of the multicast addresses of a job. */
/* Test: quick 120 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <arpa/inet.h>
#include <string.h>

#include "base/limits.h"
#include "multicast/transport/cast_address.h"

static const uint8_t no_job[OC_JOB_ID_SIZE];

/* As many as a process uses by default. */
#define COUNT 16u

static oc_multicast_range_t range_of(const char *text, const uint8_t *job_id, unsigned count)
{
    oc_multicast_range_t range;
    char error[256] = "";

    if (OC_OK != oc_multicast_range(text, job_id, count, &range, error, sizeof(error))) {
        fail_msg("\"%s\" was refused: %s", text, error);
    }
    return range;
}

static uint32_t common(const oc_multicast_range_t *range)
{
    return ntohl(oc_multicast_common(range).s_addr);
}

static uint32_t of_set(const oc_multicast_range_t *range, uint64_t hash, bool local)
{
    return ntohl(oc_multicast_of_set(range, hash, local).s_addr);
}

static uint32_t spare(const oc_multicast_range_t *range, unsigned number)
{
    return ntohl(oc_multicast_spare(range, number).s_addr);
}

static void expect_range(const char *text, unsigned count, uint32_t first)
{
    oc_multicast_range_t range = range_of(text, no_job, count);

    assert_int_equal(common(&range), first);
    assert_int_equal(range.block, first);
    assert_int_equal(range.size, count);
    assert_int_equal(range.num_own, count);
}

/* The error names the text and has part in it. */
static void expect_no_range(const char *text, unsigned count, const char *part)
{
    oc_multicast_range_t range;
    char error[256] = "";

    assert_int_equal(oc_multicast_range(text, no_job, count, &range, error, sizeof(error)),
                     OC_ERR_INVALID);
    assert_non_null(strstr(error, text));
    if (NULL == strstr(error, part)) {
        fail_msg("\"%s\" is not in the error \"%s\"", part, error);
    }
}

static void test_given(void **state)
{
    (void) state;
    expect_range("224.0.1.0", 16, 0xe0000100u);
    expect_range("239.1.2.3", 4, 0xef010203u);
    expect_range("239.255.255.240", 16, 0xeffffff0u);
    expect_range("239.255.255.255", 1, 0xefffffffu);
}

static void test_refused(void **state)
{
    (void) state;
    expect_no_range("10.0.0.1", 1, "not a multicast address");
    expect_no_range("223.255.255.255", 1, "not a multicast address");
    expect_no_range("240.0.0.0", 1, "not a multicast address");
    expect_no_range("224.0.0.0", 1, "224.0.0.0/24");
    expect_no_range("224.0.0.255", 4, "224.0.0.0/24");
    expect_no_range("239.255.255.241", 16, "16 addresses");
    expect_no_range("239.255.255.255", 2, "2 addresses");
    expect_no_range("multicast", 1, "not an IPv4 address");
    expect_no_range("239.1.2", 1, "not an IPv4 address");
    expect_no_range("239.1.2.3 ", 1, "not an IPv4 address");
    expect_no_range("ff02::1", 1, "not an IPv4 address");
}

static void test_refused_blocks(void **state)
{
    (void) state;
    expect_no_range("/18", 4, "not an IPv4 address");
    expect_no_range("239.1/18", 4, "not an IPv4 address");
    expect_no_range("1239.192.123.123.123/18", 4, "not an IPv4 address");
    expect_no_range("239.192.0.0/", 4, "from 9 to 27");
    expect_no_range("239.192.0.0/8", 4, "from 9 to 27");
    expect_no_range("239.192.0.0/28", 4, "from 9 to 27");
    expect_no_range("239.192.0.0/ 18", 4, "from 9 to 27");
    expect_no_range("239.192.0.0/18 ", 4, "from 9 to 27");
    expect_no_range("239.192.0.0/99999999999999999999", 4, "from 9 to 27");
    expect_no_range("239.192.1.0/18", 4, "does not begin");
    expect_no_range("10.0.0.0/18", 4, "not a multicast address");
    expect_no_range("224.0.0.0/18", 4, "224.0.0.0/24");
    expect_no_range("240.0.0.0/9", 4, "not a multicast address");
}

/* Nothing of a job is outside its block, and no two kinds of its addresses are the same. */
static void check_block(const oc_multicast_range_t *range, uint32_t block, uint32_t size)
{
    assert_int_equal(range->block, block);
    assert_int_equal(range->size, size);
    assert_in_range(common(range), block, block + size - 1);
    for (uint64_t hash = 0; hash < 300; hash++) {
        uint32_t local = of_set(range, hash * 0x9e3779b97f4a7c15ull, true);
        uint32_t wide = of_set(range, hash * 0x9e3779b97f4a7c15ull, false);

        assert_in_range(local, range->own, range->own + range->num_own - 1);
        assert_in_range(wide, block, block + size - 1);
        assert_true(wide < range->own
                    || wide >= range->own + range->num_own + OC_MULTICAST_SPARES);
    }
    for (unsigned i = 0; i < OC_MULTICAST_SPARES; i++) {
        assert_int_equal(spare(range, i), range->own + range->num_own + i);
        assert_in_range(spare(range, i), block, block + size - 1);
    }
}

static void test_blocks(void **state)
{
    static const unsigned counts[] = {1, 2, 3, 4, 16};
    uint8_t job_id[OC_JOB_ID_SIZE] = {0};
    oc_multicast_range_t range;

    (void) state;
    for (unsigned job = 0; job < 1000; job++) {
        unsigned count = counts[job % 5];

        job_id[job % 16] ^= (uint8_t) (job + 1);
        range = range_of("239.192.64.0/18", job_id, count);
        check_block(&range, 0xefc04000u, 0x4000u);
        assert_int_equal(range.num_own, count < 4 ? count : 4);
        range = range_of("238.1.2.224/27", job_id, count);
        check_block(&range, 0xee0102e0u, 32);
        range = range_of("225.0.0.0/9", job_id, count);
        check_block(&range, 0xe1000000u, 0x800000u);
        range = range_of("", job_id, count);
        check_block(&range, 0xefc00000u, 0x40000u);
    }
}

/* Those of jobs are the same for the same job, and spread over most of the block. */
static void test_made(void **state)
{
    uint8_t job_id[OC_JOB_ID_SIZE] = {0};
    uint32_t lowest = UINT32_MAX, highest = 0;
    oc_multicast_range_t range, again;

    (void) state;
    for (unsigned job = 0; job < 1000; job++) {
        job_id[job % 16] ^= (uint8_t) (job + 1);
        range = range_of("", job_id, COUNT);
        again = range_of(NULL, job_id, COUNT);
        assert_memory_equal(&range, &again, sizeof(range));
        lowest = range.own < lowest ? range.own : lowest;
        highest = range.own > highest ? range.own : highest;
    }
    assert_in_range(lowest, 0xefc00000u, 0xefc01000u);
    assert_in_range(highest, 0xefc3f000u, 0xefc3ffffu);
}

/* In a range that was given by its first address, this one is kept for those without another one. */
static void test_given_sets(void **state)
{
    oc_multicast_range_t range = range_of("239.1.0.254", no_job, 4);
    unsigned seen[4] = {0}, local[4] = {0};

    (void) state;
    for (uint64_t hash = 0; hash < 1200; hash++) {
        uint64_t spread = hash * 0x9e3779b97f4a7c15ull;

        assert_in_range(of_set(&range, spread, false), 0xef0100ffu, 0xef010101u);
        seen[of_set(&range, spread, false) - 0xef0100feu]++;
        local[of_set(&range, spread, true) - 0xef0100feu]++;
    }
    for (unsigned i = 0; i < 4; i++) {
        assert_true(0 == i || seen[i] > 300);
        assert_true(local[i] > 200);
    }
    range = range_of("239.1.0.254", no_job, 1);
    assert_int_equal(of_set(&range, 0x123456789abcdefull, false), 0xef0100feu);
    assert_int_equal(of_set(&range, 0x123456789abcdefull, true), 0xef0100feu);
}

static void expect_spares(const char *text, unsigned count, uint32_t zeroth, uint32_t last)
{
    oc_multicast_range_t range = range_of(text, no_job, count);

    assert_int_equal(spare(&range, 0), zeroth);
    assert_int_equal(spare(&range, 1), last);
}

/* They are behind a range, or before it. */
static void test_spares(void **state)
{
    (void) state;
    expect_spares("239.1.2.3", 4, 0xef010207u, 0xef010208u);
    expect_spares("239.255.255.250", 4, 0xeffffffeu, 0xefffffffu);
    expect_spares("239.255.255.251", 4, 0xeffffffau, 0xeffffff9u);
    expect_spares("239.255.255.255", 1, 0xeffffffeu, 0xeffffffdu);
}

/* What is sent for one test reaches nobody who has watched in another. */
static void test_trials(void **state)
{
    oc_multicast_range_t range;
    uint8_t job[OC_JOB_ID_SIZE] = {1, 2, 3};
    char error[200];
    uint32_t first, second;

    (void) state;
    assert_int_equal(oc_multicast_range("", job, 16, &range, error, sizeof(error)), OC_OK);
    first = ntohl(oc_multicast_trial(&range, 0x1111222233334444).s_addr);
    second = ntohl(oc_multicast_trial(&range, 0x5555666677778888).s_addr);
    assert_int_not_equal(first, second);
    assert_in_range(first, range.block, range.block + range.size - 1);
    assert_false(first - range.own < range.num_own + OC_MULTICAST_SPARES);
    assert_int_equal(oc_multicast_range("239.1.2.3", job, 4, &range, error, sizeof(error)), OC_OK);
    assert_int_equal(ntohl(oc_multicast_trial(&range, 1).s_addr), spare(&range, 0));
}

static void test_scope(void **state)
{
    static const struct {
        const char *text;
        unsigned count;
        bool scoped;
    } cases[] = {
        {"224.0.1.0", 4, false}, {"238.255.255.254", 4, false}, {"239.0.0.0", 4, true},
        {"239.192.0.0", 16, true}, {"239.255.255.252", 4, true}, {"", 16, true},
        {"239.192.64.0/18", 16, true}, {"238.255.255.0/24", 16, false}, {"239.128.0.0/9", 4, true},
    };

    (void) state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        oc_multicast_range_t range = range_of(cases[i].text, no_job, cases[i].count);

        assert_int_equal(oc_multicast_is_scoped(&range), cases[i].scoped);
    }
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_given),
        cmocka_unit_test(test_refused),
        cmocka_unit_test(test_refused_blocks),
        cmocka_unit_test(test_blocks),
        cmocka_unit_test(test_made),
        cmocka_unit_test(test_given_sets),
        cmocka_unit_test(test_spares),
        cmocka_unit_test(test_trials),
        cmocka_unit_test(test_scope),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
