/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Owns the engine's tests of the set-up with trees of servers: parents that are missing or do not fit,
 * lists that are no tree, and what mode auto makes of trees.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tests/engine/grove.h"
#include "tests/engine/harness.h"

#define MAX_COUNT 10000u

static grove_t grove;
static char expected_reason[160];

/* The leaf of each rank. */
static const uint8_t seven_on_two[] = {0, 0, 0, 0, 1, 1, 1};

static const uint8_t *leaf_of;

static void body_declined(rank_t *rank)
{
    rank_expect_declined(rank, 0, expected_reason);
}

/* So many numbers, which no order of adding up rounds. */
static void add_up(rank_t *rank, unsigned group, size_t count)
{
    static int32_t send[MAX_COUNT], recv[MAX_COUNT], expected[MAX_COUNT];

    CHECK(count <= MAX_COUNT);
    fill_contribution(send, OC_TYPE_INT32, count, rank->rank, group);
    fill_expected(expected, OC_OP_SUM, OC_TYPE_INT32, count, rank->num_ranks, group);
    memset(recv, 0x5a, sizeof(recv));
    CHECK(OC_OK == rank_allreduce(rank, group, OC_OP_SUM, OC_TYPE_INT32, send, recv, count));
    CHECK(0 == memcmp(recv, expected, count * sizeof(int32_t)));
}

/* Each rank knows only its own leaf. */
static void check_leaf(rank_t *rank)
{
    for (unsigned i = 0; i < grove.num_leaves; i++) {
        CHECK(is_connected(&grove.leaves[i]) == (i == leaf_of[rank->rank]));
    }
    CHECK(!is_connected(&grove.parent));
    CHECK(0 == rank->counters.failures);
}

static void body_served(rank_t *rank)
{
    add_up(rank, 0, 1);
}

static void expect_declined(const char *servers, const char *reason)
{
    oc_job_settings_t settings = grove_settings(&grove);

    settings.servers = servers;
    snprintf(expected_reason, sizeof(expected_reason), "%s", reason);
    assert_int_equal(ranks_run(4, &settings, body_declined, 30), 0);
}

/* A leaf serves without a parent, turns jobs away, and takes them when the parent is there. */
static void test_no_parent(void **state)
{
    char address[64], reason[128];
    const char *options[] = {"--parent", address, NULL};
    oc_job_settings_t settings;

    (void) state;
    server_start(&grove.parent, NULL);
    snprintf(address, sizeof(address), "%s", grove.parent.address);
    assert_int_equal(server_stop(&grove.parent), 0);
    server_start(&grove.leaves[0], options);
    assert_true(server_said(&grove.leaves[0], "cannot be reached: Connection refused; jobs are "
                            "turned away until it can be", 3000));
    snprintf(reason, sizeof(reason),
             "refused: its parent server %s cannot be reached: Connection refused", address);
    expect_declined(grove.leaves[0].address, reason);
    assert_true(server_said(&grove.leaves[0], "a job is turned away: its parent server", 3000));
    server_start_at(&grove.parent, address, NULL);
    settings = grove_settings(&grove);
    settings.servers = grove.leaves[0].address;
    assert_int_equal(ranks_run(4, &settings, body_served, 30), 0);
    assert_int_equal(server_stop(&grove.leaves[0]), 0);
    assert_int_equal(server_stop(&grove.parent), 0);
}

static void body_refused_above(rank_t *rank)
{
    rank_expect_declined(rank, 0, "bytes of an aggregator's memory");
}

static void test_parent_is_small(void **state)
{
    oc_job_settings_t settings;

    (void) state;
    grove_start_with(&grove, 2, "1", "64M", "1M");
    settings = grove_settings(&grove);
    settings.chunk_size = 1 << 20;
    assert_int_equal(ranks_run(7, &settings, body_refused_above, 30), 0);
    grove_stop(&grove);
}

static void expect_useless_parent(const char *address, const char *aggregators, const char *reason)
{
    const char *options[] = {"--parent", address, "--aggregators", aggregators, NULL};
    test_server_t leaf;

    server_start(&leaf, options);
    expect_declined(leaf.address, reason);
    assert_int_equal(server_stop(&leaf), 0);
}

static void test_useless_parents(void **state)
{
    (void) state;
    grove_start(&grove, 1, "1");
    expect_useless_parent(grove.parent.address, "2", "has 1 aggregators and this leaf 2: start both "
                          "with the same --aggregators");
    expect_useless_parent(grove.leaves[0].address, "1", "is a leaf itself");
    expect_useless_parent("no-such-host.invalid", "1", "no-such-host.invalid");
    grove_stop(&grove);
}

