/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Owns the engine's tests of the set-up with trees of servers: which rank asks which server, leaves
 * and parents that are missing or do not fit, lists that are no tree, and trees in mode auto.
 */
/* Test: default 240; sanitizers: all 400 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "tests/engine/grove.h"
#include "tests/engine/harness.h"

#define MAX_COUNT 10000u

static grove_t grove;
static char expected_reason[160];
static atomic_uint *told;        /* ranks that say why a group was declined */

/* The leaf of each rank. */
static const uint8_t seven_on_two[] = {0, 0, 0, 0, 1, 1, 1},
                     eight_on_three[] = {0, 0, 0, 1, 1, 1, 2, 2},
                     three_hosts[] = {0, 1, 2, 0, 1, 2}, two_of_three[] = {0, 1};

/* Made up. */
static const uint8_t own_hosts[MAX_TEST_RANKS] = {1, 2, 3, 4, 5, 6, 7, 8},
                     cyclic_hosts[] = {1, 2, 3, 1, 2, 3};
static const uint8_t *host_of;

static const uint8_t *leaf_of;

static void body_declined(rank_t *rank)
{
    rank_expect_declined(rank, 0, expected_reason);
    atomic_fetch_add(told, oc_group_tells(rank->groups[0]));
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

/* One rank says why. */
static void expect_declined_of(uint32_t num_ranks, const char *servers, const char *reason)
{
    oc_job_settings_t settings = grove_settings(&grove);

    settings.servers = servers;
    settings.connect_timeout = 4; /* a leaf waits three seconds for its parent */
    snprintf(expected_reason, sizeof(expected_reason), "%s", reason);
    atomic_store(told, 0);
    assert_int_equal(ranks_run(num_ranks, &settings, body_declined, 30), 0);
    assert_int_equal(atomic_load(told), 1);
}

static void expect_declined(const char *servers, const char *reason)
{
    expect_declined_of(4, servers, reason);
}

/* ---- who asks whom ---- */

static void expect_words(test_server_t *server, const char *text)
{
    if (!server_said(server, text, 20000)) {
        fail_msg("%s did not say \"%s\"", server->address, text);
    }
}

/* At the end of a job: those that have joined its groups, and others that have asked what it is. */
static void expect_clients(test_server_t *server, unsigned groups, unsigned joined, unsigned asked)
{
    char text[64];

    snprintf(text, sizeof(text), "served %u groups of %u clients,", groups, joined);
    expect_words(server, text);
    snprintf(text, sizeof(text), "%u clients connected", joined + asked);
    expect_words(server, text);
}

static void body_asks(rank_t *rank)
{
    rank->hosts = host_of;
    add_up(rank, 0, 37);
    add_up(rank, 1, MAX_COUNT);
    check_leaf(rank);
}

static void run_asks(uint32_t num_ranks, const uint8_t *leaves, const uint8_t *hosts)
{
    oc_job_settings_t settings = grove_settings(&grove);

    leaf_of = leaves;
    host_of = hosts;
    assert_int_equal(ranks_run(num_ranks, &settings, body_asks, 30), 0);
}

/* A leaf meets its own ranks and those of the leaf before it, once each. */
static void test_few_clients(void **state)
{
    (void) state;
    grove_start(&grove, 3, "1");
    run_asks(8, eight_on_three, NULL);
    expect_clients(&grove.leaves[0], 2, 3, 2);
    expect_clients(&grove.leaves[1], 2, 3, 3);
    expect_clients(&grove.leaves[2], 2, 2, 3);
    /* a team for each of the two ranks of a host */
    run_asks(6, three_hosts, cyclic_hosts);
    for (unsigned i = 0; i < 3; i++) {
        expect_clients(&grove.leaves[i], 4, 2, 2);
        assert_true(server_said(&grove.leaves[i], "is over", 20000));
    }
    run_asks(2, two_of_three, NULL);
    expect_clients(&grove.leaves[0], 2, 1, 1);
    expect_clients(&grove.leaves[1], 2, 1, 1);
    assert_false(server_said(&grove.leaves[2], "begins", 300));
    grove_stop(&grove);
}

/* Begun at the same time, in different orders. */
static void body_both(rank_t *rank)
{
    static float send = 1, recv[2];
    static outcome_t outcomes[2];

    for (unsigned i = 0; i < 2; i++) {
        unsigned group = (i + rank->rank) % 2;

        CHECK(OC_OK == rank_start(rank, group, OC_OP_SUM, OC_TYPE_FLOAT, &send, &recv[group], 1,
                                  &outcomes[group]));
    }
    CHECK(rank_wait(rank, outcomes, 2, 12));
    for (unsigned i = 0; i < 2; i++) {
        CHECK(OC_OK == outcomes[i].status);
        CHECK((float) rank->num_ranks == recv[i]);
    }
    check_leaf(rank);
}

static void test_both(void **state)
{
    oc_job_settings_t settings;

    (void) state;
    grove_start(&grove, 3, "1");
    settings = grove_settings(&grove);
    leaf_of = eight_on_three;
    assert_int_equal(ranks_run(8, &settings, body_both, 30), 0);
    grove_stop(&grove);
}

/* ---- lists that are no tree ---- */

/* Servers with different numbers of aggregators: all ranks have to number them alike. */
static void start_plain(test_server_t servers[3], char list[256])
{
    static const char *const aggregators[] = {"2", "1", "3"};
    int length = 0;

    for (int i = 0; i < 3; i++) {
        const char *options[] = {"--aggregators", aggregators[i], NULL};

        server_start(&servers[i], options);
        length += snprintf(list + length, 256 - (size_t) length, "%s%s", i > 0 ? "," : "",
                           servers[i].address);
    }
}

static void body_plain(rank_t *rank)
{
    char text[256];

    add_up(rank, 0, 100);
    for (unsigned i = 1; i <= 12; i++) {
        add_up(rank, 0, i * MAX_COUNT / 12);
    }
    oc_group_describe(rank->groups[0], text, sizeof(text));
    CHECK(NULL != strstr(text, "3 servers, "));
    CHECK(NULL != strstr(text, "flat reduction shape"));
    CHECK(0 == rank->counters.failures);
}

/* Wherever in the list they begin. */
static void test_plain(void **state)
{
    test_server_t servers[3];
    oc_job_settings_t settings;
    char list[256];

    (void) state;
    start_plain(servers, list);
    settings = test_settings(list);
    settings.chunk_size = 8192;
    for (unsigned ranks = 1; ranks <= 5; ranks++) {
        assert_int_equal(ranks_run(ranks, &settings, body_plain, 30), 0);
        for (unsigned i = 0; i < 3; i++) {
            expect_clients(&servers[i], 1, ranks, 0);
        }
    }
    for (unsigned i = 0; i < 3; i++) {
        assert_int_equal(server_stop(&servers[i]), 0);
    }
}

/* The ring has the first two: that the third one says nothing is seen later. */
static void test_missing_server(void **state)
{
    test_server_t servers[3];
    char list[256], reason[128];

    (void) state;
    start_plain(servers, list);
    snprintf(reason, sizeof(reason), "server %s did not answer within 4 seconds",
             servers[2].address);
    (void) kill(servers[2].pid, SIGSTOP);
    expect_declined_of(2, list, reason);
    (void) kill(servers[2].pid, SIGCONT);
    assert_int_equal(server_stop(&servers[2]), 0);
    snprintf(reason, sizeof(reason), "server %s cannot be reached: Connection refused",
             servers[2].address);
    expect_declined_of(2, list, reason);
    expect_declined_of(5, list, reason);
    assert_int_equal(server_stop(&servers[0]), 0);
    assert_int_equal(server_stop(&servers[1]), 0);
}

/* Where not all ranks see what is wrong: some join their leaf, others decline. */
static void expect_longer_declined(const test_server_t *other, const test_server_t *other_leaf)
{
    oc_job_settings_t settings = grove_settings(&grove);
    char servers[400];

    snprintf(servers, sizeof(servers), "%s,%s", grove.list, other->address);
    expect_declined(servers, "is a leaf of a tree and server");
    /* ranks that belong to no other server than the first two are served */
    settings.servers = servers;
    assert_int_equal(ranks_run(2, &settings, body_served, 30), 0);
    snprintf(servers, sizeof(servers), "%s,%s", grove.list, other_leaf->address);
    expect_declined(servers, "are leaves of different trees");
    snprintf(servers, sizeof(servers), "%s,%s,%s", other->address, grove.parent.address,
             grove.leaves[0].address);
    expect_declined(servers, "is a leaf of a tree and server");
    expect_declined_of(2, servers, "is a leaf of a tree and server");
    expect_declined_of(1, servers, "is a leaf of a tree and server");
}

static void test_mixed_lists(void **state)
{
    test_server_t other, other_leaf;
    const char *options[] = {"--parent", other.address, NULL};
    oc_job_settings_t settings;
    char servers[400];

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
    expect_longer_declined(&other, &other_leaf);
    settings = grove_settings(&grove);
    settings.reproducible = OC_REPRODUCIBLE_RANK_ORDER;
    snprintf(expected_reason, sizeof(expected_reason), "cannot reduce in rank order");
    assert_int_equal(ranks_run(4, &settings, body_declined, 30), 0);
    assert_int_equal(server_stop(&other_leaf), 0);
    assert_int_equal(server_stop(&other), 0);
    grove_stop(&grove);
}

/*
 * In the first group, ranks 0 and 1 see two leaves of one tree, and rank 4 two of another one. In
 * the second one, ranks 1 and 4 alone have the last leaf of each, which the next one does not equal.
 */
static void body_moves(rank_t *rank)
{
    static const uint8_t first[] = {1, 1, 2, 2, 3, 4}, second[] = {1, 2, 3, 3, 4, 3};

    rank->hosts = first;
    rank_expect_declined(rank, 0, "are leaves of different trees");
    rank->hosts = second;
    rank_expect_declined(rank, 1, "are leaves of different trees");
}

/* What ranks saw of a group that was declined is not remembered. */
static void test_not_voted(void **state)
{
    test_server_t other, others[2];
    const char *options[] = {"--parent", other.address, NULL};
    oc_job_settings_t settings;
    char servers[400];

    (void) state;
    grove_start(&grove, 2, "1");
    server_start(&other, NULL);
    server_start(&others[0], options);
    server_start(&others[1], options);
    snprintf(servers, sizeof(servers), "%s,%s,%s", grove.list, others[0].address,
             others[1].address);
    settings = test_settings(servers);
    assert_int_equal(ranks_run(6, &settings, body_moves, 30), 0);
    assert_int_equal(server_stop(&others[0]), 0);
    assert_int_equal(server_stop(&others[1]), 0);
    assert_int_equal(server_stop(&other), 0);
    grove_stop(&grove);
}

/* ---- leaves and parents that do not serve ---- */

/* Ranks 0 and 1 do without the third leaf, and join; the others decline for all. */
static void test_missing_leaf(void **state)
{
    const char *options[] = {"--parent", grove.parent.address, NULL};
    test_server_t *leaf = &grove.leaves[2];
    oc_job_settings_t settings;
    char address[64], reason[128];

    (void) state;
    grove_start(&grove, 3, "1");
    snprintf(address, sizeof(address), "%s", leaf->address);
    snprintf(reason, sizeof(reason), "server %s did not answer within 4 seconds", address);
    (void) kill(leaf->pid, SIGSTOP);
    expect_declined_of(5, grove.list, reason);
    (void) kill(leaf->pid, SIGCONT);
    assert_int_equal(server_stop(leaf), 0);
    snprintf(reason, sizeof(reason), "server %s cannot be reached: Connection refused", address);
    expect_declined_of(5, grove.list, reason);
    server_start_at(leaf, address, options);
    settings = grove_settings(&grove);
    assert_int_equal(ranks_run(5, &settings, body_served, 30), 0);
    grove_stop(&grove);
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
    assert_true(server_said(&grove.leaves[0], "a job is turned away: its parent server", 20000));
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
    if (!MEASURES_MEMORY) {
        return; /* so many aggregators are too much for sanitizers */
    }
    /* chunks become smaller where there is no room, but small vectors do not */
    grove_start_with(&grove, 2, "32", "64M", "1M");
    settings = grove_settings(&grove);
    settings.small_size = 16384;
    settings.connect_timeout = 30; /* 96 aggregators take a while to start */
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
    expect_useless_parent(grove.parent.address, "2", "has 1 aggregators and this leaf 2: start "
                          "both with the same --aggregators");
    expect_useless_parent(grove.leaves[0].address, "1", "is a leaf itself");
    expect_useless_parent("no-such-host.invalid", "1", "no-such-host.invalid");
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

static oc_rules_t rules, ruled;

/* With links so slow, two servers that are no leaves are faster from some MiB on. */
#define SLOW "[model]\nlink_rate = 200\nlink_latency = 50000\noffload_latency = 100000\n" \
             "message_cost = 10000\nserver_rate = 10000\nmemory_rate = 10000\n"

static void use_rules(oc_rules_t *to, const char *text)
{
    char error[256] = "";

    if (OC_OK != oc_rules_parse("test.ini", text, strlen(text), to, error, sizeof(error))) {
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
    CHECK(oc_group_explain(rank->groups[0], OC_RULED_ALLREDUCE, text, sizeof(text)));
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
    CHECK(oc_group_explain(rank->groups[0], OC_RULED_ALLREDUCE, text, sizeof(text)));
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
    use_rules(&rules, SLOW);
    assert_int_equal(ranks_run(7, &settings, body_left, 30), 0);
    use_rules(&rules, SLOW "[allreduce tree]\nhosts = 7\nservers = 2\noffload = always\n");
    assert_int_equal(ranks_run(7, &settings, body_ruled, 30), 0);
    grove_stop(&grove);
}

/* A tree that is left to others is one: from the second group on, ranks ask their own leaf only. */
static void body_left_first(rank_t *rank)
{
    body_left(rank);
    rank_expect_declined(rank, 1, "?");
    CHECK(oc_group_leaves_all(rank->groups[1]));
    rank->rules = &ruled;
    add_up(rank, 2, MAX_COUNT);
    CHECK(1 == rank->counters.allreduce_offloaded);
    check_leaf(rank);
}

static void test_left_first(void **state)
{
    oc_job_settings_t settings;

    (void) state;
    grove_start(&grove, 3, "1");
    settings = grove_settings(&grove);
    leaf_of = eight_on_three;
    use_rules(&rules, SLOW);
    use_rules(&ruled, SLOW "[allreduce tree]\nhosts = 8\nservers = 3\noffload = always\n");
    assert_int_equal(ranks_run(8, &settings, body_left_first, 30), 0);
    expect_clients(&grove.leaves[0], 1, 3, 2);
    expect_clients(&grove.leaves[1], 1, 3, 3);
    expect_clients(&grove.leaves[2], 1, 2, 3);
    grove_stop(&grove);
}

int main(int argc, char **argv)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_few_clients),
        cmocka_unit_test(test_both),
        cmocka_unit_test(test_plain),
        cmocka_unit_test(test_missing_server),
        cmocka_unit_test(test_mixed_lists),
        cmocka_unit_test(test_not_voted),
        cmocka_unit_test(test_missing_leaf),
        cmocka_unit_test(test_no_parent),
        cmocka_unit_test(test_parent_is_small),
        cmocka_unit_test(test_useless_parents),
        cmocka_unit_test(test_wrong_address),
        cmocka_unit_test(test_auto),
        cmocka_unit_test(test_left_first),
    };

    if (argc > 1) {
        cmocka_set_test_filter(argv[1]);
    }
    told = mmap(NULL, sizeof(*told), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (MAP_FAILED == (void *) told) {
        return EXIT_FAILURE;
    }
    alarm(440);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
