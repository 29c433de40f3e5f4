/* SPDX-License-Identifier: BSD-3-Clause */
/* Owns the tests of results on a network without faults: ranks, sizes, layouts, schedules. */
/* Test: quick 120; sanitizers: all 240 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <string.h>

#include "base/clock.h"
#include "tests/multicast/crew.h"

/* Of a fragment with the datagrams of crew_defaults. */
#define PAYLOAD (1472 - OC_DATAGRAM_HEADER)

static const unsigned numbers_of_ranks[] = {2, 3, 4, 7, 8, 16, 33};

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

/* Chains. */
static const uint32_t schedules[] = {0, TOGETHER, 1, 2, 3};

static crew_config_t config;

static int set_up(void **state)
{
    (void) state;
    crew_defaults(&config, 2);
    return 0;
}

/* Without faults nothing is ever lost, asked for or doubted. */
static void expect_success(crew_t *crew)
{
    oc_cast_counters_t totals;

    assert_string_equal(crew_run(crew, 10 * OC_SECOND), "");
    totals = crew_totals(crew);
    assert_int_equal(totals.blocks_corrupted, 0);
    assert_int_equal(totals.fragments_lost, 0);
    assert_int_equal(totals.fragments_recovered, 0);
    assert_int_equal(totals.fragments_duplicated, 0);
    assert_int_equal(totals.fragments_late, 0);
    assert_int_equal(totals.fragments_foreign, 0);
    assert_int_equal(totals.repair_bytes, 0);
    crew_free(crew);
}

static crew_t *new_crew(unsigned ranks, unsigned schedule)
{
    config.network.num_nodes = ranks;
    config.chains = schedules[schedule];
    return crew_new(&config);
}

static void play_sizes(const size_t *sizes, unsigned count, const operation_t *kind)
{
    for (unsigned i = 0; i < COUNT(numbers_of_ranks); i++) {
        for (unsigned s = 0; s < COUNT(schedules); s++) {
            crew_t *crew = new_crew(numbers_of_ranks[i], s);

            for (unsigned k = 0; k < count; k++) {
                operation_t operation = *kind;

                operation.block = sizes[k];
                (void) crew_add(crew, &operation);
            }
            expect_success(crew);
        }
    }
}

static const size_t small_sizes[] = {0, 1, 3, 4, 5, 1000, 12345};

static void test_small_blocks(void **state)
{
    (void) state;
    play_sizes(small_sizes, COUNT(small_sizes), &(operation_t) {.block = 0});
}

static void test_small_blocks_in_place(void **state)
{
    (void) state;
    play_sizes(small_sizes, COUNT(small_sizes), &(operation_t) {.in_place = true});
}

static void test_small_blocks_blocking(void **state)
{
    (void) state;
    play_sizes(small_sizes, COUNT(small_sizes), &(operation_t) {.blocking = true, .gap = 5});
}

/* The checksum behind the data is in the last fragment, in one of its own, or in two. */
static void test_ends_of_fragments(void **state)
{
    size_t sizes[2 * 11];

    (void) state;
    for (size_t i = 0; i < 11; i++) {
        sizes[i] = PAYLOAD - 5 + i;
        sizes[11 + i] = 7 * PAYLOAD - 5 + i;
    }
    play_sizes(sizes, COUNT(sizes), &(operation_t) {.gap = 1});
}

static void test_datagram_sizes(void **state)
{
    static const size_t sizes[] = {OC_DATAGRAM_MIN, OC_DATAGRAM_MIN + 1, 4096, 9000, 32768,
                                   OC_DATAGRAM_MAX};

    (void) state;
    for (unsigned i = 0; i < COUNT(sizes); i++) {
        crew_t *crew;

        config.network.datagram_size = sizes[i];
        crew = new_crew(3, 0);
        (void) crew_add(crew, &(operation_t) {.block = 100001});
        (void) crew_add(crew, &(operation_t) {.block = sizes[i] - OC_DATAGRAM_HEADER - 4});
        (void) crew_add(crew, &(operation_t) {.block = sizes[i] - OC_DATAGRAM_HEADER - 2});
        expect_success(crew);
    }
}

static void test_megabyte(void **state)
{
    (void) state;
    for (unsigned s = 0; s < COUNT(schedules); s++) {
        for (unsigned ranks = 2; ranks <= 8; ranks += 3) {
            crew_t *crew = new_crew(ranks, s);

            (void) crew_add(crew, &(operation_t) {.block = 1 << 20, .blocking = true});
            expect_success(crew);
        }
    }
}

