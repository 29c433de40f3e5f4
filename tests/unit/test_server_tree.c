/* SPDX-License-Identifier: BSD-3-Clause */
/* Owns the tests of the division of a group's members among the leaves of a tree. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "client/tree.h"
#include "protocol/limits.h"

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

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_examples),
        cmocka_unit_test(test_blocks),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
