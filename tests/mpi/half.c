/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The 16-bit floats of <optcast/mpi.h>, and the float16 that some MPI libraries have themselves.
 *
 * usage: half offloaded   all Allreduces are offloaded, with the bits of a left fold in binary32
 *                         that is rounded once
 *        half plain       without the component; small integers, so that no step rounds
 *        half mixed       an operation on the datatype of the other format: never returns
 */
#include <math.h>
#include <pthread.h>
#include <stdbool.h>
#include <string.h>

#include <optcast/mpi.h>
#include <optcast/operations.h>

#include "check.h"
#include "persistent.h"
#include "pvars.h"

enum { SUM, PROD, MIN, MAX, NUM_OPS };

typedef struct {
    optcast_format_t format;
    const char *name;
    int fraction_bits, bias;
} format_t;

static const format_t formats[] = {
    {OPTCAST_FLOAT16, "optcast_float16", 10, 15},
    {OPTCAST_BFLOAT16, "optcast_bfloat16", 7, 127},
};

typedef struct {
    const format_t *format;
    int op, count, ranks;
    bool in_place, nonblocking, exact;
    bool predefined; /* the library's own type, with MPI's own operations */
    uint64_t seed;
    char name[96];
} case_t;

static uint16_t infinity_of(const format_t *f)
{
    return (uint16_t) (0x7fff >> f->fraction_bits << f->fraction_bits);
}

static float decode(const format_t *f, uint16_t number)
{
    int exponent = (number & 0x7fff) >> f->fraction_bits;
    int fraction = number & ((1 << f->fraction_bits) - 1);
    double value = 0 == exponent ? ldexp(fraction, 1 - f->bias - f->fraction_bits)
                                 : ldexp(fraction + (1 << f->fraction_bits),
                                         exponent - f->bias - f->fraction_bits);

    if ((number & 0x7fff) >= infinity_of(f)) {
        value = (number & 0x7fff) == infinity_of(f) ? (double) INFINITY : (double) NAN;
    }
    return (float) (number >> 15 ? -value : value);
}

/* Through the unit of the last place, which rounds to nearest even. */
static uint16_t encode(const format_t *f, float value)
{
    int exponent = 0;
    double magnitude = fabs((double) value), units;
    uint16_t sign = signbit(value) ? 0x8000 : 0;

    if (isnan(value)) {
        return (uint16_t) (infinity_of(f) + 1);
    }
    if (isinf(value) || 0 == magnitude) {
        return 0 == magnitude ? sign : sign | infinity_of(f);
    }
    (void) frexp(magnitude, &exponent); /* magnitude = [0.5, 1) * 2^exponent */
    exponent = exponent - 1 < 1 - f->bias ? 1 - f->bias : exponent - 1;
    units = nearbyint(ldexp(magnitude, f->fraction_bits - exponent));
    /* subnormals have exponent 0 and no leading one; a carry goes on into the exponent */
    units += ldexp(exponent + f->bias - 1, f->fraction_bits);
    return sign | (uint16_t) (units < infinity_of(f) ? units : infinity_of(f));
}

static bool is_nan(const format_t *f, uint16_t number)
{
    return (number & 0x7fff) > infinity_of(f);
}

/* Any bits at all, or ones near 1, or small integers. */
static uint16_t make_input(const case_t *c, int rank, int index)
{
    uint64_t bits = mix64(mix64(c->seed * 64 + (uint64_t) rank) + (uint64_t) index);
    const format_t *f = c->format;

    if (c->exact) {
        return encode(f, (float) (bits % (PROD == c->op ? 3 : 9)) - (PROD == c->op ? 1 : 4));
    }
    if (0 == bits % 8) {
        return (uint16_t) (bits >> 48);
    }
    return encode(f, (float) ((double) (bits >> 40) / 0x1p22 - 2.0));
}

static uint16_t expected(const case_t *c, int index)
{
    uint16_t chosen = make_input(c, 0, index);
    float acc = decode(c->format, chosen);

    for (int rank = 1; rank < c->ranks; rank++) {
        uint16_t number = make_input(c, rank, index);
        float next = decode(c->format, number);
        bool keep = MIN == c->op ? acc < next : acc > next;

        if (c->op >= MIN) {
            chosen = keep ? chosen : number;
            acc = keep ? acc : next;
        } else {
            acc = SUM == c->op ? acc + next : acc * next;
        }
    }
    return c->op >= MIN ? chosen : encode(c->format, acc);
}

static void check_result(const case_t *c, const uint16_t *result)
{
    for (int i = 0; i < c->count; i++) {
        uint16_t should = expected(c, i);

        if (should != result[i]
            && !(is_nan(c->format, should) && is_nan(c->format, result[i]))) {
            wrong("%s: element %d is %#x instead of %#x", c->name, i, result[i], should);
            return;
        }
    }
}

