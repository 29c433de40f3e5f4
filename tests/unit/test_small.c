/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Owns the unit tests of small collectives on an aggregator: what is held, what is dropped and
 * for whom, who is asked to send again, in which order memory is given to small and large ones, and
 * what is refused.
 */
/* Test: quick 120 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <string.h>
#include <unistd.h>
#include <utlist.h>

#include "base/clock.h"
#include "protocol/seal.h"
#include "protocol/tag.h"
#include "server/aggregator/server_arrival.h"
#include "server/aggregator/budget.h"
#include "server/aggregator/queue.h"
#include "tests/unit/aggregator_fixture.h"

#define RANKS  3
#define BYTES  4096u
#define COUNT  (BYTES / sizeof(int32_t))
#define GROUPS 4

/* Contributions of all ranks to one collective, and one less. */
#define ALL      oc_budget_small(RANKS, BYTES)
#define ALL_BUT1 (ALL - oc_pool_cost(BYTES))

static aggregator_fixture_t fixture;
static oc_aggregator_t *aggregator;
static size_t base;                   /* what counts of the groups themselves */
static oc_server_group_t *groups[GROUPS];
static oc_request_t request;

static oc_server_group_t *join(uint32_t i, uint32_t handle)
{
    oc_server_member_t member = {.group = (i + 7ull) << 16, .handle = handle, .num_ranks = RANKS,
                                 .reply_handle = RANKS * i, .aggregator = 5, .chunk_bytes = 8192,
                                 .window = 2, .small_bytes = 8192};

    return aggregator_join(&fixture, &member);
}

/* It has a reserve of its own, or is owed one. */
static oc_server_group_t *join_tree(void)
{
    oc_server_member_t member = {.group = 1, .handle = GROUPS, .num_ranks = RANKS,
                                 .reply_handle = RANKS * GROUPS, .chunk_bytes = 8192, .window = 2,
                                 .small_bytes = BYTES, .reserves = true, .tree = true};

    return aggregator_join(&fixture, &member);
}

/* So much for collectives. */
static void allow(size_t bytes)
{
    aggregator->pool.limit = base + bytes;
}

/* By collectives. */
static size_t used(void)
{
    return aggregator->pool.used - base;
}

static void leave(uint32_t i)
{
    size_t before = aggregator->pool.limit - base;

    aggregator_drop(&fixture, groups[i]);
    base -= oc_budget_group(RANKS, false);
    allow(before);
}

static int setup(void **state)
{
    (void) state;
    aggregator_open(&fixture, 1 << 20);
    aggregator = fixture.aggregator;
    for (uint32_t i = 0; i < GROUPS; i++) {
        groups[i] = join(i, i);
    }
    aggregator_settle(&fixture);
    base = aggregator->pool.used;
    allow(ALL);
    return 0;
}

static int teardown(void **state)
{
    (void) state;
    aggregator_expect_sound(&fixture);
    aggregator_close(&fixture);
    return 0;
}

/* ---- messages to the aggregator ---- */

static int32_t value_of(uint32_t group, uint32_t rank, uint64_t sequence, unsigned i)
{
    return (int32_t) (1000000 * group + 10000 * rank + 100 * sequence + i);
}

static void say(uint8_t message, uint32_t group, uint32_t rank, uint64_t sequence)
{
    bool small = OC_MESSAGE_SMALL == message;

    request.header = (oc_header_t) {
        .message = message, .op = OC_OP_SUM, .type = OC_TYPE_INT32, .handle = group,
        .rank = rank, .chunk_bytes = small ? BYTES : 8192, .last_bytes = small ? 0 : 8192,
        .chunks = small ? 0 : 2, .sequence = sequence, .count = small ? COUNT : 4096};
    for (unsigned i = 0; small && i < COUNT; i++) {
        int32_t value = value_of(group, rank, sequence, i);

        memcpy(request.bytes + OC_HEADER_SIZE + i * sizeof(value), &value, sizeof(value));
    }
    oc_reduction_request(groups[group], &request);
    /* it is used for the next message at once */
    memset(&request, 0xee, sizeof(request));
}

