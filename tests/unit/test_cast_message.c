/* SPDX-License-Identifier: BSD-3-Clause */
/* Owns the unit tests of messages between ranks of a multicast group. */
/* Test: quick 120 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <string.h>

#include "multicast/core/cast_core.h"
#include "multicast/wire/cast_message.h"
#include "multicast/wire/contact.h"
#include "tests/unit/fence.h"

static uint8_t buffer[OC_CAST_MESSAGE_MAX];
static fence_t fence;

static bool has_ranges(oc_cast_kind_t kind)
{
    return OC_CAST_REQUEST == kind || OC_CAST_REPAIR == kind;
}

static bool has_data(oc_cast_kind_t kind)
{
    return OC_CAST_ABORT == kind || OC_CAST_REPAIR == kind || OC_CAST_FIND == kind
           || OC_CAST_FOUND == kind;
}

static oc_cast_message_t legal(oc_cast_kind_t kind)
{
    oc_cast_message_t message = {
        .kind = kind, .rank = 0xa1b2c3, .token = 0x0123456789abcdefull,
        .generation = 0xfedcba98, .serial = 0xfedcba9876543210ull, .block = 0x10203040,
        .number = 0x50607080, .last = true, .wait = true, .given = 0x31425364, .num_ranges = 3,
        .status = -7, .origin = 0x2a3b4c5d, .target = 0x6e7f8091};

    for (uint32_t i = 0; i < OC_CAST_MAX_RANGES; i++) {
        message.ranges[i] = (oc_cast_range_t) {.first = 0x89000000u + i, .count = 0x76000000u + i};
    }
    return message;
}

/* Length of the message in buffer, with length bytes of data behind it. */
static size_t encode(const oc_cast_message_t *message, size_t length)
{
    uint8_t head[OC_CAST_HEAD_MAX];
    size_t size = oc_cast_encode(message, head);

    assert_in_range(size, 44, OC_CAST_HEAD_MAX);
    memcpy(buffer, head, size);
    for (size_t i = 0; i < length; i++) {
        buffer[size + i] = (uint8_t) (i + 1);
    }
    return size + length;
}

static bool judge(size_t length, oc_cast_message_t *message)
{
    memset(message, 0x5a, sizeof(*message));
    return oc_cast_decode(fence_copy(&fence, buffer, length), length, message);
}

static int setup(void **state)
{
    (void) state;
    fence_open(&fence, sizeof(buffer));
    return 0;
}

static int teardown(void **state)
{
    (void) state;
    fence_close(&fence);
    return 0;
}

static void compare(const oc_cast_message_t *got, const oc_cast_message_t *message)
{
    assert_int_equal(got->kind, message->kind);
    assert_int_equal(got->rank, message->rank);
    assert_int_equal(got->token, message->token);
    assert_int_equal(got->generation, message->generation);
    assert_int_equal(got->serial, message->serial);
    assert_int_equal(got->last, OC_CAST_REPAIR == message->kind);
    assert_int_equal(got->wait, OC_CAST_REQUEST == message->kind);
    assert_int_equal(got->num_ranges, has_ranges(message->kind) ? message->num_ranges : 0);
    if (has_ranges(message->kind)) {
        assert_memory_equal(got->ranges, message->ranges,
                            message->num_ranges * sizeof(oc_cast_range_t));
    }
    if (has_ranges(message->kind) || OC_CAST_POLL == message->kind
        || OC_CAST_SENT == message->kind || OC_CAST_WITHDRAW == message->kind) {
        assert_int_equal(got->block, message->block);
        assert_int_equal(got->number, message->number);
    }
    if (OC_CAST_REPAIR == message->kind) {
        assert_int_equal(got->given, message->given);
    }
    if (OC_CAST_ABORT == message->kind) {
        assert_int_equal(got->status, message->status);
    }
    if (OC_CAST_FIND == message->kind || OC_CAST_FOUND == message->kind) {
        assert_int_equal(got->origin, message->origin);
        assert_int_equal(got->target, message->target);
    }
}

