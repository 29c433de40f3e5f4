/* SPDX-License-Identifier: BSD-3-Clause */
/* Owns the unit tests of the reduction kernels: every kernel, bit by bit, against scalar code. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <float.h>
#include <limits.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "reduction/reduction.h"

#define MAX_SRC 9
#define MAX_COUNT 4097
#define MAX_ELEM 8
#define GUARD 64
#define CANARY 0xa5
/* Guards on both sides, and room for the worst misalignment. */
#define BUF_BYTES (GUARD + 64 + MAX_COUNT * MAX_ELEM + GUARD)

static const size_t counts[] = { 0, 1, 2, 3, 7, 63, 64, 65, 1000, MAX_COUNT };

/* How the buffers of one call lie in memory. */
enum layout { ALIGNED, MISALIGNED, IN_PLACE_FIRST, IN_PLACE_LAST, LAYOUT_END };

/* The kernel under test and what was asked of it. */
struct call {
    unsigned op, type;
    oc_isa_t isa;
    size_t num_src, count;
    enum layout layout;
};

static _Alignas(64) unsigned char inputs[MAX_SRC][BUF_BYTES];
static _Alignas(64) unsigned char output[BUF_BYTES];
static _Alignas(64) unsigned char expected[MAX_COUNT * MAX_ELEM];

static uint64_t next_random(void)
{
    static uint64_t x = 0x9e3779b97f4a7c15u;

    x ^= x << 13;
    x ^= x >> 7;
    x ^= x << 17;
    return x;
}

static bool is_float(unsigned type)
{
    return type == OC_TYPE_FLOAT || type == OC_TYPE_DOUBLE;
}

static bool is_signed(unsigned type)
{
    return type == OC_TYPE_INT8 || type == OC_TYPE_INT16 || type == OC_TYPE_INT32 ||
           type == OC_TYPE_INT64;
}

static bool is_offered(unsigned op, unsigned type)
{
    if (op < OC_OP_SUM || op >= OC_OP_END || type < OC_TYPE_INT8 || type >= OC_TYPE_END)
        return false;
    return !is_float(type) || op <= OC_OP_MAX;
}

/* ---- The reference: one element at a time, integers always in 64 bits. ---- */

/* Little-endian or not: the value of an integer element, sign- or zero-extended. */
static uint64_t load_int(unsigned type, const void *from)
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

static void store_int(unsigned type, void *to, uint64_t value)
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

/* acc = acc OP x, for one element of any type. */
static void apply(unsigned op, unsigned type, void *acc, const void *x)
{
    if (type == OC_TYPE_FLOAT) {
        float a, b;
        memcpy(&a, acc, sizeof(a));
        memcpy(&b, x, sizeof(b));
        a = apply_float(op, a, b);
        memcpy(acc, &a, sizeof(a));
    } else if (type == OC_TYPE_DOUBLE) {
        double a, b;
        memcpy(&a, acc, sizeof(a));
        memcpy(&b, x, sizeof(b));
        a = apply_double(op, a, b);
        memcpy(acc, &a, sizeof(a));
    } else {
        store_int(type, acc,
                  apply_int(op, is_signed(type), load_int(type, acc), load_int(type, x)));
    }
}

/* ---- Input data. ---- */

/* Where the elements of input k start: guard, plus an odd shift of its own if misaligned. */
static unsigned char *input_at(size_t k, bool misaligned)
{
    return inputs[k] + GUARD + (misaligned ? (7 * k + 1) % 64 : 0);
}

static uint64_t special_int(unsigned i)
{
    static const uint64_t values[] = { 0, 1, 2, UINT64_MAX, INT64_MAX, 1ull << 63,
                                       0x80, 0x7f, 0x8000, 0x7fff, 0x80000000, 0x7fffffff };

    return values[i % (sizeof(values) / sizeof(values[0]))];
}

