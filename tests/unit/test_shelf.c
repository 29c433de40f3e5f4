/* SPDX-License-Identifier: BSD-3-Clause */
/* Messages laid out in shared memory: places, readers that are slow, wrong, dead or late. */
/* Test: quick 120 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "multicast/peers/shelf.h"

#define LONGEST 5000u
#define ROUNDS  2000u
#define RACES   10000u

static char error[256];
static oc_shelf_t *shelf;
static oc_shelf_view_t *view;
static uint8_t bytes[LONGEST];

/* Stand for readers. */
static const char first, second;

static oc_shelf_view_t *look_at(const oc_shelf_t *at)
{
    uint8_t name[OC_SEGMENT_NAME_SIZE];
    oc_shelf_view_t *result = NULL;

    oc_shelf_name(at, name);
    assert_int_equal(oc_shelf_view_open(name, LONGEST, &result, error, sizeof(error)), OC_OK);
    assert_true(oc_shelf_view_is(result, name));
    name[OC_SEGMENT_NAME_SIZE - 1] ^= 1;
    assert_false(oc_shelf_view_is(result, name));
    return result;
}

static int setup(void **state)
{
    (void) state;
    assert_int_equal(oc_shelf_open(LONGEST, &shelf, error, sizeof(error)), OC_OK);
    view = look_at(shelf);
    memset(bytes, 0, sizeof(bytes));
    return 0;
}

static int teardown(void **state)
{
    (void) state;
    oc_shelf_view_close(view);
    oc_shelf_close(shelf);
    return 0;
}

static uint8_t byte_at(size_t seed, size_t i)
{
    return (uint8_t) (seed * 31 + i * 7 + i / 251);
}

static bool lay(const void *reader, size_t seed, size_t head, size_t data, oc_cast_place_t *place)
{
    uint8_t message[LONGEST + 1];

    for (size_t i = 0; i < head + data; i++) {
        message[i] = byte_at(seed, i);
    }
    return oc_shelf_lay(shelf, reader, message, head, message + head, data, place);
}

static bool is_right(size_t seed, size_t length)
{
    for (size_t i = 0; i < length; i++) {
        if (byte_at(seed, i) != bytes[i]) {
            return false;
        }
    }
    return true;
}

static void test_messages_of_all_lengths(void **state)
{
    oc_cast_place_t place;

    (void) state;
    for (size_t length = 1; length <= LONGEST; length = length < 40 ? length + 1 : length + 991) {
        size_t head = length / 3;

        assert_true(lay(&first, length, head, length - head, &place));
        assert_int_equal(place.length, length);
        assert_true(oc_shelf_take(view, &place, bytes));
        assert_true(is_right(length, length));
        assert_false(oc_shelf_take(view, &place, bytes)); /* it was taken */
    }
    assert_true(lay(&first, 3, LONGEST, 0, &place));
    assert_true(oc_shelf_take(view, &place, bytes));
    assert_true(is_right(3, LONGEST));
    assert_false(lay(&first, 0, 1, LONGEST, &place));
    assert_false(lay(&first, 0, LONGEST + 1, 0, &place));
}

/* One reader cannot take all the room, all readers cannot take more than there is. */
static void test_no_room(void **state)
{
    oc_cast_place_t places[OC_SHELF_SLOTS + 1], place;
    const char readers[OC_SHELF_SLOTS / OC_SHELF_SHARE + 1] = {0};
    unsigned count = 0;

    (void) state;
    for (unsigned reader = 0; reader < OC_SHELF_SLOTS / OC_SHELF_SHARE; reader++) {
        for (unsigned i = 0; i < OC_SHELF_SHARE; i++, count++) {
            assert_true(lay(&readers[reader], count, 8, 100, &places[count]));
        }
        assert_false(lay(&readers[reader], count, 8, 100, &places[count]));
    }
    assert_int_equal(count, OC_SHELF_SLOTS);
    assert_false(lay(&readers[OC_SHELF_SLOTS / OC_SHELF_SHARE], 0, 8, 100, &place));
    for (unsigned i = 0; i < count; i++) {
        assert_true(oc_shelf_take(view, &places[i], bytes));
        assert_true(is_right(i, 108));
    }
    assert_true(lay(&readers[0], 1, 8, 100, &place));
    assert_true(oc_shelf_take(view, &place, bytes));
}

