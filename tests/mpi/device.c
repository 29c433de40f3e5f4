/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Collectives with buffers in the memory of a device, on some ranks or on all: send side, receive
 * side, in place; blocking, nonblocking and persistent; one size for each way a vector may travel.
 *
 * usage: device offloaded|left [casts]
 *        device broken [allreduce|allgather|bcast [blocking|nonblocking [RANK [COUNT]]]]
 *        device unrecorded
 *        device broken-left
 * left: to Open MPI. casts: no reductions. broken: copies fail on one rank, 0 if nothing else is said, which all have
 * to be told; unrecorded: one does after it has begun, and is tried again. broken-left: the operation is left to Open
 * MPI, and the job ends.
 */
#include <dlfcn.h>
#include <stdbool.h>
#include <string.h>
#include <unistd.h>

#include "check.h"
#include "cuda.h"
#include "optcast/mpi.h"
#include "persistent.h"
#include "pvars.h"

/* Elements that do not go in one piece. */
#define LARGE 40000

/* Bytes on both sides of a buffer that stay as they are. */
#define GUARD 64

typedef enum {
    SUM,                       /* of int64_t */
    MAXLOC,                    /* of pairs with gaps */
    BFLOAT16,                  /* a sum of 16-bit floats, which travel as floats between servers */
    USER,                      /* an operation of the program's: never offloaded */
    ALLGATHER,
    ALLGATHERV,
    BCAST,
    SPREAD_ALLGATHER,          /* of elements that are no row */
    SPREAD_BCAST,
    NUM_KINDS
} kind_t;

static const char *const kinds[] = {"sum", "maxloc", "bfloat16", "user", "allgather", "allgatherv", "bcast",
                                    "spread allgather", "spread bcast"};

typedef enum { BLOCKING, NONBLOCKING, PERSISTENT, NUM_WAYS } way_t;

static const char *const ways[] = {"blocking", "nonblocking", "persistent"};

typedef struct {
    double value;
    int index;
} pair_t;

typedef struct {
    bool on_device;
    uint64_t address;          /* of the first guard */
    size_t length;             /* without guards */
    char *before;              /* what it was filled with */
} buffer_t;

typedef struct {
    kind_t kind;
    way_t way;
    int count, number, root;
    int shift;                 /* elements of an Allgatherv's buffer before its first block, which are nobody's */
    bool in_place;
    buffer_t send, recv;
    int *counts, *displs;
} case_t;

static struct {
    int (*alloc)(uint64_t *, size_t);
    int (*free)(uint64_t);
    int (*to_host)(void *, uint64_t, size_t);
    int (*to_device)(uint64_t, const void *, size_t);
    unsigned long (*copies)(void);
    unsigned long (*leftovers)(void);
    unsigned long (*retained)(void);
    void (*fail_after)(long);
    void (*fail_records)(unsigned);
    void (*renew_context)(void);
} cuda;

static int rank, size;
static MPI_Comm comm;
static MPI_Datatype spread;    /* every second int64_t, eight of them */
static MPI_Op user_sum;
static MPI_Datatype bfloat16;
static MPI_Op bfloat16_sum;

/* ---- the driver ---- */

static void *function(void *library, const char *name)
{
    return must(dlsym(library, name));
}

/* What initialising a driver takes at the very least. */
#define INITIALISATION_US 20000

