/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Owns the tests of the reserves of groups: who is owed one, who goes on without, what is lent, and
 * in which order.
 */
/* Test: quick 120 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdbool.h>
#include <string.h>
#include <utlist.h>

#include "server/aggregator/budget.h"
#include "server/aggregator/queue.h"
#include "server/aggregator/reserve.h"
#include "server/aggregator/starving.h"

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

/* ---- the one that groups outside of trees share ---- */

#define META oc_budget_group(RANKS, false)
#define STEP oc_budget_step(RANKS, CHUNK, SMALL)

/* A chunk that all, or all but one rank, have sent their contributions to. */
static oc_reduction_t make_chunk(oc_server_group_t *group, bool here)
{
    return (oc_reduction_t) {.group = group, .header = {.message = OC_MESSAGE_START, .chunks = 1},
                             .here = here ? RANKS : RANKS - 1};
}

static void open_pool(size_t limit)
{
    memset(&aggregator, 0, sizeof(aggregator));
    oc_pool_open(&aggregator.pool, limit);
}

/* Any number of groups, and room for one step. */
static void test_shared(void **state)
{
    oc_server_group_t groups[4], plain;

    (void) state;
    open_pool(5 * META + STEP);
    for (int i = 0; i < 4; i++) {
        groups[i] = make_group(false);
        oc_reserve_take(&groups[i]);
        assert_int_equal(aggregator.pool.used, (i + 1) * META + STEP);
    }
    plain = make_group(false);
    plain.reserves = false;
    oc_reserve_take(&plain);
    assert_int_equal(aggregator.pool.used, aggregator.pool.limit);
    assert_true(oc_reduction_may_take(&aggregator));
    for (int i = 0; i < 4; i++) {
        oc_reserve_give(&groups[i]);
    }
    /* nobody needs it any more */
    assert_int_equal(aggregator.pool.used, META);
    oc_reserve_give(&plain);
    assert_int_equal(aggregator.pool.used, 0);
}

/* Who has it waits for nothing: it is for a chunk that is here, of whichever group, at a time. */
static void test_shared_is_for_what_is_here(void **state)
{
    oc_server_group_t first = make_group(false), second = make_group(false);
    oc_reduction_t waits = make_chunk(&first, false), one = make_chunk(&first, true),
                   other = make_chunk(&second, true);

    (void) state;
    open_pool(2 * META + STEP);
    second.reserves = false;
    oc_reserve_take(&first);
    oc_reserve_take(&second);
    assert_false(oc_reserve_lend_chunk(&waits));
    assert_true(oc_reserve_lend_chunk(&other));
    assert_false(oc_reserve_lend_chunk(&one));
    assert_false(oc_reserve_lend_small(&one, SMALL));
    oc_reserve_return_chunk(&second);
    assert_true(oc_reserve_lend_small(&one, SMALL));
    oc_reserve_return_piece(&one, SMALL / 2);
    assert_false(oc_reserve_lend_chunk(&other));
    oc_reserve_return_piece(&one, SMALL / 2);
    assert_true(oc_reserve_lend_chunk(&other));
    oc_reserve_return_chunk(&second);
    oc_reserve_give(&second);
    oc_reserve_give(&first);
    assert_int_equal(aggregator.pool.used, 0);
}

/*
 * All memory is in use when a group with larger chunks is new. What was kept back before is lent all
 * the same: those who have the memory may wait for just that chunk. The reserve grows with what comes
 * back, before anybody else gets some.
 */
