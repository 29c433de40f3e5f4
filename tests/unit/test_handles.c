/* SPDX-License-Identifier: BSD-3-Clause */
/* Owns the unit tests of group handles: unique, late to come back, and different when they do. */
/* Test: quick 120 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "protocol/tag.h"
#include "server/job_types.h"

#define INDEX_MASK 0xffffu

static oc_handles_t handles;
static uint32_t taken[OC_MAX_GROUPS];

static uint32_t take(void)
{
    uint32_t handle = UINT32_MAX;

    assert_true(oc_handles_take(&handles, &handle));
    assert_true(handle <= OC_HANDLE_MAX);
    return handle;
}

static void test_unique_until_exhausted(void **state)
{
    static uint8_t seen[OC_MAX_GROUPS];
    uint32_t handle = 4711;

    (void) state;
    memset(seen, 0, sizeof(seen));
    for (uint32_t i = 0; i < OC_MAX_GROUPS; i++) {
        taken[i] = take();
        assert_int_equal(seen[taken[i] & INDEX_MASK]++, 0);
    }
    assert_false(oc_handles_take(&handles, &handle));
    assert_false(oc_handles_take(&handles, &handle));
    oc_handles_give(&handles, taken[12345]);
    handle = take();
    assert_int_equal(handle & INDEX_MASK, taken[12345] & INDEX_MASK);
    assert_int_not_equal(handle, taken[12345]);
    assert_false(oc_handles_take(&handles, &handle));
    oc_handles_free(&handles);
}

/* The oldest comes first: what was given back last is reused last. */
static void test_late_reuse(void **state)
{
    uint32_t order[64], capacity;

    (void) state;
    taken[0] = take();
    capacity = handles.capacity;
    assert_in_range(capacity, 2, 64);
    oc_handles_give(&handles, taken[0]);
    for (uint32_t i = 1; i < capacity; i++) {
        order[i] = take();
        assert_int_not_equal(order[i] & INDEX_MASK, taken[0] & INDEX_MASK);
    }
    assert_int_equal(take() & INDEX_MASK, taken[0] & INDEX_MASK);
    for (uint32_t i = capacity - 1; i > 0; i--) {
        oc_handles_give(&handles, order[i]);
    }
    for (uint32_t i = capacity - 1; i > 0; i--) {
        assert_int_equal(take() & INDEX_MASK, order[i] & INDEX_MASK);
    }
    oc_handles_free(&handles);
}

static void test_generations(void **state)
{
    uint32_t last[64], capacity, handle;

    (void) state;
    oc_handles_give(&handles, take());
    capacity = handles.capacity;
    memset(last, 0xff, sizeof(last));
    for (uint32_t i = 0; i < 40 * capacity; i++) {
        handle = take();
        assert_int_not_equal(handle, last[handle & INDEX_MASK]);
        last[handle & INDEX_MASK] = handle;
        oc_handles_give(&handles, handle);
    }
    assert_int_equal(handles.capacity, capacity);
    oc_handles_free(&handles);
}

/* All sixteen generations are used before the first comes again. */
static void test_generation_cycle(void **state)
{
    uint32_t handle, capacity, seen = 0;

    (void) state;
    oc_handles_give(&handles, take());
    capacity = handles.capacity;
    for (uint32_t i = 0; i < 16 * capacity; i++) {
        handle = take();
        if (5 == (handle & INDEX_MASK)) {
            assert_false(seen & 1u << (handle >> 16));
            seen |= 1u << (handle >> 16);
        }
        oc_handles_give(&handles, handle);
    }
    assert_int_equal(seen, 0xffff);
    oc_handles_free(&handles);
}

/* Growing in the middle of use neither forgets nor doubles anything. */
static void test_mixed_use(void **state)
{
    static uint8_t in_use[OC_MAX_GROUPS];
    uint32_t count = 0, random = 12345;

    (void) state;
    memset(in_use, 0, sizeof(in_use));
    for (int i = 0; i < 200000; i++) {
        random = random * 1664525u + 1013904223u;
        if (0 == count || ((random >> 16) % 5 < 3 && count < 5000)) {
            taken[count] = take();
            assert_int_equal(in_use[taken[count] & INDEX_MASK]++, 0);
            count++;
        } else {
            uint32_t which = (random >> 8) % count;

            in_use[taken[which] & INDEX_MASK] = 0;
            oc_handles_give(&handles, taken[which]);
            taken[which] = taken[--count];
        }
    }
    assert_true(handles.capacity - handles.num_free == count);
    oc_handles_free(&handles);
    assert_null(handles.free);
    assert_int_equal(handles.capacity, 0);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_unique_until_exhausted),
        cmocka_unit_test(test_late_reuse),
        cmocka_unit_test(test_generations),
        cmocka_unit_test(test_generation_cycle),
        cmocka_unit_test(test_mixed_use),
    };

    alarm(30);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
