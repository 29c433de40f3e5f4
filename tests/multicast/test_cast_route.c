/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Owns the tests of how ranks find each other: whom they get to know, and that those reach each
 * other who have to, by way of ranks that are late, lose datagrams, or are elsewhere.
 */
/* Test: quick 120; sanitizers: all 240 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <string.h>

#include "base/clock.h"
#include "multicast/core/route.h"
#include "multicast/wire/contact.h"
#include "tests/multicast/fixture.h"

#define RANKS    80   /* ranks 1 to 8 have children, too, and rank 9, which is one of rank 1 */
#define PATIENCE (60 * OC_SECOND)

static unsigned count_neighbours(unsigned rank)
{
    uint32_t neighbours[OC_CAST_NEIGHBOURS];

    return oc_cast_neighbours(RANKS, rank, neighbours);
}

static void test_neighbours_are_mutual(void **state)
{
    uint32_t mine[OC_CAST_NEIGHBOURS], theirs[OC_CAST_NEIGHBOURS];
    unsigned links = 0;

    (void) state;
    for (uint32_t rank = 0; rank < RANKS; rank++) {
        unsigned count = oc_cast_neighbours(RANKS, rank, mine);

        for (unsigned i = 0; i < count; i++) {
            unsigned others = oc_cast_neighbours(RANKS, mine[i], theirs), k = 0;

            while (k < others && theirs[k] != rank) {
                k++;
            }
            assert_true(k < others);
            links++;
        }
    }
    assert_int_equal(links, 2 * (RANKS - 1));
    assert_int_equal(oc_cast_neighbours(1, 0, mine), 0);
}

/* From anywhere to anywhere else, by neighbours alone, and never back. */
static void go(uint32_t num_ranks, uint32_t from, uint32_t to)
{
    uint32_t neighbours[OC_CAST_NEIGHBOURS], before = num_ranks, steps = 0;

    while (from != to) {
        uint32_t next = oc_cast_route_next(from, to);
        unsigned count = oc_cast_neighbours(num_ranks, from, neighbours), i = 0;

        while (i < count && neighbours[i] != next) {
            i++;
        }
        assert_true(i < count && next != before);
        before = from;
        from = next;
        assert_true(++steps <= 12); /* six up, and six down, of 65,535 ranks */
    }
}

static void test_ways(void **state)
{
    static const uint32_t sizes[] = {2, 9, 10, 73, 74, 586};

    (void) state;
    for (unsigned i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
        for (uint32_t from = 0; from < sizes[i]; from++) {
            for (uint32_t to = 0; to < sizes[i]; to++) {
                go(sizes[i], from, to);
            }
        }
    }
    for (uint32_t rank = 0; rank < UINT16_MAX; rank += 7) {
        go(UINT16_MAX, rank, UINT16_MAX - 1 - rank);
    }
}

static void test_nobody_is_looked_for_without_need(void **state)
{
    (void) state;
    begin_crew(RANKS);
    expect_probed();
    for (unsigned i = 0; i < 3; i++) {
        (void) crew_add(crew, &(operation_t) {.block = 20000, .blocking = true});
    }
    expect_success(PATIENCE);
    assert_int_equal(crew_totals(crew).fragments_lost, 0);
    for (unsigned i = 0; i < RANKS; i++) {
        assert_int_equal(crew_known(crew, i), count_neighbours(i));
    }
}

/* A chain goes from rank to rank: each finds its next one, once. */
static void test_chain(void **state)
{
    unsigned long long first, second;

    (void) state;
    config.chains = 1;
    begin_crew(RANKS);
    expect_probed();
    (void) crew_add(crew, &(operation_t) {.block = 5000, .blocking = true});
    expect_success(PATIENCE);
    first = crew_totals(crew).control_messages;
    (void) crew_add(crew, &(operation_t) {.block = 5000, .blocking = true});
    expect_success(PATIENCE);
    second = crew_totals(crew).control_messages - first;
    assert_true(second < first);
    /* ENTER, GO, DONE, LEAVE and TURN */
    assert_in_range(second, 5 * (RANKS - 1) - 1, 5 * RANKS);
    for (unsigned i = 0; i < RANKS; i++) {
        assert_true(crew_known(crew, i) <= count_neighbours(i) + 2);
    }
}

static void test_losses(void **state)
{
    unsigned strangers = 0;

    (void) state;
    config.network.faults.drop = 0.05;
    for (unsigned seed = 1; seed <= 5; seed++) {
        config.network.faults.seed = config.network.seed = seed;
        begin_crew(RANKS);
        (void) crew_add(crew, &(operation_t) {.block = 20000, .blocking = true});
        (void) crew_add(crew, &(operation_t) {.block = 5000});
        assert_string_equal(crew_run(crew, PATIENCE), "");
        assert_true(crew_totals(crew).fragments_recovered > 0);
        for (unsigned i = 0; i < RANKS; i++) {
            strangers += crew_known(crew, i) - count_neighbours(i);
        }
    }
    assert_true(strangers > 0);
}

/*
 * Rank 1 is the way to its children, who have nothing from others but by way of it: no datagram
 * arrives before it has joined.
 */