static void test_round_trip(void **state)
{
    oc_cast_message_t got;

    (void) state;
    for (oc_cast_kind_t kind = OC_CAST_PROBE_REQUEST; kind < OC_CAST_KINDS; kind++) {
        oc_cast_message_t message = legal(kind);
        size_t data = has_data(kind) ? 100 : 0, length = encode(&message, data);

        assert_true(judge(length, &got));
        compare(&got, &message);
        assert_int_equal(got.data_length, data);
        for (size_t i = 0; i < data; i++) {
            assert_int_equal(got.data[i], i + 1);
        }
    }
}

static void test_cut_anywhere(void **state)
{
    oc_cast_message_t got;

    (void) state;
    for (oc_cast_kind_t kind = OC_CAST_PROBE_REQUEST; kind < OC_CAST_KINDS; kind++) {
        oc_cast_message_t message = legal(kind);
        size_t length = encode(&message, 0);

        for (size_t cut = 0; cut < length; cut++) {
            assert_false(judge(cut, &got));
        }
        assert_true(judge(length, &got));
    }
}

static void test_data_where_none_belongs(void **state)
{
    oc_cast_message_t got;

    (void) state;
    for (oc_cast_kind_t kind = OC_CAST_PROBE_REQUEST; kind < OC_CAST_KINDS; kind++) {
        oc_cast_message_t message = legal(kind);

        assert_int_equal(judge(encode(&message, 1), &got), has_data(kind));
    }
}

static void test_longest(void **state)
{
    oc_cast_message_t message = legal(OC_CAST_ABORT), got;
    size_t length;

    (void) state;
    assert_true(judge(encode(&message, OC_CAST_MAX_TEXT), &got));
    assert_false(judge(encode(&message, OC_CAST_MAX_TEXT + 1), &got));
    message = legal(OC_CAST_FIND);
    assert_true(judge(encode(&message, OC_CONTACT_MAX), &got));
    assert_false(judge(encode(&message, OC_CONTACT_MAX + 1), &got));
    message = legal(OC_CAST_REPAIR);
    message.num_ranges = OC_CAST_MAX_RANGES;
    length = encode(&message, 0);
    assert_true(judge(encode(&message, OC_CAST_MESSAGE_MAX - length), &got));
    compare(&got, &message);
    assert_int_equal(got.data_length, OC_CAST_MESSAGE_MAX - length);
}

/* More ranges than there is room for, with enough bytes behind. */
static void test_too_many_ranges(void **state)
{
    static const uint32_t counts[] = {OC_CAST_MAX_RANGES + 1, 0x10000000, UINT32_MAX};
    oc_cast_message_t message = legal(OC_CAST_REQUEST), got;

    (void) state;
    (void) encode(&message, 0);
    for (size_t i = 0; i < sizeof(counts) / sizeof(counts[0]); i++) {
        memcpy(buffer + 53, &counts[i], 4);
        assert_false(judge(sizeof(buffer), &got));
    }
}

static void test_wrong_fields(void **state)
{
    oc_cast_message_t message = legal(OC_CAST_PING), got;
    size_t length = encode(&message, 0);

    (void) state;
    for (size_t at = OC_MAC_SIZE; at < OC_MAC_SIZE + 3; at++) {
        buffer[at] ^= 1;
        assert_false(judge(length, &got));
        buffer[at] ^= 1;
    }
    buffer[OC_MAC_SIZE + 3] = 0;
    assert_false(judge(length, &got));
    buffer[OC_MAC_SIZE + 3] = OC_CAST_KINDS;
    assert_false(judge(length, &got));
}

static void test_token(void **state)
{
    oc_cast_message_t message = legal(OC_CAST_ENTER);
    size_t length = encode(&message, 0);
    uint64_t token = 0;

    (void) state;
    assert_true(oc_cast_message_token(fence_copy(&fence, buffer, length), length, &token));
    assert_int_equal(token, message.token);
    assert_false(oc_cast_message_token(fence_copy(&fence, buffer, 26), 26, &token));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_round_trip, setup, teardown),
        cmocka_unit_test_setup_teardown(test_cut_anywhere, setup, teardown),
        cmocka_unit_test_setup_teardown(test_data_where_none_belongs, setup, teardown),
        cmocka_unit_test_setup_teardown(test_longest, setup, teardown),
        cmocka_unit_test_setup_teardown(test_too_many_ranges, setup, teardown),
        cmocka_unit_test_setup_teardown(test_wrong_fields, setup, teardown),
        cmocka_unit_test_setup_teardown(test_token, setup, teardown),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
