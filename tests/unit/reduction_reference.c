/* SPDX-License-Identifier: BSD-3-Clause */
/* Owns the scalar reference of the reductions; written for its own sake, not like the kernels. */
#include "tests/unit/reduction_reference.h"

#include <float.h>
#include <limits.h>
#include <math.h>
#include <string.h>

/* An element has one part, or two: a value and an index, or a real and an imaginary part. */
static const struct {
    unsigned first, second;
} parts[OC_TYPE_END] = {
    [OC_TYPE_COMPLEX_FLOAT] = { OC_TYPE_FLOAT, OC_TYPE_FLOAT },
    [OC_TYPE_COMPLEX_DOUBLE] = { OC_TYPE_DOUBLE, OC_TYPE_DOUBLE },
    [OC_TYPE_INT16_INT32] = { OC_TYPE_INT16, OC_TYPE_INT32 },
    [OC_TYPE_INT32_INT32] = { OC_TYPE_INT32, OC_TYPE_INT32 },
    [OC_TYPE_INT64_INT32] = { OC_TYPE_INT64, OC_TYPE_INT32 },
    [OC_TYPE_FLOAT_INT32] = { OC_TYPE_FLOAT, OC_TYPE_INT32 },
    [OC_TYPE_DOUBLE_INT32] = { OC_TYPE_DOUBLE, OC_TYPE_INT32 },
    [OC_TYPE_FLOAT_FLOAT] = { OC_TYPE_FLOAT, OC_TYPE_FLOAT },
    [OC_TYPE_DOUBLE_DOUBLE] = { OC_TYPE_DOUBLE, OC_TYPE_DOUBLE },
};

uint64_t next_random(void)
{
    static uint64_t x = 0x9e3779b97f4a7c15u;

    x ^= x << 13;
    x ^= x >> 7;
    x ^= x << 17;
    return x;
}

bool is_half(unsigned type)
{
    return type == OC_TYPE_FLOAT16 || type == OC_TYPE_BFLOAT16;
}

static bool is_float(unsigned type)
{
    return type == OC_TYPE_FLOAT || type == OC_TYPE_DOUBLE || is_half(type);
}

static bool is_complex(unsigned type)
{
    return type == OC_TYPE_COMPLEX_FLOAT || type == OC_TYPE_COMPLEX_DOUBLE;
}

static bool is_pair(unsigned type)
{
    return type >= OC_TYPE_INT16_INT32 && type <= OC_TYPE_DOUBLE_DOUBLE;
}

static bool is_signed(unsigned type)
{
    return type == OC_TYPE_INT8 || type == OC_TYPE_INT16 || type == OC_TYPE_INT32 ||
           type == OC_TYPE_INT64;
}

bool is_offered(unsigned op, unsigned type)
{
    if (op < OC_OP_SUM || op > OC_OP_MAXLOC || type < OC_TYPE_INT8 || type > OC_TYPE_DOUBLE_DOUBLE)
        return false;
    if (is_pair(type))
        return op >= OC_OP_MINLOC;
    if (is_complex(type))
        return op <= OC_OP_PROD;
    return op <= (is_float(type) ? OC_OP_MAX : OC_OP_LXOR);
}

/* ---- Bits and values. ---- */

uint64_t load_int(unsigned type, const void *from)
{
    union {
        uint8_t u8;
        uint16_t u16;
        uint32_t u32;
        uint64_t u64;
    } v;

    memcpy(&v, from, oc_type_size(type));
    switch (oc_type_size(type)) {
    case 1:
        return is_signed(type) ? (uint64_t)(int8_t)v.u8 : v.u8;
    case 2:
        return is_signed(type) ? (uint64_t)(int16_t)v.u16 : v.u16;
    case 4:
        return is_signed(type) ? (uint64_t)(int32_t)v.u32 : v.u32;
    default:
        return v.u64;
    }
}

void store_int(unsigned type, void *to, uint64_t value)
{
    const uint8_t u8 = (uint8_t)value;
    const uint16_t u16 = (uint16_t)value;
    const uint32_t u32 = (uint32_t)value;

    switch (oc_type_size(type)) {
    case 1:
        memcpy(to, &u8, sizeof(u8));
        break;
    case 2:
        memcpy(to, &u16, sizeof(u16));
        break;
    case 4:
        memcpy(to, &u32, sizeof(u32));
        break;
    default:
        memcpy(to, &value, sizeof(value));
    }
}

/* Bits of the fraction, and the exponent of the smallest normal number. */
static int half_fraction(unsigned type)
{
    return type == OC_TYPE_FLOAT16 ? 10 : 7;
}

static int half_exponent(unsigned type)
{
    return type == OC_TYPE_FLOAT16 ? -14 : FLT_MIN_EXP - 1;
}

