/* SPDX-License-Identifier: BSD-3-Clause */
/* Owns the unit tests of how fast the network of a host is, over a made-up sysfs. */
/* Test: quick 60 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "net/link_speed.h"

static char sysfs[64];

static void run(const char *command)
{
    assert_int_equal(system(command), 0);
}

static void add_file(const char *path, const char *content)
{
    char command[512];

    snprintf(command, sizeof(command), "mkdir -p $(dirname %s/%s) && echo '%s' > %s/%s", sysfs,
             path, content, sysfs, path);
    run(command);
}

static void add_interface(const char *name, const char *speed, const char *state, bool physical)
{
    char path[128];

    snprintf(path, sizeof(path), "class/net/%s/speed", name);
    add_file(path, speed);
    snprintf(path, sizeof(path), "class/net/%s/operstate", name);
    add_file(path, state);
    if (physical) {
        snprintf(path, sizeof(path), "class/net/%s/device/vendor", name);
        add_file(path, "0x15b3");
    }
}

static void add_port(const char *device, unsigned port, const char *rate, const char *state,
                     bool physical)
{
    char path[128];

    snprintf(path, sizeof(path), "class/infiniband/%s/ports/%u/rate", device, port);
    add_file(path, rate);
    snprintf(path, sizeof(path), "class/infiniband/%s/ports/%u/state", device, port);
    add_file(path, state);
    if (physical) {
        snprintf(path, sizeof(path), "class/infiniband/%s/device/vendor", device);
        add_file(path, "0x15b3");
    }
}

static int set_up(void **state)
{
    (void) state;
    strcpy(sysfs, "/tmp/optcast-sysfs-XXXXXX");
    assert_non_null(mkdtemp(sysfs));
    return 0;
}

static int tear_down(void **state)
{
    char command[128];

    (void) state;
    snprintf(command, sizeof(command), "rm -r %s", sysfs);
    run(command);
    return 0;
}

static void add_lower(const char *name, const char *lower)
{
    char command[512];

    snprintf(command, sizeof(command), "ln -s ../%s %s/class/net/%s/lower_%s", lower, sysfs, name, lower);
    run(command);
}

static void expect_by(const char *names, const char *transports, oc_fabric_t fabric, unsigned rate)
{
    oc_network_t network = {99, 99};

    oc_network_read(sysfs, names, transports, &network);
    assert_int_equal(network.fabric, fabric);
    assert_int_equal(network.rate, rate);
}

static void expect(const char *names, oc_fabric_t fabric, unsigned rate)
{
    expect_by(names, NULL, fabric, rate);
}

static void test_nothing(void **state)
{
    (void) state;
    expect(NULL, OC_FABRIC_TCP, 0);
}

/*
 * A bridge has the rate that somebody made up, a virtio card none, and a port that is down its
 * last one.
 */
static void test_interfaces(void **state)
{
    (void) state;
    add_interface("br0", "40000", "up", false);
    add_interface("eth0", "-1", "up", true);
    add_interface("eth1", "25000", "down", true);
    expect(NULL, OC_FABRIC_TCP, 0);
    add_interface("eth2", "1000", "up", true);
    add_interface("eth3", "10000", "up", true);
    expect(NULL, OC_FABRIC_TCP, 10000);
    expect("all", OC_FABRIC_TCP, 10000);
    expect("", OC_FABRIC_TCP, 10000);
    expect("eth2", OC_FABRIC_TCP, 1000);
    expect("lo,eth2,br0", OC_FABRIC_TCP, 1000);
    expect("eth", OC_FABRIC_TCP, 0);
    expect("eth22,xeth3", OC_FABRIC_TCP, 0);
    expect("^eth3,eth1", OC_FABRIC_TCP, 1000);
    expect("^eth2,eth3", OC_FABRIC_TCP, 0);
}

/* Where there are RDMA ports nobody uses TCP. */
static void test_ports(void **state)
{
    (void) state;
    add_interface("eth0", "400000", "up", true);
    add_port("rxe0", 1, "2.5 Gb/sec (1X SDR)", "4: ACTIVE", false);
    add_port("mlx5_0", 1, "200 Gb/sec (4X HDR)", "1: DOWN", true);
    expect(NULL, OC_FABRIC_TCP, 400000);
    add_port("mlx5_1", 1, "100 Gb/sec (4X EDR)", "4: ACTIVE", true);
    add_port("mlx5_1", 2, "56 Gb/sec (4X FDR)", "4: ACTIVE", true);
    add_port("mlx5_2", 1, "nonsense", "4: ACTIVE", true);
    expect(NULL, OC_FABRIC_RDMA, 100000);
    expect("mlx5_1:2", OC_FABRIC_RDMA, 56000);
    expect("eth0,mlx5_1", OC_FABRIC_RDMA, 100000);
    expect("mlx5_1:12", OC_FABRIC_TCP, 0);
    expect("mlx5_0:1,eth0", OC_FABRIC_TCP, 400000);
    expect("^mlx5_1:1", OC_FABRIC_RDMA, 56000);
    expect("mlx5_[0-2]", OC_FABRIC_UNKNOWN, 0);
}

/* Who sets what UCX may use need not use what is there. */
static void test_transports(void **state)
{
    (void) state;
    add_interface("eth0", "10000", "up", true);
    add_port("mlx5_0", 1, "100 Gb/sec (4X EDR)", "4: ACTIVE", true);
    expect_by(NULL, "", OC_FABRIC_RDMA, 100000);
    expect_by(NULL, "all", OC_FABRIC_RDMA, 100000);
    expect_by(NULL, "tcp,sm,self", OC_FABRIC_TCP, 10000);
    expect_by(NULL, "self,rc_x,sm", OC_FABRIC_RDMA, 100000);
    expect_by(NULL, "sm,ib", OC_FABRIC_RDMA, 100000);
    expect_by(NULL, "^ib", OC_FABRIC_TCP, 10000);
    expect_by(NULL, "^cuda_ipc", OC_FABRIC_RDMA, 100000);
}

/* A VLAN on a bond of two cards, and a bridge that has a card. */
static void test_stacks(void **state)
{
    (void) state;
    add_interface("eth0", "25000", "up", true);
    add_interface("eth1", "10000", "up", true);
    add_interface("bond0", "35000", "up", false);
    add_lower("bond0", "eth0");
    add_lower("bond0", "eth1");
    add_interface("bond0.7", "35000", "up", false);
    add_lower("bond0.7", "bond0");
    add_interface("veth0", "10000", "up", false);
    add_interface("br0", "10000", "up", false);
    add_lower("br0", "veth0");
    expect("bond0", OC_FABRIC_TCP, 25000);
    expect("bond0.7", OC_FABRIC_TCP, 25000);
    expect("br0", OC_FABRIC_TCP, 0);
    add_lower("br0", "eth1");
    expect("br0", OC_FABRIC_TCP, 10000);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_nothing, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_interfaces, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_ports, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_transports, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_stacks, set_up, tear_down),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
