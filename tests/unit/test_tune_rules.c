/* SPDX-License-Identifier: BSD-3-Clause */
/* Owns the unit tests of what optcast-tune writes: mode auto can read it, and nothing is lost. */
/* Test: quick 120 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tools/tune/merge.h"
#include "tools/tune/rules_file.h"

static const oc_tune_situation_t four = {4, 1, 2, OC_RULED_ALLREDUCE};

static oc_rules_t rules;
static char error[512];

static void parse(const char *text)
{
    if (OC_OK != oc_rules_parse("it", text, strlen(text), &rules, error, sizeof(error))) {
        fail_msg("%s in:\n%s", error, text);
    }
}

/* 8 B to 64 MiB; faster from that size on. */
static oc_tune_finding_t findings[24];

static void measure(uint64_t from)
{
    for (unsigned i = 0; i < 24; i++) {
        bool faster = (8ull << i) >= from;

        findings[i] = (oc_tune_finding_t) {
            .bytes = 8ull << i, .offloaded = true, .ours = 1e-6 * (i + 1), .previous = 1.5e-6,
            .ratio = 1.25, .low = 1.125, .high = 1.5,
            .verdict = faster ? OC_TUNE_FASTER : OC_TUNE_SLOWER};
    }
}

static oc_tune_facts_t facts_of(const oc_tune_situation_t *situation)
{
    return (oc_tune_facts_t) {.situation = *situation, .version = "0.1.0",
                              .mpi = "Open MPI v4.1.4", .servers = "a,b:99", .type = "float",
                              .date = "2026-11-22", .rounds = 5};
}

/* Freed by the caller. */
static char *rule_text(const oc_tune_situation_t *situation, const char *name)
{
    oc_tune_facts_t facts = facts_of(situation);
    char *text = NULL;
    size_t length;
    FILE *out = open_memstream(&text, &length);

    assert_non_null(out);
    oc_tune_write_rule(out, &facts, name, findings, 24);
    fclose(out);
    return text;
}

static void expect_rule(uint64_t at, const char *name, const oc_tune_situation_t *situation)
{
    assert_true(at < rules.count);
    assert_string_equal(rules.rules[at].name, name);
    assert_true(oc_tune_is_for(&rules.rules[at], situation));
}

/* ---- one rule ---- */

static void test_rule(void **state)
{
    char *text;

    (void) state;
    measure(65536);
    text = rule_text(&four, "4x1+2");
    parse(text);
    assert_int_equal(rules.count, 1);
    expect_rule(0, "4x1+2", &four);
    assert_int_equal(rules.rules[0].offload.count, 1);
    assert_true(65536 == rules.rules[0].offload.ranges[0].first);
    assert_true(UINT64_MAX == rules.rules[0].offload.ranges[0].last);
    assert_non_null(strstr(text, "# Measured on 2026-11-22 with optcast-tune 0.1.0 and Open MPI "
                                 "v4.1.4:\n# 4 hosts with up to 1 rank, servers a,b:99;\n"));
    assert_non_null(strstr(text, "#          8        1.00        1.50   1.250  1.125 to 1.500 "
                                 "slower\n"));
    assert_non_null(strstr(text, "#   67108864       24.00        1.50   1.250  1.125 to 1.500 "
                                 "faster\n"));
    assert_non_null(strstr(text, "\n[allreduce 4x1+2]\nhosts = 4\nranks_per_host = 1\n"
                                 "servers = 2\noffload = 65536-\n"));
    free(text);
}

static void test_all_or_nothing(void **state)
{
    char *text;

    (void) state;
    measure(0);
    text = rule_text(&four, "x");
    parse(text);
    assert_true(oc_sizes_contain(&rules.rules[0].offload, 0));
    assert_true(oc_sizes_contain(&rules.rules[0].offload, UINT64_MAX));
    free(text);
    measure(UINT64_MAX);
    findings[0].offloaded = false;
    text = rule_text(&four, "x");
    parse(text);
    assert_int_equal(rules.rules[0].offload.count, 0);
    assert_non_null(strstr(text, " not offloaded\n"));
    free(text);
}

/* More servers than a line of rules may have characters. */
static void test_long_texts(void **state)
{
    oc_tune_facts_t facts = facts_of(&four);
    char servers[1000], *text = NULL;
    size_t length;
    FILE *out = open_memstream(&text, &length);

    (void) state;
    memset(servers, 'x', sizeof(servers) - 1);
    servers[sizeof(servers) - 1] = '\0';
    facts.servers = facts.mpi = servers;
    measure(8);
    assert_non_null(out);
    oc_tune_write_rule(out, &facts, "x", findings, 24);
    fclose(out);
    parse(text);
    assert_int_equal(rules.count, 1);
    assert_non_null(strstr(text, "xxx...;\n"));
    free(text);
}

