/* SPDX-License-Identifier: BSD-3-Clause */
/* Owns the unit tests of what mode auto chooses: times made by hand, and what must always hold. */
/* Test: quick 120 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/settings.h"
#include "client/client.h"
#include "client/plan/model.h"
#include "client/plan/offloaded.h"
#include "client/plan/previous.h"
#include "client/plan/previous_owned.h"
#include "net/address.h"
#include "reduction/reduction.h"

#define KIB (1ull << 10)
#define MIB (1ull << 20)
#define GIB (1ull << 30)
#define NEVER UINT64_MAX

/* Links of 200 Mbit/s, as in tests/cluster. */
static const char slow_links[] = "[model]\nlink_rate = 200\nlink_latency = 50000\n"
                                 "offload_latency = 100000\nmessage_cost = 10000\n"
                                 "server_rate = 10000\nmemory_rate = 10000\n";

static oc_rules_t rules_of(const char *text)
{
    oc_rules_t rules;
    char error[512] = "";

    if (OC_OK != oc_rules_parse("test.ini", text, strlen(text), &rules, error, sizeof(error))) {
        fail_msg("%s", error);
    }
    return rules;
}

/* Servers as fast as hosts; peers where they help, or where there is nothing else. */
static oc_situation_t situation_of(uint32_t hosts, uint32_t per_host, uint32_t servers)
{
    uint32_t peers = hosts > servers && (hosts <= 64 || 0 == servers) ? hosts : 0;

    return (oc_situation_t) {
        .ranks = hosts * per_host, .hosts = hosts, .per_host = per_host,
        .weights = (uint64_t) servers * OC_WEIGHT_ONE,
        .heaviest = servers > 0 ? OC_WEIGHT_ONE : 0, .peers = peers, .nodes = per_host > 1,
        .lanes = servers + peers, .small_size = 8192, .largest_chunk = 65536, .fewest_chunks = 64};
}

static oc_choice_t choose_of(oc_ruled_t ruled, const oc_rules_t *rules, oc_situation_t situation)
{
    oc_choice_t choice;

    oc_model_choose(rules, &situation, ruled, &choice);
    return choice;
}

/* ---- Allreduce, until said otherwise ---- */

static oc_choice_t choose(const oc_rules_t *rules, oc_situation_t situation)
{
    return choose_of(OC_RULED_ALLREDUCE, rules, situation);
}

static uint64_t offloaded(const oc_constants_t *constants, const oc_situation_t *situation,
                          uint64_t bytes)
{
    return oc_offloaded_time(constants, situation, OC_RULED_ALLREDUCE, bytes);
}

static uint64_t previous(const oc_constants_t *constants, const oc_situation_t *situation,
                         uint64_t bytes)
{
    return oc_previous_time(constants, situation, OC_RULED_ALLREDUCE, bytes);
}

/* The model offloads exactly this and more. */
static void expect_from(const oc_rules_t *rules, oc_situation_t situation, uint64_t bytes)
{
    oc_choice_t choice = choose(rules, situation);

    assert_true(OC_MODEL == choice.rule);
    assert_int_equal(choice.sizes.count, NEVER != bytes);
    if (NEVER != bytes) {
        assert_int_equal(choice.sizes.ranges[0].first, bytes);
        assert_true(UINT64_MAX == choice.sizes.ranges[0].last);
    }
}

/* Steps of 2000 ns and 0.08 ns a byte: see the formulas in doc/architecture.md. */
static void test_times(void **state)
{
    oc_rules_t rules = rules_of("");
    const oc_constants_t *nominal = &rules.constants;
    oc_situation_t four = situation_of(4, 1, 4), nodes = situation_of(4, 8, 4);
    oc_situation_t many = situation_of(32, 1, 32);

    (void) state;
    /* recursive doubling, in two steps */
    assert_int_equal(previous(nominal, &four, 8), 2 * 2000);
    assert_int_equal(previous(nominal, &four, 1000), 2 * (2000 + 80));
    /* halving: four steps, 2 (4 - 1) / 4 of the vector */
    assert_int_equal(previous(nominal, &four, MIB), 4 * 2000 + 125829);
    /* … and within hosts 6 steps of 500 ns, 2 (8 - 1) / 8 of it by 0.1 ns */
    assert_int_equal(previous(nominal, &nodes, MIB), 4 * 2000 + 125829 + 6 * 500 + 183500);
    /* small: four messages in and four out, there and back */
    assert_int_equal(offloaded(nominal, &four, 1000),
                     20000 + 2 * 2000 + 8 * (300 + 80));
    /* large: bytes and messages of 16 KiB at the server, and a chunk of each host alone */
    assert_int_equal(offloaded(nominal, &four, MIB),
                     20000 + 4 * 2000 + 3 * 4 * 300 + 83886 + 38400 + 5242);
    /* … or, of a small one, 4 KiB from each of 32 hosts to one of the servers, and back */
    assert_int_equal(offloaded(nominal, &many, 16384),
                     20000 + 4 * 2000 + 3 * 32 * 300 + 2 * 10485 + 2 * 32 * 300);
    /* hosts with 8 ranks: six meetings of 500 ns; three copies are slower than the link, and what
       goes alone are two chunks of each host, not of each rank */
    assert_int_equal(offloaded(nominal, &nodes, MIB),
                     20000 + 4 * 2000 + 6 * 500 + 3 * 4 * 300 + 314572 + 10485);
    assert_int_equal(offloaded(nominal, &nodes, 1000),
                     20000 + 2 * 2000 + 6 * 500 + 800 + 8 * (300 + 80));
}