/* As the CUDA runtime does it: when the program has been running for a while. */
static void load_driver(void)
{
    void *library = dlopen("libcuda.so.1", RTLD_NOW);

    if (NULL == library) {
        wrong("%s", dlerror());
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
    (void) usleep(INITIALISATION_US);
    *(void **) &cuda.alloc = function(library, "cuMemAlloc_v2");
    *(void **) &cuda.free = function(library, "cuMemFree_v2");
    *(void **) &cuda.to_host = function(library, "cuMemcpyDtoH_v2");
    *(void **) &cuda.to_device = function(library, "cuMemcpyHtoD_v2");
    *(void **) &cuda.copies = function(library, "standin_copies");
    *(void **) &cuda.leftovers = function(library, "standin_leftovers");
    *(void **) &cuda.retained = function(library, "standin_retained");
    *(void **) &cuda.fail_after = function(library, "standin_fail_after");
    *(void **) &cuda.fail_records = function(library, "standin_fail_records");
    *(void **) &cuda.renew_context = function(library, "standin_renew_context");
}

/* ---- buffers ---- */

static void store(const buffer_t *b, const char *from)
{
    if (b->on_device) {
        (void) cuda.to_device(b->address, from, b->length + 2 * GUARD);
    } else {
        memcpy((void *) (uintptr_t) b->address, from, b->length + 2 * GUARD);
    }
}

/* With its guards; to be freed. */
static char *load(const buffer_t *b)
{
    char *bytes = must(malloc(b->length + 2 * GUARD));

    if (b->on_device) {
        (void) cuda.to_host(bytes, b->address, b->length + 2 * GUARD);
    } else {
        memcpy(bytes, (void *) (uintptr_t) b->address, b->length + 2 * GUARD);
    }
    return bytes;
}

static buffer_t buffer_make(bool on_device, size_t length)
{
    buffer_t b = {.on_device = on_device, .length = length};

    if (on_device) {
        (void) cuda.alloc(&b.address, length + 2 * GUARD);
    } else {
        b.address = (uint64_t) (uintptr_t) must(malloc(length + 2 * GUARD));
    }
    b.before = must(malloc(length + 2 * GUARD));
    for (size_t i = 0; i < length + 2 * GUARD; i++) {
        b.before[i] = (char) mix64(i);
    }
    return b;
}

static void buffer_free(buffer_t *b)
{
    if (b->on_device) {
        (void) cuda.free(b->address);
    } else {
        free((void *) (uintptr_t) b->address);
    }
    free(b->before);
}

static void *at(const buffer_t *b)
{
    return (void *) (uintptr_t) (b->address + GUARD);
}

/* ---- what is expected, element by element ---- */

static bool is_reduction(kind_t kind)
{
    return kind <= USER;
}

static bool is_bcast(kind_t kind)
{
    return BCAST == kind || SPREAD_BCAST == kind;
}

static bool is_spread(kind_t kind)
{
    return SPREAD_ALLGATHER == kind || SPREAD_BCAST == kind;
}

static size_t stride_of(kind_t kind)
{
    return MAXLOC == kind       ? sizeof(pair_t)
           : BFLOAT16 == kind ? sizeof(uint16_t)
           : is_spread(kind)  ? 16 * sizeof(int64_t)
                              : sizeof(int64_t);
}

static int64_t element(const case_t *c, int of_rank, int i)
{
    return of_rank * 1000003LL + i * 7LL + c->number * 31LL;
}

/* In block b of the receive buffer; those of an Allgatherv are of two lengths. */
static int block_length(const case_t *c, int b)
{
    return ALLGATHERV == c->kind ? c->count + b % 2 : c->count;
}

/* From the beginning of the receive buffer, in elements; Allgatherv leaves one out behind each. */
static size_t block_at(const case_t *c, int b)
{
    size_t each = (size_t) c->count + (ALLGATHERV == c->kind ? 2 : 0);

    return is_reduction(c->kind) || is_bcast(c->kind) ? 0 : (size_t) b * each;
}

/* A whole number that fits into 8 bits. */
static void write_bfloat16(char *to, int64_t value)
{
    float number = (float) value;
    uint32_t bits;

    memcpy(&bits, &number, sizeof(bits));
    *(uint16_t *) to = (uint16_t) (bits >> 16);
}

static int64_t small(int64_t value)
{
    return value % 31;
}

/* Writes element i of a rank's contribution there. */
static void write_element(const case_t *c, char *to, int of_rank, int i)
{
    int64_t value = element(c, of_rank, i);
    pair_t *pair = (pair_t *) to;

    if (MAXLOC == c->kind) {
        pair->value = (double) ((value * 17) % 1009);
        pair->index = of_rank;
    } else if (BFLOAT16 == c->kind) {
        write_bfloat16(to, small(value));
    } else if (is_spread(c->kind)) {
        for (int k = 0; k < 8; k++) {
            ((int64_t *) to)[2 * k] = value + k;
        }
    } else {
        *(int64_t *) to = value;
    }
}

static void write_maximum(const case_t *c, char *to, int i)
{
    pair_t best, other;

    write_element(c, (char *) &best, 0, i);
    for (int r = 1; r < size; r++) {
        write_element(c, (char *) &other, r, i);
        if (other.value > best.value) {
            best = other;
        }
    }
    ((pair_t *) to)->value = best.value;
    ((pair_t *) to)->index = best.index;
}

static void write_sum(const case_t *c, char *to, int i)
{
    int64_t sum = 0;

    for (int r = 0; r < size; r++) {
        sum += BFLOAT16 == c->kind ? small(element(c, r, i)) : element(c, r, i);
    }
    if (BFLOAT16 == c->kind) {
        write_bfloat16(to, sum);
    } else {
        *(int64_t *) to = sum;
    }
}

static void write_results(const case_t *c, char *to)
{
    size_t stride = stride_of(c->kind);

    for (int i = 0; is_reduction(c->kind) && i < c->count; i++) {
        if (MAXLOC == c->kind) {
            write_maximum(c, to + (size_t) i * stride, i);
        } else {
            write_sum(c, to + (size_t) i * stride, i);
        }
    }
    for (int b = 0; !is_reduction(c->kind) && b < size; b++) {
        for (int i = 0; i < block_length(c, b) && (!is_bcast(c->kind) || b == c->root); i++) {
            write_element(c, to + (block_at(c, b) + (size_t) i) * stride, b, i);
        }
    }
}

static void write_own(const case_t *c, char *to)
{
    for (int i = 0; i < block_length(c, rank); i++) {
        write_element(c, to + (size_t) i * stride_of(c->kind), rank, i);
    }
}

/* ---- cases ---- */

static void prepare(case_t *c)
{
    char *own = c->in_place ? c->recv.before + block_at(c, rank) * stride_of(c->kind)
                            : c->send.before;

    if (!is_bcast(c->kind) || c->root == rank) {
        write_own(c, own + GUARD);
    }
    store(&c->recv, c->recv.before);
    if (!c->in_place) {
        store(&c->send, c->send.before);
    }
}

static case_t case_make(kind_t kind, way_t way, int count, unsigned where, int number)
{
    case_t c = {.kind = kind, .way = way, .count = count, .number = number, .root = number % size,
                .shift = ALLGATHERV == kind && number % 2 ? 1 << 24 : 0,
                .in_place = 0 != (where & 4) || is_bcast(kind)};
    bool sends_device = 0 != ((where ^ (unsigned) rank) & 1), receives = 0 != (where & 2);
    size_t stride = stride_of(kind), blocks = is_reduction(kind) || is_bcast(kind) ? 1 : (size_t) size;

    c.recv = buffer_make(receives ? !sends_device : sends_device,
                         blocks * ((size_t) count + 2) * stride);
    if (!c.in_place) {
        c.send = buffer_make(sends_device, ((size_t) count + 1) * stride);
    }
    c.counts = must(calloc((size_t) size, sizeof(int)));
    c.displs = must(calloc((size_t) size, sizeof(int)));
    for (int b = 0; b < size; b++) {
        c.counts[b] = block_length(&c, b);
        c.displs[b] = c.shift + (int) block_at(&c, b);
    }
    prepare(&c);
    return c;
}

static void check(const case_t *c)
{
    char *bytes = load(&c->recv), *expected = must(malloc(c->recv.length + 2 * GUARD));

    memcpy(expected, c->recv.before, c->recv.length + 2 * GUARD);
    write_results(c, expected + GUARD);
    for (size_t i = 0; i < c->recv.length + 2 * GUARD; i++) {
        if (bytes[i] != expected[i]) {
            wrong("%s, %s, %d elements, number %d%s, device %d to %d: byte %zu is %d and not %d",
                  ways[c->way], kinds[c->kind], c->count, c->number, c->in_place ? ", in place" : "",
                  c->in_place ? -1 : c->send.on_device, c->recv.on_device, i, bytes[i], expected[i]);
            break;
        }
    }
    free(bytes);
    free(expected);
}

static void case_free(case_t *c)
{
    buffer_free(&c->recv);
    if (!c->in_place) {
        buffer_free(&c->send);
    }
    free(c->counts);
    free(c->displs);
}

static void add(void *in, void *inout, int *length, MPI_Datatype *type)
{
    (void) type;
    for (int i = 0; i < *length; i++) {
        ((int64_t *) inout)[i] += ((int64_t *) in)[i];
    }
}

static MPI_Datatype type_of(kind_t kind)
{
    return MAXLOC == kind       ? MPI_DOUBLE_INT
           : BFLOAT16 == kind ? bfloat16
           : is_spread(kind)  ? spread
                              : MPI_INT64_T;
}

static MPI_Op op_of(kind_t kind)
{
    return MAXLOC == kind       ? MPI_MAXLOC
           : BFLOAT16 == kind ? bfloat16_sum
           : USER == kind     ? user_sum
                              : MPI_SUM;
}

static int begin(const case_t *c, MPI_Request *request)
{
    const void *send = c->in_place ? MPI_IN_PLACE : at(&c->send);
    MPI_Datatype type = type_of(c->kind);
    void *recv = (void *) ((uintptr_t) at(&c->recv) - (size_t) c->shift * stride_of(c->kind));
    int own = block_length(c, rank);

    *request = MPI_REQUEST_NULL;
#define IN_WAY(now, later, once, ...)                                      \
    (BLOCKING == c->way ? now(__VA_ARGS__)                                 \
     : NONBLOCKING == c->way                                               \
         ? later(__VA_ARGS__, request)                                     \
         : once(__VA_ARGS__, MPI_INFO_NULL, request))
    if (is_reduction(c->kind)) {
        return IN_WAY(MPI_Allreduce, MPI_Iallreduce, MPI_Allreduce_init, send, recv, c->count, type,
                      op_of(c->kind), comm);
    }
    if (is_bcast(c->kind)) {
        return IN_WAY(MPI_Bcast, MPI_Ibcast, MPI_Bcast_init, recv, c->count, type, c->root, comm);
    }
    if (ALLGATHERV == c->kind) {
        return IN_WAY(MPI_Allgatherv, MPI_Iallgatherv, MPI_Allgatherv_init, send, own, type, recv,
                      c->counts, c->displs, type, comm);
    }
    return IN_WAY(MPI_Allgather, MPI_Iallgather, MPI_Allgather_init, send, own, type, recv, c->count,
                  type, comm);
}

/* Persistent ones twice, the second time with other contents. */
static void run(case_t *c)
{
    MPI_Request request;

    begin(c, &request);
    for (int round = 0; round < (PERSISTENT == c->way ? 2 : 1); round++) {
        if (round > 0) {
            c->number++;
            prepare(c);
        }
        if (PERSISTENT == c->way) {
            MPI_Start(&request);
        }
        if (BLOCKING != c->way) {
            MPI_Wait(&request, MPI_STATUS_IGNORE);
        }
        check(c);
    }
    if (PERSISTENT == c->way) {
        MPI_Request_free(&request);
    }
}

static unsigned long long offloaded(void)
{
    return pvar_read("allreduce_offloaded") + pvar_read("allgather_offloaded")
           + pvar_read("bcast_offloaded");
}

static void run_all(bool left, kind_t first)
{
    static const int counts[] = {3, 700, LARGE};
    unsigned long long before = offloaded(), wanted = 0;
    int number = 0;

    for (kind_t kind = first; kind < NUM_KINDS; kind++) {
        for (unsigned i = 0; i < NUM_WAYS * 3 * 8; i++) {
            way_t way = (way_t) (i % NUM_WAYS);
            int count = counts[i / NUM_WAYS % 3] / (is_spread(kind) ? 8 : 1) + 1;
            case_t c = case_make(kind, way, count, i / NUM_WAYS / 3, ++number);

            run(&c);
            case_free(&c);
            wanted += left || USER == kind ? 0 : PERSISTENT == way ? 2 : 1;
        }
    }
    if (offloaded() - before != wanted) {
        wrong("%llu operations were offloaded and not %llu", offloaded() - before, wanted);
    }
    if (0 == cuda.copies() || (!left && 0 == pvar_read("bytes_staged"))) {
        wrong("%lu copies, %llu bytes staged", cuda.copies(), pvar_read("bytes_staged"));
    }
}

/* Several at a time, which share what there is to copy by way of. */
static void run_beside(void)
{
    enum { MANY = 12 };
    case_t c[MANY];
    MPI_Request requests[MANY];

    for (int i = 0; i < MANY; i++) {
        c[i] = case_make(i % 3 ? SUM : ALLGATHER, NONBLOCKING, 60000, (unsigned) i % 8, i);
        begin(&c[i], &requests[i]);
    }
    MPI_Waitall(MANY, requests, MPI_STATUSES_IGNORE);
    for (int i = 0; i < MANY; i++) {
        check(&c[i]);
        case_free(&c[i]);
    }
}

/* Writes what the operation does not: from, at the same places as in the buffer. */
static void store_gaps(const case_t *c, const char *from)
{
    size_t length = c->recv.length + 2 * GUARD;
    char *zeros = must(calloc(1, length)), *ones = must(malloc(length));

    memset(ones, 0xff, length);
    write_results(c, zeros + GUARD);
    write_results(c, ones + GUARD);
    for (size_t begin = 0, end; begin < length; begin = end + 1) {
        for (end = begin; end < length && zeros[end] != ones[end]; end++) {
        }
        if (begin == end) {
            continue;
        }
        if (c->recv.on_device) {
            (void) cuda.to_device(c->recv.address + begin, from + begin, end - begin);
        } else {
            memcpy((char *) (uintptr_t) c->recv.address + begin, from + begin, end - begin);
        }
    }
    free(zeros);
    free(ones);
}

/* What is in gaps is not the operation's: the program may change it meanwhile. */
static void run_interleaved(void)
{
    static const kind_t with_gaps[] = {ALLGATHERV, SPREAD_ALLGATHER, SPREAD_BCAST};
    MPI_Request request;

    for (unsigned i = 0; i < 12; i++) {
        case_t c = case_make(with_gaps[i % 3], NONBLOCKING, 500, i / 3, (int) i);

        begin(&c, &request);
        for (size_t k = 0; k < c.recv.length + 2 * GUARD; k++) {
            c.recv.before[k] ^= 0x55;
        }
        store_gaps(&c, c.recv.before);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        check(&c);
        case_free(&c);
    }
}

/* The program replaces its context when it has no buffers there: one out of three is. */
static void run_renewed(void)
{
    for (int i = 0; i < 12; i++) {
        case_t c = case_make(i % 2 ? SUM : BCAST, BLOCKING, 5000, (unsigned) i, i);

        run(&c);
        case_free(&c);
        cuda.renew_context();
    }
}

/* Rank 0 is away for a while, in which the others do their parts, and what it has sent arrives. */
static int operate(const case_t *c)
{
    MPI_Request request;
    int rc = begin(c, &request);

    if (BLOCKING == c->way || MPI_SUCCESS != rc) {
        return rc;
    }
    if (0 == rank) {
        (void) usleep(50000);
    }
    return MPI_Wait(&request, MPI_STATUS_IGNORE);
}

/* One rank cannot copy; the others have buffers of the host. A large vector fails in the middle. */
static void run_broken(kind_t kind, way_t way, int who, int count)
{
    /* case_make: with a rank's lowest bit, this says that its buffers are the device's */
    unsigned where = (unsigned) (rank & 1) ^ (who == rank ? 1u : 0u);
    case_t good = case_make(kind, way, count, where, size);

    MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
    /* Open MPI does not know the communicator of a request that fails */
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    if (MPI_SUCCESS != operate(&good)) {
        wrong("it does not work before anything is broken");
    }
    check(&good);
    /* an error ends what a slower rank may still be in, and a Bcast's root returns before the others */
    sync_all(MPI_COMM_WORLD);
    if (who == rank) {
        cuda.fail_after(count >= LARGE ? 3 : 0);
    }
    if (MPI_SUCCESS == operate(&good)) {
        wrong("no error");
    }
    if (MPI_SUCCESS == operate(&good)) {
        wrong("no error afterwards");
    }
    if (who == rank) {
        cuda.fail_after(-1);
    }
    case_free(&good);
}

/* Copies of rank 0 have begun, and it cannot learn when they are over: it tries again. */
static void run_unrecorded(void)
{
    case_t c = case_make(SUM, BLOCKING, LARGE, 0 == rank ? 1 : 0, size);

    if (0 == rank) {
        cuda.fail_records(1);
    }
    run(&c);
    case_free(&c);
}

/* It returns on no rank: the others are in Open MPI's algorithm. */
static void run_broken_left(void)
{
    case_t c = case_make(SUM, BLOCKING, LARGE, 0 == rank ? 1 : 0, size);

    MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
    if (0 == rank) {
        cuda.fail_after(0);
    }
    (void) operate(&c);
    (void) operate(&c);
    wrong("the job goes on");
    case_free(&c);
}

static kind_t kind_named(const char *name)
{
    return 0 == strcmp(name, "bcast") ? BCAST : 0 == strcmp(name, "allgather") ? ALLGATHER : SUM;
}

int main(int argc, char **argv)
{
    const char *how = argc > 1 ? argv[1] : "";
    int provided, number = 1, sum;

    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    MPI_Type_vector(8, 1, 2, MPI_INT64_T, &spread);
    MPI_Type_create_resized(spread, 0, 16 * sizeof(int64_t), &spread);
    MPI_Type_commit(&spread);
    MPI_Op_create(add, 1, &user_sum);
    optcast_mpi_type(OPTCAST_BFLOAT16, &bfloat16);
    optcast_mpi_op(OPTCAST_BFLOAT16, MPI_SUM, &bfloat16_sum);
    MPI_Allreduce(&number, &sum, 1, MPI_INT, MPI_SUM, comm); /* nobody has a driver yet */
    load_driver();
    if (0 == strcmp(how, "broken")) {
        run_broken(argc > 2 ? kind_named(argv[2]) : SUM,
                   argc > 3 && 0 == strcmp(argv[3], "nonblocking") ? NONBLOCKING : BLOCKING,
                   argc > 4 ? atoi(argv[4]) : 0, argc > 5 ? atoi(argv[5]) : LARGE);
    } else if (0 == strcmp(how, "unrecorded")) {
        run_unrecorded();
    } else if (0 == strcmp(how, "broken-left")) {
        run_broken_left();
    } else {
        run_all(0 == strcmp(how, "left"),
                argc > 2 && 0 == strcmp(argv[2], "casts") ? ALLGATHER : SUM);
        run_beside();
        run_interleaved();
        run_renewed();
        if (0 != cuda.leftovers()) {
            wrong("%lu copies and events are left", cuda.leftovers());
        }
        if (cuda.retained() > 1) {
            wrong("the primary context was retained %lu times", cuda.retained());
        }
    }
    MPI_Op_free(&user_sum);
    MPI_Type_free(&spread);
    MPI_Comm_free(&comm);
    pvars_end();
    number = conclude("device");
    MPI_Finalize();
    return number;
}
