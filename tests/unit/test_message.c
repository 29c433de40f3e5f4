/* SPDX-License-Identifier: BSD-3-Clause */
/* Owns the unit tests of the data-plane header: every field there and back, every wrong one. */
/* Test: quick 120 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdbool.h>
#include <unistd.h>

#include "base/limits.h"
#include "protocol/message.h"
#include "protocol/tag.h"
#include "tests/unit/fence.h"

static uint8_t buffer[OC_HEADER_SIZE + OC_MAX_SMALL + 1];
static fence_t fence;

static oc_header_t legal(uint8_t message)
{
    bool carries = OC_MESSAGE_SMALL == message || OC_MESSAGE_RESULT == message;

    return (oc_header_t) {.message = message, .op = 0xa1, .type = 0xb2, .handle = 0xc3d4e,
                          .rank = 0xf5a6,
                          .chunk_bytes = carries || OC_MESSAGE_RESEND == message ? 200
                                                                                 : 0x00123456,
                          .last_bytes = 0x00123455, .chunks = 0x89abcdef,
                          .sequence = 0x0bcdef123456ull, .count = 0xfedcba9876543210ull};
}

static size_t length_of(const oc_header_t *header)
{
    bool carries = OC_MESSAGE_SMALL == header->message || OC_MESSAGE_RESULT == header->message;

    return OC_HEADER_SIZE + (carries ? header->chunk_bytes : 0);
}

static oc_status_t judge_length(const oc_header_t *header, size_t length, oc_header_t *got)
{
    uint8_t *bytes;

    oc_header_encode(header, buffer);
    bytes = fence_copy(&fence, buffer, length);
    return oc_header_decode(bytes, length, got);
}

static oc_status_t judge(const oc_header_t *header)
{
    oc_header_t got;

    return judge_length(header, length_of(header), &got);
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

static void test_round_trip(void **state)
{
    (void) state;
    for (uint8_t message = OC_MESSAGE_SMALL; message <= OC_MESSAGE_SENT; message++) {
        oc_header_t header = legal(message), got = {0};

        assert_int_equal(judge_length(&header, length_of(&header), &got), OC_OK);
        assert_int_equal(got.message, header.message);
        assert_int_equal(got.op, header.op);
        assert_int_equal(got.type, header.type);
        assert_int_equal(got.handle, header.handle);
        assert_int_equal(got.rank, header.rank);
        assert_int_equal(got.chunk_bytes, header.chunk_bytes);
        assert_int_equal(got.last_bytes, header.last_bytes);
        assert_int_equal(got.chunks, header.chunks);
        assert_true(got.sequence == header.sequence);
        assert_true(got.count == header.count);
    }
}

/* Not a byte of an earlier use of the buffer goes on the wire. */
static void test_no_leftovers(void **state)
{
    oc_header_t header = legal(OC_MESSAGE_START);
    uint8_t first[OC_HEADER_SIZE], second[OC_HEADER_SIZE];

    (void) state;
    memset(first, 0, sizeof(first));
    memset(second, 0xff, sizeof(second));
    oc_header_encode(&header, first);
    oc_header_encode(&header, second);
    assert_memory_equal(first, second, OC_HEADER_SIZE);
}

static void test_wrong_length(void **state)
{
    (void) state;
    for (uint8_t message = OC_MESSAGE_SMALL; message <= OC_MESSAGE_SENT; message++) {
        oc_header_t header = legal(message), got;
        size_t right = length_of(&header);

        for (size_t length = 0; length < right + 100; length++) {
            assert_int_equal(judge_length(&header, length, &got),
                             length == right ? OC_OK : OC_ERR_INVALID);
        }
    }
}

static void test_magic(void **state)
{
    oc_header_t header = legal(OC_MESSAGE_START), got;

    (void) state;
    for (int i = 0; i < 4; i++) {
        oc_header_encode(&header, buffer);
        buffer[i] ^= 1;
        assert_int_equal(oc_header_decode(buffer, OC_HEADER_SIZE, &got), OC_ERR_INVALID);
    }
}

static void test_message_type(void **state)
{
    (void) state;
    for (unsigned message = 0; message < 256; message++) {
        oc_header_t header = legal((uint8_t) message);

        if (message < OC_MESSAGE_SMALL || message > OC_MESSAGE_SENT) {
            assert_int_equal(judge(&header), OC_ERR_INVALID);
        }
    }
}

static void test_handle_and_rank(void **state)
{
    (void) state;
    for (uint8_t message = OC_MESSAGE_SMALL; message <= OC_MESSAGE_SENT; message++) {
        oc_header_t header = legal(message);

        header.handle = OC_HANDLE_MAX;
        header.rank = OC_MAX_RANKS - 1;
        assert_int_equal(judge(&header), OC_OK);
        header.handle = OC_HANDLE_MAX + 1;
        assert_int_equal(judge(&header), OC_ERR_INVALID);
        header.handle = 0;
        header.rank = OC_MAX_RANKS;
        assert_int_equal(judge(&header), OC_ERR_INVALID);
        header.rank = UINT32_MAX;
        assert_int_equal(judge(&header), OC_ERR_INVALID);
    }
}

