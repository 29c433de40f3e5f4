/* SPDX-License-Identifier: BSD-3-Clause */
/* Owns the unit tests of the transport over UDP: real sockets on a loopback of its own. */
/* Test: quick 120 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <arpa/inet.h>
#include <dirent.h>
#include <netinet/udp.h>
#include <poll.h>
#include <stdlib.h>

#include "base/clock.h"
#include "base/log.h"
#include "multicast/transport/udp.h"
#include "multicast/transport/udp_staging.h"
#include "tests/unit/own_network.h"

#define PORT 8919
#define SIZE 1472 /* of datagrams, with the MTU that the loopback has here */
#define PAYLOAD (SIZE - OC_DATAGRAM_HEADER)

static oc_interface_t interface;
static uint8_t block[1 << 20];
static char last_log[512];

static oc_udp_config_t config_of(const char *group, bool plain)
{
    oc_udp_config_t config = {.interface = &interface, .port = PORT, .staging = 4u << 20,
                              .send_buffer = OC_UDP_SEND_BUFFER, .plain = plain};

    assert_int_equal(inet_pton(AF_INET, group, &config.group), 1);
    return config;
}

static oc_transport_t *open_with(const oc_udp_config_t *config)
{
    oc_transport_t *transport = NULL;
    char error[256] = "";

    if (OC_OK != oc_udp_open(config, &transport, error, sizeof(error))) {
        fail_msg("cannot open: %s", error);
    }
    assert_string_equal(transport->ops->name, "udp");
    return transport;
}

static oc_transport_t *open_udp(const char *group, bool plain)
{
    oc_udp_config_t config = config_of(group, plain);

    return open_with(&config);
}

/* What has arrived: each datagram must be the next one of the block, with the right bytes. */
typedef struct {
    unsigned count;
    size_t bytes;              /* of payload */
    unsigned bad;
    oc_origin_t from;          /* of the last one */
} arrivals_t;

static void arrived(void *arg, const oc_origin_t *from, const uint8_t *bytes, size_t length)
{
    arrivals_t *arrivals = arg;
    oc_datagram_t header;

    arrivals->from = *from;
    if (!oc_datagram_decode(bytes, length, &header) || header.index != arrivals->count
        || arrivals->bytes + header.length > sizeof(block)
        || 0 != memcmp(bytes + OC_DATAGRAM_HEADER, block + arrivals->bytes, header.length)) {
        arrivals->bad++;
        return;
    }
    arrivals->count++;
    arrivals->bytes += header.length;
}

/* Waits until count datagrams have arrived, or 2 seconds without a sign of them. */
static void receive(oc_transport_t *transport, arrivals_t *arrivals, unsigned count)
{
    while (arrivals->count + arrivals->bad < count) {
        struct pollfd event = {.fd = transport->event_fd};

        if (0 == transport->ops->receive(transport, 64, arrived, arrivals)
            && transport->ops->arm(transport, false)) {
            event.events = transport->events;
            if (1 != poll(&event, 1, 2000)) {
                break;
            }
        }
    }
}

static void expect_nothing(oc_transport_t *transport)
{
    arrivals_t arrivals = {0};

    assert_int_equal(transport->ops->receive(transport, 64, arrived, &arrivals), 0);
    assert_int_equal(arrivals.count + arrivals.bad, 0);
}

/* The fragments of length bytes of the block, from fragment number first on. */
static unsigned fill(oc_outgoing_t *batch, unsigned first, size_t offset, size_t length,
                     size_t payload)
{
    unsigned count = 0;

    while (length > 0 && count < OC_MAX_BATCH) {
        size_t part = length < payload ? length : payload;
        oc_datagram_t header = {.kind = OC_DATAGRAM_FRAGMENT, .token = 0x0123456789abcdef,
                                .index = first + count, .length = (uint16_t) part};

        batch[count] = (oc_outgoing_t) {.payload = block + offset, .length = part};
        oc_datagram_encode(&header, batch[count++].header);
        offset += part;
        length -= part;
    }
    return count;
}

