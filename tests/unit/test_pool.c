/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Owns the unit tests of an aggregator's memory: limit, alignment, reuse, giving back, and what
 * groups need of it.
 */
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

#include "base/limits.h"
#include "server/aggregator/aggregator_types.h"
#include "server/aggregator/budget.h"
#include "server/aggregator/pool.h"

#define KB 1024u
#define LIMIT (1024u * KB)

static oc_pool_t pool;

static int setup(void **state)
{
    (void) state;
    oc_pool_open(&pool, LIMIT);
    return 0;
}

static int teardown(void **state)
{
    (void) state;
    assert_null(oc_pool_check(&pool));
    oc_pool_close(&pool);
    assert_null(oc_pool_check(&pool));
    return 0 == pool.used && 0 == pool.idle && 0 == pool.pieces.kept ? 0 : -1;
}

static void *get(size_t size)
{
    void *memory = oc_pool_get(&pool, size);

    assert_non_null(memory);
    assert_int_equal((uintptr_t) memory % 4096, 0);
    memset(memory, 0xa5, size);
    return memory;
}

static void test_limit(void **state)
{
    void *blocks[4];

    (void) state;
    for (int i = 0; i < 4; i++) {
        blocks[i] = get(256 * KB);
    }
    assert_int_equal(pool.used, LIMIT);
    assert_null(oc_pool_get(&pool, 1));
    oc_pool_put(&pool, blocks[2], 256 * KB);
    assert_null(oc_pool_get(&pool, 256 * KB + 1));
    blocks[2] = get(256 * KB);
    for (int i = 0; i < 4; i++) {
        oc_pool_put(&pool, blocks[i], 256 * KB);
    }
    assert_int_equal(pool.used, 0);
}

static void test_exact_and_beyond(void **state)
{
    void *all = get(LIMIT);

    (void) state;
    oc_pool_put(&pool, all, LIMIT);
    assert_null(oc_pool_get(&pool, LIMIT + 1));
    assert_null(oc_pool_get(&pool, SIZE_MAX));
    assert_null(oc_pool_get(&pool, SIZE_MAX - LIMIT / 2));
    assert_int_equal(pool.used, 0);
}

static void test_reuse(void **state)
{
    void *first = get(64 * KB), *second = get(64 * KB), *third;

    (void) state;
    assert_ptr_not_equal(first, second);
    oc_pool_put(&pool, first, 64 * KB);
    assert_int_equal(pool.idle, 64 * KB);
    /* another size does not get it */
    third = get(32 * KB);
    assert_ptr_not_equal(third, first);
    assert_ptr_equal(get(64 * KB), first);
    assert_int_equal(pool.idle, 0);
    assert_int_equal(pool.used, 160 * KB);
    oc_pool_put(&pool, first, 64 * KB);
    oc_pool_put(&pool, second, 64 * KB);
    oc_pool_put(&pool, third, 32 * KB);
}

/* What is kept gives way to a request of another size: used and kept never pass the limit. */
static void test_idle_gives_way(void **state)
{
    void *memory = get(768 * KB);

    (void) state;
    oc_pool_put(&pool, memory, 768 * KB);
    memory = get(512 * KB);
    assert_true(pool.used + pool.idle <= LIMIT);
    assert_int_equal(pool.idle, 0);
    oc_pool_put(&pool, memory, 512 * KB);
}

static void test_trim(void **state)
{
    void *blocks[8];

    (void) state;
    for (int i = 0; i < 8; i++) {
        blocks[i] = get(16 * KB);
    }
    for (int i = 0; i < 7; i++) {
        oc_pool_put(&pool, blocks[i], 16 * KB);
    }
    assert_int_equal(pool.idle, 7 * 16 * KB);
    oc_pool_trim(&pool);
    assert_int_equal(pool.idle, 0);
    assert_int_equal(pool.used, 16 * KB);
    memset(blocks[7], 1, 16 * KB);
    oc_pool_put(&pool, blocks[7], 16 * KB);
}

/* Smaller than the notes that the pool keeps in a block. */
static void test_tiny(void **state)
{
    void *one = get(1), *two;

    (void) state;
    oc_pool_put(&pool, one, 1);
    two = get(1);
    assert_ptr_equal(one, two);
    assert_int_equal(pool.used, 1);
    oc_pool_put(&pool, two, 1);
}

