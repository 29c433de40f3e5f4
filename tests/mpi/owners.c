/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Reduces, Reduce_scatters of equal and of any blocks, and Barriers. Results are compared bit by bit
 * with a plain fold: that of Allreduce for a Reduce, and with the owner's host last for the others.
 *
 * usage: owners SEED ROUNDS [hosts=A,B,...] [order=rank] [shared=FILE] [device]
 *               [beside=VALUE] [volume=KIND:TOTAL:TIMES]...
 * Each round has every operation on every type that is offered, on MPI_COMM_WORLD, or on its even
 * ranks; blocking, nonblocking and persistent; in place or not. hosts: the host of each rank, in any
 * words (all on one); order=rank: results are to be in rank order. shared: a file that all ranks can
 * map, to prove what a Barrier is for; there are some only then. device: some buffers are in the
 * memory of one, on some ranks. volume: so many sums of TOTAL floats: reduce (to rank 1), block, or
 * half (of which rank 1 owns one), and a line "rank R sent S received T bytes" for each. beside: the
 * info key of that name for them. All must be offloaded, and nothing around what a rank gets may
 * change.
 */
#include <dlfcn.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "check.h"
#include "matrix_types.h"
#include "persistent.h"
#include "pvars.h"

#define GUARD     64
#define FILLER    0xa5
#define MAX_RANKS 64

typedef enum { REDUCE, BLOCK, BLOCKS, NUM_KINDS } kind_t;
typedef enum { BLOCKING, NONBLOCKING, PERSISTENT, NUM_WAYS } way_t;

typedef struct {
    kind_t kind;
    way_t way;
    const type_t *type;
    int op, root, ranks, rank;
    MPI_Comm comm;
    const int *members;       /* ranks in MPI_COMM_WORLD */
    int counts[MAX_RANKS];    /* of the block of each rank */
    int total, first;         /* elements: of all, before the own block */
    bool in_place;
    uint64_t seed;
} case_t;

static const char *hosts[MAX_RANKS];
static bool in_rank_order;

static const char *host_of(const case_t *c, int rank)
{
    return hosts[c->members[rank]];
}

static bool same_host(const case_t *c, int a, int b)
{
    return 0 == strcmp(host_of(c, a), host_of(c, b));
}

static char *element(const case_t *c, void *buffer, int index)
{
    return (char *) buffer + (size_t) index * c->type->base->extent;
}

static void make_input(const case_t *c, int rank, int first, int count, void *buffer)
{
    for (int i = 0; i < count; i++) {
        uint64_t bits = mix64(mix64(c->seed * 64 + (uint64_t) rank) + (uint64_t) (first + i));

        memset(element(c, buffer, i), 0, c->type->base->extent);
        make_element(c->type, c->op, bits, false, element(c, buffer, i));
    }
}

/* What the ranks of a host make of their elements, if this is the lowest of them. */
static bool fold_host(const case_t *c, int low, int first, int count, void *sum, void *next)
{
    for (int rank = 0; rank < c->ranks; rank++) {
        if (in_rank_order ? rank != low : !same_host(c, rank, low)) {
            continue;
        }
        if (rank < low) {
            return false;
        }
        make_input(c, rank, first, count, rank == low ? sum : next);
        if (rank != low) {
            c->type->base->fold(sum, next, (size_t) count, c->op);
        }
    }
    return true;
}

/* last: the rank whose host comes last; negative: nobody's does. */
static void *make_expected(const case_t *c, int last, int first, int count)
{
    size_t size = (size_t) count * c->type->base->extent + 1;
    char *all = must(malloc(size)), *host = must(malloc(size)), *next = must(malloc(size));
    bool begun = false;

    for (int turn = 0; turn < 2; turn++) {
        for (int low = 0; low < c->ranks; low++) {
            bool is_last = last >= 0 && same_host(c, low, last);

            if (is_last != (1 == turn) || !fold_host(c, low, first, count, host, next)) {
                continue;
            }
            if (begun) {
                c->type->base->fold(all, host, (size_t) count, c->op);
            } else {
                memcpy(all, host, size - 1);
            }
            begun = true;
        }
    }
    free(host);
    free(next);
    return all;
}