/* Sends all, in batches, waiting for room; returns how many datagrams it were. */
static unsigned send_block(oc_transport_t *transport, size_t length, size_t payload)
{
    unsigned sent = 0, total = (unsigned) ((length + payload - 1) / payload);
    uint64_t deadline = oc_clock_ns() + 10 * OC_SECOND;

    while (sent < total && oc_clock_ns() < deadline) {
        oc_outgoing_t batch[OC_MAX_BATCH];
        size_t offset = sent * payload;
        unsigned count = fill(batch, sent, offset, length - offset, payload);
        unsigned taken = transport->ops->send(transport, batch, count);

        sent += taken;
        if (taken < count && transport->ops->arm(transport, true)) {
            struct pollfd event = {.fd = transport->event_fd, .events = transport->events};

            poll(&event, 1, 1);
        }
    }
    assert_int_equal(sent, total);
    return total;
}

/* From one transport to three others, and not to itself. */
static void exchange(bool plain, bool plain_receiver, size_t length, size_t payload)
{
    oc_transport_t *sender = open_udp("239.192.7.1", plain), *receivers[3];
    unsigned count;

    for (int i = 0; i < 3; i++) {
        receivers[i] = open_udp("239.192.7.1", plain_receiver);
    }
    assert_int_equal(sender->datagram_size, SIZE);
    count = send_block(sender, length, payload);
    for (int i = 0; i < 3; i++) {
        arrivals_t arrivals = {0};

        receive(receivers[i], &arrivals, count);
        assert_int_equal(arrivals.bad, 0);
        assert_int_equal(arrivals.count, count);
        assert_int_equal(arrivals.bytes, length);
        expect_nothing(receivers[i]);
        receivers[i]->ops->close(receivers[i]);
    }
    expect_nothing(sender);
    sender->ops->close(sender);
}

static void exchange_all(bool plain, bool plain_receiver)
{
    exchange(plain, plain_receiver, 1, PAYLOAD);
    exchange(plain, plain_receiver, PAYLOAD, PAYLOAD);
    exchange(plain, plain_receiver, PAYLOAD + 1, PAYLOAD);
    exchange(plain, plain_receiver, 44 * PAYLOAD, PAYLOAD);
    exchange(plain, plain_receiver, 64 * PAYLOAD - 1, PAYLOAD);
    exchange(plain, plain_receiver, 700 * PAYLOAD + 77, PAYLOAD);
    exchange(plain, plain_receiver, 300 * 100 + 7, 100);
}

static void test_segmented(void **state)
{
    (void) state;
    exchange_all(false, false);
}

static void test_plain(void **state)
{
    (void) state;
    exchange_all(true, true);
}

static void test_segmented_to_plain(void **state)
{
    (void) state;
    exchange_all(false, true);
}

static void test_plain_to_segmented(void **state)
{
    (void) state;
    exchange_all(true, false);
}

/* Counts what arrives, whatever it is. */
static void count_bytes(void *arg, const oc_origin_t *from, const uint8_t *bytes, size_t length)
{
    arrivals_t *arrivals = arg;

    (void) bytes;
    arrivals->from = *from;
    arrivals->count++;
    arrivals->bytes += length;
}

/* A socket that has joined as anybody could. */
static int join_by_hand(const char *group)
{
    struct sockaddr_in own = {.sin_family = AF_INET, .sin_port = htons(PORT)};
    struct ip_mreqn membership = {.imr_ifindex = (int) interface.index};
    int fd = socket(AF_INET, SOCK_DGRAM | SOCK_NONBLOCK, 0), one = 1;

    assert_int_equal(inet_pton(AF_INET, group, &membership.imr_multiaddr), 1);
    own.sin_addr = membership.imr_multiaddr;
    assert_int_equal(setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one)), 0);
    assert_int_equal(bind(fd, (struct sockaddr *) &own, sizeof(own)), 0);
    assert_int_equal(setsockopt(fd, IPPROTO_IP, IP_ADD_MEMBERSHIP, &membership,
                                sizeof(membership)), 0);
    return fd;
}