/* Whatever is said about a place: only what lies there is taken, and nothing else is touched. */
static void test_bad_places(void **state)
{
    oc_cast_place_t place, bad;

    (void) state;
    assert_true(lay(&first, 1, 8, 100, &place));
    for (unsigned i = 0; i < 32; i++) {
        bad = place;
        bad.slot ^= 1u << i;
        assert_false(oc_shelf_take(view, &bad, bytes));
        bad = place;
        bad.generation ^= 1u << i;
        assert_false(oc_shelf_take(view, &bad, bytes));
    }
    bad = place;
    bad.slot = OC_SHELF_SLOTS;
    assert_false(oc_shelf_take(view, &bad, bytes));
    bad = place;
    bad.length = LONGEST + 1;
    assert_false(oc_shelf_take(view, &bad, bytes));
    bad.length = UINT32_MAX;
    assert_false(oc_shelf_take(view, &bad, bytes));
    bad = (oc_cast_place_t) {.slot = place.slot + 1}; /* where nothing was laid yet */
    assert_false(oc_shelf_take(view, &bad, bytes));
    assert_true(oc_shelf_take(view, &place, bytes));
    assert_true(is_right(1, 108));
}

static void count_each(void *arg, const uint8_t *message, size_t length)
{
    unsigned *count = arg;

    assert_true(length <= LONGEST);
    memcpy(bytes, message, length);
    assert_true(is_right(*count, length));
    (*count)++;
}

/* A reader that is given up: its slots are free for others, and it changes nothing any more. */
static void test_reader_that_is_given_up(void **state)
{
    oc_cast_place_t places[OC_SHELF_SHARE], kept, place;
    unsigned count = 0;

    (void) state;
    assert_true(lay(&second, 77, 8, 100, &kept));
    for (unsigned i = 0; i < OC_SHELF_SHARE; i++) {
        assert_true(lay(&first, i, 8, i, &places[i]));
    }
    oc_shelf_clear(shelf, &first, count_each, &count);
    assert_int_equal(count, OC_SHELF_SHARE);
    for (unsigned i = 0; i < OC_SHELF_SHARE; i++) {
        assert_false(oc_shelf_take(view, &places[i], bytes));
    }
    for (unsigned i = 0; i < OC_SHELF_SHARE; i++) { /* the slots are used again */
        assert_true(lay(&first, 100 + i, 8, 50, &place));
        assert_false(oc_shelf_take(view, &places[i], bytes));
        places[i] = place;
    }
    assert_false(lay(&first, 0, 8, 50, &place));
    for (unsigned i = 0; i < OC_SHELF_SHARE; i++) {
        assert_true(oc_shelf_take(view, &places[i], bytes));
        assert_true(is_right(100 + i, 58));
    }
    assert_true(oc_shelf_take(view, &kept, bytes));
    assert_true(is_right(77, 108));
    oc_shelf_clear(shelf, &first, count_each, &count); /* of what was taken nothing is left */
    assert_int_equal(count, OC_SHELF_SHARE);
}

/* In a process of its own: takes what it is told of, until it has had so many. */
static int read_all(const uint8_t *name, int input, int output, unsigned rounds)
{
    oc_shelf_view_t *mine = NULL;
    oc_cast_place_t place;

    if (OC_OK != oc_shelf_view_open(name, LONGEST, &mine, error, sizeof(error))) {
        return 1;
    }
    for (unsigned i = 0; i < rounds; i++) {
        if (sizeof(place) != read(input, &place, sizeof(place))
            || !oc_shelf_take(mine, &place, bytes) || !is_right(i, place.length)
            || 1 != write(output, "", 1)) {
            return 2;
        }
    }
    oc_shelf_view_close(mine);
    return 0;
}

typedef struct {
    pid_t pid;
    int to, from;
} reader_t;

static reader_t start_reader(unsigned rounds)
{
    uint8_t name[OC_SEGMENT_NAME_SIZE];
    int there[2], back[2];
    reader_t reader;

    oc_shelf_name(shelf, name);
    assert_int_equal(pipe(there), 0);
    assert_int_equal(pipe(back), 0);
    reader.pid = fork();
    assert_true(reader.pid >= 0);
    if (0 == reader.pid) {
        close(there[1]);
        _exit(read_all(name, there[0], back[1], rounds));
    }
    close(there[0]);
    close(back[1]);
    reader.to = there[1];
    reader.from = back[0];
    return reader;
}

static void end_reader(const reader_t *reader)
{
    int status;

    close(reader->to);
    close(reader->from);
    assert_int_equal(waitpid(reader->pid, &status, 0), reader->pid);
    assert_int_equal(status, 0);
}

static void tell(const reader_t *reader, const oc_cast_place_t *place)
{
    assert_int_equal(write(reader->to, place, sizeof(*place)), sizeof(*place));
}

