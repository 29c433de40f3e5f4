/* SPDX-License-Identifier: BSD-3-Clause */
/* Owns the unit tests of message authentication codes. */
/* Test: quick 60 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifdef __x86_64__
#    include <cpuid.h>
#endif

#include "base/mac.h"

static void from_hex(const char *hex, uint8_t *bytes)
{
    unsigned byte;

    for (; '\0' != hex[0]; hex += 2) {
        assert_int_equal(1, sscanf(hex, "%2x", &byte));
        *bytes++ = (uint8_t) byte;
    }
}

static uint64_t u64(const uint8_t *bytes)
{
    uint64_t value = 0;

    for (int i = 7; i >= 0; i--) {
        value = value << 8 | bytes[i];
    }
    return value;
}

/* Appendix B of "The Poly1305-AES message-authentication code". */
static const struct {
    const char *message, *r, *k, *nonce, *code;
} published[] = {
    {"f3f6", "851fc40c3467ac0be05cc20404f3f700", "ec074c835580741701425b623235add6",
     "fb447350c4e868c52ac3275cf9d4327e", "f4c633c3044fc145f84f335cb81953de"},
    {"", "a0f3080000f46400d0c7e9076c834403", "75deaa25c09f208e1dc4ce6b5cad3fbf",
     "61ee09218d29b0aaed7e154a2c5509cc", "dd3fab2251f11ac759f0887129cc2ee7"},
};

static void test_published(void **state)
{
    (void) state;
    for (size_t i = 0; i < sizeof(published) / sizeof(published[0]); i++) {
        uint8_t key[OC_MAC_KEY_SIZE], message[16], nonce[16], expected[16], code[OC_MAC_SIZE];
        size_t length = strlen(published[i].message) / 2;
        oc_mac_t *mac;

        from_hex(published[i].k, key);
        from_hex(published[i].r, key + 16);
        from_hex(published[i].message, message);
        from_hex(published[i].nonce, nonce);
        from_hex(published[i].code, expected);
        mac = oc_mac_new_key(key);
        assert_non_null(mac);
        oc_mac_sign(mac, (oc_nonce_t) {u64(nonce), u64(nonce + 8)}, message, length, NULL, 0, code);
        assert_memory_equal(code, expected, OC_MAC_SIZE);
        oc_mac_free(mac);
    }
}

/* The key is HKDF-SHA256 without salt, with "datagrams\0" and the context as info; by Python's hmac. */
static void test_derived(void **state)
{
    static const char secret[] = "a job's secret of any length";
    static const oc_nonce_t nonce = {1, 2};
    uint8_t context[8] = {0, 1, 2, 3, 4, 5, 6, 7}, key[OC_MAC_KEY_SIZE];
    uint8_t code[OC_MAC_SIZE], expected[OC_MAC_SIZE];
    oc_mac_t *mac = oc_mac_new(secret, strlen(secret), "datagrams", context, sizeof(context));
    oc_mac_t *same;

    (void) state;
    from_hex("fe327ae5044f25413bd6a89fffe400699d9b6f1b9ae653a0536d5907a01a7a43", key);
    same = oc_mac_new_key(key);
    assert_non_null(mac);
    assert_non_null(same);
    oc_mac_sign(mac, nonce, "abc", 3, "def", 3, code);
    oc_mac_sign(same, nonce, "abcdef", 6, NULL, 0, expected);
    assert_memory_equal(code, expected, OC_MAC_SIZE);
    oc_mac_free(mac);
    oc_mac_free(same);
}

static void expect_other(const char *secret, const char *purpose, const char *context,
                         const uint8_t code[OC_MAC_SIZE])
{
    oc_mac_t *mac = oc_mac_new(secret, strlen(secret), purpose, context, strlen(context));

    assert_non_null(mac);
    assert_false(oc_mac_verify(mac, (oc_nonce_t) {1, 2}, "head", 4, "body", 4, code));
    oc_mac_free(mac);
}

static void test_keys_differ(void **state)
{
    uint8_t code[OC_MAC_SIZE];
    oc_mac_t *mac = oc_mac_new("secret", 6, "purpose", "context", 7);

    (void) state;
    assert_non_null(mac);
    oc_mac_sign(mac, (oc_nonce_t) {1, 2}, "head", 4, "body", 4, code);
    oc_mac_free(mac);
    expect_other("secreT", "purpose", "context", code);
    expect_other("secret", "purposE", "context", code);
    expect_other("secret", "purpose", "contexT", code);
    expect_other("secret", "purpose", "", code);
}