static void small_from(uint32_t group, uint32_t rank, uint64_t sequence)
{
    say(OC_MESSAGE_SMALL, group, rank, sequence);
}

static void large_from_all(uint32_t group, uint64_t sequence)
{
    for (uint32_t rank = 0; rank < RANKS; rank++) {
        say(OC_MESSAGE_START, group, rank, sequence);
    }
}

/* ---- answers ---- */

typedef struct {
    oc_transfer_t transfer;
    bool done;
    uint8_t bytes[OC_HEADER_SIZE + BYTES];
    oc_header_t header;
} answer_t;

static void on_answer(oc_transfer_t *transfer)
{
    ((answer_t *) transfer)->done = true;
}

/* The next answer to that rank in that collective. */
static const answer_t *answer_to(uint32_t group, uint32_t rank, uint64_t sequence)
{
    static answer_t answer;
    uint64_t end = oc_clock_ns() + 5 * OC_SECOND;

    memset(&answer, 0, sizeof(answer));
    answer.transfer.done = on_answer;
    oc_receive(fixture.clients, &answer.transfer, answer.bytes, sizeof(answer.bytes),
               oc_tag(OC_KIND_REPLY, RANKS * group + rank, 5, sequence, 0), OC_TAG_EXACT);
    while (!answer.done && oc_clock_ns() < end) {
        (void) oc_worker_progress(aggregator->worker);
        (void) oc_worker_progress(fixture.clients);
    }
    assert_true(answer.done);
    assert_int_equal(answer.transfer.status, OC_OK);
    assert_int_equal(oc_header_decode(answer.bytes, answer.transfer.length, &answer.header),
                     OC_OK);
    assert_true(oc_is_sealed(aggregator->codes, groups[group]->id, 5, &answer.header, answer.bytes,
                             answer.transfer.length));
    assert_int_equal(answer.header.handle, group);
    assert_int_equal(answer.header.rank, 5);
    assert_int_equal(answer.header.sequence, sequence);
    assert_int_equal(answer.header.chunk_bytes, BYTES);
    assert_int_equal(answer.header.count, COUNT);
    return &answer;
}

static void expect_resend(uint32_t group, uint32_t rank, uint64_t sequence)
{
    assert_int_equal(answer_to(group, rank, sequence)->header.message, OC_MESSAGE_RESEND);
}

static void expect_results(uint32_t group, uint64_t sequence)
{
    for (uint32_t rank = 0; rank < RANKS; rank++) {
        const answer_t *answer = answer_to(group, rank, sequence);

        assert_int_equal(answer->header.message, OC_MESSAGE_RESULT);
        for (unsigned i = 0; i < COUNT; i++) {
            int32_t value, expected = 0;

            memcpy(&value, answer->bytes + OC_HEADER_SIZE + i * sizeof(value), sizeof(value));
            for (uint32_t other = 0; other < RANKS; other++) {
                expected += value_of(group, other, sequence, i);
            }
            assert_int_equal(value, expected);
        }
    }
}

static void expect_failure(uint32_t group, const char *part)
{
    assert_true(groups[group]->failed);
    aggregator_expect(&fixture, OC_COMMAND_GROUP_ERROR, part);
}

/* ---- tests ---- */

static void test_held_until_all_are_there(void **state)
{
    (void) state;
    small_from(0, 2, 0);
    assert_int_equal(used(), oc_pool_cost(BYTES));
    small_from(0, 0, 0);
    assert_int_equal(used(), ALL_BUT1);
    assert_int_equal(aggregator->cached, ALL_BUT1);
    small_from(0, 1, 0);
    /* the result is all that is left */
    assert_int_equal(used(), oc_pool_cost(OC_HEADER_SIZE + BYTES));
    assert_int_equal(aggregator->cached, 0);
    expect_results(0, 0);
    aggregator_settle(&fixture);
    assert_int_equal(used(), 0);
    assert_int_equal(aggregator->asked, 0);
    assert_int_equal(aggregator->waited, 0);
}

