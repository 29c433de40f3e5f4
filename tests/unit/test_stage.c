/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Owns the unit tests of arenas and stages, on a device whose copies happen as late as they may, and
 * whose memory nothing but they can touch.
 *
 * Test: quick 30
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "staging/arena.h"
#include "staging/stage.h"
#include "tests/random.h"

#define PIECE 4096u
#define SIZE  (40 * PIECE + 123)

/* Host memory of a copy that is under way is not what it will be, or no longer what it was. */
typedef struct {
    oc_direction_t direction;
    char *to;
    const char *from;
    size_t length;
    unsigned questions;
} copy_t;

static char *seen;             /* the device's memory: PROT_NONE … */
static char memory[SIZE];      /* … and what is in it */
static unsigned under_way, pinned, begun;
static long until_failure;

static oc_status_t fake_begin(oc_device_t *device, oc_direction_t direction, void *to,
                              const void *from, size_t length, void **result)
{
    const char *place = OC_TO_DEVICE == direction ? to : from;
    copy_t *copy = malloc(sizeof(*copy));

    (void) device;
    assert_non_null(copy);
    assert_true(place >= seen && place + length <= seen + SIZE && length > 0);
    *copy = (copy_t) {.direction = direction, .to = to, .from = from, .length = length};
    if (OC_FROM_DEVICE == direction) {
        memset(to, 0x5a, length);
    }
    under_way++;
    begun++;
    *result = copy;
    return OC_OK;
}

static bool fake_is_over(oc_device_t *device, void *copy)
{
    (void) device;
    return ++((copy_t *) copy)->questions > 2;
}

static oc_status_t fake_end(oc_device_t *device, void *argument)
{
    copy_t *copy = argument;
    bool fails = 0 == until_failure;

    (void) device;
    until_failure -= until_failure > 0;
    if (!fails && OC_TO_DEVICE == copy->direction) {
        memcpy(memory + (copy->to - seen), copy->from, copy->length);
    } else if (!fails) {
        memcpy(copy->to, memory + (copy->from - seen), copy->length);
    }
    free(copy);
    under_way--;
    return fails ? OC_ERR_SYSTEM : OC_OK;
}

static void fake_pin(oc_device_t *device, void *arena, size_t length)
{
    (void) device;
    assert_non_null(arena);
    assert_true(length >= PIECE);
    pinned++;
}

static void fake_unpin(oc_device_t *device, void *arena)
{
    (void) device;
    assert_non_null(arena);
    pinned--;
}

static const char *fake_reason(const oc_device_t *device)
{
    (void) device;
    return "it is broken";
}

static const oc_device_ops_t ops = {.begin = fake_begin, .is_over = fake_is_over, .end = fake_end,
                                    .pin = fake_pin, .unpin = fake_unpin, .reason = fake_reason};
static oc_device_t device = {.ops = &ops};