static double load_half(unsigned type, uint16_t half)
{
    const int fraction = half_fraction(type), last = half_exponent(type) - fraction;
    const int magnitude = half & 0x7fff, one = 1 << fraction, exponent = magnitude / one;
    const int infinity = 0x7fff / one * one;
    double value;

    if (magnitude >= infinity)
        value = magnitude > infinity ? NAN : INFINITY;
    else if (exponent == 0)
        value = ldexp(magnitude, last);
    else
        value = ldexp(one + magnitude % one, last + exponent - 1);
    return half & 0x8000 ? -value : value;
}

/* Counts the value in units of its last place, which rint() rounds to nearest, ties to even. */
static uint16_t store_half(unsigned type, double value)
{
    const int fraction = half_fraction(type), least = half_exponent(type);
    const int one = 1 << fraction, infinity = 0x7fff / one * one;
    const int sign = signbit(value) ? 0x8000 : 0;
    int exponent;
    double magnitude;

    if (isnan(value))
        return 0x7fff;
    if (isinf(value))
        return (uint16_t)(sign | infinity);
    frexp(value, &exponent);
    exponent = value == 0 || exponent - 1 < least ? least : exponent - 1;
    magnitude = (exponent - least) * (double)one + rint(ldexp(fabs(value), fraction - exponent));
    return (uint16_t)(sign | (magnitude < infinity ? (int)magnitude : infinity));
}

double load_float(unsigned type, const void *from)
{
    uint16_t half;
    float narrow;
    double value;

    if (is_half(type)) {
        memcpy(&half, from, sizeof(half));
        return load_half(type, half);
    }
    if (type == OC_TYPE_FLOAT) {
        memcpy(&narrow, from, sizeof(narrow));
        return narrow;
    }
    memcpy(&value, from, sizeof(value));
    return value;
}

void store_float(unsigned type, void *to, double value)
{
    const uint16_t half = is_half(type) ? store_half(type, value) : 0;
    const float narrow = (float)value;

    if (is_half(type))
        memcpy(to, &half, sizeof(half));
    else if (type == OC_TYPE_FLOAT)
        memcpy(to, &narrow, sizeof(narrow));
    else
        memcpy(to, &value, sizeof(value));
}

/* ---- Folds. Integers are always computed in 64 bits; 16-bit floats are kept as floats. ---- */

static uint64_t apply_int(unsigned op, bool sign, uint64_t a, uint64_t b)
{
    const bool less = sign ? (int64_t)a < (int64_t)b : a < b;

    switch (op) {
    case OC_OP_SUM:
        return a + b;
    case OC_OP_PROD:
        return a * b;
    case OC_OP_MIN:
        return less ? a : b;
    case OC_OP_MAX:
        return less ? b : a;
    case OC_OP_BAND:
        return a & b;
    case OC_OP_BOR:
        return a | b;
    case OC_OP_BXOR:
        return a ^ b;
    case OC_OP_LAND:
        return a && b;
    case OC_OP_LOR:
        return a || b;
    default:
        return !a != !b;
    }
}

static float apply_float(unsigned op, float a, float b)
{
    switch (op) {
    case OC_OP_SUM:
        return a + b;
    case OC_OP_PROD:
        return a * b;
    case OC_OP_MIN:
        return a < b ? a : b;
    default:
        return a > b ? a : b;
    }
}

static double apply_double(unsigned op, double a, double b)
{
    switch (op) {
    case OC_OP_SUM:
        return a + b;
    case OC_OP_PROD:
        return a * b;
    case OC_OP_MIN:
        return a < b ? a : b;
    default:
        return a > b ? a : b;
    }
}

/* One operation of a type that has one part; of 16-bit floats both are floats already. */
static void apply(unsigned op, unsigned type, void *to, const void *a, const void *b)
{
    if (type == OC_TYPE_DOUBLE) {
        store_float(type, to, apply_double(op, load_float(type, a), load_float(type, b)));
    } else if (is_float(type)) {
        store_float(OC_TYPE_FLOAT, to,
                    apply_float(op, (float)load_float(OC_TYPE_FLOAT, a),
                                (float)load_float(OC_TYPE_FLOAT, b)));
    } else {
        store_int(type, to, apply_int(op, is_signed(type), load_int(type, a), load_int(type, b)));
    }
}

static void apply_complex(unsigned op, unsigned part, char *a, const char *b)
{
    const size_t size = oc_type_size(part);
    char rr[8], ii[8], ri[8], ir[8], negative[8] = { 0 };

    if (op == OC_OP_SUM) {
        apply(OC_OP_SUM, part, a, a, b);
        apply(OC_OP_SUM, part, a + size, a + size, b + size);
        return;
    }
    apply(OC_OP_PROD, part, rr, a, b);
    apply(OC_OP_PROD, part, ii, a + size, b + size);
    apply(OC_OP_PROD, part, ri, a, b + size);
    apply(OC_OP_PROD, part, ir, a + size, b);
    store_float(part, negative, -load_float(part, ii));
    apply(OC_OP_SUM, part, a, rr, negative);
    apply(OC_OP_SUM, part, a + size, ri, ir);
}

enum order { LESS, EQUAL, GREATER, UNORDERED };

