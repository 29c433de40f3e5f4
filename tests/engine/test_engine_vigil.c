/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Owns the engine's tests of flood tests that a server watches for a client: what it sees, what it
 * refuses, and when it ends. The network is one of this test's own, with two ends of a cable in it.
 */
/* Test: default 120 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <arpa/inet.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "multicast/flood/flood_test.h"
#include "tests/engine/harness.h"
#include "tests/engine/member.h"
#include "tests/unit/own_network.h"

#define PATIENCE_MS 20000

#define PROBES 0xefc00b01u
#define MARKS  0xefc00b02u
#define SERVER 0x0a4d0001u   /* 10.77.0.1, on v0 */

/* The bounds of a server. */
#define MOST_OF_JOB  4u
#define MOST_OF_HOST 4u

static const uint8_t key[OC_JOB_KEY_SIZE] = {5, 4, 3};
static test_server_t server;

static oc_lookout_t lookout_of(uint64_t token)
{
    oc_lookout_t lookout = {.token = token, .probes.s_addr = htonl(PROBES),
                            .marks.s_addr = htonl(MARKS), .port = 8919};

    memcpy(lookout.key, key, sizeof(key));
    return lookout;
}

static void say_watch(member_t *member, const oc_lookout_t *lookout)
{
    oc_control_t message = {.type = OC_CONTROL_WATCH, .lookout = *lookout};

    member_say(member, &message);
}

static void say_look(member_t *member, uint64_t token)
{
    oc_control_t message = {.type = OC_CONTROL_LOOK, .look = token};

    member_say(member, &message);
}

static void expect_sight(member_t *member, uint64_t token, oc_view_t view, const char *part)
{
    char text[OC_MAX_TEXT + 1];
    oc_control_t message;

    assert_true(member_hear(member, &message, PATIENCE_MS));
    assert_int_equal(message.type, OC_CONTROL_SIGHT);
    oc_control_text(&message.sight.text, text, sizeof(text));
    print_message("view %u: %s\n", message.sight.view, text);
    assert_int_equal(message.sight.token, token);
    assert_int_equal(message.sight.view, view);
    assert_non_null(strstr(text, part));
}

static void open_member(member_t *member)
{
    oc_job_t job;

    fill_random(&job, sizeof(job));
    member_open(member, server.port, &job, 0);
}

static void expect_alive(member_t *member)
{
    oc_control_t message = {.type = OC_CONTROL_PING, .ping = 77};

    member_say(member, &message);
    assert_true(member_hear(member, &message, PATIENCE_MS));
    assert_int_equal(message.type, OC_CONTROL_PONG);
}

static void begin(member_t *member, uint64_t token)
{
    oc_lookout_t lookout = lookout_of(token);

    say_watch(member, &lookout);
    expect_sight(member, token, OC_VIEW_OPEN, "v0");
}

static void start_on_cable(void)
{
    member_peer = SERVER;
    server_start_at(&server, "10.77.0.1:0", NULL);
}

/* At the other end of the cable. */
static void send_all(uint64_t token)
{
    oc_flood_place_t place = {.probes.s_addr = htonl(PROBES), .marks.s_addr = htonl(MARKS),
                              .port = 8919, .token = token};
    oc_flood_test_t *test;
    char error[256];

    assert_int_equal(oc_interface_find("v1", place.probes, &place.interface, error, sizeof(error)),
                     OC_OK);
    test = oc_flood_test_new(&place, OC_FLOOD_SENDER, key);
    assert_non_null(test);
    while (!oc_flood_test_is_sent(test, oc_clock_ns())) {
        oc_flood_test_progress(test, oc_clock_ns());
        usleep(300);
    }
    oc_flood_test_free(test);
}

static void test_flooded(void **state)
{
    oc_lookout_t lookout = lookout_of(2);
    member_t member;

    (void) state;
    start_on_cable();
    open_member(&member);
    begin(&member, 1);
    say_watch(&member, &lookout);
    expect_sight(&member, 2, OC_VIEW_NONE, "under way");
    say_look(&member, 2);
    expect_sight(&member, 2, OC_VIEW_NONE, "no such test");
    send_all(1);
    say_look(&member, 1);
    expect_sight(&member, 1, OC_VIEW_FLOODED, "v0");
    say_look(&member, 1);
    expect_sight(&member, 1, OC_VIEW_NONE, "no such test");
    /* nobody else of the job has to find out */
    say_watch(&member, &lookout);
    expect_sight(&member, 2, OC_VIEW_NONE, "knows already");
    expect_alive(&member);
    member_close(&member, true);
    assert_int_equal(server_stop(&server), 0);
}

/* Turns rest. */
static void await_next(void)
{
    sleep(5);
}

