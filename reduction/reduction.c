/* SPDX-License-Identifier: BSD-3-Clause */
/* Owns the names and sizes of types and operations, and the run-time choice of the ISA. */
#include "config.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#ifdef __x86_64__
#include <cpuid.h>
#endif

#include "base/arithmetic.h"
#include "reduction/kernels.h"
#include "reduction/reduction.h"

#define ARRAY_LEN(a) (sizeof(a) / sizeof((a)[0]))

static const struct {
    const char *name;
    size_t size;
} types[OC_TYPE_END] = {
    [OC_TYPE_INT8] = { "int8", sizeof(int8_t) },
    [OC_TYPE_UINT8] = { "uint8", sizeof(uint8_t) },
    [OC_TYPE_INT16] = { "int16", sizeof(int16_t) },
    [OC_TYPE_UINT16] = { "uint16", sizeof(uint16_t) },
    [OC_TYPE_INT32] = { "int32", sizeof(int32_t) },
    [OC_TYPE_UINT32] = { "uint32", sizeof(uint32_t) },
    [OC_TYPE_INT64] = { "int64", sizeof(int64_t) },
    [OC_TYPE_UINT64] = { "uint64", sizeof(uint64_t) },
    [OC_TYPE_FLOAT] = { "float", sizeof(float) },
    [OC_TYPE_DOUBLE] = { "double", sizeof(double) },
    [OC_TYPE_FLOAT16] = { "float16", 2 },
    [OC_TYPE_BFLOAT16] = { "bfloat16", 2 },
    [OC_TYPE_COMPLEX_FLOAT] = { "complex-float", 2 * sizeof(float) },
    [OC_TYPE_COMPLEX_DOUBLE] = { "complex-double", 2 * sizeof(double) },
    [OC_TYPE_INT16_INT32] = { "int16-int32", 6 },
    [OC_TYPE_INT32_INT32] = { "int32-int32", 8 },
    [OC_TYPE_INT64_INT32] = { "int64-int32", 12 },
    [OC_TYPE_FLOAT_INT32] = { "float-int32", sizeof(float) + 4 },
    [OC_TYPE_DOUBLE_INT32] = { "double-int32", sizeof(double) + 4 },
    [OC_TYPE_FLOAT_FLOAT] = { "float-float", 2 * sizeof(float) },
    [OC_TYPE_DOUBLE_DOUBLE] = { "double-double", 2 * sizeof(double) },
};

static const char *const op_names[OC_OP_END] = {
    [OC_OP_SUM] = "sum",       [OC_OP_PROD] = "prod",     [OC_OP_MIN] = "min",
    [OC_OP_MAX] = "max",       [OC_OP_BAND] = "band",     [OC_OP_BOR] = "bor",
    [OC_OP_BXOR] = "bxor",     [OC_OP_LAND] = "land",     [OC_OP_LOR] = "lor",
    [OC_OP_LXOR] = "lxor",     [OC_OP_MINLOC] = "minloc", [OC_OP_MAXLOC] = "maxloc",
};

/* Every aarch64 has NEON: the compiler uses it in the baseline, and people look for its name. */
#ifdef __aarch64__
#define BASELINE_NAME "neon"
#else
#define BASELINE_NAME "baseline"
#endif

static const char *const isa_names[OC_ISA_END] = {
    [OC_ISA_BASELINE] = BASELINE_NAME,
    [OC_ISA_AVX2] = "avx2",
    [OC_ISA_AVX512] = "avx512",
};

static const char *name_or_unknown(const char *const *names, size_t len, size_t index)
{
    return index < len && names[index] ? names[index] : "unknown";
}

size_t oc_type_size(unsigned type)
{
    return type < ARRAY_LEN(types) ? types[type].size : 0;
}

const char *oc_type_name(unsigned type)
{
    return oc_type_size(type) > 0 ? types[type].name : "unknown";
}

const char *oc_op_name(unsigned op)
{
    return name_or_unknown(op_names, ARRAY_LEN(op_names), op);
}

const char *oc_isa_name(oc_isa_t isa)
{
    return name_or_unknown(isa_names, ARRAY_LEN(isa_names), (unsigned)isa);
}

typedef struct {
    const oc_kernel_table_t *kernels;
    const oc_conversions_t *conversions;
} tables_t;

static const tables_t baseline = {&oc_kernels_baseline, &oc_conversions_baseline};

#if defined(__x86_64__) && defined(OPTCAST_HAVE_AVX2)
static const tables_t avx2 = {&oc_kernels_avx2, &oc_conversions_avx2};

/* Not by __builtin_cpu_supports: clang does not know the name. */
static bool has_f16c(void)
{
    unsigned eax, ebx, ecx, edx;

    return __get_cpuid(1, &eax, &ebx, &ecx, &edx) && (ecx & bit_F16C);
}

/* __builtin_cpu_supports also asks the OS: it is false if the wide registers are not saved. */
static const tables_t *avx2_tables(void)
{
    return __builtin_cpu_supports("avx2") && has_f16c() ? &avx2 : NULL;
}
#else
static const tables_t *avx2_tables(void)
{
    return NULL;
}
#endif

