/* SPDX-License-Identifier: BSD-3-Clause */
/* Owns the tests of what is read about cgroups: paths, mounts, lists and numbers, good and bad. */
/* Test: quick 10 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <string.h>

#include "server/daemon/cgroup_text.h"

#define SIZE 64

static char found[SIZE];

static FILE *open_text(const char *text)
{
    FILE *file = fmemopen((void *) text, strlen(text), "r");

    assert_non_null(file);
    return file;
}

static bool read_path(const char *text)
{
    FILE *file = open_text(text);
    bool is_found = oc_cgroup_read_path(file, found, sizeof(found));

    fclose(file);
    return is_found;
}

static void test_path(void **state)
{
    (void) state;
    assert_true(read_path("0::/\n"));
    assert_string_equal(found, "/");
    assert_true(read_path("0::/system.slice/optcast-server.service\n"));
    assert_string_equal(found, "/system.slice/optcast-server.service");
    /* version 1 beside it */
    assert_true(read_path("9:name=systemd:/a\n4:memory:/b\n0::/c:d e\n"));
    assert_string_equal(found, "/c:d e");
    assert_true(read_path("0::/..a/b"));
    assert_string_equal(found, "/..a/b");
}

static void test_no_path(void **state)
{
    char longest[SIZE + 8];

    (void) state;
    assert_false(read_path("9:name=systemd:/a\n4:memory:/b\n"));
    assert_false(read_path("10::/a\n"));
    assert_false(read_path("0:memory:/a\n"));
    assert_false(read_path("0::\n"));
    assert_false(read_path("0::a\n"));
    assert_false(read_path("\n"));
    /* outside of the namespace */
    assert_false(read_path("0::/../a\n"));
    assert_false(read_path("0::/..\n"));
    memset(longest, 'a', sizeof(longest));
    memcpy(longest, "0::/", 4);
    longest[sizeof(longest) - 1] = '\0';
    assert_false(read_path(longest));
    longest[3 + SIZE - 1] = '\0';
    assert_true(read_path(longest));
    assert_int_equal(strlen(found), SIZE - 1);
}

static bool read_folder(const char *text, const char *path)
{
    FILE *file = open_text(text);
    bool is_found = oc_cgroup_read_folder(file, path, found, sizeof(found));

    fclose(file);
    return is_found;
}

#define UNIFIED \
    "22 1 8:1 / / rw,relatime shared:1 - ext4 /dev/sda1 rw\n" \
    "34 22 0:32 / /sys/fs/cgroup rw,nosuid shared:9 master:2 - cgroup2 cgroup2 rw,nsdelegate\n"

#define HYBRID \
    "35 31 0:32 / /sys/fs/cgroup/memory rw,relatime - cgroup cgroup rw,memory\n" \
    "41 31 0:38 / /sys/fs/cgroup/unified rw,relatime - cgroup2 cgroup2 rw\n"

static void test_folder(void **state)
{
    (void) state;
    assert_true(read_folder(UNIFIED, "/a/b"));
    assert_string_equal(found, "/sys/fs/cgroup/a/b");
    assert_true(read_folder(UNIFIED, "/"));
    assert_string_equal(found, "/sys/fs/cgroup");
    assert_true(read_folder(HYBRID, "/a"));
    assert_string_equal(found, "/sys/fs/cgroup/unified/a");
    /* no optional words, and blanks in names */
    assert_true(read_folder("1 2 0:3 / /a\\040b\\134c rw - cgroup2 none rw\n", "/x"));
    assert_string_equal(found, "/a b\\c/x");
    /* what is no number stays */
    assert_true(read_folder("1 2 0:3 / /a\\04 rw - cgroup2 none rw\n", "/x"));
    assert_string_equal(found, "/a\\04/x");
}

