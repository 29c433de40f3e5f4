/* SPDX-License-Identifier: BSD-3-Clause */
/* Owns the unit tests of the recorder of timelines: what is kept, and what is in the file. */
/* Test: quick 120 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/log.h"
#include "base/timeline.h"

static char folder[] = "/tmp/optcast-timeline-XXXXXX";
static char prefix[64], path[128];
static unsigned warnings;
static char warning[512];

static void on_line(oc_log_level_t level, const char *line)
{
    (void) level;
    snprintf(warning, sizeof(warning), "%s", line);
    warnings++;
}

static int setup(void **state)
{
    (void) state;
    if (NULL == mkdtemp(folder)) {
        return -1;
    }
    snprintf(prefix, sizeof(prefix), "%s/t", folder);
    snprintf(path, sizeof(path), "%s-rank-3.timeline", prefix);
    oc_log_set_sink(on_line);
    return 0;
}

static int teardown(void **state)
{
    (void) state;
    return rmdir(folder);
}

static oc_timeline_record_t record(uint64_t sequence)
{
    return (oc_timeline_record_t) {.handle = 5, .aggregator = 2, .sequence = sequence, .number = 7,
                                   .bytes = 4096, .first = 3, .last = 1, .collective = OC_RULED_REDUCE,
                                   .times = {10, 20, 30, 40, 50}};
}

static void expect_line(FILE *file, const char *expected)
{
    char line[256] = "";

    assert_non_null(fgets(line, sizeof(line), file));
    if (NULL != expected) {
        assert_string_equal(line, expected);
    }
}

static void check_file(oc_timeline_kind_t kind, const char *kind_name, const char *last)
{
    oc_timeline_t *timeline = oc_timeline_open(prefix, "rank-3", kind);
    oc_timeline_record_t one = record(1ull << 40);
    char line[256] = "", expected[64];
    FILE *file;

    assert_non_null(timeline);
    assert_int_equal(access(path, F_OK), -1);
    oc_timeline_add(timeline, &one);
    oc_timeline_close(timeline);
    file = fopen(path, "r");
    assert_non_null(file);
    assert_non_null(fgets(line, sizeof(line), file));
    snprintf(expected, sizeof(expected), "optcast-timeline 2 %s rank-3 ", kind_name);
    assert_memory_equal(line, expected, strlen(expected));
    assert_true(strlen(line) > strlen(expected) + 1);
    expect_line(file, "# 0 older records were dropped\n");
    expect_line(file, NULL);
    expect_line(file, last);
    assert_null(fgets(line, sizeof(line), file));
    fclose(file);
    assert_int_equal(unlink(path), 0);
}

static void test_files(void **state)
{
    (void) state;
    check_file(OC_TIMELINE_CLIENT, "client", "5 2 1099511627776 7 4096 3 1 10 20 30 reduce\n");
    check_file(OC_TIMELINE_SERVER, "server", "5 2 1099511627776 7 4096 3 1 10 20 30 40 50\n");
    assert_int_equal(warnings, 0);
}

/* The newest ones are kept, in their order. */
static void test_overflow(void **state)
{
    oc_timeline_t *timeline = oc_timeline_open(prefix, "rank-3", OC_TIMELINE_CLIENT);
    unsigned long long sequence;
    char line[256];
    FILE *file;

    (void) state;
    for (uint64_t i = 0; i < OC_TIMELINE_RECORDS + 10; i++) {
        oc_timeline_record_t one = record(i);

        oc_timeline_add(timeline, &one);
    }
    oc_timeline_close(timeline);
    file = fopen(path, "r");
    assert_non_null(file);
    expect_line(file, NULL);
    expect_line(file, "# 10 older records were dropped\n");
    expect_line(file, NULL);
    for (uint64_t i = 10; i < OC_TIMELINE_RECORDS + 10; i++) {
        assert_non_null(fgets(line, sizeof(line), file));
        assert_int_equal(sscanf(line, "5 2 %llu ", &sequence), 1);
        assert_true(i == sequence);
    }
    assert_null(fgets(line, sizeof(line), file));
    fclose(file);
    assert_int_equal(unlink(path), 0);
}

static void test_nothing(void **state)
{
    oc_timeline_record_t one = record(0);

    (void) state;
    assert_null(oc_timeline_open("", "rank-3", OC_TIMELINE_CLIENT));
    assert_null(oc_timeline_open(NULL, "rank-3", OC_TIMELINE_CLIENT));
    oc_timeline_add(NULL, &one);
    oc_timeline_close(NULL);
    oc_timeline_close(oc_timeline_open(prefix, "rank-3", OC_TIMELINE_CLIENT));
    assert_int_equal(access(path, F_OK), -1);
    assert_int_equal(warnings, 0);
}

