/* SPDX-License-Identifier: BSD-3-Clause */
/* Owns the unit tests of the reduction kernels: every kernel, bit by bit, against scalar code. */
/* Test: quick 120; sanitizers: all 240 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <limits.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "reduction/reduction.h"
#include "tests/unit/reduction_reference.h"

#define MAX_SRC 64
/* Up to here every number of inputs is tested, with every count. */
#define FEW_SRC 9
#define MAX_COUNT 4097
#define GUARD 64
#define CANARY 0xa5
/* Guards on both sides, and room for the worst misalignment. */
#define BUF_BYTES (GUARD + 64 + MAX_COUNT * MAX_ELEM + GUARD)

static const size_t counts[] = { 0, 1, 2, 3, 7, 63, 64, 65, 1000, MAX_COUNT };
/* Around what a vector, a block, and the 8 KiB of blocks between two groups have of some type. */
static const size_t many_counts[] = { 0, 1, 31, 32, 33, 127, 129, 511, 512, 513, 1023, 2047, 2049 };

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
/* Folds under way, whose results so far are in expected[]. */
static unsigned char states[MAX_COUNT][MAX_ELEM];

/* ---- Input data. ---- */

/* Where the elements of input k start: guard, plus an odd shift of its own if misaligned. */
static unsigned char *input_at(size_t k, bool misaligned)
{
    return inputs[k] + GUARD + (misaligned ? (7 * k + 1) % 64 : 0);
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
            if (i < NUM_SPECIALS * NUM_SPECIALS && k < 2)
                special = (int)(k == 0 ? i / NUM_SPECIALS : i % NUM_SPECIALS);
            else if (next_random() % 16 == 0)
                special = (int)(next_random() % NUM_SPECIALS);
            store_value(type, input_at(k, misaligned) + i * size, special);
        }
    }
}

/* ---- The check of one call. ---- */

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
        unsigned char g[MAX_ELEM], e[MAX_ELEM];
        memcpy(g, got + i * size, size);
        memcpy(e, expected + i * size, size);
        if (c->num_src > 1) {
            unify_nan(c->type, g);
            unify_nan(c->type, e);
        }
        if (memcmp(g, e, size) != 0)
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

/* expected[] = the left fold of the first num_src inputs, after that of one input fewer. */
static void expect(unsigned op, unsigned type, size_t num_src, bool misaligned)
{
    const size_t size = oc_type_size(type);
    const unsigned char *from = input_at(num_src - 1, misaligned);

    for (size_t i = 0; i < MAX_COUNT; i++) {
        if (num_src == 1) {
            begin_fold(type, states[i], from + i * size);
            memcpy(expected + i * size, from + i * size, size);
        } else {
            fold(op, type, states[i], from + i * size);
            end_fold(type, expected + i * size, states[i]);
        }
    }
}

static void check_pair(oc_isa_t isa, unsigned op, unsigned type, bool misaligned)
{
    struct call c = { .op = op, .type = type, .isa = isa };

    for (c.num_src = 1; c.num_src <= FEW_SRC; c.num_src++) {
        expect(op, type, c.num_src, misaligned);
        for (size_t n = 0; n < sizeof(counts) / sizeof(counts[0]); n++) {
            c.count = counts[n];
            c.layout = misaligned ? MISALIGNED : ALIGNED;
            check_call(&c);
            c.layout = misaligned ? IN_PLACE_FIRST : IN_PLACE_LAST;
            check_call(&c);
        }
    }
}

/*
 * More inputs than are folded at a time, at the borders of groups and of the blocks that these
 * keep: what changes from one group to the next is the same for all operations of a type.
 */
static void check_many_inputs(oc_isa_t isa, unsigned op, unsigned type, bool misaligned)
{
    static const size_t many[] = { 10, 15, 16, 17, 18, 24, 25, 33, 63, 64 };
    struct call c = { .op = op, .type = type, .isa = isa };
    size_t next = 1;

    for (size_t i = 0; i < sizeof(many) / sizeof(many[0]); i++) {
        for (; next <= many[i]; next++)
            expect(op, type, next, misaligned);
        c.num_src = many[i];
        for (size_t n = 0; n < sizeof(many_counts) / sizeof(many_counts[0]); n++) {
            c.count = many_counts[n];
            c.layout = misaligned ? IN_PLACE_FIRST : ALIGNED;
            check_call(&c);
        }
        c.count = MAX_COUNT;
        c.layout = misaligned ? MISALIGNED : IN_PLACE_LAST;
        check_call(&c);
    }
}