/* Each constant alone, from the nominal ones: 4 hosts, 4 servers, 1000 bytes and 1 MiB. */
static void test_constants(void **state)
{
    static const struct {
        const char *constant;
        uint64_t small, large, small_node, large_node;
    } known[] = {
        {"", 27040, 159128, 30840, 359657},
        {"link_latency=50000", 123040, 351128, 198840, 623657},
        {"offload_latency=0", 7040, 139128, 10840, 339657},
        {"message_cost=1000", 32640, 257128, 36440, 368057},
        /* 8 ns a byte, the server is as fast as before; in the node shape it is still the link */
        {"link_rate=1000", 90400, 8944496, 94200, 9471784},
        {"server_rate=10000", 27040, 914102, 30840, 922345},
        {"memory_rate=8000", 27040, 159128, 38040, 3190813},
    };
    oc_situation_t four = situation_of(4, 1, 4), nodes = situation_of(4, 8, 4);

    (void) state;
    for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++) {
        char text[64];
        oc_rules_t rules;

        snprintf(text, sizeof(text), "[model]\n%s\n", known[i].constant);
        rules = rules_of(text);
        assert_int_equal(offloaded(&rules.constants, &four, 1000), known[i].small);
        assert_int_equal(offloaded(&rules.constants, &four, MIB), known[i].large);
        assert_int_equal(offloaded(&rules.constants, &nodes, 1000), known[i].small_node);
        assert_int_equal(offloaded(&rules.constants, &nodes, MIB), known[i].large_node);
    }
}

/* A heavy server is fast at its link, not at all it has to reduce. */
static void test_server(void **state)
{
    oc_rules_t rules = rules_of("[model]\nlink_rate=100000000\nmessage_cost=0\nserver_rate=8000\n"
                                "link_latency=0\noffload_latency=0\n");
    static const struct {
        uint32_t hosts, servers, heaviest, peers;
        uint64_t weights;
        double factor; /* of a vector, at one byte a ns */
    } known[] = {
        {8, 1, 8000, 0, 8000, 8},      /* all of 8 hosts */
        {8, 8, 1000, 0, 8000, 1},
        {8, 2, 6000, 0, 8000, 6},      /* three quarters */
        {8, 2, 1000, 0, 2000, 4},      /* without peers each takes in half */
        {8, 2, 2000, 8, 4000, 2.5455}, /* beside peers: 2 y n of 8 * 14 / 88 each */
        {8, 1, 1, 8, 1, 1.0001},       /* a tiny one, and peers like each other */
    };

    (void) state;
    for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++) {
        oc_situation_t situation = situation_of(known[i].hosts, 1, known[i].servers);
        double factor;

        situation.weights = known[i].weights;
        situation.heaviest = known[i].heaviest;
        situation.peers = known[i].peers;
        factor = (double) offloaded(&rules.constants, &situation, 100 * GIB)
                 / (100.0 * GIB);
        if (factor < known[i].factor - 0.001 || factor > known[i].factor + 0.002) {
            fail_msg("%zu: %f instead of %f", i, factor, known[i].factor);
        }
    }
}

/* The link that carries most, as in division.h. */
static void test_links(void **state)
{
    oc_rules_t rules = rules_of("[model]\noffload_latency = 0\nmessage_cost = 0\n"
                                "link_rate = 8000\nserver_rate = 100000000\n"
                                "memory_rate = 100000000\n");
    static const struct {
        uint32_t hosts, servers;
        double factor;
    } known[] = {{8, 0, 1.75}, {8, 1, 1.6}, {8, 2, 1.4737}, {8, 4, 1.2727}, {8, 8, 1},
                 {8, 100, 1}, {2, 0, 1}, {2, 1, 1}, {64, 32, 1.3263}, {65, 13, 5}};
    oc_situation_t flat = situation_of(4, 2, 4);

    (void) state;
    for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++) {
        oc_situation_t situation = situation_of(known[i].hosts, 1, known[i].servers);
        /* one ns a byte; what goes alone is little */
        double factor = (double) offloaded(&rules.constants, &situation, 100 * GIB)
                        / (100.0 * GIB);

        assert_true(factor > known[i].factor - 0.001 && factor < known[i].factor + 0.002);
    }
    flat.nodes = false;
    assert_true(offloaded(&rules.constants, &flat, GIB) > 2 * GIB);
    flat.nodes = true;
    assert_true(offloaded(&rules.constants, &flat, GIB) < GIB * 11 / 10);
}