static void test_unwritable(void **state)
{
    oc_timeline_t *timeline = oc_timeline_open("/no such folder/t", "rank-3", OC_TIMELINE_CLIENT);
    oc_timeline_record_t one = record(0);

    (void) state;
    warnings = 0;
    assert_non_null(timeline);
    oc_timeline_add(timeline, &one);
    oc_timeline_close(timeline);
    assert_int_equal(warnings, 1);
    assert_non_null(strstr(warning, "/no such folder/t-rank-3.timeline"));
}

static void write_one(void)
{
    oc_timeline_t *timeline = oc_timeline_open(prefix, "rank-3", OC_TIMELINE_CLIENT);
    oc_timeline_record_t one = record(1);

    assert_non_null(timeline);
    oc_timeline_add(timeline, &one);
    oc_timeline_close(timeline);
}

static void put_text(const char *name, const char *text)
{
    FILE *file = fopen(name, "w");

    assert_non_null(file);
    assert_true(fputs(text, file) >= 0);
    assert_int_equal(fclose(file), 0);
}

static void expect_text(const char *name, const char *text)
{
    char line[256] = "";
    FILE *file = fopen(name, "r");

    assert_non_null(file);
    assert_non_null(fgets(line, sizeof(line), file));
    assert_string_equal(line, text);
    fclose(file);
}

/* A whole file of its own, and nothing else. */
static void expect_timeline(unsigned files)
{
    DIR *entries = opendir(folder);
    unsigned count = 0, lines = 0;
    char line[256];
    struct stat what;
    FILE *file;

    assert_int_equal(lstat(path, &what), 0);
    assert_true(S_ISREG(what.st_mode));
    assert_int_equal(what.st_nlink, 1);
    assert_int_equal(what.st_mode & 07777, 0640);
    file = fopen(path, "r");
    assert_non_null(file);
    while (NULL != fgets(line, sizeof(line), file)) {
        lines++;
    }
    fclose(file);
    assert_int_equal(lines, 4);
    assert_non_null(entries);
    while (NULL != readdir(entries)) {
        count++;
    }
    closedir(entries);
    assert_int_equal(count - 2, files);
}

/* Whatever somebody has put there, it is replaced, and what it leads to stays as it is. */
static void test_in_the_way(void **state)
{
    mode_t mask = umask(027);
    char victim[128];

    (void) state;
    warnings = 0;
    snprintf(victim, sizeof(victim), "%s/victim", folder);
    put_text(victim, "precious\n");
    assert_int_equal(symlink(victim, path), 0);
    write_one();
    expect_text(victim, "precious\n");
    expect_timeline(2);
    assert_int_equal(unlink(path), 0);

    assert_int_equal(link(victim, path), 0);
    write_one();
    expect_text(victim, "precious\n");
    expect_timeline(2);
    assert_int_equal(unlink(path), 0);

    assert_int_equal(symlink("/no such folder/file", path), 0);
    write_one();
    expect_timeline(2);
    assert_int_equal(unlink(path), 0);

    assert_int_equal(mkfifo(path, 0600), 0);
    alarm(10);
    write_one();
    alarm(0);
    expect_timeline(2);
    assert_int_equal(unlink(victim), 0);
    /* of an earlier run */
    put_text(path, "1\n2\n3\n4\n5\n6\n");
    assert_int_equal(chmod(path, 0600), 0);
    write_one();
    expect_timeline(1);
    assert_int_equal(unlink(path), 0);
    assert_int_equal(warnings, 0);
    umask(mask);
}

/* What cannot be replaced is named, and nothing is left behind. */
static void test_not_replaced(void **state)
{
    (void) state;
    warnings = 0;
    assert_int_equal(mkdir(path, 0700), 0);
    write_one();
    assert_int_equal(warnings, 1);
    assert_non_null(strstr(warning, path));
    /* teardown would find more */
    assert_int_equal(rmdir(path), 0);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_files),
        cmocka_unit_test(test_overflow),
        cmocka_unit_test(test_nothing),
        cmocka_unit_test(test_in_the_way),
        cmocka_unit_test(test_not_replaced),
        cmocka_unit_test(test_unwritable),
    };

    return cmocka_run_group_tests(tests, setup, teardown);
}