static void test_is_for(void **state)
{
    const oc_tune_situation_t others[] = {{5, 1, 2, 0}, {4, 2, 2, 0}, {4, 1, 3, 0},
                                          {4, 1, 2, OC_RULED_REDUCE}};

    (void) state;
    parse("[allreduce a]\nhosts = 4\nranks_per_host = 1\nservers = 2\noffload = never\n"
          "[allreduce b]\nhosts = 4-5\nranks_per_host = 1\nservers = 2\noffload = never\n"
          "[allreduce c]\nhosts = 4\nservers = 2\noffload = never\n");
    assert_true(oc_tune_is_for(&rules.rules[0], &four));
    assert_false(oc_tune_is_for(&rules.rules[1], &four));
    assert_false(oc_tune_is_for(&rules.rules[2], &four));
    for (unsigned i = 0; i < 4; i++) {
        assert_false(oc_tune_is_for(&rules.rules[0], &others[i]));
    }
}

static void test_names(void **state)
{
    char name[OC_RULE_NAME_SIZE];

    (void) state;
    parse("");
    oc_tune_rule_name(&four, &rules, name);
    assert_string_equal(name, "4x1+2");
    /* its own name is free, another's is not */
    parse("[allreduce 4x1+2]\nhosts = 4\nranks_per_host = 1\nservers = 2\noffload = never\n");
    oc_tune_rule_name(&four, &rules, name);
    assert_string_equal(name, "4x1+2");
    parse("[allreduce 4x1+2]\nhosts = 4\noffload = never\n"
          "[allreduce 4x1+2-2]\nhosts = 4\noffload = never\n");
    oc_tune_rule_name(&four, &rules, name);
    assert_string_equal(name, "4x1+2-3");
    oc_tune_rule_name(&(oc_tune_situation_t) {65536, 65536, 256000, 0}, &rules, name);
    assert_string_equal(name, "65536x65536+256000");
}

/* ---- among others ---- */

/* Freed by the caller. */
static char *merge(const char *text, const char *rule)
{
    char *merged = NULL;
    size_t length;
    FILE *out = open_memstream(&merged, &length);

    assert_non_null(out);
    oc_tune_merge(out, text, strlen(text), &four, rule);
    fclose(out);
    parse(merged);
    return merged;
}

#define RULE "# new\n[allreduce new]\nhosts = 4\nranks_per_host = 1\nservers = 2\noffload = 1-\n"

static void expect_merged(const char *before, const char *after)
{
    char *merged = merge(before, RULE), *again;

    assert_string_equal(merged, after);
    /* the same once more changes nothing */
    again = merge(merged, RULE);
    assert_string_equal(again, after);
    free(again);
    free(merged);
}

static void test_new_file(void **state)
{
    char *merged = merge("", RULE);

    (void) state;
    assert_non_null(strstr(merged, "\nversion = 1\n\n" RULE));
    assert_int_equal(rules.count, 1);
    free(merged);
}

#define OTHER "# by hand\n[allreduce other]\n# why\nhosts = 2-\noffload = never ; so there\n"

static void test_before_others(void **state)
{
    (void) state;
    expect_merged("; site\nversion = 1\n[model]\nlink_rate = 5\n\n" OTHER,
                  "; site\nversion = 1\n[model]\nlink_rate = 5\n\n" RULE "\n" OTHER);
    /* as it decides now */
    expect_rule(0, "new", &four);
    assert_string_equal(rules.rules[1].name, "other");
    assert_int_equal(rules.constants.link_rate, 5);
}

static void test_no_rules(void **state)
{
    (void) state;
    expect_merged("[model]\nlink_rate = 5", "[model]\nlink_rate = 5\n\n" RULE);
}

#define OLD \
    "# old table\n; more\n[allreduce old]\nhosts = 4\n# in it\nranks_per_host = 1\nservers = 2\n" \
    "offload = never\n"

static void test_replaced(void **state)
{
    (void) state;
    expect_merged("version = 1\n\n" OLD, "version = 1\n\n" RULE);
    /* behind another one that would fit first; comments of nobody stay */
    expect_merged("# head\n\n" OTHER "\n" OLD "\n# of nobody\n\n[model]\nlink_rate = 5\n",
                  "# head\n\n" RULE "\n" OTHER "\n# of nobody\n\n[model]\nlink_rate = 5\n");
    assert_int_equal(rules.count, 2);
    /* more than one of them, and one without a line break at its end */
    expect_merged(OLD "\n" OTHER "\n"
                  "[allreduce too]\nhosts=4\nranks_per_host=1\nservers=2\noffload=1-",
                  RULE "\n" OTHER "\n");
    assert_int_equal(rules.count, 2);
}

