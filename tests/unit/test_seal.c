/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Owns the unit tests of the codes of data messages: what passes, and what makes two messages
 * different.
 */
/* Test: quick 30 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdbool.h>
#include <string.h>
#include <unistd.h>

#include "protocol/seal.h"

#define BYTES  200u
#define LENGTH (OC_HEADER_SIZE + BYTES)
#define GROUP  0x0000120000340000ull
#define INDEX  17u

static const uint8_t key[OC_JOB_KEY_SIZE] = {3, 1, 4, 1, 5, 9};
static oc_mac_t *mac;
static uint8_t message[LENGTH];

static int setup(void **state)
{
    (void) state;
    mac = oc_seal_new(key, 0);
    for (unsigned i = 0; i < LENGTH; i++) {
        message[i] = (uint8_t) (7 * i);
    }
    return NULL == mac ? -1 : 0;
}

static int teardown(void **state)
{
    (void) state;
    oc_mac_free(mac);
    return 0;
}

static oc_header_t small(void)
{
    return (oc_header_t) {.message = OC_MESSAGE_SMALL, .op = 1, .type = 5, .handle = 0x12345,
                          .rank = 9, .chunk_bytes = BYTES, .sequence = 4711, .count = BYTES / 4};
}

static void seal(oc_mac_t *with, uint64_t group, uint32_t index, const oc_header_t *header)
{
    oc_header_encode(header, message);
    oc_seal(with, group, index, header, message, LENGTH);
}

/* As who gets it judges. */
static bool passes(oc_mac_t *with, uint64_t group, uint32_t index, size_t length)
{
    oc_header_t header;

    return OC_OK == oc_header_decode(message, length, &header)
           && oc_is_sealed(with, group, index, &header, message, length);
}

static void test_whole_message(void **state)
{
    oc_header_t header = small();

    (void) state;
    seal(mac, GROUP, INDEX, &header);
    assert_true(passes(mac, GROUP, INDEX, LENGTH));
    for (unsigned bit = 0; bit < 8 * LENGTH; bit++) {
        message[bit / 8] ^= (uint8_t) (1u << bit % 8);
        assert_false(passes(mac, GROUP, INDEX, LENGTH));
        message[bit / 8] ^= (uint8_t) (1u << bit % 8);
    }
    assert_true(passes(mac, GROUP, INDEX, LENGTH));
}

/* One that is shorter, or has more behind it, with a header that says so. */
static void test_other_length(void **state)
{
    oc_header_t header = small();

    (void) state;
    seal(mac, GROUP, INDEX, &header);
    for (uint32_t bytes = 4; bytes < BYTES; bytes += 4) {
        uint8_t code[OC_MAC_SIZE];

        memcpy(code, message + OC_CODE_OFFSET, sizeof(code));
        header.chunk_bytes = bytes;
        oc_header_encode(&header, message);
        memcpy(message + OC_CODE_OFFSET, code, sizeof(code));
        assert_false(passes(mac, GROUP, INDEX, OC_HEADER_SIZE + bytes));
    }
}

static void expect_other(const oc_header_t *other, uint64_t group, uint32_t index)
{
    oc_header_t header = small();
    uint8_t code[OC_MAC_SIZE], ours[OC_MAC_SIZE];

    seal(mac, GROUP, INDEX, &header);
    memcpy(ours, message + OC_CODE_OFFSET, sizeof(ours));
    seal(mac, group, index, other);
    memcpy(code, message + OC_CODE_OFFSET, sizeof(code));
    assert_memory_not_equal(code, ours, sizeof(code));
    /* the pad of a message is its nonce's: with the same one, who knows a code could make others */
    seal(mac, GROUP, INDEX, &header);
    memcpy(message + OC_CODE_OFFSET, code, sizeof(code));
    assert_false(passes(mac, GROUP, INDEX, LENGTH));
}

/*
 * The nonce alone: the same bytes, sealed for others. Poly1305 of equal messages differs exactly if
 * their nonces do.
 */
static void expect_other_nonce(oc_header_t named, uint64_t group, uint32_t index)
{
    oc_header_t header = small();
    uint8_t ours[OC_MAC_SIZE];

    seal(mac, GROUP, INDEX, &header);
    memcpy(ours, message + OC_CODE_OFFSET, sizeof(ours));
    oc_seal(mac, group, index, &named, message, LENGTH);
    assert_memory_not_equal(message + OC_CODE_OFFSET, ours, sizeof(ours));
}

static void test_what_differs(void **state)
{
    oc_header_t other;

    (void) state;
    other = small();
    expect_other(&other, GROUP + 0x10000, INDEX);
    expect_other(&other, GROUP, INDEX + 1);
    expect_other_nonce(other, GROUP + 0x10000, INDEX);
    expect_other_nonce(other, GROUP + (1ull << 40), INDEX);
    expect_other_nonce(other, GROUP, INDEX + 1);
    expect_other_nonce(other, GROUP, INDEX + 0x8000);
    for (uint8_t type = OC_MESSAGE_SMALL; type <= OC_MESSAGE_RESEND; type++) {
        other.message = type;
        if (OC_MESSAGE_SMALL != type) {
            expect_other_nonce(other, GROUP, INDEX);
        }
    }
    for (unsigned bit = 0; bit < 16; bit++) {
        other = small();
        other.rank ^= 1u << bit;
        expect_other(&other, GROUP, INDEX);
        expect_other_nonce(other, GROUP, INDEX);
    }
    for (unsigned bit = 0; bit < 44; bit++) {
        other = small();
        other.sequence ^= 1ull << bit;
        expect_other(&other, GROUP, INDEX);
        expect_other_nonce(other, GROUP, INDEX);
    }
}

