/* SPDX-License-Identifier: BSD-3-Clause */
/* Owns the unit tests of the daemon's options and configuration file, and of who wins. */
/* Test: quick 120 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/log.h"
#include "server/daemon/configuration.h"

/* Texts from files live for ever: what points to them is kept, so that no leak is seen there. */
static oc_server_settings_t all_settings[128];
static unsigned num_read;

#define settings all_settings[num_read]

static char error[512];
static char path[64];

static oc_status_t read_options(char **argv)
{
    int argc = 0;

    while (NULL != argv[argc]) {
        argc++;
    }
    memset(error, 0, sizeof(error));
    num_read++;
    assert_in_range(num_read, 1, 127);
    return oc_configuration_read(argc, argv, &settings, error, sizeof(error));
}

#define READ(...) read_options((char *[]) {(char *) "optcast-server", __VA_ARGS__ NULL})

#define EXPECT_ERROR(part, ...) \
    do { \
        assert_int_equal(READ(__VA_ARGS__), OC_ERR_INVALID); \
        if (NULL == strstr(error, part)) { \
            fail_msg("\"%s\" does not say %s", error, part); \
        } \
    } while (0)

static void write_file(const char *content)
{
    int fd;

    snprintf(path, sizeof(path), "/tmp/optcast_test_XXXXXX");
    fd = mkstemp(path);
    assert_true(fd >= 0);
    assert_int_equal(write(fd, content, strlen(content)), strlen(content));
    close(fd);
}

static int teardown(void **state)
{
    (void) state;
    if ('\0' != path[0]) {
        unlink(path);
        path[0] = '\0';
    }
    return 0;
}

static void test_defaults(void **state)
{
    (void) state;
    assert_int_equal(read_options((char *[]) {(char *) "optcast-server", NULL}), OC_OK);
    assert_string_equal(settings.listen, "127.0.0.1:8918");
    assert_int_equal(settings.aggregators, 1);
    assert_int_equal(settings.memory_limit, 1ull << 30);
    assert_int_equal(settings.log_level, OC_LOG_INFO);
    assert_int_equal(settings.drain_timeout, 30);
    assert_int_equal(settings.cgroup, OC_CGROUP_AUTO);
}

static void test_options(void **state)
{
    (void) state;
    assert_int_equal(READ("--listen", "0.0.0.0:1", "--aggregators=3", "--memory-limit=2G",
                          "--log-level", "debug", "--drain-timeout=0", "--cgroup", "off",), OC_OK);
    assert_string_equal(settings.listen, "0.0.0.0:1");
    assert_int_equal(settings.aggregators, 3);
    assert_int_equal(settings.memory_limit, 2ull << 30);
    assert_int_equal(settings.log_level, OC_LOG_DEBUG);
    assert_int_equal(settings.drain_timeout, 0);
    assert_int_equal(settings.cgroup, OC_CGROUP_OFF);
}

/* The last word counts; a value may begin with dashes or contain an equals sign. */
static void test_odd_options(void **state)
{
    (void) state;
    assert_int_equal(READ("--aggregators", "2", "--aggregators=5",), OC_OK);
    assert_int_equal(settings.aggregators, 5);
    assert_int_equal(READ("--listen=a=b",), OC_OK);
    assert_string_equal(settings.listen, "a=b");
    assert_int_equal(READ("--listen=",), OC_OK);
    assert_string_equal(settings.listen, "");
    assert_int_equal(READ("--listen", "--aggregators",), OC_OK);
    assert_string_equal(settings.listen, "--aggregators");
}

static void test_wrong_options(void **state)
{
    (void) state;
    EXPECT_ERROR("\"aggregator\"", "--aggregator", "2",);
    EXPECT_ERROR("\"\"", "--", "2",);
    EXPECT_ERROR("\"\"", "--=2",);
    EXPECT_ERROR("\"-aggregators\"", "-aggregators", "2",);
    EXPECT_ERROR("\"aggregators\"", "aggregators", "2",);
    EXPECT_ERROR("\"\"", "",);
    EXPECT_ERROR("\"-\"", "-",);
    EXPECT_ERROR("--aggregators needs a value", "--aggregators",);
    EXPECT_ERROR("\"0\"", "--aggregators", "0",);
    EXPECT_ERROR("1 to 64", "--aggregators=65",);
    EXPECT_ERROR("aggregators", "--aggregators=",);
    EXPECT_ERROR("\"loud\"", "--log-level=loud",);
    EXPECT_ERROR("\"on\" is not a value of cgroup: auto: ", "--cgroup=on",);
    EXPECT_ERROR("memory-limit", "--memory-limit=1K",);
}

static void test_long_name(void **state)
{
    char word[4096];

    (void) state;
    memset(word, 'x', sizeof(word));
    memcpy(word, "--", 2);
    word[sizeof(word) - 1] = '\0';
    assert_int_equal(READ(word, "1",), OC_ERR_INVALID);
    word[64] = '=';
    assert_int_equal(READ(word,), OC_ERR_INVALID);
    word[2 + 64] = '=';
    word[64] = 'x';
    assert_int_equal(READ(word,), OC_ERR_INVALID);
}

static void test_file(void **state)
{
    (void) state;
    write_file("# a comment\n; another\n\nlisten = 10.0.0.1:7\naggregators=4\n"
               "memory-limit = 64M\nlog-level = warn\n");
    assert_int_equal(READ("--config", path,), OC_OK);
    assert_string_equal(settings.listen, "10.0.0.1:7");
    assert_int_equal(settings.aggregators, 4);
    assert_int_equal(settings.memory_limit, 64u << 20);
    assert_int_equal(settings.log_level, OC_LOG_WARN);
    assert_int_equal(settings.drain_timeout, 30);
}