/* Segmentation is really used: all comes as the six messages that it takes. */
static void test_one_message(void **state)
{
    oc_transport_t *sender = open_udp("239.192.7.1", false);
    static uint8_t bytes[65536];
    int fd = join_by_hand("239.192.7.1"), one = 1;

    (void) state;
    if (0 != setsockopt(fd, IPPROTO_UDP, UDP_GRO, &one, sizeof(one))) {
        close(fd);
        sender->ops->close(sender);
        skip();
    }
    send_block(sender, 64 * PAYLOAD, PAYLOAD);
    for (unsigned i = 0; i < 5; i++) {
        assert_int_equal(recv(fd, bytes, sizeof(bytes), 0), 11 * SIZE);
    }
    assert_int_equal(recv(fd, bytes, sizeof(bytes), 0), 9 * SIZE);
    close(fd);
    sender->ops->close(sender);
}

/* The UDP header by hand: from any port, though the transport has it. */
static void send_raw(const char *from, in_port_t port)
{
    struct sockaddr_in own = {.sin_family = AF_INET}, to = {.sin_family = AF_INET};
    uint16_t datagram[] = {port, htons(PORT), htons(10), 0, 0x4141};
    int fd = socket(AF_INET, SOCK_RAW, IPPROTO_UDP);

    assert_int_equal(inet_pton(AF_INET, from, &own.sin_addr), 1);
    assert_int_equal(inet_pton(AF_INET, "239.192.7.1", &to.sin_addr), 1);
    assert_int_equal(bind(fd, (struct sockaddr *) &own, sizeof(own)), 0);
    assert_int_equal(setsockopt(fd, IPPROTO_IP, IP_MULTICAST_IF, &own.sin_addr,
                                sizeof(own.sin_addr)), 0);
    assert_int_equal(sendto(fd, datagram, sizeof(datagram), 0, (struct sockaddr *) &to,
                            sizeof(to)), sizeof(datagram));
    close(fd);
}

/* What another host sends from the same port is not one's own. */
static void test_same_port(void **state)
{
    oc_transport_t *transport = open_udp("239.192.7.1", false);
    int fd = join_by_hand("239.192.7.1");
    struct sockaddr_in from;
    socklen_t length = sizeof(from);
    arrivals_t arrivals = {0};
    uint8_t byte;

    (void) state;
    send_block(transport, 1, PAYLOAD);
    assert_int_equal(recvfrom(fd, &byte, 1, 0, (struct sockaddr *) &from, &length), 1);
    assert_int_equal(from.sin_addr.s_addr, htonl(INADDR_LOOPBACK));
    send_raw("127.0.0.1", from.sin_port);
    expect_nothing(transport);
    send_raw("127.0.0.9", from.sin_port);
    assert_int_equal(transport->ops->receive(transport, 64, count_bytes, &arrivals), 1);
    assert_int_equal(arrivals.bytes, 2);
    assert_int_equal(arrivals.from.port, ntohs(from.sin_port));
    assert_memory_equal(arrivals.from.address, "\0\0\0\0\0\0\0\0\0\0\xff\xff\x7f\0\0\x09", 16);
    close(fd);
    transport->ops->close(transport);
}

/* All that a process sends, to whatever address, comes from what it says. */
static void one_source(bool plain)
{
    oc_udp_config_t configs[] = {config_of("239.192.7.1", plain), config_of("239.192.7.2", plain)};
    oc_udp_source_t source;
    char error[256];

    assert_int_equal(oc_udp_source_open(&interface, OC_UDP_SEND_BUFFER, &source, error,
                                        sizeof(error)), OC_OK);
    for (unsigned i = 0; i < 2; i++) {
        oc_transport_t *receiver = open_with(&configs[i]), *sender;
        arrivals_t arrivals = {0};

        configs[i].source = &source;
        sender = open_with(&configs[i]);
        send_block(sender, 100 * PAYLOAD, PAYLOAD);
        receive(receiver, &arrivals, 100);
        assert_int_equal(arrivals.count, 100);
        assert_memory_equal(&arrivals.from, &source.origin, sizeof(source.origin));
        expect_nothing(sender);
        sender->ops->close(sender);
        receiver->ops->close(receiver);
    }
    oc_udp_source_close(&source);
}

static void test_one_source(void **state)
{
    (void) state;
    one_source(false);
    one_source(true);
}