static void test_nominal(void **state)
{
    oc_rules_t rules = rules_of("");

    (void) state;
    /* four hosts: the smallest ones, and up to 64 KiB, are not for us */
    expect_from(&rules, situation_of(4, 1, 4), 8 * MIB);
    /* by themselves hosts are no faster than a ring */
    for (uint32_t hosts = 2; hosts <= 65536; hosts *= 2) {
        expect_from(&rules, situation_of(hosts, 1, 0), NEVER);
        expect_from(&rules, situation_of(hosts, 2, 0), NEVER);
        expect_from(&rules, situation_of(hosts, 256, 0), NEVER);
    }
    expect_from(&rules, situation_of(2, 1, 2), NEVER);
    expect_from(&rules, situation_of(2, 16, 2), NEVER);
}

/* Hosts with several ranks: where links are slow beside copying. */
static void test_several_ranks(void **state)
{
    oc_rules_t nominal = rules_of(""), ten = rules_of("[model]\nlink_rate=10000\n");
    oc_rules_t twenty_five = rules_of("[model]\nlink_rate=25000\n");

    (void) state;
    for (uint32_t per_host = 2; per_host <= 64; per_host *= 2) {
        for (uint32_t hosts = 2; hosts <= 8; hosts *= 2) {
            expect_from(&nominal, situation_of(hosts, per_host, hosts), NEVER);
            expect_from(&nominal, situation_of(hosts, per_host, 2 * hosts), NEVER);
        }
    }
    expect_from(&ten, situation_of(4, 2, 4), 512 * KIB);
    expect_from(&ten, situation_of(4, 8, 4), 512 * KIB);
    expect_from(&ten, situation_of(8, 64, 8), 512 * KIB);
    expect_from(&ten, situation_of(4, 8, 0), NEVER);
    expect_from(&twenty_five, situation_of(4, 8, 4), 256 * KIB);
}

/* They are twice as long on links where hosts reduce, which no ring is. */
static void test_widened(void **state)
{
    oc_rules_t ten = rules_of("[model]\nlink_rate=10000\n[allreduce a]\nhosts=3\noffload=1-\n");
    oc_situation_t nodes = situation_of(4, 8, 4), three = situation_of(3, 8, 3), flat = nodes;
    oc_choice_t by_model = choose(&ten, nodes), by_rule = choose(&ten, three), by_flat;

    (void) state;
    flat.nodes = false;
    flat.per_host = 1;
    flat.ranks = flat.hosts;
    by_flat = choose(&ten, flat);
    for (unsigned type = 0; type < OC_TYPE_END; type++) {
        bool widened = OC_TYPE_FLOAT16 == type || OC_TYPE_BFLOAT16 == type;

        assert_int_equal(oc_choice_leaves(&by_model, type, GIB), widened);
        assert_true(oc_choice_leaves(&by_model, type, 1));
        assert_false(oc_choice_leaves(&by_flat, type, GIB));
        assert_false(oc_choice_leaves(&by_rule, type, GIB));
    }
}

/* Only what is said of the links changes: without servers, and on two hosts, never. */
static void test_slow_latency(void **state)
{
    oc_rules_t rules = rules_of("[model]\nlink_latency = 50000\n");

    (void) state;
    for (uint32_t hosts = 2; hosts <= 64; hosts *= 2) {
        expect_from(&rules, situation_of(hosts, 1, 0), NEVER);
    }
    assert_true(offloaded(&rules.constants, &(oc_situation_t) {
                    .ranks = 2, .hosts = 2, .per_host = 1, .peers = 2, .lanes = 2,
                    .small_size = 8192, .largest_chunk = 65536, .fewest_chunks = 64}, 64 * KIB)
                > previous(&rules.constants, &(oc_situation_t) {
                    .ranks = 2, .hosts = 2, .per_host = 1}, 64 * KIB));
}

static void test_slow_links(void **state)
{
    oc_rules_t rules = rules_of(slow_links);
    oc_situation_t flat = situation_of(4, 4, 4), tree = situation_of(4, 1, 4);

    (void) state;
    expect_from(&rules, situation_of(4, 1, 4), 256 * KIB);
    expect_from(&rules, situation_of(4, 1, 2), 512 * KIB);
    expect_from(&rules, situation_of(4, 1, 1), 8 * MIB);
    expect_from(&rules, situation_of(4, 1, 0), NEVER);
    expect_from(&rules, situation_of(2, 1, 8), NEVER);
    tree.tree = true;
    expect_from(&rules, tree, NEVER);
    /* several ranks on a host that do not reduce first send too much */
    flat.nodes = false;
    expect_from(&rules, flat, NEVER);
}

/* More servers, faster ones, and slower messages between hosts never make it slower. */
static oc_situation_t over(oc_fabric_t fabric, unsigned rate, oc_situation_t situation)
{
    situation.network = (oc_network_t) {.rate = rate, .fabric = fabric};
    situation.previous[OC_RULED_ALLREDUCE] = OC_PREVIOUS_TUNED;
    return situation;
}

/*
 * Hosts that aggregate themselves win over TCP where tuned exchanges long messages, as far as
 * their processors keep up; a ring is as fast. With RDMA nobody has measured what Open MPI makes
 * of links.
 */