/* Each bit of message, nonce and code counts, in messages of all lengths around Poly1305's blocks. */
static void test_each_bit(void **state)
{
    oc_mac_t *mac = oc_mac_new("secret", 6, "purpose", NULL, 0);
    uint8_t message[80], code[OC_MAC_SIZE];
    oc_nonce_t nonce = {3, 4};

    (void) state;
    assert_non_null(mac);
    memset(message, 0x5a, sizeof(message));
    for (size_t length = 1; length <= sizeof(message); length++) {
        size_t head = length / 3;

        oc_mac_sign(mac, nonce, message, head, message + head, length - head, code);
        assert_true(oc_mac_verify(mac, nonce, message, head, message + head, length - head, code));
        assert_false(oc_mac_verify(mac, nonce, message, length - 1, NULL, 0, code));
        for (size_t bit = 0; bit < 8 * length; bit++) {
            message[bit / 8] ^= (uint8_t) (1 << bit % 8);
            assert_false(oc_mac_verify(mac, nonce, message, head, message + head, length - head, code));
            message[bit / 8] ^= (uint8_t) (1 << bit % 8);
        }
    }
    for (unsigned bit = 0; bit < 128; bit++) {
        oc_nonce_t other = nonce;

        *(bit < 64 ? &other.low : &other.high) ^= UINT64_C(1) << bit % 64;
        assert_false(oc_mac_verify(mac, other, message, sizeof(message), NULL, 0, code));
        code[bit / 8] ^= (uint8_t) (1 << bit % 8);
        assert_false(oc_mac_verify(mac, nonce, message, sizeof(message), NULL, 0, code));
        code[bit / 8] ^= (uint8_t) (1 << bit % 8);
    }
    assert_true(oc_mac_verify(mac, nonce, message, sizeof(message), NULL, 0, code));
    oc_mac_free(mac);
}

static void test_misuse(void **state)
{
    char purpose[80], context[65] = "";

    (void) state;
    memset(purpose, 'p', sizeof(purpose));
    purpose[64] = '\0';
    assert_null(oc_mac_new("secret", 6, purpose, NULL, 0));
    assert_null(oc_mac_new("secret", 6, "purpose", context, sizeof(context)));
    oc_mac_free(NULL);
    /* what failed has closed what it opened, and a new one opens it again */
    test_keys_differ(state);
}

#ifdef __x86_64__

#define UPPER_HALVES 4u         /* in the components of the processor's state */

/* Which components are in use, if the processor tells; else 0. */
static unsigned components_in_use(void)
{
    unsigned a, b, c, d;

    if (!__builtin_cpu_supports("avx") || 0 == __get_cpuid_count(13, 1, &a, &b, &c, &d)
        || 0 == (a & 4)) {
        return 0;
    }
    __asm__ volatile("xgetbv" : "=a"(a), "=d"(d) : "c"(1));
    return a;
}

/* Programs that are not compiled for AVX would compute many times as slowly from then on. */
static void test_registers_are_left_clean(void **state)
{
    uint8_t text[300] = {1}, code[OC_MAC_SIZE];
    oc_mac_t *mac = oc_mac_new("secret", 6, "test", NULL, 0);

    (void) state;
    assert_non_null(mac);
    for (size_t size = 1; size <= sizeof(text); size++) {
        oc_mac_sign(mac, (oc_nonce_t) {1, size}, text, size, NULL, 0, code);
        assert_int_equal(components_in_use() & UPPER_HALVES, 0);
        assert_true(oc_mac_verify(mac, (oc_nonce_t) {1, size}, text, size, NULL, 0, code));
        assert_int_equal(components_in_use() & UPPER_HALVES, 0);
    }
    oc_mac_free(mac);
}

#endif

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_published),
        cmocka_unit_test(test_derived),
        cmocka_unit_test(test_keys_differ),
        cmocka_unit_test(test_each_bit),
        cmocka_unit_test(test_misuse),
#ifdef __x86_64__
        cmocka_unit_test(test_registers_are_left_clean),
#endif
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
