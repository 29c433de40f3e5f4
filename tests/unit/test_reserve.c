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
#include <utlist.h>

#include "server/aggregator/budget.h"
#include "server/aggregator/server_reduction.h"
#include "server/aggregator/reserve.h"
#include "server/aggregator/starving.h"
#include "tests/unit/aggregator_fixture.h"

#define RANKS 2
#define CHUNK 8192u
#define SMALL 1024u
#define WHOLE (oc_budget_group(RANKS, false) + oc_budget_reserve(RANKS, CHUNK, SMALL))

static aggregator_fixture_t fixture;
static oc_aggregator_t *aggregator;

/* Groups of all kinds have other handles. */
static oc_server_member_t a_group(bool tree)
{
    static uint32_t handle;

    handle += RANKS;
    return (oc_server_member_t) {
        .group = 1, .handle = handle, .reply_handle = handle, .num_ranks = RANKS,
        .chunk_bytes = CHUNK, .window = 1, .small_bytes = SMALL, .reserves = true, .tree = tree};
}

static oc_server_group_t *join(bool tree)
{
    oc_server_member_t member = a_group(tree);

    return aggregator_join(&fixture, &member);
}

static oc_server_group_t *join_plain(void)
{
    oc_server_member_t member = a_group(false);

    member.reserves = false;
    return aggregator_join(&fixture, &member);
}

/* READY to its ranks has gone, and so points to it no longer. */
static void drop(const oc_server_group_t *group)
{
    aggregator_settle(&fixture);
    aggregator_drop(&fixture, group);
}

static void open_with(size_t memory)
{
    aggregator_open(&fixture, memory);
    aggregator = fixture.aggregator;
}

/* Room for one reserve. */
static int setup(void **state)
{
    (void) state;
    open_with(WHOLE);
    return 0;
}

static int teardown(void **state)
{
    (void) state;
    aggregator_close(&fixture);
    return 0;
}

/* A collective that all ranks have sent so many bytes to, small or in one chunk. */
static oc_reduction_t *begin(oc_server_group_t *group, uint64_t sequence, bool is_small)
{
    oc_header_t header = {.message = is_small ? OC_MESSAGE_SMALL : OC_MESSAGE_START,
                          .op = OC_OP_SUM, .type = OC_TYPE_INT32, .handle = group->handle,
                          .chunk_bytes = is_small ? SMALL : CHUNK, .sequence = sequence,
                          .last_bytes = is_small ? 0 : CHUNK, .chunks = !is_small};
    oc_reduction_t *reduction;

    header.count = header.chunk_bytes / sizeof(int32_t);
    reduction = oc_reduction_find_or_make(group, &header);
    assert_non_null(reduction);
    return reduction;
}

static void test_owed_in_a_tree(void **state)
{
    const oc_server_group_t *first = join(true), *second;

    (void) state;
    assert_false(first->owed);
    assert_int_equal(aggregator->pool.used, WHOLE);
    second = join(true);
    assert_true(second->owed);
    assert_int_equal(aggregator->pool.used, WHOLE);
    assert_false(oc_reduction_may_take(aggregator));
    oc_reserves_pay(aggregator);
    assert_true(second->owed);
    drop(first);
    oc_reserves_pay(aggregator);
    assert_false(second->owed);
    assert_true(oc_reduction_may_take(aggregator));
    drop(second);
    assert_int_equal(aggregator->pool.used, 0);
}

/* ---- the one that groups outside of trees share ---- */

#define META oc_budget_group(RANKS, false)
#define STEP oc_budget_step(RANKS, CHUNK, SMALL)

/* A chunk that all, or all but one rank, have sent their contributions to. */
static oc_reduction_t *begin_chunk(oc_server_group_t *group, uint64_t sequence, bool here)
{
    oc_reduction_t *reduction = begin(group, sequence, false);

    reduction->here = here ? RANKS : RANKS - 1;
    return reduction;
}