static void test_shared_grows(void **state)
{
    oc_server_group_t old = make_group(false), new = make_group(false);
    oc_reduction_t chunk = make_chunk(&old, true), large = make_chunk(&new, true);
    void *buffers;

    (void) state;
    new.chunk_bytes = 2 * CHUNK;
    open_pool(META + 2 * STEP);
    oc_reserve_take(&old);
    buffers = oc_pool_get(&aggregator.pool, STEP);
    assert_non_null(buffers);
    oc_reserve_take(&new);
    assert_true(aggregator.pool.used > aggregator.pool.limit);
    assert_false(oc_reduction_may_take(&aggregator));
    assert_false(oc_reserve_lend_chunk(&large));
    assert_true(oc_reserve_lend_chunk(&chunk));
    oc_pool_put(&aggregator.pool, oc_pool_get(&aggregator.pool, RANKS * CHUNK), RANKS * CHUNK);
    oc_reserve_return_chunk(&old);
    oc_reserve_give(&old);
    oc_pool_put(&aggregator.pool, buffers, STEP);
    oc_reserves_pay(&aggregator);
    assert_true(oc_reduction_may_take(&aggregator));
    assert_true(oc_reserve_lend_chunk(&large));
    oc_reserve_return_chunk(&new);
    oc_reserve_give(&new);
    assert_int_equal(aggregator.pool.used, 0);
    oc_pool_close(&aggregator.pool);
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

/* ---- the order in which reserves are lent ---- */

#define LEAVES      2
#define COLLECTIVES 3

/*
 * A group on two leaves, each with no memory but the group's reserve: large collectives of one
 * chunk, or small ones. The result of one is there when both leaves have given it memory.
 */
typedef struct {
    oc_aggregator_t aggregator;
    oc_server_group_t group;
    oc_reduction_t all[COLLECTIVES];
} leaf_t;

static leaf_t leaves[LEAVES];
static uint8_t *nothing[RANKS];    /* all contributions were dropped */
static bool small;

static void open_leaf(leaf_t *leaf)
{
    memset(leaf, 0, sizeof(*leaf));
    oc_pool_open(&leaf->aggregator.pool, WHOLE);
    leaf->group = make_group(true);
    leaf->group.aggregator = &leaf->aggregator;
    oc_reserve_take(&leaf->group);
    assert_int_equal(leaf->aggregator.pool.used, WHOLE);
}

static bool has_memory(const oc_reduction_t *reduction)
{
    return small ? reduction->lent > 0 : reduction->admitted > 0;
}

static bool lend(oc_reduction_t *reduction)
{
    if (has_memory(reduction)) {
        return false;
    }
    if (small) {
        return oc_reserve_lend_small(reduction, SMALL);
    }
    reduction->admitted = oc_reserve_lend_chunk(reduction);
    return reduction->admitted;
}

/* All its members have come: it gets memory, or waits in the queue. */
static void arrive(leaf_t *leaf, unsigned number)
{
    oc_reduction_t *reduction = &leaf->all[number];

    *reduction = (oc_reduction_t) {
        .group = &leaf->group, .sequence = number,
        .header = {.message = small ? OC_MESSAGE_SMALL : OC_MESSAGE_START, .chunks = 1}};
    reduction->held = small ? nothing : NULL;
    DL_APPEND2(leaf->group.reductions, reduction, group_prev, group_next);
    if (!lend(reduction)) {
        oc_reduction_starve(reduction);
    }
}

/* Memory came back: the queue in its order. */
static void feed(leaf_t *leaf)
{
    oc_reduction_t *reduction, *next;

    DL_FOREACH_SAFE (leaf->group.waiting, reduction, next) {
        if (lend(reduction)) {
            oc_reduction_stop_starving(reduction);
        }
    }
}

static void end(leaf_t *leaf, unsigned number)
{
    oc_reduction_t *reduction = &leaf->all[number];

    DL_DELETE2(leaf->group.reductions, reduction, group_prev, group_next);
    if (small) {
        oc_reserve_return_piece(reduction, SMALL);
    } else {
        oc_reserve_return_chunk(&leaf->group);
    }
}

static bool ends(unsigned number)
{
    for (unsigned i = 0; i < LEAVES; i++) {
        if (!has_memory(&leaves[i].all[number])) {
            return false;
        }
    }
    for (unsigned i = 0; i < LEAVES; i++) {
        end(&leaves[i], number);
    }
    return true;
}

/*
 * The first collective has the reserves and the second waits. When the first one is over, the third
 * comes to one leaf before the queue is looked at, and to the other after that. If it took the
 * reserve there, each leaf would have given its memory to what waits for the other's.
 */
static void stand_in_line(bool is_small)
{
    small = is_small;
    for (unsigned i = 0; i < LEAVES; i++) {
        open_leaf(&leaves[i]);
        arrive(&leaves[i], 0);
        arrive(&leaves[i], 1);
        assert_true(has_memory(&leaves[i].all[0]));
        assert_false(has_memory(&leaves[i].all[1]));
    }
    assert_true(ends(0));
    arrive(&leaves[0], 2);
    feed(&leaves[0]);
    feed(&leaves[1]);
    arrive(&leaves[1], 2);
    for (unsigned number = 1; number < COLLECTIVES; number++) {
        if (!ends(number)) {
            fail_msg("collective %u waits for ever", number);
        }
        feed(&leaves[0]);
        feed(&leaves[1]);
    }
    for (unsigned i = 0; i < LEAVES; i++) {
        assert_null(leaves[i].group.waiting);
        oc_reserve_give(&leaves[i].group);
        assert_int_equal(leaves[i].aggregator.pool.used, 0);
    }
}

static void test_order_of_chunks(void **state)
{
    (void) state;
    stand_in_line(false);
}

static void test_order_of_small(void **state)
{
    (void) state;
    stand_in_line(true);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(test_owed_in_a_tree, setup),
        cmocka_unit_test(test_shared),
        cmocka_unit_test(test_shared_is_for_what_is_here),
        cmocka_unit_test(test_shared_grows),
        cmocka_unit_test_setup(test_owed_on_a_leaf, setup),
        cmocka_unit_test_setup(test_dropped_while_owed, setup),
        cmocka_unit_test_setup(test_above_counts, setup),
        cmocka_unit_test_setup(test_owed_is_not_lent, setup),
        cmocka_unit_test(test_order_of_chunks),
        cmocka_unit_test(test_order_of_small),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
