/* SPDX-License-Identifier: BSD-3-Clause */
/* Owns the unit tests of the tables of settings, of sizes as text and of the range checks. */
/* Test: quick 120 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/settings.h"
#include "base/settings_text.h"
#include "base/status.h"
#include "base/text.h"

typedef union {
    oc_job_settings_t job;
    oc_server_settings_t server;
} values_t;

static const oc_settings_table_t *const tables[] = {&oc_job_settings_table,
                                                    &oc_server_settings_table};

static size_t size_of(const oc_setting_t *setting)
{
    switch (setting->type) {
    case OC_SETTING_SIZE:
        return sizeof(size_t);
    case OC_SETTING_TEXT:
        return sizeof(const char *);
    default:
        return sizeof(int);
    }
}

/* Every byte of the structure that is not padding must belong to exactly one setting. */
static void check_covered(const oc_settings_table_t *table, size_t size, size_t padding)
{
    uint8_t covered[sizeof(values_t)] = {0};
    size_t total = 0;

    for (unsigned i = 0; i < table->count; i++) {
        const oc_setting_t *setting = &table->settings[i];

        for (size_t at = 0; at < size_of(setting); at++) {
            assert_true(setting->offset + at < size);
            assert_int_equal(covered[setting->offset + at]++, 0);
            total++;
        }
    }
    assert_in_range(total, size - padding, size);
}

static void test_tables_cover_structures(void **state)
{
    (void) state;
    check_covered(&oc_job_settings_table, sizeof(oc_job_settings_t), 6 * sizeof(int));
    check_covered(&oc_server_settings_table, sizeof(oc_server_settings_t), 3 * sizeof(int));
}

static void check_entry(const oc_settings_table_t *table, const oc_setting_t *setting)
{
    assert_non_null(setting->name);
    assert_int_equal(strspn(setting->name, "abcdefghijklmnopqrstuvwxyz_-"), strlen(setting->name));
    assert_ptr_equal(oc_setting_find(table, setting->name), setting);
    assert_non_null(setting->unit);
    assert_non_null(setting->help);
    assert_true(strlen(setting->help) > 10);
    assert_null(strchr(setting->help, '\n'));
    assert_in_range(setting->level, 1, 9);
    if (OC_SETTING_TEXT == setting->type) {
        assert_non_null(setting->text);
        assert_non_null(setting->argument);
        return;
    }
    assert_true(setting->min <= setting->max);
    assert_true((int64_t) setting->number >= setting->min
                || (setting->automatic && 0 == setting->number));
    assert_true(!setting->automatic || setting->min > 0);
    assert_true((int64_t) setting->number <= setting->max);
    if (OC_SETTING_CHOICE == setting->type) {
        int64_t count = 0;

        while (NULL != setting->choices[count]) {
            count++;
        }
        assert_int_equal(count, setting->max + 1);
    }
}

static void test_tables_are_complete(void **state)
{
    (void) state;
    for (int t = 0; t < 2; t++) {
        for (unsigned i = 0; i < tables[t]->count; i++) {
            check_entry(tables[t], &tables[t]->settings[i]);
        }
        assert_null(oc_setting_find(tables[t], "no_such_name"));
        assert_null(oc_setting_find(tables[t], ""));
    }
}

static void test_defaults(void **state)
{
    char error[256] = "";
    values_t values;

    (void) state;
    for (int t = 0; t < 2; t++) {
        memset(&values, 0xff, sizeof(values));
        oc_settings_default(tables[t], &values);
        assert_int_equal(oc_settings_check(tables[t], &values, error, sizeof(error)), OC_OK);
    }
    oc_settings_default(&oc_job_settings_table, &values);
    assert_int_equal(values.job.mode, OC_MODE_AUTO);
    assert_string_equal(values.job.servers, "embedded");
    assert_int_equal(values.job.chunk_size, 0);
    assert_int_equal(oc_settings_largest_chunk(&values.job), 65536);
    assert_int_equal(oc_settings_fewest_chunks(&values.job), 64);
}