/* Two groups with the same place in the table do not meet there. */
static void test_places_are_shared(void **state)
{
    (void) state;
    leave(1);
    groups[1] = join(1, OC_REDUCTION_PLACES);
    base += oc_budget_group(RANKS, false);
    allow(2 * ALL);
    small_from(0, 0, 5);
    small_from(1, 0, 5);
    assert_ptr_not_equal(groups[0]->reductions, groups[1]->reductions);
    for (uint32_t rank = 1; rank < RANKS; rank++) {
        small_from(1, rank, 5);
    }
    expect_results(1, 5);
    assert_int_equal(groups[0]->reductions->arrived, 1);
    for (uint32_t rank = 1; rank < RANKS; rank++) {
        small_from(0, rank, 5);
    }
    expect_results(0, 5);
    aggregator_settle(&fixture);
    assert_null(groups[0]->reductions);
    assert_null(groups[1]->reductions);
    assert_int_equal(groups[0]->num_reductions + groups[1]->num_reductions, 0);
}

/* Group 0 holds what group 1 needs, and one of its ranks has not come: that may take for ever. */
static void test_dropped_for_others(void **state)
{
    (void) state;
    small_from(0, 0, 7);
    small_from(0, 1, 7);
    /* with rank 0's goes room for a header, which there is not any more */
    small_from(1, 0, 0);
    small_from(1, 1, 0);
    assert_null(groups[1]->reductions->held[0]);
    assert_int_equal(aggregator->cached, ALL);
    small_from(1, 2, 0);
    assert_null(aggregator->starving);
    assert_int_equal(aggregator->cached, 0);
    assert_int_equal(used(), ALL);
    expect_resend(1, 0, 0);
    small_from(1, 0, 0);
    expect_results(1, 0);
    aggregator_settle(&fixture);
    assert_int_equal(used(), 0);
    /* and now the last rank of group 0, whose own contribution is kept */
    small_from(0, 2, 7);
    expect_resend(0, 1, 7);
    expect_resend(0, 0, 7);
    small_from(0, 0, 7);
    small_from(0, 1, 7);
    expect_results(0, 7);
    aggregator_settle(&fixture);
    assert_int_equal(used(), 0);
    assert_int_equal(aggregator->asked, 3);
}

/* For chunks what is held is dropped too, the newest first, and no more than is needed. */
static void test_dropped_for_chunks(void **state)
{
    (void) state;
    allow(3 * 8192 + 2 * oc_pool_cost(BYTES) - 1);
    small_from(0, 1, 0);
    small_from(1, 1, 0);
    small_from(2, 1, 0);
    assert_int_equal(aggregator->cached, 3 * oc_pool_cost(BYTES));
    large_from_all(3, 0);
    assert_int_equal(aggregator->cached, oc_pool_cost(BYTES));
    assert_non_null(groups[0]->reductions->held[1]);
    assert_null(groups[1]->reductions->held[1]);
    assert_null(groups[2]->reductions->held[1]);
    /* the first chunk is on its way, and the second waits for it */
    assert_int_equal(groups[3]->reductions->admitted, 1);
    assert_ptr_equal(aggregator->starving, groups[3]);
    /* while anybody waits, nothing is held */
    small_from(2, 2, 0);
    assert_null(groups[2]->reductions->held[2]);
    assert_int_equal(used(), 3 * 8192 + oc_pool_cost(BYTES));
}