static void test_mixed_lists(void **state)
{
    test_server_t other, other_leaf;
    const char *options[] = {"--parent", other.address, NULL};
    oc_job_settings_t settings;
    char servers[160];

    (void) state;
    grove_start(&grove, 2, "1");
    server_start(&other, NULL);
    server_start(&other_leaf, options);
    snprintf(servers, sizeof(servers), "%s,%s", grove.leaves[0].address, other.address);
    expect_declined(servers, "is a leaf of a tree and server");
    snprintf(servers, sizeof(servers), "%s,%s", grove.leaves[0].address, grove.parent.address);
    expect_declined(servers, "is a leaf of a tree and server");
    snprintf(servers, sizeof(servers), "%s,%s", grove.leaves[0].address, other_leaf.address);
    expect_declined(servers, "are leaves of different trees");
    settings = grove_settings(&grove);
    settings.reproducible = OC_REPRODUCIBLE_RANK_ORDER;
    snprintf(expected_reason, sizeof(expected_reason), "cannot reduce in rank order");
    assert_int_equal(ranks_run(4, &settings, body_declined, 30), 0);
    assert_int_equal(server_stop(&other_leaf), 0);
    assert_int_equal(server_stop(&other), 0);
    grove_stop(&grove);
}

static void expect_no_start(const char *value, const char *reason)
{
    char command[256], line[512] = "";
    const char *path = getenv("OPTCAST_SERVER");
    FILE *output;

    snprintf(command, sizeof(command), "%.160s --listen 127.0.0.1:0 --parent '%s' 2>&1",
             NULL != path ? path : "./optcast-server", value);
    output = popen(command, "r");
    assert_non_null(output);
    assert_non_null(fgets(line, sizeof(line), output));
    assert_int_not_equal(pclose(output), 0);
    assert_non_null(strstr(line, reason));
}

static void test_wrong_address(void **state)
{
    (void) state;
    expect_no_start("root:99999", "optcast-server: parent: \"root:99999\" has no valid port");
    expect_no_start("a b", "optcast-server: parent: \"a b\" is not a host");
    expect_no_start("root:0", "optcast-server: parent: \"root:0\" has the port 0");
}

/* ---- mode auto ---- */

static const uint8_t own_hosts[MAX_TEST_RANKS] = {1, 2, 3, 4, 5, 6, 7, 8};
static oc_rules_t rules;

/* With links so slow, two servers that are no leaves are faster from some MiB on. */
#define SLOW "[model]\nlink_rate = 200\nlink_latency = 50000\noffload_latency = 100000\n" \
             "message_cost = 10000\nserver_rate = 10000\nmemory_rate = 10000\n"

static void use_rules(const char *text)
{
    char error[256] = "";

    if (OC_OK != oc_rules_parse("test.ini", text, strlen(text), &rules, error, sizeof(error))) {
        fail_msg("%s", error);
    }
}

/* That servers are leaves is not known before they are asked; then all ranks choose the same. */
static void body_left(rank_t *rank)
{
    char text[256] = "";

    rank->hosts = own_hosts;
    rank->rules = &rules;
    rank_expect_declined(rank, 0, "?");
    CHECK(oc_group_leaves_all(rank->groups[0]));
    CHECK(!oc_group_tells(rank->groups[0]));
    CHECK(oc_group_explain(rank->groups[0], text, sizeof(text)));
    CHECK(NULL != strstr(text, "offloads nothing (model"));
    CHECK(NULL != strstr(text, "servers that are leaves of a tree"));
    CHECK(0 == oc_client_pending(rank->client));
}

static void body_ruled(rank_t *rank)
{
    char text[256] = "";

    rank->hosts = own_hosts;
    rank->rules = &rules;
    add_up(rank, 0, 37);
    add_up(rank, 0, MAX_COUNT);
    CHECK(oc_group_explain(rank->groups[0], text, sizeof(text)));
    CHECK(NULL != strstr(text, "(rule \"tree\" of test.ini)"));
    CHECK(2 == rank->counters.allreduce_offloaded);
    oc_group_describe(rank->groups[0], text, sizeof(text));
    CHECK(NULL != strstr(text, "tree reduction shape"));
    check_leaf(rank);
}

static void test_auto(void **state)
{
    oc_job_settings_t settings;

    (void) state;
    grove_start(&grove, 2, "1");
    settings = grove_settings(&grove);
    leaf_of = seven_on_two;
    use_rules(SLOW);
    assert_int_equal(ranks_run(7, &settings, body_left, 30), 0);
    use_rules(SLOW "[allreduce tree]\nhosts = 7\nservers = 2\noffload = always\n");
    assert_int_equal(ranks_run(7, &settings, body_ruled, 30), 0);
    grove_stop(&grove);
}

int main(int argc, char **argv)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_no_parent),
        cmocka_unit_test(test_parent_is_small),
        cmocka_unit_test(test_useless_parents),
        cmocka_unit_test(test_mixed_lists),
        cmocka_unit_test(test_wrong_address),
        cmocka_unit_test(test_auto),
    };

    if (argc > 1) {
        cmocka_set_test_filter(argv[1]);
    }
    alarm(110);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
