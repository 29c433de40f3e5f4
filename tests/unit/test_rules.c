/* SPDX-License-Identifier: BSD-3-Clause */
/* Owns the unit tests of the rules of mode auto: what is understood, and every kind of mistake. */
/* Test: quick 120 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/rules.h"

static oc_rules_t rules;
static char error[512];

static oc_status_t parse(const char *text)
{
    size_t length = strlen(text);
    char *copy = malloc(length);      /* without a final zero */
    oc_status_t status;

    assert_non_null(copy);
    memcpy(copy, text, length);
    memset(error, 0, sizeof(error));
    status = oc_rules_parse("site.ini", copy, length, &rules, error, sizeof(error));
    free(copy);
    return status;
}

static void expect(const char *text)
{
    if (OC_OK != parse(text)) {
        fail_msg("%s", error);
    }
}

/* On that line, and with that text; nothing of the rules is left. */
static void expect_error(const char *text, unsigned line, const char *part)
{
    oc_rules_t nothing;
    char place[32];

    snprintf(place, sizeof(place), "site.ini, line %u: ", line);
    assert_int_equal(parse(text), OC_ERR_INVALID);
    if (0 != strncmp(error, place, strlen(place)) || NULL == strstr(error, part)) {
        fail_msg("\"%s\" does not say \"%s\" and %s", error, place, part);
    }
    oc_rules_default(&nothing);
    assert_memory_equal(&rules, &nothing, sizeof(rules));
}

static void expect_range(const oc_range_t *range, uint64_t first, uint64_t last)
{
    assert_true(first == range->first);
    assert_true(last == range->last);
}

static void test_nothing(void **state)
{
    (void) state;
    expect("");
    assert_string_equal(rules.source, "site.ini");
    assert_int_equal(rules.count, 0);
    assert_int_equal(rules.constants.link_rate, 100000);
    assert_int_equal(rules.constants.link_latency, 2000);
    assert_int_equal(rules.constants.offload_latency, 20000);
    assert_int_equal(rules.constants.message_cost, 300);
    assert_int_equal(rules.constants.server_rate, 100000);
    assert_int_equal(rules.constants.memory_rate, 80000);
    expect("\n\n; nothing\n# at all\n\r\n");
    assert_int_equal(rules.count, 0);
}

static void test_model(void **state)
{
    (void) state;
    expect("version = 1\n[model]\nlink_rate = 25000 ; 25 Gbit/s\nlink_latency=0\n"
           "  offload_latency = 7\n\tmessage_cost=8\nserver_rate= 1K\nmemory_rate =100000000");
    assert_int_equal(rules.constants.link_rate, 25000);
    assert_int_equal(rules.constants.link_latency, 0);
    assert_int_equal(rules.constants.offload_latency, 7);
    assert_int_equal(rules.constants.message_cost, 8);
    assert_int_equal(rules.constants.server_rate, 1024);
    assert_int_equal(rules.constants.memory_rate, 100000000);
}

/* What a file says counts on any network; the rest is as the network is. */
static void test_networks(void **state)
{
    const oc_network_t tcp = {.rate = 10000, .fabric = OC_FABRIC_TCP};
    const oc_network_t rdma = {.rate = 200000, .fabric = OC_FABRIC_RDMA}, unknown = {.rate = 7};
    oc_constants_t constants;

    (void) state;
    expect("[model]\nmessage_cost = 8\n");
    oc_rules_constants(&rules, &tcp, &constants);
    assert_int_equal(constants.link_rate, 10000);
    assert_int_equal(constants.link_latency, 30000);
    assert_int_equal(constants.message_cost, 8);
    assert_int_equal(constants.server_rate, 10000);
    oc_rules_constants(&rules, &rdma, &constants);
    assert_int_equal(constants.link_rate, 200000);
    assert_int_equal(constants.link_latency, 2000);
    oc_rules_constants(&rules, &unknown, &constants);
    assert_int_equal(constants.link_rate, 100000);
    expect("[model]\nlink_rate = 40\n");
    oc_rules_constants(&rules, &tcp, &constants);
    assert_int_equal(constants.link_rate, 40);
    oc_rules_constants(&rules, &rdma, &constants);
    assert_int_equal(constants.link_rate, 40);
}