/* Wherever it stands on the command line. */
static void test_command_line_wins(void **state)
{
    char option[80];

    (void) state;
    write_file("aggregators = 4\nlisten = file:1\n");
    snprintf(option, sizeof(option), "--config=%s", path);
    assert_int_equal(READ("--aggregators=9", option,), OC_OK);
    assert_int_equal(settings.aggregators, 9);
    assert_string_equal(settings.listen, "file:1");
    assert_int_equal(READ(option, "--aggregators", "8",), OC_OK);
    assert_int_equal(settings.aggregators, 8);
}

static void test_wrong_files(void **state)
{
    (void) state;
    EXPECT_ERROR("/no/such/file", "--config", "/no/such/file",);
    EXPECT_ERROR("No such file", "--config", "/no/such/file",);
    EXPECT_ERROR("needs a value", "--config",);
    write_file("aggregators = 2\nagregators = 3\n");
    EXPECT_ERROR("line 2: \"agregators\"", "--config", path,);
    teardown(NULL);
    write_file("\n\n\naggregators = many\n");
    EXPECT_ERROR("line 4: \"many\"", "--config", path,);
    EXPECT_ERROR(path, "--config", path,);
    teardown(NULL);
    write_file("aggregators\n");
    EXPECT_ERROR("line 1", "--config", path,);
}

/* Each complaint names file, line, value and what would be right. */
static void expect_bad_line(const char *value_line, const char *value, const char *reason)
{
    char content[512], part[256];

    snprintf(content, sizeof(content), "# limits\naggregators = 2\n%s\n", value_line);
    write_file(content);
    snprintf(part, sizeof(part), "%s, line 3: \"%s\"", path, value);
    EXPECT_ERROR(part, "--config", path,);
    EXPECT_ERROR(reason, "--config", path,);
    teardown(NULL);
}

static void test_values_out_of_range(void **state)
{
    (void) state;
    expect_bad_line("memory-limit = 1K", "1K", "memory-limit: a number of at least 1048576 bytes");
    expect_bad_line("memory-limit = 1048575", "1048575", "at least 1048576 bytes");
    expect_bad_line("memory-limit = -1G", "-1G", "at least 1048576 bytes");
    expect_bad_line("memory-limit = 64MB", "64MB", "at least 1048576 bytes");
    expect_bad_line("memory-limit = 1.5G", "1.5G", "at least 1048576 bytes");
    expect_bad_line("memory-limit = 17179869184G", "17179869184G", "at least 1048576 bytes");
    expect_bad_line("memory-limit =", "", "at least 1048576 bytes");
    expect_bad_line("aggregators = 65", "65", "aggregators: a number from 1 to 64 threads");
    expect_bad_line("drain-timeout = -1", "-1", "from 0 to 86400 seconds");
    expect_bad_line("max-jobs = 0", "0", "max-jobs: a number from 1 to 65536 jobs");
    expect_bad_line("log-level = 2", "2", "error, warn, info or debug");
    expect_bad_line("config = other.conf", "config", "is not a setting");
    expect_bad_line("--aggregators = 2", "--aggregators", "is not a setting");
}

/* The ends of all ranges are inside. */
static void test_values_at_the_ends(void **state)
{
    (void) state;
    write_file("[server]\nmemory-limit = 1M\naggregators = 64\ndrain-timeout = 86400\n"
               "max-jobs = 65536\naggregators = 63\n");
    assert_int_equal(READ("--config", path,), OC_OK);
    assert_int_equal(settings.memory_limit, 1u << 20);
    assert_int_equal(settings.aggregators, 63);
    assert_int_equal(settings.drain_timeout, 86400);
    assert_int_equal(settings.max_jobs, 65536);
    teardown(NULL);
    write_file("memory-limit = 9223372036854775807\ndrain-timeout = 0\nmax-jobs = 1\n");
    assert_int_equal(READ("--config", path,), OC_OK);
    assert_true(settings.memory_limit == INT64_MAX);
    assert_int_equal(settings.drain_timeout, 0);
    assert_int_equal(settings.max_jobs, 1);
}

/* What cannot be read is not an empty file. */
static void test_not_a_file(void **state)
{
    (void) state;
    EXPECT_ERROR("cannot read the configuration file \"/tmp\": Is a directory", "--config",
                 "/tmp",);
    EXPECT_ERROR("cannot read the configuration file \"\": No such file", "--config=",);
    write_file("");
    assert_int_equal(READ("--config", path,), OC_OK);
}

/* The sentence belongs to the line it names. */
static void test_two_wrong_lines(void **state)
{
    (void) state;
    write_file("aggregators = many\nlog-level = loud\n");
    EXPECT_ERROR("line 1: \"many\"", "--config", path,);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(test_defaults, teardown),
        cmocka_unit_test_teardown(test_options, teardown),
        cmocka_unit_test_teardown(test_odd_options, teardown),
        cmocka_unit_test_teardown(test_wrong_options, teardown),
        cmocka_unit_test_teardown(test_long_name, teardown),
        cmocka_unit_test_teardown(test_file, teardown),
        cmocka_unit_test_teardown(test_command_line_wins, teardown),
        cmocka_unit_test_teardown(test_wrong_files, teardown),
        cmocka_unit_test_teardown(test_values_out_of_range, teardown),
        cmocka_unit_test_teardown(test_values_at_the_ends, teardown),
        cmocka_unit_test_teardown(test_not_a_file, teardown),
        cmocka_unit_test_teardown(test_two_wrong_lines, teardown),
    };

    alarm(30);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