static void test_without_servers(void **state)
{
    oc_rules_t rules = rules_of("");
    oc_situation_t four = over(OC_FABRIC_TCP, 100, situation_of(4, 1, 0));

    (void) state;
    expect_from(&rules, four, 128 * KIB);
    expect_from(&rules, over(OC_FABRIC_TCP, 1000, situation_of(4, 1, 0)), MIB);
    expect_from(&rules, over(OC_FABRIC_TCP, 10000, situation_of(4, 1, 0)), NEVER);
    expect_from(&rules, over(OC_FABRIC_RDMA, 100, situation_of(4, 1, 0)), NEVER);
    four.previous[OC_RULED_ALLREDUCE] = OC_PREVIOUS_FORCED + OC_ALGORITHM_RING;
    expect_from(&rules, four, NEVER);
    four.previous[OC_RULED_ALLREDUCE] = OC_PREVIOUS_BEST;
    expect_from(&rules, four, NEVER);
}

/*
 * Without a rate of any device only what wins at each of them is offloaded; that of a file counts
 * before it.
 */
static void test_rates(void **state)
{
    oc_rules_t rules = rules_of("");

    (void) state;
    expect_from(&rules, over(OC_FABRIC_TCP, 0, situation_of(8, 1, 0)), NEVER);
    expect_from(&rules, over(OC_FABRIC_TCP, 0, situation_of(8, 1, 8)), NEVER);
    expect_from(&rules, over(OC_FABRIC_TCP, 200, situation_of(8, 1, 8)), 256 * KIB);
    rules = rules_of("[model]\nlink_rate = 200\n");
    expect_from(&rules, over(OC_FABRIC_TCP, 0, situation_of(8, 1, 8)), 256 * KIB);
    expect_from(&rules, over(OC_FABRIC_TCP, 40000, situation_of(8, 1, 8)), 256 * KIB);
    /* processors that cost nothing win at any rate */
    rules = rules_of("[model]\nserver_rate = 100000000\nmessage_cost = 0\noffload_latency = 0\n"
                     "link_latency = 0\n");
    expect_from(&rules, over(OC_FABRIC_TCP, 0, situation_of(8, 1, 8)), 256 * KIB);
}

static void test_monotony(void **state)
{
    oc_rules_t rules = rules_of(slow_links), fast = rules;

    (void) state;
    fast.constants.server_rate *= 2;
    fast.constants.message_cost /= 2;
    fast.constants.offload_latency /= 2;
    for (uint32_t hosts = 2; hosts <= 128; hosts += 3) {
        for (uint32_t servers = 0; servers < hosts + 2; servers++) {
            oc_situation_t less = situation_of(hosts, 1, servers);
            oc_situation_t more = situation_of(hosts, 1, servers + 1);

            for (uint64_t bytes = 1; bytes <= GIB; bytes *= 4) {
                uint64_t time = offloaded(&rules.constants, &less, bytes);

                assert_true(time <= offloaded(&rules.constants, &less, 4 * bytes)
                            || 4096 == bytes); /* several messages instead of one */
                assert_true(offloaded(&fast.constants, &less, bytes) <= time);
                assert_true(previous(&rules.constants, &less, bytes)
                            <= previous(&rules.constants, &less, 4 * bytes));
                /* peers are limited: that is where less is more */
                if (bytes >= MIB * 16 && (hosts <= 64 || servers > 0)) {
                    assert_true(offloaded(&rules.constants, &more, bytes)
                                <= time + time / 50);
                }
            }
        }
    }
}

/* Nothing within one host, whatever servers there are; nothing overflows. */
static void test_extremes(void **state)
{
    static const char *const texts[] = {
        "", "[model]\nlink_rate=1\nlink_latency=1000000000000\nserver_rate=1\nmemory_rate=1\n"
            "message_cost=1000000000000\noffload_latency=1000000000000\n",
        "[model]\nlink_rate=100000000\nlink_latency=0\nserver_rate=100000000\nmessage_cost=0\n"
        "offload_latency=0\nmemory_rate=100000000\n"};

    (void) state;
    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
        oc_rules_t rules = rules_of(texts[i]);
        oc_situation_t most = situation_of(256, 256, 255);

        expect_from(&rules, situation_of(1, 4, 0), NEVER);
        expect_from(&rules, situation_of(1, 64, 16), NEVER);
        most.weights = 256000 * (uint64_t) OC_WEIGHT_ONE;
        for (uint64_t bytes = 1; bytes <= 1ull << 40; bytes *= 2) {
            assert_true(offloaded(&rules.constants, &most, bytes) <= OC_FOREVER);
            assert_true(previous(&rules.constants, &most, bytes) < OC_FOREVER);
            for (oc_ruled_t ruled = OC_RULED_REDUCE; ruled < OC_RULED_BARRIER; ruled++) {
                assert_true(oc_offloaded_time(&rules.constants, &most, ruled, bytes) <= OC_FOREVER);
                assert_true(oc_previous_time(&rules.constants, &most, ruled, bytes) < OC_FOREVER);
            }
        }
        (void) choose(&rules, most);
        most.weights = 1;
        (void) choose(&rules, most);
    }
}

