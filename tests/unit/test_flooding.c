/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Owns the unit tests of the parts that hosts have in a flood test: who sends and who watches, on a
 * loopback of its own, which gives everything to everybody.
 */
/* Test: quick 60 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <arpa/inet.h>
#include <string.h>

#include "base/clock.h"
#include "base/descriptors.h"
#include "base/limits.h"
#include "multicast/flood/flood_test.h"
#include "multicast/transport/flood_socket.h"
#include "multicast/transport/watch_counters.h"
#include "tests/unit/own_network.h"

bool __real_oc_watch_counters_read(oc_watch_counters_t *counters,
                                   uint64_t values[OC_WATCH_COUNTERS]);
bool __wrap_oc_watch_counters_read(oc_watch_counters_t *counters,
                                   uint64_t values[OC_WATCH_COUNTERS]);

static unsigned reads;

bool __wrap_oc_watch_counters_read(oc_watch_counters_t *counters,
                                   uint64_t values[OC_WATCH_COUNTERS])
{
    reads++;
    return __real_oc_watch_counters_read(counters, values);
}

static const uint8_t job_key[OC_JOB_KEY_SIZE] = {3, 2, 1};
static oc_flood_place_t place;
static bool looks_at_packets;

static oc_flood_test_t *begin(oc_flood_role_t role, uint64_t token)
{
    oc_flood_place_t own = place;
    oc_flood_test_t *test;

    own.token = token;
    test = oc_flood_test_new(&own, role, job_key);
    assert_non_null(test);
    return test;
}

/* Nobody here has joined the address of its probes. */
static void begin_sender(oc_flood_sender_t *sender, oc_mac_t **seal)
{
    *seal = oc_flood_seal_new(job_key, place.token);
    assert_non_null(*seal);
    oc_flood_sender_open(sender, &place, *seal);
    assert_false(sender->over);
}

static void end_sender(oc_flood_sender_t *sender, oc_mac_t *seal)
{
    oc_flood_sender_close(sender);
    oc_flood_sender_close(sender);
    oc_mac_free(seal);
}

/* Whoever watches is there all the time, or only some time after the end. */
static void send_all(oc_flood_sender_t *sender, oc_flood_test_t *watcher, bool there)
{
    uint64_t begin = oc_clock_ns();

    assert_int_equal(sender->due, UINT64_MAX);
    oc_flood_sender_begin(sender, begin);
    while (!sender->over) {
        oc_flood_sender_progress(sender, oc_clock_ns());
        if (there) {
            oc_flood_test_progress(watcher, oc_clock_ns());
        }
        usleep(200);
    }
    assert_int_equal(sender->due, UINT64_MAX);
    assert_true(oc_clock_ns() - begin >= 480 * OC_MILLISECOND);
    if (!there) {
        usleep(10000);
    }
}

static oc_flood_verdict_t watch(bool there)
{
    oc_flood_test_t *watcher = begin(OC_FLOOD_WATCHER, place.token);
    oc_flood_sender_t sender;
    oc_flood_verdict_t verdict;
    oc_mac_t *seal;

    assert_true(oc_flood_test_fd(watcher) >= 0);
    assert_int_equal(oc_flood_test_due(watcher), UINT64_MAX);
    assert_true(oc_flood_test_is_sent(watcher, 0));
    begin_sender(&sender, &seal);
    send_all(&sender, watcher, there);
    verdict = oc_flood_test_verdict(watcher);
    end_sender(&sender, seal);
    oc_flood_test_free(watcher);
    return verdict;
}

static void test_flood(void **state)
{
    (void) state;
    assert_int_equal(watch(true), OC_FLOOD_FLOODED);
}

/* Counters say nothing any more, packets do. */
static void test_late_watcher(void **state)
{
    (void) state;
    assert_int_equal(watch(false), looks_at_packets ? OC_FLOOD_FLOODED : OC_FLOOD_UNKNOWN);
}

static void test_silence(void **state)
{
    oc_flood_test_t *watcher = begin(OC_FLOOD_WATCHER, place.token);

    (void) state;
    oc_flood_test_progress(watcher, 0);
    assert_int_equal(oc_flood_test_verdict(watcher), OC_FLOOD_BLIND);
    oc_flood_test_free(watcher);
}

static void send_mark(int fd, oc_mac_t *seal, uint32_t slot)
{
    oc_flood_frame_t frame = {.kind = OC_FLOOD_FRAME_MARK, .slot = slot};
    struct sockaddr_in to = {.sin_family = AF_INET, .sin_addr = place.marks,
                             .sin_port = htons(place.port)};
    uint8_t bytes[OC_FLOOD_FRAME_SIZE];

    oc_flood_frame_encode(seal, place.token, &frame, bytes);
    assert_int_equal(sendto(fd, bytes, sizeof(bytes), 0, (struct sockaddr *) &to, sizeof(to)),
                     sizeof(bytes));
}

/* Whoever plays marks back makes nobody read counters again. */
static void test_replay(void **state)
{
    oc_flood_test_t *watcher = begin(OC_FLOOD_WATCHER, place.token);
    oc_mac_t *seal = oc_flood_seal_new(job_key, place.token);
    int fd = oc_flood_socket_open(&place.interface);

    (void) state;
    assert_non_null(seal);
    assert_true(fd >= 0);
    reads = 0;
    for (uint32_t slot = 0; slot <= OC_FLOOD_SLOTS; slot++) {
        for (uint32_t old = 0; old <= slot; old++) {
            send_mark(fd, seal, slot - old);
        }
        usleep(1000);
        oc_flood_test_progress(watcher, oc_clock_ns());
        assert_int_equal(reads, slot + 1);
    }
    close(fd);
    oc_mac_free(seal);
    oc_flood_test_free(watcher);
}