/* Both ends of every range can be written down, and what lies beyond cannot. */
static void check_range(const oc_settings_table_t *table, const oc_setting_t *setting)
{
    char text[32], error[256] = "";
    values_t values;

    oc_settings_default(table, &values);
    snprintf(text, sizeof(text), "%lld", (long long) setting->min);
    if (OC_OK != oc_setting_parse(setting, &values, text, error, sizeof(error))) {
        fail_msg("the smallest value of its range is refused: %s", error);
    }
    snprintf(text, sizeof(text), "%lld", (long long) setting->max);
    assert_int_equal(oc_setting_parse(setting, &values, text, error, sizeof(error)), OC_OK);
    assert_int_equal(oc_settings_check(table, &values, error, sizeof(error)), OC_OK);
    if (setting->max < INT64_MAX) {
        snprintf(text, sizeof(text), "%lld", (long long) setting->max + 1);
        assert_int_equal(oc_setting_parse(setting, &values, text, error, sizeof(error)),
                         OC_ERR_INVALID);
    }
    snprintf(text, sizeof(text), "%lld", (long long) setting->min - 1);
    assert_int_equal(oc_setting_parse(setting, &values, text, error, sizeof(error)),
                     OC_ERR_INVALID);
}

static void test_ranges(void **state)
{
    (void) state;
    for (int t = 0; t < 2; t++) {
        for (unsigned i = 0; i < tables[t]->count; i++) {
            oc_setting_type_t type = tables[t]->settings[i].type;

            if (OC_SETTING_INT == type || OC_SETTING_SIZE == type) {
                check_range(tables[t], &tables[t]->settings[i]);
            }
        }
    }
}

static void expect_error(const char *name, const char *text, const char *part)
{
    const oc_setting_t *setting = oc_setting_find(&oc_job_settings_table, name);
    char error[512] = "", quoted[64];
    values_t values, before;

    memset(&values, 0, sizeof(values));
    oc_settings_default(&oc_job_settings_table, &values);
    before = values;
    snprintf(quoted, sizeof(quoted), "\"%s\"", text);
    assert_int_equal(oc_setting_parse(setting, &values, text, error, sizeof(error)),
                     OC_ERR_INVALID);
    assert_non_null(strstr(error, quoted));
    assert_non_null(strstr(error, name));
    assert_non_null(strstr(error, part));
    assert_memory_equal(&values, &before, sizeof(values));
}

static void test_errors_say_what(void **state)
{
    (void) state;
    expect_error("window", "0", "1 to 64");
    expect_error("window", "65", "chunks");
    expect_error("window", "eight", "1 to 64");
    expect_error("window", "", "1 to 64");
    expect_error("window", "-1", "1 to 64");
    expect_error("window", " 8", "1 to 64");
    expect_error("window", "8 ", "1 to 64");
    expect_error("window", "4294967304", "1 to 64");
    expect_error("chunk_size", "4095", "4096 to 16777216 bytes, or 0, is needed");
    expect_error("chunk_size", "17M", "bytes");
    expect_error("chunk_size", "64KB", "4096 to 16777216");
    expect_error("multicast_min_size", "99999999999999999999999", "at least 0");
    expect_error("multicast_min_size", "9223372036854775808", "at least 0");
    expect_error("multicast_min_size", "-5", "at least 0");
    expect_error("mode", "sometimes", "always");
    expect_error("mode", "AUTO", "never");
    expect_error("mode", "1", "auto");
}

static void test_values_arrive(void **state)
{
    char error[256];
    values_t values;
    const char *list = "a,b";

    (void) state;
    oc_settings_default(&oc_job_settings_table, &values);
#define SET(name, text) \
    assert_int_equal(oc_setting_parse(oc_setting_find(&oc_job_settings_table, name), &values, \
                                      text, error, sizeof(error)), OC_OK)
    SET("mode", "never");
    SET("chunk_size", "128K");
    SET("multicast_min_size", "2G");
    SET("window", "64");
    SET("servers", list);
    assert_int_equal(values.job.mode, OC_MODE_NEVER);
    assert_int_equal(values.job.chunk_size, 131072);
    assert_int_equal(oc_settings_largest_chunk(&values.job), 131072);
    assert_int_equal(oc_settings_fewest_chunks(&values.job), 1);
    SET("chunk_size", "0");
    assert_int_equal(values.job.chunk_size, 0);
    assert_int_equal(values.job.multicast_min_size, 2ull << 30);
    assert_int_equal(values.job.window, 64);
    assert_ptr_equal(values.job.servers, list);
    assert_int_equal(values.job.small_size, 8192);
#undef SET
}