static double special_float(unsigned type, unsigned i)
{
    const bool wide = type == OC_TYPE_DOUBLE;
    const double min = wide ? DBL_MIN : FLT_MIN;
    const double tiny = wide ? DBL_TRUE_MIN : FLT_TRUE_MIN;
    const double max = wide ? DBL_MAX : FLT_MAX;
    const double values[] = { 0.0, -0.0, 1.0,  -1.0, INFINITY, -INFINITY,
                              NAN, min,  tiny, -tiny, min / 2, max };

    return values[i % (sizeof(values) / sizeof(values[0]))];
}

static void store_float(unsigned type, void *to, double value)
{
    const float narrow = (float)value;

    if (type == OC_TYPE_FLOAT)
        memcpy(to, &narrow, sizeof(narrow));
    else
        memcpy(to, &value, sizeof(value));
}

/* special < 0: a random value; else special value number `special`. */
static void store_value(unsigned type, void *to, int special)
{
    const uint64_t r = next_random();

    if (!is_float(type))
        store_int(type, to, special < 0 ? r : special_int((unsigned)special));
    else if (special < 0)
        store_float(type, to, ((double)(r >> 11) / (double)(1ull << 52) - 1.0) * 3.0);
    else
        store_float(type, to, special_float(type, (unsigned)special));
}

/*
 * Starts with every special value against every other one in inputs 0 and 1; after that, mostly
 * random values, so that a NaN or zero does not swallow the fold of many inputs.
 */
static void fill_inputs(unsigned type, bool misaligned)
{
    const size_t size = oc_type_size(type);

    memset(inputs, CANARY, sizeof(inputs));
    for (size_t k = 0; k < MAX_SRC; k++) {
        for (size_t i = 0; i < MAX_COUNT; i++) {
            int special = -1;
            if (i < 144 && k < 2)
                special = (int)(k == 0 ? i / 12 : i % 12);
            else if (next_random() % 16 == 0)
                special = (int)(next_random() % 12);
            store_value(type, input_at(k, misaligned) + i * size, special);
        }
    }
}

/* ---- The check of one call. ---- */

static bool both_nan(unsigned type, const void *x, const void *y)
{
    float f[2];
    double d[2];

    if (type == OC_TYPE_FLOAT) {
        memcpy(&f[0], x, sizeof(f[0]));
        memcpy(&f[1], y, sizeof(f[1]));
        return isnan(f[0]) && isnan(f[1]);
    }
    memcpy(&d[0], x, sizeof(d[0]));
    memcpy(&d[1], y, sizeof(d[1]));
    return isnan(d[0]) && isnan(d[1]);
}

static void fail_call(const struct call *c, const char *what, size_t where)
{
    fail_msg("%s %s %s, %zu inputs, count %zu, layout %d: %s at %zu", oc_isa_name(c->isa),
             oc_op_name(c->op), oc_type_name(c->type), c->num_src, c->count, (int)c->layout, what,
             where);
}

static void check_values(const struct call *c, const unsigned char *got)
{
    const size_t size = oc_type_size(c->type);

    if (memcmp(got, expected, c->count * size) == 0)
        return;
    for (size_t i = 0; i < c->count; i++) {
        const unsigned char *g = got + i * size, *e = expected + i * size;
        if (memcmp(g, e, size) != 0 && !(is_float(c->type) && both_nan(c->type, g, e)))
            fail_call(c, "wrong value", i);
    }
}

static void check_canaries(const struct call *c, const unsigned char *dst)
{
    const unsigned char *end = dst + c->count * oc_type_size(c->type);

    for (size_t i = 1; i <= GUARD; i++) {
        if (dst[-(ptrdiff_t)i] != CANARY)
            fail_call(c, "write before dst", i);
        if (end[i - 1] != CANARY)
            fail_call(c, "write after dst", i);
    }
}