/* Any number of groups, and room for one step. */
static void test_shared(void **state)
{
    const oc_server_group_t *groups[4], *plain;

    (void) state;
    open_with(5 * META + STEP);
    for (int i = 0; i < 4; i++) {
        groups[i] = join(false);
        assert_int_equal(aggregator->pool.used, (i + 1) * META + STEP);
    }
    plain = join_plain();
    assert_int_equal(aggregator->pool.used, aggregator->pool.limit);
    assert_true(oc_reduction_may_take(aggregator));
    for (int i = 0; i < 4; i++) {
        drop(groups[i]);
    }
    /* nobody needs it any more */
    assert_int_equal(aggregator->pool.used, META);
    drop(plain);
    assert_int_equal(aggregator->pool.used, 0);
}

/* Who has it waits for nothing: it is for a chunk that is here, of whichever group, at a time. */
static void test_shared_is_for_what_is_here(void **state)
{
    oc_server_group_t *first, *second;
    oc_reduction_t *waits, *one, *other;

    (void) state;
    open_with(2 * META + STEP);
    first = join(false);
    second = join_plain();
    waits = begin_chunk(first, 0, false);
    one = begin_chunk(first, 1, true);
    other = begin_chunk(second, 0, true);
    assert_false(oc_reserve_lend_chunk(waits));
    assert_true(oc_reserve_lend_chunk(other));
    assert_false(oc_reserve_lend_chunk(one));
    assert_false(oc_reserve_lend_small(one, SMALL));
    oc_reserve_return_chunk(second);
    assert_true(oc_reserve_lend_small(one, SMALL));
    oc_reserve_return_piece(one, SMALL / 2);
    assert_false(oc_reserve_lend_chunk(other));
    oc_reserve_return_piece(one, SMALL / 2);
    assert_true(oc_reserve_lend_chunk(other));
    oc_reserve_return_chunk(second);
    drop(second);
    drop(first);
    assert_int_equal(aggregator->pool.used, 0);
}

/*
 * All memory is in use when a group with larger chunks is new. What was kept back before is lent all
 * the same: those who have the memory may wait for just that chunk. The reserve grows with what comes
 * back, before anybody else gets some.
 */
static void test_shared_grows(void **state)
{
    oc_server_member_t larger = a_group(false);
    oc_server_group_t *old, *new;
    oc_reduction_t *chunk, *large;
    void *buffers;

    (void) state;
    open_with(META + 2 * STEP);
    old = join(false);
    chunk = begin_chunk(old, 0, true);
    buffers = oc_pool_get(&aggregator->pool, STEP);
    assert_non_null(buffers);
    larger.chunk_bytes = 2 * CHUNK;
    new = aggregator_join(&fixture, &larger);
    large = begin_chunk(new, 0, true);
    assert_true(aggregator->pool.used > aggregator->pool.limit);
    assert_false(oc_reduction_may_take(aggregator));
    assert_false(oc_reserve_lend_chunk(large));
    assert_true(oc_reserve_lend_chunk(chunk));
    oc_pool_put(&aggregator->pool, oc_pool_get(&aggregator->pool, RANKS * CHUNK), RANKS * CHUNK);
    oc_reserve_return_chunk(old);
    drop(old);
    oc_pool_put(&aggregator->pool, buffers, STEP);
    oc_reserves_pay(aggregator);
    assert_true(oc_reduction_may_take(aggregator));
    assert_true(oc_reserve_lend_chunk(large));
    oc_reserve_return_chunk(new);
    drop(new);
    assert_int_equal(aggregator->pool.used, 0);
}

/*
 * Ranks of a tree may wait for a group that is on this leaf only. Had it its reserve beyond the
 * limit, the others could not be lent theirs.
 */
static void test_owed_on_a_leaf(void **state)
{
    const oc_server_group_t *tree, *group, *plain;

    (void) state;
    aggregator_connect_above(&fixture);
    tree = join(true);
    group = join(false);
    assert_true(group->owed);
    plain = join_plain();
    assert_true(plain->owed);
    assert_int_equal(aggregator->pool.used, WHOLE);
    drop(plain);
    drop(group);
    drop(tree);
    assert_int_equal(aggregator->pool.used, 0);
}

/* Whoever waited behind it looks again. */
static void test_dropped_while_owed(void **state)
{
    const oc_server_group_t *second;
    uint64_t returns;

    (void) state;
    (void) join(true);
    second = join(true);
    returns = aggregator->pool.returns;
    drop(second);
    assert_true(aggregator->pool.returns > returns);
    assert_int_equal(aggregator->pool.used, WHOLE);
    assert_null(aggregator->owed);
}