static void test_relay_joins_late(void **state)
{
    (void) state;
    config.network.faults.drop = 0.4;
    config.born[1] = 20 * OC_SECOND;
    config.probe_timeout = 0;
    begin_crew(RANKS);
    assert_true(crew_probe(crew, PATIENCE));
    (void) crew_add(crew, &(operation_t) {.block = 2000, .blocking = true});
    expect_success(PATIENCE);
}

/* Nothing piles up for it, with anybody. */
static void test_leaf_joins_an_hour_late(void **state)
{
    (void) state;
    config.born[RANKS - 1] = 3600 * OC_SECOND;
    config.probe_timeout = 0;
    begin_crew(RANKS);
    /* it has heard nobody, and need not look for all of them */
    assert_true(crew_probe(crew, 3601 * OC_SECOND));
    for (unsigned i = 0; i < RANKS; i++) {
        /* what is under way to it at once is little: of each message, its length */
        assert_true(network_traffic(crew_network(crew), i)->most_outstanding < 64 * 1024);
    }
    /* every 10 s each rank looks for it, by way of five others at most */
    assert_in_range(crew_totals(crew).control_messages, RANKS, 400 * 6 * RANKS);
    (void) crew_add(crew, &(operation_t) {.block = 2000, .blocking = true});
    expect_success(PATIENCE);
}

static bool lose_all(void *arg, unsigned from, unsigned to, uint8_t *bytes, size_t length)
{
    (void) arg;
    (void) from;
    (void) to;
    (void) bytes;
    (void) length;
    return false;
}

/* Neighbours find it out; not everybody looks for everybody. */
static void test_no_multicast(void **state)
{
    (void) state;
    config.network.meddler = (meddler_t) {.datagram = lose_all};
    begin_crew(RANKS);
    assert_true(crew_probe(crew, 20 * OC_SECOND));
    for (unsigned i = 0; i < RANKS; i++) {
        assert_int_equal(oc_cast_group_ready(crew_group(crew, i)), OC_ERR_UNREACHABLE);
    }
    assert_in_range(crew_totals(crew).control_messages, RANKS, 2000 * RANKS);
}

/* What must not be passed on, nor believed. */
static void test_nonsense(void **state)
{
    static const struct {
        uint32_t origin, target;
    } cases[] = {{RANKS, 0}, {5, RANKS}, {0, 5}, {UINT32_MAX, 0}, {5, UINT32_MAX}};
    uint8_t contact[OC_CONTACT_MAX] = {0};
    unsigned long long foreign;

    (void) state;
    begin_crew(RANKS);
    expect_probed();
    foreign = crew_counters(crew, 0)->fragments_foreign;
    for (unsigned i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        for (oc_cast_kind_t kind = OC_CAST_FIND; kind <= OC_CAST_FOUND; kind++) {
            crew_forge(crew, 0, &(oc_cast_message_t) {
                .kind = kind, .rank = 1, .token = crew_token(crew), .origin = cases[i].origin,
                .target = cases[i].target,
                .data = contact, .data_length = sizeof(contact)});
        }
    }
    (void) crew_add(crew, &(operation_t) {.block = 2000, .blocking = true});
    expect_success(PATIENCE);
    assert_int_equal(crew_counters(crew, 0)->fragments_foreign - foreign,
                     2 * sizeof(cases) / sizeof(cases[0]));
}

/* Whose connection breaks tells its neighbours, and they theirs. */
static void test_all_hear_of_a_failure(void **state)
{
    uint32_t neighbours[OC_CAST_NEIGHBOURS];
    unsigned count = oc_cast_neighbours(RANKS, 2, neighbours);

    (void) state;
    begin_crew(RANKS);
    expect_probed();
    (void) crew_add(crew, &(operation_t) {.block = 500000, .blocking = true});
    crew_kill(crew, 2, now() + 20 * OC_MILLISECOND, UINT64_MAX);
    (void) network_run(crew_network(crew), now() + OC_SECOND, NULL, NULL);
    for (unsigned i = 0; i < count; i++) {
        oc_cast_group_fail(crew_group(crew, neighbours[i]), OC_ERR_UNREACHABLE, "rank 2 is gone");
        network_wake(crew_network(crew), neighbours[i]);
    }
    if (!crew_play(crew, PATIENCE)) {
        fail_msg("%s", network_complaint(crew_network(crew)));
    }
    for (unsigned i = 0; i < RANKS; i++) {
        if (2 != i) {
            assert_true(crew_outcome(crew, i, 0)->over);
            assert_int_equal(crew_outcome(crew, i, 0)->status, OC_ERR_UNREACHABLE);
        }
    }
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up_crew, tear_down_crew)
    const struct CMUnitTest tests[] = {
        TEST(test_neighbours_are_mutual), TEST(test_nobody_is_looked_for_without_need),
        TEST(test_chain),                 TEST(test_losses),
        TEST(test_relay_joins_late),      TEST(test_nonsense),
        TEST(test_leaf_joins_an_hour_late), TEST(test_no_multicast),
        TEST(test_ways),
        TEST(test_all_hear_of_a_failure),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