static void test_rules(void **state)
{
    (void) state;
    expect("[allreduce four]\r\nhosts = 4\r\nranks_per_host = 1-2\nservers = 0\n"
           "offload = 64K-1M, 4M-\n\n[allreduce Any other, really]\noffload=never\n"
           "[model]\nlink_rate=1\n[allreduce x]\nhosts = 1 - 3\noffload = always\n"
           "[allreduce y]\nhosts=65536-\nservers=3 -\noffload= 1-1 ,2 - 3,5-8,10-\n");
    assert_int_equal(rules.count, 4);
    assert_string_equal(rules.rules[0].name, "four");
    expect_range(&rules.rules[0].hosts, 4, 4);
    expect_range(&rules.rules[0].ranks_per_host, 1, 2);
    expect_range(&rules.rules[0].servers, 0, 0);
    assert_int_equal(rules.rules[0].offload.count, 2);
    expect_range(&rules.rules[0].offload.ranges[0], 65536, 1 << 20);
    expect_range(&rules.rules[0].offload.ranges[1], 4 << 20, UINT64_MAX);
    assert_string_equal(rules.rules[1].name, "Any other, really");
    expect_range(&rules.rules[1].hosts, 2, UINT64_MAX);
    expect_range(&rules.rules[1].ranks_per_host, 1, UINT64_MAX);
    expect_range(&rules.rules[1].servers, 0, UINT64_MAX);
    assert_int_equal(rules.rules[1].offload.count, 0);
    expect_range(&rules.rules[2].hosts, 1, 3);
    expect_range(&rules.rules[2].offload.ranges[0], 0, UINT64_MAX);
    expect_range(&rules.rules[3].hosts, 65536, UINT64_MAX);
    expect_range(&rules.rules[3].servers, 3, UINT64_MAX);
    assert_int_equal(rules.rules[3].offload.count, 4);
    expect_range(&rules.rules[3].offload.ranges[0], 1, 1);
    expect_range(&rules.rules[3].offload.ranges[2], 5, 8);
    assert_int_equal(rules.constants.link_rate, 1);
}

/* One after the other with the same name, which each kind has for itself. */
static void test_kinds(void **state)
{
    (void) state;
    expect("[allreduce a]\noffload=1-\n[reduce a]\noffload=2-\n[reduce_scatter a]\noffload=3-\n"
           "[reduce_scatter_block a]\noffload=4-\n[barrier a]\noffload=always\n"
           "[barrier b]\nhosts=3\noffload=never\n");
    assert_int_equal(rules.count, 6);
    for (unsigned i = 0; i < OC_NUM_RULED; i++) {
        assert_int_equal(rules.rules[i].ruled, i);
        assert_string_equal(rules.rules[i].name, "a");
    }
    assert_int_equal(rules.rules[2].offload.ranges[0].first, 3);
    assert_int_equal(rules.rules[3].offload.ranges[0].first, 4);
    expect_range(&rules.rules[4].offload.ranges[0], 0, UINT64_MAX);
    assert_int_equal(rules.rules[5].offload.count, 0);
    expect_error("[barrier a]\noffload=1-\n", 2, "has no bytes: always or never");
    expect_error("[reduce a]\noffload=never\n[reduce a]\noffload=never\n", 3, "was there before");
    expect_error("[reduce_scatter_blocks a]\noffload=never\n", 1,
                 "[reduce_scatter_blocks a] is not known: [model], [allreduce NAME], [reduce NAME]");
    expect_error("[reducea]\noffload=never\n", 1, "[reducea] is not known");
}

