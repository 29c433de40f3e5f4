/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Owns the unit tests of the table of messages by tag: nothing is lost, however many there are, and
 * finding one takes no longer for that.
 */
/* Test: quick 60 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdlib.h>

#include "protocol/tag.h"
#include "server/aggregator/tag_table.h"

/* As many as the ranks of a large group may have under way to an aggregator. */
#define RANKS  4096u
#define WINDOW 64u
#define MANY   (RANKS * WINDOW)

/* Of as many messages as there are places, some lists have several. */
#define LONGEST 12u

static oc_tag_table_t table;
static oc_tagged_t *messages;
static bool out_of_memory;

void *__real_calloc(size_t count, size_t size);
void *__wrap_calloc(size_t count, size_t size);

void *__wrap_calloc(size_t count, size_t size)
{
    return out_of_memory ? NULL : __real_calloc(count, size);
}

static int setup(void **state)
{
    (void) state;
    out_of_memory = false;
    messages = calloc(MANY, sizeof(*messages));
    return NULL != messages && oc_tag_table_open(&table) ? 0 : -1;
}

static int teardown(void **state)
{
    (void) state;
    assert_null(oc_tag_table_check(&table));
    oc_tag_table_close(&table);
    free(messages);
    return 0;
}

static uint64_t tag_of(uint32_t i)
{
    return oc_tag(OC_KIND_CONTRIBUTION, 0xabcde, i / WINDOW, 4090, i % WINDOW);
}

static void add_all(void)
{
    for (uint32_t i = 0; i < MANY; i++) {
        messages[i].tag = tag_of(i);
        oc_tag_table_add(&table, &messages[i]);
    }
}

static unsigned longest_list(void)
{
    unsigned longest = 0;

    for (size_t i = 0; i < table.num_places; i++) {
        const oc_tagged_t *tagged = table.places[i];
        unsigned length = 0;

        for (; NULL != tagged; tagged = tagged->next) {
            length++;
        }
        longest = length > longest ? length : longest;
    }
    return longest;
}

static void expect_all(void)
{
    for (uint32_t i = 0; i < MANY; i++) {
        assert_ptr_equal(oc_tag_table_find(&table, tag_of(i)), &messages[i]);
    }
    assert_null(oc_tag_table_find(&table, oc_tag(OC_KIND_CONTRIBUTION, 0xabcde, 0, 4090, WINDOW)));
}

static void test_many(void **state)
{
    size_t fewest = table.num_places;

    (void) state;
    assert_null(oc_tag_table_find(&table, tag_of(0)));
    add_all();
    assert_int_equal(table.count, MANY);
    assert_null(oc_tag_table_check(&table));
    expect_all();
    assert_in_range(longest_list(), 1, LONGEST);
    /* no more memory than that, and none when they have gone */
    assert_in_range(table.num_places, MANY, 2 * MANY);
    for (uint32_t i = 0; i < MANY; i++) {
        oc_tag_table_remove(&table, &messages[i]);
        assert_null(oc_tag_table_find(&table, tag_of(i)));
    }
    assert_int_equal(table.count, 0);
    assert_int_equal(table.num_places, fewest);
}

/* Forged replies may have the tag of the true one: each is found once. */
static void test_equal(void **state)
{
    (void) state;
    for (uint32_t i = 0; i < 3; i++) {
        messages[i].tag = tag_of(7);
        oc_tag_table_add(&table, &messages[i]);
    }
    for (uint32_t i = 10; i < 10000; i++) {
        messages[i].tag = tag_of(i);
        oc_tag_table_add(&table, &messages[i]);
    }
    for (uint32_t i = 3; i-- > 0;) {
        assert_ptr_equal(oc_tag_table_find(&table, tag_of(7)), &messages[i]);
        oc_tag_table_remove(&table, &messages[i]);
    }
    assert_null(oc_tag_table_find(&table, tag_of(7)));
}

static void test_no_memory(void **state)
{
    size_t fewest = table.num_places;

    (void) state;
    out_of_memory = true;
    add_all();
    assert_int_equal(table.num_places, fewest);
    for (uint32_t i = 0; i < MANY; i += 1000) {
        assert_ptr_equal(oc_tag_table_find(&table, tag_of(i)), &messages[i]);
    }
    oc_tag_table_close(&table);
    assert_false(oc_tag_table_open(&table));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_many, setup, teardown),
        cmocka_unit_test_setup_teardown(test_equal, setup, teardown),
        cmocka_unit_test_setup_teardown(test_no_memory, setup, teardown),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