static void test_small_sizes(void **state)
{
    static const uint8_t kinds[] = {OC_MESSAGE_SMALL, OC_MESSAGE_RESULT, OC_MESSAGE_RESEND};

    (void) state;
    for (int i = 0; i < 3; i++) {
        oc_header_t header = legal(kinds[i]);

        header.chunk_bytes = 1;
        assert_int_equal(judge(&header), OC_OK);
        header.chunk_bytes = OC_MAX_SMALL;
        assert_int_equal(judge(&header), OC_OK);
        header.chunk_bytes = OC_MAX_SMALL + 1;
        assert_int_equal(judge(&header), OC_ERR_INVALID);
        header.chunk_bytes = 0;
        assert_int_equal(judge(&header), OC_ERR_INVALID);
    }
}

static void expect_start(uint32_t chunk_bytes, uint32_t last_bytes, uint32_t chunks, bool right)
{
    oc_header_t header = legal(OC_MESSAGE_START);

    header.chunk_bytes = chunk_bytes;
    header.last_bytes = last_bytes;
    header.chunks = chunks;
    assert_int_equal(judge(&header), right ? OC_OK : OC_ERR_INVALID);
}

static void test_start_sizes(void **state)
{
    (void) state;
    expect_start(1, 1, 1, true);
    expect_start(OC_MAX_CHUNK, OC_MAX_CHUNK, UINT32_MAX, true);
    expect_start(OC_MAX_CHUNK + 1, 1, 1, false);
    expect_start(UINT32_MAX, 1, 1, false);
    expect_start(0, 0, 1, false);
    expect_start(100, 0, 1, false);
    expect_start(100, 101, 1, false);
    expect_start(100, 100, 0, false);
}

/* Two fields of START say something else then; of other messages they do not. */
static void test_ownership(void **state)
{
    oc_header_t header = legal(OC_MESSAGE_START), got;

    (void) state;
    header.to = OC_TO_OWNERS;
    header.chunks = 1000;
    header.own = (oc_ownership_t) {.first = 990, .chunks = 10, .gives = true, .cut = 0xbeef};
    assert_int_equal(judge_length(&header, OC_HEADER_SIZE, &got), OC_OK);
    assert_int_equal(got.to, OC_TO_OWNERS);
    assert_int_equal(got.own.first, 990);
    assert_int_equal(got.own.chunks, 10);
    assert_true(got.own.gives);
    assert_int_equal(got.own.cut, 0xbeef);
    assert_int_equal(got.rank, header.rank);
    assert_int_equal(got.last_bytes, 0);
    header.own = (oc_ownership_t) {.first = 1000, .chunks = 0};
    assert_int_equal(judge_length(&header, OC_HEADER_SIZE, &got), OC_OK);
    assert_false(got.own.gives);
    header.own = (oc_ownership_t) {.first = 991, .chunks = 10};
    assert_int_equal(judge(&header), OC_ERR_INVALID);
    header.own = (oc_ownership_t) {.first = UINT32_MAX, .chunks = 2};
    assert_int_equal(judge(&header), OC_ERR_INVALID);
    header.chunks = 0;
    header.own = (oc_ownership_t) {0};
    assert_int_equal(judge(&header), OC_ERR_INVALID);
    header = legal(OC_MESSAGE_SENT);
    header.to = OC_TO_OWNERS;
    assert_int_equal(judge_length(&header, OC_HEADER_SIZE, &got), OC_OK);
    assert_int_equal(got.to, OC_TO_OWNERS);
    assert_int_equal(got.last_bytes, header.last_bytes);
    assert_int_equal(got.own.first + got.own.chunks + got.own.gives, 0);
}

static void test_chunks(void **state)
{
    oc_header_t header = legal(OC_MESSAGE_ACK);

    (void) state;
    header.chunks = 0;
    assert_int_equal(judge(&header), OC_ERR_INVALID);
    header = legal(OC_MESSAGE_COMMIT);
    header.chunks = 0;
    assert_int_equal(judge(&header), OC_ERR_INVALID);
    header = legal(OC_MESSAGE_RESEND);
    header.chunks = 0;
    assert_int_equal(judge(&header), OC_OK);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_round_trip),
        cmocka_unit_test(test_no_leftovers),
        cmocka_unit_test(test_wrong_length),
        cmocka_unit_test(test_magic),
        cmocka_unit_test(test_message_type),
        cmocka_unit_test(test_handle_and_rank),
        cmocka_unit_test(test_small_sizes),
        cmocka_unit_test(test_start_sizes),
        cmocka_unit_test(test_ownership),
        cmocka_unit_test(test_chunks),
    };

    alarm(30);
    return cmocka_run_group_tests(tests, setup, teardown);
}
