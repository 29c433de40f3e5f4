/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Owns the engine's tests of what rules leave to others: some sizes of a group, whenever its ranks
 * learn of it and also when its service has failed, or all, before any server is asked.
 */
/* Test: quick 120 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tests/engine/farm.h"
#include "tests/engine/harness.h"

#define MAX_BYTES (200u << 10)

static oc_rules_t rules, other_rules;

/* Hosts of the ranks, for all tests that have some. */
static const uint8_t one_and_three[] = {1, 2, 2, 2};
static const uint8_t *hosts;

static void parse(const char *text, oc_rules_t *result)
{
    char error[256] = "";

    if (OC_OK != oc_rules_parse("test.ini", text, strlen(text), result, error, sizeof(error))) {
        fail_msg("%s", error);
    }
}

static bool is_left(size_t bytes)
{
    return bytes < 1024 || (bytes > 2048 && bytes < 65536);
}

#define SPLIT "offload = 1K-2K, 64K-\n"

/* Both sides of each border; small and large ones of the engine. */
static const size_t sizes[] = {4, 1020, 1024, 2048, 2052, 5000, 65532, 65536, 150000, 2048, 8};
#define NUM_SIZES (sizeof(sizes) / sizeof(sizes[0]))

static uint8_t given[NUM_SIZES][MAX_BYTES], got[NUM_SIZES][MAX_BYTES], expected[MAX_BYTES];

static void begin(rank_t *rank, unsigned i, outcome_t *outcome)
{
    fill_contribution(given[i], OC_TYPE_UINT8, sizes[i], rank->rank, i);
    memset(got[i], 0xee, sizes[i]);
    (void) rank_start(rank, 0, OC_OP_BXOR, OC_TYPE_UINT8, given[i], got[i], sizes[i], outcome);
}

/* What was left has not been touched. */
static void check(rank_t *rank, unsigned i, const outcome_t *outcome)
{
    CHECK(outcome->done);
    CHECK((is_left(sizes[i]) ? OC_DECLINED : OC_OK) == outcome->status);
    memset(expected, 0xee, sizes[i]);
    if (!is_left(sizes[i])) {
        fill_expected(expected, OC_OP_BXOR, OC_TYPE_UINT8, sizes[i], rank->num_ranks, i);
    }
    CHECK(0 == memcmp(expected, got[i], sizes[i]));
}

static unsigned long long count_offloaded(void)
{
    unsigned long long count = 0;

    for (unsigned i = 0; i < NUM_SIZES; i++) {
        count += !is_left(sizes[i]);
    }
    return count;
}

/* Queued while some ranks do not know it yet; then at once. */
static void body_split(rank_t *rank)
{
    outcome_t outcomes[NUM_SIZES] = {{0}};
    char text[256] = "";

    rank->hosts = hosts;
    rank->rules = &rules;
    CHECK(!oc_group_leaves(rank_group(rank, 0), OC_RULED_ALLREDUCE, OC_TYPE_UINT8, 4));
    for (unsigned i = 0; i < NUM_SIZES; i++) {
        begin(rank, i, &outcomes[i]);
        /* some ranks go on with the set-up meanwhile, and others do not */
        for (unsigned n = 0; 0 != rank->rank && n < 100 * rank->rank; n++) {
            (void) oc_client_progress(rank->client);
        }
    }
    CHECK(rank_wait(rank, outcomes, NUM_SIZES, 10));
    for (unsigned i = 0; i < NUM_SIZES; i++) {
        check(rank, i, &outcomes[i]);
    }
    CHECK(OC_GROUP_LIVE == oc_group_state(rank->groups[0]));
    CHECK(count_offloaded() == rank->counters.allreduce_offloaded);
    for (unsigned i = 0; i < NUM_SIZES; i++) {
        outcome_t outcome = {0};

        CHECK(is_left(sizes[i])
              == oc_group_leaves(rank->groups[0], OC_RULED_ALLREDUCE, OC_TYPE_UINT8, sizes[i]));
        begin(rank, i, &outcome);
        CHECK(outcome.done || !is_left(sizes[i]));
        CHECK(rank_wait(rank, &outcome, 1, 10));
        check(rank, i, &outcome);
    }
    CHECK(2 * count_offloaded() == rank->counters.allreduce_offloaded);
    CHECK(0 == rank->counters.failures);
    CHECK(!oc_group_leaves_all(rank->groups[0]));
    CHECK(oc_group_explain(rank->groups[0], OC_RULED_ALLREDUCE, text, sizeof(text)));
    CHECK(0 == strncmp(text, "offloads 1 KiB to 2 KiB, 64 KiB and more (rule \"", 48));
    CHECK(0 == oc_client_pending(rank->client));
}

