/* SPDX-License-Identifier: BSD-3-Clause */
/* Owns the unit tests of huge pages: who gets them, who does not, and what there is instead. */
/* Test: quick 120 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/log.h"
#include "base/settings.h"
#include "server/aggregator/pool.h"
#include "server/host/pages.h"

#define KB ((size_t) 1024)
#define HUGE_PAGES_ALLOWED "/sys/kernel/mm/transparent_hugepage/enabled"

static unsigned warnings;

/* What the system does with reserved pages. */
static enum {
    REAL,
    TAKEN,    /* gives the addresses to another thread first */
    LIMITED,  /* gives pages, which may not be touched */
    ENOUGH,
} reserve;

static uint8_t *foreign;
static size_t populated;

static size_t ordinary_page; /* 0: what is true */
static size_t largest_alignment;

long __real_sysconf(int name);
int __real_posix_memalign(void **memory, size_t alignment, size_t size);
long __wrap_sysconf(int name);
int __wrap_posix_memalign(void **memory, size_t alignment, size_t size);

long __wrap_sysconf(int name)
{
    return 0 != ordinary_page && _SC_PAGESIZE == name ? (long) ordinary_page : __real_sysconf(name);
}

int __wrap_posix_memalign(void **memory, size_t alignment, size_t size)
{
    largest_alignment = alignment > largest_alignment ? alignment : largest_alignment;
    return __real_posix_memalign(memory, alignment, size);
}

void *__real_mmap(void *at, size_t size, int protection, int flags, int fd, off_t offset);
int __real_madvise(void *memory, size_t size, int advice);
void *__wrap_mmap(void *at, size_t size, int protection, int flags, int fd, off_t offset);
int __wrap_madvise(void *memory, size_t size, int advice);