static bool gets(const case_t *c)
{
    return REDUCE != c->kind || c->rank == c->root;
}

static int own_count(const case_t *c)
{
    return REDUCE == c->kind ? (gets(c) ? c->total : 0) : c->counts[c->rank];
}

static void describe(const case_t *c, char text[128])
{
    static const char *const kinds[] = {"Reduce", "Reduce_scatter_block", "Reduce_scatter"};
    static const char *const ways[] = {"", "I", "persistent "};

    snprintf(text, 128, "%s%s of %d %s, %s%s, on %d ranks", ways[c->way], kinds[c->kind], c->total,
             c->type->name, op_name(c->op), c->in_place ? ", in place" : "", c->ranks);
}

static void check_result(const case_t *c, char *result)
{
    int last = REDUCE == c->kind || in_rank_order ? -1 : c->rank;
    int first = REDUCE == c->kind ? 0 : c->first, count = own_count(c);
    char *expected = make_expected(c, last, first, count), text[128];

    describe(c, text);
    for (int i = 0; i < count; i++) {
        if (!same_element(c->type, c->op, element(c, result, i), element(c, expected, i))) {
            wrong("%s: element %d is wrong", text, first + i);
            break;
        }
    }
    free(expected);
}

/* ---- buffers ---- */

static struct {
    int (*alloc)(uint64_t *, size_t);
    int (*free)(uint64_t);
    int (*to_host)(void *, uint64_t, size_t);
    int (*to_device)(uint64_t, const void *, size_t);
    unsigned long (*leftovers)(void);
} cuda;

/* The driver, or what stands in for it (cuda.h). */
static void load_driver(void)
{
    void *library = must(dlopen("libcuda.so.1", RTLD_NOW));

    *(void **) &cuda.alloc = must(dlsym(library, "cuMemAlloc_v2"));
    *(void **) &cuda.free = must(dlsym(library, "cuMemFree_v2"));
    *(void **) &cuda.to_host = must(dlsym(library, "cuMemcpyDtoH_v2"));
    *(void **) &cuda.to_device = must(dlsym(library, "cuMemcpyHtoD_v2"));
    *(void **) &cuda.leftovers = must(dlsym(library, "standin_leftovers"));
}

/* Room for all elements between two guards: in host memory, and maybe on a device, for MPI. */
typedef struct {
    char *data;
    size_t bytes;
    uint64_t device;          /* of the first guard; 0: there is none */
} buffer_t;

static buffer_t buffer_make(const case_t *c, unsigned number)
{
    size_t size = (size_t) c->total * c->type->base->extent + 2 * GUARD;
    buffer_t buffer = {.bytes = size};
    char *memory = must(malloc(size));

    memset(memory, FILLER, size);
    buffer.data = memory + GUARD;
    /* ranks need not agree about it */
    if (NULL != cuda.alloc && 0 != (mix64(c->seed + (uint64_t) c->rank) >> number & 1)) {
        (void) cuda.alloc(&buffer.device, size);
    }
    return buffer;
}

static void buffer_free(buffer_t *buffer)
{
    if (0 != buffer->device) {
        (void) cuda.free(buffer->device);
    }
    free(buffer->data - GUARD);
}

/* What MPI gets, with what is in host memory. */
static void *buffer_give(const buffer_t *buffer)
{
    if (0 == buffer->device) {
        return buffer->data;
    }
    (void) cuda.to_device(buffer->device, buffer->data - GUARD, buffer->bytes);
    return (void *) (uintptr_t) (buffer->device + GUARD);
}

static void buffer_take(const buffer_t *buffer)
{
    if (0 != buffer->device) {
        (void) cuda.to_host(buffer->data - GUARD, buffer->device, buffer->bytes);
    }
}

/* From that element on nothing was written. */
static void check_untouched(const case_t *c, char *buffer, int from)
{
    unsigned char *at = (unsigned char *) element(c, buffer, from),
                  *end = (unsigned char *) element(c, buffer, c->total) + GUARD;
    char text[128];

    describe(c, text);
    for (int i = 1; i <= GUARD; i++) {
        if (FILLER != (unsigned char) buffer[-i]) {
            wrong("%s: memory before the receive buffer has changed", text);
            return;
        }
    }
    for (; at < end; at++) {
        if (FILLER != *at) {
            wrong("%s: memory behind the result has changed", text);
            return;
        }
    }
}

