/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Owns the engine's tests of servers that come back other than they were: with less memory, as a leaf, or with too many
 * aggregators. The job does without them, however often they come, and takes one that is as it should be.
 */
/* Test: default 120 -- test_narrow; all 400; sanitizers: all 600 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <unistd.h>

#include "client/servers/membership.h"
#include "tests/engine/visitor.h"

/* In that time a server that could be taken back would be. */
#define LONG_MS 3500

static visitor_t visitor;

/* ---- what a group can use, where that is to be less than it is ---- */

static uint32_t most_aggregators = UINT32_MAX;

uint32_t __real_oc_membership_most(const oc_group_t *group);
uint32_t __wrap_oc_membership_most(const oc_group_t *group);

uint32_t __wrap_oc_membership_most(const oc_group_t *group)
{
    uint32_t most = __real_oc_membership_most(group);

    return most < most_aggregators ? most : most_aggregators;
}

/* It was taken back at least once by now, and had to go, and after the next time so again. */
static void expect_sent_away(void)
{
    unsigned returns;

    TRAFFIC_AWAIT(&visitor.traffic, visitor_sent_away);
    returns = traffic_seen(&visitor.traffic, 0, TRAFFIC_RETURNS);
    usleep(LONG_MS * 1000);
    TRAFFIC_AWAIT(&visitor.traffic, visitor_sent_away);
    /* no second of which it would not be tried, without the account of comebacks */
    assert_in_range(traffic_seen(&visitor.traffic, 0, TRAFFIC_RETURNS), returns, returns + 1);
}

/* ---- with less than before ---- */

/* There is room for smaller chunks only, and what runs is cut for larger ones. */
static void test_narrow(void **state)
{
    oc_job_settings_t settings = visitor_settings(20);

    (void) state;
    settings.chunk_size = 256 << 10;
    visitor_begin_away(&visitor, &settings, "2", NULL);
    visitor_come(&visitor, "2", "--memory-limit", "1M");
    expect_sent_away();
    visitor_go(&visitor);
    visitor_come(&visitor, "2", NULL, NULL);
    TRAFFIC_AWAIT(&visitor.traffic, visitor_back_for_good);
    visitor_end(&visitor);
}

/* There is no room for the group at all: JOIN is refused. */
static void test_full(void **state)
{
    oc_job_settings_t settings = visitor_settings(20);

    (void) state;
    settings.small_size = 16384;
    visitor_begin_away(&visitor, &settings, "1", NULL);
    visitor_come(&visitor, "32", "--memory-limit", "1M");
    expect_sent_away();
    assert_true(server_said(&visitor.server, "cannot join a group: it needs", 100));
    visitor_go(&visitor);
    visitor_come(&visitor, "1", NULL, NULL);
    TRAFFIC_AWAIT(&visitor.traffic, visitor_back_for_good);
    visitor_end(&visitor);
}

/* ---- as something else ---- */

static test_server_t parent = {.pid = -1};

/* A leaf adds up for its parent, and this group has no tree. */
static void test_leaf(void **state)
{
    const char *options[] = {"--aggregators", "2", NULL};
    oc_job_settings_t settings = visitor_settings(20);

    (void) state;
    visitor_begin_away(&visitor, &settings, "2", NULL);
    server_start(&parent, options);
    visitor_come(&visitor, "2", "--parent", parent.address);
    TRAFFIC_HOLD(&visitor.traffic, visitor_first_away, LONG_MS);
    /* it was asked: that is no test of a server that nobody looks for */
    assert_true(server_data_process(&visitor.server) > 0);
    visitor_go(&visitor);
    visitor_come(&visitor, "2", NULL, NULL);
    TRAFFIC_AWAIT(&visitor.traffic, visitor_back_for_good);
    visitor_end(&visitor);
    assert_int_equal(server_stop(&parent), 0);
}

static void test_aggregators(void **state)
{
    oc_job_settings_t settings = visitor_settings(20);

    (void) state;
    most_aggregators = 4;
    visitor_begin_away(&visitor, &settings, "2", NULL);
    visitor_come(&visitor, "3", NULL, NULL);
    expect_sent_away();
    visitor_go(&visitor);
    visitor_come(&visitor, "2", NULL, NULL);
    TRAFFIC_AWAIT(&visitor.traffic, visitor_back_for_good);
    visitor_end(&visitor);
}

static int clean(void **state)
{
    (void) state;
    visitor_clean(&visitor);
    server_kill(&parent);
    most_aggregators = UINT32_MAX;
    return 0;
}

int main(int argc, char **argv)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(test_narrow, clean),
        cmocka_unit_test_teardown(test_full, clean),
        cmocka_unit_test_teardown(test_leaf, clean),
        cmocka_unit_test_teardown(test_aggregators, clean),
    };

    if (argc > 1) {
        cmocka_set_test_filter(argv[1]);
    }
    return cmocka_run_group_tests(tests, NULL, NULL);
}