/* What is sent to the port, but not to the group, does not arrive. */
static void test_unicast(void **state)
{
    oc_transport_t *transport = open_udp("239.192.7.1", false);
    struct sockaddr_in to = {.sin_family = AF_INET, .sin_port = htons(PORT),
                             .sin_addr = {htonl(INADDR_LOOPBACK)}};
    struct in_addr loopback = to.sin_addr;
    int fd = socket(AF_INET, SOCK_DGRAM, 0);

    (void) state;
    assert_int_equal(setsockopt(fd, IPPROTO_IP, IP_MULTICAST_IF, &loopback, sizeof(loopback)), 0);
    for (unsigned i = 0; i < 3; i++) {
        (void) sendto(fd, "x", 1, 0, (struct sockaddr *) &to, sizeof(to));
    }
    expect_nothing(transport);
    assert_int_equal(inet_pton(AF_INET, "239.192.7.1", &to.sin_addr), 1);
    assert_int_equal(sendto(fd, "x", 1, 0, (struct sockaddr *) &to, sizeof(to)), 1);
    assert_int_equal(transport->ops->receive(transport, 64, count_bytes, &(arrivals_t) {0}), 1);
    close(fd);
    transport->ops->close(transport);
}

/* Any lengths are sent as they are, in order, in as many sends as it takes. */
static void mixed_lengths(bool plain)
{
    static const size_t lengths[] = {100,     100,         50,      50, 200, 0, 0, PAYLOAD,
                                     PAYLOAD, PAYLOAD - 1, PAYLOAD, 1,  2};
    enum { COUNT = sizeof(lengths) / sizeof(lengths[0]) };
    oc_transport_t *transport = open_udp("239.192.7.1", plain);
    oc_transport_t *receiver = open_udp("239.192.7.1", plain);
    oc_outgoing_t batch[COUNT];
    arrivals_t arrivals = {0};
    size_t offset = 0;

    for (unsigned i = 0; i < COUNT; i++) {
        oc_datagram_t header = {.kind = OC_DATAGRAM_FRAGMENT, .index = i,
                                .length = (uint16_t) lengths[i]};

        batch[i] = (oc_outgoing_t) {.payload = block + offset, .length = lengths[i]};
        oc_datagram_encode(&header, batch[i].header);
        offset += lengths[i];
    }
    assert_int_equal(transport->ops->send(transport, batch, COUNT), COUNT);
    receive(receiver, &arrivals, COUNT);
    assert_int_equal(arrivals.bad, 0);
    assert_int_equal(arrivals.count, COUNT);
    transport->ops->close(transport);
    receiver->ops->close(receiver);
}

static void test_mixed_lengths(void **state)
{
    (void) state;
    mixed_lengths(false);
    mixed_lengths(true);
}

/* What the network refuses counts as taken; what is smaller goes through all the same. */
static void too_large(bool plain)
{
    oc_transport_t *transport = open_udp("239.192.7.1", plain);
    oc_transport_t *receiver = open_udp("239.192.7.1", plain);
    oc_outgoing_t batch[OC_MAX_BATCH];
    arrivals_t arrivals = {0};
    unsigned count = fill(batch, 0, 0, 8 * (PAYLOAD + 1), PAYLOAD + 1);
    int fd = join_by_hand("239.192.7.1");
    uint8_t byte;

    assert_int_equal(count, 8);
    assert_int_equal(transport->ops->send(transport, batch, count), count);
    expect_nothing(receiver);
    /* nor was it dropped there: it has not been sent, in fragments */
    assert_int_equal(recv(fd, &byte, 1, 0), -1);
    close(fd);
    count = send_block(transport, 10 * PAYLOAD, PAYLOAD);
    receive(receiver, &arrivals, count);
    assert_int_equal(arrivals.count, count);
    assert_int_equal(arrivals.bad, 0);
    transport->ops->close(transport);
    receiver->ops->close(receiver);
}

static void test_too_large(void **state)
{
    (void) state;
    too_large(false);
    too_large(true);
}

static int open_stranger(struct sockaddr_in *to)
{
    struct in_addr from = {.s_addr = htonl(INADDR_LOOPBACK)};
    int fd = socket(AF_INET, SOCK_DGRAM, 0);

    *to = (struct sockaddr_in) {.sin_family = AF_INET, .sin_port = htons(PORT)};
    assert_int_equal(inet_pton(AF_INET, "239.192.7.1", &to->sin_addr), 1);
    assert_int_equal(setsockopt(fd, IPPROTO_IP, IP_MULTICAST_IF, &from, sizeof(from)), 0);
    return fd;
}