static void begin(const case_t *c, const void *send, void *recv, bool again, MPI_Request *request)
{
    MPI_Op op = op_handle(c->op);
    MPI_Datatype type = c->type->handle;
    int each = c->counts[0];

    switch (c->kind * NUM_WAYS + c->way) {
    case REDUCE * NUM_WAYS + BLOCKING:
        MPI_Reduce(send, recv, c->total, type, op, c->root, c->comm);
        return;
    case REDUCE * NUM_WAYS + NONBLOCKING:
        MPI_Ireduce(send, recv, c->total, type, op, c->root, c->comm, request);
        return;
    case BLOCK * NUM_WAYS + BLOCKING:
        MPI_Reduce_scatter_block(send, recv, each, type, op, c->comm);
        return;
    case BLOCK * NUM_WAYS + NONBLOCKING:
        MPI_Ireduce_scatter_block(send, recv, each, type, op, c->comm, request);
        return;
    case BLOCKS * NUM_WAYS + BLOCKING:
        MPI_Reduce_scatter(send, recv, c->counts, type, op, c->comm);
        return;
    case BLOCKS * NUM_WAYS + NONBLOCKING:
        MPI_Ireduce_scatter(send, recv, c->counts, type, op, c->comm, request);
        return;
    default:
        break;
    }
    if (!again && REDUCE == c->kind) {
        MPI_Reduce_init(send, recv, c->total, type, op, c->root, c->comm, MPI_INFO_NULL, request);
    } else if (!again && BLOCK == c->kind) {
        MPI_Reduce_scatter_block_init(send, recv, each, type, op, c->comm, MPI_INFO_NULL, request);
    } else if (!again) {
        MPI_Reduce_scatter_init(send, recv, c->counts, type, op, c->comm, MPI_INFO_NULL, request);
    }
    MPI_Start(request);
}

static void run_once(const case_t *c, const buffer_t *send_to, const buffer_t *recv_to, bool again,
                     MPI_Request *request)
{
    char *send = send_to->data, *recv = recv_to->data;
    const char *counter = REDUCE == c->kind ? "reduce_offloaded" : "reduce_scatter_offloaded";
    unsigned long long before = pvar_read(counter), fallbacks = pvar_read("fallbacks");
    bool in_place = c->in_place && gets(c);
    char text[128];

    make_input(c, c->rank, 0, c->total, in_place ? recv : send);
    begin(c, in_place ? MPI_IN_PLACE : buffer_give(send_to), gets(c) ? buffer_give(recv_to) : NULL,
          again, request);
    MPI_Wait(request, MPI_STATUS_IGNORE);
    if (gets(c)) {
        buffer_take(recv_to);
    }
    if (!in_place) {
        buffer_take(send_to);
    }
    check_result(c, recv);
    check_untouched(c, recv, in_place ? c->total : own_count(c));
    if (pvar_read(counter) != before + 1 || pvar_read("fallbacks") != fallbacks) {
        describe(c, text);
        wrong("%s was not offloaded", text);
    }
}

static void run_case(case_t *c)
{
    buffer_t send = buffer_make(c, 20), recv = buffer_make(c, 21);
    char *copy;
    MPI_Request request = MPI_REQUEST_NULL;
    size_t bytes = (size_t) c->total * c->type->base->extent;
    char text[128];

    run_once(c, &send, &recv, false, &request);
    copy = must(malloc(bytes + 1));
    make_input(c, c->rank, 0, c->total, copy);
    if (!(c->in_place && gets(c)) && 0 != memcmp(send.data, copy, bytes)) {
        describe(c, text);
        wrong("%s: the send buffer has changed", text);
    }
    if (PERSISTENT == c->way) {
        c->seed++;
        memset(recv.data, FILLER, bytes);
        run_once(c, &send, &recv, true, &request);
        MPI_Request_free(&request);
    }
    buffer_free(&send);
    buffer_free(&recv);
    free(copy);
}

/* ---- which cases ---- */

