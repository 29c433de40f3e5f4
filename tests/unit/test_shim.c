/* SPDX-License-Identifier: BSD-3-Clause */
/* Owns the unit tests of injected faults: shares, bursts, order, memory, and their settings. */
/* Test: quick 120 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/faults/shim.h"

#define LENGTH 32u

#define SHARE "is a share from 0 to 1 with up to 18 digits"

/* The transport below: what is sent arrives, up to room. */
typedef struct {
    oc_transport_t base;
    uint32_t arriving[65536];
    unsigned first, count;
    unsigned room;           /* datagrams that it still takes */
    unsigned armed, closed;
    size_t length;
} below_t;

/* What the user of the shim got. */
typedef struct {
    uint32_t numbers[65536];
    unsigned count;
} got_t;

static below_t below;
static got_t got;
static uint64_t now;

static unsigned below_send(oc_transport_t *transport, const oc_outgoing_t *datagrams,
                           unsigned count)
{
    unsigned taken = 0;

    (void) transport;
    assert_true(count > 0);
    for (; taken < count && below.room > 0; taken++, below.room--) {
        memcpy(&below.arriving[below.count++], datagrams[taken].payload, sizeof(uint32_t));
    }
    return taken;
}

static unsigned below_receive(oc_transport_t *transport, unsigned max, oc_arrival_fn_t *arrived,
                              void *arg)
{
    uint8_t bytes[OC_DATAGRAM_MAX] = {0};
    oc_origin_t from = {.port = 0};
    unsigned count = 0;

    (void) transport;
    for (; count < max && below.first < below.count; count++) {
        memcpy(bytes, &below.arriving[below.first++], sizeof(uint32_t));
        memcpy(&from.port, bytes, sizeof(uint32_t));
        arrived(arg, &from, bytes, below.length);
    }
    return count;
}

static bool below_arm(oc_transport_t *transport, bool sending)
{
    transport->event_fd = 7;
    transport->events = sending ? 3 : 1;
    below.armed++;
    return below.first == below.count;
}

static void below_close(oc_transport_t *transport)
{
    (void) transport;
    below.closed++;
}

static const oc_transport_ops_t below_ops = {.name = "below", .send = below_send,
                                             .receive = below_receive, .arm = below_arm,
                                             .close = below_close};

static uint64_t tell_time(void *arg)
{
    (void) arg;
    return now;
}

/* Of each it says where it came from, however late it is. */
static void get(void *arg, const oc_origin_t *from, const uint8_t *bytes, size_t length)
{
    assert_ptr_equal(arg, &got);
    assert_int_equal(length, below.length);
    assert_memory_equal(&from->port, bytes, sizeof(uint32_t));
    memcpy(&got.numbers[got.count++], bytes, sizeof(uint32_t));
}

static oc_transport_t *open_shim(oc_faults_t faults, uint64_t salt)
{
    oc_transport_t *shim;

    memset(&below, 0, sizeof(below));
    memset(&got, 0, sizeof(got));
    below.base = (oc_transport_t) {.ops = &below_ops, .datagram_size = 1500, .event_fd = -1};
    below.room = UINT32_MAX;
    below.length = LENGTH;
    now = 1000000;
    shim = oc_shim_new(&below.base, &faults, salt, tell_time, NULL);
    assert_non_null(shim);
    assert_int_equal(shim->datagram_size, 1500);
    return shim;
}

static void close_shim(oc_transport_t *shim)
{
    shim->ops->close(shim);
    assert_int_equal(below.closed, 1);
}

static void arrive(unsigned count)
{
    for (unsigned i = 0; i < count; i++) {
        below.arriving[below.count] = below.count;
        below.count++;
    }
}

static void receive_all(oc_transport_t *shim)
{
    while (below.first < below.count) {
        unsigned before = got.count, count = shim->ops->receive(shim, 64, get, &got);

        assert_int_equal(count, got.count - before);
    }
}

static unsigned times_got(uint32_t number)
{
    unsigned times = 0;

    for (unsigned i = 0; i < got.count; i++) {
        times += got.numbers[i] == number;
    }
    return times;
}