/* The first that fits decides. */
static void test_rules(void **state)
{
    oc_rules_t rules = rules_of("[allreduce a]\nhosts=4\nranks_per_host=1\nservers=4\n"
                                "offload=64K-1M,4M-\n"
                                "[allreduce b]\nhosts=4-8\nservers=0\noffload=always\n"
                                "[allreduce c]\nhosts=1\noffload=1K-\n"
                                "[allreduce d]\nhosts=4\noffload=never\n");
    oc_situation_t half = situation_of(4, 1, 4);

    (void) state;
    assert_int_equal(choose(&rules, situation_of(4, 1, 4)).rule, 0);
    assert_int_equal(choose(&rules, situation_of(4, 1, 4)).sizes.count, 2);
    assert_int_equal(choose(&rules, situation_of(4, 1, 0)).rule, 1);
    assert_int_equal(choose(&rules, situation_of(8, 9, 0)).rule, 1);
    assert_int_equal(choose(&rules, situation_of(1, 9, 3)).rule, 2);
    assert_int_equal(choose(&rules, situation_of(4, 2, 4)).rule, 3);
    assert_int_equal(choose(&rules, situation_of(4, 2, 4)).sizes.count, 0);
    assert_true(OC_MODEL == choose(&rules, situation_of(8, 1, 8)).rule);
    assert_true(OC_MODEL == choose(&rules, situation_of(3, 1, 0)).rule);
    half.weights += 999;
    assert_int_equal(choose(&rules, half).rule, 0);
}

static oc_outlook_t outlook_of(const char *servers, uint32_t hosts)
{
    oc_network_t network = {0};
    oc_job_settings_t settings;
    oc_outlook_t outlook;

    oc_settings_default(&oc_job_settings_table, &settings);
    settings.servers = servers;
    oc_outlook_make(&settings, hosts, &network, &outlook);
    return outlook;
}

static uint64_t least(const oc_rules_t *rules, const oc_outlook_t *outlook, uint32_t ranks,
                      uint32_t most_ranks, bool one_host)
{
    return oc_model_least(rules, outlook, OC_RULED_ALLREDUCE, ranks, most_ranks, one_host);
}

static void test_outlook(void **state)
{
    oc_outlook_t outlook = outlook_of("a,b:5,c", 7);

    (void) state;
    assert_int_equal(outlook.hosts, 7);
    assert_int_equal(outlook.servers, 3);
    assert_int_equal(outlook.weights, 3 * OC_WEIGHT_ONE);
    assert_int_equal(outlook.unclear, 0);
    assert_int_equal(outlook.small_size, 8192);
    outlook = outlook_of("embedded:3", 7);
    assert_int_equal(outlook.servers, 0);
    assert_int_equal(outlook.weights, 0);
    assert_int_equal(outlook.unclear, 0);
    assert_int_equal(outlook_of("embedded:x", 7).unclear, 1);
    assert_int_equal(outlook_of("a b", 7).unclear, 1);
    assert_int_equal(outlook_of("file:/nowhere/at/all", 7).unclear, 1);
    assert_int_equal(outlook_of(NULL, 7).unclear, 1);
}

/* No communicator offloads what is smaller than was said before its ranks met. */
static void test_least(void **state)
{
    static const char *const texts[] = {
        "", slow_links, "[allreduce a]\nhosts=3\noffload=100K-200K\n",
        "[allreduce a]\nranks_per_host=2-\noffload=never\n[allreduce b]\noffload=64K-\n"};
    static const char *const servers[] = {"embedded", "a", "a,b", "a,b,c,d,e,f,g,h"};

    (void) state;
    for (size_t t = 0; t < 4; t++) {
        oc_rules_t rules = rules_of(texts[t]);

        for (size_t s = 0; s < 4; s++) {
            oc_outlook_t outlook = outlook_of(servers[s], 40);

            for (uint32_t hosts = 2; hosts <= 16; hosts++) {
                for (uint32_t per_host = 1; per_host <= 3; per_host++) {
                    oc_situation_t situation =
                        situation_of(hosts, per_host, (uint32_t) outlook.servers);
                    oc_choice_t choice = choose(&rules, situation);
                    uint64_t first = least(&rules, &outlook, situation.ranks, situation.ranks,
                                           false);

                    assert_true(0 == choice.sizes.count || choice.sizes.ranges[0].first >= first);
                }
            }
        }
    }
}