/* In place works on a copy in the output buffer, so inputs[] stays good for the next call. */
static void check_call(const struct call *c)
{
    const bool misaligned = c->layout == MISALIGNED || c->layout == IN_PLACE_FIRST;
    const size_t bytes = c->count * oc_type_size(c->type);
    const size_t in_place = c->layout == IN_PLACE_FIRST ? 0 : c->num_src - 1;
    unsigned char *dst = output + GUARD + (misaligned ? 3 : 0);
    const void *src[MAX_SRC];

    for (size_t k = 0; k < c->num_src; k++)
        src[k] = input_at(k, misaligned);
    memset(output, CANARY, bytes + 2 * GUARD + 64);
    if (c->layout == IN_PLACE_FIRST || c->layout == IN_PLACE_LAST) {
        memcpy(dst, src[in_place], bytes);
        src[in_place] = dst;
    }
    oc_reduce_kernel_isa(c->op, c->type, c->isa)(dst, src, c->num_src, c->count);
    check_values(c, dst);
    check_canaries(c, dst);
}

/* ---- The tests. ---- */

/* `expected` grows by one input per round: the left fold of a prefix of src[]. */
static void check_pair(oc_isa_t isa, unsigned op, unsigned type, bool misaligned)
{
    const size_t size = oc_type_size(type);
    struct call c = { .op = op, .type = type, .isa = isa };

    memcpy(expected, input_at(0, misaligned), MAX_COUNT * size);
    for (c.num_src = 1; c.num_src <= MAX_SRC; c.num_src++) {
        for (size_t i = 0; c.num_src > 1 && i < MAX_COUNT; i++)
            apply(op, type, expected + i * size, input_at(c.num_src - 1, misaligned) + i * size);
        for (size_t n = 0; n < sizeof(counts) / sizeof(counts[0]); n++) {
            c.count = counts[n];
            c.layout = misaligned ? MISALIGNED : ALIGNED;
            check_call(&c);
            c.layout = misaligned ? IN_PLACE_FIRST : IN_PLACE_LAST;
            check_call(&c);
        }
    }
}

static void test_all_kernels(void **state)
{
    const oc_isa_t isa = *(const oc_isa_t *)*state;

    if (!oc_reduce_kernel_isa(OC_OP_SUM, OC_TYPE_FLOAT, isa)) {
        print_message("%s: not in this build, or this CPU cannot run it\n", oc_isa_name(isa));
        skip();
    }
    for (unsigned type = OC_TYPE_INT8; type < OC_TYPE_END; type++) {
        for (int misaligned = 0; misaligned <= 1; misaligned++) {
            fill_inputs(type, misaligned);
            for (unsigned op = OC_OP_SUM; op < OC_OP_END; op++) {
                if (is_offered(op, type))
                    check_pair(isa, op, type, misaligned);
            }
        }
    }
}

/* With no elements not even null pointers matter. */
static void test_no_elements(void **state)
{
    const void *src[2] = { NULL, NULL };

    (void)state;
    oc_reduce_kernel(OC_OP_SUM, OC_TYPE_DOUBLE)(NULL, src, 2, 0);
}

/* Reduces two values of 4 bytes or fewer, or a copy of one; for results written out by hand. */
static uint32_t reduce2(unsigned op, unsigned type, uint32_t a, const uint32_t *b)
{
    unsigned char x[MAX_ELEM], y[MAX_ELEM] = { 0 }, out[MAX_ELEM];
    const void *src[2] = { x, y };

    store_int(type, x, a);
    if (b)
        store_int(type, y, *b);
    oc_reduce_kernel(op, type)(out, src, b ? 2 : 1, 1);
    return (uint32_t)load_int(type, out);
}