/* A small collective for which there is room does not overtake chunks for which there is none. */
static void test_nobody_is_overtaken(void **state)
{
    void *block;

    (void) state;
    allow(3 * 8192);
    block = oc_pool_get(&aggregator->pool, 64);
    large_from_all(3, 0);
    for (uint32_t rank = 0; rank < RANKS; rank++) {
        small_from(0, rank, 0);
    }
    assert_ptr_equal(aggregator->starving, groups[3]);
    assert_ptr_equal(aggregator->starving->starving_next, groups[0]);
    assert_int_equal(aggregator->asked, 0);
    assert_int_equal(used(), 64);
    oc_pool_put(&aggregator->pool, block, 64);
    assert_true(oc_reduction_feed(aggregator));
    assert_int_equal(groups[3]->reductions->admitted, 1);
    /* its second chunk has to wait behind the small one */
    assert_ptr_equal(aggregator->starving, groups[0]);
    assert_ptr_equal(aggregator->starving->starving_next, groups[3]);
}

/* Memory that others really have is waited for, in order. */
static void test_served_in_order(void **state)
{
    void *block = oc_pool_get(&aggregator->pool, 8192);

    (void) state;
    for (uint32_t group = 0; group < 3; group++) {
        for (uint32_t rank = 0; rank < RANKS; rank++) {
            small_from(group, rank, 0);
        }
    }
    assert_int_equal(aggregator->waited, 3);
    assert_false(oc_reduction_feed(aggregator));
    oc_pool_put(&aggregator->pool, block, 8192);
    assert_true(oc_reduction_feed(aggregator));
    /* there is room for one */
    assert_int_equal(groups[0]->reductions->asked, 2);
    assert_ptr_equal(aggregator->starving, groups[1]);
    assert_ptr_equal(aggregator->starving->starving_next, groups[2]);
    assert_false(oc_reduction_feed(aggregator));
    for (uint32_t group = 0; group < 3; group++) {
        for (uint32_t rank = 0; rank < RANKS; rank++) {
            if (groups[group]->reductions->seen[rank] & OC_SEEN_ASKED) {
                expect_resend(group, rank, 0);
                small_from(group, rank, 0);
            }
        }
        expect_results(group, 0);
        aggregator_settle(&fixture);
        assert_null(groups[group]->reductions);
        (void) oc_reduction_feed(aggregator);
    }
    assert_null(aggregator->starving);
    assert_int_equal(aggregator->waited, 3);
    assert_int_equal(used(), 0);
}

/* What comes back is for a group that cannot begin without it, before any that can. */
static void test_owed_goes_first(void **state)
{
    const oc_server_group_t *tree;
    size_t whole = oc_budget_group(RANKS, false) + oc_budget_reserve(RANKS, 8192, BYTES);
    void *one_step, *rest;

    (void) state;
    allow(ALL + whole);
    one_step = oc_pool_get(&aggregator->pool, ALL);
    rest = oc_pool_get(&aggregator->pool, whole);
    for (uint32_t rank = 0; rank < RANKS; rank++) {
        small_from(0, rank, 0);
    }
    tree = join_tree();
    assert_true(tree->owed);
    oc_pool_put(&aggregator->pool, one_step, ALL);
    assert_true(oc_reduction_feed(aggregator));
    assert_true(tree->owed);
    assert_int_equal(groups[0]->reductions->asked, 0);
    oc_pool_put(&aggregator->pool, rest, whole);
    assert_true(oc_reduction_feed(aggregator));
    assert_false(tree->owed);
    assert_int_equal(groups[0]->reductions->asked, RANKS);
    assert_null(aggregator->starving);
}