/* Datagrams that no transport like this sends are dropped, and nothing else with them. */
static void foreign(bool plain)
{
    oc_transport_t *transport = open_udp("239.192.7.1", plain);
    struct sockaddr_in to;
    arrivals_t arrivals = {0};
    int fd = open_stranger(&to);

    for (size_t length = 0; length <= 3 * SIZE; length += SIZE / 2) {
        assert_int_equal(sendto(fd, block, length, 0, (struct sockaddr *) &to, sizeof(to)), length);
    }
    /* of 0, 736 and 1472 bytes, not of 2208 and more */
    assert_int_equal(transport->ops->receive(transport, 64, count_bytes, &arrivals), 3);
    assert_int_equal(arrivals.count, 3);
    assert_int_equal(arrivals.bytes, 736 + 1472);
    expect_nothing(transport);
    close(fd);
    transport->ops->close(transport);
}

/* However many they are, whoever receives comes back soon. */
static void test_flood(void **state)
{
    oc_transport_t *transport = open_udp("239.192.7.1", false);
    struct sockaddr_in to;
    arrivals_t arrivals = {0};
    int fd = open_stranger(&to);

    (void) state;
    for (unsigned i = 0; i <= 40; i++) {
        size_t length = i < 40 ? 2 * SIZE : 1;

        assert_int_equal(sendto(fd, block, length, 0, (struct sockaddr *) &to, sizeof(to)), length);
    }
    for (unsigned i = 0; i < 4; i++) {
        assert_int_equal(transport->ops->receive(transport, 10, count_bytes, &arrivals), 0);
    }
    assert_int_equal(transport->ops->receive(transport, 10, count_bytes, &arrivals), 1);
    close(fd);
    transport->ops->close(transport);
}

static void test_foreign(void **state)
{
    (void) state;
    foreign(false);
    foreign(true);
}

/* Other addresses, and other ports, are other transports. */
static void test_isolation(void **state)
{
    oc_transport_t *here = open_udp("239.192.7.1", false);
    oc_transport_t *there = open_udp("239.192.7.2", false);
    oc_udp_config_t config = config_of("239.192.7.1", false);
    oc_transport_t *port;

    (void) state;
    config.port = PORT + 1;
    port = open_with(&config);
    send_block(here, 10 * PAYLOAD, PAYLOAD);
    expect_nothing(there);
    expect_nothing(port);
    here->ops->close(here);
    there->ops->close(there);
    port->ops->close(port);
}

/* What does not fit is not lost: arm says that there is more though the socket is empty. */
static void test_receive_in_parts(void **state)
{
    oc_transport_t *transport = open_udp("239.192.7.1", false);
    oc_transport_t *receiver = open_udp("239.192.7.1", false);
    unsigned count = send_block(transport, 50 * PAYLOAD, PAYLOAD), calls = 0;
    arrivals_t arrivals = {0};

    (void) state;
    while (arrivals.count < count && calls < 50) {
        unsigned before = arrivals.count;
        unsigned n = receiver->ops->receive(receiver, 7, arrived, &arrivals);

        assert_int_equal(n, arrivals.count - before);
        assert_in_range(n, 1, 7);
        if (arrivals.count < 44) {
            assert_false(receiver->ops->arm(receiver, false));
        }
        calls++;
    }
    assert_int_equal(arrivals.count, count);
    assert_int_equal(arrivals.bad, 0);
    assert_true(receiver->ops->arm(receiver, false));
    transport->ops->close(transport);
    receiver->ops->close(receiver);
}

static int wait_for(oc_transport_t *transport, bool sending, int milliseconds)
{
    struct pollfd event = {.fd = transport->event_fd};

    assert_true(transport->ops->arm(transport, sending));
    event.events = transport->events;
    return poll(&event, 1, milliseconds);
}