/* Many more messages than slots: they come round, and none is overwritten before it was taken. */
static void test_another_process(void **state)
{
    reader_t reader = start_reader(ROUNDS);
    unsigned laid = 0, taken = 0;
    oc_cast_place_t place;
    char byte;

    (void) state;
    alarm(60);
    while (taken < ROUNDS) {
        while (laid < ROUNDS && lay(&first, laid, 16, laid % (LONGEST - 16), &place)) {
            tell(&reader, &place);
            laid++;
        }
        assert_int_equal(read(reader.from, &byte, 1), 1);
        taken++;
    }
    alarm(0);
    end_reader(&reader);
}

/* It died with messages: they stay until it is known, and no longer. */
static void test_reader_that_dies(void **state)
{
    reader_t reader = start_reader(1);
    oc_cast_place_t place;
    unsigned laid = 0;

    (void) state;
    while (lay(&first, laid, 16, 500, &place)) {
        if (0 == laid++) {
            tell(&reader, &place);
        }
    }
    end_reader(&reader);
    assert_in_range(laid, OC_SHELF_SHARE, OC_SHELF_SHARE + 1);
    while (laid < OC_SHELF_SHARE + 1) { /* what it has taken is free */
        assert_true(lay(&first, laid++, 16, 500, &place));
    }
    assert_false(lay(&first, 0, 16, 500, &place));
    oc_shelf_clear(shelf, &first, NULL, NULL);
    for (unsigned i = 0; i < OC_SHELF_SHARE; i++) {
        assert_true(lay(&first, i, 16, 500, &place));
    }
}

/* What was laid out can be taken when its maker has closed, but nobody finds it any more. */
static void test_views_outlive_the_shelf(void **state)
{
    oc_shelf_view_t *late = NULL;
    uint8_t name[OC_SEGMENT_NAME_SIZE];
    oc_cast_place_t place;

    (void) state;
    assert_true(lay(&first, 5, 16, 500, &place));
    oc_shelf_name(shelf, name);
    oc_shelf_close(shelf);
    shelf = NULL;
    assert_true(oc_shelf_take(view, &place, bytes));
    assert_true(is_right(5, 516));
    assert_int_equal(oc_shelf_view_open(name, LONGEST, &late, error, sizeof(error)),
                     OC_ERR_UNREACHABLE);
    assert_null(late);
}

/* In a process of its own: takes what it sees last until there is nothing more. 0: all right. */
static int snatch(const oc_cast_place_t *last, const atomic_bool *over)
{
    while (!atomic_load(over)) {
        oc_cast_place_t place = *last; /* any mixture of two places */

        if (oc_shelf_take(view, &place, bytes) && !is_right(place.generation, place.length)) {
            return 3;
        }
    }
    return 0;
}

/* It is given up while it copies: whatever it then has is no message. */
static void test_race_with_the_owner(void **state)
{
    struct {
        oc_cast_place_t last;
        atomic_bool over;
    } *common = mmap(NULL, sizeof(*common), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS,
                     -1, 0);
    int status;
    pid_t child;

    (void) state;
    assert_ptr_not_equal(common, MAP_FAILED);
    child = fork();
    assert_true(child >= 0);
    if (0 == child) {
        _exit(snatch(&common->last, &common->over));
    }
    for (unsigned i = 1; i <= RACES; i++) {
        assert_true(lay(&first, i, 8, LONGEST - 8, &common->last));
        for (unsigned k = 0; k < i % 64; k++) {
            atomic_signal_fence(memory_order_seq_cst);
        }
        oc_shelf_clear(shelf, &first, NULL, NULL);
    }
    atomic_store(&common->over, true);
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
    munmap(common, sizeof(*common));
}

static void test_shelf_of_other_messages(void **state)
{
    oc_shelf_view_t *other = NULL;
    uint8_t name[OC_SEGMENT_NAME_SIZE];

    (void) state;
    oc_shelf_name(shelf, name);
    assert_int_equal(oc_shelf_view_open(name, LONGEST + 64, &other, error, sizeof(error)),
                     OC_ERR_UNREACHABLE);
    assert_null(other);
    assert_non_null(strstr(error, "is for other messages"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_messages_of_all_lengths, setup, teardown),
        cmocka_unit_test_setup_teardown(test_no_room, setup, teardown),
        cmocka_unit_test_setup_teardown(test_bad_places, setup, teardown),
        cmocka_unit_test_setup_teardown(test_reader_that_is_given_up, setup, teardown),
        cmocka_unit_test_setup_teardown(test_another_process, setup, teardown),
        cmocka_unit_test_setup_teardown(test_reader_that_dies, setup, teardown),
        cmocka_unit_test_setup_teardown(test_race_with_the_owner, setup, teardown),
        cmocka_unit_test_setup_teardown(test_views_outlive_the_shelf, setup, teardown),
        cmocka_unit_test_setup_teardown(test_shelf_of_other_messages, setup, teardown),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