static void test_integers_by_hand(void **state)
{
    static const uint32_t one = 1, two = 2, ffff = 0xffff, top16 = 0x8000, top32 = 1u << 31;

    (void)state;
    assert_int_equal((int32_t)reduce2(OC_OP_SUM, OC_TYPE_INT8, 127, &one), -128);
    assert_int_equal((int32_t)reduce2(OC_OP_SUM, OC_TYPE_INT32, INT_MAX, &one), INT_MIN);
    assert_int_equal(reduce2(OC_OP_PROD, OC_TYPE_UINT16, 0xffff, &ffff), 1);
    assert_int_equal(reduce2(OC_OP_PROD, OC_TYPE_INT16, 0x8000, &top16), 0);
    assert_int_equal(reduce2(OC_OP_PROD, OC_TYPE_INT32, 1u << 31, &top32), 0);
    assert_int_equal((int32_t)reduce2(OC_OP_MIN, OC_TYPE_INT16, 0xffff, &one), -1);
    assert_int_equal(reduce2(OC_OP_MIN, OC_TYPE_UINT16, 0xffff, &one), 1);
    assert_int_equal(reduce2(OC_OP_LAND, OC_TYPE_UINT8, 4, &two), 1);
    assert_int_equal(reduce2(OC_OP_LXOR, OC_TYPE_UINT8, 4, &two), 0);
    assert_int_equal(reduce2(OC_OP_LOR, OC_TYPE_UINT8, 4, NULL), 4);
}

static void assert_float_pair(unsigned op, float a, float b, float want)
{
    const void *src[2] = { &a, &b };
    float got;

    oc_reduce_kernel(op, OC_TYPE_FLOAT)(&got, src, 2, 1);
    if (isnan(want))
        assert_true(isnan(got));
    else
        assert_memory_equal(&got, &want, sizeof(got));
}

/* A comparison with NaN is false, and so is one of -0 with +0: the right operand is taken. */
static void test_floats_by_hand(void **state)
{
    (void)state;
    assert_float_pair(OC_OP_MIN, NAN, 1.0f, 1.0f);
    assert_float_pair(OC_OP_MIN, 1.0f, NAN, NAN);
    assert_float_pair(OC_OP_MAX, NAN, 1.0f, 1.0f);
    assert_float_pair(OC_OP_MAX, 1.0f, NAN, NAN);
    assert_float_pair(OC_OP_MIN, -0.0f, 0.0f, 0.0f);
    assert_float_pair(OC_OP_MIN, 0.0f, -0.0f, -0.0f);
    assert_float_pair(OC_OP_MAX, 0.0f, -0.0f, -0.0f);
    assert_float_pair(OC_OP_SUM, FLT_TRUE_MIN, FLT_TRUE_MIN, 2 * FLT_TRUE_MIN);
    assert_float_pair(OC_OP_SUM, INFINITY, -INFINITY, NAN);
}

/* (2^24 + 1) + 1 loses both ones; 2^24 + (1 + 1) would not. */
static void test_left_fold(void **state)
{
    const float big = 16777216.0f, one = 1.0f;
    const void *src[3] = { &big, &one, &one };
    float got;

    (void)state;
    oc_reduce_kernel(OC_OP_SUM, OC_TYPE_FLOAT)(&got, src, 3, 1);
    assert_memory_equal(&got, &big, sizeof(got));
}

static void test_wire_values(void **state)
{
    static const unsigned garbage[] = { 255, 65535, INT_MAX, 1u << 31, UINT_MAX };

    (void)state;
    for (unsigned op = 0; op < 40; op++) {
        for (unsigned type = 0; type < 40; type++) {
            assert_int_equal(!!oc_reduce_kernel(op, type), is_offered(op, type));
            assert_int_equal(!!oc_reduce_kernel_isa(op, type, OC_ISA_BASELINE),
                             is_offered(op, type));
        }
    }
    for (size_t i = 0; i < sizeof(garbage) / sizeof(garbage[0]); i++) {
        assert_null(oc_reduce_kernel(garbage[i], OC_TYPE_FLOAT));
        assert_null(oc_reduce_kernel(OC_OP_SUM, garbage[i]));
        assert_null(oc_reduce_kernel_isa(OC_OP_SUM, OC_TYPE_FLOAT, (oc_isa_t)garbage[i]));
        assert_int_equal(oc_type_size(garbage[i]), 0);
        assert_string_equal(oc_type_name(garbage[i]), "unknown");
        assert_string_equal(oc_op_name(garbage[i]), "unknown");
        assert_string_equal(oc_isa_name((oc_isa_t)garbage[i]), "unknown");
    }
}