/* Nobody is given memory that is free while another one is owed some. */
static void test_nothing_before_owed(void **state)
{
    const oc_server_group_t *tree;

    (void) state;
    allow(3 * 8192);
    tree = join_tree();
    assert_true(tree->owed);
    large_from_all(1, 0);
    assert_int_equal(used(), 0);
    assert_ptr_equal(aggregator->starving, groups[1]);
    aggregator_settle(&fixture);
    leave(1);
    for (uint32_t rank = 0; rank < RANKS; rank++) {
        small_from(0, rank, 0);
    }
    assert_int_equal(used(), 0);
    assert_ptr_equal(aggregator->starving, groups[0]);
    aggregator_drop(&fixture, tree);
    assert_true(oc_reduction_feed(aggregator));
    assert_int_equal(groups[0]->reductions->asked, RANKS);
}

/* The group goes while it waits, or while its ranks are asked: its memory goes to the next. */
static void test_group_goes(void **state)
{
    (void) state;
    void *block = oc_pool_get(&aggregator->pool, 8192);

    for (uint32_t group = 0; group < 3; group++) {
        for (uint32_t rank = 0; rank < RANKS; rank++) {
            small_from(group, rank, 0);
        }
    }
    leave(0);
    oc_pool_put(&aggregator->pool, block, 8192);
    assert_true(oc_reduction_feed(aggregator));
    assert_ptr_equal(aggregator->starving, groups[2]);
    for (uint32_t rank = 0; rank < RANKS; rank++) {
        expect_resend(1, rank, 0);
    }
    aggregator_settle(&fixture);
    leave(1);
    assert_true(oc_reduction_feed(aggregator));
    assert_null(aggregator->starving);
    for (uint32_t rank = 0; rank < RANKS; rank++) {
        if (groups[2]->reductions->seen[rank] & OC_SEEN_ASKED) {
            expect_resend(2, rank, 0);
            small_from(2, rank, 0);
        }
    }
    expect_results(2, 0);
    aggregator_settle(&fixture);
}

static oc_reduction_t *find(uint32_t group, uint64_t sequence)
{
    oc_reduction_t *reduction;

    DL_FOREACH2 (groups[group]->reductions, reduction, group_next) {
        if (reduction->sequence == sequence) {
            break;
        }
    }
    assert_non_null(reduction);
    return reduction;
}

/* All memory is in use when it begins; there will be room for two steps of this size. */
static void *begin_without_room(size_t step)
{
    allow(2 * step);
    return oc_pool_get(&aggregator->pool, 2 * step);
}

static void make_room(void *block)
{
    oc_pool_put(&aggregator->pool, block, aggregator->pool.limit - base);
    assert_true(oc_reduction_feed(aggregator));
}

/* A group with many collectives has one turn, as one with a single one. */
static void test_turns_of_small_ones(void **state)
{
    void *block = begin_without_room(ALL);

    (void) state;
    for (uint64_t sequence = 0; sequence < 3; sequence++) {
        for (uint32_t rank = 0; rank < RANKS; rank++) {
            small_from(0, rank, sequence);
        }
    }
    for (uint32_t rank = 0; rank < RANKS; rank++) {
        small_from(1, rank, 0);
    }
    make_room(block);
    assert_int_equal(find(0, 0)->asked, RANKS);
    assert_int_equal(find(0, 1)->asked, 0);
    assert_int_equal(find(1, 0)->asked, RANKS);
    assert_ptr_equal(aggregator->starving, groups[0]);
    assert_null(aggregator->starving->starving_next);
    assert_ptr_equal(groups[0]->waiting, find(0, 1));
    assert_ptr_equal(groups[0]->waiting->next, find(0, 2));
    assert_int_equal(aggregator->waited, 4);
}

static void test_turns_of_chunks(void **state)
{
    void *block = begin_without_room(RANKS * 8192);

    (void) state;
    large_from_all(0, 0);
    large_from_all(0, 1);
    large_from_all(1, 0);
    make_room(block);
    assert_int_equal(find(0, 0)->admitted, 1);
    assert_int_equal(find(0, 1)->admitted, 0);
    assert_int_equal(find(1, 0)->admitted, 1);
    assert_ptr_equal(aggregator->starving, groups[0]);
    assert_ptr_equal(aggregator->starving->starving_next, groups[1]);
}