/* Values that did not come through the parser. */
static void test_check(void **state)
{
    char error[256] = "";
    values_t values;

    (void) state;
    oc_settings_default(&oc_job_settings_table, &values);
    values.job.window = -3;
    assert_int_equal(oc_settings_check(&oc_job_settings_table, &values, error, sizeof(error)),
                     OC_ERR_INVALID);
    assert_non_null(strstr(error, "\"-3\""));
    assert_non_null(strstr(error, "window"));
    values.job.window = 8;
    values.job.small_size = SIZE_MAX;
    assert_int_equal(oc_settings_check(&oc_job_settings_table, &values, error, sizeof(error)),
                     OC_ERR_INVALID);
    assert_non_null(strstr(error, "small_size"));
    values.job.small_size = 0;
    values.job.mode = 3;
    assert_int_equal(oc_settings_check(&oc_job_settings_table, &values, error, sizeof(error)),
                     OC_ERR_INVALID);
    assert_non_null(strstr(error, "mode"));
}

/*
 * The record of rank 0 in adapter/terms.c has those whose scope is OC_SCOPE_FIRST; doc/settings.md
 * names those of each scope.
 */
static void test_scopes(void **state)
{
    static const struct {
        oc_setting_scope_t scope;
        const char *names;
    } expected[] = {
        {OC_SCOPE_FIRST, "priority mode max_ranks multicast multicast_min_size "},
        {OC_SCOPE_MEANING, "servers rules "},
        {OC_SCOPE_SERVERS, "peer_aggregation reproducible recovery reduce_scatter_beside small_size chunk_size window "},
        {OC_SCOPE_MULTICAST, "multicast_address multicast_port multicast_receiver multicast_groups multicast_senders "
                             "multicast_window "},
    };

    (void) state;
    for (unsigned e = 0; e < sizeof(expected) / sizeof(expected[0]); e++) {
        char names[256] = "";

        for (unsigned i = 0; i < oc_job_settings_table.count; i++) {
            const oc_setting_t *setting = &oc_job_settings_table.settings[i];

            if (expected[e].scope == setting->scope) {
                snprintf(names + strlen(names), sizeof(names) - strlen(names), "%s ",
                         setting->name);
            }
        }
        assert_string_equal(names, expected[e].names);
    }
}

/* Another number, choice or text. */
static void change(const oc_setting_t *setting, values_t *values)
{
    char *at = (char *) &values->job + setting->offset;

    if (OC_SETTING_TEXT == setting->type) {
        *(const char **) at = "something else";
    } else if (OC_SETTING_SIZE == setting->type) {
        *(size_t *) at += (size_t) 1 << 32;
    } else {
        *(int *) at += 1;
    }
}

static uint64_t hash_of(const values_t *values, oc_setting_scope_t scope)
{
    return oc_settings_hash(OC_HASH_START, &oc_job_settings_table, &values->job, scope);
}

/* Each setting changes the hash of its own scope and no other; mode changes none. */
static void test_hash_of_scopes(void **state)
{
    values_t defaults, changed;

    (void) state;
    oc_settings_default(&oc_job_settings_table, &defaults);
    for (unsigned i = 0; i < oc_job_settings_table.count; i++) {
        const oc_setting_t *setting = &oc_job_settings_table.settings[i];

        changed = defaults;
        change(setting, &changed);
        for (int scope = OC_SCOPE_LOCAL; scope <= OC_SCOPE_MULTICAST; scope++) {
            bool same = hash_of(&defaults, scope) == hash_of(&changed, scope);

            if (same != ((oc_setting_scope_t) scope != setting->scope || setting->changeable)) {
                fail_msg("%s and scope %d", setting->name, scope);
            }
        }
    }
    changed = defaults;
    changed.job.multicast_address = NULL; /* as good as "" */
    assert_true(hash_of(&defaults, OC_SCOPE_MULTICAST) == hash_of(&changed, OC_SCOPE_MULTICAST));
    assert_true(oc_settings_hash(1, &oc_job_settings_table, &defaults.job, OC_SCOPE_SERVERS)
                != hash_of(&defaults, OC_SCOPE_SERVERS));
}

