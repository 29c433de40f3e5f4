/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Allreduces listed in a file, compared bit by bit with a plain left fold in rank order.
 *
 * usage: allreduce_matrix FILE, a line of which is a case:
 *     RANKS OP TYPE COUNT apart|inplace BYTES|element b|nb SEED
 * RANKS is the size of the communicator (the other ranks do the same in another one). The buffers
 * begin BYTES bytes, or one element, after an aligned address; b is MPI_Allreduce and nb is
 * MPI_Iallreduce. The case must be offloaded and nothing around the buffers may change.
 */
#include <math.h>
#include <stdbool.h>
#include <string.h>

#include "check.h"
#include "pvars.h"

#define GUARD_BYTES 64
#define GUARD       0xa5

enum { SUM, PROD, MIN, MAX, BAND, BOR, BXOR, LAND, LOR, LXOR };

static const char *const op_names[] = {"SUM",  "PROD", "MIN",  "MAX", "BAND",
                                       "BOR",  "BXOR", "LAND", "LOR", "LXOR"};
#define NUM_OPS (sizeof(op_names) / sizeof(op_names[0]))

typedef enum { INTEGER, FLOATING } kind_t;

typedef struct {
    kind_t kind;
    size_t size;
    void (*fold)(void *acc, const void *next, size_t count, int op);
} base_t;

typedef struct {
    int ranks, op, count;
    const char *type_name;
    MPI_Datatype type;
    const base_t *base;
    bool in_place, nonblocking;
    size_t offset;
    uint64_t seed;
    char line[160];
} case_t;

static MPI_Op mpi_op(int op)
{
    const MPI_Op ops[] = {MPI_SUM, MPI_PROD, MPI_MIN,  MPI_MAX, MPI_BAND,
                          MPI_BOR, MPI_BXOR, MPI_LAND, MPI_LOR, MPI_LXOR};

    return ops[op];
}

/* uint64_t for what may overflow: conversions back wrap. Buffers may be misaligned: memcpy. */
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
    DEFINE_FOLD(name, type, INTEGER)

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
    DEFINE_FOLD(name, type, FLOATING)

