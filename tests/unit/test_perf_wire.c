/* SPDX-License-Identifier: BSD-3-Clause */
/* Owns the unit tests of which counters optcast-perf reads, over a made-up sysfs. */
/* Test: quick 120 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tools/perf/wire.h"

static char sysfs[] = "/tmp/optcast-wire-XXXXXX";

static void add_file(const char *path, const char *content)
{
    char command[512];

    snprintf(command, sizeof(command), "mkdir -p $(dirname %s/%s) && echo %s > %s/%s", sysfs, path,
             content, sysfs, path);
    assert_int_equal(system(command), 0);
}

/* The counters of each are numbers of its own, so that sums tell which were read. */
static void add_interface(const char *name, const char *flags, const char *type, const char *sent)
{
    char path[128];

#define FILE_OF(file, content)                                          \
    snprintf(path, sizeof(path), "class/net/%s/%s", name, file);        \
    add_file(path, content)
    FILE_OF("flags", flags);
    FILE_OF("type", type);
    FILE_OF("statistics/tx_bytes", sent);
    FILE_OF("statistics/rx_bytes", "7");
#undef FILE_OF
}

static int set_up(void **state)
{
    (void) state;
    assert_non_null(mkdtemp(sysfs));
    add_interface("lo", "0x9", "772", "1");
    add_interface("eth0", "0x1003", "1", "10");
    add_interface("eth1", "0x1003", "1", "100");
    add_interface("down0", "0x1002", "1", "1000");
    add_interface("br0", "0x1003", "1", "10000");
    add_file("class/net/br0/bridge/bridge_id", "8000");
    add_interface("port0", "0x1003", "1", "100000");
    add_file("class/net/port0/brport/state", "3");
    add_interface("eth0.5", "0x1003", "1", "1000000");
    add_file("class/net/eth0.5/lower_eth0/flags", "0x1003");
    add_interface("ib0", "0x1003", "32", "10000000");
    add_file("class/infiniband/mlx5_0/ports/1/counters/port_xmit_data", "100000000");
    add_file("class/infiniband/mlx5_0/ports/1/counters/port_rcv_data", "5");
    return 0;
}

static int tear_down(void **state)
{
    char command[64];

    (void) state;
    snprintf(command, sizeof(command), "rm -rf %s", sysfs);
    return system(command);
}

static void expect(const char *list, uint64_t sent, uint64_t received)
{
    oc_perf_traffic_t traffic;
    oc_perf_wire_t wire;
    char error[512];

    assert_true(oc_perf_wire_open(&wire, sysfs, list, error, sizeof(error)));
    assert_true(oc_perf_wire_read(&wire, &traffic));
    assert_true(traffic.sent == sent);
    assert_true(traffic.received == received);
    oc_perf_wire_close(&wire);
    assert_int_equal(wire.count, 0);
}

static void test_all(void **state)
{
    (void) state;
    expect(NULL, 400000110, 7 + 7 + 20);
}

static void test_named(void **state)
{
    (void) state;
    expect("none", 0, 0);
    expect("eth1", 100, 7);
    expect("lo,down0", 1001, 14);
    expect("eth0,mlx5_0:1", 400000010, 27);
}

static void refused(const char *list, const char *name)
{
    oc_perf_wire_t wire;
    char error[512] = "";

    assert_false(oc_perf_wire_open(&wire, sysfs, list, error, sizeof(error)));
    assert_int_equal(wire.count, 0);
    if (NULL == strstr(error, name)) {
        fail_msg("\"%s\" does not name %s", error, name);
    }
}

static void test_refused(void **state)
{
    (void) state;
    refused("eth2", "\"eth2\"");
    refused("eth0,mlx5_0:2", "\"mlx5_0:2\"");
    refused("eth0,", "\"\"");
    refused("", "\"\"");
    refused("../net/eth0", "\"../net/eth0\"");
    refused("mlx5_0", "\"mlx5_0\"");
}

/* Counters go on while they are open. */
static void test_differences(void **state)
{
    oc_perf_traffic_t before, after;
    oc_perf_wire_t wire;
    char error[512];

    (void) state;
    assert_true(oc_perf_wire_open(&wire, sysfs, "eth0", error, sizeof(error)));
    assert_true(oc_perf_wire_read(&wire, &before));
    add_file("class/net/eth0/statistics/tx_bytes", "18446744073709551615");
    assert_true(oc_perf_wire_read(&wire, &after));
    assert_true(after.sent - before.sent == UINT64_MAX - 10);
    add_file("class/net/eth0/statistics/tx_bytes", "gone");
    assert_false(oc_perf_wire_read(&wire, &after));
    add_file("class/net/eth0/statistics/tx_bytes", "10");
    oc_perf_wire_close(&wire);
}

static void test_nothing_there(void **state)
{
    oc_perf_wire_t wire;
    char error[512];

    (void) state;
    assert_true(oc_perf_wire_open(&wire, "/nonexistent", NULL, error, sizeof(error)));
    assert_int_equal(wire.count, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_all),         cmocka_unit_test(test_named),
        cmocka_unit_test(test_refused),     cmocka_unit_test(test_differences),
        cmocka_unit_test(test_nothing_there),
    };

    return cmocka_run_group_tests(tests, set_up, tear_down);
}