static void test_structure(void **state)
{
    (void) state;
    expect_error("nonsense", 1, "\"name = value\" line");
    expect_error("[model]\n\nlink_rate 5\n", 3, "\"name = value\" line");
    expect_error("[model\nlink_rate=5\n", 1, "\"name = value\" line");
    expect_error("link_rate = 5\n", 1, "\"link_rate\" stands in no section");
    expect_error("version = 2\n", 1, "version \"2\"");
    expect_error("version = one\n", 1, "version \"one\"");
    expect_error("version = 1\nversion = 1\n", 2, "twice");
    expect_error("[Model]\nlink_rate=5\n", 1, "[Model] is not known");
    expect_error("[allgather x]\noffload=never\n", 1, "[allgather x] is not known");
    expect_error("[allreduce]\noffload=never\n", 1, "[allreduce] is not known");
    expect_error("[allreduce ]\noffload=never\n", 1, "\"\" is not a name");
    expect_error("[allreduce 12345678901234567890123456789012]\noffload=never\n", 1, "31 letters");
    expect_error("[allreduce a]\noffload=never\n[allreduce b]\noffload=never\n[allreduce a]\n"
                 "offload=never\n", 5, "\"a\" was there before");
    expect_error("\n[allreduce a]\nhosts=4\n", 2, "\"a\" does not say offload");
    expect_error("[allreduce a]\nhosts=4\n[model]\nlink_rate=5\n", 1, "\"a\" does not say offload");
    expect_error("[allreduce a]\nhosts=4\n[allreduce b]\noffload=never\n", 1, "\"a\" does not say");
    /* sections without anything in them, and the same one twice in a row */
    expect_error("\n[foo]\n", 2, "[foo] is not known");
    expect_error("\xef\xbb\xbf[foo]\n", 1, "[foo] is not known");
    expect_error("[allreduce x]\n", 1, "\"x\" does not say offload");
    expect_error("[allreduce x]\n[model]\n", 1, "\"x\" does not say offload");
    expect_error("[allreduce a]\noffload=never\n  [allreduce a]\nhosts=4\n", 3,
                 "\"a\" was there before");
    expect_error("[allreduce a ; b]\noffload=never\n", 1, "\"name = value\" line");
    expect("[model]\n[allreduce a] ; a comment\noffload=never\n[model]\n");
    assert_int_equal(rules.count, 1);
    assert_string_equal(rules.rules[0].name, "a");
}

static void test_model_values(void **state)
{
    (void) state;
    expect_error("[model]\nlink_rat = 5\n", 2, "\"link_rat\" is not known");
    expect_error("[model]\nLINK_RATE = 5\n", 2, "\"LINK_RATE\" is not known");
    expect_error("[model]\nlink_rate = 0\n", 2, "1 to 100000000");
    expect_error("[model]\nlink_rate = 100000001\n", 2, "\"100000001\"");
    expect_error("[model]\nlink_rate = fast\n", 2, "\"fast\" is not a value of link_rate");
    expect_error("[model]\nlink_rate = -5\n", 2, "\"-5\"");
    expect_error("[model]\nlink_rate = 1.5\n", 2, "\"1.5\"");
    expect_error("[model]\nlink_rate =\n", 2, "\"\"");
    expect_error("[model]\nlink_rate = 5 # five\n", 2, "\"5 # five\"");
    expect_error("[model]\nlink_latency = 1000000000001\n", 2, "link_latency");
    expect_error("[model]\nlink_rate = 5\n\nlink_rate = 5\n", 4, "link_rate stands there twice");
    expect_error("[model]\nhosts = 5\n", 2, "\"hosts\" is not known in [model]");
}

