/* SPDX-License-Identifier: BSD-3-Clause */
/* Owns the unit tests of the event loop: one event at a time, changes and removals at any time. */
/* Test: quick 120 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/clock.h"
#include "net/loop.h"

typedef struct {
    oc_watch_t watch;
    unsigned calls;
    uint32_t events;
} counter_t;

static oc_loop_t loop;

static void count(oc_watch_t *watch, uint32_t events)
{
    counter_t *counter = (counter_t *) watch;

    counter->calls++;
    counter->events = events;
}

static counter_t make(int fd)
{
    return (counter_t) {.watch = {.fd = fd, .ready = count}};
}

static void raise_event(int fd)
{
    uint64_t one = 1;

    assert_int_equal(write(fd, &one, sizeof(one)), sizeof(one));
}

static void test_timeout(void **state)
{
    uint64_t before = oc_clock_ns();

    (void) state;
    assert_int_equal(oc_loop_once(&loop, 0), 0);
    assert_int_equal(oc_loop_once(&loop, 50), 0);
    assert_true(oc_clock_ns() - before >= 45 * OC_MILLISECOND);
}

static void test_one_at_a_time(void **state)
{
    counter_t counters[3];

    (void) state;
    for (int i = 0; i < 3; i++) {
        counters[i] = make(eventfd(1, EFD_NONBLOCK));
        assert_int_equal(oc_loop_add(&loop, &counters[i].watch, EPOLLIN), OC_OK);
    }
    for (unsigned round = 1; round <= 30; round++) {
        assert_int_equal(oc_loop_once(&loop, 1000), 1);
        assert_int_equal(counters[0].calls + counters[1].calls + counters[2].calls, round);
    }
    for (int i = 0; i < 3; i++) {
        /* level-triggered, and nobody starves */
        assert_int_equal(counters[i].calls, 10);
        assert_int_equal(counters[i].events, EPOLLIN);
        oc_loop_remove(&loop, &counters[i].watch);
        close(counters[i].watch.fd);
    }
    assert_int_equal(oc_loop_once(&loop, 0), 0);
}

static void test_change(void **state)
{
    int pair[2];
    counter_t counter;

    (void) state;
    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, pair), 0);
    counter = make(pair[0]);
    assert_int_equal(oc_loop_add(&loop, &counter.watch, EPOLLIN), OC_OK);
    assert_int_equal(oc_loop_once(&loop, 0), 0);
    oc_loop_change(&loop, &counter.watch, EPOLLIN | EPOLLOUT);
    assert_int_equal(oc_loop_once(&loop, 0), 1);
    assert_int_equal(counter.events, EPOLLOUT);
    oc_loop_change(&loop, &counter.watch, EPOLLIN);
    assert_int_equal(oc_loop_once(&loop, 0), 0);
    close(pair[1]);
    assert_int_equal(oc_loop_once(&loop, 0), 1);
    assert_true(counter.events & EPOLLHUP);
    oc_loop_remove(&loop, &counter.watch);
    close(pair[0]);
}

typedef struct couple {
    oc_watch_t watch;
    struct couple *other;
} couple_t;

static unsigned survivors;

/* Frees both: an event of the other that was already seen would now be a use after free. */
static void free_both(oc_watch_t *watch, uint32_t events)
{
    couple_t *couple = (couple_t *) watch, *other = couple->other;

    (void) events;
    oc_loop_remove(&loop, &couple->watch);
    oc_loop_remove(&loop, &other->watch);
    close(couple->watch.fd);
    close(other->watch.fd);
    free(couple);
    free(other);
    survivors--;
}

static void test_free_in_callback(void **state)
{
    couple_t *couples[2];

    (void) state;
    survivors = 1;
    for (int i = 0; i < 2; i++) {
        couples[i] = calloc(1, sizeof(couple_t));
        couples[i]->watch = (oc_watch_t) {.fd = eventfd(1, EFD_NONBLOCK), .ready = free_both};
        assert_int_equal(oc_loop_add(&loop, &couples[i]->watch, EPOLLIN), OC_OK);
    }
    couples[0]->other = couples[1];
    couples[1]->other = couples[0];
    assert_int_equal(oc_loop_once(&loop, 1000), 1);
    assert_int_equal(oc_loop_once(&loop, 0), 0);
    assert_int_equal(survivors, 0);
}

typedef struct {
    counter_t counter;
    oc_watch_t *other;
} silencer_t;

static void silence(oc_watch_t *watch, uint32_t events)
{
    silencer_t *silencer = (silencer_t *) watch;

    count(watch, events);
    oc_loop_change(&loop, silencer->other, 0);
}

/* Both are readable, and whoever comes first wants no more of the other: it hears nothing. */
static void test_change_in_callback(void **state)
{
    silencer_t both[2];

    (void) state;
    for (int i = 0; i < 2; i++) {
        both[i] = (silencer_t) {.counter = make(eventfd(1, EFD_NONBLOCK)),
                                .other = &both[1 - i].counter.watch};
        both[i].counter.watch.ready = silence;
        assert_int_equal(oc_loop_add(&loop, &both[i].counter.watch, EPOLLIN), OC_OK);
    }
    for (unsigned round = 0; round < 5; round++) {
        assert_int_equal(oc_loop_once(&loop, 1000), 1);
    }
    assert_int_equal(both[0].counter.calls + both[1].counter.calls, 5);
    assert_true(0 == both[0].counter.calls || 0 == both[1].counter.calls);
    for (int i = 0; i < 2; i++) {
        oc_loop_remove(&loop, &both[i].counter.watch);
        close(both[i].counter.watch.fd);
    }
}

static void test_bad_descriptor(void **state)
{
    counter_t counter = make(-1), twice;

    (void) state;
    assert_int_equal(oc_loop_add(&loop, &counter.watch, EPOLLIN), OC_ERR_SYSTEM);
    twice = make(eventfd(0, EFD_NONBLOCK));
    assert_int_equal(oc_loop_add(&loop, &twice.watch, EPOLLIN), OC_OK);
    assert_int_equal(oc_loop_add(&loop, &twice.watch, EPOLLIN), OC_ERR_SYSTEM);
    raise_event(twice.watch.fd);
    assert_int_equal(oc_loop_once(&loop, 1000), 1);
    oc_loop_remove(&loop, &twice.watch);
    close(twice.watch.fd);
}

static int setup(void **state)
{
    (void) state;
    return OC_OK == oc_loop_open(&loop) ? 0 : -1;
}

static int teardown(void **state)
{
    (void) state;
    oc_loop_close(&loop);
    oc_loop_close(&loop);
    return -1 == loop.epoll_fd ? 0 : -1;
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_timeout),
        cmocka_unit_test(test_one_at_a_time),
        cmocka_unit_test(test_change),
        cmocka_unit_test(test_free_in_callback),
        cmocka_unit_test(test_change_in_callback),
        cmocka_unit_test(test_bad_descriptor),
    };

    alarm(30);
    return cmocka_run_group_tests(tests, setup, teardown);
}