static void cut(case_t *c, uint64_t *state)
{
    static const int sizes[] = {3, 40, 1000, 5000};
    int each = sizes[next_random(state, 4)] + (int) next_random(state, 7), pattern;

    pattern = BLOCKS == c->kind ? 1 + (int) next_random(state, 3) : 0;
    c->total = c->first = 0;
    for (int i = 0; i < c->ranks; i++) {
        int large = i == c->root ? each * c->ranks : 0;

        c->counts[i] = 0 == pattern   ? each
                       : 1 == pattern ? (int) next_random(state, (unsigned) each)
                       : 2 == pattern ? large
                                      : each / 3 + large;
        c->first += i < c->rank ? c->counts[i] : 0;
        c->total += c->counts[i];
    }
    if (0 == c->total) {
        c->counts[0] = c->total = 3;
        c->first = 0 == c->rank ? 0 : 3;
    }
}

/* The world, or half of it. */
static void choose_comm(case_t *c, uint64_t *state)
{
    static MPI_Comm even = MPI_COMM_NULL;
    static int all[MAX_RANKS], halves[MAX_RANKS];
    int rank, size;

    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    if (MPI_COMM_NULL == even) {
        MPI_Comm_split(MPI_COMM_WORLD, rank % 2, rank, &even);
    }
    for (int i = 0; i < size; i++) {
        all[i] = i;
        halves[i] = 2 * i + rank % 2;
    }
    c->comm = MPI_COMM_WORLD;
    c->members = all;
    if (size >= 4 && 0 == next_random(state, 4)) {
        c->comm = even;
        c->members = halves;
    }
    MPI_Comm_rank(c->comm, &c->rank);
    MPI_Comm_size(c->comm, &c->ranks);
}

static unsigned run_round(uint64_t seed)
{
    unsigned num_types, done = 0;
    const type_t *types = types_all(&num_types);

    for (unsigned t = 0; t < num_types; t++) {
        for (int op = 0; op < NUM_OPS && types[t].offered; op++) {
            case_t c = {.type = &types[t], .op = op};
            /* communicators of other sizes take other numbers of them */
            uint64_t state = mix64(seed * 1000 + done);

            if (!type_allows(&types[t], op)) {
                continue;
            }
            c.kind = next_random(&state, NUM_KINDS);
            c.way = next_random(&state, NUM_WAYS);
            c.in_place = 0 == next_random(&state, 2);
            choose_comm(&c, &state);
            c.root = (int) next_random(&state, (unsigned) c.ranks);
            c.seed = mix64(state);
            cut(&c, &state);
            run_case(&c);
            done++;
        }
    }
    return done;
}

/* ---- volumes ---- */

static MPI_Comm with_hint(const char *beside)
{
    MPI_Comm comm;
    MPI_Info info;

    MPI_Info_create(&info);
    MPI_Info_set(info, "optcast_reduce_scatter_beside", beside);
    MPI_Comm_dup_with_info(MPI_COMM_WORLD, info, &comm);
    MPI_Info_free(&info);
    return comm;
}

static void run_volume(char *what, const char *beside)
{
    char *kind = strtok(what, ":"), *total = strtok(NULL, ":"), *times = strtok(NULL, ":");
    unsigned long long sent = pvar_read("bytes_sent"), received = pvar_read("bytes_received");
    case_t c = {.kind = 0 == strcmp(kind, "reduce") ? REDUCE
                        : 0 == strcmp(kind, "half") ? BLOCKS
                                                    : BLOCK,
                .type = type_find("FLOAT"), .op = SUM, .root = 1,
                .comm = NULL == beside ? MPI_COMM_WORLD : with_hint(beside)};
    int members[MAX_RANKS], all = atoi(total);

    MPI_Comm_rank(c.comm, &c.rank);
    MPI_Comm_size(c.comm, &c.ranks);
    for (int i = 0; i < c.ranks; i++) {
        members[i] = i;
        c.counts[i] = BLOCKS == c.kind ? all / 2 / (1 == i ? 1 : c.ranks - 1) : all / c.ranks;
        c.first += i < c.rank ? c.counts[i] : 0;
        c.total += c.counts[i];
    }
    c.members = members;
    for (int i = 0; i < atoi(times); i++) {
        c.seed = (uint64_t) i;
        run_case(&c);
    }
    printf("rank %d sent %llu received %llu bytes\n", c.rank, pvar_read("bytes_sent") - sent,
           pvar_read("bytes_received") - received);
    fflush(stdout);
    if (MPI_COMM_WORLD != c.comm) {
        MPI_Comm_free(&c.comm);
    }
}