static void test_least_known(void **state)
{
    oc_rules_t nominal = rules_of(""), slow = rules_of(slow_links);
    oc_rules_t rules = rules_of("[allreduce a]\nhosts=3\noffload=100K-200K,4M-\n"
                                "[allreduce b]\nhosts=1\nservers=1\noffload=50K-\n"
                                "[allreduce c]\nservers=2\noffload=never\n"
                                "[allreduce d]\nservers=3\nranks_per_host=2\noffload=5-\n"
                                "[allreduce e]\nservers=3\noffload=70K-\n");
    oc_outlook_t one = outlook_of("a", 8), two = outlook_of("a,b", 8);
    oc_outlook_t none = outlook_of("embedded", 8), three = outlook_of("a,b,c", 8);
    oc_outlook_t four = outlook_of("a,b,c,d", 4);
    oc_outlook_t sixteen = outlook_of("a,b,c,d,e,f,g,h,i,j,k,l,m,n,o,p", 64);

    (void) state;
    /* as it comes, a job never opens a server, and is not set up for up to 64 KiB */
    for (uint32_t ranks = 2; ranks <= 65536; ranks *= 2) {
        assert_true(least(&nominal, &sixteen, ranks, ranks, false) > 64 * KIB);
        assert_true(NEVER == least(&nominal, &none, ranks, ranks, false));
        assert_true(NEVER == least(&nominal, &none, ranks, ranks, true));
        assert_true(NEVER == least(&slow, &two, ranks, ranks, true));
    }
    assert_int_equal(least(&slow, &four, 4, 4, false), 256 * KIB);
    /* it may be on three hosts, or not */
    assert_int_equal(least(&rules, &two, 4, 4, false), 100 * KIB);
    assert_true(NEVER == least(&rules, &two, 2, 2, false));
    assert_true(NEVER == least(&rules, &two, 4, 4, true));
    assert_int_equal(least(&rules, &one, 4, 4, true), 50 * KIB);
    assert_int_equal(least(&rules, &three, 2, 2, false), 70 * KIB);
    assert_int_equal(least(&rules, &three, 3, 3, false), 5);
    three.unclear = 1;
    assert_int_equal(least(&nominal, &three, 2, 2, true), 1);
}

/* One number for communicators of similar sizes holds for each of them. */
static void test_least_table(void **state)
{
    oc_rules_t rules = rules_of("[allreduce a]\nhosts=1\nranks_per_host=6\noffload=3K-\n"
                                "[allreduce b]\nhosts=2\nranks_per_host=3\noffload=5K-\n");
    oc_outlook_t outlook = outlook_of("a,b,c,d", 8);
    oc_least_t table;

    (void) state;
    oc_least_make(&rules, &outlook, OC_RULED_ALLREDUCE, 40, &table);
    for (uint32_t ranks = 2; ranks <= 40; ranks++) {
        for (int one_host = 0; one_host < 2; one_host++) {
            assert_true(oc_least_find(&table, ranks, one_host)
                        <= least(&rules, &outlook, ranks, ranks, one_host));
        }
    }
    for (uint32_t ranks = 4; ranks < 8; ranks++) {
        assert_int_equal(oc_least_find(&table, ranks, true), 3 * KIB);
        assert_int_equal(oc_least_find(&table, ranks, false), 5 * KIB);
    }
    assert_true(NEVER == oc_least_find(&table, 3, true));
    assert_true(NEVER == oc_least_find(&table, 40, true));
    /* a job of all ranks that there can be; more than that is like that */
    rules = rules_of("[allreduce all]\nhosts=1\nranks_per_host=65536\noffload=7-\n");
    oc_least_make(&rules, &outlook, OC_RULED_ALLREDUCE, 65536, &table);
    assert_int_equal(oc_least_find(&table, 65536, true), 7);
    assert_int_equal(oc_least_find(&table, 200000, true), 7);
    assert_true(NEVER == oc_least_find(&table, 65535, true));
    oc_least_make(&rules, &outlook, OC_RULED_ALLREDUCE, 1, &table);
    assert_true(NEVER == oc_least_find(&table, 2, false));
}

static void expect_words(const oc_rules_t *rules, oc_situation_t situation, const char *words)
{
    oc_choice_t choice = choose(rules, situation);
    char text[256];

    oc_choice_print(rules, &situation, OC_RULED_ALLREDUCE, &choice, text, sizeof(text));
    assert_string_equal(text, words);
}

static void test_words(void **state)
{
    oc_rules_t rules = rules_of("[allreduce my four]\nhosts=4\noffload=64K-1M,4M-\n"), built_in;
    oc_situation_t weighted = situation_of(3, 2, 1);

    (void) state;
    oc_rules_default(&built_in);
    expect_words(&rules, situation_of(4, 1, 0),
                 "offloads 64 KiB to 1 MiB, 4 MiB and more (rule \"my four\" of test.ini)");
    expect_words(&rules, situation_of(3, 2, 0),
                 "offloads nothing (model of test.ini: 3 hosts x 2 ranks, no servers, "
                 "compared with the best of Open MPI)");
    expect_words(&built_in, situation_of(4, 1, 4),
                 "offloads 8 MiB and more (model: 4 hosts x 1 ranks, 4 servers, compared with "
                 "the best of Open MPI)");
    weighted.weights = 1500;
    expect_words(&built_in, weighted,
                 "offloads nothing (model: 3 hosts x 2 ranks, servers of weight 1.500, "
                 "compared with the best of Open MPI)");
    weighted.network = (oc_network_t) {.fabric = OC_FABRIC_TCP};
    weighted.previous[OC_RULED_ALLREDUCE] = OC_PREVIOUS_TUNED;
    expect_words(&built_in, weighted,
                 "offloads nothing (model: 3 hosts x 2 ranks, servers of weight 1.500, TCP at any "
                 "rate, compared with tuned)");
}

/* ---- results that go to owners ---- */

static double factor_of(oc_ruled_t ruled, oc_situation_t situation)
{
    oc_rules_t rules = rules_of("[model]\noffload_latency = 0\nmessage_cost = 0\n"
                                "link_rate = 8000\nserver_rate = 100000000\n"
                                "memory_rate = 100000000\n");

    return (double) oc_offloaded_time(&rules.constants, &situation, ruled, 100 * GIB)
           / (100.0 * GIB);
}

