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

static void expect_range(const char *text, unsigned count)
{
    struct in_addr first = {0}, expected;
    char error[256] = "";

    assert_int_equal(inet_pton(AF_INET, text, &expected), 1);
    if (OC_OK != oc_multicast_range(text, no_job, count, &first, error, sizeof(error))) {
        fail_msg("\"%s\" was refused: %s", text, error);
    }
    assert_int_equal(first.s_addr, expected.s_addr);
}

/* The error names the text and has part in it. */
static void expect_no_range(const char *text, unsigned count, const char *part)
{
    struct in_addr first;
    char error[256] = "";

    assert_int_equal(oc_multicast_range(text, no_job, count, &first, error, sizeof(error)),
                     OC_ERR_INVALID);
    assert_non_null(strstr(error, text));
    if (NULL == strstr(error, part)) {
        fail_msg("\"%s\" is not in the error \"%s\"", part, error);
    }
}

static void test_given(void **state)
{
    (void) state;
    expect_range("224.0.1.0", 16);
    expect_range("239.1.2.3", 4);
    expect_range("239.255.255.240", 16);
    expect_range("239.255.255.255", 1);
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

static uint32_t made(const uint8_t *job_id, unsigned count)
{
    struct in_addr first;
    char error[256] = "";

    assert_int_equal(oc_multicast_range("", job_id, count, &first, error, sizeof(error)), OC_OK);
    return ntohl(first.s_addr);
}

/* All in 239.192.0.0/14, the same for the same job, and spread over most of it. */
static void test_made(void **state)
{
    uint8_t job_id[OC_JOB_ID_SIZE] = {0};
    uint32_t lowest = UINT32_MAX, highest = 0;

    (void) state;
    for (unsigned job = 0; job < 1000; job++) {
        uint32_t first;

        job_id[job % 16] ^= (uint8_t) (job + 1);
        first = made(job_id, 16);
        assert_in_range(first, 0xefc00000u, 0xefc3fff0u);
        assert_int_equal(made(job_id, 16), first);
        lowest = first < lowest ? first : lowest;
        highest = first > highest ? first : highest;
    }
    assert_in_range(lowest, 0xefc00000u, 0xefc01000u);
    assert_in_range(highest, 0xefc3f000u, 0xefc3ffffu);
}

static void test_no_text(void **state)
{
    struct in_addr first;

    (void) state;
    assert_int_equal(oc_multicast_range(NULL, no_job, 1, &first, NULL, 0), OC_OK);
    assert_int_equal(ntohl(first.s_addr), made(no_job, 1));
}

static void test_slots(void **state)
{
    struct in_addr first = {.s_addr = htonl(0xef0100feu)};

    (void) state;
    assert_int_equal(ntohl(oc_multicast_slot(first, 0).s_addr), 0xef0100feu);
    assert_int_equal(ntohl(oc_multicast_slot(first, 3).s_addr), 0xef010101u);
}

static void expect_spares(uint32_t start, unsigned count, uint32_t zeroth, uint32_t last)
{
    struct in_addr first = {.s_addr = htonl(start)};

    assert_int_equal(ntohl(oc_multicast_spare(first, count, 0).s_addr), zeroth);
    assert_int_equal(ntohl(oc_multicast_spare(first, count, 1).s_addr), last);
}

/* They are behind the range, also that of a job, or before it. */
static void test_spares(void **state)
{
    uint8_t job_id[OC_JOB_ID_SIZE] = {0};
    struct in_addr first;

    (void) state;
    expect_spares(0xef010203u, 4, 0xef010207u, 0xef010208u);
    expect_spares(0xeffffffau, 4, 0xeffffffeu, 0xefffffffu);
    expect_spares(0xeffffffbu, 4, 0xeffffffau, 0xeffffff9u);
    expect_spares(0xefffffffu, 1, 0xeffffffeu, 0xeffffffdu);
    for (unsigned job = 0; job < 1000; job++) {
        job_id[job % 16] ^= (uint8_t) (job + 1);
        first.s_addr = htonl(made(job_id, 16));
        assert_in_range(ntohl(oc_multicast_spare(first, 16, 1).s_addr), 0xefc00011u, 0xefc3ffffu);
    }
}

static void test_scope(void **state)
{
    static const struct {
        uint32_t first;
        unsigned count;
        bool scoped;
    } cases[] = {
        {0xe0000100u, 4, false}, {0xeefffffeu, 4, false}, {0xef000000u, 4, true},
        {0xefc00000u, 16, true}, {0xeffffffcu, 4, true},
    };

    (void) state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct in_addr first = {.s_addr = htonl(cases[i].first)};

        assert_int_equal(oc_multicast_is_scoped(first, cases[i].count), cases[i].scoped);
    }
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_given),
        cmocka_unit_test(test_refused),
        cmocka_unit_test(test_made),
        cmocka_unit_test(test_no_text),
        cmocka_unit_test(test_slots),
        cmocka_unit_test(test_spares),
        cmocka_unit_test(test_scope),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
