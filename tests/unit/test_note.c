/* SPDX-License-Identifier: BSD-3-Clause */
/* Owns the unit tests of notes about shared memory. */
/* Test: quick 120 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <string.h>

#include "multicast/peers/note.h"
#include "tests/unit/fence.h"

static fence_t fence;

static int setup(void **state)
{
    (void) state;
    fence_open(&fence, OC_NOTE_SIZE + 1);
    return 0;
}

static int teardown(void **state)
{
    (void) state;
    fence_close(&fence);
    return 0;
}

static oc_note_t legal(oc_note_kind_t kind)
{
    oc_note_t note = {.kind = kind, .process = 0xa1b2c3d4,
                      .serial = 0x0123456789abcdefull};

    for (unsigned i = 0; i < sizeof(note.shelf); i++) {
        note.shelf[i] = (uint8_t) (0x30 + i);
    }
    if (OC_NOTE_LAID == kind) {
        note.place = (oc_cast_place_t) {
            .slot = 0x10203040, .generation = 0x50607080, .length = 0x90a0b0c0};
    }
    return note;
}

static bool judge(const uint8_t *bytes, size_t length, oc_note_t *note)
{
    memset(note, 0x5a, sizeof(*note));
    return oc_note_decode(fence_copy(&fence, bytes, length), length, note);
}

static void test_layout(void **state)
{
    static const uint8_t expected[OC_NOTE_SIZE] =
        "\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0ON\2\1\xd4\xc3\xb2\xa1"
        "\xef\xcd\xab\x89\x67\x45\x23\x01"
        "0123456789:;<=>?@ABCDEFGHIJKLMNO"
        "\x40\x30\x20\x10\x80\x70\x60\x50\xc0\xb0\xa0\x90";
    oc_note_t note = legal(OC_NOTE_LAID);
    uint8_t bytes[OC_NOTE_SIZE];

    (void) state;
    oc_note_encode(&note, bytes);
    assert_memory_equal(bytes, expected, sizeof(bytes));
}

static void test_round_trip(void **state)
{
    uint8_t bytes[OC_NOTE_SIZE];
    oc_note_t got;

    (void) state;
    for (int kind = OC_NOTE_LAID; kind < OC_NOTE_KINDS; kind++) {
        oc_note_t note = legal((oc_note_kind_t) kind);

        oc_note_encode(&note, bytes);
        assert_true(judge(bytes, sizeof(bytes), &got));
        assert_int_equal(got.kind, kind);
        assert_int_equal(got.process, note.process);
        assert_int_equal(got.serial, note.serial);
        assert_memory_equal(got.shelf, note.shelf, sizeof(note.shelf));
        assert_int_equal(got.place.slot, note.place.slot);
        assert_int_equal(got.place.generation, note.place.generation);
        assert_int_equal(got.place.length, note.place.length);
    }
}

static void test_what_is_refused(void **state)
{
    oc_note_t note = legal(OC_NOTE_LAID), got;
    uint8_t bytes[OC_NOTE_SIZE + 1] = {0};

    (void) state;
    oc_note_encode(&note, bytes);
    for (size_t length = 0; length < OC_NOTE_SIZE; length++) {
        assert_false(judge(bytes, length, &got));
    }
    assert_false(judge(bytes, OC_NOTE_SIZE + 1, &got));
    for (unsigned at = OC_MAC_SIZE; at < OC_MAC_SIZE + 3; at++) { /* magic and version */
        bytes[at] ^= 1;
        assert_false(judge(bytes, OC_NOTE_SIZE, &got));
        bytes[at] ^= 1;
    }
    for (unsigned kind = 0; kind < 256; kind++) { /* REFUSED: it has no place */
        bytes[OC_MAC_SIZE + 3] = (uint8_t) kind;
        assert_int_equal(judge(bytes, OC_NOTE_SIZE, &got), OC_NOTE_LAID == kind);
    }
}

/* For one receiver, of one sender, and not changed. */
static void test_codes(void **state)
{
    static const uint8_t key[32] = {1};
    oc_mac_t *mac = oc_mac_new(key, sizeof(key), OC_NOTE_PURPOSE, NULL, 0);
    oc_note_t note = legal(OC_NOTE_LAID), got;
    uint8_t bytes[OC_NOTE_SIZE];

    (void) state;
    assert_non_null(mac);
    oc_note_encode(&note, bytes);
    assert_false(oc_note_fits(mac, 7, &note, bytes));
    oc_note_seal(mac, 7, &note, bytes);
    assert_true(oc_note_fits(mac, 7, &note, bytes));
    assert_false(oc_note_fits(mac, 8, &note, bytes));
    for (unsigned bit = 0; bit < 8 * sizeof(bytes); bit++) {
        bytes[bit / 8] ^= (uint8_t) (1u << bit % 8);
        assert_false(oc_note_decode(bytes, sizeof(bytes), &got)
                     && oc_note_fits(mac, 7, &got, bytes));
        bytes[bit / 8] ^= (uint8_t) (1u << bit % 8);
    }
    oc_mac_free(mac);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_layout, setup, teardown),
        cmocka_unit_test_setup_teardown(test_round_trip, setup, teardown),
        cmocka_unit_test_setup_teardown(test_what_is_refused, setup, teardown),
        cmocka_unit_test_setup_teardown(test_codes, setup, teardown),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