static void test_similar_stay(void **state)
{
    (void) state;
    expect_merged("[allreduce a]\nhosts = 4\nservers = 2\noffload = never\n\n"
                  "[allreduce b]\nhosts = 4-5\nranks_per_host = 1\nservers = 2\noffload = never\n",
                  RULE "\n[allreduce a]\nhosts = 4\nservers = 2\noffload = never\n\n"
                  "[allreduce b]\nhosts = 4-5\nranks_per_host = 1\nservers = 2\noffload = never\n");
    assert_int_equal(rules.count, 3);
}

/* Rules of other collectives are those of another situation, also by the same name. */
static void test_kinds_stay(void **state)
{
    static const char reduce[] = "[reduce new]\nhosts = 4\nranks_per_host = 1\nservers = 2\n"
                                 "offload = never\n";
    char name[OC_RULE_NAME_SIZE], before[512], after[512];

    (void) state;
    snprintf(before, sizeof(before), "%s\n" OLD "\n[barrier x]\noffload = never\n", reduce);
    snprintf(after, sizeof(after), RULE "\n%s\n[barrier x]\noffload = never\n", reduce);
    expect_merged(before, after);
    assert_int_equal(rules.count, 3);
    oc_tune_rule_name(&(oc_tune_situation_t) {9, 9, 9, OC_RULED_REDUCE_SCATTER}, &rules, name);
    assert_string_equal(name, "9x9+9");
}

/* What has no sizes. */
static void test_barrier(void **state)
{
    const oc_tune_situation_t barrier = {4, 1, 2, OC_RULED_BARRIER};
    oc_tune_facts_t facts = facts_of(&barrier);
    oc_tune_finding_t finding = {.offloaded = true, .ratio = 2, .low = 2, .high = 2,
                                 .verdict = OC_TUNE_FASTER};

    (void) state;
    facts.type = NULL;
    for (int faster = 1; faster >= 0; faster--) {
        char *text = NULL;
        size_t length;
        FILE *out = open_memstream(&text, &length);

        assert_non_null(out);
        oc_tune_write_rule(out, &facts, "b", &finding, 1);
        fclose(out);
        parse(text);
        expect_rule(0, "b", &barrier);
        assert_int_equal(rules.rules[0].offload.count, faster);
        assert_non_null(strstr(text, "\n# medians of 5 rounds. A ratio"));
        assert_non_null(strstr(text, faster ? "\noffload = always\n" : "\noffload = never\n"));
        free(text);
        finding.verdict = OC_TUNE_ALIKE;
    }
}

/* Indented lines, and line ends of other systems. */
static void test_odd_lines(void **state)
{
    (void) state;
    expect_merged("  # c\r\n \t[allreduce o]\r\n  hosts = 4\r\n ranks_per_host = 1\r\n"
                  "servers = 2\r\n   offload = never\r\n\r\n" OTHER,
                  RULE "\n" OTHER);
}

/* ---- the file ---- */

static char folder[64], path[96];

static void make_folder(void)
{
    strcpy(folder, "/tmp/optcast_tune_XXXXXX");
    assert_non_null(mkdtemp(folder));
    snprintf(path, sizeof(path), "%s/rules.ini", folder);
}

static void put(const char *text)
{
    FILE *file = fopen(path, "w");

    assert_non_null(file);
    assert_int_equal(fputs(text, file) >= 0, 1);
    assert_int_equal(fclose(file), 0);
}

static void expect_file(const char *text)
{
    char found[4096];
    FILE *file = fopen(path, "r");
    size_t length;

    assert_non_null(file);
    length = fread(found, 1, sizeof(found) - 1, file);
    fclose(file);
    found[length] = '\0';
    assert_string_equal(found, text);
}

static size_t count_files(void)
{
    char pattern[96];
    glob_t found;
    size_t count;

    snprintf(pattern, sizeof(pattern), "%s/*", folder);
    count = 0 == glob(pattern, 0, NULL, &found) ? found.gl_pathc : 0;
    globfree(&found);
    return count;
}

static void remove_folder(void)
{
    (void) unlink(path);
    assert_int_equal(rmdir(folder), 0); /* nothing else is left in it */
}

/* The rule goes to stdout, too, which would mix with what cmocka prints. */
static bool write_rule(oc_tune_output_t *output)
{
    oc_tune_facts_t facts = facts_of(&four);
    int out = dup(1);
    bool good;

    fflush(stdout);
    assert_non_null(freopen("/dev/null", "w", stdout));
    good = oc_tune_output_write(output, &facts, findings, 24, error, sizeof(error));
    fflush(stdout);
    dup2(out, 1);
    close(out);
    return good;
}