/* One that has other things to do sends a burst in parts. */
static void test_parts(void **state)
{
    oc_flood_sender_t sender;
    uint64_t now = 5000;
    unsigned parts = 0;
    oc_mac_t *seal;

    (void) state;
    begin_sender(&sender, &seal);
    sender.most = 7;
    oc_flood_sender_begin(&sender, now);
    while (!sender.over) {
        uint32_t slot = sender.slot, sent = sender.marked ? sender.sent : 0;

        now = sender.due > now ? sender.due : now;
        oc_flood_sender_progress(&sender, now);
        assert_true(sender.over || sender.sent <= sent + 7);
        parts += sender.sent > sent && OC_PHASE_QUIET != oc_flood_phase(slot);
    }
    assert_int_equal(parts, 2 * OC_FLOOD_ROUNDS * 10);
    end_sender(&sender, seal);
}

/* Who asks for a test learns nothing about the interfaces of the host but whether it may be. */
static void test_place(void **state)
{
    oc_flood_place_t one = place;
    char error[256];

    (void) state;
    assert_int_not_equal(oc_flood_place_find("nowhere0", &one, error, sizeof(error)), OC_OK);
    assert_string_equal(error, "multicast cannot be watched on this interface");
    assert_int_equal(oc_flood_place_find("lo", &one, error, sizeof(error)), OC_ERR_INVALID);
    assert_non_null(strstr(error, "to nobody who has not joined"));
}

/* What another group sends is not counted as its own, and a loopback has nothing else. */
static void test_other_group(void **state)
{
    oc_flood_test_t *watcher = begin(OC_FLOOD_WATCHER, place.token + 1);
    oc_flood_sender_t sender;
    oc_mac_t *seal;

    (void) state;
    begin_sender(&sender, &seal);
    send_all(&sender, watcher, true);
    assert_int_equal(oc_flood_test_verdict(watcher), OC_FLOOD_BLIND);
    end_sender(&sender, seal);
    oc_flood_test_free(watcher);
}

/* Somebody on this host has joined the address, of another job maybe. */
static void test_joined(void **state)
{
    oc_flood_test_t *member = begin(OC_FLOOD_MEMBER, place.token + 1);

    (void) state;
    assert_true(oc_flood_has_joined(&place.interface, place.probes));
    assert_int_equal(oc_flood_test_fd(member), -1);
    assert_int_equal(watch(true), OC_FLOOD_UNKNOWN);
    assert_int_equal(oc_flood_test_verdict(member), OC_FLOOD_BLIND);
    oc_flood_test_free(member);
    assert_false(oc_flood_has_joined(&place.interface, place.probes));
    assert_int_equal(watch(true), OC_FLOOD_FLOODED);
}

/* The test of rank 0: it joins, sends when it has heard all, and not before. */
static void test_sender(void **state)
{
    oc_flood_test_t *test = begin(OC_FLOOD_SENDER, place.token);
    uint64_t now = 5000;

    (void) state;
    assert_true(oc_flood_has_joined(&place.interface, place.probes));
    assert_int_equal(oc_flood_test_due(test), UINT64_MAX);
    oc_flood_test_progress(test, now);
    while (!oc_flood_test_is_sent(test, now)) {
        now = oc_flood_test_due(test);
        oc_flood_test_progress(test, now);
    }
    assert_int_equal(oc_flood_test_verdict(test), OC_FLOOD_BLIND);
    oc_flood_test_free(test);
    oc_flood_test_free(NULL);
}

/* Who has nothing to do, and who cannot: both are blind, and hold up nobody. */
static void test_idle(void **state)
{
    oc_flood_test_t *idle = begin(OC_FLOOD_IDLE, place.token), *lost;
    oc_interface_t interface = place.interface;

    (void) state;
    assert_true(oc_flood_test_is_sent(idle, 0));
    assert_int_equal(oc_flood_test_verdict(idle), OC_FLOOD_BLIND);
    oc_flood_test_free(idle);
    place.interface.index = 0x7fffffff;
    place.interface.address.s_addr = htonl(0x0a090807);
    lost = begin(OC_FLOOD_SENDER, place.token);
    assert_true(oc_flood_test_is_sent(lost, 0));
    oc_flood_test_free(lost);
    lost = begin(OC_FLOOD_WATCHER, place.token);
    oc_flood_test_progress(lost, 0);
    assert_int_equal(oc_flood_test_verdict(lost), OC_FLOOD_BLIND);
    oc_flood_test_free(lost);
    place.interface = interface;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_flood),
        cmocka_unit_test(test_late_watcher),
        cmocka_unit_test(test_silence),
        cmocka_unit_test(test_other_group),
        cmocka_unit_test(test_joined),
        cmocka_unit_test(test_sender),
        cmocka_unit_test(test_idle),
        cmocka_unit_test(test_replay),
        cmocka_unit_test(test_parts),
        cmocka_unit_test(test_place),
    };
    char error[256];
    int fd;

    alarm(60);
    if (!own_network_enter()) {
        return OWN_NETWORK_SKIPPED;
    }
    place = (oc_flood_place_t) {.probes = {.s_addr = htonl(0xefc00701u)},
                                .marks = {.s_addr = htonl(0xefc00702u)},
                                .port = 8919, .token = 0x1234567812345678ull};
    if (OC_OK != oc_interface_find("lo", place.probes, &place.interface, error, sizeof(error))) {
        printf("no loopback: %s\n", error);
        return 1;
    }
    fd = socket(AF_PACKET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    looks_at_packets = fd >= 0;
    if (fd >= 0) {
        close(fd);
    }
    return cmocka_run_group_tests(tests, NULL, NULL);
}
