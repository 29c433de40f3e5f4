/* SPDX-License-Identifier: BSD-3-Clause */
/* Owns the table of predefined types, and the results that reductions of them should have. */
#include "matrix_types.h"

#include <math.h>
#include <string.h>

static const char *const op_names[NUM_OPS] = {
    "SUM", "PROD", "MIN", "MAX", "BAND", "BOR", "BXOR", "LAND", "LOR", "LXOR", "MINLOC", "MAXLOC",
    "REPLACE", "NO_OP"};

const char *op_name(int op)
{
    return op_names[op];
}

MPI_Op op_handle(int op)
{
    const MPI_Op ops[NUM_OPS] = {MPI_SUM, MPI_PROD, MPI_MIN, MPI_MAX, MPI_BAND, MPI_BOR, MPI_BXOR,
                                 MPI_LAND, MPI_LOR, MPI_LXOR, MPI_MINLOC, MPI_MAXLOC, MPI_REPLACE,
                                 MPI_NO_OP};

    return ops[op];
}

bool op_find(const char *name, int *op)
{
    for (int i = 0; i < NUM_OPS; i++) {
        if (0 == strcmp(name, op_names[i])) {
            *op = i;
            return true;
        }
    }
    return false;
}

/* Folds element by element; buffers may be misaligned, hence memcpy. */
#define DEFINE_FOLD(name, type)                                                             \
    static void name##_fold(void *acc, const void *next, size_t count, int op)              \
    {                                                                                       \
        for (size_t i = 0; i < count; i++) {                                                \
            type a, b;                                                                      \
                                                                                            \
            memcpy(&a, (char *) acc + i * sizeof(a), sizeof(a));                            \
            memcpy(&b, (const char *) next + i * sizeof(b), sizeof(b));                     \
            a = name##_apply(a, b, op);                                                     \
            memcpy((char *) acc + i * sizeof(a), &a, sizeof(a));                            \
        }                                                                                   \
    }

