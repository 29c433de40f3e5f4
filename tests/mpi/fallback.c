/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What is left to Open MPI: right results, and the counter of the reason, alike on all ranks; and
 * what must not be, because only its description differs between ranks. 3 ranks or more.
 *
 * usage: fallback always|auto [crowded]   the mode of the job
 */
#include <stdbool.h>
#include <string.h>

#include "counters.h"
#include "sums.h"

#define LEAST 65536 /* of the job's rule */

static int rank, size;
static bool automatic;

/* One operation that cannot be offloaded, of so many bytes: mode auto looks at the size first. */
static counters_t left_by(const char *reason, size_t bytes)
{
    bool small = automatic && bytes < LEAST;
    bool op = 0 == strcmp(reason, "op");

    return (counters_t) {.fallbacks_size = small, .fallbacks_op = !small && op,
                         .fallbacks_type = !small && !op};
}

/* Blocking or nonblocking; in place if send is MPI_IN_PLACE. */
static void reduce(bool nonblocking, const void *send, void *recv, int count, MPI_Datatype type,
                   MPI_Op op)
{
    MPI_Request request;

    if (nonblocking) {
        MPI_Iallreduce(send, recv, count, type, op, MPI_COMM_WORLD, &request);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
    } else {
        MPI_Allreduce(send, recv, count, type, op, MPI_COMM_WORLD);
    }
}

/* x -> factor * x + shift, modulo 2^64: the order of a chain of them matters. */
typedef struct {
    uint64_t factor, shift;
} affine_t;

/* First a, then b. */
static affine_t chain(affine_t a, affine_t b)
{
    return (affine_t) {.factor = b.factor * a.factor, .shift = b.factor * a.shift + b.shift};
}

static void chain_all(void *in, void *inout, int *count, MPI_Datatype *type)
{
    affine_t *a = in, *b = inout;

    (void) type;
    for (int i = 0; i < *count; i++) {
        b[i] = chain(a[i], b[i]);
    }
}

static affine_t affine(int in_rank, int i)
{
    uint64_t seed = (uint64_t) in_rank * 100000 + (uint64_t) i;

    return (affine_t) {.factor = mix64(seed) | 1, .shift = mix64(seed + 77)};
}

static void noncommutative(bool nonblocking, int count)
{
    counters_t before = counters_read();
    affine_t *send = must(calloc((size_t) count, sizeof(*send)));
    affine_t *recv = must(calloc((size_t) count, sizeof(*recv)));
    MPI_Datatype type;
    MPI_Op op;

    MPI_Type_contiguous(2, MPI_UINT64_T, &type);
    MPI_Type_commit(&type);
    MPI_Op_create(chain_all, 0, &op);
    for (int i = 0; i < count; i++) {
        send[i] = affine(rank, i);
    }
    reduce(nonblocking, send, recv, count, type, op);
    for (int i = 0; i < count; i++) {
        affine_t expected = affine(0, i);

        for (int other = 1; other < size; other++) {
            expected = chain(expected, affine(other, i));
        }
        if (expected.factor != recv[i].factor || expected.shift != recv[i].shift) {
            wrong("noncommutative: element %d of %d is not the chain in rank order", i, count);
            break;
        }
    }
    MPI_Op_free(&op);
    MPI_Type_free(&type);
    free(send);
    free(recv);
    counters_moved("noncommutative", &before, left_by("op", (size_t) count * sizeof(*send)));
}

/* Adds the integers of a vector of any type that consists of ints: see layout. */
static MPI_Aint layout_extent;
static int layout_ints, layout_at[4];

static void add_layout(void *in, void *inout, int *count, MPI_Datatype *type)
{
    (void) type;
    for (int i = 0; i < *count; i++) {
        for (int k = 0; k < layout_ints; k++) {
            int value, other;
            char *a = (char *) in + i * layout_extent + layout_at[k];
            char *b = (char *) inout + i * layout_extent + layout_at[k];

            memcpy(&value, a, sizeof(value));
            memcpy(&other, b, sizeof(other));
            other += value;
            memcpy(b, &other, sizeof(other));
        }
    }
}

