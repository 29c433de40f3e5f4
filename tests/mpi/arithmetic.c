/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Prints a hash of sums and products of fixed inputs, computed while no, odd or all ranks have
 * another arithmetic: rounding upwards, and without subnormals. Afterwards they have it still.
 *
 * usage: arithmetic none|odd|all offloaded|plain
 */
#include <fenv.h>
#include <string.h>

#include <optcast/mpi.h>

#include "check.h"
#include "pvars.h"

#define COUNT 2011

enum { FLOAT, DOUBLE, COMPLEX, HALF, BRAIN, NUM_KINDS };

typedef struct {
    MPI_Datatype type;
    MPI_Op ops[2];
    size_t size;
    int offloaded_only;            /* Open MPI computes those in the arithmetic of its caller */
} kind_t;

static kind_t kinds[NUM_KINDS];

/* ---- the arithmetic of this thread ---- */

#if defined(__x86_64__)

#include <immintrin.h>

static uint64_t arithmetic_get(void)
{
    return _mm_getcsr();
}

static void arithmetic_set(uint64_t value)
{
    _mm_setcsr((unsigned) value);
}

#define ARITHMETIC_DEFAULT UINT64_C(0x1f80)
#define ARITHMETIC_CONTROL UINT64_C(0xffc0)
/* upwards, subnormals are zero, as inputs and as results */
#define ARITHMETIC_OTHER (UINT64_C(0x1f80) | 0x4000 | 0x8000 | 0x40)

#elif defined(__aarch64__)

static uint64_t arithmetic_get(void)
{
    uint64_t control, status;

    __asm__ volatile("mrs %0, fpcr\n\tmrs %1, fpsr" : "=r"(control), "=r"(status) :: "memory");
    return control | (status & 0x9f) << 32;
}

static void arithmetic_set(uint64_t value)
{
    __asm__ volatile("msr fpcr, %0\n\tmsr fpsr, %1" :: "r"(value & 0xffffffff), "r"(value >> 32)
                     : "memory");
}

#define ARITHMETIC_DEFAULT UINT64_C(0)
#define ARITHMETIC_CONTROL UINT64_C(0xffffffff)
#define ARITHMETIC_OTHER   (UINT64_C(1) << 22 | UINT64_C(1) << 24)

#else
#error "what does an arithmetic look like here?"
#endif

/* ---- inputs, which no arithmetic changes ---- */

/* Of several sizes, and every third one so small that results are subnormal. */
static uint64_t bits_of(int rank, int i, unsigned exponent_bits, unsigned fraction_bits,
                        int product)
{
    uint64_t random = mix64(mix64((uint64_t) rank + 1) ^ (uint64_t) i);
    uint64_t fraction = random & ((UINT64_C(1) << fraction_bits) - 1);
    uint64_t bias = (UINT64_C(1) << (exponent_bits - 1)) - 1, exponent;

    if (0 == i % 3 && (!product || 1 == rank)) {
        exponent = random >> 60 & 1;
    } else {
        exponent = product ? bias : bias - 4 + (random >> 60 & 7);
    }
    return (random >> 63) << (exponent_bits + fraction_bits) | exponent << fraction_bits | fraction;
}

static void fill(char *to, int kind, int product, int rank)
{
    size_t size = COMPLEX == kind ? sizeof(float) : kinds[kind].size;

    for (size_t i = 0; i < COUNT * kinds[kind].size / size; i++) {
        uint64_t bits = DOUBLE == kind  ? bits_of(rank, (int) i, 11, 52, product)
                        : HALF == kind  ? bits_of(rank, (int) i, 5, 10, product)
                        : BRAIN == kind ? bits_of(rank, (int) i, 8, 7, product)
                                        : bits_of(rank, (int) i, 8, 23, product);

        memcpy(to + i * size, &bits, size); /* the lower bytes come first */
    }
}

static uint64_t hash_bytes(uint64_t hash, const void *data, size_t bytes)
{
    const unsigned char *at = data;

    for (size_t i = 0; i < bytes; i++) {
        hash = (hash ^ at[i]) * 0x100000001b3u;
    }
    return hash;
}