#define DEFINE_SCALAR(name, type, is_floating)                                              \
    DEFINE_FOLD(name, type)                                                                 \
    static const base_t name = {.size = sizeof(type), .extent = sizeof(type),               \
                                .num_parts = 1, .parts = {{0, sizeof(type), is_floating}},  \
                                .fold = name##_fold};

/* uint64_t for what may overflow: conversions back wrap. */
#define DEFINE_INTEGER(name, type)                                                          \
    static type name##_apply(type a, type b, int op)                                        \
    {                                                                                       \
        switch (op) {                                                                       \
        case SUM:                                                                           \
            return (type) ((uint64_t) a + (uint64_t) b);                                    \
        case PROD:                                                                          \
            return (type) ((uint64_t) a * (uint64_t) b);                                    \
        case MIN:                                                                           \
            return a < b ? a : b;                                                           \
        case MAX:                                                                           \
            return a > b ? a : b;                                                           \
        case BAND:                                                                          \
            return (type) (a & b);                                                          \
        case BOR:                                                                           \
            return (type) (a | b);                                                          \
        case BXOR:                                                                          \
            return (type) (a ^ b);                                                          \
        case LAND:                                                                          \
            return (type) (a && b);                                                         \
        case LOR:                                                                           \
            return (type) (a || b);                                                         \
        default:                                                                            \
            return (type) (!a != !b);                                                       \
        }                                                                                   \
    }                                                                                       \
    DEFINE_SCALAR(name, type, false)

#define DEFINE_FLOATING(name, type)                                                         \
    static type name##_apply(type a, type b, int op)                                        \
    {                                                                                       \
        switch (op) {                                                                       \
        case SUM:                                                                           \
            return a + b;                                                                   \
        case PROD:                                                                          \
            return a * b;                                                                   \
        case MIN:                                                                           \
            return a < b ? a : b;                                                           \
        default:                                                                            \
            return a > b ? a : b;                                                           \
        }                                                                                   \
    }                                                                                       \
    DEFINE_SCALAR(name, type, true)

/* As on paper: without the care that C takes of products with infinities. */
#define DEFINE_COMPLEX(name, type)                                                          \
    typedef struct {                                                                        \
        type re, im;                                                                        \
    } name##_t;                                                                             \
    static name##_t name##_apply(name##_t a, name##_t b, int op)                            \
    {                                                                                       \
        if (SUM == op) {                                                                    \
            return (name##_t) {a.re + b.re, a.im + b.im};                                   \
        }                                                                                   \
        return (name##_t) {a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re};           \
    }                                                                                       \
    DEFINE_TWO(name, type, true, type, true, re, im)

/* A tie goes to the smaller index. */
#define DEFINE_PAIR(name, value_type, value_floating, index_type, index_floating)           \
    typedef struct {                                                                        \
        value_type value;                                                                   \
        index_type index;                                                                   \
    } name##_t;                                                                             \
    static name##_t name##_apply(name##_t a, name##_t b, int op)                            \
    {                                                                                       \
        bool better = MINLOC == op ? a.value < b.value : a.value > b.value;                 \
                                                                                            \
        return better || (a.value == b.value && a.index < b.index) ? a : b;                 \
    }                                                                                       \
    DEFINE_TWO(name, value_type, value_floating, index_type, index_floating, value, index)

#define DEFINE_TWO(name, type1, floating1, type2, floating2, first, second)                 \
    DEFINE_FOLD(name, name##_t)                                                             \
    static const base_t name = {.size = sizeof(type1) + sizeof(type2),                      \
                                .extent = sizeof(name##_t), .num_parts = 2,                 \
                                .parts = {{offsetof(name##_t, first), sizeof(type1), floating1}, \
                                          {offsetof(name##_t, second), sizeof(type2), floating2}}, \
                                .fold = name##_fold};

DEFINE_INTEGER(i8, int8_t)
DEFINE_INTEGER(i16, int16_t)
DEFINE_INTEGER(i32, int32_t)
DEFINE_INTEGER(i64, int64_t)
DEFINE_INTEGER(u8, uint8_t)
DEFINE_INTEGER(u16, uint16_t)
DEFINE_INTEGER(u32, uint32_t)
DEFINE_INTEGER(u64, uint64_t)
DEFINE_FLOATING(f32, float)
DEFINE_FLOATING(f64, double)
DEFINE_FLOATING(flong, long double)
DEFINE_COMPLEX(c32, float)
DEFINE_COMPLEX(c64, double)
DEFINE_COMPLEX(clong, long double)
DEFINE_PAIR(short_int, short, false, int, false)
DEFINE_PAIR(int_int, int, false, int, false)
DEFINE_PAIR(long_int, long, false, int, false)
DEFINE_PAIR(float_int, float, true, int, false)
DEFINE_PAIR(double_int, double, true, int, false)
DEFINE_PAIR(flong_int, long double, true, int, false)
DEFINE_PAIR(float_float, float, true, float, true)
DEFINE_PAIR(double_double, double, true, double, true)

/* What the standard allows for each class of types. */
#define ARITHMETIC (1u << SUM | 1u << PROD)
#define ORDER      (1u << MIN | 1u << MAX)
#define BITS       (1u << BAND | 1u << BOR | 1u << BXOR)
#define LOGIC      (1u << LAND | 1u << LOR | 1u << LXOR)
#define LOCATION   (1u << MINLOC | 1u << MAXLOC)

/* Integers of languages whose sizes the test does not know. */
#define SIZED_SIGNED(type) \
    (1 == sizeof(type) ? &i8 : 2 == sizeof(type) ? &i16 : 4 == sizeof(type) ? &i32 : &i64)

static const type_t types[] = {
#define T(name, base, ops) {#name, MPI_##name, &base, ops, true},
#define NUMBER (ARITHMETIC | ORDER | BITS)
#define C_SIGNED(name, type) {#name, MPI_##name, SIZED_SIGNED(type), NUMBER | LOGIC, true},
#define C_UNSIGNED(name, base) T(name, base, NUMBER | LOGIC)
#define ADDRESS(name, type) {#name, MPI_##name, SIZED_SIGNED(type), NUMBER, true},
#define FORTRAN_INTEGER(name, base) T(name, base, NUMBER)
#define FLOATING(name, base) T(name, base, ARITHMETIC | ORDER)
#define COMPLEX(name, base) T(name, base, ARITHMETIC)
#define LOGICAL(name, base) T(name, base, LOGIC)
#define PAIR(name, base) T(name, base, LOCATION)
#define NOT_OFFERED(name, base, ops) {#name, MPI_##name, &base, ops, false},
#define UNKNOWN(name) {#name, MPI_##name, NULL, 0, false},
    C_SIGNED(SIGNED_CHAR, signed char)
    C_SIGNED(SHORT, short)
    C_SIGNED(INT, int)
    C_SIGNED(LONG, long)
    C_SIGNED(LONG_LONG, long long)
    C_SIGNED(LONG_LONG_INT, long long)
    C_SIGNED(INT8_T, int8_t)
    C_SIGNED(INT16_T, int16_t)
    C_SIGNED(INT32_T, int32_t)
    C_SIGNED(INT64_T, int64_t)
    C_UNSIGNED(UNSIGNED_CHAR, u8)
    C_UNSIGNED(UNSIGNED_SHORT, u16)
    C_UNSIGNED(UNSIGNED, u32)
    C_UNSIGNED(UNSIGNED_LONG, u64)
    C_UNSIGNED(UNSIGNED_LONG_LONG, u64)
    C_UNSIGNED(UINT8_T, u8)
    C_UNSIGNED(UINT16_T, u16)
    C_UNSIGNED(UINT32_T, u32)
    C_UNSIGNED(UINT64_T, u64)
    ADDRESS(AINT, MPI_Aint)
    ADDRESS(OFFSET, MPI_Offset)
    ADDRESS(COUNT, MPI_Count)
    FORTRAN_INTEGER(INTEGER, i32)
    FLOATING(FLOAT, f32)
    FLOATING(DOUBLE, f64)
    FLOATING(REAL, f32)
    FLOATING(DOUBLE_PRECISION, f64)
    COMPLEX(C_COMPLEX, c32)
    COMPLEX(C_FLOAT_COMPLEX, c32)
    COMPLEX(C_DOUBLE_COMPLEX, c64)
#ifdef MPI_CXX_COMPLEX
    COMPLEX(CXX_COMPLEX, c32)
#endif
    COMPLEX(CXX_FLOAT_COMPLEX, c32)
    COMPLEX(CXX_DOUBLE_COMPLEX, c64)
    COMPLEX(COMPLEX, c32)
    COMPLEX(DOUBLE_COMPLEX, c64)
    LOGICAL(C_BOOL, u8)
    LOGICAL(CXX_BOOL, u8)
    LOGICAL(LOGICAL, i32)
    T(BYTE, u8, BITS)
    PAIR(SHORT_INT, short_int)
    PAIR(2INT, int_int)
    PAIR(LONG_INT, long_int)
    PAIR(FLOAT_INT, float_int)
    PAIR(DOUBLE_INT, double_int)
    PAIR(2INTEGER, int_int)
    PAIR(2REAL, float_float)
    PAIR(2DOUBLE_PRECISION, double_double)
#ifdef MPI_INTEGER1
    FORTRAN_INTEGER(INTEGER1, i8)
#endif
#ifdef MPI_INTEGER2
    FORTRAN_INTEGER(INTEGER2, i16)
#endif
#ifdef MPI_INTEGER4
    FORTRAN_INTEGER(INTEGER4, i32)
#endif
#ifdef MPI_INTEGER8
    FORTRAN_INTEGER(INTEGER8, i64)
#endif
#ifdef MPI_REAL4
    FLOATING(REAL4, f32)
#endif
#ifdef MPI_REAL8
    FLOATING(REAL8, f64)
#endif
#ifdef MPI_COMPLEX8
    COMPLEX(COMPLEX8, c32)
#endif
#ifdef MPI_COMPLEX16
    COMPLEX(COMPLEX16, c64)
#endif
#ifdef MPI_LOGICAL1
    LOGICAL(LOGICAL1, i8)
#endif
#ifdef MPI_LOGICAL2
    LOGICAL(LOGICAL2, i16)
#endif
#ifdef MPI_LOGICAL4
    LOGICAL(LOGICAL4, i32)
#endif
#ifdef MPI_LOGICAL8
    LOGICAL(LOGICAL8, i64)
#endif
    NOT_OFFERED(LONG_DOUBLE, flong, ARITHMETIC | ORDER)
    NOT_OFFERED(C_LONG_DOUBLE_COMPLEX, clong, ARITHMETIC)
    NOT_OFFERED(CXX_LONG_DOUBLE_COMPLEX, clong, ARITHMETIC)
    NOT_OFFERED(LONG_DOUBLE_INT, flong_int, LOCATION)
    UNKNOWN(CHAR)
    UNKNOWN(CHARACTER)
    UNKNOWN(WCHAR)
    UNKNOWN(PACKED)
#ifdef MPI_2COMPLEX
    UNKNOWN(2COMPLEX)
    UNKNOWN(2DOUBLE_COMPLEX)
#endif
#ifdef MPI_REAL16
    UNKNOWN(REAL16)
    UNKNOWN(COMPLEX32)
#endif
};
#define NUM_TYPES (sizeof(types) / sizeof(types[0]))

const type_t *types_all(unsigned *count)
{
    *count = NUM_TYPES;
    return types;
}

const type_t *type_find(const char *name)
{
    for (size_t i = 0; i < NUM_TYPES; i++) {
        if (0 == strcmp(name, types[i].name)) {
            return &types[i];
        }
    }
    return NULL;
}

bool type_allows(const type_t *type, int op)
{
    return 0 != (type->ops >> op & 1);
}

static uint64_t random_integer(const type_t *type, int op, uint64_t bits, bool exact)
{
    /* a few zeros, for AND, and many for OR */
    uint64_t zeros = LAND == op ? 8 : 2;

    if (exact) { /* not below 0: Open MPI 4.1's MAX and MIN take unsigned long for signed */
        return bits % 5;
    }
    if (MINLOC == op || MAXLOC == op) { /* few values, for ties */
        return bits % 5 - 2;
    }
    if (LOGIC == type->ops) {
        return 0 != (bits >> 56) % zeros;
    }
    return 0 != (1u << op & LOGIC) && 0 == (bits >> 56) % zeros ? 0 : bits;
}

static double random_floating(int op, uint64_t bits, bool exact)
{
    static const double special[] = {0.0, -0.0, INFINITY, -INFINITY, 1e-310, 1e-40};
    double mantissa = 1.0 + (double) (bits >> 12) / 0x1p52;

    if (!exact && 0 == bits % 64) {
        return 0 == bits / 64 % 7 ? (double) NAN : special[bits / 64 % 6];
    }
    if (MINLOC == op || MAXLOC == op || exact) {
        return (double) (bits / 64 % 5) - 2;
    }
    return ldexp(bits & 1 ? mantissa : -mantissa, (int) (bits / 2 % 41) - 20);
}

static void make_part(const part_t *part, double floating, uint64_t integer, char *at)
{
    float single = (float) floating;
    long double extended = floating;

    if (!part->floating) {
        memcpy(at, &integer, part->size); /* low bytes first, or any bytes: both will do */
    } else if (sizeof(single) == part->size) {
        memcpy(at, &single, sizeof(single));
    } else if (sizeof(floating) == part->size) {
        memcpy(at, &floating, sizeof(floating));
    } else {
        memcpy(at, &extended, sizeof(extended));
    }
}

void make_element(const type_t *type, int op, uint64_t bits, bool exact, void *element)
{
    for (unsigned i = 0; i < type->base->num_parts; i++) {
        const part_t *part = &type->base->parts[i];

        make_part(part, random_floating(op, bits, exact), random_integer(type, op, bits, exact),
                  (char *) element + part->offset);
        bits = bits << 32 | bits >> 32;
    }
}

static long double floating_value(const part_t *part, const char *at)
{
    float single;
    double value;
    long double extended;

    if (sizeof(single) == part->size) {
        memcpy(&single, at, sizeof(single));
        return single;
    }
    if (sizeof(value) == part->size) {
        memcpy(&value, at, sizeof(value));
        return value;
    }
    memcpy(&extended, at, sizeof(extended));
    return extended;
}

static bool same_part(const part_t *part, int op, const char *result, const char *expected)
{
    long double a, b;

    if (0 == memcmp(result, expected, part->size)) {
        return true;
    }
    if (!part->floating) {
        return false;
    }
    a = floating_value(part, result);
    b = floating_value(part, expected);
    /* a long double has bytes that mean nothing */
    return part->size > sizeof(double) ? a == b : op <= PROD && isnan(a) && isnan(b);
}

bool same_element(const type_t *type, int op, const void *result, const void *expected)
{
    for (unsigned i = 0; i < type->base->num_parts; i++) {
        const part_t *part = &type->base->parts[i];

        if (!same_part(part, op, (const char *) result + part->offset,
                       (const char *) expected + part->offset)) {
            return false;
        }
    }
    return true;
}

static bool is_padding(const base_t *base, size_t byte)
{
    for (unsigned i = 0; i < base->num_parts; i++) {
        if (byte >= base->parts[i].offset && byte < base->parts[i].offset + base->parts[i].size) {
            return false;
        }
    }
    return true;
}

void fill_padding(const type_t *type, unsigned char pattern, void *element)
{
    for (size_t i = 0; i < type->base->extent; i++) {
        if (is_padding(type->base, i)) {
            ((unsigned char *) element)[i] = pattern;
        }
    }
}

bool has_padding(const type_t *type, unsigned char pattern, const void *element)
{
    for (size_t i = 0; i < type->base->extent; i++) {
        if (is_padding(type->base, i) && pattern != ((const unsigned char *) element)[i]) {
            return false;
        }
    }
    return true;
}
