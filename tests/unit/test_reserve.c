/* SPDX-License-Identifier: BSD-3-Clause */
/* Owns the tests of the reserves of groups: who is owed one, who goes on without, what is lent. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <string.h>

#include "server/aggregator_types.h"
#include "server/budget.h"

#define RANKS 2
#define CHUNK 8192u
#define SMALL 1024u
#define WHOLE (oc_budget_group(RANKS, false) + oc_budget_reserve(RANKS, CHUNK, SMALL))

static oc_aggregator_t aggregator;
static oc_group_member_t members[RANKS];    /* none has joined: nobody is told anything */

static oc_server_group_t make_group(bool tree)
{
    return (oc_server_group_t) {.aggregator = &aggregator, .num_ranks = RANKS,
                                .chunk_bytes = CHUNK, .small_bytes = SMALL, .reserves = true,
                                .tree = tree, .members = members};
}

/* Room for one reserve. */
static int setup(void **state)
{
    (void) state;
    memset(&aggregator, 0, sizeof(aggregator));
    oc_pool_open(&aggregator.pool, WHOLE);
    return 0;
}

static void test_owed_in_a_tree(void **state)
{
    oc_server_group_t first = make_group(true), second = make_group(true);

    (void) state;
    oc_reserve_take(&first);
    assert_false(first.owed);
    assert_int_equal(aggregator.pool.used, WHOLE);
    oc_reserve_take(&second);
    assert_true(second.owed);
    assert_int_equal(aggregator.pool.used, WHOLE);
    assert_false(oc_reduction_may_take(&aggregator));
    oc_reserves_pay(&aggregator);
    assert_true(second.owed);
    oc_reserve_give(&first);
    oc_reserves_pay(&aggregator);
    assert_false(second.owed);
    assert_true(oc_reduction_may_take(&aggregator));
    oc_reserve_give(&second);
    assert_int_equal(aggregator.pool.used, 0);
}

/* A server that is in no tree promises more than it has for a moment, and stops for nobody. */
static void test_not_owed_elsewhere(void **state)
{
    oc_server_group_t tree = make_group(true), owed = make_group(true), group = make_group(false);

    (void) state;
    oc_reserve_take(&tree);
    oc_reserve_take(&group);
    assert_false(group.owed);
    assert_int_equal(aggregator.pool.used, 2 * WHOLE);
    assert_true(oc_reduction_may_take(&aggregator));
    oc_reserve_give(&group);
    oc_reserve_take(&owed);
    assert_true(owed.owed);
    oc_reserve_take(&group);
    assert_false(group.owed);
    oc_reserve_give(&group);
    oc_reserve_give(&owed);
    oc_reserve_give(&tree);
    assert_int_equal(aggregator.pool.used, 0);
}

/*
 * Ranks of a tree may wait for a group that is on this leaf only. Had it its reserve beyond the
 * limit, the others could not be lent theirs.
 */
static void test_owed_on_a_leaf(void **state)
{
    oc_server_group_t tree = make_group(true), group = make_group(false), plain = make_group(false);
    char parent;

    (void) state;
    aggregator.parent = (oc_endpoint_t *) &parent;
    oc_reserve_take(&tree);
    oc_reserve_take(&group);
    assert_true(group.owed);
    plain.reserves = false;
    oc_reserve_take(&plain);
    assert_true(plain.owed);
    assert_int_equal(aggregator.pool.used, WHOLE);
    oc_reserve_give(&plain);
    oc_reserve_give(&group);
    oc_reserve_give(&tree);
    assert_int_equal(aggregator.pool.used, 0);
}

/* Whoever waited behind it looks again. */
static void test_dropped_while_owed(void **state)
{
    oc_server_group_t first = make_group(true), second = make_group(true);
    uint64_t returns;

    (void) state;
    oc_reserve_take(&first);
    oc_reserve_take(&second);
    returns = aggregator.pool.returns;
    oc_reserve_give(&second);
    assert_true(aggregator.pool.returns > returns);
    assert_int_equal(aggregator.pool.used, WHOLE);
    assert_null(aggregator.owed);
    oc_reserve_give(&first);
}

/* On a leaf, what is known of a group on the server above counts with it. */
static void test_above_counts(void **state)
{
    oc_server_group_t group = make_group(true);

    (void) state;
    group.goes_up = true;
    oc_pool_open(&aggregator.pool, 2 * WHOLE);
    oc_reserve_take(&group);
    assert_int_equal(aggregator.pool.used, WHOLE + oc_pool_cost(sizeof(oc_above_t)));
    oc_reserve_give(&group);
    assert_int_equal(aggregator.pool.used, 0);
}

/* What was never taken cannot be given away for a moment. */
static void test_owed_is_not_lent(void **state)
{
    oc_server_group_t first = make_group(true), second = make_group(true);
    oc_reduction_t mine = {.group = &first}, other = {.group = &second};

    (void) state;
    oc_reserve_take(&first);
    oc_reserve_take(&second);
    assert_false(oc_reserve_lend_chunk(&other));
    assert_false(oc_reserve_lend_small(&other, SMALL));
    assert_int_equal(aggregator.pool.used, WHOLE);
    assert_true(oc_reserve_lend_chunk(&mine));
    assert_int_equal(aggregator.pool.used, WHOLE - RANKS * CHUNK);
    oc_reserve_return_chunk(&first);
    oc_reserve_give(&second);
    oc_reserve_give(&first);
    assert_int_equal(aggregator.pool.used, 0);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(test_owed_in_a_tree, setup),
        cmocka_unit_test_setup(test_not_owed_elsewhere, setup),
        cmocka_unit_test_setup(test_owed_on_a_leaf, setup),
        cmocka_unit_test_setup(test_dropped_while_owed, setup),
        cmocka_unit_test_setup(test_above_counts, setup),
        cmocka_unit_test_setup(test_owed_is_not_lent, setup),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
