/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Owns the unit tests of what a host sees of datagrams that it has not asked for: packets,
 * counters, and the sockets that send and mark them, on a loopback of its own.
 */
/* Test: quick 60 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <arpa/inet.h>
#include <errno.h>
#include <poll.h>
#include <string.h>

#include "base/descriptors.h"
#include "multicast/transport/flood_socket.h"
#include "multicast/transport/watch_counters.h"
#include "multicast/transport/watch_packets.h"
#include "tests/unit/own_network.h"

#define PORT 8919
#define BYTE_AT 5
#define MOST 64

static oc_interface_t interface;

static struct in_addr address_of(const char *text)
{
    struct in_addr address;

    assert_int_equal(inet_pton(AF_INET, text, &address), 1);
    return address;
}

/* ---- what is sent ---- */

/* A socket of the product, but that its datagrams come back on a loopback anyway. */
static int open_sender(void)
{
    int fd = oc_flood_socket_open(&interface);

    assert_true(fd >= 0);
    return fd;
}

/* A datagram that tells its number at two places. */
static void send_one(int fd, const char *address, uint16_t port, uint8_t number)
{
    struct sockaddr_in to = {.sin_family = AF_INET, .sin_addr = address_of(address),
                             .sin_port = htons(port)};
    uint8_t bytes[20] = {[0] = number, [BYTE_AT] = number};

    assert_int_equal(sendto(fd, bytes, sizeof(bytes), 0, (struct sockaddr *) &to, sizeof(to)),
                     sizeof(bytes));
}

/* ---- packets ---- */

static struct {
    unsigned count;
    uint8_t numbers[MOST];
    size_t lengths[MOST];
} seen;

static void see(void *arg, const uint8_t *bytes, size_t length)
{
    assert_null(arg);
    assert_true(seen.count < MOST);
    seen.numbers[seen.count] = bytes[0];
    seen.lengths[seen.count++] = length;
}

/* All that has come, of the loopback at once. */
static void look(int fd)
{
    memset(&seen, 0, sizeof(seen));
    oc_watch_packets_read(fd, see, NULL);
}

static void expect_numbers(int fd, const uint8_t *numbers, unsigned count)
{
    look(fd);
    assert_int_equal(seen.count, count);
    assert_memory_equal(seen.numbers, numbers, count);
    for (unsigned i = 0; i < count; i++) {
        assert_int_equal(seen.lengths[i], 20);
    }
}

/* Only those to one of the addresses, to the port, with a small byte; whatever the number. */
static void test_packets(void **state)
{
    struct in_addr addresses[OC_WATCH_ADDRESSES];
    int sender = open_sender();

    (void) state;
    for (unsigned count = 1; count <= OC_WATCH_ADDRESSES; count++) {
        oc_watch_filter_t filter = {.addresses = addresses, .num_addresses = count, .port = PORT,
                                    .byte_at = BYTE_AT, .below = 100};
        uint8_t expected[OC_WATCH_ADDRESSES];
        char text[INET_ADDRSTRLEN];
        int fd;

        snprintf(text, sizeof(text), "239.192.7.%u", count);
        addresses[count - 1] = address_of(text);
        fd = oc_watch_packets_open(&interface, &filter);
        if (fd < 0) {
            print_message("packets cannot be looked at: %s\n", strerror(errno));
            skip();
        }
        for (unsigned i = 0; i < count; i++) {
            expected[i] = (uint8_t) (10 + i);
            snprintf(text, sizeof(text), "239.192.7.%u", i + 1);
            send_one(sender, text, PORT, expected[i]);
            send_one(sender, text, PORT + 1, 1);
            send_one(sender, text, PORT, 100);
            send_one(sender, "239.192.7.99", PORT, 2);
        }
        expect_numbers(fd, expected, count);
        expect_numbers(fd, NULL, 0);
        send_one(sender, "239.192.7.1", PORT, 99);
        expect_numbers(fd, (const uint8_t[]) {99}, 1);
        oc_fd_close(fd);
    }
    oc_fd_close(sender);
}

static void test_no_interface(void **state)
{
    oc_interface_t none = {.name = "nosuch0", .index = 0x7fffffff};
    struct in_addr address = address_of("239.192.7.1");
    oc_watch_filter_t filter = {.addresses = &address, .num_addresses = 1};

    (void) state;
    assert_true(oc_watch_packets_open(&none, &filter) < 0);
    assert_null(oc_watch_counters_open(&none));
    assert_true(oc_flood_socket_join(&none, address) < 0);
}

/* ---- counters ---- */

