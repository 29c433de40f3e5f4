/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Owns the engine's tests of a process of a job that claims what is not: that servers are lost which are well, or that others
 * are back. Its own job moves, or ends; another one on the same servers notices nothing, and the servers stay.
 */
/* Test: default 180 -- test_living; all 400; sanitizers: all 600 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "tests/engine/member.h"
#include "tests/engine/traffic.h"

#define RANKS       3
#define OTHER_RANKS 2
#define LIAR        99u       /* its number in the job */
#define MADE_UP     UINT64_C(0x4d41444500000000)
#define NO_NUMBER   7777
#define REPEATED    5000u
#define GROWTH_KIB  (16 * 1024ull)

static const char *const options[] = {"--aggregators", "1", NULL};
static test_server_t servers[2] = {{.pid = -1}, {.pid = -1}};
static char list[160];
static traffic_t own, other;
static member_t liars[2];          /* one that is connected to each server */
static uint64_t incarnations[2];  /* of the servers, for the liar's job */

/* ---- the liar ---- */

static oc_lost_t said;

static void say_to(unsigned server)
{
    static const char text[] = "somebody says so";
    oc_control_t message = {.type = OC_CONTROL_LOST};

    message.loss.servers = said;
    message.loss.text = (oc_bytes_t) {(const uint8_t *) text, sizeof(text) - 1};
    member_say(&liars[server], &message);
}

static void say(void)
{
    say_to(0);
}

static void claim_lost(uint64_t incarnation)
{
    assert_true(oc_lost_add(&said, incarnation));
}

static void claim_back(uint64_t incarnation, uint16_t number)
{
    assert_true(oc_lost_add_returned(&said, (oc_returned_t) {.incarnation = incarnation, .number = number}));
}

/* One more process of the job, of no group. */
static void liar_come(unsigned server)
{
    oc_control_t message;

    member_greet(&liars[server], servers[server].port, &own.ranks.shared->job, LIAR + server);
    assert_true(member_hear(&liars[server], &message, 30000));
    assert_int_equal(message.type, OC_CONTROL_WELCOME);
    incarnations[server] = message.welcome.incarnation;
}

/* The server may have ended the connection before. */
static void liar_go(unsigned server)
{
    if (NULL != liars[server].worker) {
        member_close(&liars[server], true);
    }
}

/* Reads what the server has to say to it, and throws it away. */
static void liar_listen(void)
{
    oc_control_t message;

    while (member_hear(&liars[0], &message, 1)) {
    }
}

/* ---- jobs ---- */

static bool uses_both(const unsigned seen[TRAFFIC_VALUES])
{
    return 2 == seen[TRAFFIC_SERVERS];
}

static bool is_untouched(const unsigned seen[TRAFFIC_VALUES])
{
    return 0 == seen[TRAFFIC_RECOVERIES] && 0 == seen[TRAFFIC_RETURNS] && 2 == seen[TRAFFIC_SERVERS] && 0 == seen[TRAFFIC_ENDED];
}

static unsigned recoveries, returns;

static bool is_so_with_both(const unsigned seen[TRAFFIC_VALUES])
{
    return recoveries == seen[TRAFFIC_RECOVERIES] && returns == seen[TRAFFIC_RETURNS] && 2 == seen[TRAFFIC_SERVERS];
}

/* The second claim may come too late: the server that hears it has ended its service for the job. */
static bool has_both_back(const unsigned seen[TRAFFIC_VALUES])
{
    return seen[TRAFFIC_RECOVERIES] > 0 && seen[TRAFFIC_RETURNS] > 0 && 2 == seen[TRAFFIC_SERVERS];
}

/* Both servers are used in the end. */
static void expect_own(unsigned num_recoveries, unsigned num_returns)
{
    recoveries = num_recoveries;
    returns = num_returns;
    TRAFFIC_AWAIT(&own, is_so_with_both);
}

static oc_job_settings_t job_settings(void)
{
    oc_job_settings_t settings = test_settings(list);

    settings.recovery = 1;
    settings.connect_timeout = 20;
    settings.heartbeat_timeout = 60; /* no server is suspected, and the machine may be busy */
    return settings;
}

static void begin_own(void)
{
    oc_job_settings_t settings = job_settings();

    memset(&said, 0, sizeof(said));
    traffic_start(&own, RANKS, &settings, NULL);
    TRAFFIC_AWAIT(&own, uses_both);
}

static void begin_other(void)
{
    oc_job_settings_t settings = job_settings();

    traffic_start(&other, OTHER_RANKS, &settings, NULL);
    TRAFFIC_AWAIT(&other, uses_both);
}

