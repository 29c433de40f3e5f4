/* SPDX-License-Identifier: BSD-3-Clause */
/* Owns the unit tests of pieces that are kept: which ones are used again, how many, what they cost. */
/* Test: quick 120 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <malloc.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/stock.h"

#define MOST 65536u

static oc_stock_t stock;

static int setup(void **state)
{
    (void) state;
    oc_stock_open(&stock, MOST);
    return 0;
}

static int teardown(void **state)
{
    (void) state;
    assert_null(oc_stock_check(&stock));
    oc_stock_trim(&stock);
    return 0 == stock.kept ? 0 : -1;
}

static void *take(size_t size)
{
    void *memory = oc_stock_take(&stock, size);

    assert_non_null(memory);
    assert_int_equal((uintptr_t) memory % 16, 0);
    memset(memory, 0xa5, size);
    return memory;
}

static void test_used_again(void **state)
{
    void *first = take(1000), *second = take(1000);

    (void) state;
    assert_null(oc_stock_find(&stock, 1000));
    oc_stock_give(&stock, first, 1000);
    oc_stock_give(&stock, second, 1000);
    assert_int_equal(stock.kept, 2 * oc_stock_cost(1000));
    assert_ptr_equal(take(1000), second);
    /* about the same size is enough, a larger one is not */
    assert_null(oc_stock_find(&stock, 1025));
    assert_ptr_equal(take(1024), first);
    assert_int_equal(stock.kept, 0);
    oc_stock_give(&stock, first, 1024);
    oc_stock_give(&stock, second, 1000);
}

/* Whatever size comes back, the next of that size gets all of it. */
static void test_all_sizes(void **state)
{
    (void) state;
    for (size_t size = 0; size < MOST - 16384; size += 1 + size / 64) {
        void *memory = take(size);

        oc_stock_give(&stock, memory, size);
        assert_ptr_equal(take(size), memory);
        oc_stock_give(&stock, memory, size);
        oc_stock_trim(&stock);
    }
}

static void test_limit(void **state)
{
    size_t cost = oc_stock_cost(16384);
    void *pieces[5];

    (void) state;
    for (int i = 0; i < 5; i++) {
        pieces[i] = take(16384);
    }
    for (int i = 0; i < 5; i++) {
        oc_stock_give(&stock, pieces[i], 16384);
        assert_true(stock.kept <= MOST);
    }
    assert_int_equal(stock.kept, MOST / cost * cost);
    oc_stock_trim(&stock);
    assert_int_equal(stock.kept, 0);
    assert_null(oc_stock_find(&stock, 16384));
}

static void test_large(void **state)
{
    void *memory;

    (void) state;
    oc_stock_open(&stock, SIZE_MAX);
    memory = take(OC_STOCK_MAX_SIZE);
    oc_stock_give(&stock, memory, OC_STOCK_MAX_SIZE);
    assert_int_equal(stock.kept, oc_stock_cost(OC_STOCK_MAX_SIZE));
    memory = take(OC_STOCK_MAX_SIZE + 1);
    oc_stock_give(&stock, memory, OC_STOCK_MAX_SIZE + 1);
    assert_int_equal(stock.kept, oc_stock_cost(OC_STOCK_MAX_SIZE));
    assert_int_equal(oc_stock_cost(SIZE_MAX), SIZE_MAX);
    oc_stock_give(&stock, NULL, 100);
}

/* What counts is what the heap takes. */
static void test_cost(void **state)
{
    (void) state;
    for (size_t size = 0; size < 70000; size += 1 + size / 64) {
        void *memory = take(size);

#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
        assert_int_equal(malloc_usable_size(memory) + 8, oc_stock_cost(size));
#endif
        assert_true(oc_stock_cost(size) >= size + 8);
        assert_true(oc_stock_cost(size) <= size + size / 4 + 32);
        free(memory);
    }
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_used_again, setup, teardown),
        cmocka_unit_test_setup_teardown(test_all_sizes, setup, teardown),
        cmocka_unit_test_setup_teardown(test_limit, setup, teardown),
        cmocka_unit_test_setup_teardown(test_large, setup, teardown),
        cmocka_unit_test_setup_teardown(test_cost, setup, teardown),
    };

    alarm(30);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