static enum order compare(unsigned part, const void *a, const void *b)
{
    if (is_float(part)) {
        const double x = load_float(part, a), y = load_float(part, b);
        return isunordered(x, y) ? UNORDERED : x < y ? LESS : x > y ? GREATER : EQUAL;
    }
    const int64_t x = (int64_t)load_int(part, a), y = (int64_t)load_int(part, b);
    return x < y ? LESS : x > y ? GREATER : EQUAL;
}

static void apply_pair(unsigned op, unsigned type, char *a, const char *b)
{
    const size_t size = oc_type_size(parts[type].first);
    const enum order wanted = op == OC_OP_MINLOC ? LESS : GREATER;
    const enum order values = compare(parts[type].first, a, b);
    const enum order indexes = compare(parts[type].second, a + size, b + size);

    if (values != wanted && !(values == EQUAL && indexes == LESS))
        memcpy(a, b, oc_type_size(type));
}

void begin_fold(unsigned type, void *state, const void *element)
{
    if (is_half(type))
        store_float(OC_TYPE_FLOAT, state, load_float(type, element));
    else
        memcpy(state, element, oc_type_size(type));
}

void fold(unsigned op, unsigned type, void *state, const void *element)
{
    char x[MAX_ELEM];

    begin_fold(type, x, element);
    if (is_complex(type))
        apply_complex(op, parts[type].first, state, x);
    else if (is_pair(type))
        apply_pair(op, type, state, x);
    else
        apply(op, type, state, state, x);
}

void end_fold(unsigned type, void *element, const void *state)
{
    if (is_half(type))
        store_float(type, element, load_float(OC_TYPE_FLOAT, state));
    else
        memcpy(element, state, oc_type_size(type));
}

void unify_nan(unsigned type, void *element)
{
    const unsigned part = is_complex(type) ? parts[type].first : type;
    char *end = (char *)element + oc_type_size(type);

    if (!is_float(part))
        return;
    for (char *at = element; at < end; at += oc_type_size(part)) {
        if (isnan(load_float(part, at)))
            store_float(part, at, NAN);
    }
}

/* ---- Values. ---- */

static uint64_t special_int(unsigned i)
{
    static const uint64_t values[NUM_SPECIALS] = { 0, 1, 2, UINT64_MAX, INT64_MAX, 1ull << 63,
                                                   0x80, 0x7f, 0x8000, 0x7fff, 0x80000000,
                                                   0x7fffffff };

    return values[i];
}

/* The smallest normal number, the smallest number, and the largest. */
static void limits(unsigned type, double *min, double *tiny, double *max)
{
    if (is_half(type)) {
        *min = ldexp(1, half_exponent(type));
        *tiny = ldexp(*min, -half_fraction(type));
        *max = type == OC_TYPE_FLOAT16 ? 65504 : 0x1.fep127;
    } else {
        *min = type == OC_TYPE_FLOAT ? FLT_MIN : DBL_MIN;
        *tiny = type == OC_TYPE_FLOAT ? FLT_TRUE_MIN : DBL_TRUE_MIN;
        *max = type == OC_TYPE_FLOAT ? FLT_MAX : DBL_MAX;
    }
}

static double special_float(unsigned type, unsigned i)
{
    double min, tiny, max;

    limits(type, &min, &tiny, &max);
    const double values[NUM_SPECIALS] = { 0.0, -0.0, 1.0,  -1.0, INFINITY, -INFINITY,
                                          NAN, min,  tiny, -tiny, min / 2, max };

    return values[i];
}

static void store_part(unsigned type, void *to, int special)
{
    const uint64_t r = next_random();

    if (!is_float(type))
        store_int(type, to, special < 0 ? r : special_int((unsigned)special));
    else if (special < 0)
        store_float(type, to, ((double)(r >> 11) / (double)(1ull << 52) - 1.0) * 3.0);
    else
        store_float(type, to, special_float(type, (unsigned)special));
}

/* Parts of pairs are often equal to those of others. */
static void store_small(unsigned type, void *to)
{
    const int value = (int)(next_random() % 5) - 2;

    if (is_float(type))
        store_float(type, to, value);
    else
        store_int(type, to, (uint64_t)value);
}

/* The second part is special too, or small, or anything. */
static void store_second(unsigned type, void *to, int special)
{
    const unsigned part = parts[type].second;

    if (special >= 0 && next_random() % 2 == 0)
        store_part(part, to, (int)(next_random() % NUM_SPECIALS));
    else if (is_pair(type) && next_random() % 4 != 0)
        store_small(part, to);
    else
        store_part(part, to, -1);
}

void store_value(unsigned type, void *to, int special)
{
    const unsigned part = parts[type].first;

    if (part == 0) {
        store_part(type, to, special);
        return;
    }
    if (is_pair(type) && special < 0 && next_random() % 4 != 0)
        store_small(part, to);
    else
        store_part(part, to, special);
    store_second(type, (char *)to + oc_type_size(part), special);
}
