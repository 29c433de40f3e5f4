/* SPDX-License-Identifier: BSD-3-Clause */
/* Owns the engine's tests of what a server tells the ranks of a group of a later epoch when one of them leaves it. */
/* Test: default 60; sanitizers: all 300 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "tests/engine/harness.h"
#include "tests/engine/member.h"

#define RANKS       3u
#define GROUP       UINT64_C(0x5000)
#define MADE_UP     UINT64_C(0x4d41444500000000)
#define PATIENCE_MS 20000
#define A_WHILE_MS  300
#define HAS_LEFT    "a rank has left it after the loss of a server"

static test_server_t server = {.pid = -1};
static oc_job_t job;
static member_t members[RANKS];

static oc_control_t loss(void)
{
    static const char text[] = "a server of the list is gone";
    oc_control_t message = {.type = OC_CONTROL_LOST};

    assert_true(oc_lost_add(&message.loss.servers, MADE_UP));
    message.loss.text = (oc_bytes_t) {(const uint8_t *) text, sizeof(text) - 1};
    return message;
}

static void begin(void)
{
    const char *options[] = {"--aggregators", "1", NULL};
    oc_control_t lost = loss(), message;

    server_start(&server, options);
    fill_random(&job, sizeof(job));
    for (unsigned i = 0; i < RANKS; i++) {
        member_open(&members[i], server.port, &job, i);
        if (0 == i) {
            member_say(&members[i], &lost);
        }
        assert_true(member_hear(&members[i], &message, PATIENCE_MS));
        assert_int_equal(message.type, OC_CONTROL_LOST);
    }
}

static void end(void)
{
    for (unsigned i = 0; i < RANKS; i++) {
        member_close(&members[i], true);
    }
    assert_int_equal(server_stop(&server), 0);
}

static oc_join_t join_of(unsigned rank)
{
    oc_control_t lost = loss();
    oc_join_t join = {.num_ranks = RANKS, .rank = rank, .reply_handle = 7 + rank, .chunk_bytes = 16384, .window = 4,
                      .small_bytes = 8192, .epoch = oc_lost_epoch(&lost.loss.servers)};

    join.group = GROUP ^ join.epoch;
    return join;
}

static void join(unsigned rank)
{
    oc_join_t join = join_of(rank);

    (void) member_join(&members[rank], &join);
}

static void leave(unsigned rank, bool unsettled)
{
    oc_control_t message = {.type = OC_CONTROL_LEAVE}, lost = loss();

    message.leave = (oc_leave_t) {.group = GROUP ^ oc_lost_epoch(&lost.loss.servers), .rank = rank, .unsettled = unsettled};
    member_say(&members[rank], &message);
}

static void expect_refused(unsigned rank)
{
    member_expect(&members[rank], OC_CONTROL_GROUP_ERROR, HAS_LEFT, PATIENCE_MS);
}

static void expect_nothing(unsigned rank)
{
    oc_control_t message;

    assert_false(member_hear(&members[rank], &message, A_WHILE_MS));
}

/* Ranks that have settled the epoch do not need each other any more. */
static void test_settled(void **state)
{
    (void) state;
    begin();
    join(0);
    join(1);
    join(2);
    leave(0, false);
    expect_nothing(1);
    expect_nothing(2);
    leave(1, false);
    leave(2, false);
    end();
}

/* It leaves as it has waited in vain, and the last one has come just before. */
static void test_unsettled(void **state)
{
    (void) state;
    begin();
    join(0);
    join(1);
    join(2);
    leave(0, true);
    expect_refused(1);
    expect_refused(2);
    /* nobody hears of it twice */
    leave(1, true);
    expect_nothing(2);
    leave(2, true);
    /* and nothing of it is left: the same group can be joined again */
    join(0);
    expect_nothing(0);
    leave(0, true);
    end();
}

/* The last one comes later. */
static void test_early(void **state)
{
    oc_control_t late = {.type = OC_CONTROL_JOIN, .join = join_of(2)};

    (void) state;
    begin();
    join(0);
    join(1);
    leave(0, true);
    expect_refused(1);
    member_say(&members[2], &late);
    expect_refused(2);
    end();
}

static int clean(void **state)
{
    (void) state;
    server_kill(&server);
    return 0;
}

int main(int argc, char **argv)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(test_settled, clean),
        cmocka_unit_test_teardown(test_unsettled, clean),
        cmocka_unit_test_teardown(test_early, clean),
    };

    if (argc > 1) {
        cmocka_set_test_filter(argv[1]);
    }
    return cmocka_run_group_tests(tests, NULL, NULL);
}
