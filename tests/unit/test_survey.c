/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Owns the unit tests of what optcast-info --multicast concludes: from what arrived between hosts
 * to the sentences about them; and of its messages as bytes.
 */
/* Test: quick 60 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "multicast/flood/flood_judge.h"
#include "tools/survey/survey_findings.h"
#include "tools/survey/survey_options.h"
#include "tools/survey/survey_wire.h"

#define HOSTS 4u

static oc_survey_host_t hosts[64];
static oc_survey_pair_t pairs[64 * 64];
static oc_survey_t survey;
static oc_survey_findings_t findings;

/* A network without a fault: all arrives, and nothing floods. */
static void make_network(uint32_t count)
{
    memset(hosts, 0, sizeof(hosts));
    memset(pairs, 0, sizeof(pairs));
    survey = (oc_survey_t) {.hosts = count, .host = hosts, .pairs = pairs, .size = 1472,
                            .window = 512u << 10, .in_burst = 356, .flood_tested = true};
    for (uint32_t i = 0; i < count; i++) {
        snprintf(hosts[i].name, sizeof(hosts[i].name), "h%u", i + 1);
        hosts[i].facts = (oc_survey_facts_t) {.joined = true, .mtu = 1500, .datagram_size = 1472,
                                              .staging = 2730, .may_flood = true};
        hosts[i].burst = 1000;
        hosts[i].watched = 1 == i % 2;
        hosts[i].verdict = OC_FLOOD_GUARDED;
        for (uint32_t other = 0; other < count; other++) {
            if (other != i) {
                *oc_survey_pair(&survey, i, other) = (oc_survey_pair_t) {
                    .small = OC_SURVEY_PROBES, .full = OC_SURVEY_PROBES, .burst = 1000};
            }
        }
    }
}

static void let_pass(uint32_t sender, uint32_t receiver, uint32_t small, uint32_t full)
{
    oc_survey_pair_t *pair = oc_survey_pair(&survey, sender, receiver);

    pair->small = small;
    pair->full = full;
}

/* From and to one host, of what all others send or get. */
static void let_pass_all(uint32_t host, bool from, bool to, uint32_t small, uint32_t full)
{
    for (uint32_t other = 0; other < survey.hosts; other++) {
        if (other != host && from) {
            let_pass(host, other, small, full);
        }
        if (other != host && to) {
            let_pass(other, host, small, full);
        }
    }
}

static void conclude(void)
{
    oc_survey_find(&survey, &findings);
}

static void expect_finding(uint32_t at, oc_survey_severity_t severity, const char *kind,
                           const char *begin)
{
    assert_true(at < findings.count);
    assert_int_equal(findings.list[at].severity, severity);
    assert_string_equal(findings.list[at].kind, kind);
    if (0 != strncmp(findings.list[at].text, begin, strlen(begin))) {
        fail_msg("\"%s\" does not begin with \"%s\"", findings.list[at].text, begin);
    }
}

/* It is the only one. */
static void expect_only(oc_survey_severity_t severity, const char *kind, const char *begin)
{
    conclude();
    assert_int_equal(findings.count, 1);
    assert_int_equal(findings.left_out, 0);
    assert_int_equal(findings.worst, severity);
    expect_finding(0, severity, kind, begin);
}

static void test_good(void **state)
{
    (void) state;
    make_network(HOSTS);
    conclude();
    assert_int_equal(findings.count, 0);
    assert_int_equal(findings.worst, OC_SURVEY_REMARK);
    survey.flood_tested = false; /* no Ethernet */
    conclude();
    assert_int_equal(findings.count, 0);
}

