/* SPDX-License-Identifier: BSD-3-Clause */
/* From interfaces to UCX device names, over a made-up sysfs. */
/* Test: quick 120 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "net/devices.h"

static char sysfs[] = "/tmp/optcast-sysfs-XXXXXX";

static void run(const char *format, const char *a, const char *b)
{
    char command[512];

    snprintf(command, sizeof(command), format, a, b);
    assert_int_equal(system(command), 0);
}

static void add_file(const char *path, const char *content)
{
    char command[512];

    snprintf(command, sizeof(command), "mkdir -p $(dirname %s/%s) && echo %s > %s/%s", sysfs, path,
             content, sysfs, path);
    assert_int_equal(system(command), 0);
}

static int set_up(void **state)
{
    (void) state;
    assert_non_null(mkdtemp(sysfs));
    add_file("class/infiniband/mlx5_0/ports/1/gid_attrs/ndevs/0", "eth0");
    add_file("class/infiniband/mlx5_0/ports/1/gid_attrs/ndevs/1", "eth0");
    add_file("class/infiniband/mlx5_1/ports/2/gid_attrs/ndevs/3", "eth1");
    add_file("class/net/ib0/device/infiniband/mlx5_7/node_type", "1");
    add_file("class/net/ib0/dev_port", "1");
    return 0;
}

static int tear_down(void **state)
{
    (void) state;
    run("rm -r %s%s", sysfs, "");
    return 0;
}

static void expect(const char *interface, const char *devices)
{
    char buffer[128];

    oc_devices_of(interface, sysfs, buffer, sizeof(buffer));
    assert_string_equal(buffer, devices);
}

static void test_names(void **state)
{
    (void) state;
    expect("eth0", "eth0,mlx5_0:1");
    expect("eth1", "eth1,mlx5_1:2");
    expect("ib0", "ib0,mlx5_7:2");
    expect("lo", "lo");
}

static void test_too_long(void **state)
{
    char buffer[8];

    (void) state;
    oc_devices_of("eth0", sysfs, buffer, sizeof(buffer));
    assert_string_equal(buffer, "eth0");
}

static void test_no_sysfs(void **state)
{
    char buffer[64];

    (void) state;
    oc_devices_of("eth0", "/nonexistent", buffer, sizeof(buffer));
    assert_string_equal(buffer, "eth0");
}

static void test_add(void **state)
{
    char list[16] = "";

    (void) state;
    assert_true(oc_devices_add(list, sizeof(list), "eth0"));
    assert_true(oc_devices_add(list, sizeof(list), "ib0"));
    assert_true(oc_devices_add(list, sizeof(list), "eth0"));
    assert_string_equal(list, "eth0,ib0");
    assert_true(oc_devices_add(list, sizeof(list), "ens789"));
    assert_string_equal(list, "eth0,ib0,ens789");
    assert_false(oc_devices_add(list, sizeof(list), "x"));
}

/* Those that are active, whatever interface they belong to. */
static void test_add_rdma(void **state)
{
    char list[64] = "eth7", shorter[10] = "eth7";

    (void) state;
    assert_true(oc_devices_add_rdma(list, sizeof(list), "/nonexistent"));
    assert_true(oc_devices_add_rdma(list, sizeof(list), sysfs));
    assert_string_equal(list, "eth7");
    add_file("class/infiniband/mlx5_0/ports/1/state", "'4: ACTIVE'");
    add_file("class/infiniband/mlx5_1/ports/2/state", "'1: DOWN'");
    assert_true(oc_devices_add_rdma(list, sizeof(list), sysfs));
    assert_string_equal(list, "eth7,mlx5_0:1");
    assert_true(oc_devices_add_rdma(list, sizeof(list), sysfs));
    assert_string_equal(list, "eth7,mlx5_0:1");
    assert_false(oc_devices_add_rdma(shorter, sizeof(shorter), sysfs));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_names),
        cmocka_unit_test(test_too_long),
        cmocka_unit_test(test_no_sysfs),
        cmocka_unit_test(test_add),
        cmocka_unit_test(test_add_rdma),
    };

    return cmocka_run_group_tests(tests, set_up, tear_down);
}