static void test_many_inputs(void **state)
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
                if (is_offered(op, type) && (misaligned || OC_OP_SUM == op || OC_OP_MINLOC == op))
                    check_many_inputs(isa, op, type, misaligned);
            }
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
    for (unsigned type = OC_TYPE_INT8; type < OC_TYPE_END; type++) {
        for (unsigned op = OC_OP_SUM; op < OC_OP_END; op++) {
            for (size_t num_src = 1; num_src <= 2 && is_offered(op, type); num_src++)
                oc_reduce_kernel(op, type)(NULL, src, num_src, 0);
        }
    }
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
    static const char *const ops[] = { "unknown", "sum",  "prod", "min",  "max",
                                       "band",    "bor",  "bxor", "land", "lor",
                                       "lxor",    "minloc", "maxloc", "unknown" };
    static const struct {
        const char *name;
        size_t size;
    } types[] = { { "unknown", 0 },      { "int8", 1 },           { "uint8", 1 },
                  { "int16", 2 },        { "uint16", 2 },         { "int32", 4 },
                  { "uint32", 4 },       { "int64", 8 },          { "uint64", 8 },
                  { "float", 4 },        { "double", 8 },         { "float16", 2 },
                  { "bfloat16", 2 },     { "complex-float", 8 },  { "complex-double", 16 },
                  { "int16-int32", 6 },  { "int32-int32", 8 },    { "int64-int32", 12 },
                  { "float-int32", 8 },  { "double-int32", 12 },  { "float-float", 8 },
                  { "double-double", 16 }, { "unknown", 0 } };

    (void)state;
    for (unsigned i = 0; i < sizeof(ops) / sizeof(ops[0]); i++)
        assert_string_equal(oc_op_name(i), ops[i]);
    for (unsigned i = 0; i < sizeof(types) / sizeof(types[0]); i++) {
        assert_string_equal(oc_type_name(i), types[i].name);
        assert_int_equal(oc_type_size(i), types[i].size);
    }
#ifdef __aarch64__
    assert_string_equal(oc_isa_name(OC_ISA_BASELINE), "neon");
#else
    assert_string_equal(oc_isa_name(OC_ISA_BASELINE), "baseline");
#endif
    assert_string_equal(oc_isa_name(OC_ISA_AVX2), "avx2");
    assert_string_equal(oc_isa_name(OC_ISA_AVX512), "avx512");
}

/* The choice is made once per process, so each wish needs a process where nothing was chosen. */
static oc_isa_t isa_with_wish(const char *wish)
{
    int status = 0;
    const pid_t pid = fork();

    if (pid == 0) {
        if (wish)
            setenv("OPTCAST_ISA", wish, 1);
        else
            unsetenv("OPTCAST_ISA");
        _exit((int)oc_reduce_isa());
    }
    assert_true(pid > 0);
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_true(WIFEXITED(status));
    return (oc_isa_t)WEXITSTATUS(status);
}

/* Has to be the first test: see above. */
/* Before anything else: the choice is made once. */
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
    assert_int_equal(isa_with_wish(oc_isa_name(OC_ISA_BASELINE)), OC_ISA_BASELINE);
    assert_ptr_equal(oc_reduce_kernel(OC_OP_SUM, OC_TYPE_FLOAT),
                     oc_reduce_kernel_isa(OC_OP_SUM, OC_TYPE_FLOAT, oc_reduce_isa()));
}

/* What nodes send: exact floats, and their one rounding is that of the kernels. */
static void test_conversions(void **state)
{
    static const unsigned halves[] = {OC_TYPE_FLOAT16, OC_TYPE_BFLOAT16};
    static uint16_t all[65536], shifted[65536], sums[65536], back[65536];
    static float a[65536], b[65536];

    (void) state;
    for (unsigned t = 0; t < 2; t++) {
        const void *const both[] = {all, shifted};

        for (unsigned i = 0; i < 65536; i++) {
            all[i] = (uint16_t) i;
            shifted[i] = (uint16_t) (i * 40503u + 77);
        }
        oc_widen_kernel(halves[t])(a, all, 65536);
        oc_widen_kernel(halves[t])(b, shifted, 65536);
        oc_narrow_kernel(halves[t])(back, a, 65535); /* no multiple of any vector */
        for (unsigned i = 0; i < 65535; i++) {
            assert_true(back[i] == all[i] || a[i] != a[i]);
            a[i] += b[i];
        }
        oc_reduce_kernel(OC_OP_SUM, halves[t])(sums, both, 2, 65535);
        oc_narrow_kernel(halves[t])(back, a, 65535);
        for (unsigned i = 0; i < 65535; i++) {
            assert_true(back[i] == sums[i] || a[i] != a[i]);
        }
    }
    assert_null(oc_widen_kernel(OC_TYPE_FLOAT));
    assert_null(oc_narrow_kernel(OC_TYPE_INT16));
    assert_null(oc_widen_kernel(OC_TYPE_END));
    assert_null(oc_narrow_kernel(0));
}

int main(void)
{
    static oc_isa_t isas[] = { OC_ISA_BASELINE, OC_ISA_AVX2, OC_ISA_AVX512 };
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_isa_choice),
        { "kernels_baseline", test_all_kernels, NULL, NULL, &isas[0] },
        { "kernels_avx2", test_all_kernels, NULL, NULL, &isas[1] },
        { "kernels_avx512", test_all_kernels, NULL, NULL, &isas[2] },
        { "many_baseline", test_many_inputs, NULL, NULL, &isas[0] },
        { "many_avx2", test_many_inputs, NULL, NULL, &isas[1] },
        { "many_avx512", test_many_inputs, NULL, NULL, &isas[2] },
        cmocka_unit_test(test_no_elements),
        cmocka_unit_test(test_wire_values),
        cmocka_unit_test(test_names_and_sizes),
        cmocka_unit_test(test_conversions),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