static void begin_servers(void)
{
    for (unsigned i = 0; i < 2; i++) {
        char listen[32];

        snprintf(listen, sizeof(listen), "127.0.0.1:%u", free_port());
        server_start_at(&servers[i], listen, options);
    }
    snprintf(list, sizeof(list), "%s,%s", servers[0].address, servers[1].address);
}

static void begin(void)
{
    begin_servers();
    begin_own();
    begin_other();
}

static void end_other(void)
{
    TRAFFIC_AWAIT(&other, is_untouched);
    traffic_stop(&other);
    for (unsigned i = 0; i < 2; i++) {
        assert_int_equal(server_stop(&servers[i]), 0);
    }
}

static void end(void)
{
    traffic_stop(&own);
    end_other();
}

/* ---- servers that are well ---- */

/* Sooner than a process that waits for its ranks to come back. */
static void expect_gone(pid_t pid)
{
    uint64_t end = oc_clock_ns() + 8 * OC_SECOND;

    while (memory_kib_of(pid, "VmRSS") > 0) {
        assert_true(oc_clock_ns() < end);
        usleep(10000);
    }
}

/* Another one, and the one that hears it: each is left, and comes back for another process of its. */
static void test_living(void **state)
{
    pid_t pid;

    (void) state;
    begin();
    pid = child_of(servers[1].pid);
    liar_come(0);
    liar_come(1);
    liar_go(1);
    claim_lost(incarnations[1]);
    say();
    expect_gone(pid);
    expect_own(1, 1);
    claim_lost(incarnations[0]);
    say();
    expect_own(2, 2);
    liar_go(0);
    end();
}

/* No server is left: the ranks aggregate until they are back. */
static void test_living_all(void **state)
{
    (void) state;
    begin();
    liar_come(0);
    liar_come(1);
    liar_go(1);
    claim_lost(incarnations[0]);
    claim_lost(incarnations[1]);
    say();
    expect_own(1, 2);
    liar_go(0);
    end();
}

/* Each server hears that the other one is lost, and so their ranks, some this first, and some that. */
static void test_living_crosswise(void **state)
{
    (void) state;
    begin();
    liar_come(0);
    liar_come(1);
    claim_lost(incarnations[1]);
    say_to(0);
    memset(&said, 0, sizeof(said));
    claim_lost(incarnations[0]);
    say_to(1);
    TRAFFIC_AWAIT(&own, has_both_back);
    liar_go(0);
    liar_go(1);
    end();
}

/* ---- servers that never were ---- */

/* It is an epoch like others, with the same servers; said again, it is none. */
static void test_made_up(void **state)
{
    (void) state;
    begin();
    liar_come(0);
    for (unsigned i = 0; i < 10; i++) {
        claim_lost(MADE_UP + 10 * i);
    }
    say();
    expect_own(1, 0);
    for (unsigned i = 0; i < REPEATED; i++) {
        say();
        if (0 == i % 100) {
            liar_listen();
        }
    }
    TRAFFIC_HOLD(&own, is_so_with_both, 500);
    /* of no server, and of one that is there */
    claim_back(MADE_UP + 1, NO_NUMBER);
    claim_back(MADE_UP + 2, 1);
    claim_back(MADE_UP + 3, UINT16_MAX);
    say();
    expect_own(1, 3);
    TRAFFIC_HOLD(&own, is_so_with_both, 500);
    liar_go(0);
    end();
}

/* One after the other, and whoever says so does not hear the answers. They go on meanwhile, and the server keeps no more. */
static void test_many(void **state)
{
    unsigned long long before;
    pid_t pid;

    (void) state;
    begin();
    liar_come(0);
    pid = child_of(servers[0].pid);
    before = memory_kib_of(pid, "VmRSS");
    assert_true(before > 0);
    for (unsigned i = 0; i < OC_MAX_LOST; i++) {
        claim_lost(MADE_UP + i);
        say();
        usleep(1000);
    }
    TRAFFIC_AWAIT(&own, uses_both);
    liar_listen();
    assert_true(!MEASURES_MEMORY || memory_kib_of(pid, "VmRSS") < before + GROWTH_KIB);
    /* that is one too many */
    memset(&said, 0, sizeof(said));
    claim_lost(MADE_UP + OC_MAX_LOST);
    say();
    traffic_expect_failure(&own, "the job has lost more than 256 servers");
    liar_go(0);
    end_other();
}

/* The same of those that are back. */
static void test_many_back(void **state)
{
    (void) state;
    begin();
    liar_come(0);
    for (unsigned i = 0; i < OC_MAX_LOST; i++) {
        claim_back(MADE_UP + i, NO_NUMBER);
    }
    say();
    expect_own(0, OC_MAX_LOST);
    memset(&said, 0, sizeof(said));
    claim_back(MADE_UP + OC_MAX_LOST, 0);
    say();
    traffic_expect_failure(&own, "or more have returned");
    liar_go(0);
    end_other();
}