static void expect_factor(oc_ruled_t ruled, oc_situation_t situation, double factor)
{
    double found = factor_of(ruled, situation);

    if (found < factor - 0.001 || found > factor + 0.002) {
        fail_msg("%s, %u hosts, %llu peers: %f instead of %f", oc_ruled_name(ruled),
                 situation.hosts, (unsigned long long) situation.peers, found, factor);
    }
}

/* As owner_shares.h has it, in vectors of one ns a byte. */
static void test_owned_links(void **state)
{
    static const oc_ruled_t reduce = OC_RULED_REDUCE, block = OC_RULED_REDUCE_SCATTER_BLOCK;
    oc_situation_t few = situation_of(8, 1, 0), paired = situation_of(8, 1, 2);

    (void) state;
    for (uint32_t servers = 0; servers <= 10; servers++) {
        expect_factor(block, situation_of(8, 1, servers), 0.875);
        expect_factor(reduce, situation_of(8, 1, servers), 1);
    }
    expect_factor(block, situation_of(2, 1, 0), 0.5);
    expect_factor(reduce, situation_of(2, 1, 0), 1);
    /* half of the hosts aggregate: contributions of six hosts for a quarter each */
    few.peers = 4;
    expect_factor(block, few, 6 / 4.0 + 1 / 8.0);
    expect_factor(reduce, few, 6 / 3.0);
    /* servers alone */
    few = situation_of(8, 1, 2);
    few.peers = 0;
    expect_factor(block, few, 7 / 2.0);
    expect_factor(reduce, few, 8 / 2.0);
    /* what suits the pair is more than their links carry in that time */
    paired.paired = true;
    expect_factor(block, paired, 7 * 0.411 / 2);
    expect_factor(reduce, paired, 1);
    /* ranks that do not reduce inside */
    few = situation_of(8, 2, 8);
    few.nodes = false;
    expect_factor(block, few, 1.75);
    /* in rank order servers get everything of everybody, and owners have theirs at hand */
    few = situation_of(8, 1, 8);
    few.in_order = true;
    expect_factor(block, few, 1);
    few = situation_of(8, 1, 2);
    few.in_order = true;
    expect_factor(block, few, 1);
    few.paired = true;
    expect_factor(block, few, 8 * 0.411 / 2);
    few = situation_of(8, 1, 0);
    few.in_order = true;
    expect_factor(block, few, 0.875);
    /* partial results of twice the size come in beside six contributions of an eighth */
    few.in_order = false;
    few.wide = true;
    expect_factor(block, few, 1);
    few = situation_of(8, 1, 8);
    few.wide = true;
    expect_factor(block, few, 0.875);
}

/* Over TCP, and against tuned: 16 MiB of 8 hosts, as bench/run reduce-scatter-hosts has it. */
static void test_owned_choices(void **state)
{
    oc_rules_t rules = rules_of("");
    oc_situation_t eight = over(OC_FABRIC_TCP, 200, situation_of(8, 1, 0)), other = eight;
    oc_choice_t choice;

    (void) state;
    for (unsigned ruled = 0; ruled < OC_NUM_RULED; ruled++) {
        eight.previous[ruled] = OC_PREVIOUS_TUNED;
    }
    choice = choose_of(OC_RULED_REDUCE_SCATTER_BLOCK, &rules, eight);
    assert_true(oc_sizes_contain(&choice.sizes, 16 * MIB));
    choice = choose_of(OC_RULED_REDUCE, &rules, eight);
    assert_true(oc_sizes_contain(&choice.sizes, 16 * MIB));
    assert_false(oc_sizes_contain(&choice.sizes, 4096));
    /* a ring is what it is */
    choice = choose_of(OC_RULED_REDUCE_SCATTER, &rules, eight);
    assert_false(oc_sizes_contain(&choice.sizes, 16 * MIB));
    /* what nobody knows, other links, and Barriers are left */
    for (unsigned ruled = OC_RULED_REDUCE; ruled < OC_NUM_RULED; ruled++) {
        assert_int_equal(choose_of((oc_ruled_t) ruled, &rules, other).sizes.count, 0);
    }
    eight.network.fabric = OC_FABRIC_RDMA;
    for (unsigned ruled = OC_RULED_REDUCE; ruled < OC_NUM_RULED; ruled++) {
        assert_int_equal(choose_of((oc_ruled_t) ruled, &rules, eight).sizes.count, 0);
    }
}

/* 16-bit floats of a Reduce_scatter come back as 32 bits, which longer vectors are worth. */
static void test_owned_wide(void **state)
{
    oc_rules_t rules = rules_of("");
    oc_situation_t eight = over(OC_FABRIC_TCP, 100, situation_of(8, 1, 0));
    oc_choice_t choice;

    (void) state;
    for (unsigned ruled = 0; ruled < OC_NUM_RULED; ruled++) {
        eight.previous[ruled] = OC_PREVIOUS_TUNED;
    }
    eight.previous[OC_RULED_REDUCE_SCATTER_BLOCK] = OC_PREVIOUS_FORCED + OC_BLOCK_HALVING;
    choice = choose_of(OC_RULED_REDUCE_SCATTER_BLOCK, &rules, eight);
    assert_false(oc_choice_leaves(&choice, OC_TYPE_FLOAT, 16 * MIB));
    assert_false(oc_choice_leaves(&choice, OC_TYPE_BFLOAT16, 16 * MIB));
    assert_false(oc_choice_leaves(&choice, OC_TYPE_FLOAT, MIB));
    assert_true(oc_choice_leaves(&choice, OC_TYPE_BFLOAT16, MIB));
    choice = choose_of(OC_RULED_REDUCE, &rules, eight);
    assert_false(oc_choice_leaves(&choice, OC_TYPE_BFLOAT16, MIB));
}