static void play_lengths(const size_t *lengths, unsigned ranks)
{
    for (unsigned s = 0; s < COUNT(schedules); s++) {
        crew_t *crew = new_crew(ranks, s);

        (void) crew_add(crew, &(operation_t) {.lengths = lengths});
        (void) crew_add(crew, &(operation_t) {.lengths = lengths, .gap = 11, .in_place = true});
        (void) crew_add(crew, &(operation_t) {.lengths = lengths, .gap = 64, .blocking = true});
        expect_success(crew);
    }
}

static void test_unequal_blocks(void **state)
{
    static const size_t little[] = {0, 1, 0, 300000, 5, 0, 77777, 0};
    static const size_t steps[] = {400000, 40000, 4000, 400, 40, 4, 0, 400000};

    (void) state;
    play_lengths(little, COUNT(little));
    play_lengths(steps, COUNT(steps));
}

static void test_all_blocks_are_empty(void **state)
{
    static const size_t nothing[16];

    (void) state;
    play_lengths(nothing, COUNT(nothing));
}

/* Only the root has a block. */
static void test_broadcast(void **state)
{
    static const size_t sizes[] = {1, 1444, 1445, 250000};

    (void) state;
    for (unsigned s = 0; s < COUNT(schedules); s++) {
        for (unsigned root = 0; root < 11; root += 5) {
            crew_t *crew = new_crew(11, s);

            for (unsigned i = 0; i < COUNT(sizes); i++) {
                size_t lengths[11] = {0};

                lengths[root] = sizes[i];
                (void) crew_add(crew, &(operation_t) {.lengths = lengths, .in_place = true});
                (void) crew_add(crew, &(operation_t) {.lengths = lengths, .blocking = true});
            }
            expect_success(crew);
        }
    }
}

static void test_several_hosts(void **state)
{
    static const uint32_t hosts[] = {0, 1, 2, 0, 1, 2, 2, 2};

    (void) state;
    config.hosts = hosts;
    for (unsigned s = 0; s < COUNT(schedules); s++) {
        crew_t *crew = new_crew(8, s);

        (void) crew_add(crew, &(operation_t) {.block = 50000});
        expect_success(crew);
    }
}

/* Nonblocking operations that are begun together, in the same order. */
static void test_queued_operations(void **state)
{
    (void) state;
    for (unsigned s = 0; s < COUNT(schedules); s++) {
        crew_t *crew = new_crew(5, s);

        for (unsigned i = 0; i < 40; i++) {
            (void) crew_add(crew, &(operation_t) {.block = (i * 7919) % 20000,
                                                  .queued = 0 != i % 10,
                                                  .in_place = i % 3 == 0});
        }
        expect_success(crew);
    }
}

static void test_ranks_compute_in_between(void **state)
{
    crew_t *crew = new_crew(6, 0);

    (void) state;
    for (unsigned i = 0; i < 30; i++) {
        operation_t operation = {.block = 3000, .blocking = i % 2 == 0};

        operation.compute[(i * 5) % 6] = (i + 1) * OC_MILLISECOND;
        operation.compute[(i * 7 + 3) % 6] = (i + 1) * OC_MILLISECOND / 3;
        (void) crew_add(crew, &operation);
    }
    expect_success(crew);
}

static void test_alone(void **state)
{
    crew_t *crew = new_crew(1, 0);

    (void) state;
    (void) crew_add(crew, &(operation_t) {.block = 5000});
    (void) crew_add(crew, &(operation_t) {.block = 5000, .in_place = true, .blocking = true});
    expect_success(crew);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(test_small_blocks, set_up),
        cmocka_unit_test_setup(test_small_blocks_in_place, set_up),
        cmocka_unit_test_setup(test_small_blocks_blocking, set_up),
        cmocka_unit_test_setup(test_ends_of_fragments, set_up),
        cmocka_unit_test_setup(test_datagram_sizes, set_up),
        cmocka_unit_test_setup(test_megabyte, set_up),
        cmocka_unit_test_setup(test_unequal_blocks, set_up),
        cmocka_unit_test_setup(test_all_blocks_are_empty, set_up),
        cmocka_unit_test_setup(test_broadcast, set_up),
        cmocka_unit_test_setup(test_several_hosts, set_up),
        cmocka_unit_test_setup(test_queued_operations, set_up),
        cmocka_unit_test_setup(test_ranks_compute_in_between, set_up),
        cmocka_unit_test_setup(test_alone, set_up),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