static void test_many_sizes(void **state)
{
    void *held[16] = {NULL};
    size_t sizes[16] = {0}, used = 0;
    uint32_t random = 4711;

    (void) state;
    for (int i = 0; i < 20000; i++) {
        unsigned which = (random = random * 1664525u + 1013904223u) >> 28;

        if (NULL != held[which]) {
            oc_pool_put(&pool, held[which], sizes[which]);
            used -= sizes[which];
            held[which] = NULL;
        } else {
            sizes[which] = 4096u << (random >> 20) % 7;
            held[which] = oc_pool_get(&pool, sizes[which]);
            assert_int_equal(NULL != held[which], used + sizes[which] <= LIMIT);
            used += NULL != held[which] ? sizes[which] : 0;
        }
        assert_int_equal(pool.used, used);
        assert_true(pool.used + pool.idle <= LIMIT);
        assert_null(oc_pool_check(&pool));
    }
    for (int i = 0; i < 16; i++) {
        if (NULL != held[i]) {
            oc_pool_put(&pool, held[i], sizes[i]);
        }
    }
}

/* ---- pieces ---- */

static void test_pieces_count_with_blocks(void **state)
{
    void *block = get(512 * KB), *pieces[4];
    size_t cost = oc_pool_cost(100 * KB);

    (void) state;
    for (int i = 0; i < 4; i++) {
        pieces[i] = oc_pool_take(&pool, 100 * KB);
        assert_non_null(pieces[i]);
        memset(pieces[i], 0x5a, 100 * KB);
        assert_int_equal(pool.used, 512 * KB + (unsigned) (i + 1) * cost);
    }
    assert_null(oc_pool_take(&pool, 112 * KB));
    assert_null(oc_pool_take(&pool, SIZE_MAX - 64));
    assert_null(oc_pool_get(&pool, 112 * KB));
    oc_pool_give(&pool, pieces[1], 100 * KB);
    assert_int_equal(pool.used, 512 * KB + 3 * cost);
    pieces[1] = oc_pool_take(&pool, 100 * KB);
    for (int i = 0; i < 4; i++) {
        oc_pool_give(&pool, pieces[i], 100 * KB);
    }
    oc_pool_put(&pool, block, 512 * KB);
    assert_int_equal(pool.peak, 512 * KB + 4 * cost);
    assert_int_equal(pool.returns, 6);
}

/* The last byte that fits does, and not one more. */
static void test_piece_at_the_limit(void **state)
{
    size_t size = 60 * KB, cost = oc_pool_cost(size);
    void *piece, *block = get(LIMIT - cost);

    (void) state;
    assert_true(oc_pool_has(&pool, cost));
    assert_false(oc_pool_has(&pool, cost + 1));
    while (oc_pool_cost(size + 1) == cost) {
        size++;
    }
    assert_null(oc_pool_take(&pool, size + 1));
    piece = oc_pool_take(&pool, size);
    assert_non_null(piece);
    assert_int_equal(pool.used, LIMIT);
    oc_pool_give(&pool, piece, size);
    oc_pool_put(&pool, block, LIMIT - cost);
}

static void test_idle_gives_way_to_pieces(void **state)
{
    void *block = get(LIMIT), *piece;

    (void) state;
    oc_pool_put(&pool, block, LIMIT);
    assert_int_equal(pool.idle, LIMIT);
    piece = oc_pool_take(&pool, 8);
    assert_non_null(piece);
    assert_int_equal(pool.idle, 0);
    oc_pool_give(&pool, piece, 8);
}

/* A piece that is kept costs no more than one that is used, and gives way to blocks. */
static void test_pieces_are_kept(void **state)
{
    size_t cost = oc_pool_cost(16 * KB);
    void *piece = oc_pool_take(&pool, 16 * KB), *block;

    (void) state;
    oc_pool_give(&pool, piece, 16 * KB);
    assert_int_equal(pool.used, 0);
    assert_int_equal(pool.pieces.kept, cost);
    assert_ptr_equal(oc_pool_take(&pool, 16 * KB), piece);
    assert_int_equal(pool.pieces.kept, 0);
    assert_int_equal(pool.used, cost);
    block = get(LIMIT - cost);
    oc_pool_give(&pool, piece, 16 * KB);
    assert_int_equal(pool.pieces.kept, cost);
    /* with what is used, it fills the pool: there is no room for another size beside it */
    piece = oc_pool_take(&pool, 1 * KB);
    assert_non_null(piece);
    assert_int_equal(pool.pieces.kept, 0);
    oc_pool_give(&pool, piece, 1 * KB);
    oc_pool_put(&pool, block, LIMIT - cost);
}