static void run_split(const char *text, const uint8_t *of_hosts, uint32_t num_ranks)
{
    const char *options[] = {"--aggregators", "2", NULL};
    oc_job_settings_t settings;
    test_server_t server;

    parse(text, &rules);
    hosts = of_hosts;
    server_start(&server, options);
    settings = test_settings(server.address);
    assert_true(ranks_succeed(&server, num_ranks, &settings, body_split, 30));
}

static void test_split(void **state)
{
    (void) state;
    run_split("[allreduce a]\nhosts = 1\n" SPLIT, NULL, 3);
}

/* Rules see hosts as they are, also where the shape does not need them. */
static void test_split_on_hosts(void **state)
{
    (void) state;
    run_split("[allreduce a]\nhosts = 2\nranks_per_host = 3\nservers = 1\n" SPLIT
              "[allreduce b]\nhosts = 1-\noffload = never\n", one_and_three, 4);
}

/* Others may have gone elsewhere with what is smaller than was said before they met. */
static void body_least(rank_t *rank)
{
    outcome_t outcomes[2];

    rank->rules = &rules;
    rank->least = 65536;
    begin(rank, 2, &outcomes[0]);
    begin(rank, 7, &outcomes[1]);
    CHECK(rank_wait(rank, outcomes, 2, 10));
    CHECK(OC_DECLINED == outcomes[0].status && OC_OK == outcomes[1].status);
    CHECK(oc_group_leaves(rank->groups[0], OC_RULED_ALLREDUCE, OC_TYPE_UINT8, 65535));
    CHECK(!oc_group_leaves(rank->groups[0], OC_RULED_ALLREDUCE, OC_TYPE_UINT8, 65536));
}

static void test_clipped(void **state)
{
    oc_job_settings_t settings;
    test_server_t server;

    (void) state;
    parse("[allreduce a]\nhosts = 1\noffload = always\n", &rules);
    server_start(&server, NULL);
    settings = test_settings(server.address);
    assert_true(ranks_succeed(&server, 3, &settings, body_least, 30));
}

/* A group for one size, which is left: it is declined, and that is the reason. */
static void body_only(rank_t *rank)
{
    outcome_t outcome;

    rank->rules = &rules;
    rank->only = sizes[5];
    begin(rank, 5, &outcome);
    CHECK(rank_wait(rank, &outcome, 1, 10));
    check(rank, 5, &outcome);
    CHECK(OC_GROUP_DECLINED == oc_group_state(rank->groups[0]));
    CHECK(oc_group_leaves(rank->groups[0], OC_RULED_ALLREDUCE, OC_TYPE_UINT8, sizes[5]));
    CHECK(!oc_group_leaves_all(rank->groups[0]));
    CHECK(0 == rank->counters.groups && 0 == rank->counters.messages_sent);
    /* its server is there, but helps nobody */
    CHECK(!oc_client_embeds(rank->client));
}

static void test_only(void **state)
{
    oc_job_settings_t settings = test_settings("embedded");
    ranks_t ranks;

    (void) state;
    parse("[allreduce a]\nhosts = 1\n" SPLIT, &rules);
    hosts = NULL;
    ranks_start(&ranks, 3, &settings, body_only, 20);
    assert_int_equal(ranks_wait(&ranks), 0);
}

/* Where hosts reduce, the model sees that 16-bit floats become longer. */
static void body_widened(rank_t *rank)
{
    static const unsigned types[] = {OC_TYPE_UINT16, OC_TYPE_FLOAT16, OC_TYPE_BFLOAT16};
    outcome_t outcomes[3];

    rank->hosts = hosts;
    rank->rules = &rules;
    for (unsigned i = 0; i < 3; i++) {
        fill_contribution(given[i], types[i], MAX_BYTES / 2, rank->rank, i);
        (void) rank_start(rank, 0, OC_OP_SUM, types[i], given[i], got[i], MAX_BYTES / 2,
                          &outcomes[i]);
    }
    CHECK(rank_wait(rank, outcomes, 3, 10));
    CHECK(OC_OK == outcomes[0].status);
    CHECK(OC_DECLINED == outcomes[1].status && OC_DECLINED == outcomes[2].status);
    for (unsigned i = 0; i < 3; i++) {
        CHECK((i > 0) == oc_group_leaves(rank->groups[0], OC_RULED_ALLREDUCE, types[i], MAX_BYTES));
    }
}

static void test_widened(void **state)
{
    static const uint8_t three_hosts[] = {1, 1, 2, 3};
    oc_job_settings_t settings = test_settings("");

    (void) state;
    /* nothing takes time but the links: the model offloads all */
    parse("[model]\nlink_rate = 1\nlink_latency = 0\noffload_latency = 0\nmessage_cost = 0\n"
          "server_rate = 100000000\nmemory_rate = 100000000\n", &rules);
    hosts = three_hosts;
    settings.chunk_size = 4096;
    farm_run((const char *[]) {"weight=3", NULL}, "1", 4, &settings, body_widened, 30);
}