static void test_no_faults(void **state)
{
    oc_transport_t *shim = open_shim((oc_faults_t) {0}, 1);

    (void) state;
    arrive(1000);
    receive_all(shim);
    assert_int_equal(got.count, 1000);
    for (unsigned i = 0; i < got.count; i++) {
        assert_int_equal(got.numbers[i], i);
    }
    assert_int_equal(shim->ops->receive(shim, 64, get, &got), 0);
    close_shim(shim);
}

static void test_at_most_max(void **state)
{
    oc_transport_t *shim = open_shim((oc_faults_t) {0}, 1);

    (void) state;
    arrive(100);
    assert_int_equal(shim->ops->receive(shim, 10, get, &got), 10);
    assert_int_equal(got.count, 10);
    close_shim(shim);
}

static void expect_share(double share, unsigned burst)
{
    oc_transport_t *shim = open_shim((oc_faults_t) {.drop = share, .burst = burst, .seed = 3}, 1);
    double lost;

    arrive(60000);
    receive_all(shim);
    lost = (60000 - got.count) / 60000.0;
    /* bursts are few: their number varies more */
    assert_true(lost > share * (burst > 1 ? 0.7 : 0.9) && lost < share * (burst > 1 ? 1.3 : 1.1));
    close_shim(shim);
}

static void test_share_lost(void **state)
{
    (void) state;
    expect_share(0.05, 0);
    expect_share(0.3, 1);
    expect_share(0.05, 10);
    expect_share(0.3, 100);
}

static void test_all_lost(void **state)
{
    oc_transport_t *shim = open_shim((oc_faults_t) {.drop = 1, .burst = 3}, 1);

    (void) state;
    arrive(1000);
    receive_all(shim);
    assert_int_equal(got.count, 0);
    close_shim(shim);
}

static void test_bursts_are_in_a_row(void **state)
{
    oc_transport_t *shim = open_shim((oc_faults_t) {.drop = 0.02, .burst = 50, .seed = 1}, 1);
    unsigned bursts = 0;

    (void) state;
    arrive(50000);
    receive_all(shim);
    for (unsigned i = 1; i < got.count; i++) {
        uint32_t missing = got.numbers[i] - got.numbers[i - 1] - 1;

        assert_int_equal(missing % 50, 0);
        bursts += missing > 0;
    }
    assert_in_range(bursts, 8, 40);
    close_shim(shim);
}

static void test_duplicates(void **state)
{
    oc_transport_t *shim = open_shim((oc_faults_t) {.duplicate = 0.2, .seed = 2}, 1);
    unsigned twice = 0;

    (void) state;
    arrive(2000);
    receive_all(shim);
    now += 1000000000;
    (void) shim->ops->receive(shim, 64, get, &got);
    for (uint32_t i = 0; i < 2000; i++) {
        unsigned times = times_got(i);

        assert_in_range(times, 1, 2);
        twice += 2 == times;
    }
    assert_in_range(twice, 300, 500);
    assert_int_equal(got.count, 2000 + twice);
    close_shim(shim);
}

static void test_reordering(void **state)
{
    oc_transport_t *shim = open_shim((oc_faults_t) {.reorder = 0.1, .seed = 4}, 1);
    unsigned late = 0;

    (void) state;
    arrive(2000);
    receive_all(shim);
    now += 1000000000;
    (void) shim->ops->receive(shim, 64, get, &got);
    assert_int_equal(got.count, 2000);
    for (unsigned i = 0; i < got.count; i++) {
        assert_int_equal(times_got(i), 1);
        assert_true(got.numbers[i] <= i + OC_SHIM_OVERTAKERS);
        late += got.numbers[i] < i;
    }
    assert_in_range(late, 100, 400);
    close_shim(shim);
}

static void test_reordered_last_one_comes(void **state)
{
    oc_transport_t *shim = open_shim((oc_faults_t) {.reorder = 1}, 1);
    uint64_t due;

    (void) state;
    arrive(1);
    receive_all(shim);
    assert_int_equal(got.count, 0);
    due = oc_shim_due(shim);
    assert_true(due > now && due <= now + 10000000);
    assert_true(shim->ops->arm(shim, false));
    now = due;
    assert_false(shim->ops->arm(shim, false));
    assert_int_equal(shim->ops->receive(shim, 64, get, &got), 1);
    assert_true(oc_shim_due(shim) == UINT64_MAX);
    close_shim(shim);
}