/* The descriptor wakes for room if somebody sends, and for what arrives, and for nothing else. */
static void test_arm(void **state)
{
    oc_transport_t *transport = open_udp("239.192.7.1", false);
    oc_transport_t *receiver = open_udp("239.192.7.1", false);
    arrivals_t arrivals = {0};

    (void) state;
    assert_int_equal(wait_for(transport, false, 20), 0);
    assert_int_equal(wait_for(transport, true, 2000), 1);
    assert_int_equal(wait_for(transport, false, 20), 0);
    send_block(transport, 1, PAYLOAD);
    assert_int_equal(wait_for(transport, false, 20), 0);
    assert_int_equal(wait_for(receiver, false, 2000), 1);
    receive(receiver, &arrivals, 1);
    assert_int_equal(wait_for(receiver, false, 20), 0);
    transport->ops->close(transport);
    receiver->ops->close(receiver);
}

/* 16 Mbit/s are 2 bytes a microsecond; there may be as much again as credit. */
static void test_rate(void **state)
{
    oc_udp_config_t config = config_of("239.192.7.1", false);
    oc_transport_t *transport;
    uint64_t begin, took;

    (void) state;
    config.rate = 16;
    transport = open_with(&config);
    begin = oc_clock_ns();
    send_block(transport, 200 * PAYLOAD, PAYLOAD);
    took = oc_clock_ns() - begin;
    /* 300,000 bytes with headers: 150 ms, but for 2 ms of credit and the last datagram */
    assert_in_range(took, 140 * OC_MILLISECOND, 5 * OC_SECOND);
    transport->ops->close(transport);
}

/* Who is held back by time must not be woken up by room in the socket. */
static void test_rate_and_arm(void **state)
{
    oc_udp_config_t config = config_of("239.192.7.1", false);
    oc_interface_t large = interface;
    oc_transport_t *transport;
    oc_outgoing_t batch[OC_MAX_BATCH];
    unsigned count = fill(batch, 0, 0, sizeof(block), 8000);

    (void) state;
    large.mtu = 9000;
    config.interface = &large;
    config.rate = 1;
    transport = open_with(&config);
    /* takes 64 ms, though the network does not take it */
    assert_int_equal(transport->ops->send(transport, batch, count), 1);
    assert_int_equal(transport->ops->send(transport, batch + 1, count - 1), 0);
    assert_int_equal(wait_for(transport, true, 20), 0);
    usleep(50000);
    assert_int_equal(wait_for(transport, true, 2000), 1);
    transport->ops->close(transport);
}

/* A sender that sleeps reaches its rate: what it did not use is there when it wakes up. */
static void test_rate_credit(void **state)
{
    oc_udp_config_t config = config_of("239.192.7.1", false);
    oc_transport_t *transport;
    oc_outgoing_t batch[OC_MAX_BATCH];
    unsigned count = fill(batch, 0, 0, OC_MAX_BATCH * PAYLOAD, PAYLOAD), taken;

    (void) state;
    config.rate = 160;
    transport = open_with(&config);
    taken = transport->ops->send(transport, batch, count);
    /* 2 ms at 20 bytes a microsecond: 40,000 bytes, or 26.7 datagrams of 1500 */
    assert_int_equal(taken, 27);
    transport->ops->close(transport);
}

/* On an interface that is no loopback, which needs to be told that there are others on the host. */
static void test_other_interface(void **state)
{
    oc_interface_t saved = interface;
    struct in_addr any = {0};
    oc_transport_t *elsewhere;
    char error[256];

    (void) state;
    if (0 != system("ip link add v0 type veth peer name v1 && ip link set v0 up && "
                    "ip link set v1 up && ip address add 10.1.0.1/24 dev v0")) {
        skip();
    }
    elsewhere = open_udp("239.192.7.1", false);
    assert_int_equal(oc_interface_find("v0", any, &interface, error, sizeof(error)), OC_OK);
    exchange_all(false, false);
    exchange_all(true, true);
    interface = saved;
    expect_nothing(elsewhere);
    elsewhere->ops->close(elsewhere);
    assert_int_equal(system("ip link delete v0"), 0);
}

static unsigned open_descriptors(void)
{
    DIR *folder = opendir("/proc/self/fd");
    unsigned count = 0;

    assert_non_null(folder);
    while (NULL != readdir(folder)) {
        count++;
    }
    closedir(folder);
    return count;
}

