/* SPDX-License-Identifier: BSD-3-Clause */
/* Owns the unit tests of where aggregators belong, with the topologies of several machines. */
/* Test: quick 120 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "server/host/binding.h"
#include "server/host/placement.h"

/* Files and synthetic descriptions. tests/topologies/README.md says what is in the files. */
#define TWO_PACKAGES TOPOLOGIES "/two-packages.xml"
#define TWO_RAILS    TOPOLOGIES "/two-rails.xml"
#define ONE_PACKAGE  TOPOLOGIES "/one-package.xml"
#define UNATTACHED   TOPOLOGIES "/unattached.xml"
#define NO_DEVICES   "pack:2 [numa] core:4 pu:2"

static const char *transports;
static atomic_uint moves;

/* hwloc comes here, too. */
__attribute__((visibility("default")))
int sched_setaffinity(pid_t thread, size_t size, const cpu_set_t *set)
{
    atomic_fetch_add(&moves, 1);
    return (int) syscall(SYS_sched_setaffinity, thread, size, set);
}

static hwloc_topology_t load(const char *name)
{
    hwloc_topology_t topology;

    assert_int_equal(hwloc_topology_init(&topology), 0);
    hwloc_topology_set_io_types_filter(topology, HWLOC_TYPE_FILTER_KEEP_IMPORTANT);
    if ('/' == name[0]) {
        assert_int_equal(hwloc_topology_set_xml(topology, name), 0);
    } else {
        assert_int_equal(hwloc_topology_set_synthetic(topology, name), 0);
    }
    assert_int_equal(hwloc_topology_load(topology), 0);
    return topology;
}

/* allowed: a list of processors; NULL: all. Fails or gives what has to be freed. */
static oc_placement_t find(const char *name, const char *devices, const char *allowed,
                           unsigned num_threads)
{
    hwloc_topology_t topology = load(name);
    hwloc_cpuset_t set = hwloc_bitmap_dup(hwloc_topology_get_allowed_cpuset(topology));
    const oc_network_devices_t network = {.devices = devices, .transports = transports};
    oc_placement_t placement;

    assert_non_null(set);
    if (NULL != allowed) {
        assert_int_equal(hwloc_bitmap_list_sscanf(set, allowed), 0);
    }
    assert_int_equal(oc_placement_find(topology, &network, set, num_threads, &placement), OC_OK);
    hwloc_bitmap_free(set);
    hwloc_topology_destroy(topology);
    return placement;
}

static void expect_set(hwloc_const_bitmap_t set, const char *expected)
{
    char text[128];

    assert_true(hwloc_bitmap_list_snprintf(text, sizeof(text), set) < (int) sizeof(text));
    assert_string_equal(text, expected);
}

/* threads: the processors of each, with spaces between them. */
static void expect_near(const char *name, const char *devices, const char *allowed,
                        const char *device, const char *nodes, const char *threads)
{
    unsigned num_threads = 1;
    oc_placement_t placement;
    char expected[64];

    for (const char *at = threads; '\0' != *at; at++) {
        num_threads += ' ' == *at;
    }
    placement = find(name, devices, allowed, num_threads);
    assert_int_equal(placement.kind, OC_PLACEMENT_NEAR);
    assert_string_equal(placement.device, device);
    expect_set(placement.nodes, nodes);
    assert_int_equal(placement.num_threads, num_threads);
    for (unsigned i = 0; i < num_threads; i++) {
        snprintf(expected, sizeof(expected), "%.*s", (int) strcspn(threads, " "), threads);
        expect_set(placement.threads[i], expected);
        threads += strcspn(threads, " ") + 1;
    }
    oc_placement_free(&placement);
}

static void expect_nothing(const char *name, const char *devices, const char *allowed,
                           oc_placement_kind_t kind, const char *device)
{
    oc_placement_t placement = find(name, devices, allowed, 2);

    assert_int_equal(placement.kind, kind);
    assert_string_equal(placement.device, device);
    assert_null(placement.threads);
    assert_int_equal(placement.num_threads, 0);
    oc_placement_free(&placement);
    oc_placement_free(&placement);
}