/* Nothing comes, and then it does not go on for ever. What is refused for its port counts, too. */
static void test_silence(void **state)
{
    oc_lookout_t lookout = lookout_of(3), wrong = lookout_of(4);
    member_t member;

    (void) state;
    wrong.port = 1;
    start_on_cable();
    open_member(&member);
    for (unsigned i = 0; i < MOST_OF_JOB - 2; i++) {
        begin(&member, i);
        say_look(&member, i);
        expect_sight(&member, i, OC_VIEW_BLIND, "v0");
        say_watch(&member, &lookout);
        expect_sight(&member, 3, OC_VIEW_NONE, "has just had one");
        await_next();
    }
    say_watch(&member, &wrong);
    expect_sight(&member, 4, OC_VIEW_NONE, "no test may use");
    begin(&member, 99);
    sleep(12);
    say_look(&member, 99);
    expect_sight(&member, 99, OC_VIEW_NONE, "no such test");
    await_next();
    for (unsigned i = 0; i < 2; i++) {
        say_watch(&member, &lookout);
        expect_sight(&member, 3, OC_VIEW_NONE, "has tried 4 times");
    }
    expect_alive(&member);
    member_close(&member, true);
    assert_int_equal(server_stop(&server), 0);
}

/* A process that goes takes its test with it, in order or not, and others have their turn. */
static void test_turns(void **state)
{
    oc_lookout_t lookout = lookout_of(8);
    member_t members[MOST_OF_HOST], last;

    (void) state;
    start_on_cable();
    for (unsigned i = 0; i < MOST_OF_HOST; i++) {
        open_member(&members[i]);
        begin(&members[i], i);
    }
    open_member(&last);
    say_watch(&last, &lookout);
    expect_sight(&last, 8, OC_VIEW_NONE, "other tests are under way");
    /* one that is over is kept for a while, unless its job ends */
    say_look(&members[2], 2);
    expect_sight(&members[2], 2, OC_VIEW_BLIND, "v0");
    say_watch(&last, &lookout);
    expect_sight(&last, 8, OC_VIEW_NONE, "other tests are under way");
    member_close(&members[0], true);
    member_close(&members[1], false);
    sleep(1);
    begin(&last, 9);
    for (unsigned i = 2; i < MOST_OF_HOST; i++) {
        expect_alive(&members[i]);
        member_close(&members[i], true);
    }
    /* this one goes in the middle, and the server is stopped */
    member_close(&last, true);
    assert_int_equal(server_stop(&server), 0);
}

static void refuse(member_t *member, oc_lookout_t lookout, const char *part)
{
    say_watch(member, &lookout);
    expect_sight(member, lookout.token, OC_VIEW_NONE, part);
    expect_alive(member);
}

static void test_refusals(void **state)
{
    static const uint32_t addresses[] = {0, 0x0a4d0001u, 0xe0000001u, 0xe00000ffu, 0xf0000000u,
                                         0xffffffffu, 0xe0000101u, 0xe8c00b01u, 0xeec00b01u,
                                         0xef0000ffu, 0xef000001u, 0xef800001u, 0xf0c00b01u};
    oc_lookout_t lookout;
    member_t member;

    (void) state;
    start_on_cable();
    for (unsigned i = 0; i < sizeof(addresses) / sizeof(addresses[0]); i++) {
        open_member(&member);
        say_look(&member, 1);
        expect_sight(&member, 1, OC_VIEW_NONE, "no such test");
        lookout = lookout_of(i);
        lookout.probes.s_addr = htonl(addresses[i]);
        refuse(&member, lookout, "no test may use");
        lookout = lookout_of(i);
        lookout.marks.s_addr = htonl(addresses[i]);
        refuse(&member, lookout, "no test may use");
        member_close(&member, true);
    }
    open_member(&member);
    lookout = lookout_of(50);
    lookout.marks = lookout.probes;
    refuse(&member, lookout, "no test may use");
    lookout = lookout_of(51);
    lookout.port = 1023;
    refuse(&member, lookout, "no test may use");
    member_close(&member, true);
    assert_int_equal(server_stop(&server), 0);
    /* a network that has no switches */
    member_peer = 0;
    server_start(&server, NULL);
    open_member(&member);
    refuse(&member, lookout_of(52), "delivers multicast to nobody who has not joined");
    member_close(&member, true);
    assert_int_equal(server_stop(&server), 0);
}

/* What one end sends arrives at the other, though both are of this host. */
static bool lay_cable(void)
{
    return 0 == system("ip link add v0 type veth peer name v1 && "
                       "ip addr add 10.77.0.1/24 dev v0 && ip addr add 10.77.0.2/24 dev v1 && "
                       "ip link set v0 up && ip link set v1 up && "
                       "echo 1 >/proc/sys/net/ipv4/conf/v0/accept_local && "
                       "echo 0 >/proc/sys/net/ipv4/conf/all/rp_filter && "
                       "echo 0 >/proc/sys/net/ipv4/conf/v0/rp_filter");
}

int main(int argc, char **argv)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_flooded),
        cmocka_unit_test(test_silence),
        cmocka_unit_test(test_turns),
        cmocka_unit_test(test_refusals),
    };

    if (argc > 1) {
        cmocka_set_test_filter(argv[1]);
    }
    alarm(300);
    if (!own_network_enter()) {
        return OWN_NETWORK_SKIPPED;
    }
    if (!lay_cable()) {
        printf("SKIP: no pair of virtual interfaces for the test\n");
        return OWN_NETWORK_SKIPPED;
    }
    /* data has its own way, which there is none of here */
    setenv("OPTCAST_UCX_TLS", "tcp", 1);
    setenv("OPTCAST_UCX_NET_DEVICES", "lo", 1);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