static void test_no_leak(void **state)
{
    oc_udp_config_t config = config_of("239.192.7.1", false);
    unsigned before = open_descriptors();
    oc_transport_t *transport;
    char error[256];

    (void) state;
    for (unsigned i = 0; i < 1000; i++) {
        config.group.s_addr = htonl(0xefc00700u + i);
        transport = open_with(&config);
        transport->ops->close(transport);
    }
    config.group.s_addr = htonl(0x0a000001u);
    for (unsigned i = 0; i < 10; i++) {
        assert_int_equal(oc_udp_open(&config, &transport, error, sizeof(error)), OC_ERR_SYSTEM);
    }
    assert_int_equal(open_descriptors(), before);
}

/* As many addresses at once as a job may have, twice. */
static void test_many(void **state)
{
    enum { MANY = 32 };
    oc_transport_t *transports[MANY];
    oc_udp_config_t config = config_of("239.192.7.1", false);

    (void) state;
    for (unsigned i = 0; i < MANY; i++) {
        config.group.s_addr = htonl(0xefc00700u + i);
        transports[i] = open_with(&config);
    }
    for (unsigned i = 0; i < MANY; i++) {
        transports[i]->ops->close(transports[i]);
    }
}

static void expect_error(const oc_udp_config_t *config, oc_status_t status, const char *part)
{
    oc_transport_t *transport;
    char error[256] = "";

    assert_int_equal(oc_udp_open(config, &transport, error, sizeof(error)), status);
    if (NULL == strstr(error, part)) {
        fail_msg("\"%s\" is not in \"%s\"", part, error);
    }
}

static void test_errors(void **state)
{
    oc_udp_config_t config = config_of("239.192.7.1", false);
    oc_interface_t other = interface;
    struct sockaddr_in own = {.sin_family = AF_INET, .sin_port = htons(PORT + 2)};
    int fd = socket(AF_INET, SOCK_DGRAM, 0);

    (void) state;
    config.interface = &other;
    other.index = 4711;
    expect_error(&config, OC_ERR_SYSTEM, "cannot send from lo: IP_MULTICAST_IF: ");
    other = interface;
    other.mtu = OC_DATAGRAM_MIN + 27;
    expect_error(&config, OC_ERR_INVALID, "the MTU of lo is 283");
    other = interface;
    assert_int_equal(bind(fd, (struct sockaddr *) &own, sizeof(own)), 0);
    config.port = PORT + 2;
    expect_error(&config, OC_ERR_SYSTEM, "choose another port");
    close(fd);
}

static void test_sizes(void **state)
{
    oc_udp_config_t config = config_of("239.192.7.1", false);
    oc_interface_t other = interface;
    static const struct {
        unsigned mtu;
        size_t size;
    } sizes[] = {{284, 256}, {1500, 1472}, {9000, 8972}, {9001, 8972}, {65536, 8972}};

    (void) state;
    config.interface = &other;
    for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
        oc_transport_t *transport;

        other.mtu = sizes[i].mtu;
        transport = open_with(&config);
        assert_int_equal(transport->datagram_size, sizes[i].size);
        transport->ops->close(transport);
    }
}

/* What the kernel gives without privileges, by default: net.core.rmem_max. */
#define USUAL_STAGING 212992u

/* Sends so many datagrams of the block, from number first on, each of them full. */
static void send_some(oc_transport_t *transport, unsigned first, unsigned count, size_t payload)
{
    uint64_t deadline = oc_clock_ns() + 10 * OC_SECOND;

    while (count > 0 && oc_clock_ns() < deadline) {
        oc_outgoing_t batch[OC_MAX_BATCH];
        unsigned filled = fill(batch, first, first * payload, count * payload, payload);
        unsigned taken = transport->ops->send(transport, batch, filled);

        first += taken;
        count -= taken;
    }
    assert_int_equal(count, 0);
}

