/* SPDX-License-Identifier: BSD-3-Clause */
/* Owns the unit tests of the blocks that have to be looked at. */
/* Test: quick 60 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdlib.h>

#include "multicast/core/open_blocks.h"
#include "multicast/core/partners.h"

#define MAX_RANKS 200

static uint32_t hosts[MAX_RANKS];
static oc_block_t blocks[MAX_RANKS];
static oc_cast_operation_t operation;
static oc_cast_group_t group;

/* One rank a host; the own block is complete. */
static void begin(uint32_t ranks, uint32_t own)
{
    group = (oc_cast_group_t) {.config = {.num_ranks = ranks, .rank = own}, .hosts = hosts,
                               .active = &operation};
    operation = (oc_cast_operation_t) {.blocks = blocks};
    for (uint32_t rank = 0; rank < ranks; rank++) {
        hosts[rank] = rank;
        blocks[rank] = (oc_block_t) {.complete = rank == own};
    }
    assert_int_equal(oc_partners_begin(&group), OC_OK);
    assert_int_equal(oc_open_blocks_begin(&group, &operation), OC_OK);
}

static void end(void)
{
    free(operation.open);
    oc_partners_end(&group);
}

static uint32_t count_open(void)
{
    uint32_t count = 0;

    for (uint32_t i = oc_open_blocks_next(&group, 0); i < group.config.num_ranks;
         i = oc_open_blocks_next(&group, i + 1)) {
        count++;
    }
    return count;
}

/* At the ends of words, too. */
static void test_all_are_open_at_first(void **state)
{
    static const uint32_t sizes[] = {1, 2, 63, 64, 65, 127, 128, 129, MAX_RANKS};

    (void) state;
    for (unsigned i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
        begin(sizes[i], sizes[i] / 2);
        for (uint32_t number = 0, open = 0; number < sizes[i]; number++) {
            if (oc_partners_behind(&group, number) != group.config.rank) {
                assert_int_equal(oc_open_blocks_next(&group, open), number);
                open = number + 1;
            }
        }
        assert_int_equal(count_open(), sizes[i] - 1);
        end();
    }
}

static void test_what_is_closed_is_passed_over(void **state)
{
    (void) state;
    begin(MAX_RANKS, 0);
    for (uint32_t rank = 1; rank < MAX_RANKS; rank++) {
        if (70 != rank && 199 != rank) {
            oc_open_blocks_remove(&group, rank);
        }
    }
    assert_int_equal(oc_open_blocks_next(&group, 0), oc_partners_number(&group, 199));
    assert_int_equal(oc_open_blocks_next(&group, oc_partners_number(&group, 199) + 1),
                     oc_partners_number(&group, 70));
    oc_open_blocks_add(&group, 150);
    oc_open_blocks_add(&group, 150);
    assert_int_equal(count_open(), 3);
    oc_open_blocks_remove(&group, 199);
    oc_open_blocks_remove(&group, 150);
    oc_open_blocks_remove(&group, 70);
    assert_int_equal(oc_open_blocks_next(&group, 0), MAX_RANKS);
    end();
}

static void test_what_is_complete_stays_closed(void **state)
{
    (void) state;
    begin(MAX_RANKS, 0);
    blocks[5].complete = true;
    oc_open_blocks_remove(&group, 5);
    oc_open_blocks_add(&group, 5);
    oc_open_blocks_add(&group, 0);
    assert_int_equal(count_open(), MAX_RANKS - 2);
    end();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_all_are_open_at_first),
        cmocka_unit_test(test_what_is_closed_is_passed_over),
        cmocka_unit_test(test_what_is_complete_stays_closed),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