/* A type of ints at the places of layout_at (bytes, perhaps negative), in layout_extent bytes. */
static MPI_Datatype make_layout(MPI_Aint lower, MPI_Aint extent, int ints, const int *at)
{
    MPI_Datatype plain, type;

    layout_extent = extent;
    layout_ints = ints;
    memcpy(layout_at, at, (size_t) ints * sizeof(*at));
    MPI_Type_create_hindexed_block(ints, 1,
                                   (MPI_Aint[]) {at[0], at[1 % ints], at[2 % ints], at[3 % ints]},
                                   MPI_INT, &plain);
    MPI_Type_create_resized(plain, lower, extent, &type);
    MPI_Type_commit(&type);
    MPI_Type_free(&plain);
    return type;
}

#define NUM_LAYOUTS 40
#define UNTOUCHED   0x5a

/* All bytes but those of the ints keep what they were. */
static void check_layout(const char *what, const char *bytes, size_t length, const char *first)
{
    char *expected = must(malloc(length));

    memset(expected, UNTOUCHED, length);
    for (int i = 0; i < NUM_LAYOUTS; i++) {
        for (int k = 0; k < layout_ints; k++) {
            int value = size * (size - 1) / 2 + size * (10 * i + k);

            memcpy(expected + (first - bytes) + i * layout_extent + layout_at[k], &value,
                   sizeof(value));
        }
    }
    if (0 != memcmp(expected, bytes, length)) {
        wrong("%s: the vector is not what it should be", what);
    }
    free(expected);
}

static void derived(const char *what, bool nonblocking, bool in_place, MPI_Datatype type)
{
    counters_t before = counters_read();
    size_t room = (size_t) (NUM_LAYOUTS + 2) * (size_t) layout_extent + 64;
    char *send = must(malloc(room)), *recv = must(malloc(room));
    size_t first = (size_t) layout_extent + 32;
    MPI_Op op;

    memset(send, UNTOUCHED, room);
    memset(recv, UNTOUCHED, room);
    for (int i = 0; i < NUM_LAYOUTS; i++) {
        for (int k = 0; k < layout_ints; k++) {
            int value = rank + 10 * i + k;

            memcpy((in_place ? recv : send) + first + i * layout_extent + layout_at[k], &value,
                   sizeof(value));
        }
    }
    MPI_Op_create(add_layout, 1, &op);
    reduce(nonblocking, in_place ? MPI_IN_PLACE : send + first, recv + first, NUM_LAYOUTS, type,
           op);
    check_layout(what, recv, room, recv + first);
    MPI_Op_free(&op);
    free(send);
    free(recv);
    counters_moved(what, &before, left_by("op", NUM_LAYOUTS * (size_t) layout_ints * sizeof(int)));
}

static void all_derived(void)
{
    static const struct {
        const char *name;
        MPI_Aint lower, extent;
        int ints, at[4];
    } cases[] = {
        {"a type with gaps", 0, 32, 3, {0, 8, 20, 0}},
        {"a type with a negative lower bound", -16, 32, 2, {-16, 4, 0, 0}},
        {"a resized type", 0, 12, 1, {0, 0, 0, 0}},
        {"a type of decreasing places", 0, 16, 4, {12, 8, 4, 0}},
    };

    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        MPI_Datatype type = make_layout(cases[i].lower, cases[i].extent, cases[i].ints,
                                        cases[i].at);

        for (int variant = 0; variant < 4; variant++) {
            derived(cases[i].name, variant & 1, variant & 2, type);
        }
        MPI_Type_free(&type);
    }
}

static void touch_nothing(void *in, void *inout, int *count, MPI_Datatype *type)
{
    (void) in;
    (void) inout;
    (void) count;
    (void) type;
}

/* A type of no bytes: nothing changes, and nothing is offloaded. */
static void zero_size(bool nonblocking)
{
    counters_t before = counters_read();
    int in = 1, out = 2;
    MPI_Datatype type;
    MPI_Op op;

    MPI_Type_contiguous(0, MPI_INT, &type);
    MPI_Type_commit(&type);
    MPI_Op_create(touch_nothing, 1, &op);
    reduce(nonblocking, &in, &out, 5, type, op);
    if (2 != out) {
        wrong("a type of no bytes has changed the buffer");
    }
    MPI_Op_free(&op);
    MPI_Type_free(&type);
    counters_moved("zero size", &before, left_by("op", 0));
}

static void add_ints(void *in, void *inout, int *count, MPI_Datatype *type)
{
    int *a = in, *b = inout, bytes;

    MPI_Type_size(*type, &bytes);
    for (int i = 0; i < *count * bytes / (int) sizeof(int); i++) {
        b[i] += a[i];
    }
}