static MPI_Datatype type_of(const format_t *f)
{
    MPI_Datatype type;

    if (MPI_SUCCESS != optcast_mpi_type(f->format, &type)) {
        wrong("there is no %s", f->name);
    }
    return type;
}

/* The float16 that the library itself has, if it has one. */
#ifdef MPIX_C_FLOAT16
#    define OWN_FLOAT16 MPIX_C_FLOAT16
#else
#    define OWN_FLOAT16 MPI_DATATYPE_NULL
#endif

static MPI_Op like(int op)
{
    const MPI_Op ops[NUM_OPS] = {MPI_SUM, MPI_PROD, MPI_MIN, MPI_MAX};

    return ops[op];
}

static void reduce(const case_t *c, MPI_Comm comm, const void *send, void *recv)
{
    MPI_Datatype type = c->predefined ? OWN_FLOAT16 : type_of(c->format);
    MPI_Request request;
    MPI_Op op = like(c->op);

    if (!c->predefined && MPI_SUCCESS != optcast_mpi_op(c->format->format, like(c->op), &op)) {
        wrong("%s: there is no operation", c->name);
    }
    if (!c->nonblocking) {
        MPI_Allreduce(send, recv, c->count, type, op, comm);
        return;
    }
    MPI_Iallreduce(send, recv, c->count, type, op, comm, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
}

static void run_case(case_t *c, MPI_Comm comm, bool offloaded)
{
    static const char *const ops[NUM_OPS] = {"sum", "prod", "min", "max"};
    size_t bytes = (size_t) c->count * sizeof(uint16_t);
    uint16_t *send = must(malloc(bytes)), *recv = must(malloc(bytes));
    unsigned long long before = offloaded ? pvar_read("allreduce_offloaded") : 0;
    unsigned long long sent = offloaded ? pvar_read("bytes_sent") : 0;
    int rank;

    MPI_Comm_rank(comm, &rank);
    snprintf(c->name, sizeof(c->name), "%s of %d %s%s on %d ranks%s%s", ops[c->op], c->count,
             c->predefined ? "predefined " : "", c->format->name, c->ranks, c->in_place ? ", in place" : "",
             c->nonblocking ? ", nonblocking" : "");
    for (int i = 0; i < c->count; i++) {
        (c->in_place ? recv : send)[i] = make_input(c, rank, i);
    }
    reduce(c, comm, c->in_place ? MPI_IN_PLACE : send, recv);
    check_result(c, recv);
    if (offloaded
        && (pvar_read("allreduce_offloaded") != before + 1
            || pvar_read("bytes_sent") != sent + bytes)) {
        wrong("%s: it was not offloaded", c->name);
    }
    free(send);
    free(recv);
}

/* Each format, operation, count, place and way, on the communicator of the first ranks. */
static void run_cases(MPI_Comm comm, bool offloaded, bool predefined)
{
    static const int counts[] = {1, 2, 3, 33, 1000, 40001};
    case_t c = {.exact = !offloaded, .predefined = predefined};

    MPI_Comm_size(comm, &c.ranks);
    for (unsigned number = 0; number < 2 * NUM_OPS * 6 * 4; number++) {
        c.format = &formats[predefined ? 0 : number % 2];
        c.op = (int) (number / 2 % NUM_OPS);
        c.in_place = number / 8 % 2;
        c.nonblocking = number / 16 % 2;
        c.count = counts[number / 32];
        c.seed = number;
        run_case(&c, comm, offloaded);
    }
}

static void check_type(const format_t *f)
{
    char name[MPI_MAX_OBJECT_NAME];
    MPI_Datatype type = type_of(f);
    MPI_Aint lower, extent;
    int size, length;

    MPI_Type_size(type, &size);
    MPI_Type_get_extent(type, &lower, &extent);
    MPI_Type_get_name(type, name, &length);
    if (2 != size || 0 != lower || 2 != extent || 0 != strcmp(name, f->name)
        || type != type_of(f)) {
        wrong("%s is \"%s\", size %d, extent %ld", f->name, name, size, (long) extent);
    }
}

static void check_errors(void)
{
    MPI_Datatype type = MPI_INT;
    MPI_Op op = MPI_SUM;

    if (MPI_ERR_ARG != optcast_mpi_type((optcast_format_t) 3, &type) || MPI_DATATYPE_NULL != type
        || MPI_ERR_ARG != optcast_mpi_op((optcast_format_t) 0, MPI_SUM, &op) || MPI_OP_NULL != op
        || MPI_ERR_OP != optcast_mpi_op(OPTCAST_FLOAT16, MPI_BAND, &op) || MPI_OP_NULL != op) {
        wrong("what does not exist is not refused");
    }
}

/* Before MPI_Init and after MPI_Finalize. */
static void check_closed(const char *when)
{
    MPI_Datatype type = MPI_INT;
    MPI_Op op = MPI_SUM;

    if (MPI_ERR_OTHER != optcast_mpi_type(OPTCAST_FLOAT16, &type) || MPI_DATATYPE_NULL != type
        || MPI_ERR_OTHER != optcast_mpi_op(OPTCAST_BFLOAT16, MPI_MAX, &op)
        || MPI_OP_NULL != op) {
        printf("not ok: there are handles %s\n", when);
        exit(EXIT_FAILURE);
    }
}

static void *get_op(void *arg)
{
    if (MPI_SUCCESS != optcast_mpi_op(OPTCAST_BFLOAT16, MPI_PROD, arg)) {
        wrong("a thread gets no operation");
    }
    return NULL;
}

static void check_threads(void)
{
    pthread_t threads[8];
    MPI_Op ops[8];

    for (int i = 0; i < 8; i++) {
        if (0 != pthread_create(&threads[i], NULL, get_op, &ops[i])) {
            wrong("there is no thread %d", i);
            return;
        }
    }
    for (int i = 0; i < 8; i++) {
        pthread_join(threads[i], NULL);
        if (ops[i] != ops[0]) {
            wrong("threads get different operations");
        }
    }
}

static void own_sum(void *in, void *inout, int *count, MPI_Datatype *type)
{
    (void) type;
    for (int i = 0; i < *count; i++) {
        ((int16_t *) inout)[i] = (int16_t) (((int16_t *) inout)[i] + ((int16_t *) in)[i]);
    }
}

/* An operation of the program itself, on 2 bytes; its handle may be that of one on 16-bit floats that was freed. */
static void check_strangers(void)
{
    unsigned long long before = pvar_read("allreduce_offloaded");
    unsigned long long fallbacks = pvar_read("fallbacks_op");
    int16_t value = 21;
    int size;
    MPI_Op op;

    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Op_create(optcast_mpi_float16_sum, 1, &op);
    MPI_Op_free(&op);
    MPI_Op_create(own_sum, 1, &op);
    MPI_Allreduce(MPI_IN_PLACE, &value, 1, MPI_INT16_T, op, MPI_COMM_WORLD);
    MPI_Op_free(&op);
    if (21 * size != value || pvar_read("allreduce_offloaded") != before
        || pvar_read("fallbacks_op") != fallbacks + 1) {
        wrong("an operation of the program gives %d, or was not left to the MPI library", value);
    }
}

static void run_mixed(void)
{
    uint16_t value = 0;
    MPI_Op op;

    (void) optcast_mpi_op(OPTCAST_FLOAT16, MPI_SUM, &op);
    MPI_Allreduce(MPI_IN_PLACE, &value, 1, type_of(&formats[1]), op, MPI_COMM_WORLD);
}

/* The application gives its own datatype back before it starts what it has initialised with it. */
static void persistent_own_type(void)
{
    uint16_t one = encode(&formats[0], 1), sum = 0;
    MPI_Datatype type;
    MPI_Request request;
    MPI_Op op;
    int ranks;

    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    if (MPI_SUCCESS != optcast_mpi_op(OPTCAST_FLOAT16, MPI_SUM, &op)) {
        wrong("there is no sum of 16-bit floats");
        return;
    }
    MPI_Type_contiguous(1, MPI_UINT16_T, &type);
    MPI_Type_commit(&type);
    MPI_Allreduce_init(&one, &sum, 1, type, op, MPI_COMM_WORLD, MPI_INFO_NULL, &request);
    MPI_Type_free(&type);
    for (int i = 0; i < 3; i++) {
        sum = 0;
        MPI_Start(&request);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        if ((float) ranks != decode(&formats[0], sum)) {
            wrong("persistent sum %d of ones is %g", i, (double) decode(&formats[0], sum));
        }
    }
    MPI_Request_free(&request);
}

static void run_all(bool offloaded)
{
    int size, rank;

    check_threads();
    check_errors();
    check_type(&formats[0]);
    check_type(&formats[1]);
    if (offloaded) {
        check_strangers();
        persistent_own_type();
    }
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int ranks = 2; ranks <= size; ranks++) {
        MPI_Comm comm;

        MPI_Comm_split(MPI_COMM_WORLD, rank < ranks ? 0 : MPI_UNDEFINED, rank, &comm);
        if (MPI_COMM_NULL != comm) {
            run_cases(comm, offloaded, false);
            /* MPICH 4.0 of Debian has the type, but cannot reduce it */
            if (offloaded && MPI_DATATYPE_NULL != OWN_FLOAT16) {
                run_cases(comm, offloaded, true);
            }
            MPI_Comm_free(&comm);
        }
    }
}

int main(int argc, char **argv)
{
    const char *what = argc > 1 ? argv[1] : "";
    int status, provided;

    check_closed("before MPI_Init");
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
    if (0 == strcmp(what, "mixed")) {
        run_mixed();
    }
    run_all(0 == strcmp(what, "offloaded"));
    pvars_end();
    status = conclude("half");
    MPI_Finalize();
    check_closed("after MPI_Finalize");
    return status;
}