#if defined(__x86_64__) && defined(OPTCAST_HAVE_AVX512)
static const tables_t avx512 = {&oc_kernels_avx512, &oc_conversions_avx512};

static const tables_t *avx512_tables(void)
{
    if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
        __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl"))
        return &avx512;
    return NULL;
}
#else
static const tables_t *avx512_tables(void)
{
    return NULL;
}
#endif

/* NULL if this build or this CPU does not have the ISA; never NULL for the baseline. */
static const tables_t *isa_tables(oc_isa_t isa)
{
    switch (isa) {
    case OC_ISA_BASELINE:
        return &baseline;
    case OC_ISA_AVX2:
        return avx2_tables();
    case OC_ISA_AVX512:
        return avx512_tables();
    default:
        return NULL;
    }
}

static int choose_isa(void)
{
    const char *wish = getenv("OPTCAST_ISA");
    int isa = OC_ISA_END - 1;

    if (wish && strcmp(wish, "baseline") == 0)
        isa = OC_ISA_BASELINE;
    for (int i = 0; wish && i < OC_ISA_END; i++) {
        if (strcmp(wish, isa_names[i]) == 0)
            isa = i;
    }
    while (!isa_tables((oc_isa_t)isa))
        isa--;
    return isa;
}

oc_isa_t oc_reduce_isa(void)
{
    /* Racing first calls all compute the same value, so a relaxed store of an int is enough. */
    static atomic_int chosen = -1;
    int isa = atomic_load_explicit(&chosen, memory_order_relaxed);

    if (isa < 0) {
        isa = choose_isa();
        atomic_store_explicit(&chosen, isa, memory_order_relaxed);
    }
    return (oc_isa_t)isa;
}

oc_reduce_fn_t oc_reduce_kernel_isa(unsigned op, unsigned type, oc_isa_t isa)
{
    const tables_t *tables = isa_tables(isa);

    if (!tables || op >= OC_OP_END || type >= OC_TYPE_END)
        return NULL;
    return (*tables->kernels)[op][type];
}

oc_reduce_fn_t oc_reduce_kernel(unsigned op, unsigned type)
{
    return oc_reduce_kernel_isa(op, type, oc_reduce_isa());
}

oc_convert_fn_t oc_widen_kernel(unsigned type)
{
    return type < OC_TYPE_END ? isa_tables(oc_reduce_isa())->conversions->widen[type] : NULL;
}

oc_convert_fn_t oc_narrow_kernel(unsigned type)
{
    return type < OC_TYPE_END ? isa_tables(oc_reduce_isa())->conversions->narrow[type] : NULL;
}

void oc_reduce(oc_reduce_fn_t kernel, void *dst, const void *const *src, size_t num_src,
               size_t count)
{
    oc_arithmetic_t before = oc_arithmetic_begin();

    kernel(dst, src, num_src, count);
    oc_arithmetic_end(before);
}

/* Elements that are widened and folded at a time: they stay in the L1 cache. */
#define WIDE_BLOCK 2048

void oc_reduce_wide(unsigned op, unsigned type, void *dst, const void *const *src, size_t num_src,
                    size_t count)
{
    const oc_reduce_fn_t kernel = oc_reduce_kernel(op, OC_TYPE_FLOAT);
    const oc_convert_fn_t widen = oc_widen_kernel(type);
    const size_t size = oc_type_size(type);
    float sum[WIDE_BLOCK], next[WIDE_BLOCK];
    const void *const both[] = {sum, next};
    oc_arithmetic_t before = oc_arithmetic_begin();

    for (size_t done = 0, n; done < count; done += n) {
        n = count - done < WIDE_BLOCK ? count - done : WIDE_BLOCK;
        widen(sum, (const char *) src[0] + done * size, n);
        for (size_t k = 1; k < num_src; k++) {
            widen(next, (const char *) src[k] + done * size, n);
            kernel(sum, both, 2, n);
        }
        memcpy((char *) dst + done * sizeof(*sum), sum, n * sizeof(*sum));
    }
    oc_arithmetic_end(before);
}

void oc_reduce_narrow(unsigned op, unsigned type, void *dst, void *partial, const void *last,
                      size_t count)
{
    const oc_reduce_fn_t kernel = oc_reduce_kernel(op, OC_TYPE_FLOAT);
    const oc_convert_fn_t widen = oc_widen_kernel(type), narrow = oc_narrow_kernel(type);
    const size_t size = oc_type_size(type);
    float next[WIDE_BLOCK];
    oc_arithmetic_t before = oc_arithmetic_begin();

    for (size_t done = 0, n; done < count; done += n) {
        char *sum = (char *) partial + done * sizeof(*next);
        const void *const both[] = {sum, next};

        n = count - done < WIDE_BLOCK ? count - done : WIDE_BLOCK;
        widen(next, (const char *) last + done * size, n);
        kernel(sum, both, 2, n);
        narrow((char *) dst + done * size, sum, n);
    }
    oc_arithmetic_end(before);
}

void oc_convert(oc_convert_fn_t kernel, void *to, const void *from, size_t count)
{
    oc_arithmetic_t before = oc_arithmetic_begin();

    kernel(to, from, count);
    oc_arithmetic_end(before);
}
