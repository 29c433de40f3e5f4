/* SPDX-License-Identifier: BSD-3-Clause */
/* Owns the kernels of 16-bit floats, which compute in float; a part of kernels.inc.h. */

/* X(OP, TYPE) for every kernel. */
#define OC_HALF_KERNELS_OF(X, TYPE) X(SUM, TYPE) X(PROD, TYPE) X(MIN, TYPE) X(MAX, TYPE)
#define OC_HALF_KERNELS(X) OC_HALF_KERNELS_OF(X, FLOAT16) OC_HALF_KERNELS_OF(X, BFLOAT16)

typedef uint16_t buf_half_t __attribute__((aligned(1), may_alias));

OC_INLINE uint32_t bits_of_float(float value)
{
    uint32_t bits;

    memcpy(&bits, &value, sizeof(bits));
    return bits;
}

OC_INLINE float float_of_bits(uint32_t bits)
{
    float value;

    memcpy(&value, &bits, sizeof(value));
    return value;
}

/* ---- bfloat16 is the upper half of a float. ---- */

OC_INLINE float widen_BFLOAT16(uint16_t half)
{
    return float_of_bits((uint32_t)half << 16);
}

/* To nearest, ties to even. A carry out of the fraction is right: up to infinity. */
OC_INLINE uint16_t narrow_BFLOAT16(float value)
{
    const uint32_t bits = bits_of_float(value);
    const uint32_t rounded = (bits + 0x7fff + (bits >> 16 & 1)) >> 16;
    const uint32_t quiet = bits >> 16 | 0x40;

    return (uint16_t)((bits & 0x7fffffff) > 0x7f800000 ? quiet : rounded);
}

/* ---- binary16: 5 bits of exponent, 10 of fraction. ---- */

#ifdef __aarch64__

OC_INLINE float widen_FLOAT16(uint16_t half)
{
    __fp16 value;

    memcpy(&value, &half, sizeof(value));
    return value;
}

OC_INLINE uint16_t narrow_FLOAT16(float value)
{
    const __fp16 rounded = (__fp16)value;
    uint16_t half;

    memcpy(&half, &rounded, sizeof(half));
    return half;
}

#else

/* condition ? a : b, without a branch */
OC_INLINE uint32_t choose(int condition, uint32_t a, uint32_t b)
{
    const uint32_t mask = -(uint32_t)condition;

    return (a & mask) | (b & ~mask);
}

/*
 * The bias of the exponent grows by 112 (0x38000000). Infinity and NaN have all ones there and keep
 * them: 112 more. A subnormal becomes a normal number with an implicit one too much, worth 2^-14.
 * Magnitudes are signed: vectors compare those with one instruction.
 */
OC_INLINE float widen_FLOAT16(uint16_t half)
{
    const uint32_t sign = (uint32_t)(half & 0x8000) << 16;
    const int32_t normal = ((half & 0x7fff) << 13) + 0x38000000;
    const float tiny = float_of_bits((uint32_t)normal + 0x00800000) - 0x1p-14f;
    const uint32_t large = (uint32_t)normal + choose(normal >= 0x47800000, 0x38000000, 0);

    return float_of_bits(choose(normal < 0x38800000, bits_of_float(tiny), large) | sign);
}

/*
 * To nearest, ties to even; a carry out of the fraction is right, up to infinity. The last bit of a
 * number in [0.5, 1) is worth as much as that of a subnormal: adding 0.5 rounds those.
 */
OC_INLINE uint16_t narrow_FLOAT16(float value)
{
    const uint32_t bits = bits_of_float(value), magnitude = bits & 0x7fffffff;
    const int32_t ordered = (int32_t)magnitude;
    const uint32_t normal = (magnitude - 0x38000000 + 0xfff + (magnitude >> 13 & 1)) >> 13;
    const uint32_t tiny = bits_of_float(float_of_bits(magnitude) + 0.5f) - 0x3f000000;
    const uint32_t special = choose(ordered > 0x7f800000, 0x7e00, 0x7c00);
    const uint32_t finite = choose(ordered < 0x38800000, tiny, normal);

    return (uint16_t)(choose(ordered >= 0x47800000, special, finite) | (bits >> 16 & 0x8000));
}

#endif

/*
 * ---- Rows of them: vectors as long as there are enough, then one by one. ----
 *
 * vector_TYPE is how many numbers a vector has. In which order they lie in its row of floats is up
 * to widen_vector_TYPE; narrow_vector_TYPE expects the same one.
 */

#if defined(__AVX512F__) || defined(__F16C__)
#include "reduction/kernels_half_x86.inc.h"
#else
enum { vector_FLOAT16 = 1, vector_BFLOAT16 = 1 };

OC_INLINE void widen_vector_FLOAT16(float *to, const buf_half_t *from)
{
    *to = widen_FLOAT16(*from);
}

