/* SPDX-License-Identifier: BSD-3-Clause */
/* Owns the unit tests of the data tag: where the fields are and that none touches another. */
/* Test: quick 120 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <unistd.h>

#include "base/limits.h"
#include "protocol/tag.h"

/* The fields of the picture in the header file, each full of ones. */
#define KIND_FIELD     0xf000000000000000ull
#define HANDLE_FIELD   0x0fffff0000000000ull
#define RANK_FIELD     0x000000ffff000000ull
#define SEQUENCE_FIELD 0x0000000000fff000ull
#define SLOT_FIELD     0x0000000000000fffull

static void assert_u64(uint64_t got, uint64_t expected)
{
    assert_true(got == expected);
}

static void test_places(void **state)
{
    (void) state;
    assert_u64(oc_tag((oc_kind_t) 0xf, 0, 0, 0, 0), KIND_FIELD);
    assert_u64(oc_tag((oc_kind_t) 0, OC_HANDLE_MAX, 0, 0, 0), HANDLE_FIELD);
    assert_u64(oc_tag((oc_kind_t) 0, 0, OC_MAX_RANKS - 1, 0, 0), RANK_FIELD);
    assert_u64(oc_tag((oc_kind_t) 0, 0, 0, 0xfff, 0), SEQUENCE_FIELD);
    assert_u64(oc_tag((oc_kind_t) 0, 0, 0, 0, 0xfff), SLOT_FIELD);
    assert_u64(KIND_FIELD | HANDLE_FIELD | RANK_FIELD | SEQUENCE_FIELD | SLOT_FIELD, UINT64_MAX);
    assert_u64(oc_tag(OC_KIND_REPLY, 0xabcde, 0x1234, 0x567, 0x89a), 0x4abcde1234567 << 12 | 0x89a);
}

/* A number that is too large for its field loses its high bits and changes no other field. */
static void test_no_overlap(void **state)
{
    (void) state;
    assert_u64(oc_tag((oc_kind_t) 0, UINT32_MAX, 0, 0, 0), HANDLE_FIELD);
    assert_u64(oc_tag((oc_kind_t) 0, 0, UINT32_MAX, 0, 0), RANK_FIELD);
    assert_u64(oc_tag((oc_kind_t) 0, 0, 0, UINT64_MAX, 0), SEQUENCE_FIELD);
    assert_u64(oc_tag((oc_kind_t) 0, 0, 0, 0, UINT64_MAX), SLOT_FIELD);
    assert_u64(oc_tag((oc_kind_t) 0, 1u << 20, 1u << 16, 1u << 12, 1u << 12), 0);
}

static void test_getters(void **state)
{
    static const uint32_t handles[] = {0, 1, 0x12345, OC_HANDLE_MAX};
    static const uint32_t ranks[] = {0, 1, 0x8001, OC_MAX_RANKS - 1};

    (void) state;
    for (int kind = OC_KIND_REQUEST; kind <= OC_KIND_REPLY; kind++) {
        for (int i = 0; i < 16; i++) {
            uint64_t tag = oc_tag((oc_kind_t) kind, handles[i % 4], ranks[i / 4], UINT64_MAX,
                                  UINT64_MAX);

            assert_int_equal(oc_tag_kind(tag), kind);
            assert_int_equal(oc_tag_handle(tag), handles[i % 4]);
            assert_int_equal(oc_tag_rank(tag), ranks[i / 4]);
            assert_u64(tag & OC_TAG_KIND_MASK, (uint64_t) kind << 60);
        }
    }
}

/* What the comment in the header file rests on. */
static void test_room(void **state)
{
    (void) state;
    assert_true(2 * OC_MAX_SPAN <= 1 << OC_TAG_SEQUENCE_BITS);
    assert_true(2 * OC_MAX_WINDOW <= 1 << OC_TAG_SLOT_BITS);
    assert_true(OC_MAX_RANKS <= 1 << 16);
    assert_true(OC_MAX_GROUP_AGGREGATORS <= 1 << 16);
    assert_true(OC_MAX_LANES <= 1 << 16);
    assert_u64(OC_TAG_EXACT, UINT64_MAX);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_places),
        cmocka_unit_test(test_no_overlap),
        cmocka_unit_test(test_getters),
        cmocka_unit_test(test_room),
    };

    alarm(30);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