/* However many collectives a group has, it gets one window of chunks, in their order. */
static void test_window_of_all(void **state)
{
    (void) state;
    allow(100 * RANKS * 8192);
    groups[0]->window = 3;
    for (uint64_t sequence = 0; sequence < 4; sequence++) {
        large_from_all(0, sequence);
    }
    assert_int_equal(find(0, 0)->admitted, 2);
    assert_int_equal(find(0, 1)->admitted, 1);
    assert_int_equal(find(0, 2)->admitted, 0);
    assert_int_equal(find(0, 3)->admitted, 0);
    assert_int_equal(used(), 3 * RANKS * 8192);
    assert_null(aggregator->starving);
    /* which is nothing to another group */
    large_from_all(1, 0);
    assert_int_equal(find(1, 0)->admitted, 2);
}

/* ---- violations ---- */

static void test_twice(void **state)
{
    (void) state;
    small_from(0, 1, 0);
    small_from(0, 1, 0);
    expect_failure(0, "rank 1 began collective 0 twice");
}

/* Dropped, but not asked for. */
static void test_again_before_asked(void **state)
{
    (void) state;
    allow(100);
    small_from(0, 1, 0);
    assert_int_equal(used(), 0);
    small_from(0, 1, 0);
    expect_failure(0, "rank 1 began collective 0 twice");
}

/* Beside what group 0 holds there is too little: rank 0 of group 1 is asked to send again. */
static void drop_for_others(void)
{
    small_from(0, 0, 0);
    small_from(0, 1, 0);
    small_from(1, 0, 0);
    small_from(1, 1, 0);
    small_from(1, 2, 0);
    expect_resend(1, 0, 0);
}

static void test_again_after_asked(void **state)
{
    (void) state;
    drop_for_others();
    small_from(1, 0, 0);
    assert_false(groups[1]->failed);
    small_from(1, 0, 0);
    expect_failure(1, "rank 0 began collective 0 twice");
}

static void test_again_with_another_kind(void **state)
{
    (void) state;
    drop_for_others();
    say(OC_MESSAGE_START, 1, 0, 0);
    expect_failure(1, "disagree");
}

static void test_larger_than_agreed(void **state)
{
    (void) state;
    groups[0]->small_bytes = BYTES - 4;
    small_from(0, 1, 0);
    expect_failure(0, "impossible");
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_held_until_all_are_there, setup, teardown),
        cmocka_unit_test_setup_teardown(test_places_are_shared, setup, teardown),
        cmocka_unit_test_setup_teardown(test_dropped_for_others, setup, teardown),
        cmocka_unit_test_setup_teardown(test_dropped_for_chunks, setup, teardown),
        cmocka_unit_test_setup_teardown(test_nobody_is_overtaken, setup, teardown),
        cmocka_unit_test_setup_teardown(test_served_in_order, setup, teardown),
        cmocka_unit_test_setup_teardown(test_owed_goes_first, setup, teardown),
        cmocka_unit_test_setup_teardown(test_nothing_before_owed, setup, teardown),
        cmocka_unit_test_setup_teardown(test_group_goes, setup, teardown),
        cmocka_unit_test_setup_teardown(test_turns_of_small_ones, setup, teardown),
        cmocka_unit_test_setup_teardown(test_turns_of_chunks, setup, teardown),
        cmocka_unit_test_setup_teardown(test_window_of_all, setup, teardown),
        cmocka_unit_test_setup_teardown(test_twice, setup, teardown),
        cmocka_unit_test_setup_teardown(test_again_before_asked, setup, teardown),
        cmocka_unit_test_setup_teardown(test_again_after_asked, setup, teardown),
        cmocka_unit_test_setup_teardown(test_again_with_another_kind, setup, teardown),
        cmocka_unit_test_setup_teardown(test_larger_than_agreed, setup, teardown),
    };

    alarm(60);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
