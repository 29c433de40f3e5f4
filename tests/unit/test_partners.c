/* SPDX-License-Identifier: BSD-3-Clause */
/* Owns the unit tests of the few ranks of other hosts that a rank asks for what it lacks. */
/* Test: quick 60 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "multicast/core/partners.h"

#define MAX_RANKS 300

static uint32_t hosts[MAX_RANKS];
static oc_cast_group_t group;

static void begin(uint32_t ranks)
{
    group = (oc_cast_group_t) {.config = {.num_ranks = ranks}, .hosts = hosts};
    assert_int_equal(oc_partners_begin(&group), OC_OK);
}

/* By block, or else by cycle; numbers of hosts have no meaning. */
static void place(uint32_t ranks, uint32_t per_host, bool by_block)
{
    uint32_t count = (ranks + per_host - 1) / per_host;

    for (uint32_t i = 0; i < ranks; i++) {
        uint32_t host = by_block ? i / per_host : i % count;

        hosts[i] = 1000 - 3 * host;
    }
}

static uint32_t steps_of(uint32_t count)
{
    uint32_t steps = 0;

    while (1u << steps < count) {
        steps++;
    }
    return steps;
}

static void test_hosts_are_numbered(void **state)
{
    static const uint32_t given[] = {7, 3, 7, 3, 9, 7};

    (void) state;
    memcpy(hosts, given, sizeof(given));
    begin(6);
    assert_int_equal(group.places.count, 3);
    for (uint32_t a = 0; a < 6; a++) {
        for (uint32_t b = 0; b < 6; b++) {
            assert_int_equal(oc_partners_share_host(&group, a, b), given[a] == given[b]);
        }
    }
    oc_partners_end(&group);
}

/* From any rank, for any owner: each asks one of another host, and at last the owner is asked. */
static void climb(uint32_t owner)
{
    uint32_t steps = 0, rank = group.config.rank;

    while (!oc_partners_share_host(&group, rank, owner)) {
        uint32_t above;

        group.config.rank = rank;
        above = oc_partners_above(&group, owner);
        assert_false(oc_partners_share_host(&group, rank, above));
        assert_int_equal(oc_partners_fetcher(&group, above, owner), above);
        rank = above;
        steps++;
    }
    assert_in_range(steps, 0, steps_of(group.places.count));
    assert_int_equal(oc_partners_fetcher(&group, rank, owner), owner);
}

/* Hosts that a rank asks for any block. */
static void count_asked(uint32_t rank)
{
    bool asked[MAX_RANKS] = {false};
    uint32_t count = 0;

    group.config.rank = rank;
    for (uint32_t owner = 0; owner < group.config.num_ranks; owner++) {
        if (!oc_partners_share_host(&group, rank, owner)) {
            uint32_t host = group.places.of[oc_partners_above(&group, owner)];

            count += !asked[host];
            asked[host] = true;
        }
    }
    assert_in_range(count, 0, steps_of(group.places.count));
}

static void test_all_ways_lead_to_the_owner(void **state)
{
    static const uint32_t sizes[][2] = {{1, 1}, {2, 1}, {2, 2}, {3, 1}, {7, 2}, {16, 4}, {64, 1},
                                        {100, 8}, {255, 1}, {256, 1}, {257, 1}, {300, 7}};

    (void) state;
    for (unsigned i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
        for (unsigned by_block = 0; by_block <= 1; by_block++) {
            place(sizes[i][0], sizes[i][1], by_block);
            begin(sizes[i][0]);
            for (uint32_t rank = 0; rank < sizes[i][0]; rank++) {
                for (uint32_t owner = 0; owner < sizes[i][0]; owner++) {
                    group.config.rank = rank;
                    climb(owner);
                }
                count_asked(rank);
            }
            oc_partners_end(&group);
        }
    }
}

static void test_partners(void **state)
{
    (void) state;
    place(20, 2, true); /* ten hosts */
    begin(20);
    group.config.rank = 6;
    assert_int_equal(oc_partners_count(&group), 8);
    for (uint32_t i = 0; i < 8; i++) {
        uint32_t other = oc_partners_nth(&group, i, 19);

        assert_false(oc_partners_share_host(&group, other, 6));
        assert_int_equal(oc_partners_fetcher(&group, other, 19), other);
    }
    oc_partners_end(&group);
}

/* From any rank all are in the order once, those of its own host first. */
static void test_the_order_of_blocks(void **state)
{
    (void) state;
    for (unsigned by_block = 0; by_block <= 1; by_block++) {
        place(21, 4, 1 == by_block);
        begin(21);
        for (group.config.rank = 0; group.config.rank < 21; group.config.rank++) {
            assert_true(oc_partners_share_host(&group, group.config.rank, oc_partners_behind(&group, 0)));
            for (uint32_t i = 0; i < 21; i++) {
                assert_int_equal(oc_partners_number(&group, oc_partners_behind(&group, i)), i);
            }
        }
        oc_partners_end(&group);
    }
}

/* The ranks of a host share the work. */
static void test_fetchers(void **state)
{
    unsigned blocks[20] = {0};

    (void) state;
    place(20, 4, true);
    begin(20);
    for (uint32_t owner = 4; owner < 20; owner++) {
        uint32_t fetcher = oc_partners_fetcher(&group, 0, owner);

        for (uint32_t rank = 0; rank < 4; rank++) {
            assert_int_equal(oc_partners_fetcher(&group, rank, owner), fetcher);
        }
        blocks[fetcher]++;
    }
    for (uint32_t rank = 0; rank < 4; rank++) {
        assert_int_equal(blocks[rank], 4);
    }
    oc_partners_end(&group);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_hosts_are_numbered),
        cmocka_unit_test(test_all_ways_lead_to_the_owner),
        cmocka_unit_test(test_partners),
        cmocka_unit_test(test_the_order_of_blocks),
        cmocka_unit_test(test_fetchers),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