static void test_sizes(void **state)
{
    static const struct {
        const char *text;
        uint64_t value;
    } good[] = {{"0", 0}, {"007", 7}, {"1k", 1024}, {"1K", 1024}, {"3M", 3ull << 20},
                {"3m", 3ull << 20}, {"5G", 5ull << 30}, {"5g", 5ull << 30}, {"0G", 0},
                {"18446744073709551615", UINT64_MAX}, {"17179869183G", 17179869183ull << 30}};
    static const char *const bad[] = {"", "K", "-1", "+1", " 1", "1 ", "1T", "1KK", "1KB", "1.5M",
                                      "0x10", "18446744073709551616", "17179869184G", "1 K", "1e3"};
    uint64_t value;

    (void) state;
    for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++) {
        assert_int_equal(oc_parse_size(good[i].text, &value), OC_OK);
        assert_true(value == good[i].value);
    }
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        value = 4711;
        assert_int_equal(oc_parse_size(bad[i], &value), OC_ERR_INVALID);
        assert_true(4711 == value);
    }
}

static void test_lists(void **state)
{
    static const struct {
        const char *list, *name;
        bool has;
    } cases[] = {{"a", "a", true}, {"ab", "a", false}, {"a", "ab", false}, {"b,a", "a", true},
                 {"a,b", "a", true}, {"b,a,c", "a", true}, {"b,ca,d", "a", false},
                 {"", "a", false}, {",,a", "a", true}, {",", "a", false}, {"a,", "a", true},
                 {"eth0,mlx5_0:1", "mlx5_0", true}, {"mlx5_0:1,eth0", "eth0", true},
                 {"mlx5_10:1", "mlx5_1", false}, {"mlx5_0:1", "1", false}, {"A", "a", false}};

    (void) state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        assert_int_equal(oc_list_has(cases[i].list, cases[i].name), cases[i].has);
    }
}

static void test_print(void **state)
{
    char *text = NULL, name[80];
    size_t length;
    FILE *out = open_memstream(&text, &length);

    (void) state;
    oc_settings_print(&oc_server_settings_table, "--", out);
    fclose(out);
    for (unsigned i = 0; i < oc_server_settings_table.count; i++) {
        snprintf(name, sizeof(name), "  --%s ", oc_server_settings_table.settings[i].name);
        assert_non_null(strstr(text, name));
        assert_non_null(strstr(text, oc_server_settings_table.settings[i].help));
    }
    assert_non_null(strstr(text, "(default info)"));
    assert_non_null(strstr(text, "(default 127.0.0.1:8918)"));
    assert_non_null(strstr(text, "  --listen ADDR[:PORT]\n"));
    assert_non_null(strstr(text, "  --cgroup auto|off\n"));
    assert_non_null(strstr(text, "  --drain-timeout SECONDS\n"));
    assert_non_null(strstr(text, "(default 1 GiB; at least 1 MiB)"));
    assert_non_null(strstr(text, "(default 1; 1 to 64 threads)"));
    free(text);
}

static void test_status_texts(void **state)
{
    (void) state;
    for (int status = OC_ERR_SYSTEM - 3; status <= OC_DECLINED + 3; status++) {
        const char *text = oc_status_string((oc_status_t) status);
        bool known = status >= OC_ERR_SYSTEM && status <= OC_DECLINED;

        assert_non_null(text);
        assert_int_equal(0 != strcmp(text, "unknown status"), known);
    }
}

static void test_hash(void **state)
{
    (void) state;
    /* published values of FNV-1a */
    assert_true(oc_hash(OC_HASH_START, "", 0) == OC_HASH_START);
    assert_true(oc_hash(OC_HASH_START, "a", 1) == 0xaf63dc4c8601ec8cull);
    assert_true(oc_hash(OC_HASH_START, "foobar", 6) == 0x85944171f73967e8ull);
    assert_true(oc_hash(oc_hash(OC_HASH_START, "foo", 3), "bar", 3) == 0x85944171f73967e8ull);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_tables_cover_structures),
        cmocka_unit_test(test_tables_are_complete),
        cmocka_unit_test(test_defaults),
        cmocka_unit_test(test_ranges),
        cmocka_unit_test(test_errors_say_what),
        cmocka_unit_test(test_values_arrive),
        cmocka_unit_test(test_check),
        cmocka_unit_test(test_scopes),
        cmocka_unit_test(test_hash_of_scopes),
        cmocka_unit_test(test_sizes),
        cmocka_unit_test(test_lists),
        cmocka_unit_test(test_print),
        cmocka_unit_test(test_status_texts),
        cmocka_unit_test(test_hash),
    };

    alarm(30);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
