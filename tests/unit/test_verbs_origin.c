/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Owns the unit tests of where datagrams came from, by what RDMA devices put in front of them.
 *
 * Test: quick 10
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <string.h>

#include "multicast/transport/verbs_origin.h"
#include "tests/unit/fence.h"

#define PAYLOAD 1001u

static uint8_t bytes[OC_VERBS_GRH + PAYLOAD];
static fence_t fence;

static int setup(void **state)
{
    (void) state;
    fence_open(&fence, sizeof(bytes));
    memset(bytes, 0xb5, sizeof(bytes));
    return 0;
}

static int teardown(void **state)
{
    (void) state;
    fence_close(&fence);
    return 0;
}

static void expect(const char *address)
{
    oc_origin_t origin = oc_verbs_origin(fence_copy(&fence, bytes, sizeof(bytes)), sizeof(bytes));

    assert_memory_equal(origin.address, address, 16);
    assert_int_equal(origin.port, 0);
}

/* InfiniBand, RoCE 1, and IPv6 */
static void test_global_route(void **state)
{
    static const char gid[] = "\xfe\x80\0\0\0\0\0\0\x12\x34\x56\x78\x9a\xbc\xde\xf0";

    (void) state;
    bytes[0] = 0x6f; /* and some of the traffic class */
    memcpy(bytes + 8, gid, 16);
    expect(gid);
}

static void make_ipv4(size_t total)
{
    static const uint8_t source[] = {10, 20, 30, 40};

    bytes[20] = 0x45;
    bytes[22] = (uint8_t) (total >> 8);
    bytes[23] = (uint8_t) total;
    bytes[29] = 17;
    memcpy(bytes + 32, source, sizeof(source));
}

/* IPv4, behind twenty bytes that may be anything. */
static void test_ipv4(void **state)
{
    static const char mapped[] = "\0\0\0\0\0\0\0\0\0\0\xff\xff\x0a\x14\x1e\x28";

    (void) state;
    make_ipv4(52 + PAYLOAD + 3);
    for (unsigned first = 0; first < 256; first++) {
        bytes[0] = (uint8_t) first;
        expect(mapped);
    }
}

/* What looks like IPv4 in the middle of other addresses has another length. */
static void test_no_ipv4(void **state)
{
    static const size_t totals[] = {0, PAYLOAD, 51 + PAYLOAD, 52 + PAYLOAD + 4, 65535};

    (void) state;
    bytes[0] = 0x60;
    for (unsigned i = 0; i < sizeof(totals) / sizeof(totals[0]); i++) {
        make_ipv4(totals[i]);
        expect((const char *) bytes + 8);
    }
}

static void test_nothing(void **state)
{
    (void) state;
    expect("\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_global_route, setup, teardown),
        cmocka_unit_test_setup_teardown(test_ipv4, setup, teardown),
        cmocka_unit_test_setup_teardown(test_no_ipv4, setup, teardown),
        cmocka_unit_test_setup_teardown(test_nothing, setup, teardown),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