static void test_rule_values(void **state)
{
    static const char *const ranges[] = {"", "-", "4-2", "x", "4x", "4-x", "-4", "0", "65537",
                                         "4,5", "1.5", "4--5", "99999999999999999999"};
    static const char *const sizes[] = {"", "64K", "-", "-64K", "1M-64K", "sometimes", "Never",
                                        "never,1-", "1-2,", ",1-2", "1-5,5-8", "5-8,1-2", "1-,5-",
                                        "1-1,3-3,5-5,7-7,9-9", "64KB-", "1-2-3", "1e6-"};
    char text[256];

    (void) state;
    for (size_t i = 0; i < sizeof(ranges) / sizeof(ranges[0]); i++) {
        snprintf(text, sizeof(text), "[allreduce a]\noffload=never\nhosts = %s\n", ranges[i]);
        expect_error(text, 3, "is not a value of hosts: N, N-M or N-");
    }
    for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
        snprintf(text, sizeof(text), "[allreduce a]\noffload = %s\n", sizes[i]);
        expect_error(text, 2, "is not a value of offload: always, never");
    }
    expect_error("[allreduce a]\noffload=never\nservers=256001\n", 3, "\"256001\"");
    expect_error("[allreduce a]\noffload=never\nranks_per_host=0\n", 3, "ranks_per_host");
    expect_error("[allreduce a]\noffload=never\nhost=4\n", 3, "\"host\" is not known in a rule");
    expect_error("[allreduce a]\noffload=never\noffload=never\n", 3, "offload stands there twice");
    expect_error("[allreduce a]\nhosts=4\nhosts=4\noffload=never\n", 3, "hosts stands there twice");
}

static void test_too_much(void **state)
{
    char text[8192], line[256];
    size_t length = 0;

    (void) state;
    for (int i = 0; i < OC_MAX_RULES; i++) {
        length += (size_t) snprintf(text + length, sizeof(text) - length,
                                    "[allreduce r%d]\noffload=never\n", i);
    }
    expect(text);
    assert_int_equal(rules.count, OC_MAX_RULES);
    snprintf(text + length, sizeof(text) - length, "[allreduce more]\noffload=never\n");
    expect_error(text, 2 * OC_MAX_RULES + 1, "more than 64 rules");
    /* inih would take the rest of it for another line */
    memset(line, ' ', sizeof(line) - 1);
    memcpy(line, ";", 1);
    snprintf(line + 200, sizeof(line) - 200, "link_rate = 5\n");
    snprintf(text, sizeof(text), "[model]\n%s", line);
    expect_error(text, 2, "longer than");
}

static void test_bytes(void **state)
{
    static const char text[] = "[model]\nlink_rate = 5\0 00\n";

    (void) state;
    assert_int_equal(oc_rules_parse("site.ini", text, sizeof(text) - 1, &rules, error,
                                    sizeof(error)), OC_ERR_INVALID);
    assert_non_null(strstr(error, "line 2: it is not text"));
    expect("\xef\xbb\xbf[model]\nlink_rate = 5\n");
    assert_int_equal(rules.constants.link_rate, 5);
    expect_error("[allreduce a\xff]\nhosts=\xff\n", 2, "is not a value of hosts");
    /* however little room there is */
    for (size_t size = 1; size < 40; size++) {
        memset(error, 'x', sizeof(error));
        assert_int_equal(oc_rules_parse("a name", "nonsense", 8, &rules, error, size),
                         OC_ERR_INVALID);
        assert_true(strlen(error) < size);
        assert_int_equal(error[size], 'x');
    }
}

static void test_source(void **state)
{
    char path[300];

    (void) state;
    memset(path, 'a', sizeof(path));
    snprintf(path + 280, sizeof(path) - 280, "/end.ini");
    assert_int_equal(oc_rules_parse(path, "", 0, &rules, error, sizeof(error)), OC_OK);
    assert_int_equal(strlen(rules.source), OC_RULES_SOURCE_SIZE - 1);
    assert_string_equal(rules.source + OC_RULES_SOURCE_SIZE - 1 - 8, "/end.ini");
}