static void test_nothing(void **state)
{
    (void) state;
    make_network(HOSTS);
    let_pass_all(2, false, true, 0, 0);
    expect_only(OC_SURVEY_FAULT, "nothing", "what is sent by any other host does not reach h3");
    make_network(HOSTS);
    let_pass_all(1, true, false, 0, 0);
    expect_only(OC_SURVEY_FAULT, "nothing", "what is sent by h2 does not reach any other host");
    make_network(HOSTS);
    let_pass(0, 1, 0, 0);
    let_pass(0, 3, 0, 0);
    expect_only(OC_SURVEY_FAULT, "nothing", "what is sent by h1 does not reach h2, h4");
    make_network(HOSTS);
    for (uint32_t i = 0; i < HOSTS; i++) {
        let_pass_all(i, true, true, 0, 0);
    }
    expect_only(OC_SURVEY_FAULT, "nothing", "no multicast passes between any two hosts");
}

static void test_two_hosts(void **state)
{
    (void) state;
    make_network(2);
    let_pass(0, 1, 0, 0);
    expect_only(OC_SURVEY_FAULT, "nothing", "what is sent by h1 does not reach h2");
    make_network(2);
    let_pass(1, 0, OC_SURVEY_PROBES, 0);
    expect_only(OC_SURVEY_FAULT, "size", "small datagrams from h2 reach h1, and none of 1500 ");
}

static void test_sizes(void **state)
{
    (void) state;
    make_network(HOSTS);
    let_pass_all(2, true, true, OC_SURVEY_PROBES, 0);
    conclude();
    assert_int_equal(findings.count, 2);
    assert_int_equal(findings.worst, OC_SURVEY_FAULT);
    expect_finding(0, OC_SURVEY_FAULT, "size", "small datagrams from h3 reach any other host");
    expect_finding(1, OC_SURVEY_FAULT, "size", "small datagrams from any other host reach h3");
    make_network(HOSTS);
    for (uint32_t i = 0; i < HOSTS; i++) {
        let_pass_all(i, true, true, 5, 0);
    }
    expect_only(OC_SURVEY_FAULT, "size", "small datagrams pass between all hosts, and none of 1500"
                " bytes");
    make_network(HOSTS);
    hosts[1].facts.mtu = 9000;
    expect_only(OC_SURVEY_FLAW, "mtu", "hosts have different MTUs: h1 1500, and h2 9000");
}

static void test_losses(void **state)
{
    (void) state;
    make_network(HOSTS);
    let_pass(0, 1, OC_SURVEY_PROBES, OC_SURVEY_PROBES - 1);
    let_pass(2, 3, OC_SURVEY_PROBES - 3, OC_SURVEY_PROBES - 1);
    oc_survey_pair(&survey, 2, 3)->burst = 900; /* is said already */
    expect_only(OC_SURVEY_FLAW, "loss", "datagrams that are sent one by one get lost between 2 "
                "pairs of hosts, most of them, 4 of 64, from h3 to h4");
    make_network(HOSTS);
    oc_survey_pair(&survey, 1, 0)->burst = 998;
    oc_survey_pair(&survey, 1, 2)->burst = 700;
    expect_only(OC_SURVEY_FLAW, "burst", "bursts lose datagrams between 2 pairs of hosts, most of "
                "them, 30.0 %, from h2 to h3");
    make_network(HOSTS);
    oc_survey_pair(&survey, 1, 0)->burst = 999; /* one of a thousand is nothing */
    oc_survey_pair(&survey, 1, 2)->burst = 1001; /* nor is what cannot be */
    conclude();
    assert_int_equal(findings.count, 0);
    oc_survey_pair(&survey, 3, 2)->doubled = 1;
    expect_only(OC_SURVEY_FLAW, "doubled", "datagrams come twice to h3");
}

static void test_absent(void **state)
{
    (void) state;
    make_network(HOSTS);
    hosts[3].facts = (oc_survey_facts_t) {.reason = "it has no interface"};
    let_pass_all(3, true, true, 0, 0);
    expect_only(OC_SURVEY_FAULT, "join", "h4 takes no part: it has no interface");
}