/* The same four ints everywhere: four of one type on some ranks, one of another on others. */
static void described_differently(bool nonblocking)
{
    counters_t before = counters_read();
    int send[4], recv[4];
    MPI_Datatype four;
    MPI_Op op;

    MPI_Type_contiguous(4, MPI_INT, &four);
    MPI_Type_commit(&four);
    MPI_Op_create(add_ints, 1, &op);
    for (int i = 0; i < 4; i++) {
        send[i] = rank * 10 + i;
        recv[i] = -1;
    }
    reduce(nonblocking, send, recv, 0 == rank % 2 ? 4 : 1, 0 == rank % 2 ? MPI_INT : four, op);
    for (int i = 0; i < 4; i++) {
        if (size * (size - 1) / 2 * 10 + size * i != recv[i]) {
            wrong("described differently: element %d is %d", i, recv[i]);
        }
    }
    MPI_Op_free(&op);
    MPI_Type_free(&four);
    counters_moved("described differently", &before, left_by("op", sizeof(send)));
}

/* Names of one type, a different one on each rank: no reason to decide differently. */
static void named_differently(bool nonblocking)
{
    const MPI_Datatype four[] = {MPI_INT, MPI_INT32_T, MPI_INTEGER};
    const MPI_Datatype eight[] = {MPI_LONG, MPI_INT64_T, MPI_LONG_LONG};
    const MPI_Datatype real[] = {MPI_DOUBLE, MPI_DOUBLE_PRECISION, MPI_DOUBLE};
    counters_t before = counters_read();
    enum { COUNT = 30000 };
    int32_t *a = must(malloc(COUNT * sizeof(*a)));
    int64_t *b = must(malloc(COUNT * sizeof(*b)));
    double *c = must(malloc(COUNT * sizeof(*c)));

    for (int i = 0; i < COUNT; i++) {
        a[i] = rank + i;
        b[i] = ((int64_t) rank << 40) + i;
        c[i] = rank + 0.5 * i;
    }
    reduce(nonblocking, MPI_IN_PLACE, a, COUNT, four[rank % 3], MPI_SUM);
    reduce(nonblocking, MPI_IN_PLACE, b, COUNT, eight[rank % 3], MPI_MAX);
    reduce(nonblocking, MPI_IN_PLACE, c, COUNT, real[rank % 3], MPI_SUM);
    for (int i = 0; i < COUNT; i++) {
        if (size * (size - 1) / 2 + size * i != a[i] || ((int64_t) (size - 1) << 40) + i != b[i]
            || size * (size - 1) / 2 + size * 0.5 * i != c[i]) {
            wrong("named differently: element %d is %d, %lld, %g", i, a[i], (long long) b[i],
                  c[i]);
            break;
        }
    }
    free(a);
    free(b);
    free(c);
    counters_moved("named differently", &before, (counters_t) {.allreduce_offloaded = 3});
}

/* long double: no two machines agree what it is. */
static void not_offered(bool nonblocking, int count)
{
    counters_t before = counters_read();
    long double *data = must(malloc((size_t) count * sizeof(*data)));

    for (int i = 0; i < count; i++) {
        data[i] = 0.5L * i - rank;
    }
    reduce(nonblocking, MPI_IN_PLACE, data, count, MPI_LONG_DOUBLE, MPI_SUM);
    for (int i = 0; i < count; i++) {
        if (0.5L * i * size - (long double) (size * (size - 1)) / 2 != data[i]) {
            wrong("long double: element %d is %Lg", i, data[i]);
            break;
        }
    }
    free(data);
    counters_moved("long double", &before,
                   left_by("type", (size_t) count * sizeof(long double)));
}

static void sum_on(MPI_Comm comm, bool nonblocking, int count)
{
    static int number;
    MPI_Request request;
    sum_t s;

    if (nonblocking) {
        sum_start(&s, comm, ++number, count, &request);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        sum_check("sum", &s);
    } else {
        sum_now("sum", comm, ++number, count);
    }
}

static void one_sum(bool nonblocking, int count)
{
    sum_on(MPI_COMM_WORLD, nonblocking, count);
}