/* Blocks give way first, and then as many pieces as have to. */
static void test_few_pieces_give_way(void **state)
{
    size_t cost = oc_pool_cost(16 * KB), small = oc_pool_cost(100);
    void *pieces[8], *tiny = oc_pool_take(&pool, 100), *idle = get(16 * KB), *block;

    (void) state;
    for (int i = 0; i < 8; i++) {
        pieces[i] = oc_pool_take(&pool, 16 * KB);
    }
    for (int i = 0; i < 8; i++) {
        oc_pool_give(&pool, pieces[i], 16 * KB);
    }
    oc_pool_give(&pool, tiny, 100);
    oc_pool_put(&pool, idle, 16 * KB);
    block = get(LIMIT - 8 * cost - small);
    assert_int_equal(pool.idle, 0);
    assert_int_equal(pool.pieces.kept, 8 * cost + small);
    /* half a piece more than there is room for, and then two pieces and a half */
    oc_pool_put(&pool, block, LIMIT - 8 * cost - small);
    block = get(LIMIT - 8 * cost - small + cost / 2);
    assert_int_equal(pool.pieces.kept, 7 * cost + small);
    oc_pool_reserve(&pool, 3 * cost);
    assert_int_equal(pool.pieces.kept, 4 * cost + small);
    assert_true(pool.used + pool.pieces.kept <= LIMIT);
    oc_pool_release(&pool, 3 * cost);
    oc_pool_put(&pool, block, LIMIT - 8 * cost - small + cost / 2);
}

/* What counts for a piece is what the heap takes for it. */
static void test_cost_is_that_of_the_heap(void **state)
{
    (void) state;
    for (size_t size = 0; size < 70000; size = size * 5 / 4 + 1) {
        void *memory = oc_pool_take(&pool, size);

        assert_non_null(memory);
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
        assert_true(malloc_usable_size(memory) <= oc_pool_cost(size));
#endif
        assert_true(oc_pool_cost(size) >= size + 8);
        assert_true(oc_pool_cost(size) <= size + size / 4 + 32);
        oc_pool_give(&pool, memory, size);
    }
}

static void test_reserved(void **state)
{
    void *block = get(1000 * KB);

    (void) state;
    oc_pool_reserve(&pool, 100 * KB);
    assert_int_equal(pool.used, 1100 * KB);
    assert_false(oc_pool_has(&pool, 0));
    assert_null(oc_pool_take(&pool, 1));
    assert_null(oc_pool_get(&pool, 1));
    oc_pool_put(&pool, block, 1000 * KB);
    assert_true(oc_pool_has(&pool, 924 * KB));
    /* what is kept is not in the way */
    oc_pool_reserve(&pool, 924 * KB);
    assert_int_equal(pool.idle, 0);
    oc_pool_release(&pool, 1024 * KB);
}

/* ---- what groups need ---- */

static void test_budget(void **state)
{
    size_t held = oc_pool_cost(64 + 1000) + 6 * oc_pool_cost(1000);

    (void) state;
    assert_int_equal(oc_budget_chunk(7, 65536), 7 * 65536);
    assert_int_equal(oc_budget_small(7, 1000), held);
    assert_int_equal(oc_budget_small(1, 1000), oc_pool_cost(1064));
    assert_int_equal(oc_budget_step(7, 65536, 1000), 7 * 65536);
    assert_int_equal(oc_budget_step(7, 4096, 16384), oc_budget_small(7, 16384));
    assert_int_equal(oc_budget_group(7, false), OC_GROUP_COST + 7 * OC_GROUP_RANK_COST);
    assert_int_equal(oc_budget_group(7, true) - oc_budget_group(7, false),
                     oc_pool_cost(sizeof(oc_above_t)));
    assert_true(oc_budget_step(OC_MAX_RANKS, OC_MAX_CHUNK, OC_MAX_SMALL) == 1ull << 40);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_limit, setup, teardown),
        cmocka_unit_test_setup_teardown(test_exact_and_beyond, setup, teardown),
        cmocka_unit_test_setup_teardown(test_reuse, setup, teardown),
        cmocka_unit_test_setup_teardown(test_idle_gives_way, setup, teardown),
        cmocka_unit_test_setup_teardown(test_trim, setup, teardown),
        cmocka_unit_test_setup_teardown(test_tiny, setup, teardown),
        cmocka_unit_test_setup_teardown(test_many_sizes, setup, teardown),
        cmocka_unit_test_setup_teardown(test_pieces_count_with_blocks, setup, teardown),
        cmocka_unit_test_setup_teardown(test_piece_at_the_limit, setup, teardown),
        cmocka_unit_test_setup_teardown(test_idle_gives_way_to_pieces, setup, teardown),
        cmocka_unit_test_setup_teardown(test_pieces_are_kept, setup, teardown),
        cmocka_unit_test_setup_teardown(test_few_pieces_give_way, setup, teardown),
        cmocka_unit_test_setup_teardown(test_cost_is_that_of_the_heap, setup, teardown),
        cmocka_unit_test_setup_teardown(test_reserved, setup, teardown),
        cmocka_unit_test(test_budget),
    };

    alarm(30);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