static void reduce(const void *send, void *recv, const kind_t *kind, MPI_Op op, int nonblocking,
                   uint64_t arithmetic)
{
    MPI_Request request = MPI_REQUEST_NULL;
    uint64_t after;

    arithmetic_set(arithmetic);
    if (nonblocking) {
        MPI_Iallreduce(send, recv, COUNT, kind->type, op, MPI_COMM_WORLD, &request);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
    } else {
        MPI_Allreduce(send, recv, COUNT, kind->type, op, MPI_COMM_WORLD);
    }
    after = arithmetic_get();
    arithmetic_set(ARITHMETIC_DEFAULT);
    /* of exceptions other libraries raise some, which count with doubles when they connect */
    if (0 != ((after ^ arithmetic) & ARITHMETIC_CONTROL)) {
        wrong("the arithmetic was %llx, and is %llx", (unsigned long long) arithmetic,
              (unsigned long long) after);
    }
}

static uint64_t hash_of(int kind, int product, int nonblocking, int rank, uint64_t arithmetic)
{
    size_t bytes = COUNT * kinds[kind].size;
    void *send = must(malloc(bytes)), *recv = must(malloc(bytes));
    uint64_t hash;

    fill(send, kind, product, rank);
    reduce(send, recv, &kinds[kind], kinds[kind].ops[product], nonblocking, arithmetic);
    hash = hash_bytes(0xcbf29ce484222325u, recv, bytes);
    free(send);
    free(recv);
    return hash;
}

static void make_kinds(void)
{
    kinds[FLOAT] = (kind_t) {MPI_FLOAT, {MPI_SUM, MPI_PROD}, 4, 1};
    kinds[DOUBLE] = (kind_t) {MPI_DOUBLE, {MPI_SUM, MPI_PROD}, 8, 1};
    kinds[COMPLEX] = (kind_t) {MPI_C_FLOAT_COMPLEX, {MPI_SUM, MPI_PROD}, 8, 1};
    kinds[HALF] = (kind_t) {.size = 2};
    kinds[BRAIN] = (kind_t) {.size = 2};
    for (int k = 0; k < 2; k++) {
        kind_t *kind = &kinds[k ? BRAIN : HALF];

        optcast_mpi_type(k ? OPTCAST_BFLOAT16 : OPTCAST_FLOAT16, &kind->type);
        optcast_mpi_op(k ? OPTCAST_BFLOAT16 : OPTCAST_FLOAT16, MPI_SUM, &kind->ops[0]);
        optcast_mpi_op(k ? OPTCAST_BFLOAT16 : OPTCAST_FLOAT16, MPI_PROD, &kind->ops[1]);
    }
}

int main(int argc, char **argv)
{
    int odd = argc > 1 && 0 == strcmp(argv[1], "odd");
    int all = argc > 1 && 0 == strcmp(argv[1], "all");
    int offloaded = argc > 2 && 0 == strcmp(argv[2], "offloaded");
    unsigned long long expected = 0;
    int rank, status;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    make_kinds();
    for (int i = 0; i < NUM_KINDS * 4; i++) {
        int kind = i / 4;
        uint64_t hash, first;

        if (kinds[kind].offloaded_only && !offloaded) {
            continue;
        }
        hash = first = hash_of(kind, i & 1, i >> 1 & 1, rank,
                               all || (odd && (rank & 1)) ? ARITHMETIC_OTHER : ARITHMETIC_DEFAULT);
        expected++;
        MPI_Bcast(&first, 1, MPI_UINT64_T, 0, MPI_COMM_WORLD);
        if (first != hash) {
            wrong("kind %d: hash %016llx, and %016llx on rank 0", kind, (unsigned long long) hash,
                  (unsigned long long) first);
        }
        if (0 == rank) {
            printf("hash %d %016llx\n", i, (unsigned long long) hash);
        }
    }
    if (offloaded
        && (expected != pvar_read("allreduce_offloaded") || 0 != pvar_read("fallbacks"))) {
        wrong("%llu of %llu operations were offloaded", pvar_read("allreduce_offloaded"), expected);
    }
    if (offloaded) {
        pvars_end();
    }
    status = conclude("arithmetic");
    MPI_Finalize();
    return status;
}