static int setup(void **state)
{
    (void) state;
    until_failure = -1;
    begun = 0;
    seen = mmap(NULL, SIZE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    for (size_t i = 0; i < SIZE; i++) {
        memory[i] = (char) (i * 7 + i / 251);
    }
    return MAP_FAILED == seen ? -1 : 0;
}

static int teardown(void **state)
{
    (void) state;
    assert_int_equal(under_way, 0);
    assert_int_equal(pinned, 0);
    return munmap(seen, SIZE);
}

static void test_arena(void **state)
{
    oc_arena_t *arena = oc_arena_open(PIECE, 2 * PIECE + 1);
    oc_piece_t *first, *second, *extra;
    size_t length;

    (void) state;
    assert_non_null(arena);
    assert_non_null(oc_arena_bytes(arena, &length));
    assert_int_equal(length, 2 * PIECE);
    first = oc_arena_take(arena);
    second = oc_arena_take(arena);
    assert_non_null(first);
    assert_non_null(second);
    assert_true(first->memory != second->memory);
    assert_false(oc_arena_has(arena));
    assert_null(oc_arena_take(arena));
    extra = oc_arena_take_extra(arena);
    assert_non_null(extra);
    memset(extra->memory, 1, PIECE);
    oc_arena_give(arena, extra);
    assert_false(oc_arena_has(arena));
    oc_arena_give(arena, first);
    assert_ptr_equal(oc_arena_take(arena), first);
    oc_arena_pin(arena, &device);
    oc_arena_pin(arena, &device);
    assert_int_equal(pinned, 1);
    oc_arena_give(arena, first);
    oc_arena_give(arena, second);
    oc_arena_close(arena);
    /* there is always one piece */
    arena = oc_arena_open(PIECE, 1);
    first = oc_arena_take(arena);
    assert_non_null(first);
    oc_arena_give(arena, first);
    oc_arena_close(arena);
}

static void test_piece(void **state)
{
    oc_arena_t *arena = oc_arena_open(PIECE, PIECE);
    oc_piece_t *piece = oc_arena_take(arena);

    (void) state;
    assert_true(oc_piece_is_still(piece));
    assert_int_equal(oc_piece_fetch(piece, &device, seen + 100, 50), OC_OK);
    assert_false(oc_piece_is_still(piece));
    assert_int_equal(oc_piece_end(piece), OC_OK);
    assert_memory_equal(piece->memory, memory + 100, 50);
    memset(piece->memory, 3, 50);
    assert_int_equal(oc_piece_flush(piece, &device, seen + 10, 50), OC_OK);
    while (!oc_piece_is_still(piece)) {
    }
    assert_int_equal(oc_piece_end(piece), OC_OK);
    assert_memory_equal(piece->memory, memory + 10, 50);
    assert_int_equal(oc_piece_end(piece), OC_OK);
    oc_arena_give(arena, piece);
    oc_arena_close(arena);
}

/* What is read in order was fetched before: one copy a piece, and one more is under way. */
static void test_read_in_order(void **state)
{
    oc_arena_t *arena = oc_arena_open(PIECE, 16 * PIECE);
    unsigned long long copied = 0;
    oc_stage_t *stage = oc_stage_open(arena, &device, seen, SIZE, &copied);
    char part[1000];

    (void) state;
    assert_int_equal(oc_stage_read(stage, 0, 10, part), OC_OK);
    assert_int_equal(begun, 2);
    for (size_t at = 0; at < SIZE; at += sizeof(part)) {
        size_t length = SIZE - at < sizeof(part) ? SIZE - at : sizeof(part);

        assert_int_equal(oc_stage_read(stage, at, length, part), OC_OK);
        assert_memory_equal(part, memory + at, length);
    }
    assert_int_equal(copied, SIZE);
    assert_int_equal(begun, (SIZE + PIECE - 1) / PIECE);
    oc_stage_close(stage);
    oc_arena_close(arena);
}

/* What is written in order is on its way before anybody flushes: one copy a piece. */
static void test_write_in_order(void **state)
{
    oc_arena_t *arena = oc_arena_open(PIECE, 16 * PIECE);
    unsigned long long copied = 0;
    oc_stage_t *stage = oc_stage_open(arena, &device, seen, SIZE, &copied);
    static char wanted[SIZE];

    (void) state;
    for (size_t at = 0; at < SIZE; at += 1000) {
        size_t length = SIZE - at < 1000 ? SIZE - at : 1000;

        memset(wanted + at, (int) (at / 1000), length);
        assert_int_equal(oc_stage_write(stage, at, length, wanted + at), OC_OK);
    }
    assert_int_equal(begun, SIZE / PIECE);
    assert_int_equal(oc_stage_flush(stage), OC_OK);
    assert_int_equal(begun, SIZE / PIECE + 1);
    assert_int_equal(copied, SIZE);
    assert_memory_equal(memory, wanted, SIZE);
    oc_stage_close(stage);
    oc_arena_close(arena);
}

/* All that is read is what was written last, wherever it is, with little room and with much. */
static void at_random(unsigned pieces, uint64_t seed)
{
    oc_arena_t *arena = oc_arena_open(PIECE, pieces * PIECE);
    unsigned long long copied = 0;
    oc_stage_t *stage = oc_stage_open(arena, &device, seen, SIZE, &copied);
    static char wanted[SIZE], part[3 * PIECE];
    oc_random_t random = {seed};

    memcpy(wanted, memory, SIZE);
    for (unsigned i = 0; i < 3000; i++) {
        size_t at = oc_random_below(&random, SIZE);
        size_t length = oc_random_below(&random, 0 == i % 3 ? sizeof(part) : 200);

        length = length < SIZE - at ? length : SIZE - at;
        if (oc_random_chance(&random, 0.5)) {
            memset(wanted + at, (int) i, length);
            assert_int_equal(oc_stage_write(stage, at, length, wanted + at), OC_OK);
        } else {
            assert_int_equal(oc_stage_read(stage, at, length, part), OC_OK);
            assert_memory_equal(part, wanted + at, length);
        }
        if (oc_random_chance(&random, 0.002)) {
            assert_int_equal(oc_stage_flush(stage), OC_OK);
            assert_memory_equal(memory, wanted, SIZE);
        }
    }
    assert_int_equal(oc_stage_flush(stage), OC_OK);
    assert_memory_equal(memory, wanted, SIZE);
    oc_stage_close(stage);
    oc_arena_close(arena);
}

static void test_random(void **state)
{
    (void) state;
    for (uint64_t seed = 1; seed <= 10; seed++) {
        at_random(1, seed);
        at_random(6, seed);
        at_random(100, seed);
    }
}

/* Several writers, each in order, as the blocks of an Allgather come: no copy of less than a piece. */
static void test_writers(void **state)
{
    oc_arena_t *arena = oc_arena_open(PIECE, 16 * PIECE);
    unsigned long long copied = 0;
    oc_stage_t *stage = oc_stage_open(arena, &device, seen, SIZE, &copied);
    static char wanted[8 * 4 * PIECE];
    const size_t block = 4 * PIECE;

    (void) state;
    for (size_t i = 0; i < sizeof(wanted); i++) {
        wanted[i] = (char) (i * 13);
    }
    for (size_t at = 0; at < block; at += 512) {
        for (size_t writer = 0; writer < 8; writer++) {
            size_t place = writer * block + at;

            assert_int_equal(oc_stage_write(stage, place, 512, wanted + place), OC_OK);
        }
    }
    assert_int_equal(oc_stage_flush(stage), OC_OK);
    assert_int_equal(begun, 8 * 4);
    assert_memory_equal(memory, wanted, sizeof(wanted));
    oc_stage_close(stage);
    oc_arena_close(arena);
}

/* The first error stays, and nothing that was begun is left behind. */
static void test_errors(void **state)
{
    oc_arena_t *arena = oc_arena_open(PIECE, 8 * PIECE);
    unsigned long long copied = 0;
    oc_stage_t *stage = oc_stage_open(arena, &device, seen, SIZE, &copied);
    char part[100];

    (void) state;
    assert_int_equal(oc_stage_read(stage, 0, sizeof(part), part), OC_OK);
    until_failure = 0;
    assert_int_equal(oc_stage_read(stage, 20 * PIECE, sizeof(part), part), OC_ERR_SYSTEM);
    until_failure = -1;
    assert_int_equal(oc_stage_status(stage), OC_ERR_SYSTEM);
    assert_int_equal(oc_stage_write(stage, 0, sizeof(part), part), OC_ERR_SYSTEM);
    assert_int_equal(oc_stage_flush(stage), OC_ERR_SYSTEM);
    assert_string_equal(oc_stage_reason(stage), "it is broken");
    oc_stage_close(stage);
    oc_arena_close(arena);
}

/* Closed with copies under way: its pieces go back, and all of them can be taken. */
static void test_close(void **state)
{
    oc_arena_t *arena = oc_arena_open(PIECE, 5 * PIECE);
    oc_piece_t *pieces[5];
    unsigned long long copied = 0;
    oc_stage_t *stage = oc_stage_open(arena, &device, seen, SIZE, &copied);
    static char part[3 * PIECE];

    (void) state;
    assert_int_equal(oc_stage_write(stage, 1, sizeof(part), part), OC_OK);
    assert_int_equal(oc_stage_read(stage, 10 * PIECE, 1, part), OC_OK);
    oc_stage_close(stage);
    for (unsigned i = 0; i < 5; i++) {
        pieces[i] = oc_arena_take(arena);
        assert_non_null(pieces[i]);
    }
    for (unsigned i = 0; i < 5; i++) {
        oc_arena_give(arena, pieces[i]);
    }
    oc_arena_close(arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_arena, setup, teardown),
        cmocka_unit_test_setup_teardown(test_piece, setup, teardown),
        cmocka_unit_test_setup_teardown(test_read_in_order, setup, teardown),
        cmocka_unit_test_setup_teardown(test_write_in_order, setup, teardown),
        cmocka_unit_test_setup_teardown(test_random, setup, teardown),
        cmocka_unit_test_setup_teardown(test_writers, setup, teardown),
        cmocka_unit_test_setup_teardown(test_errors, setup, teardown),
        cmocka_unit_test_setup_teardown(test_close, setup, teardown),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