static void write_file(const char *path, const char *text, size_t length)
{
    FILE *file = fopen(path, "w");

    assert_non_null(file);
    assert_int_equal(fwrite(text, 1, length, file), length);
    fclose(file);
}

static void expect_unread(const char *path, oc_status_t status, const char *part)
{
    assert_int_equal(oc_rules_read(path, &rules, error, sizeof(error)), status);
    if (NULL == strstr(error, path) || NULL == strstr(error, part)) {
        fail_msg("\"%s\" does not say %s and %s", error, path, part);
    }
    assert_int_equal(rules.constants.link_rate, 100000);
}

static void test_files(void **state)
{
    static char large[OC_MAX_RULES_FILE + 1];
    char folder[] = "/tmp/optcast_rules_XXXXXX", path[64];

    (void) state;
    assert_non_null(mkdtemp(folder));
    snprintf(path, sizeof(path), "%s/rules", folder);
    expect_unread(path, OC_ERR_UNREACHABLE, "No such file");
    expect_unread(folder, OC_ERR_INVALID, "directory");
    write_file(path, "[model]\nlink_rate=x\n", 20);
    expect_unread(path, OC_ERR_INVALID, ", line 2: \"x\"");
    write_file(path, "[model]\nlink_rate=7\n", 20);
    assert_int_equal(oc_rules_read(path, &rules, error, sizeof(error)), OC_OK);
    assert_int_equal(rules.constants.link_rate, 7);
    assert_string_equal(rules.source, path);
    memset(large, '\n', sizeof(large));
    write_file(path, large, OC_MAX_RULES_FILE);
    assert_int_equal(oc_rules_read(path, &rules, error, sizeof(error)), OC_OK);
    write_file(path, large, sizeof(large));
    expect_unread(path, OC_ERR_INVALID, "longer than 65536 bytes");
    unlink(path);
    /* nobody writes there: it must not wait */
    assert_int_equal(mkfifo(path, 0600), 0);
    expect_unread(path, OC_ERR_INVALID, "Invalid argument");
    unlink(path);
    rmdir(folder);
}

static void expect_print(const char *offload, const char *text)
{
    char file[128], printed[160];

    snprintf(file, sizeof(file), "[allreduce a]\noffload = %s\n", offload);
    expect(file);
    oc_sizes_print(&rules.rules[0].offload, printed, sizeof(printed));
    assert_string_equal(printed, text);
}

static void test_sizes(void **state)
{
    char little[4];

    (void) state;
    expect_print("never", "nothing");
    expect_print("always", "everything");
    expect_print("0-", "everything");
    expect_print("64K-1M,4M-", "64 KiB to 1 MiB, 4 MiB and more");
    expect_print("1000-2047,3G-", "1000 bytes to 2047 bytes, 3 GiB and more");
    oc_sizes_print(&rules.rules[0].offload, little, sizeof(little));
    assert_string_equal(little, "100");
    assert_false(oc_sizes_contain(&rules.rules[0].offload, 999));
    assert_true(oc_sizes_contain(&rules.rules[0].offload, 1000));
    assert_true(oc_sizes_contain(&rules.rules[0].offload, 2047));
    assert_false(oc_sizes_contain(&rules.rules[0].offload, 2048));
    assert_false(oc_sizes_contain(&rules.rules[0].offload, (3ull << 30) - 1));
    assert_true(oc_sizes_contain(&rules.rules[0].offload, UINT64_MAX));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_nothing),
        cmocka_unit_test(test_model),
        cmocka_unit_test(test_networks),
        cmocka_unit_test(test_rules),
        cmocka_unit_test(test_kinds),
        cmocka_unit_test(test_structure),
        cmocka_unit_test(test_model_values),
        cmocka_unit_test(test_rule_values),
        cmocka_unit_test(test_too_much),
        cmocka_unit_test(test_bytes),
        cmocka_unit_test(test_source),
        cmocka_unit_test(test_files),
        cmocka_unit_test(test_sizes),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