static void test_floods(void **state)
{
    (void) state;
    make_network(HOSTS);
    hosts[3].verdict = OC_FLOOD_FLOODED;
    expect_only(OC_SURVEY_FLAW, "flood", "the network floods: it delivers multicast to hosts that "
                "have not joined, of which h4 sees it;");
    hosts[1].verdict = OC_FLOOD_FLOODED;
    expect_only(OC_SURVEY_FLAW, "flood", "the network floods: it delivers multicast to hosts that "
                "have not joined, of which h2, h4 see it;");
    hosts[1].verdict = OC_FLOOD_BLIND;
    hosts[3].verdict = OC_FLOOD_UNKNOWN;
    expect_only(OC_SURVEY_FLAW, "blind", "no host can tell whether the network floods");
    hosts[0].verdict = OC_FLOOD_FLOODED; /* which was not to look */
    hosts[1].verdict = OC_FLOOD_GUARDED;
    conclude();
    assert_int_equal(findings.count, 0);
}

static void test_buffers(void **state)
{
    (void) state;
    make_network(HOSTS);
    hosts[0].facts.staging = hosts[2].facts.staging = 139;
    expect_only(OC_SURVEY_REMARK, "buffers", "h1, h3: the kernel keeps less than the 524288 bytes");
}

/* More than there is room for is counted, and none of it is worth more than the first. */
static void test_many(void **state)
{
    bool chosen[64];
    char names[256];

    (void) state;
    make_network(64);
    for (uint32_t i = 0; i < 64; i++) {
        hosts[i].facts.joined = i < 2;
        chosen[i] = true;
    }
    conclude();
    assert_int_equal(findings.count, OC_SURVEY_FINDINGS);
    assert_int_equal(findings.left_out, 62 - OC_SURVEY_FINDINGS);
    assert_int_equal(findings.worst, OC_SURVEY_FAULT);
    assert_int_equal(oc_survey_names(&survey, chosen, names, sizeof(names)), 64);
    assert_string_equal(names, "h1, h2, h3, h4, h5, h6, h7, h8 and 56 more");
    memset(hosts[0].name, 'x', sizeof(hosts[0].name) - 1);
    assert_int_equal(oc_survey_names(&survey, chosen, names, 8), 64);
    assert_string_equal(names, "xxxxxxx");
}

static void test_rate(void **state)
{
    oc_survey_pair_t pair = {.rates = 3, .rate = {900, 100, 500}};

    (void) state;
    assert_true(500 == oc_survey_rate(&pair));
    pair.rates = 0;
    assert_true(0 == oc_survey_rate(&pair));
}

/* ---- messages ---- */

static const oc_survey_message_t messages[] = {
    {.type = OC_SURVEY_HELLO, .hello = {"word", "host-1", 0x1234567890abcdef}},
    {.type = OC_SURVEY_REFUSED, .text = "no"},
    {.type = OC_SURVEY_PLAN, .plan = {.host = 3, .hosts = 4, .address = 0x0100c0ef, .port = 8919,
                                      .probes = 0xefc00002u, .marks = 0xefc00003u, .rate = 1000, .staging = 4u << 20,
                                      .token = 99, .key = {[31] = 7}}},
    {.type = OC_SURVEY_FACTS, .facts = {.joined = true, .reason = "", .interface = "eth0",
                                        .address = 7, .mtu = 9000, .datagram_size = 8972,
                                        .staging = 512, .rmem_max = 1ull << 40,
                                        .memberships = 20, .sees_packets = true}},
    {.type = OC_SURVEY_LISTEN, .step = {1, 1023, 32, 32, 1432, 150}},
    {.type = OC_SURVEY_SEND, .step = {UINT32_MAX, 0, 0, OC_SURVEY_MOST, 65535, 0}},
    {.type = OC_SURVEY_COUNT, .step = {2, 0, 0, 1, 1, 10000}},
    {.type = OC_SURVEY_COUNTS, .counts = {32, 31, 5, 30, 1ull << 33}},
    {.type = OC_SURVEY_FLOOD, .role = 3},
    {.type = OC_SURVEY_FLOOD_SEND},
    {.type = OC_SURVEY_FLOOD_END},
    {.type = OC_SURVEY_VERDICT, .verdict = OC_FLOOD_FLOODED},
    {.type = OC_SURVEY_END},
};