static bool open_output(oc_tune_output_t *output, bool add)
{
    error[0] = '\0';
    return oc_tune_output_open(output, path, add, error, sizeof(error));
}

static void test_file(void **state)
{
    oc_tune_output_t output;
    struct stat info;

    (void) state;
    make_folder();
    measure(65536);
    /* nothing is there before it is complete */
    assert_true(open_output(&output, true));
    assert_int_equal(count_files(), 0);
    assert_true(write_rule(&output));
    oc_tune_output_close(&output);
    assert_int_equal(oc_rules_read(path, &rules, error, sizeof(error)), OC_OK);
    assert_int_equal(rules.count, 1);
    expect_rule(0, "4x1+2", &four);
    /* others keep their rights */
    assert_int_equal(chmod(path, 0640), 0);
    assert_true(open_output(&output, true));
    assert_true(write_rule(&output));
    oc_tune_output_close(&output);
    assert_int_equal(stat(path, &info), 0);
    assert_int_equal(info.st_mode & 0777, 0640);
    assert_int_equal(count_files(), 1);
    remove_folder();
}

/* Somebody adds a rule while this one measures. */
static void test_changed_meanwhile(void **state)
{
    oc_tune_output_t output;

    (void) state;
    make_folder();
    put("version = 1\n");
    assert_true(open_output(&output, true));
    put(OTHER);
    assert_true(write_rule(&output));
    oc_tune_output_close(&output);
    assert_int_equal(oc_rules_read(path, &rules, error, sizeof(error)), OC_OK);
    assert_int_equal(rules.count, 2);
    /* or makes a mistake: the file stays, mistake and all */
    assert_true(open_output(&output, true));
    put("[modle]\nlink_rate = 5\n");
    assert_false(write_rule(&output));
    assert_non_null(strstr(error, "rules.ini, line 1: [modle] is not known"));
    oc_tune_output_close(&output);
    expect_file("[modle]\nlink_rate = 5\n");
    assert_int_equal(count_files(), 1);
    remove_folder();
}

static void expect_refusal(bool add, const char *message)
{
    oc_tune_output_t output;

    assert_false(open_output(&output, add));
    if (NULL == strstr(error, message)) {
        fail_msg("\"%s\" instead of \"%s\"", error, message);
    }
    oc_tune_output_close(&output);
}

static void test_refused(void **state)
{
    (void) state;
    make_folder();
    put("version = 1\n[allreduce x]\nhosts = many\n");
    expect_refusal(false, "rules.ini\" exists: give --add to keep what is in it, or remove it");
    expect_refusal(true, "rules.ini, line 3: \"many\" is not a value of hosts");
    expect_file("version = 1\n[allreduce x]\nhosts = many\n");
    (void) unlink(path);
    snprintf(path, sizeof(path), "%s/none/rules.ini", folder);
    expect_refusal(true, "rules.ini cannot be written: No such file");
    snprintf(path, sizeof(path), "%s", folder);
    expect_refusal(true, "cannot be read: Is a directory");
    remove_folder();
}

/* One rule more than there may be: what was there stays. */
static void test_too_many(void **state)
{
    char text[8192] = "";
    oc_tune_output_t output;

    (void) state;
    make_folder();
    for (unsigned i = 0; i < OC_MAX_RULES; i++) {
        size_t used = strlen(text);

        snprintf(text + used, sizeof(text) - used, "[allreduce r%u]\noffload = never\n", i);
    }
    put(text);
    assert_true(open_output(&output, true));
    assert_false(write_rule(&output));
    assert_non_null(strstr(error, "is not changed, because there would be a mistake in it (it, "));
    oc_tune_output_close(&output);
    expect_file(text);
    remove_folder();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_rule),          cmocka_unit_test(test_all_or_nothing),
        cmocka_unit_test(test_long_texts),    cmocka_unit_test(test_is_for),
        cmocka_unit_test(test_names),         cmocka_unit_test(test_new_file),
        cmocka_unit_test(test_before_others), cmocka_unit_test(test_no_rules),
        cmocka_unit_test(test_replaced),      cmocka_unit_test(test_similar_stay),
        cmocka_unit_test(test_kinds_stay),    cmocka_unit_test(test_barrier),
        cmocka_unit_test(test_odd_lines),     cmocka_unit_test(test_file),
        cmocka_unit_test(test_changed_meanwhile), cmocka_unit_test(test_refused),
        cmocka_unit_test(test_too_many),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