/* Many ranks that halve between hosts first lose much, but short blocks are not for us. */
static void test_owned_short(void **state)
{
    oc_rules_t rules = rules_of("");
    oc_situation_t nodes = over(OC_FABRIC_TCP, 100, situation_of(4, 4, 0));
    oc_choice_t choice;

    (void) state;
    nodes.previous[OC_RULED_REDUCE_SCATTER_BLOCK] = OC_PREVIOUS_TUNED;
    choice = choose_of(OC_RULED_REDUCE_SCATTER_BLOCK, &rules, nodes);
    assert_true(oc_sizes_contain(&choice.sizes, 64 * KIB));
    assert_false(oc_sizes_contain(&choice.sizes, 64 * KIB - 1));
}

/* Each kind has rules of its own. */
static void test_owned_rules(void **state)
{
    oc_rules_t rules = rules_of("[barrier b]\nhosts=1-\noffload=always\n"
                                "[reduce r]\nhosts=4\noffload=5-9\n");
    oc_outlook_t outlook = outlook_of("a", 8);
    oc_choice_t choice;

    (void) state;
    assert_int_equal(choose_of(OC_RULED_BARRIER, &rules, situation_of(4, 1, 0)).rule, 0);
    assert_int_equal(choose_of(OC_RULED_BARRIER, &rules, situation_of(1, 2, 0)).rule, 0);
    choice = choose_of(OC_RULED_REDUCE, &rules, situation_of(4, 1, 0));
    assert_int_equal(choice.rule, 1);
    assert_int_equal(choice.sizes.ranges[0].last, 9);
    assert_true(OC_MODEL == choose_of(OC_RULED_REDUCE, &rules, situation_of(5, 1, 0)).rule);
    assert_true(OC_MODEL == choose(&rules, situation_of(4, 1, 0)).rule);
    assert_int_equal(oc_model_least(&rules, &outlook, OC_RULED_REDUCE, 4, 4, false), 5);
    assert_int_equal(oc_model_least(&rules, &outlook, OC_RULED_BARRIER, 4, 4, true), 0);
    assert_true(NEVER == least(&rules, &outlook, 4, 4, true));
}

/* For none of them is anything offloaded that is smaller than was said before ranks met. */
static void test_owned_least(void **state)
{
    oc_rules_t rules = rules_of("[model]\nlink_rate=200\n");
    oc_outlook_t outlook = outlook_of("embedded", 16);

    (void) state;
    outlook.network = (oc_network_t) {.rate = 200, .fabric = OC_FABRIC_TCP};
    for (unsigned ruled = 0; ruled < OC_NUM_RULED; ruled++) {
        rules.previous[ruled] = OC_PREVIOUS_TUNED;
    }
    for (unsigned ruled = 0; ruled < OC_NUM_RULED; ruled++) {
        for (uint32_t hosts = 2; hosts <= 16; hosts++) {
            oc_situation_t situation = over(OC_FABRIC_TCP, 200, situation_of(hosts, 1, 0));
            uint64_t first = oc_model_least(&rules, &outlook, (oc_ruled_t) ruled, hosts, hosts,
                                            false);
            oc_choice_t choice;

            memcpy(situation.previous, rules.previous, sizeof(situation.previous));
            choice = choose_of((oc_ruled_t) ruled, &rules, situation);
            assert_true(0 == choice.sizes.count || choice.sizes.ranges[0].first >= first);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_times),
        cmocka_unit_test(test_constants),
        cmocka_unit_test(test_server),
        cmocka_unit_test(test_links),
        cmocka_unit_test(test_several_ranks),
        cmocka_unit_test(test_widened),
        cmocka_unit_test(test_slow_latency),
        cmocka_unit_test(test_nominal),
        cmocka_unit_test(test_slow_links),
        cmocka_unit_test(test_without_servers),
        cmocka_unit_test(test_rates),
        cmocka_unit_test(test_monotony),
        cmocka_unit_test(test_extremes),
        cmocka_unit_test(test_rules),
        cmocka_unit_test(test_outlook),
        cmocka_unit_test(test_least),
        cmocka_unit_test(test_least_known),
        cmocka_unit_test(test_least_table),
        cmocka_unit_test(test_words),
        cmocka_unit_test(test_owned_links),
        cmocka_unit_test(test_owned_choices),
        cmocka_unit_test(test_owned_wide),
        cmocka_unit_test(test_owned_short),
        cmocka_unit_test(test_owned_rules),
        cmocka_unit_test(test_owned_least),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