#define MESSAGES (sizeof(messages) / sizeof(messages[0]))

/* The same bytes again: each field has come back. A part of a message is none yet. */
static void test_codec(void **state)
{
    uint8_t bytes[OC_SURVEY_FRAME], again[OC_SURVEY_FRAME];
    oc_survey_message_t message;
    size_t used;

    (void) state;
    assert_int_equal(MESSAGES, OC_SURVEY_TYPES - 1);
    for (size_t i = 0; i < MESSAGES; i++) {
        size_t length = oc_survey_encode(&messages[i], bytes);

        for (size_t part = 0; part < length; part++) {
            assert_int_equal(oc_survey_decode(bytes, part, &message, &used), OC_IN_PROGRESS);
        }
        assert_int_equal(oc_survey_decode(bytes, length, &message, &used), OC_OK);
        assert_int_equal(used, length);
        assert_int_equal(message.type, messages[i].type);
        assert_int_equal(oc_survey_encode(&message, again), length);
        assert_memory_equal(again, bytes, length);
        /* what follows is of the next one */
        assert_int_equal(oc_survey_decode(bytes, sizeof(bytes), &message, &used), OC_OK);
        assert_int_equal(used, length);
    }
}

static void expect_invalid(oc_survey_message_t message)
{
    uint8_t bytes[OC_SURVEY_FRAME];
    size_t length = oc_survey_encode(&message, bytes), used;

    assert_int_equal(oc_survey_decode(bytes, length, &message, &used), OC_ERR_INVALID);
}

static void test_invalid(void **state)
{
    uint8_t bytes[OC_SURVEY_FRAME];
    oc_survey_message_t message;
    size_t length, used;

    (void) state;
    expect_invalid((oc_survey_message_t) {.type = OC_SURVEY_PLAN,
                                          .plan = {.host = 4, .hosts = 4}});
    expect_invalid((oc_survey_message_t) {.type = OC_SURVEY_PLAN,
                                          .plan = {.hosts = OC_SURVEY_HOSTS + 1}});
    expect_invalid((oc_survey_message_t) {.type = OC_SURVEY_PLAN,
                                          .plan = {.hosts = 4, .staging = (1u << 30) + 1}});
    expect_invalid((oc_survey_message_t) {.type = OC_SURVEY_LISTEN, .step = {.full = 16385}});
    expect_invalid((oc_survey_message_t) {.type = OC_SURVEY_SEND, .step = {.small = 16385}});
    expect_invalid((oc_survey_message_t) {.type = OC_SURVEY_SEND, .step = {.length = 65536}});
    expect_invalid((oc_survey_message_t) {.type = OC_SURVEY_SEND, .step = {.sender = 1024}});
    expect_invalid((oc_survey_message_t) {.type = OC_SURVEY_COUNT, .step = {.patience = 10001}});
    expect_invalid((oc_survey_message_t) {.type = OC_SURVEY_COUNTS, .counts = {.full = 16385}});
    expect_invalid((oc_survey_message_t) {.type = OC_SURVEY_COUNTS, .counts = {.spanned = 1}});
    expect_invalid((oc_survey_message_t) {.type = OC_SURVEY_FLOOD, .role = 4});
    expect_invalid((oc_survey_message_t) {.type = OC_SURVEY_VERDICT, .verdict = 4});
    expect_invalid((oc_survey_message_t) {.type = OC_SURVEY_TYPES});
    expect_invalid((oc_survey_message_t) {.type = 0});
    length = oc_survey_encode(&messages[0], bytes);
    bytes[4] ^= 1; /* magic */
    assert_int_equal(oc_survey_decode(bytes, length, &message, &used), OC_ERR_INVALID);
    bytes[4] ^= 1;
    bytes[6]++; /* version */
    assert_int_equal(oc_survey_decode(bytes, length, &message, &used), OC_ERR_INVALID);
    bytes[6]--;
    bytes[0]++; /* a byte too many */
    assert_int_equal(oc_survey_decode(bytes, length + 1, &message, &used), OC_ERR_INVALID);
    bytes[0] -= 2; /* and one too few */
    assert_int_equal(oc_survey_decode(bytes, length, &message, &used), OC_ERR_INVALID);
    memset(bytes, 0xff, sizeof(bytes)); /* longer than any */
    assert_int_equal(oc_survey_decode(bytes, sizeof(bytes), &message, &used), OC_ERR_INVALID);
}

