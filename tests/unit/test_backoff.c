/* SPDX-License-Identifier: BSD-3-Clause */
/* Owns the unit tests of how much of the window a group uses after losses. */
/* Test: quick 60 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "multicast/core/backoff.h"

#define RANKS  6
#define BLOCK  1000u
#define AHEAD  100u
/* As RFC 9438 has it. */
#define BETA   0.7
#define LEAST  0.25

static oc_block_t blocks[RANKS];
static oc_chain_t chains[2];
static oc_cast_operation_t operation;
static oc_cast_group_t group;

/* Two chains of three ranks, two fragments of each of which are known to be sent. */
static int begin(void **state)
{
    (void) state;
    operation = (oc_cast_operation_t) {.blocks = blocks, .chains = chains, .num_chains = 2,
                                       .holds_back = true, .ahead = AHEAD, .most = 2.0 * AHEAD,
                                       .part = OC_CAST_WHOLE};
    group = (oc_cast_group_t) {.config = {.num_ranks = RANKS}, .active = &operation,
                               .generation = 7, .reception = {.excused = 6}};
    for (uint32_t rank = 0; rank < RANKS; rank++) {
        blocks[rank] = (oc_block_t) {.fragments = BLOCK, .chain = rank / 3,
                                     .start = (uint64_t) (rank % 3) * BLOCK};
    }
    for (unsigned k = 0; k < 2; k++) {
        chains[k] = (oc_chain_t) {.fragments = 3 * BLOCK, .position = 2};
    }
    oc_backoff_begin(&group);
    return 0;
}

static void expect_part(double part)
{
    uint32_t expected = (uint32_t) (part * OC_CAST_WHOLE);

    assert_in_range(oc_backoff_part(&group), expected - 1, expected + 1);
}

static void test_a_loss_makes_it_smaller(void **state)
{
    (void) state;
    expect_part(1);
    assert_int_equal(oc_backoff_ahead(&group), AHEAD);
    oc_backoff_lost(&group, 1, 2);
    expect_part(BETA);
}

/* What is asked for again, and what was lost beside it, of either chain, is the same loss. */
static void test_a_loss_counts_once(void **state)
{
    (void) state;
    oc_backoff_lost(&group, 0, 2);
    oc_backoff_lost(&group, 0, 2);
    oc_backoff_lost(&group, 3, 2);
    oc_backoff_lost(&group, 0, 2 + 2 * AHEAD);
    expect_part(BETA);
    oc_backoff_lost(&group, 3, 2 + 2 * AHEAD + 1);
    expect_part(BETA * BETA);
}

/* A chain goes on from block to block, so what is under way may be of several. */
static void test_a_chain_is_counted_across_its_blocks(void **state)
{
    (void) state;
    chains[0].position = BLOCK - AHEAD;
    oc_backoff_lost(&group, 0, BLOCK - AHEAD);
    oc_backoff_lost(&group, 1, AHEAD);
    expect_part(BETA);
    oc_backoff_lost(&group, 1, AHEAD + 1);
    expect_part(BETA * BETA);
    chains[0].position = 2 * BLOCK;
    oc_backoff_lost(&group, 2, 1);
    expect_part(BETA * BETA * BETA);
}

static void test_the_network_is_not_blamed(void **state)
{
    (void) state;
    group.reception.excused = group.generation;
    oc_backoff_lost(&group, 0, 2); /* this rank did not look */
    group.reception.excused = 6;
    blocks[0].failures = 1;
    oc_backoff_lost(&group, 0, 2); /* its sum was wrong: all of it is asked for */
    blocks[0].failures = 0;
    group.unicast = true;
    oc_backoff_lost(&group, 0, 2);
    group.unicast = false;
    operation.holds_back = false;
    oc_backoff_lost(&group, 0, 2); /* all of it is on its way at once */
    expect_part(1);
}

static void test_it_has_a_least(void **state)
{
    (void) state;
    for (unsigned i = 0; i < 50; i++) {
        oc_backoff_lost(&group, 0, 2);
        chains[0].position += 2 * AHEAD + 1;
        oc_backoff_lost(&group, 0, (uint32_t) chains[0].position);
    }
    expect_part(LEAST);
    operation.ahead = 4;
    operation.part = 1;
    assert_int_equal(oc_backoff_ahead(&group), 3);
}

/* RFC 9438, 4.3: 3 (1 - beta) / (1 + beta) fragments more for each window that has come. */
static void test_what_comes_makes_it_larger(void **state)
{
    const double step = 3 * (1 - BETA) / (1 + BETA);

    (void) state;
    oc_backoff_lost(&group, 0, 2);
    operation.received = 80;
    operation.sent = 20;
    operation.part = (uint32_t) (BETA * OC_CAST_WHOLE);
    oc_backoff_moved(&group);
    oc_backoff_moved(&group); /* nothing has come since */
    /* the window is BETA of 2 AHEAD, with what others may have more than the slowest */
    expect_part(BETA + step * 100 / (2.0 * AHEAD * 2 * AHEAD * BETA * (1 + 1 / BETA) / 2));
    operation.received = 1000000;
    oc_backoff_moved(&group);
    expect_part(1);
}

/* What is dropped together is never all that may be under way. */
static void test_it_leaves_in_parts(void **state)
{
    (void) state;
    operation.ahead = 300;
    assert_int_equal(oc_backoff_batch(&group), OC_MAX_BATCH);
    oc_backoff_lost(&group, 0, 2);
    operation.part = OC_CAST_WHOLE / 2;
    assert_int_equal(oc_backoff_batch(&group), OC_MAX_BATCH);
    operation.ahead = AHEAD;
    assert_int_equal(oc_backoff_batch(&group), oc_backoff_ahead(&group) / 2);
    operation.ahead = 1;
    assert_int_equal(oc_backoff_batch(&group), 1);
    operation.holds_back = false;
    assert_int_equal(oc_backoff_batch(&group), OC_MAX_BATCH);
}

/*
 * Together, each rank knows only what it has lost itself; in turns, only CREDITs count, which all
 * have.
 */
static void test_the_slowest_counts(void **state)
{
    (void) state;
    operation.part = OC_CAST_WHOLE / 2;
    assert_int_equal(oc_backoff_ahead(&group), (uint32_t) (AHEAD * (1 + 1 / BETA) / 4));
    operation.part = OC_CAST_WHOLE;
    oc_backoff_lost(&group, 0, 2);
    assert_int_equal(oc_backoff_ahead(&group), AHEAD);
    operation.together = true;
    assert_in_range(oc_backoff_ahead(&group), (uint32_t) (AHEAD * BETA) - 1, (uint32_t) (AHEAD * BETA));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(test_a_loss_makes_it_smaller, begin),
        cmocka_unit_test_setup(test_a_loss_counts_once, begin),
        cmocka_unit_test_setup(test_a_chain_is_counted_across_its_blocks, begin),
        cmocka_unit_test_setup(test_the_network_is_not_blamed, begin),
        cmocka_unit_test_setup(test_it_has_a_least, begin),
        cmocka_unit_test_setup(test_what_comes_makes_it_larger, begin),
        cmocka_unit_test_setup(test_it_leaves_in_parts, begin),
        cmocka_unit_test_setup(test_the_slowest_counts, begin),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