void *__wrap_mmap(void *at, size_t size, int protection, int flags, int fd, off_t offset)
{
    if (REAL == reserve || 0 == (flags & MAP_HUGETLB)) {
        return __real_mmap(at, size, protection, flags, fd, offset);
    }
    flags &= ~(MAP_HUGETLB | 21 << 26);
    if (TAKEN == reserve) {
        foreign = __real_mmap(at, size, protection, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
        memset(foreign, 0x77, size);
    }
    return __real_mmap(at, size, LIMITED == reserve ? PROT_NONE : protection, flags, fd, offset);
}

int __wrap_madvise(void *memory, size_t size, int advice)
{
    if (REAL == reserve || MADV_POPULATE_WRITE != advice) {
        return __real_madvise(memory, size, advice);
    }
    populated += size;
    errno = EFAULT;
    return LIMITED == reserve ? -1 : 0;
}

static void count_warnings(oc_log_level_t level, const char *line)
{
    warnings += OC_LOG_WARN == level && NULL != strstr(line, "vm.nr_hugepages");
}

/* "always", "madvise" or "never"; "" where there are none. */
static const char *allowed(void)
{
    static char word[32];
    FILE *file = fopen(HUGE_PAGES_ALLOWED, "r");
    char line[128] = "";

    word[0] = '\0';
    if (NULL != file) {
        (void) !fgets(line, sizeof(line), file);
        fclose(file);
    }
    if (NULL != strchr(line, '[')) {
        snprintf(word, sizeof(word), "%.*s", (int) strcspn(strchr(line, '[') + 1, "]"),
                 strchr(line, '[') + 1);
    }
    return word;
}

/* Whether that mapping was advised to have huge pages, and kilobytes that it has in them. */
static bool is_advised(const void *memory, long *kilobytes)
{
    FILE *file = fopen("/proc/self/smaps", "r");
    bool inside = false, advised = false;
    char line[512];

    assert_non_null(file);
    while (NULL != fgets(line, sizeof(line), file)) {
        unsigned long begin, end;

        if (2 == sscanf(line, "%lx-%lx ", &begin, &end)) {
            inside = begin <= (uintptr_t) memory && (uintptr_t) memory < end;
        } else if (inside) {
            (void) !sscanf(line, "AnonHugePages: %ld", kilobytes);
            advised = advised || (0 == strncmp(line, "VmFlags:", 8) && NULL != strstr(line, " hg"));
        }
    }
    fclose(file);
    return advised;
}

static uint8_t *get(size_t size, int huge_pages)
{
    uint8_t *memory = oc_pages_get(size, huge_pages);

    assert_non_null(memory);
    assert_int_equal((uintptr_t) memory % 4096, 0);
    memset(memory, 0x5a, size);
    return memory;
}

/* Around all limits: all of it is there, and can be given back. */
static void test_sizes(void **state)
{
    const size_t sizes[] = {16, 4096, 64 * KB, OC_HUGE_PAGE - 1, OC_HUGE_PAGE, OC_HUGE_PAGE + 1,
                            OC_HUGE_PAGE + 4096, 3 * OC_HUGE_PAGE - 4096, 5 * OC_HUGE_PAGE + 123};

    (void) state;
    for (int mode = OC_HUGE_PAGES_AUTO; mode <= OC_HUGE_PAGES_OFF; mode++) {
        for (unsigned i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
            uint8_t *one = get(sizes[i], mode), *two = get(sizes[i], mode);

            memset(one, 1, sizes[i]);
            assert_int_equal(two[0], 0x5a);
            assert_int_equal(two[sizes[i] - 1], 0x5a);
            oc_pages_put(one, sizes[i], mode);
            assert_int_equal(two[sizes[i] / 2], 0x5a);
            oc_pages_put(two, sizes[i], mode);
        }
    }
}

/* On machines with pages of 64 KiB, small blocks do not take one each. */
static void test_large_ordinary_pages(void **state)
{
    uint8_t *memory;

    (void) state;
    ordinary_page = 64 * KB;
    memory = get(8 * KB, OC_HUGE_PAGES_AUTO);
    ordinary_page = 0;
    oc_pages_put(memory, 8 * KB, OC_HUGE_PAGES_AUTO);
    assert_in_range(largest_alignment, 1, 4096);
}

static void test_transparent(void **state)
{
    const size_t size = 3 * OC_HUGE_PAGE + 64 * KB;
    uint8_t *memory;
    long found = 0;

    (void) state;
    if ('\0' == allowed()[0]) {
        print_message("the kernel has no transparent huge pages\n");
        return;
    }
    memory = get(size, OC_HUGE_PAGES_AUTO);
    assert_int_equal((uintptr_t) memory % OC_HUGE_PAGE, 0);
    assert_true(is_advised(memory, &found));
    oc_pages_put(memory, size, OC_HUGE_PAGES_AUTO);
    /* as many as the system has memory for in one piece */
    assert_int_equal(found % 2048, 0);
    assert_in_range(found, 0, 3 * 2048);
}

static void test_off(void **state)
{
    uint8_t *memory = get(4 * OC_HUGE_PAGE, OC_HUGE_PAGES_OFF);
    long found = 0;

    (void) state;
    assert_false(is_advised(memory, &found));
    assert_true(0 == found || 0 == strcmp(allowed(), "always"));
    oc_pages_put(memory, 4 * OC_HUGE_PAGE, OC_HUGE_PAGES_OFF);
}

static long reserved_left(void)
{
    FILE *file = fopen("/sys/kernel/mm/hugepages/hugepages-2048kB/free_hugepages", "r");
    long count = 0;

    if (NULL != file) {
        (void) !fscanf(file, "%ld", &count);
        fclose(file);
    }
    return count;
}

/* More than there can be: the first that is refused says so, the others are quiet. */
static void test_reserved_are_short(void **state)
{
    size_t more = ((size_t) reserved_left() + 1) * OC_HUGE_PAGE;
    uint8_t *one, *two;

    (void) state;
    warnings = 0;
    oc_log_set_sink(count_warnings);
    one = oc_pages_get(more, OC_HUGE_PAGES_RESERVED);
    two = oc_pages_get(more, OC_HUGE_PAGES_RESERVED);
    assert_true(NULL != one && NULL != two);
    assert_int_equal(warnings, 1);
    one[more - 1] = two[0] = 1;
    oc_pages_put(one, more, OC_HUGE_PAGES_RESERVED);
    oc_pages_put(two, more, OC_HUGE_PAGES_RESERVED);
}

static const size_t reserved_size = 2 * OC_HUGE_PAGE + 64 * KB;

/* What somebody else has got is left to him. */
static void test_reserved_are_taken(void **state)
{
    uint8_t *memory;

    (void) state;
    reserve = TAKEN;
    memory = get(reserved_size, OC_HUGE_PAGES_RESERVED);
    reserve = REAL;
    assert_true(memory + reserved_size <= foreign || foreign + 2 * OC_HUGE_PAGE <= memory);
    oc_pages_put(memory, reserved_size, OC_HUGE_PAGES_RESERVED);
    for (size_t i = 0; i < 2 * OC_HUGE_PAGE; i++) {
        assert_int_equal(foreign[i], 0x77);
    }
    assert_int_equal(munmap(foreign, 2 * OC_HUGE_PAGE), 0);
}

/* Nobody is killed by what a control group does not allow. */
static void test_reserved_are_limited(void **state)
{
    uint8_t *memory;

    (void) state;
    reserve = LIMITED;
    memory = get(reserved_size, OC_HUGE_PAGES_RESERVED);
    reserve = REAL;
    oc_pages_put(memory, reserved_size, OC_HUGE_PAGES_RESERVED);
}

static void test_reserved(void **state)
{
    uint8_t *memory;

    (void) state;
    reserve = ENOUGH;
    populated = 0;
    memory = get(reserved_size, OC_HUGE_PAGES_RESERVED);
    reserve = REAL;
    assert_int_equal((uintptr_t) memory % OC_HUGE_PAGE, 0);
    assert_int_equal(populated, 2 * OC_HUGE_PAGE);
    oc_pages_put(memory, reserved_size, OC_HUGE_PAGES_RESERVED);
}

/* AddressSanitizer ends a program that asks for too much, unless it is told otherwise. */
__attribute__((visibility("default"))) const char *__asan_default_options(void);

const char *__asan_default_options(void)
{
    return "allocator_may_return_null=1";
}

static void test_too_much(void **state)
{
    (void) state;
    assert_null(oc_pages_get(SIZE_MAX - 8192, OC_HUGE_PAGES_AUTO));
    assert_null(oc_pages_get(SIZE_MAX / 4, OC_HUGE_PAGES_RESERVED));
    assert_null(oc_pages_get(SIZE_MAX / 4, OC_HUGE_PAGES_OFF));
}

/* Kept and given back like others. */
static void test_pool(void **state)
{
    const size_t size = 2 * OC_HUGE_PAGE;
    oc_pool_t pool;
    void *one, *two;

    (void) state;
    oc_pool_open(&pool, 3 * size);
    pool.huge_pages = OC_HUGE_PAGES_AUTO;
    one = oc_pool_get(&pool, size);
    two = oc_pool_get(&pool, 64 * KB);
    assert_non_null(one);
    assert_non_null(two);
    memset(one, 1, size);
    oc_pool_put(&pool, one, size);
    assert_ptr_equal(oc_pool_get(&pool, size), one);
    oc_pool_put(&pool, one, size);
    oc_pool_put(&pool, two, 64 * KB);
    assert_int_equal(pool.idle, size + 64 * KB);
    oc_pool_close(&pool);
    assert_int_equal(pool.idle, 0);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        /* first: it is warned only once */
        cmocka_unit_test(test_reserved_are_short),
        cmocka_unit_test(test_reserved_are_taken),
        cmocka_unit_test(test_reserved_are_limited),
        cmocka_unit_test(test_reserved),
        cmocka_unit_test(test_sizes),
        cmocka_unit_test(test_large_ordinary_pages),
        cmocka_unit_test(test_transparent),
        cmocka_unit_test(test_off),
        cmocka_unit_test(test_too_much),
        cmocka_unit_test(test_pool),
    };

    alarm(30);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