static void test_texts(void **state)
{
    oc_survey_message_t message = {.type = OC_SURVEY_HELLO, .hello = {.name = "a\x1b[2Jb\xff"}};
    uint8_t bytes[OC_SURVEY_FRAME];
    size_t length = oc_survey_encode(&message, bytes), used;

    (void) state;
    assert_int_equal(oc_survey_decode(bytes, length, &message, &used), OC_OK);
    assert_string_equal(message.hello.name, "a?[2Jb?");
    bytes[8] = OC_SURVEY_TOKEN; /* longer than there is room */
    assert_int_equal(oc_survey_decode(bytes, length, &message, &used), OC_ERR_INVALID);
}

/* ---- settings ---- */

static void test_settings(void **state)
{
    oc_survey_options_t options;
    char error[512] = "";

    (void) state;
    assert_int_equal(setenv("OMPI_MCA_coll_optcast_multicast_port", "9001", 1), 0);
    assert_int_equal(setenv("OMPI_MCA_coll_optcast_mode", "nonsense", 1), 0); /* not its own */
    assert_int_equal(oc_survey_options_init(&options, error, sizeof(error)), OC_OK);
    assert_int_equal(options.settings.multicast_port, 9001);
    assert_int_equal(options.wait, OC_SURVEY_WAIT);
    assert_int_equal(oc_survey_options_set(&options, "multicast_port=9002", error, sizeof(error)),
                     OC_OK);
    assert_int_equal(options.settings.multicast_port, 9002);
    assert_int_equal(oc_survey_options_set(&options, "coll_optcast_multicast_interface=eth1", error,
                                           sizeof(error)), OC_OK);
    assert_string_equal(options.settings.multicast_interface, "eth1");
    assert_int_equal(oc_survey_options_set(&options, "multicast_port=0", error, sizeof(error)),
                     OC_ERR_INVALID);
    assert_non_null(strstr(error, "multicast_port"));
    assert_int_equal(oc_survey_options_set(&options, "mode=always", error, sizeof(error)),
                     OC_ERR_INVALID);
    assert_non_null(strstr(error, "\"mode\" is not one of the settings of multicast"));
    assert_int_equal(oc_survey_options_set(&options, "coll_optcast_", error, sizeof(error)),
                     OC_ERR_INVALID);
    assert_int_equal(oc_survey_options_set(&options, "=", error, sizeof(error)), OC_ERR_INVALID);
    assert_int_equal(oc_survey_options_set(&options, "coll_optcast_=", error, sizeof(error)),
                     OC_ERR_INVALID);
    assert_int_equal(setenv("OMPI_MCA_coll_optcast_multicast_port", "none", 1), 0);
    assert_int_equal(oc_survey_options_init(&options, error, sizeof(error)), OC_ERR_INVALID);
    assert_non_null(strstr(error, "multicast_port"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_good), cmocka_unit_test(test_nothing),
        cmocka_unit_test(test_two_hosts), cmocka_unit_test(test_sizes),
        cmocka_unit_test(test_losses), cmocka_unit_test(test_absent),
        cmocka_unit_test(test_floods), cmocka_unit_test(test_buffers),
        cmocka_unit_test(test_many), cmocka_unit_test(test_rate),
        cmocka_unit_test(test_codec), cmocka_unit_test(test_invalid),
        cmocka_unit_test(test_texts), cmocka_unit_test(test_settings)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