static void test_counter_names(void **state)
{
    static const char *const wanted[] = {"rx_multicast_phy", "rx_vport_multicast_packets",
                                         "port.rx_multicast", "rx_mcast_packets", "multicast",
                                         "Rx Mcast Frames"};
    static const char *const others[] = {"tx_multicast_phy", "rx_packets", "TX multicast",
                                         "rx_multicast_bytes", "InMcastOctets", "OutMcastPkts",
                                         "mcast_pkts_sent", "MulticastXmtd",
                                         "rx_broadcast", ""};

    (void) state;
    for (size_t i = 0; i < sizeof(wanted) / sizeof(wanted[0]); i++) {
        assert_true(oc_watch_counters_wants(wanted[i]));
    }
    for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++) {
        assert_false(oc_watch_counters_wants(others[i]));
    }
}

/* Those of the loopback move by what goes over it, and by nothing else. */
static void test_counters(void **state)
{
    uint64_t before[OC_WATCH_COUNTERS], after[OC_WATCH_COUNTERS];
    oc_watch_counters_t *counters = oc_watch_counters_open(&interface);
    int sender = open_sender();

    (void) state;
    assert_non_null(counters);
    assert_in_range(oc_watch_counters_count(counters), 2, OC_WATCH_COUNTERS);
    assert_true(oc_watch_counters_read(counters, before));
    assert_true(oc_watch_counters_read(counters, after));
    assert_memory_equal(before, after, oc_watch_counters_count(counters) * sizeof(before[0]));
    for (uint8_t i = 0; i < 10; i++) {
        send_one(sender, "239.192.7.1", PORT, i);
    }
    assert_true(oc_watch_counters_read(counters, after));
    assert_int_equal(after[0] - before[0], 10);
    oc_fd_close(sender);
    oc_watch_counters_close(counters);
    oc_watch_counters_close(NULL);
}

/* ---- sockets ---- */

static void test_marks(void **state)
{
    struct in_addr address = address_of("239.192.7.2");
    int sender = open_sender(), fd = oc_flood_socket_listen(&interface, address, PORT);
    struct pollfd ready = {.fd = fd, .events = POLLIN};
    uint64_t begin = oc_flood_socket_now(), arrived;
    uint8_t bytes[32];

    (void) state;
    assert_true(fd >= 0);
    assert_int_equal(oc_flood_socket_receive(fd, bytes, sizeof(bytes), &arrived), 0);
    send_one(sender, "239.192.7.3", PORT, 1);
    send_one(sender, "239.192.7.2", PORT, 7);
    assert_int_equal(poll(&ready, 1, 5000), 1);
    assert_int_equal(oc_flood_socket_receive(fd, bytes, sizeof(bytes), &arrived), 20);
    assert_int_equal(bytes[0], 7);
    assert_in_range(arrived, begin, oc_flood_socket_now());
    assert_int_equal(oc_flood_socket_receive(fd, bytes, sizeof(bytes), &arrived), 0);
    oc_fd_close(fd);
    oc_fd_close(sender);
}

static void test_membership(void **state)
{
    struct in_addr address = address_of("239.192.7.4"), other = address_of("239.192.4.7");
    oc_interface_t elsewhere = interface;
    int fd;

    (void) state;
    elsewhere.index++;
    assert_false(oc_flood_has_joined(&interface, address));
    fd = oc_flood_socket_join(&interface, address);
    assert_true(fd >= 0);
    assert_true(oc_flood_has_joined(&interface, address));
    assert_false(oc_flood_has_joined(&interface, other));
    assert_false(oc_flood_has_joined(&elsewhere, address));
    oc_fd_close(fd);
    assert_false(oc_flood_has_joined(&interface, address));
}

static void test_loopback_floods_nobody(void **state)
{
    oc_interface_t unknown = {.name = "nosuch0"};

    (void) state;
    assert_false(oc_interface_floods(&interface));
    assert_true(oc_interface_floods(&unknown));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_packets),
        cmocka_unit_test(test_no_interface),
        cmocka_unit_test(test_counter_names),
        cmocka_unit_test(test_counters),
        cmocka_unit_test(test_marks),
        cmocka_unit_test(test_membership),
        cmocka_unit_test(test_loopback_floods_nobody),
    };
    char error[256];

    alarm(60);
    if (!own_network_enter()) {
        return OWN_NETWORK_SKIPPED;
    }
    if (OC_OK != oc_interface_find("lo", address_of("239.192.7.1"), &interface, error,
                                   sizeof(error))) {
        printf("no loopback: %s\n", error);
        return 1;
    }
    return cmocka_run_group_tests(tests, NULL, NULL);
}
