/* SPDX-License-Identifier: BSD-3-Clause */
/* Owns the tests of which leaf of a tree each member of a group has, and of the ring of leaves. */
/* Test: quick 120 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "base/limits.h"
#include "client/servers/tree.h"

static void test_examples(void **state)
{
    static const uint32_t seven[] = {0, 0, 0, 0, 1, 1, 1}, five[] = {0, 0, 1, 1, 2};

    (void) state;
    assert_int_equal(oc_tree_leaves(2, 7), 2);
    for (uint32_t member = 0; member < 7; member++) {
        assert_int_equal(oc_tree_leaf(2, 7, member), seven[member]);
    }
    for (uint32_t member = 0; member < 5; member++) {
        assert_int_equal(oc_tree_leaf(3, 5, member), five[member]);
    }
    assert_int_equal(oc_tree_leaves(200, 3), 3);
    assert_int_equal(oc_tree_leaves(1, 9), 1);
}

/* Each leaf has a block of members, none is empty, and no block is larger by more than one. */
static void check(uint32_t servers, uint32_t members)
{
    uint32_t leaves = oc_tree_leaves(servers, members);

    assert_int_equal(oc_tree_first(leaves, members, 0), 0);
    assert_int_equal(oc_tree_first(leaves, members, leaves), members);
    for (uint32_t leaf = 0; leaf < leaves; leaf++) {
        uint32_t first = oc_tree_first(leaves, members, leaf);
        uint32_t next = oc_tree_first(leaves, members, leaf + 1);

        assert_in_range(next - first, members / leaves, (members + leaves - 1) / leaves);
        assert_int_equal(oc_tree_leaf(leaves, members, first), leaf);
        assert_int_equal(oc_tree_leaf(leaves, members, next - 1), leaf);
    }
}

static void test_blocks(void **state)
{
    (void) state;
    for (uint32_t servers = 1; servers < 40; servers++) {
        for (uint32_t members = 1; members < 200; members++) {
            check(servers, members);
        }
    }
    check(OC_MAX_LEAVES, OC_MAX_RANKS);
    check(OC_MAX_LEAVES, OC_MAX_RANKS - 1);
}

/* ---- the ring ---- */

#define MOST_LEAVES  4
#define MOST_PARENTS 3   /* 0: none */

/* What the servers of a list are, and who of a group remembers one of them. */
typedef struct {
    uint32_t servers, members;
    uint32_t parents[MOST_LEAVES];
    unsigned remember;        /* a bit for each member */
    uint32_t remembered;
} ring_t;

/* As tree.c has it: whoever remembers a parent asks its own leaf only. */
static bool notices(const ring_t *ring, uint32_t member)
{
    uint32_t leaves = oc_tree_leaves(ring->servers, ring->members);
    uint32_t leaf = oc_tree_leaf(leaves, ring->members, member);

    if (0 != (ring->remember & 1u << member)) {
        return ring->parents[leaf] != ring->remembered;
    }
    return ring->parents[leaf] != ring->parents[oc_tree_next(leaves, leaf)];
}

/* Some member notices that not all servers with members are the same. */
static void check_ring(const ring_t *ring)
{
    uint32_t leaves = oc_tree_leaves(ring->servers, ring->members);
    bool noticed = false, same = true;

    for (uint32_t member = 0; member < ring->members; member++) {
        noticed = noticed || notices(ring, member);
    }
    for (uint32_t leaf = 1; leaf < leaves; leaf++) {
        same = same && ring->parents[leaf] == ring->parents[0];
    }
    assert_true(noticed || same);
    assert_true(!noticed || !same || 0 != ring->remember);
}

static void check_memories(ring_t *ring)
{
    ring->remember = 0;
    check_ring(ring);
    for (ring->remembered = 1; ring->remembered < MOST_PARENTS; ring->remembered++) {
        for (ring->remember = 1; ring->remember < 1u << ring->members; ring->remember++) {
            check_ring(ring);
        }
    }
}

static void test_ring(void **state)
{
    ring_t ring;

    (void) state;
    for (ring.servers = 1; ring.servers <= MOST_LEAVES; ring.servers++) {
        for (ring.members = 1; ring.members <= MOST_LEAVES + 2; ring.members++) {
            for (unsigned all = 0; all < 3 * 3 * 3 * 3; all++) {
                for (unsigned leaf = 0, rest = all; leaf < MOST_LEAVES; leaf++) {
                    ring.parents[leaf] = rest % MOST_PARENTS;
                    rest /= MOST_PARENTS;
                }
                check_memories(&ring);
            }
        }
    }
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_examples),
        cmocka_unit_test(test_blocks),
        cmocka_unit_test(test_ring),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