/* Mode auto: what is smaller than the rule says stays, whatever the type; mode always: nothing does. */
static void sizes(bool nonblocking)
{
    const int least = LEAST / (int) sizeof(int64_t);
    const int counts[] = {1, 3, least - 1, least, least + 1, 3 * least};
    char *bytes = must(calloc(1, LEAST));

    for (size_t i = 0; i < sizeof(counts) / sizeof(counts[0]); i++) {
        counters_t before = counters_read();
        bool stays = automatic && counts[i] < least;

        one_sum(nonblocking, counts[i]);
        counters_moved("sizes", &before, (counters_t) {.allreduce_offloaded = !stays,
                                                       .fallbacks_size = stays});
    }
    for (int count = LEAST - 1; count <= LEAST; count++) {
        counters_t before = counters_read();
        bool stays = automatic && count < LEAST;

        memset(bytes, rank == 1, (size_t) count);
        reduce(nonblocking, MPI_IN_PLACE, bytes, count, MPI_INT8_T, MPI_MAX);
        if (1 != bytes[0] || 1 != bytes[count - 1]) {
            wrong("sizes: %d bytes have the wrong maximum", count);
        }
        counters_moved("bytes", &before, (counters_t) {.allreduce_offloaded = !stays,
                                                       .fallbacks_size = stays});
    }
    free(bytes);
}

/* Open MPI agrees about communicators like this, in an order of its own. */
static void small_extrema(void)
{
    counters_t before = counters_read();
    int data[3] = {rank, -rank, 5};

    reduce(true, MPI_IN_PLACE, data, 1, MPI_INT, MPI_MAX);
    reduce(true, MPI_IN_PLACE, data + 1, 2, MPI_INT, MPI_MIN);
    if (size - 1 != data[0] || 1 - size != data[1] || 5 != data[2]) {
        wrong("small extrema: %d %d %d", data[0], data[1], data[2]);
    }
    counters_moved("small extrema", &before, (counters_t) {.fallbacks_order = 2});
    before = counters_read();
    reduce(true, MPI_IN_PLACE, data, 3, MPI_INT, MPI_MIN);
    reduce(false, MPI_IN_PLACE, data, 1, MPI_INT, MPI_MAX);
    counters_moved("other extrema", &before,
                   (counters_t) {.allreduce_offloaded = automatic ? 0 : 2,
                                 .fallbacks_size = automatic ? 2 : 0});
}

/* max_ranks is 2: mode auto leaves what is small in any case. */
static void crowd_of_small_ones(void)
{
    counters_t before = counters_read();
    MPI_Request request;

    one_sum(false, 1000);
    one_sum(true, 1000);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Ibarrier(MPI_COMM_WORLD, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    counters_moved("small and too many ranks", &before,
                   (counters_t) {.fallbacks_size = 2, .fallbacks_place = 2});
}

/* A pair of ranks has service, and all together have not. */
static void crowd(void)
{
    const int count = 2 * LEAST / (int) sizeof(int64_t);
    counters_t before;
    MPI_Comm pair;

    MPI_Comm_split(MPI_COMM_WORLD, rank / 2, rank, &pair);
    for (int nonblocking = 0; nonblocking < 2; nonblocking++) {
        before = counters_read();
        one_sum(nonblocking, count);
        counters_moved("too many ranks", &before, (counters_t) {.fallbacks_ranks = 1});
        before = counters_read();
        sum_on(pair, nonblocking, count);
        counters_moved("few ranks", &before,
                       (counters_t) {.allreduce_offloaded = 1, .groups = !nonblocking});
    }
    MPI_Comm_free(&pair);
}

static void whole(void)
{
    counters_t before = counters_read();

    one_sum(false, LEAST);
    counters_moved("first", &before, (counters_t) {.allreduce_offloaded = 1, .groups = 1});
    all_derived();
    for (int nonblocking = 0; nonblocking < 2; nonblocking++) {
        noncommutative(nonblocking, 1);
        noncommutative(nonblocking, 5000);
        zero_size(nonblocking);
        described_differently(nonblocking);
        named_differently(nonblocking);
        not_offered(nonblocking, 3);
        not_offered(nonblocking, 5000);
        sizes(nonblocking);
    }
    small_extrema();
}

int main(int argc, char **argv)
{
    bool crowded = argc > 2;
    int status;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    automatic = argc > 1 && 0 == strcmp(argv[1], "auto");
    if (crowded && automatic) {
        crowd_of_small_ones();
    }
    if (crowded) {
        crowd();
    } else {
        whole();
    }
    pvars_end();
    status = conclude("fallback");
    MPI_Finalize();
    return status;
}