/* The numbers are on the wire: a change here breaks peers that are already deployed. */
static void test_names_and_sizes(void **state)
{
    static const char *const ops[] = { "unknown", "sum", "prod", "min",  "max", "band",
                                       "bor",     "bxor", "land", "lor", "lxor", "unknown" };
    static const char *const names[] = { "unknown", "int8",  "uint8",  "int16", "uint16", "int32",
                                         "uint32",  "int64", "uint64", "float", "double",
                                         "unknown" };
    static const size_t sizes[] = { 0, 1, 1, 2, 2, 4, 4, 8, 8, 4, 8, 0 };

    (void)state;
    for (unsigned i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
        assert_string_equal(oc_op_name(i), ops[i]);
        assert_string_equal(oc_type_name(i), names[i]);
        assert_int_equal(oc_type_size(i), sizes[i]);
    }
    assert_string_equal(oc_isa_name(OC_ISA_BASELINE), "baseline");
    assert_string_equal(oc_isa_name(OC_ISA_AVX2), "avx2");
    assert_string_equal(oc_isa_name(OC_ISA_AVX512), "avx512");
}

/* The choice is made once per process, so each wish needs a process of its own: see main(). */
static oc_isa_t isa_with_wish(const char *wish)
{
    int status = 0;
    const pid_t pid = fork();

    if (pid == 0) {
        if (wish)
            setenv("OPTCAST_ISA", wish, 1);
        else
            unsetenv("OPTCAST_ISA");
        execl("/proc/self/exe", "test_reduction", "--isa", (char *)NULL);
        _exit(127);
    }
    assert_true(pid > 0);
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_true(WIFEXITED(status));
    return (oc_isa_t)WEXITSTATUS(status);
}

static void test_isa_choice(void **state)
{
    oc_isa_t best = OC_ISA_BASELINE;

    (void)state;
    for (int isa = OC_ISA_BASELINE; isa < OC_ISA_END; isa++) {
        if (oc_reduce_kernel_isa(OC_OP_SUM, OC_TYPE_FLOAT, (oc_isa_t)isa))
            best = (oc_isa_t)isa;
    }
    assert_int_equal(isa_with_wish(NULL), best);
    assert_int_equal(isa_with_wish("nonsense"), best);
    assert_int_equal(isa_with_wish(""), best);
    assert_int_equal(isa_with_wish("avx512"), best);
    assert_int_equal(isa_with_wish("avx2"), best < OC_ISA_AVX2 ? best : OC_ISA_AVX2);
    assert_int_equal(isa_with_wish("baseline"), OC_ISA_BASELINE);
    assert_ptr_equal(oc_reduce_kernel(OC_OP_SUM, OC_TYPE_FLOAT),
                     oc_reduce_kernel_isa(OC_OP_SUM, OC_TYPE_FLOAT, oc_reduce_isa()));
}

int main(int argc, char **argv)
{
    static oc_isa_t isas[] = { OC_ISA_BASELINE, OC_ISA_AVX2, OC_ISA_AVX512 };
    const struct CMUnitTest tests[] = {
        { "kernels_baseline", test_all_kernels, NULL, NULL, &isas[0] },
        { "kernels_avx2", test_all_kernels, NULL, NULL, &isas[1] },
        { "kernels_avx512", test_all_kernels, NULL, NULL, &isas[2] },
        cmocka_unit_test(test_no_elements),
        cmocka_unit_test(test_integers_by_hand),
        cmocka_unit_test(test_floats_by_hand),
        cmocka_unit_test(test_left_fold),
        cmocka_unit_test(test_wire_values),
        cmocka_unit_test(test_names_and_sizes),
        cmocka_unit_test(test_isa_choice),
    };

    if (argc == 2 && strcmp(argv[1], "--isa") == 0)
        return (int)oc_reduce_isa();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