OC_INLINE void widen_vector_BFLOAT16(float *to, const buf_half_t *from)
{
    *to = widen_BFLOAT16(*from);
}

OC_INLINE void narrow_vector_FLOAT16(buf_half_t *to, const float *from)
{
    *to = narrow_FLOAT16(*from);
}

OC_INLINE void narrow_vector_BFLOAT16(buf_half_t *to, const float *from)
{
    *to = narrow_BFLOAT16(*from);
}
#endif

#define OC_DEFINE_HALF_ROWS(TYPE)                                                  \
    OC_INLINE void widen_row_##TYPE(float *to, const buf_half_t *from, size_t n)   \
    {                                                                              \
        size_t i = 0;                                                              \
        for (; n - i >= vector_##TYPE; i += vector_##TYPE)                         \
            widen_vector_##TYPE(to + i, from + i);                                 \
        for (; i < n; i++)                                                         \
            to[i] = widen_##TYPE(from[i]);                                         \
    }                                                                              \
    OC_INLINE void narrow_row_##TYPE(buf_half_t *to, const float *from, size_t n)  \
    {                                                                              \
        size_t i = 0;                                                              \
        for (; n - i >= vector_##TYPE; i += vector_##TYPE)                         \
            narrow_vector_##TYPE(to + i, from + i);                                \
        for (; i < n; i++)                                                         \
            to[i] = narrow_##TYPE(from[i]);                                        \
    }

OC_DEFINE_HALF_ROWS(FLOAT16)
OC_DEFINE_HALF_ROWS(BFLOAT16)

/* ---- The kernels. ---- */

#define OC_DEFINE_HALF_TYPE(TYPE)                                                \
    enum { size_##TYPE = 2, block_##TYPE = OC_BLOCK_BYTES / sizeof(float) };     \
    typedef struct {                                                             \
        float value[block_##TYPE];                                               \
    } acc_##TYPE##_t;                                                            \
    OC_INLINE void load_##TYPE(acc_##TYPE##_t *acc, const void *from, size_t n)  \
    {                                                                            \
        widen_row_##TYPE(acc->value, from, n);                                   \
    }                                                                            \
    OC_INLINE void store_##TYPE(void *to, const acc_##TYPE##_t *acc, size_t n)   \
    {                                                                            \
        narrow_row_##TYPE(to, acc->value, n);                                    \
    }                                                                            \
    OC_INLINE void copy_##TYPE(acc_##TYPE##_t *to, const acc_##TYPE##_t *from)   \
    {                                                                            \
        for (size_t i = 0; i < block_##TYPE; i++)                                \
            to->value[i] = from->value[i];                                       \
    }

#define OC_DEFINE_HALF_KERNEL(OP, TYPE)                                                \
    OC_INLINE void step_##OP##_##TYPE(acc_##TYPE##_t *acc, const void *from, size_t n) \
    {                                                                                  \
        float row[block_##TYPE];                                                       \
        widen_row_##TYPE(row, from, n);                                                \
        for (size_t i = 0; i < n; i++) {                                               \
            const float a = acc->value[i], b = row[i];                                 \
            acc->value[i] = OC_STEP_##OP(float, float, a, b);                          \
        }                                                                              \
    }                                                                                  \
    OC_DEFINE_KERNEL(OP, TYPE)

OC_DEFINE_HALF_TYPE(FLOAT16)
OC_DEFINE_HALF_TYPE(BFLOAT16)
OC_HALF_KERNELS(OC_DEFINE_HALF_KERNEL)

/*
 * ---- Conversions alone: they travel, and are cut anywhere, so their floats have to be in order. ----
 *
 * Those of bfloat16 are plain shifts, which compilers make vectors of; its own vectors need not be in
 * order.
 */

static void widen_FLOAT16_all(void *to, const void *from, size_t count)
{
    widen_row_FLOAT16(to, from, count);
}

static void narrow_FLOAT16_all(void *to, const void *from, size_t count)
{
    narrow_row_FLOAT16(to, from, count);
}

static void widen_BFLOAT16_all(void *to, const void *from, size_t count)
{
    const buf_half_t *halves = from;
    float *floats = to;

    for (size_t i = 0; i < count; i++) {
        floats[i] = widen_BFLOAT16(halves[i]);
    }
}

static void narrow_BFLOAT16_all(void *to, const void *from, size_t count)
{
    buf_half_t *halves = to;
    const float *floats = from;

    for (size_t i = 0; i < count; i++) {
        halves[i] = narrow_BFLOAT16(floats[i]);
    }
}

const oc_conversions_t OC_CONVERSIONS = {
    .widen = {[OC_TYPE_FLOAT16] = widen_FLOAT16_all, [OC_TYPE_BFLOAT16] = widen_BFLOAT16_all},
    .narrow = {[OC_TYPE_FLOAT16] = narrow_FLOAT16_all, [OC_TYPE_BFLOAT16] = narrow_BFLOAT16_all},
};
