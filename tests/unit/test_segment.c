/* SPDX-License-Identifier: BSD-3-Clause */
/* Memory shared by processes: attaching, names that are wrong, makers that have gone. */
/* Test: quick 120 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "node/segment.h"

#define SIZE (3u * 65536 + 5)

static char error[256];

static oc_segment_t *make(size_t size)
{
    oc_segment_t *segment = NULL;

    assert_int_equal(oc_segment_create(size, &segment, error, sizeof(error)), OC_OK);
    assert_non_null(segment);
    return segment;
}

static oc_status_t attach(const uint8_t *name, oc_segment_t **segment)
{
    memset(error, 0, sizeof(error));
    return oc_segment_attach(name, segment, error, sizeof(error));
}

static uint8_t pattern(size_t i)
{
    return (uint8_t) (i * 7 + i / 251);
}

/* In a process of its own: attaches, checks the maker's bytes and inverts them. */
static int invert(const uint8_t *name)
{
    oc_segment_t *segment;
    uint8_t *memory;

    if (OC_OK != attach(name, &segment) || SIZE != oc_segment_size(segment)) {
        return 1;
    }
    memory = oc_segment_memory(segment);
    for (size_t i = 0; i < SIZE; i++) {
        if (memory[i] != pattern(i)) {
            return 2;
        }
        memory[i] = (uint8_t) ~memory[i];
    }
    oc_segment_close(segment);
    return 0;
}

static void test_two_processes(void **state)
{
    oc_segment_t *segment = make(SIZE);
    uint8_t *memory = oc_segment_memory(segment), name[OC_SEGMENT_NAME_SIZE];
    int status;
    pid_t child;

    (void) state;
    oc_segment_name(segment, name);
    assert_int_equal((uintptr_t) memory % (uintptr_t) sysconf(_SC_PAGESIZE), 0);
    for (size_t i = 0; i < SIZE; i++) {
        assert_int_equal(memory[i], 0);
        memory[i] = pattern(i);
    }
    child = fork();
    assert_true(child >= 0);
    if (0 == child) {
        _exit(invert(name));
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
    for (size_t i = 0; i < SIZE; i++) {
        assert_int_equal(memory[i], (uint8_t) ~pattern(i));
    }
    oc_segment_close(segment);
}

static void test_outlives_its_maker(void **state)
{
    oc_segment_t *segment = make(100), *other;
    uint8_t name[OC_SEGMENT_NAME_SIZE];

    (void) state;
    oc_segment_name(segment, name);
    assert_int_equal(attach(name, &other), OC_OK);
    memcpy(oc_segment_memory(segment), "still here", 11);
    oc_segment_close(segment);
    assert_string_equal(oc_segment_memory(other), "still here");
    oc_segment_close(other);
    assert_int_equal(attach(name, &other), OC_ERR_UNREACHABLE);
    assert_non_null(strstr(error, "cannot be found"));
}

static void test_hidden(void **state)
{
    oc_segment_t *segment = make(100), *other, *late = NULL;
    uint8_t name[OC_SEGMENT_NAME_SIZE];
    int before, after;

    (void) state;
    oc_segment_name(segment, name);
    assert_int_equal(attach(name, &other), OC_OK);
    before = dup(0);
    oc_segment_hide(segment);
    oc_segment_hide(segment);
    oc_segment_hide(other);
    after = dup(0);
    assert_true(after >= 0 && after < before);
    assert_int_equal(attach(name, &late), OC_ERR_UNREACHABLE);
    assert_null(late);
    memcpy(oc_segment_memory(segment), "still here", 11);
    assert_string_equal(oc_segment_memory(other), "still here");
    close(before);
    close(after);
    oc_segment_close(segment);
    oc_segment_close(other);
}

/* The descriptor's number is in use again, by a segment of the same size: the token differs. */
static void test_number_used_again(void **state)
{
    oc_segment_t *segment = make(100), *second, *other = NULL;
    uint8_t name[OC_SEGMENT_NAME_SIZE], second_name[OC_SEGMENT_NAME_SIZE];

    (void) state;
    oc_segment_name(segment, name);
    oc_segment_close(segment);
    second = make(100);
    oc_segment_name(second, second_name);
    assert_memory_equal(name, second_name, 16);
    assert_int_equal(attach(name, &other), OC_ERR_UNREACHABLE);
    assert_null(other);
    oc_segment_close(second);
}

static void expect_unreachable(const uint8_t *name)
{
    oc_segment_t *other = NULL;

    assert_int_equal(attach(name, &other), OC_ERR_UNREACHABLE);
    assert_null(other);
    assert_true('\0' != error[0]);
}

/* Each byte of a name counts. */
static void test_wrong_names(void **state)
{
    oc_segment_t *segment = make(SIZE);
    uint8_t name[OC_SEGMENT_NAME_SIZE];

    (void) state;
    oc_segment_name(segment, name);
    for (unsigned i = 0; i < sizeof(name); i++) {
        name[i] ^= 0x41;
        expect_unreachable(name);
        name[i] ^= 0x41;
    }
    memset(name, 0, sizeof(name));
    expect_unreachable(name);
    memset(name, 0xff, sizeof(name));
    expect_unreachable(name);
    oc_segment_close(segment);
}

/* Puts a descriptor's number in a name. */
static void point_to(uint8_t *name, int fd)
{
    name[4] = (uint8_t) fd;
    name[5] = (uint8_t) (fd >> 8);
}

/* What is no segment is neither opened nor used, even if all else fits. */
static void test_other_files(void **state)
{
    oc_segment_t *segment = make(100);
    uint8_t name[OC_SEGMENT_NAME_SIZE];
    long page = sysconf(_SC_PAGESIZE);
    int ends[2], fd = memfd_create("unsealed", MFD_CLOEXEC | MFD_ALLOW_SEALING);

    (void) state;
    oc_segment_name(segment, name);
    assert_true(fd >= 0);
    assert_int_equal(ftruncate(fd, page + 100), 0);
    assert_int_equal(pwrite(fd, name + 16, 16, 0), 16);
    point_to(name, fd);
    expect_unreachable(name);
    close(fd);
    assert_int_equal(pipe2(ends, O_CLOEXEC), 0);
    point_to(name, ends[0]);
    expect_unreachable(name);
    close(ends[0]);
    close(ends[1]);
    oc_segment_close(segment);
}

static void test_impossible_sizes(void **state)
{
    oc_segment_t *segment = NULL;

    (void) state;
    assert_int_equal(oc_segment_create(SIZE_MAX - 5000, &segment, error, sizeof(error)),
                     OC_ERR_NO_MEMORY);
    assert_null(segment);
    assert_non_null(strstr(error, "bytes can be shared"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_two_processes),
        cmocka_unit_test(test_outlives_its_maker),
        cmocka_unit_test(test_hidden),
        cmocka_unit_test(test_number_used_again),
        cmocka_unit_test(test_wrong_names),
        cmocka_unit_test(test_other_files),
        cmocka_unit_test(test_impossible_sizes),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
