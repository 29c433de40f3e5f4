/* SPDX-License-Identifier: BSD-3-Clause */
/* Conversions of 16-bit floats from and to binary32; to nearest even, whatever the environment. */
#ifndef OPTCAST_CONVERT_H
#define OPTCAST_CONVERT_H

#include <stdint.h>
#include <string.h>

static inline float float_of_bits(uint32_t bits)
{
    float value;

    memcpy(&value, &bits, sizeof(value));
    return value;
}

static inline uint32_t bits_of_float(float value)
{
    uint32_t bits;

    memcpy(&bits, &value, sizeof(bits));
    return bits;
}

/* value / 2^shift, to nearest even; 0 < shift < 32 */
static inline uint32_t round_shift(uint32_t value, unsigned shift)
{
    uint32_t half = UINT32_C(1) << (shift - 1);

    return (value + half - 1 + (value >> shift & 1)) >> shift;
}

/* binary16: 1 bit of sign, 5 of exponent (bias 15), 10 of fraction. */
static inline float float16_to_float(uint16_t number)
{
    uint32_t sign = (uint32_t) (number & 0x8000) << 16;
    uint32_t exponent = number >> 10 & 0x1f, fraction = number & 0x3ff;

    if (0x1f == exponent) {
        return float_of_bits(sign | 0x7f800000 | fraction << 13);
    }
    if (0 == exponent) { /* zero or subnormal */
        return float_of_bits(sign | bits_of_float((float) fraction * 0x1p-24f));
    }
    return float_of_bits(sign | (exponent + 127 - 15) << 23 | fraction << 13);
}

static inline uint16_t float16_of_float(float value)
{
    uint32_t bits = bits_of_float(value), sign = bits >> 16 & 0x8000;
    uint32_t magnitude = bits & 0x7fffffff, exponent = magnitude >> 23;

    if (magnitude > 0x7f800000) { /* NaN, made quiet */
        return (uint16_t) (sign | 0x7e00 | (magnitude >> 13 & 0x1ff));
    }
    if (exponent >= 127 + 16) { /* at least 2^16 */
        return (uint16_t) (sign | 0x7c00);
    }
    if (exponent >= 127 - 14) { /* a carry may go on into the exponent, and make it infinite */
        return (uint16_t) (sign | round_shift(magnitude - ((127 - 15) << 23), 13));
    }
    if (exponent < 127 - 25) { /* less than half of the smallest one */
        return (uint16_t) sign;
    }
    return (uint16_t) (sign | round_shift((magnitude & 0x7fffff) | 0x800000, 126 - exponent));
}

/* bfloat16: the upper half of a binary32. */
static inline float bfloat16_to_float(uint16_t number)
{
    return float_of_bits((uint32_t) number << 16);
}

static inline uint16_t bfloat16_of_float(float value)
{
    uint32_t bits = bits_of_float(value);

    if ((bits & 0x7fffffff) > 0x7f800000) { /* NaN, made quiet: rounding could make it infinite */
        return (uint16_t) (bits >> 16 | 0x40);
    }
    return (uint16_t) round_shift(bits, 16);
}

#endif
