/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Owns the unit tests of handles: none is used twice at a time or soon again, nobody can guess them,
 * and as many as a job's groups can be are there.
 */
/* Test: quick 30 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/handles.h"
#include "base/limits.h"
#include "protocol/tag.h"

#define COUNT (OC_HANDLE_MAX + 1)

static oc_handles_t *handles;
static uint32_t taken[OC_HANDLES_MAX];
static uint8_t in_use[COUNT];

static int setup(void **state)
{
    (void) state;
    memset(in_use, 0, sizeof(in_use));
    handles = oc_handles_new();
    return NULL == handles ? -1 : 0;
}

static int teardown(void **state)
{
    (void) state;
    assert_null(oc_handles_check(handles));
    oc_handles_free(handles);
    return 0;
}

static uint32_t take(void)
{
    uint32_t handle = UINT32_MAX;

    assert_true(oc_handles_take(handles, &handle));
    assert_true(handle <= OC_HANDLE_MAX);
    assert_int_equal(in_use[handle]++, 0);
    return handle;
}

static void give(uint32_t handle)
{
    in_use[handle] = 0;
    oc_handles_give(handles, handle);
}

/* What a server promises: so many groups of a job. */
static void test_unique_until_exhausted(void **state)
{
    uint32_t handle = 4711;

    (void) state;
    assert_int_equal(OC_HANDLES_MAX, OC_MAX_GROUPS);
    assert_int_equal(OC_HANDLES_BITS, OC_TAG_HANDLE_BITS);
    for (uint32_t i = 0; i < OC_MAX_GROUPS; i++) {
        taken[i] = take();
    }
    assert_false(oc_handles_take(handles, &handle));
    assert_false(oc_handles_take(handles, &handle));
    give(taken[12345]);
    assert_int_not_equal(take(), taken[12345]);
    assert_false(oc_handles_take(handles, &handle));
}

/*
 * In each of 64 ranges of the field there are as many as chance has it: 1,024 expected, with a
 * standard deviation of 32, so six of these on either side will not be left in a human's life. And
 * every bit is set in half of them.
 */
static void test_all_over_the_field(void **state)
{
    unsigned ranges[64] = {0}, bits[OC_TAG_HANDLE_BITS] = {0};

    (void) state;
    for (uint32_t i = 0; i < 65536; i++) {
        uint32_t handle = take();

        ranges[handle / (COUNT / 64)]++;
        for (unsigned bit = 0; bit < OC_TAG_HANDLE_BITS; bit++) {
            bits[bit] += handle >> bit & 1;
        }
    }
    for (unsigned i = 0; i < 64; i++) {
        assert_in_range(ranges[i], 1024 - 192, 1024 + 192);
    }
    for (unsigned bit = 0; bit < OC_TAG_HANDLE_BITS; bit++) {
        assert_in_range(bits[bit], 32768 - 768, 32768 + 768);
    }
}

/* What follows says nothing about what comes next: steps are not the same, and no order. */
static void test_no_order(void **state)
{
    uint32_t before = take(), up = 0, same = 0, step = 0;

    (void) state;
    for (int i = 0; i < 10000; i++) {
        uint32_t handle = take();

        same += handle - before == step;
        step = handle - before;
        up += handle > before;
        before = handle;
    }
    assert_in_range(same, 0, 3);
    assert_in_range(up, 4600, 5400);
}

/* Two servers, or the same job begun again, have nothing in common. */
static void test_no_two_alike(void **state)
{
    oc_handles_t *others = oc_handles_new();
    unsigned same = 0;

    (void) state;
    assert_non_null(others);
    for (int i = 0; i < 1000; i++) {
        uint32_t handle;

        assert_true(oc_handles_take(others, &handle));
        same += handle == take();
    }
    oc_handles_free(others);
    assert_in_range(same, 0, 3);
}

/* A message may be late by a whole life of a group, and by many that are shorter. */
static void test_rest(void **state)
{
    static uint32_t order[OC_HANDLES_RESTING];
    uint32_t again = 0;

    (void) state;
    for (uint32_t i = 0; i < OC_HANDLES_RESTING; i++) {
        order[i] = take();
        oc_handles_give(handles, order[i]);    /* in_use stays: take() would not accept it */
    }
    /* from now on each that is given back frees the oldest one */
    for (uint32_t i = 0; i < 8 * COUNT; i++) {
        uint32_t handle = UINT32_MAX, oldest = order[i % OC_HANDLES_RESTING];

        assert_true(oc_handles_take(handles, &handle));
        assert_int_equal(in_use[handle], 0);
        in_use[handle] = 1;
        oc_handles_give(handles, handle);
        in_use[oldest] = 0;
        order[i % OC_HANDLES_RESTING] = handle;
        again += oldest == handle;
    }
    assert_int_equal(again, 0);
}

/* In any order of use, with many and with few. */
static void test_mixed_use(void **state)
{
    uint32_t count = 0, random = 12345;

    (void) state;
    for (int i = 0; i < 1000000; i++) {
        random = random * 1664525u + 1013904223u;
        if (0 == count || ((random >> 16) % 5 < 3 && count < 5000)) {
            taken[count++] = take();
        } else {
            uint32_t which = (random >> 8) % count;

            give(taken[which]);
            taken[which] = taken[--count];
        }
    }
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_unique_until_exhausted, setup, teardown),
        cmocka_unit_test_setup_teardown(test_all_over_the_field, setup, teardown),
        cmocka_unit_test_setup_teardown(test_no_order, setup, teardown),
        cmocka_unit_test_setup_teardown(test_no_two_alike, setup, teardown),
        cmocka_unit_test_setup_teardown(test_rest, setup, teardown),
        cmocka_unit_test_setup_teardown(test_mixed_use, setup, teardown),
    };

    alarm(30);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
