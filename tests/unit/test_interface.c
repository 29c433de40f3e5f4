/* SPDX-License-Identifier: BSD-3-Clause */
/* Owns the unit tests of the choice of an interface, among interfaces of its own. */
/* Test: quick 120 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <arpa/inet.h>
#include <stdlib.h>

#include "multicast/transport/interface.h"
#include "multicast/transport/piece.h"
#include "tests/unit/own_network.h"

static struct in_addr address(const char *text)
{
    struct in_addr result;

    assert_int_equal(inet_pton(AF_INET, text, &result), 1);
    return result;
}

static void run(const char *command)
{
    if (0 != system(command)) {
        fail_msg("failed: %s", command);
    }
}

static void expect(const char *text, const char *name, const char *from, unsigned mtu)
{
    oc_interface_t found = {0};
    char error[512] = "";

    if (OC_OK != oc_interface_find(text, address("239.192.0.1"), &found, error, sizeof(error))) {
        fail_msg("\"%s\" was not found: %s", text, error);
    }
    assert_string_equal(found.name, name);
    assert_int_equal(found.index, if_nametoindex(name));
    assert_int_equal(found.address.s_addr, address(from).s_addr);
    assert_int_equal(found.mtu, mtu);
}

static void expect_none(const char *text, const char *reason, const char *others)
{
    oc_interface_t found;
    char error[512] = "";

    assert_int_equal(oc_interface_find(text, address("239.192.0.1"), &found, error, sizeof(error)),
                     OC_ERR_INVALID);
    if (NULL == strstr(error, text) || NULL == strstr(error, reason)
        || NULL == strstr(error, others)) {
        fail_msg("\"%s\" names not all of \"%s\", \"%s\", \"%s\"", error, text, reason, others);
    }
}

/* Two pairs of interfaces, v0 with 10.1.0.1 and w0 with 10.2.0.1 up. */
/* The kernel looks at links once a second at most. */
static int make_interfaces(void **state)
{
    (void) state;
    return 0 == system("ip link add v0 mtu 1400 type veth peer name v1 && "
                       "ip link add w0 type veth peer name w1 && "
                       "ip address add 10.1.0.1/24 dev v0 && ip address add 10.2.0.1/24 dev w0 && "
                       "ip link set v0 up && ip link set v1 up && "
                       "ip link set w0 up && ip link set w1 up && "
                       "for i in $(seq 50); do "
                       "ip link show v0 | grep -q 'state UP' && "
                       "ip link show w0 | grep -q 'state UP' && exit; sleep 0.1; done; exit 1")
               ? 0
               : -1;
}

static int remove_interfaces(void **state)
{
    (void) state;
    return 0 == system("ip link delete v0 && ip link delete w0") ? 0 : -1;
}

static void test_loopback_only(void **state)
{
    (void) state;
    expect("", "lo", "127.0.0.1", 65536);
    expect(NULL, "lo", "127.0.0.1", 65536);
    /* it need not say that it can */
    assert_true(own_network_flags("lo", 0, IFF_MULTICAST));
    expect("", "lo", "127.0.0.1", 65536);
    assert_true(own_network_flags("lo", IFF_MULTICAST, 0));
}

static void test_no_interface(void **state)
{
    oc_interface_t found;
    char error[512] = "";

    (void) state;
    assert_true(own_network_flags("lo", 0, IFF_UP));
    assert_int_equal(oc_interface_find("", address("239.1.1.1"), &found, error, sizeof(error)),
                     OC_ERR_INVALID);
    assert_non_null(strstr(error, "none"));
    assert_true(own_network_flags("lo", IFF_UP, 0));
}

static void test_by_name(void **state)
{
    (void) state;
    expect("lo", "lo", "127.0.0.1", 65536);
    expect("v0", "v0", "10.1.0.1", 1400);
    expect("w0", "w0", "10.2.0.1", 1500);
}

static void test_by_address(void **state)
{
    (void) state;
    expect("127.0.0.1", "lo", "127.0.0.1", 65536);
    expect("10.2.0.1", "w0", "10.2.0.1", 1500);
    run("ip address add 10.3.0.1/24 dev w0");
    expect("10.3.0.1", "w0", "10.3.0.1", 1500);
}

static void test_by_route(void **state)
{
    (void) state;
    expect("", "v0", "10.1.0.1", 1400);
    run("ip route add default via 10.2.0.9 dev w0");
    expect("", "w0", "10.2.0.1", 1500);
    run("ip route add 239.192.0.0/14 dev v0");
    expect("", "v0", "10.1.0.1", 1400);
    /* a route through what cannot do it */
    run("ip link set v0 multicast off");
    expect("", "w0", "10.2.0.1", 1500);
}

/* Without a route, what runs comes before what does not. */
static const char *const stop_v = "ip link set v1 down; for i in $(seq 50); do "
                                  "ip link show v0 | grep -q NO-CARRIER && exit; sleep 0.1; done";
static const char *const stop_w = "ip link set w1 down; for i in $(seq 50); do "
                                  "ip link show w0 | grep -q NO-CARRIER && exit; sleep 0.1; done";

static void test_running(void **state)
{
    (void) state;
    run(stop_v);
    expect("", "w0", "10.2.0.1", 1500);
    run(stop_w);
    expect("", "lo", "127.0.0.1", 65536);
}

static void test_errors(void **state)
{
    (void) state;
    expect_none("eth77", "is not there", "lo (127.0.0.1), v0 (10.1.0.1), w0 (10.2.0.1)");
    expect_none("10.9.9.9", "is not there", "v0 (10.1.0.1)");
    expect_none("v1", "no IPv4 address", "v0 (10.1.0.1)");
    run("ip link set v0 multicast off");
    expect_none("v0", "cannot do multicast", "w0 (10.2.0.1)");
    run("ip link set w0 down");
    expect_none("w0", "is down", "lo (127.0.0.1)");
}

/* What the interface says, and what most say if it is not there. */
static void test_piece(void **state)
{
    oc_interface_t interface = {.index = if_nametoindex("lo")};

    (void) state;
    run("ip link set lo gso_max_size 20000");
    assert_int_equal(oc_interface_piece(&interface), 20000);
    interface.index = 9999;
    assert_int_equal(oc_interface_piece(&interface), 65536);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_loopback_only),
        cmocka_unit_test(test_no_interface),
        cmocka_unit_test_setup_teardown(test_by_name, make_interfaces, remove_interfaces),
        cmocka_unit_test_setup_teardown(test_by_address, make_interfaces, remove_interfaces),
        cmocka_unit_test_setup_teardown(test_by_route, make_interfaces, remove_interfaces),
        cmocka_unit_test_setup_teardown(test_running, make_interfaces, remove_interfaces),
        cmocka_unit_test_setup_teardown(test_errors, make_interfaces, remove_interfaces),
        cmocka_unit_test_setup_teardown(test_piece, make_interfaces, remove_interfaces),
    };

    alarm(60);
    if (!own_network_enter()) {
        return OWN_NETWORK_SKIPPED;
    }
    if (0 != system("ip link add v0 type veth peer name v1 && ip link delete v0")) {
        printf("SKIP: cannot make network interfaces with ip: install iproute2\n");
        return OWN_NETWORK_SKIPPED;
    }
    return cmocka_run_group_tests(tests, NULL, NULL);
}