#define DEFINE_FOLD(name, type, kind)                                                       \
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
    }                                                                                       \
    static const base_t name = {kind, sizeof(type), name##_fold};

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

static const base_t *signed_base(size_t size)
{
    return 1 == size ? &i8 : 2 == size ? &i16 : 4 == size ? &i32 : &i64;
}

static const base_t *unsigned_base(size_t size)
{
    return 1 == size ? &u8 : 2 == size ? &u16 : 4 == size ? &u32 : &u64;
}

static const base_t *float_base(size_t size)
{
    return sizeof(float) == size ? &f32 : &f64;
}

/* false if there is no such type, or this MPI has no size for it. */
static bool find_type(const char *name, case_t *c)
{
    const struct {
        const char *name;
        MPI_Datatype type;
        const base_t *(*base)(size_t size);
    } types[] = {
#define T(name, base) {#name, MPI_##name, base}
        T(INT8_T, signed_base), T(INT16_T, signed_base), T(INT32_T, signed_base),
        T(INT64_T, signed_base), T(UINT8_T, unsigned_base), T(UINT16_T, unsigned_base),
        T(UINT32_T, unsigned_base), T(UINT64_T, unsigned_base), T(FLOAT, float_base),
        T(DOUBLE, float_base), T(SIGNED_CHAR, signed_base), T(SHORT, signed_base),
        T(INT, signed_base), T(LONG, signed_base), T(LONG_LONG, signed_base),
        T(UNSIGNED_CHAR, unsigned_base), T(UNSIGNED_SHORT, unsigned_base),
        T(UNSIGNED, unsigned_base), T(UNSIGNED_LONG, unsigned_base),
        T(UNSIGNED_LONG_LONG, unsigned_base), T(INTEGER, signed_base), T(REAL, float_base),
        T(DOUBLE_PRECISION, float_base),
#undef T
    };
    int size;

    for (size_t i = 0; i < sizeof(types) / sizeof(types[0]); i++) {
        if (0 == strcmp(name, types[i].name)) {
            MPI_Type_size(types[i].type, &size);
            c->type_name = types[i].name;
            c->type = types[i].type;
            c->base = types[i].base((size_t) size);
            return size > 0 && c->base->size == (size_t) size;
        }
    }
    return false;
}

static uint64_t random_integer(uint64_t bits, int op)
{
    bool logical = LAND == op || LOR == op || LXOR == op;
    /* a few zeros, for AND, and many for OR */
    uint64_t zeros = LAND == op ? 8 : 2;

    return logical && 0 == (bits >> 56) % zeros ? 0 : bits;
}

static double random_floating(uint64_t bits)
{
    static const double special[] = {0.0, -0.0, INFINITY, -INFINITY, 1e-310, 1e-40};
    double mantissa = 1.0 + (double) (bits >> 12) / 0x1p52;

    if (0 == bits % 64) {
        return 0 == bits / 64 % 7 ? (double) NAN : special[bits / 64 % 6];
    }
    return ldexp(bits & 1 ? mantissa : -mantissa, (int) (bits / 2 % 41) - 20);
}

/* What a rank contributes: known to all. */
static void make_input(const case_t *c, int rank, void *buffer)
{
    for (int i = 0; i < c->count; i++) {
        uint64_t bits = mix64(mix64(c->seed * 64 + (uint64_t) rank) + (uint64_t) i);
        char *at = (char *) buffer + (size_t) i * c->base->size;

        if (INTEGER == c->base->kind) {
            uint64_t value = random_integer(bits, c->op);

            memcpy(at, &value, c->base->size); /* low bytes first, or any bytes: both will do */
        } else if (sizeof(float) == c->base->size) {
            float value = (float) random_floating(bits);

            memcpy(at, &value, sizeof(value));
        } else {
            double value = random_floating(bits);

            memcpy(at, &value, sizeof(value));
        }
    }
}

static void *make_expected(const case_t *c)
{
    size_t bytes = (size_t) c->count * c->base->size;
    void *result = must(malloc(bytes)), *next = must(malloc(bytes));

    make_input(c, 0, result);
    for (int rank = 1; rank < c->ranks; rank++) {
        make_input(c, rank, next);
        c->base->fold(result, next, (size_t) c->count, c->op);
    }
    free(next);
    return result;
}

/* Which NaN comes out of an addition or a multiplication is not promised. */
static bool is_nan(const case_t *c, const void *at)
{
    float single;
    double value;

    if (FLOATING != c->base->kind || c->op > PROD) {
        return false;
    }
    if (sizeof(float) == c->base->size) {
        memcpy(&single, at, sizeof(single));
        return isnan(single);
    }
    memcpy(&value, at, sizeof(value));
    return isnan(value);
}

static void check_result(const case_t *c, const void *result)
{
    size_t size = c->base->size;
    void *expected = make_expected(c);
    uint64_t is = 0, should = 0;

    for (int i = 0; i < c->count; i++) {
        const char *a = (const char *) result + (size_t) i * size;
        const char *b = (const char *) expected + (size_t) i * size;

        if (0 != memcmp(a, b, size) && !(is_nan(c, a) && is_nan(c, b))) {
            memcpy(&is, a, size);
            memcpy(&should, b, size);
            wrong("case \"%s\": element %d is %#llx instead of %#llx", c->line, i,
                  (unsigned long long) is, (unsigned long long) should);
            break;
        }
    }
    free(expected);
}

/* A buffer inside guards: memory is what to free, data is what to use. */
typedef struct {
    unsigned char *memory, *data;
    size_t before, bytes, after;
} guarded_t;

static guarded_t guarded_make(const case_t *c)
{
    guarded_t g = {.before = GUARD_BYTES + c->offset, .after = GUARD_BYTES,
                   .bytes = (size_t) c->count * c->base->size};
    size_t all = (g.before + g.bytes + g.after + 63) / 64 * 64;

    g.after = all - g.before - g.bytes;
    g.memory = must(aligned_alloc(64, all));
    g.data = g.memory + g.before;
    memset(g.memory, GUARD, all);
    return g;
}

static void check_guards(const case_t *c, const guarded_t *g, const char *name)
{
    bool touched = false;

    for (size_t i = 0; i < g->before; i++) {
        touched = touched || GUARD != g->memory[i];
    }
    for (size_t i = 0; i < g->after; i++) {
        touched = touched || GUARD != g->data[g->bytes + i];
    }
    if (touched) {
        wrong("case \"%s\": memory around the %s buffer has changed", c->line, name);
    }
}

static void call(const case_t *c, MPI_Comm comm, const void *send, void *recv)
{
    MPI_Request request;

    if (!c->nonblocking) {
        MPI_Allreduce(send, recv, c->count, c->type, mpi_op(c->op), comm);
        return;
    }
    MPI_Iallreduce(send, recv, c->count, c->type, mpi_op(c->op), comm, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
}

typedef struct {
    unsigned long long offloaded, fallbacks, order, sent, received, failures;
} counters_t;

static counters_t read_counters(void)
{
    return (counters_t) {
        .offloaded = pvar_read("allreduce_offloaded"), .fallbacks = pvar_read("fallbacks"),
        .order = pvar_read("fallbacks_order"), .sent = pvar_read("bytes_sent"),
        .received = pvar_read("bytes_received"), .failures = pvar_read("failures")};
}

/* Open MPI itself uses such operations, in an order that differs between ranks. */
static bool falls_back(const case_t *c)
{
    return c->nonblocking && c->count <= 2 && (MIN == c->op || MAX == c->op)
           && INTEGER == c->base->kind;
}

static void check_counters(const case_t *c, const counters_t *before)
{
    counters_t now = read_counters();
    bool fallback = falls_back(c);
    unsigned long long bytes = fallback ? 0 : (unsigned long long) c->count * c->base->size;

    if (now.offloaded - before->offloaded != !fallback
        || now.fallbacks - before->fallbacks != fallback
        || now.order - before->order != fallback || now.sent - before->sent != bytes
        || now.received - before->received != bytes || now.failures != before->failures) {
        wrong("case \"%s\": %llu offloaded, %llu fallbacks (order %llu), %llu bytes sent, %llu "
              "received, %llu failures; instead of %d, %d (%d), %llu, %llu, 0",
              c->line, now.offloaded - before->offloaded, now.fallbacks - before->fallbacks,
              now.order - before->order, now.sent - before->sent,
              now.received - before->received, now.failures - before->failures, !fallback,
              fallback, fallback, bytes, bytes);
    }
}

static void check_send(const case_t *c, int rank, const guarded_t *send)
{
    void *again = must(malloc(send->bytes));

    make_input(c, rank, again);
    if (0 != memcmp(again, send->data, send->bytes)) {
        wrong("case \"%s\": the send buffer has changed", c->line);
    }
    free(again);
    check_guards(c, send, "send");
}

static void run_case(const case_t *c, MPI_Comm comm)
{
    guarded_t send = guarded_make(c), recv = guarded_make(c);
    counters_t before = read_counters();
    int rank;

    MPI_Comm_rank(comm, &rank);
    make_input(c, rank, c->in_place ? recv.data : send.data);
    call(c, comm, c->in_place ? MPI_IN_PLACE : send.data, recv.data);
    check_result(c, recv.data);
    check_guards(c, &recv, "receive");
    if (!c->in_place) {
        check_send(c, rank, &send);
    }
    check_counters(c, &before);
    free(send.memory);
    free(recv.memory);
}

static bool find_op(const char *name, int *op)
{
    for (size_t i = 0; i < NUM_OPS; i++) {
        if (0 == strcmp(name, op_names[i])) {
            *op = (int) i;
            return true;
        }
    }
    return false;
}

static bool parse_case(const char *line, case_t *c)
{
    char op[16], type[32], place[16], offset[16], way[8];
    unsigned long long seed;

    memset(c, 0, sizeof(*c));
    snprintf(c->line, sizeof(c->line), "%.*s", (int) strcspn(line, "\n"), line);
    if (8 != sscanf(line, "%d %15s %31s %d %15s %15s %7s %llu", &c->ranks, op, type, &c->count,
                    place, offset, way, &seed)
        || !find_op(op, &c->op) || !find_type(type, c)
        || (FLOATING == c->base->kind && c->op > MAX) || c->ranks < 2 || c->count < 1) {
        return false;
    }
    c->in_place = 0 == strcmp(place, "inplace");
    c->nonblocking = 0 == strcmp(way, "nb");
    c->offset = 0 == strcmp(offset, "element") ? c->base->size : strtoul(offset, NULL, 10);
    c->seed = seed;
    return true;
}

#define MAX_RANKS 64

/* One communicator for each number of ranks, of the first so many; another for the rest. */
static MPI_Comm comm_of(int ranks)
{
    static MPI_Comm comms[MAX_RANKS + 1];
    static bool made[MAX_RANKS + 1];
    int rank, size;

    MPI_Comm_size(MPI_COMM_WORLD, &size);
    if (ranks == size) {
        return MPI_COMM_WORLD;
    }
    if (!made[ranks]) {
        MPI_Comm_rank(MPI_COMM_WORLD, &rank);
        MPI_Comm_split(MPI_COMM_WORLD, rank < ranks, rank, &comms[ranks]);
        made[ranks] = true;
    }
    return comms[ranks];
}

static unsigned run_file(FILE *file)
{
    char line[160];
    unsigned count = 0;
    int world, size;
    case_t c;

    MPI_Comm_size(MPI_COMM_WORLD, &world);
    while (NULL != fgets(line, sizeof(line), file)) {
        MPI_Comm comm;

        if (!parse_case(line, &c) || c.ranks > world || c.ranks > MAX_RANKS) {
            wrong("this is no case for %d ranks: %s", world, line);
            continue;
        }
        comm = comm_of(c.ranks);
        MPI_Comm_size(comm, &size);
        c.ranks = size;
        if (size > 1) {
            run_case(&c, comm);
        }
        count++;
    }
    return count;
}

int main(int argc, char **argv)
{
    char summary[64];
    FILE *file;
    int status;

    MPI_Init(&argc, &argv);
    file = argc > 1 ? fopen(argv[1], "r") : NULL;
    if (NULL == file) {
        printf("not ok: usage: allreduce_matrix FILE\n");
        MPI_Abort(MPI_COMM_WORLD, 2);
        return EXIT_FAILURE;
    }
    snprintf(summary, sizeof(summary), "allreduce_matrix: %u cases", run_file(file));
    fclose(file);
    pvars_end();
    status = conclude(summary);
    MPI_Finalize();
    return status;
}
