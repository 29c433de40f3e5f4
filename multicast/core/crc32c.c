/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Two ways to the same checksum: eight table look-ups for eight bytes, and the instruction that
 * x86 and Arm have for it. That one takes three cycles but starts in each, so three parts of the
 * data are done side by side and put together: moving a checksum over zeros is linear, and so can
 * be looked up byte by byte.
 */
#include "multicast/core/crc32c.h"

#include <endian.h>
#include <pthread.h>
#include <stdbool.h>
#include <string.h>

#define POLYNOMIAL 0x82f63b78u

static uint64_t crc32c_load(const uint8_t *at)
{
    uint64_t word;

    memcpy(&word, at, sizeof(word));
    return le64toh(word);
}

/* table[k][b]: what the byte b becomes when k zeros follow. */
static uint32_t table[8][256];
static pthread_once_t table_once = PTHREAD_ONCE_INIT;

static void make_table(void)
{
    for (uint32_t byte = 0; byte < 256; byte++) {
        uint32_t crc = byte;

        for (int bit = 0; bit < 8; bit++) {
            crc = crc >> 1 ^ (crc & 1 ? POLYNOMIAL : 0);
        }
        table[0][byte] = crc;
    }
    for (int k = 1; k < 8; k++) {
        for (uint32_t byte = 0; byte < 256; byte++) {
            uint32_t crc = table[k - 1][byte];

            table[k][byte] = crc >> 8 ^ table[0][crc & 0xff];
        }
    }
}

uint32_t oc_crc32c_table(uint32_t crc, const void *data, size_t length)
{
    const uint8_t *at = data;

    (void) pthread_once(&table_once, make_table);
    crc = ~crc;
    for (; length >= 8; at += 8, length -= 8) {
        uint64_t word = crc32c_load(at) ^ crc;

        crc = table[7][word & 0xff] ^ table[6][word >> 8 & 0xff]
              ^ table[5][word >> 16 & 0xff] ^ table[4][word >> 24 & 0xff]
              ^ table[3][word >> 32 & 0xff] ^ table[2][word >> 40 & 0xff]
              ^ table[1][word >> 48 & 0xff] ^ table[0][word >> 56];
    }
    for (; length > 0; at++, length--) {
        crc = crc >> 8 ^ table[0][(crc ^ *at) & 0xff];
    }
    return ~crc;
}

#if defined(__x86_64__)
#include <nmmintrin.h>

#define HAVE_INSTRUCTION
#define INSTRUCTION __attribute__((target("sse4.2")))

static bool has_instruction(void)
{
    return __builtin_cpu_supports("sse4.2");
}

static inline INSTRUCTION uint32_t step_word(uint32_t crc, uint64_t word)
{
    return (uint32_t) _mm_crc32_u64(crc, word);
}

static inline INSTRUCTION uint32_t step_byte(uint32_t crc, uint8_t byte)
{
    return _mm_crc32_u8(crc, byte);
}
#elif defined(__ARM_FEATURE_CRC32) || (defined(__aarch64__) && !defined(__clang__))
#include <arm_acle.h>
#include <asm/hwcap.h>
#include <sys/auxv.h>

/* clang declares the instruction only where all code may use it. */
#define HAVE_INSTRUCTION
#define INSTRUCTION __attribute__((target("+crc")))

static bool has_instruction(void)
{
    return 0 != (getauxval(AT_HWCAP) & HWCAP_CRC32);
}

static inline INSTRUCTION uint32_t step_word(uint32_t crc, uint64_t word)
{
    return __crc32cd(crc, word);
}

static inline INSTRUCTION uint32_t step_byte(uint32_t crc, uint8_t byte)
{
    return __crc32cb(crc, byte);
}
#endif

#ifdef HAVE_INSTRUCTION
#define PART 1024u /* bytes of each of the three parts: few enough that most blocks have them */

/* moved[k][b]: what byte k of a checksum, being b, becomes when PART zeros follow. */
static uint32_t moved[4][256];
static pthread_once_t moved_once = PTHREAD_ONCE_INIT;

static INSTRUCTION void make_moved(void)
{
    for (uint32_t k = 0; k < 4; k++) {
        for (uint32_t byte = 0; byte < 256; byte++) {
            uint32_t crc = byte << 8 * k;

            for (unsigned i = 0; i < PART; i += 8) {
                crc = step_word(crc, 0);
            }
            moved[k][byte] = crc;
        }
    }
}

static uint32_t crc32c_move(uint32_t crc)
{
    return moved[0][crc & 0xff] ^ moved[1][crc >> 8 & 0xff] ^ moved[2][crc >> 16 & 0xff]
           ^ moved[3][crc >> 24];
}

static INSTRUCTION uint32_t three_parts(uint32_t crc, const uint8_t *at)
{
    uint32_t second = 0, third = 0;

    for (const uint8_t *end = at + PART; at < end; at += 8) {
        crc = step_word(crc, crc32c_load(at));
        second = step_word(second, crc32c_load(at + PART));
        third = step_word(third, crc32c_load(at + 2 * PART));
    }
    return crc32c_move(crc32c_move(crc) ^ second) ^ third;
}

static INSTRUCTION uint32_t by_instruction(uint32_t crc, const uint8_t *at, size_t length)
{
    crc = ~crc;
    if (length >= 3 * PART) {
        (void) pthread_once(&moved_once, make_moved);
    }
    for (; length >= 3 * PART; at += 3 * PART, length -= 3 * PART) {
        crc = three_parts(crc, at);
    }
    for (; length >= 8; at += 8, length -= 8) {
        crc = step_word(crc, crc32c_load(at));
    }
    for (; length > 0; at++, length--) {
        crc = step_byte(crc, *at);
    }
    return ~crc;
}

uint32_t oc_crc32c(uint32_t crc, const void *data, size_t length)
{
    return has_instruction() ? by_instruction(crc, data, length)
                             : oc_crc32c_table(crc, data, length);
}
#else
uint32_t oc_crc32c(uint32_t crc, const void *data, size_t length)
{
    return oc_crc32c_table(crc, data, length);
}
#endif