static void test_delay(void **state)
{
    oc_transport_t *shim = open_shim((oc_faults_t) {.delay = 1, .delay_ms = 500}, 1);
    uint64_t begin = now;

    (void) state;
    arrive(100);
    receive_all(shim);
    assert_int_equal(got.count, 0);
    now = begin + 250000000;
    (void) shim->ops->receive(shim, 64, get, &got);
    assert_in_range(got.count, 25, 75);
    now = begin + 500000000;
    (void) shim->ops->receive(shim, 64, get, &got);
    assert_int_equal(got.count, 100);
    close_shim(shim);
}

/* What is beyond the limits passes at once. */
static void test_bounded_memory(void **state)
{
    oc_transport_t *shim = open_shim((oc_faults_t) {.delay = 1, .delay_ms = 1000}, 1);

    (void) state;
    arrive(3 * OC_SHIM_MAX_HELD);
    receive_all(shim);
    assert_int_equal(got.count, 2 * OC_SHIM_MAX_HELD);
    close_shim(shim);

    shim = open_shim((oc_faults_t) {.delay = 1, .delay_ms = 1000}, 1);
    below.length = 60000;
    arrive(500);
    receive_all(shim);
    assert_int_equal(got.count, 500 - OC_SHIM_MAX_BYTES / 60000);
    close_shim(shim);
}

static unsigned send_some(oc_transport_t *shim, uint32_t first, unsigned count)
{
    oc_outgoing_t batch[OC_MAX_BATCH];
    uint32_t numbers[OC_MAX_BATCH];

    for (unsigned i = 0; i < count; i++) {
        numbers[i] = first + i;
        batch[i].payload = &numbers[i];
        batch[i].length = sizeof(numbers[i]);
    }
    return shim->ops->send(shim, batch, count);
}

static void test_sent_ones_lost(void **state)
{
    oc_transport_t *shim = open_shim((oc_faults_t) {.drop_sent = 0.25, .seed = 6}, 1);

    (void) state;
    for (uint32_t i = 0; i < 200; i++) {
        assert_int_equal(send_some(shim, 64 * i, 64), 64);
    }
    assert_in_range(below.count, 9000, 10200);
    for (unsigned i = 1; i < below.count; i++) {
        assert_true(below.arriving[i] > below.arriving[i - 1]);
    }
    close_shim(shim);
}

static void test_no_room_below(void **state)
{
    oc_transport_t *shim = open_shim((oc_faults_t) {.drop_sent = 0.25, .seed = 6}, 1);
    uint32_t next = 0;

    (void) state;
    while (next < 1000) {
        unsigned count = 1000 - next < 64 ? 1000 - next : 64, taken;

        below.room = 5;
        taken = send_some(shim, next, count);
        assert_true(taken <= count);
        assert_true(taken == count || 0 == below.room);
        next += taken;
    }
    assert_in_range(below.count, 650, 850);
    for (unsigned i = 1; i < below.count; i++) {
        assert_true(below.arriving[i] > below.arriving[i - 1]);
    }
    close_shim(shim);
}

static void test_same_seed_same_faults(void **state)
{
    const oc_faults_t faults = {.drop = 0.2, .duplicate = 0.1, .reorder = 0.1, .delay = 0.05,
                                .seed = 42};
    static got_t first;
    oc_transport_t *shim;

    (void) state;
    for (uint64_t salt = 5; salt < 7; salt++) {
        shim = open_shim(faults, 5);
        arrive(3000);
        receive_all(shim);
        close_shim(shim);
        first = got;
        shim = open_shim(faults, salt);
        arrive(3000);
        receive_all(shim);
        close_shim(shim);
        assert_int_equal(0 == memcmp(&first, &got, sizeof(got)), 5 == salt);
    }
}

