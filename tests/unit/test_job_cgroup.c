/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Owns the unit tests of bounds that a data process says for its cgroup. Plain files are in the place
 * of those of a cgroup; tests/engine/test_engine_cgroup.c has real ones.
 */
/* Test: quick 10 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "server/daemon/job_cgroup.h"

static char path[] = "/tmp/optcast_cgroup_XXXXXX";
static oc_job_cgroup_t job = {.folder = -1, .processes = -1, .events = -1};

static void make(const char *name, const char *text)
{
    int fd = openat(job.folder, name, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);

    assert_true(fd >= 0);
    assert_int_equal(write(fd, text, strlen(text)), strlen(text));
    close(fd);
}

static void expect(const char *name, const char *expected)
{
    char text[64];

    assert_true(oc_cgroup_read(job.folder, name, text, sizeof(text)));
    assert_string_equal(text, expected);
}

static bool bound(uint64_t high, uint64_t max)
{
    oc_bound_sizes_t sizes = {.bytes = high, .high = high, .max = max};

    return oc_job_cgroup_bound(&job, &sizes);
}

/* The first word of the process may be less than the guess before it; then they only rise. */
static void test_rise(void **state)
{
    (void) state;
    make("memory.high", "9000");
    make("memory.max", "9999");
    make("cgroup.events", "populated 1\n");
    assert_true(bound(3000, 4000));
    expect("memory.high", "3000");
    expect("memory.max", "4000");
    assert_true(bound(5000, 6000));
    expect("memory.high", "5000");
    assert_true(bound(4000, 7000));
    assert_true(bound(6000, 5000));
    assert_true(bound(3000, 4000));
    expect("memory.high", "5000");
    expect("memory.max", "6000");
    assert_true(bound(7000, 8000));
    expect("memory.high", "7000");
    expect("memory.max", "8000");
}

static oc_cgroup_verdict_t judge(const char *current, const char *stat)
{
    oc_cgroup_verdict_t verdict;
    uint64_t held, high = 0;

    make("memory.current", current);
    make("memory.stat", stat);
    verdict = oc_job_cgroup_judge(&job, &held, &high);
    assert_int_equal(high, 7000);
    return verdict;
}

/* Socket buffers do not count, and make room for memory that does, up to the bound as it was. */
static void test_judge(void **state)
{
    (void) state;
    make("memory.high", "7000\n");
    assert_int_equal(judge("7001\n", "sock 4096\n"), OC_CGROUP_FINE);
    expect("memory.high", "33561432");
    make("memory.high", "33561432\n");
    assert_int_equal(judge("33561433\n", "sock 33558528\n"), OC_CGROUP_SLOWED);
    expect("memory.high", "33561432\n");
    assert_int_equal(judge("11097\n", "sock 4096\n"), OC_CGROUP_OVER);
    /* the room stays when the bound rises: nothing is ever lowered */
    make("memory.high", "");
    make("memory.max", "");
    assert_true(bound(8000, 9000));
    expect("memory.high", "33562432");
    assert_int_equal(job.judged, 8000);
}

static int setup(void **state)
{
    (void) state;
    if (NULL == mkdtemp(path)) {
        return -1;
    }
    job.folder = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    return job.folder < 0 ? -1 : 0;
}

static int teardown(void **state)
{
    static const char *const names[] = {"memory.high", "memory.max", "cgroup.events",
                                        "memory.current", "memory.stat"};

    (void) state;
    for (unsigned i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        (void) unlinkat(job.folder, names[i], 0);
    }
    oc_job_cgroup_close(&job);
    return rmdir(path);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_rise),
        cmocka_unit_test(test_judge),
    };

    return cmocka_run_group_tests(tests, setup, teardown);
}