/* ---- Barriers ---- */

/* Nobody is out before all are in, however they are called. */
static void run_barriers(const char *path)
{
    unsigned long long before = pvar_read("barrier_offloaded");
    volatile int *in;
    MPI_Request request, persistent;
    int rank, size, file = open(path, O_RDWR);

    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    in = mmap(NULL, MAX_RANKS * sizeof(int), PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    if (file < 0 || MAP_FAILED == (void *) in) {
        wrong("%s cannot be shared", path);
        return;
    }
    MPI_Barrier_init(MPI_COMM_WORLD, MPI_INFO_NULL, &persistent);
    for (int i = 1; i <= 30; i++) {
        usleep(rank == i % size ? 3000 : 0);
        in[rank] = i;
        if (0 == i % 3) {
            MPI_Barrier(MPI_COMM_WORLD);
        } else if (1 == i % 3) {
            MPI_Ibarrier(MPI_COMM_WORLD, &request);
            MPI_Wait(&request, MPI_STATUS_IGNORE);
        } else {
            MPI_Start(&persistent);
            MPI_Wait(&persistent, MPI_STATUS_IGNORE);
        }
        for (int other = 0; other < size; other++) {
            if (in[other] < i) {
                wrong("Barrier %d is over before rank %d has begun it", i, other);
            }
        }
    }
    MPI_Request_free(&persistent);
    if (pvar_read("barrier_offloaded") != before + 30) {
        wrong("%llu of 30 Barriers were offloaded", pvar_read("barrier_offloaded") - before);
    }
}

/* ---- */

static void read_hosts(char *list)
{
    for (int i = 0; i < MAX_RANKS; i++) {
        char *name = strtok(0 == i ? list : NULL, ",");

        hosts[i] = NULL == name ? "here" : name;
    }
}

int main(int argc, char **argv)
{
    char nobody[] = "", summary[96], *list = nobody;
    const char *shared = NULL, *beside = NULL;
    unsigned done = 0;
    int rounds;

    MPI_Init(&argc, &argv);
    if (argc < 3) {
        wrong("usage: owners SEED ROUNDS [hosts=A,B,...] [order=rank] [shared=FILE] [device] "
              "[beside=VALUE] [volume=KIND:TOTAL:TIMES]...");
        MPI_Abort(MPI_COMM_WORLD, 2);
    }
    for (int i = 3; i < argc; i++) {
        list = 0 == strncmp(argv[i], "hosts=", 6) ? argv[i] + 6 : list;
        shared = 0 == strncmp(argv[i], "shared=", 7) ? argv[i] + 7 : shared;
        beside = 0 == strncmp(argv[i], "beside=", 7) ? argv[i] + 7 : beside;
        in_rank_order = in_rank_order || 0 == strcmp(argv[i], "order=rank");
        if (0 == strcmp(argv[i], "device")) {
            load_driver();
        }
    }
    read_hosts(list);
    rounds = atoi(argv[2]);
    for (int round = 0; round < rounds; round++) {
        done += run_round((uint64_t) atoi(argv[1]) * 1000 + (uint64_t) round);
    }
    if (NULL != shared) {
        run_barriers(shared);
    }
    for (int i = 3; i < argc; i++) {
        if (0 == strncmp(argv[i], "volume=", 7)) {
            run_volume(argv[i] + 7, beside);
        }
    }
    if (NULL != cuda.leftovers && 0 != cuda.leftovers()) {
        wrong("%lu copies or events are left over", cuda.leftovers());
    }
    if (NULL != cuda.alloc && 0 == pvar_read("bytes_staged")) {
        wrong("nothing was copied from or to the device");
    }
    snprintf(summary, sizeof(summary), "owners: %u cases", done);
    rounds = conclude(summary);
    pvars_end();
    MPI_Finalize();
    return rounds;
}