/* On a leaf, what is known of a group on the server above counts with it. */
static void test_above_counts(void **state)
{
    oc_server_member_t member = a_group(true);

    (void) state;
    open_with(2 * WHOLE);
    aggregator_connect_above(&fixture);
    member.leaves = 2;
    member.leaf = 1;
    (void) aggregator_join(&fixture, &member);
    assert_int_equal(aggregator->pool.used, WHOLE + oc_pool_cost(sizeof(oc_above_t)));
}

/* What was never taken cannot be given away for a moment. */
static void test_owed_is_not_lent(void **state)
{
    oc_server_group_t *first = join(true), *second = join(true);
    oc_reduction_t *mine = begin(first, 0, false), *other = begin(second, 0, false);

    (void) state;
    assert_false(oc_reserve_lend_chunk(other));
    assert_false(oc_reserve_lend_small(other, SMALL));
    assert_int_equal(aggregator->pool.used, WHOLE);
    assert_true(oc_reserve_lend_chunk(mine));
    assert_int_equal(aggregator->pool.used, WHOLE - RANKS * CHUNK);
    oc_reserve_return_chunk(first);
    drop(second);
    drop(first);
    assert_int_equal(aggregator->pool.used, 0);
}

/* ---- the order in which reserves are lent ---- */

#define LEAVES      2
#define COLLECTIVES 3

/*
 * A group on two leaves, each with no memory but the group's reserve: large collectives of one
 * chunk, or small ones. The result of one is there when both leaves have given it memory.
 */
typedef struct {
    aggregator_fixture_t fixture;
    oc_server_group_t *group;
    oc_reduction_t *all[COLLECTIVES];
} leaf_t;

static leaf_t leaves[LEAVES];
static bool small;

static void open_leaf(leaf_t *leaf)
{
    oc_server_member_t member = a_group(true);

    *leaf = (leaf_t) {0};
    aggregator_open(&leaf->fixture, WHOLE);
    leaf->group = aggregator_join(&leaf->fixture, &member);
    assert_int_equal(leaf->fixture.aggregator->pool.used, WHOLE);
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
    leaf->all[number] = begin(leaf->group, number, small);
    if (!lend(leaf->all[number])) {
        oc_reduction_starve(leaf->all[number]);
    }
}

/* Memory came back: the queue in its order. */
static void feed(leaf_t *leaf)
{
    oc_reduction_t *reduction, *next;

    DL_FOREACH_SAFE (leaf->group->waiting, reduction, next) {
        if (lend(reduction)) {
            oc_reduction_stop_starving(reduction);
        }
    }
}

static void end(leaf_t *leaf, unsigned number)
{
    if (!small) {
        oc_reserve_return_chunk(leaf->group);
    }
    /* what a small one was lent goes back with it */
    oc_reduction_free(leaf->all[number]);
    leaf->all[number] = NULL;
}

static bool ends(unsigned number)
{
    for (unsigned i = 0; i < LEAVES; i++) {
        if (!has_memory(leaves[i].all[number])) {
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
        assert_true(has_memory(leaves[i].all[0]));
        assert_false(has_memory(leaves[i].all[1]));
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
        assert_null(leaves[i].group->waiting);
        aggregator_close(&leaves[i].fixture);
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
        cmocka_unit_test_setup_teardown(test_owed_in_a_tree, setup, teardown),
        cmocka_unit_test_teardown(test_shared, teardown),
        cmocka_unit_test_teardown(test_shared_is_for_what_is_here, teardown),
        cmocka_unit_test_teardown(test_shared_grows, teardown),
        cmocka_unit_test_setup_teardown(test_owed_on_a_leaf, setup, teardown),
        cmocka_unit_test_setup_teardown(test_dropped_while_owed, setup, teardown),
        cmocka_unit_test_teardown(test_above_counts, teardown),
        cmocka_unit_test_setup_teardown(test_owed_is_not_lent, setup, teardown),
        cmocka_unit_test(test_order_of_chunks),
        cmocka_unit_test(test_order_of_small),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