static void test_device_behind_bridge(void **state)
{
    (void) state;
    expect_near(TWO_PACKAGES, "eth1,mlx5_0:1", NULL, "mlx5_0", "1", "8-15");
    expect_near(TWO_PACKAGES, "eth2", NULL, "eth2", "1", "8-15");
    expect_near(TWO_PACKAGES, "mlx5_1:1", NULL, "mlx5_1", "1", "8-15");
    expect_near(TWO_PACKAGES, "eth0", NULL, "eth0", "0", "0-7");
}

/* Names are whole words, with or without a port. */
static void test_names(void **state)
{
    (void) state;
    expect_nothing(TWO_PACKAGES, "eth", NULL, OC_PLACEMENT_UNKNOWN, "");
    expect_nothing(TWO_PACKAGES, "eth11", NULL, OC_PLACEMENT_UNKNOWN, "");
    expect_nothing(TWO_PACKAGES, "mlx5_00:1,mlx5_:1", NULL, OC_PLACEMENT_UNKNOWN, "");
    expect_nothing(TWO_PACKAGES, "", NULL, OC_PLACEMENT_UNKNOWN, "");
    expect_near(TWO_PACKAGES, ",lo,eth0,", NULL, "eth0", "0", "0-7");
}

/* What RDMA devices are there is what UCX uses. */
static void test_rdma_counts_first(void **state)
{
    (void) state;
    expect_near(TWO_PACKAGES, NULL, NULL, "mlx5_0", "1", "8-15");
    expect_near(TWO_PACKAGES, "all", NULL, "mlx5_0", "1", "8-15");
    expect_near(TWO_PACKAGES, "eth0,mlx5_0:1", NULL, "mlx5_0", "1", "8-15");
    expect_nothing(TWO_PACKAGES, "eth0,eth1", NULL, OC_PLACEMENT_EVERYWHERE, "eth0");
}

/* An RDMA device that UCX must not use is not where the data go through. */
static void test_transports(void **state)
{
    static const char *const with[] = {
        "all", "ib", "tcp,ib", "rc_x,self", "sm,rc_verbs", "tcp,\\ud_mlx5", "ud:aux", "dc",
        "^tcp", "^rc,ud_x", "^\\ib_something"};
    static const char *const without[] = {"tcp", "tcp,self,sm", "^ib", "^sm,ib", "", "ibx,rcud"};

    (void) state;
    for (size_t i = 0; i < sizeof(with) / sizeof(with[0]); i++) {
        transports = with[i];
        expect_near(TWO_PACKAGES, "eth0,mlx5_0:1", NULL, "mlx5_0", "1", "8-15");
    }
    for (size_t i = 0; i < sizeof(without) / sizeof(without[0]); i++) {
        transports = without[i];
        expect_near(TWO_PACKAGES, "eth0,mlx5_0:1", NULL, "eth0", "0", "0-7");
    }
    transports = NULL;
}

static void test_two_rails(void **state)
{
    (void) state;
    expect_nothing(TWO_RAILS, NULL, NULL, OC_PLACEMENT_EVERYWHERE, "mlx5_0");
    expect_near(TWO_RAILS, "ib1,mlx5_1:1", NULL, "mlx5_1", "1", "2 3");
}

static void test_threads_are_spread(void **state)
{
    (void) state;
    expect_near(TWO_PACKAGES, "eth1", NULL, "eth1", "1", "8-11 12-15");
    expect_near(TWO_PACKAGES, "eth1", NULL, "eth1", "1", "8-11 12-13 14-15");
    expect_near(TWO_PACKAGES, "eth1", NULL, "eth1", "1", "8-9 10-11 12-13 14-15");
}