/* Nobody answers at the server's address, and nobody minds. */
static void body_nothing(rank_t *rank)
{
    char text[256] = "";
    outcome_t outcomes[2];
    float one = 1, sum = 5;

    rank->hosts = hosts;
    rank->rules = &rules;
    for (unsigned i = 0; i < 2; i++) {
        (void) rank_start(rank, 0, OC_OP_SUM, OC_TYPE_FLOAT, &one, &sum, 1, &outcomes[i]);
    }
    CHECK(rank_wait(rank, outcomes, 2, 3));
    CHECK(OC_DECLINED == outcomes[0].status && OC_DECLINED == outcomes[1].status && 5 == sum);
    CHECK(OC_GROUP_DECLINED == oc_group_state(rank->groups[0]));
    CHECK(oc_group_leaves_all(rank->groups[0]));
    CHECK(!oc_group_tells(rank->groups[0]));
    CHECK(oc_group_explain(rank->groups[0], OC_RULED_ALLREDUCE, text, sizeof(text)));
    CHECK(NULL != strstr(text, "offloads nothing ("));
    CHECK(0 == oc_client_pending(rank->client));
    CHECK(0 == rank->counters.groups && 0 == rank->counters.messages_sent);
}

static void run_nothing(const char *text, const uint8_t *of_hosts)
{
    oc_job_settings_t settings = test_settings("127.0.0.1:1");
    ranks_t ranks;

    parse(text, &rules);
    hosts = of_hosts;
    ranks_start(&ranks, 4, &settings, body_nothing, 10);
    assert_int_equal(ranks_wait(&ranks), 0);
}

static void test_nothing(void **state)
{
    (void) state;
    run_nothing("", NULL);
    run_nothing("", one_and_three);
    run_nothing("[allreduce a]\nhosts = 2\nranks_per_host = 3\noffload = never\n", one_and_three);
}

/* What is left goes on to be left when the service has failed: others may not know that yet. */
static void body_failure(rank_t *rank)
{
    outcome_t outcome;

    rank->hosts = hosts;
    rank->rules = &rules;
    begin(rank, 7, &outcome);
    CHECK(rank_wait(rank, &outcome, 1, 10));
    check(rank, 7, &outcome);
    atomic_fetch_add(&rank->shared->operations, 1);
    do {
        begin(rank, 7, &outcome);
        CHECK(rank_wait(rank, &outcome, 1, 20));
    } while (OC_OK == outcome.status);
    CHECK(outcome.status < OC_OK);
    CHECK(OC_GROUP_FAILED == oc_group_state(rank->groups[0]));
    for (unsigned i = 0; i < NUM_SIZES; i++) {
        begin(rank, i, &outcome);
        CHECK(outcome.done);
        CHECK(is_left(sizes[i]) ? OC_DECLINED == outcome.status : outcome.status < OC_OK);
    }
}

static void test_failure(void **state)
{
    oc_job_settings_t settings;
    test_server_t server;
    ranks_t ranks;
    pid_t data;

    (void) state;
    parse("[allreduce a]\nhosts = 1\n" SPLIT, &rules);
    hosts = NULL;
    server_start(&server, NULL);
    settings = test_settings(server.address);
    ranks_start(&ranks, 3, &settings, body_failure, 40);
    assert_true(ranks_reach(&ranks, 3));
    data = server_data_process(&server);
    assert_true(data > 0);
    (void) kill(data, SIGKILL);
    assert_int_equal(ranks_wait(&ranks), 0);
    (void) server_stop(&server);
}

/* The records tell: nobody is left alone with another choice. */
static void body_other_rules(rank_t *rank)
{
    rank->rules = 1 == rank->rank ? &other_rules : &rules;
    rank_expect_declined(rank, 0, "rank 1 has other coll_optcast settings");
    CHECK(!oc_group_leaves_all(rank->groups[0]));
}

static void test_other_rules(void **state)
{
    oc_job_settings_t settings = test_settings("127.0.0.1:1");
    ranks_t ranks;

    (void) state;
    parse("[allreduce a]\nhosts = 1\noffload = always\n", &rules);
    parse("[allreduce a]\nhosts = 1\noffload = never\n", &other_rules);
    ranks_start(&ranks, 3, &settings, body_other_rules, 20);
    assert_int_equal(ranks_wait(&ranks), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_split),
        cmocka_unit_test(test_split_on_hosts),
        cmocka_unit_test(test_clipped),
        cmocka_unit_test(test_only),
        cmocka_unit_test(test_widened),
        cmocka_unit_test(test_nothing),
        cmocka_unit_test(test_failure),
        cmocka_unit_test(test_other_rules),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