static void test_arm(void **state)
{
    oc_transport_t *shim = open_shim((oc_faults_t) {0}, 1);

    (void) state;
    assert_true(shim->ops->arm(shim, true));
    assert_int_equal(shim->event_fd, 7);
    assert_int_equal(shim->events, 3);
    arrive(1);
    assert_false(shim->ops->arm(shim, false));
    assert_int_equal(shim->events, 1);
    close_shim(shim);
}

static void expect_error(const char *text, const char *expected)
{
    oc_faults_t faults;
    char error[256] = "";

    assert_int_equal(oc_faults_parse(text, &faults, error, sizeof(error)), OC_ERR_INVALID);
    assert_string_equal(error, expected);
}

static void test_settings(void **state)
{
    oc_faults_t faults;
    char error[256];

    (void) state;
    assert_int_equal(oc_faults_parse("", &faults, error, sizeof(error)), OC_OK);
    assert_false(oc_faults_any(&faults));
    assert_int_equal(oc_faults_parse("drop=0.125,duplicate=1,reorder=0,delay=1.0,burst=100,seed=7,"
                                     "delay_ms=250,drop_sent=0.5",
                                     &faults, error, sizeof(error)),
                     OC_OK);
    assert_true(oc_faults_any(&faults));
    assert_true(faults.drop == 0.125 && faults.duplicate == 1 && faults.reorder == 0
                && faults.delay == 1 && faults.drop_sent == 0.5);
    assert_int_equal(faults.burst, 100);
    assert_int_equal(faults.seed, 7);
    assert_int_equal(faults.delay_ms, 250);
    assert_int_equal(oc_faults_parse("drop=1,drop=0", &faults, error, sizeof(error)), OC_OK);
    assert_false(oc_faults_any(&faults));
}

static void test_wrong_settings(void **state)
{
    (void) state;
    expect_error("drop=1.5", "drop=1.5: drop " SHARE);
    expect_error("drop=-0.1", "drop=-0.1: drop " SHARE);
    expect_error("seed=1,delay=,drop=0", "delay=: delay " SHARE);
    expect_error("reorder=0.1x", "reorder=0.1x: reorder " SHARE);
    expect_error("reorder=0.", "reorder=0.: reorder " SHARE);
    expect_error("drop=0.1000000000000000000001", "drop=0.1000000000000000000001: drop " SHARE);
    expect_error("burst=0", "burst=0: burst is a number from 1 to 1000000");
    expect_error("burst=1000001", "burst=1000001: burst is a number from 1 to 1000000");
    expect_error("delay_ms=3600001",
                 "delay_ms=3600001: delay_ms is a number of milliseconds from 1 to 3600000");
    expect_error("seed=99999999999999999999999",
                 "seed=99999999999999999999999: seed is a number up to 10^18");
    expect_error("drop", "'drop' is not NAME=VALUE");
    expect_error("drop=0,", "nothing follows the last comma");
    expect_error(",drop=0", "'' is not NAME=VALUE");
    expect_error("lose=1", "there is no fault 'lose'; there are: drop, drop_sent, duplicate, "
                           "reorder, delay, burst, cut, delay_ms, seed");
    expect_error("drop=0000000000000000000000000000000000000000000000000000000000000000",
                 "'drop=0000000000000000000000000000000000000000000000000000000...' is too long");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_no_faults),
        cmocka_unit_test(test_at_most_max),
        cmocka_unit_test(test_share_lost),
        cmocka_unit_test(test_all_lost),
        cmocka_unit_test(test_bursts_are_in_a_row),
        cmocka_unit_test(test_duplicates),
        cmocka_unit_test(test_reordering),
        cmocka_unit_test(test_reordered_last_one_comes),
        cmocka_unit_test(test_delay),
        cmocka_unit_test(test_bounded_memory),
        cmocka_unit_test(test_sent_ones_lost),
        cmocka_unit_test(test_no_room_below),
        cmocka_unit_test(test_same_seed_same_faults),
        cmocka_unit_test(test_arm),
        cmocka_unit_test(test_settings),
        cmocka_unit_test(test_wrong_settings),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