/* Parts of the hierarchy, as containers see them. */
static void test_parts(void **state)
{
    static const char part[] = "1 2 0:3 /docker/1f /sys/fs/cgroup ro - cgroup2 cgroup rw\n";
    static const char both[] = "1 2 0:3 /other /x rw - cgroup2 cgroup rw\n"
                               "1 2 0:3 /docker /y rw - cgroup2 cgroup rw\n";

    (void) state;
    assert_true(read_folder(part, "/docker/1f/a"));
    assert_string_equal(found, "/sys/fs/cgroup/a");
    assert_true(read_folder(part, "/docker/1f"));
    assert_string_equal(found, "/sys/fs/cgroup");
    assert_false(read_folder(part, "/docker/1fa"));
    assert_false(read_folder(part, "/docker"));
    assert_false(read_folder(part, "/"));
    assert_true(read_folder(both, "/docker/1f"));
    assert_string_equal(found, "/y/1f");
}

static void test_no_folder(void **state)
{
    static const char long_path[] = "/aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa";

    (void) state;
    assert_false(read_folder("35 31 0:32 / /sys/fs/cgroup/memory rw - cgroup cgroup rw,memory\n",
                             "/a"));
    assert_false(read_folder("1 2 0:3 / /cgroup2 rw - tmpfs cgroup2 rw\n", "/a"));
    assert_false(read_folder("1 2 0:3 / - cgroup2 none rw\n", "/a"));
    assert_false(read_folder(" - cgroup2 \n", "/a"));
    assert_false(read_folder("cgroup2\n", "/a"));
    assert_false(read_folder("\n", "/a"));
    assert_false(read_folder(UNIFIED, long_path));
}

static void test_words(void **state)
{
    (void) state;
    assert_true(oc_cgroup_has_word("cpuset cpu io memory hugetlb\n", "memory"));
    assert_true(oc_cgroup_has_word("memory", "memory"));
    assert_true(oc_cgroup_has_word("memory pids\n", "memory"));
    assert_true(oc_cgroup_has_word("  pids\tmemory \n", "memory"));
    assert_false(oc_cgroup_has_word("", "memory"));
    assert_false(oc_cgroup_has_word("\n", "memory"));
    assert_false(oc_cgroup_has_word("memory2 xmemory memor\n", "memory"));
}

static void test_numbers(void **state)
{
    static const char events[] = "low 0\nhigh 12\nmax 3\noom 1\noom_kill 18446744073709551615\n";
    uint64_t number = 7;

    (void) state;
    assert_true(oc_cgroup_number(events, "low", &number));
    assert_int_equal(number, 0);
    assert_true(oc_cgroup_number(events, "oom", &number));
    assert_int_equal(number, 1);
    assert_true(oc_cgroup_number(events, "oom_kill", &number));
    assert_true(UINT64_MAX == number);
    assert_true(oc_cgroup_number("high 12", "high", &number));
    assert_int_equal(number, 12);
}

static void test_no_numbers(void **state)
{
    uint64_t number = 7;

    (void) state;
    assert_false(oc_cgroup_number("", "low", &number));
    assert_false(oc_cgroup_number("low 1\n", "lo", &number));
    assert_false(oc_cgroup_number("low 1\n", "ow", &number));
    assert_false(oc_cgroup_number("low\n", "low", &number));
    assert_false(oc_cgroup_number("low \n", "low", &number));
    assert_false(oc_cgroup_number("low x1\n", "low", &number));
    assert_false(oc_cgroup_number("low 1x\n", "low", &number));
    assert_false(oc_cgroup_number("low -1\n", "low", &number));
    assert_false(oc_cgroup_number("low 18446744073709551616\n", "low", &number));
    assert_int_equal(number, 7);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_path),
        cmocka_unit_test(test_no_path),
        cmocka_unit_test(test_folder),
        cmocka_unit_test(test_parts),
        cmocka_unit_test(test_no_folder),
        cmocka_unit_test(test_words),
        cmocka_unit_test(test_numbers),
        cmocka_unit_test(test_no_numbers),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
