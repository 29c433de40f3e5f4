/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Owns the loops that read n streams and write one. They do as little as can be done with what was
 * read: a bitwise OR is the cheapest instruction that needs every byte, and it leaves data as they
 * are that are the same in all inputs, so that runs can be repeated in place.
 */
#include "bench/reduction/streams.h"

#include <stdint.h>

#define LINE       64u
#define MAX_LINES  8u   /* streams that are read by lines at a time */
#define WHOLE      SIZE_MAX

const oc_stream_shape_t oc_stream_shapes[] = {
    {"one pass", SIZE_MAX, WHOLE, 0},
    {"groups of 8, blocks of 8 KiB", 8, 8192, 0},
    {"groups of 8, by lines", 8, WHOLE, 1},
    {"groups of 8, by lines, blocks of 8 KiB", 8, 8192, 1},
    {"groups of 4, by lines", 4, WHOLE, 1},
    {"groups of 4, by lines, blocks of 8 KiB", 4, 8192, 1},
};
const size_t oc_num_stream_shapes = sizeof(oc_stream_shapes) / sizeof(oc_stream_shapes[0]);

/* Bytes from `from` to `to` of num inputs. */
typedef void (*fold_fn_t)(char *dst, const char *const *src, size_t num, size_t from, size_t to);

typedef struct {
    size_t vector;
    fold_fn_t strips, lines[MAX_LINES + 1];
} fold_table_t;

/* Eight vectors of each stream in turn, any number of streams. */
#define DEFINE_STRIPS(ISA, TARGET)                                                         \
    TARGET static void strips_##ISA(char *dst, const char *const *src, size_t num,         \
                                    size_t from, size_t to)                                \
    {                                                                                      \
        for (size_t at = from; at < to; at += 8 * sizeof(vector_##ISA##_t)) {              \
            vector_##ISA##_t acc[8];                                                       \
            size_t k = 1;                                                                  \
            _Pragma("GCC unroll 8") for (size_t i = 0; i < 8; i++)                         \
                acc[i] = ((const vector_##ISA##_t *) (src[0] + at))[i];                    \
            do {                                                                           \
                _Pragma("GCC unroll 8") for (size_t i = 0; i < 8; i++)                     \
                    acc[i] |= ((const vector_##ISA##_t *) (src[k] + at))[i];               \
            } while (++k < num);                                                           \
            _Pragma("GCC unroll 8") for (size_t i = 0; i < 8; i++)                         \
                ((vector_##ISA##_t *) (dst + at))[i] = acc[i];                             \
        }                                                                                  \
    }

/* A line of each of NUM streams in turn, with nothing between the loads. */
#define DEFINE_LINES(ISA, TARGET, NUM)                                                     \
    TARGET static void lines_##NUM##_##ISA(char *dst, const char *const *src, size_t num,  \
                                           size_t from, size_t to)                         \
    {                                                                                      \
        const char *in[NUM];                                                               \
        (void) num;                                                                        \
        _Pragma("GCC unroll 8") for (size_t k = 0; k < NUM; k++)                           \
            in[k] = src[k];                                                                \
        for (size_t at = from; at < to; at += LINE) {                                      \
            _Pragma("GCC unroll 4")                                                        \
            for (size_t i = 0; i < LINE / sizeof(vector_##ISA##_t); i++) {                 \
                vector_##ISA##_t acc = ((const vector_##ISA##_t *) (in[0] + at))[i];       \
                _Pragma("GCC unroll 8") for (size_t k = 1; k < NUM; k++)                   \
                    acc |= ((const vector_##ISA##_t *) (in[k] + at))[i];                   \
                ((vector_##ISA##_t *) (dst + at))[i] = acc;                                \
            }                                                                              \
        }                                                                                  \
    }

#define DEFINE_FOLDS(ISA, TARGET, BYTES)                                                   \
    typedef uint64_t vector_##ISA##_t                                                      \
        __attribute__((vector_size(BYTES), aligned(1), may_alias));                        \
    DEFINE_STRIPS(ISA, TARGET)                                                             \
    DEFINE_LINES(ISA, TARGET, 2)                                                           \
    DEFINE_LINES(ISA, TARGET, 3)                                                           \
    DEFINE_LINES(ISA, TARGET, 4)                                                           \
    DEFINE_LINES(ISA, TARGET, 5)                                                           \
    DEFINE_LINES(ISA, TARGET, 6)                                                           \
    DEFINE_LINES(ISA, TARGET, 7)                                                           \
    DEFINE_LINES(ISA, TARGET, 8)                                                           \
    static const fold_table_t folds_##ISA = {                                              \
        BYTES, strips_##ISA,                                                               \
        {NULL, NULL, lines_2_##ISA, lines_3_##ISA, lines_4_##ISA, lines_5_##ISA,           \
         lines_6_##ISA, lines_7_##ISA, lines_8_##ISA}};

DEFINE_FOLDS(baseline, , 16)
#ifdef __x86_64__
DEFINE_FOLDS(avx2, __attribute__((target("avx2"))), 32)
DEFINE_FOLDS(avx512, __attribute__((target("avx512f"))), 64)
#endif

static const fold_table_t *folds(void)
{
#ifdef __x86_64__
    if (__builtin_cpu_supports("avx512f")) {
        return &folds_avx512;
    }
    if (__builtin_cpu_supports("avx2")) {
        return &folds_avx2;
    }
#endif
    return &folds_baseline;
}

size_t oc_streams_vector(void)
{
    return folds()->vector;
}

/* Each group begins with dst: it is input 0, and later what the groups before have left. */
static void run_block(const oc_stream_shape_t *shape, char *dst, const char *const *src, size_t n,
                      size_t from, size_t to)
{
    const fold_table_t *table = folds();
    const char *group[MAX_LINES] = {dst};

    if (shape->group >= n) {
        (shape->by_lines ? table->lines[n] : table->strips)(dst, src, n, from, to);
        return;
    }
    for (size_t next = 1; next < n;) {
        size_t num = 1;

        while (num < shape->group && next < n) {
            group[num++] = src[next++];
        }
        (shape->by_lines ? table->lines[num] : table->strips)(dst, group, num, from, to);
    }
}

void oc_streams_run(const oc_stream_shape_t *shape, void *dst, const void *const *src, size_t n,
                    size_t length)
{
    for (size_t from = 0, to; from < length; from = to) {
        to = length - from > shape->block ? from + shape->block : length;
        run_block(shape, dst, (const char *const *) src, n, from, to);
    }
}