/* As many as it keeps are under way all the time, while it is read in small parts. */
static void keep_all(const oc_interface_t *on, bool plain, bool plain_receiver)
{
    oc_udp_config_t from = config_of("239.192.7.1", plain);
    oc_udp_config_t to = config_of("239.192.7.1", plain_receiver);
    oc_transport_t *sender, *receiver;
    arrivals_t arrivals = {0};
    unsigned sent = 0, total;
    size_t payload;

    from.interface = to.interface = on;
    to.staging = USUAL_STAGING;
    sender = open_with(&from);
    receiver = open_with(&to);
    payload = receiver->datagram_size - OC_DATAGRAM_HEADER;
    total = (unsigned) (sizeof(block) / payload);
    /* it is worth having */
    assert_true(receiver->staging * payload > USUAL_STAGING / 4 * 3);
    assert_int_equal(receiver->staging,
                     oc_udp_staging_expect(USUAL_STAGING, receiver->datagram_size));
    while (arrivals.count < total && 0 == arrivals.bad) {
        unsigned most = arrivals.count + receiver->staging, before = arrivals.count;

        most = most < total ? most : total;
        send_some(sender, sent, most - sent, payload);
        sent = most;
        receive(receiver, &arrivals, before + 1);
        if (before == arrivals.count) {
            break;
        }
    }
    assert_int_equal(arrivals.bad, 0);
    assert_int_equal(arrivals.count, total);
    sender->ops->close(sender);
    receiver->ops->close(receiver);
}

static void test_staging_keeps_what_it_says(void **state)
{
    oc_interface_t jumbo = interface;

    (void) state;
    for (unsigned i = 0; i < 4; i++) {
        keep_all(&interface, 0 != (i & 1), 0 != (i & 2));
    }
    jumbo.mtu = 9000;
    assert_true(own_network_mtu("lo", 9000));
    for (unsigned i = 0; i < 4; i++) {
        keep_all(&jumbo, 0 != (i & 1), 0 != (i & 2));
    }
    assert_true(own_network_mtu("lo", 1500));
}

static void keep_log(oc_log_level_t level, const char *line)
{
    (void) level;
    snprintf(last_log, sizeof(last_log), "%s", line);
}

/* Who is not allowed more than net.core.rmem_max is told what to do. */
static void test_small_staging(void **state)
{
    oc_udp_config_t config = config_of("239.192.7.1", false);
    oc_transport_t *transport;

    (void) state;
    config.staging = 1u << 30;
    last_log[0] = '\0';
    /* root is allowed more; who is not root is already somebody else */
    (void) !seteuid(65534);
    transport = open_with(&config);
    (void) !seteuid(0);
    transport->ops->close(transport);
    assert_non_null(strstr(last_log, "net.core.rmem_max"));
    assert_non_null(strstr(last_log, "1073741824"));
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_segmented),
        cmocka_unit_test(test_plain),
        cmocka_unit_test(test_segmented_to_plain),
        cmocka_unit_test(test_plain_to_segmented),
        cmocka_unit_test(test_one_message),
        cmocka_unit_test(test_same_port),
        cmocka_unit_test(test_one_source),
        cmocka_unit_test(test_unicast),
        cmocka_unit_test(test_mixed_lengths),
        cmocka_unit_test(test_too_large),
        cmocka_unit_test(test_foreign),
        cmocka_unit_test(test_flood),
        cmocka_unit_test(test_isolation),
        cmocka_unit_test(test_receive_in_parts),
        cmocka_unit_test(test_arm),
        cmocka_unit_test(test_rate),
        cmocka_unit_test(test_rate_and_arm),
        cmocka_unit_test(test_rate_credit),
        cmocka_unit_test(test_other_interface),
        cmocka_unit_test(test_no_leak),
        cmocka_unit_test(test_many),
        cmocka_unit_test(test_errors),
        cmocka_unit_test(test_sizes),
        cmocka_unit_test(test_staging_keeps_what_it_says),
        cmocka_unit_test(test_small_staging),
    };
    struct in_addr group = {.s_addr = htonl(0xefc00701u)};
    char error[256];

    alarm(60);
    if (!own_network_enter() || !own_network_mtu("lo", 1500)) {
        return OWN_NETWORK_SKIPPED;
    }
    if (OC_OK != oc_interface_find("lo", group, &interface, error, sizeof(error))) {
        printf("no loopback: %s\n", error);
        return 1;
    }
    oc_log_set_sink(keep_log);
    oc_log_set_level(OC_LOG_INFO);
    for (size_t i = 0; i < sizeof(block); i++) {
        block[i] = (uint8_t) (i * 2654435761u >> 13);
    }
    return cmocka_run_group_tests(tests, NULL, NULL);
}