/* ---- what is no list ---- */

static void make_descending(void)
{
    claim_lost(MADE_UP);
    claim_lost(MADE_UP + 1);
    said.servers[0] = MADE_UP + 2;
}

static void make_repeated(void)
{
    claim_lost(MADE_UP);
    claim_lost(MADE_UP + 1);
    said.servers[1] = MADE_UP;
}

static void make_zero(void)
{
    claim_lost(MADE_UP);
    said.servers[0] = 0;
}

static void make_empty(void)
{
}

static void make_repeated_back(void)
{
    claim_back(MADE_UP, 0);
    claim_back(MADE_UP + 1, 1);
    said.returned[1].incarnation = MADE_UP;
}

/* It ends the job, as all that is no message. */
static void test_no_list(void **state)
{
    static void (*const makers[])(void) = {make_descending, make_repeated, make_zero, make_empty, make_repeated_back};

    (void) state;
    begin_servers();
    begin_other();
    for (unsigned i = 0; i < sizeof(makers) / sizeof(makers[0]); i++) {
        begin_own();
        liar_come(0);
        makers[i]();
        say();
        traffic_expect_failure(&own, "sent what is not a message");
        liar_go(0);
    }
    end_other();
}

/* ---- a comeback that is none ---- */

static bool has_lost_one(const unsigned seen[TRAFFIC_VALUES])
{
    return 1 == seen[TRAFFIC_RECOVERIES] && 0 == seen[TRAFFIC_RETURNS] && 1 == seen[TRAFFIC_SERVERS];
}

static bool has_tried(const unsigned seen[TRAFFIC_VALUES])
{
    return 2 == seen[TRAFFIC_RECOVERIES] && 1 == seen[TRAFFIC_RETURNS] && 1 == seen[TRAFFIC_SERVERS];
}

static bool has_it_back(const unsigned seen[TRAFFIC_VALUES])
{
    return 1 == seen[TRAFFIC_RECOVERIES] && 1 == seen[TRAFFIC_RETURNS] && 2 == seen[TRAFFIC_SERVERS];
}

static char address[64];

/* Both jobs have lost the second server. */
static void begin_without(void)
{
    begin();
    liar_come(0);
    snprintf(address, sizeof(address), "%s", servers[1].address);
    server_kill(&servers[1]);
    TRAFFIC_AWAIT(&own, has_lost_one);
    TRAFFIC_AWAIT(&other, has_lost_one);
    claim_back(MADE_UP, 1);
}

/* It is back, and was tried once before. */
static void end_with_both(void)
{
    expect_own(2, 2);
    TRAFFIC_AWAIT(&other, has_it_back);
    liar_go(0);
    traffic_stop(&own);
    traffic_stop(&other);
    for (unsigned i = 0; i < 2; i++) {
        assert_int_equal(server_stop(&servers[i]), 0);
    }
}

/* A server is dead, and somebody says that it is back: nobody finds it. When it is, it is taken. */
static void test_too_soon(void **state)
{
    (void) state;
    begin_without();
    say();
    TRAFFIC_AWAIT(&own, has_tried);
    TRAFFIC_HOLD(&other, has_lost_one, 100);
    server_start_at(&servers[1], address, options);
    end_with_both();
}

/* While all ranks of the job look for what was made up, they find another process there. */
static void test_somebody_else(void **state)
{
    (void) state;
    begin_without();
    say();
    server_start_at(&servers[1], address, options);
    end_with_both();
}

static int clean(void **state)
{
    (void) state;
    traffic_kill(&own);
    traffic_kill(&other);
    for (unsigned i = 0; i < 2; i++) {
        liar_go(i);
        server_kill(&servers[i]);
    }
    return 0;
}

int main(int argc, char **argv)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(test_living, clean),
        cmocka_unit_test_teardown(test_living_all, clean),
        cmocka_unit_test_teardown(test_living_crosswise, clean),
        cmocka_unit_test_teardown(test_made_up, clean),
        cmocka_unit_test_teardown(test_many, clean),
        cmocka_unit_test_teardown(test_many_back, clean),
        cmocka_unit_test_teardown(test_no_list, clean),
        cmocka_unit_test_teardown(test_too_soon, clean),
        cmocka_unit_test_teardown(test_somebody_else, clean),
    };

    if (argc > 1) {
        cmocka_set_test_filter(argv[1]);
    }
    return cmocka_run_group_tests(tests, NULL, NULL);
}