/* The same bytes, sealed as each of two messages. */
static bool have_one_nonce(const oc_header_t *one, const oc_header_t *other)
{
    uint8_t code[OC_MAC_SIZE];

    memset(message, 0x55, LENGTH);
    oc_seal(mac, GROUP, INDEX, one, message, LENGTH);
    memcpy(code, message + OC_CODE_OFFSET, sizeof(code));
    oc_seal(mac, GROUP, INDEX, other, message, LENGTH);
    return 0 == memcmp(message + OC_CODE_OFFSET, code, sizeof(code));
}

static oc_header_t ready(void)
{
    return (oc_header_t) {.message = OC_MESSAGE_READY, .handle = 0x12345, .rank = INDEX,
                          .chunks = 1, .chunk_bytes = 65536};
}

/*
 * A group that is made again on a server has another handle, and may be told another size. It has
 * no sequence: both stand there, and do not touch each other.
 */
static void test_ready(void **state)
{
    oc_header_t one = ready(), other = ready();

    (void) state;
    assert_true(have_one_nonce(&one, &other));
    for (unsigned bit = 0; bit < 20; bit++) {
        other = ready();
        other.handle ^= 1u << bit;
        assert_false(have_one_nonce(&one, &other));
    }
    for (unsigned bit = 0; bit < 24; bit++) {
        other = ready();
        other.chunk_bytes = ((other.chunk_bytes - 1) ^ 1u << bit) + 1;
        assert_false(have_one_nonce(&one, &other));
    }
    one.handle = 0xfffff;
    one.chunk_bytes = 4096;
    other.handle = 0;
    other.chunk_bytes = 4097;
    assert_false(have_one_nonce(&one, &other));
    one.chunk_bytes = OC_MAX_CHUNK;
    other = one;
    other.rank ^= 1;
    assert_false(have_one_nonce(&one, &other));
}

/* No field of a nonce touches another: what would fill one does not change the next. */
static void test_no_overlap(void **state)
{
    oc_header_t low = small(), high = small();

    (void) state;
    low.rank = 0;
    low.sequence = OC_MAX_SEQUENCE - 1;
    high.rank = 1;
    high.sequence = 0;
    assert_false(have_one_nonce(&low, &high));
    low.rank = OC_MAX_RANKS - 1;
    high.message = OC_MESSAGE_START;
    high.rank = 0;
    assert_false(have_one_nonce(&low, &high));
}

/* A sequence that has no room in a nonce is no message at all. */
static void test_last_sequence(void **state)
{
    oc_header_t header = small();

    (void) state;
    header.sequence = OC_MAX_SEQUENCE - 1;
    seal(mac, GROUP, INDEX, &header);
    assert_true(passes(mac, GROUP, INDEX, LENGTH));
    header.sequence = OC_MAX_SEQUENCE;
    seal(mac, GROUP, INDEX, &header);
    assert_false(passes(mac, GROUP, INDEX, LENGTH));
}

/* Teams have aggregators with numbers of their own, so that all of them say the communicator's id. */
static void test_teams(void **state)
{
    oc_header_t header = small();

    (void) state;
    seal(mac, GROUP, INDEX, &header);
    assert_true(passes(mac, GROUP + 3, INDEX, LENGTH));
}

static void test_keys(void **state)
{
    static const uint8_t other_key[OC_JOB_KEY_SIZE] = {3, 1, 4, 1, 5, 8};
    oc_mac_t *same = oc_seal_new(key, 0), *leaf = oc_seal_new(key, 5);
    oc_mac_t *other_leaf = oc_seal_new(key, 6), *other = oc_seal_new(other_key, 0);
    oc_header_t header = small();

    (void) state;
    seal(mac, GROUP, INDEX, &header);
    assert_true(passes(same, GROUP, INDEX, LENGTH));
    assert_false(passes(leaf, GROUP, INDEX, LENGTH));
    assert_false(passes(other, GROUP, INDEX, LENGTH));
    seal(leaf, GROUP, INDEX, &header);
    assert_false(passes(other_leaf, GROUP, INDEX, LENGTH));
    assert_true(passes(leaf, GROUP, INDEX, LENGTH));
    oc_mac_free(same);
    oc_mac_free(leaf);
    oc_mac_free(other_leaf);
    oc_mac_free(other);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_whole_message, setup, teardown),
        cmocka_unit_test_setup_teardown(test_other_length, setup, teardown),
        cmocka_unit_test_setup_teardown(test_what_differs, setup, teardown),
        cmocka_unit_test_setup_teardown(test_ready, setup, teardown),
        cmocka_unit_test_setup_teardown(test_no_overlap, setup, teardown),
        cmocka_unit_test_setup_teardown(test_last_sequence, setup, teardown),
        cmocka_unit_test_setup_teardown(test_teams, setup, teardown),
        cmocka_unit_test_setup_teardown(test_keys, setup, teardown),
    };

    alarm(30);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