/* More than cores, which have two hardware threads each; and not more than these. */
static void test_many_threads(void **state)
{
    (void) state;
    expect_near(TWO_PACKAGES, "eth1", NULL, "eth1", "1", "8-9 10 11 12-13 14 15");
    expect_near(TWO_PACKAGES, "eth1", NULL, "eth1", "1", "8 9 10 11 12 13 14 15");
}

/* None gets in the way of another where there are processors elsewhere. */
static void test_too_many_threads(void **state)
{
    (void) state;
    expect_nothing(TWO_PACKAGES, "eth1", "0-7,15", OC_PLACEMENT_CROWDED, "eth1");
    expect_near(TWO_PACKAGES, "eth1", "0-7,14-15", "eth1", "1", "14 15");
    expect_near(TWO_PACKAGES, "eth1", "0-7,15", "eth1", "1", "15");
}

static void test_allowed(void **state)
{
    (void) state;
    expect_near(TWO_PACKAGES, "eth1", "0-9", "eth1", "1", "8-9");
    expect_near(TWO_PACKAGES, "eth1", "0-9", "eth1", "1", "8 9");
    /* one hardware thread of each core */
    expect_near(TWO_PACKAGES, "eth1", "8,10,12,14", "eth1", "1", "8,10 12,14");
    expect_nothing(TWO_PACKAGES, "eth1", "0-7", OC_PLACEMENT_EXCLUDED, "eth1");
    expect_nothing(TWO_PACKAGES, "eth1,mlx5_0:1", "3", OC_PLACEMENT_EXCLUDED, "mlx5_0");
}

static void test_nothing_to_choose(void **state)
{
    (void) state;
    expect_nothing(ONE_PACKAGE, "eth0", NULL, OC_PLACEMENT_EVERYWHERE, "eth0");
    expect_nothing(ONE_PACKAGE, "eth0", "1", OC_PLACEMENT_EVERYWHERE, "eth0");
    /* nobody says where its bus is */
    expect_nothing(UNATTACHED, "eth0", NULL, OC_PLACEMENT_EVERYWHERE, "eth0");
}

static void test_no_devices(void **state)
{
    (void) state;
    expect_nothing(NO_DEVICES, NULL, NULL, OC_PLACEMENT_UNKNOWN, "");
    expect_nothing(NO_DEVICES, "eth0,mlx5_0:1", NULL, OC_PLACEMENT_UNKNOWN, "");
    expect_nothing(ONE_PACKAGE, "veth0", NULL, OC_PLACEMENT_UNKNOWN, "");
}

/* That could take as long as the processors have other things to do. */
static void test_reader_stays(void **state)
{
    const oc_binding_config_t configs[] = {{.num_threads = 1, .near = true},
                                           {.num_threads = 1, .widen = true},
                                           {.num_threads = 1, .near = true, .widen = true}};
    oc_binding_t *binding;

    (void) state;
    for (unsigned i = 0; i < sizeof(configs) / sizeof(configs[0]); i++) {
        binding = oc_binding_open(&configs[i]);
        assert_non_null(binding);
        assert_int_equal(atomic_load(&moves), 0);
        oc_binding_widen(binding);
        assert_int_equal(atomic_exchange(&moves, 0), configs[i].widen ? 1 : 0);
        oc_binding_close(binding);
    }
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_device_behind_bridge), cmocka_unit_test(test_names),
        cmocka_unit_test(test_rdma_counts_first),    cmocka_unit_test(test_transports),
        cmocka_unit_test(test_two_rails),
        cmocka_unit_test(test_threads_are_spread),   cmocka_unit_test(test_many_threads),
        cmocka_unit_test(test_allowed),              cmocka_unit_test(test_nothing_to_choose),
        cmocka_unit_test(test_too_many_threads),     cmocka_unit_test(test_no_devices),
        cmocka_unit_test(test_reader_stays),
    };

    alarm(30);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
