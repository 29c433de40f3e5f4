/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Mode auto, for reductions whose result goes to owners: of each kind those sizes are offloaded that
 * its own rules say, and no others, whichever comes first on a communicator, blocks or not, and
 * however late a rank comes. 2 ranks or more, all of them with the same ranges of bytes of a vector:
 *
 * usage: auto_owners ALLREDUCE REDUCE REDUCE_SCATTER REDUCE_SCATTER_BLOCK BARRIER
 *
 * Ranges are FIRST-[LAST][,FIRST-[LAST]]..., as in the rules of the job, or never; a Barrier's are
 * 0- or never.
 */
#include <stdbool.h>
#include <stdint.h>
#include <unistd.h>

#include "check.h"
#include "persistent.h"
#include "pvars.h"
#include "sizes.h"
#include "sums.h"

#define SEQUENCES   16
#define OPERATIONS  40
#define MAX_PENDING 8
#define MAX_RANKS   16
#define DELAY       3000 /* µs */

typedef enum { ALLREDUCE, REDUCE, SCATTER, BLOCK, BARRIER, NUM_KINDS } kind_t;

typedef enum { BLOCKING, NONBLOCKING, PERSISTENT } way_t;

static const char *const names[NUM_KINDS] = {"Allreduce", "Reduce", "Reduce_scatter",
                                             "Reduce_scatter_block", "Barrier"};
/* Equal and unequal blocks share one. */
static const char *const counters[NUM_KINDS] = {"allreduce_offloaded", "reduce_offloaded",
                                                "reduce_scatter_offloaded",
                                                "reduce_scatter_offloaded", "barrier_offloaded"};

/* Elements of 8 bytes of a vector, around the borders of ranges of KiB. */
static const int lengths[] = {1, 100, 127, 128, 200, 255, 256, 257, 2000, 2500, 2501, 8191, 8192,
                              30000};
#define NUM_LENGTHS (int) (sizeof(lengths) / sizeof(lengths[0]))

/* sum: the vector, and where the result goes to. */
typedef struct {
    kind_t kind;
    int root, first, own;     /* elements that this rank gets, from that one on */
    int counts[MAX_RANKS];
    sum_t sum;
} operation_t;

typedef struct {
    unsigned long long offloaded[NUM_KINDS], size, place;
} expected_t;

static int rank, size, number;
static sizes_t sizes[NUM_KINDS];

/* The same on all ranks, but for the time. */
static uint64_t draw(uint64_t seed, int what)
{
    return mix64(seed * 1000 + (uint64_t) what);
}

static void come_late(uint64_t seed, int what)
{
    if (0 == draw(seed + (uint64_t) rank + 77, what) % 4) {
        usleep((useconds_t) (draw(seed + (uint64_t) rank, what) % DELAY));
    }
}

/* Half of the vector is the last rank's, and the first one has nothing, unless it has all. */
static void share(operation_t *o, int length)
{
    int others = size > 2 ? length / 2 / (size - 2) : 0;

    for (int i = 0; i < size; i++) {
        o->counts[i] = 0 == i ? 0 : others;
    }
    o->counts[size - 1] = length - others * (size - 2);
    o->own = o->counts[rank];
    for (int i = 0; i < rank; i++) {
        o->first += o->counts[i];
    }
}

static void make(operation_t *o, MPI_Comm comm, kind_t kind, int length)
{
    int block = (length + size - 1) / size;

    *o = (operation_t) {.kind = kind, .root = number % size};
    if (SCATTER == kind) {
        share(o, length);
    } else if (BLOCK == kind) {
        length = block * size;
        o->own = block;
        o->first = block * rank;
    } else {
        o->own = ALLREDUCE == kind || (REDUCE == kind && rank == o->root) ? length : 0;
    }
    sum_make(&o->sum, comm, ++number, length);
}

/* Blocking, nonblocking, or a persistent request that is not started yet. */
#define CALL(name, ...)                                            \
    do {                                                           \
        if (BLOCKING == way) {                                     \
            MPI_##name(__VA_ARGS__);                               \
        } else if (NONBLOCKING == way) {                           \
            MPI_I##name##_(__VA_ARGS__, request);                  \
        } else {                                                   \
            MPI_##name##_init(__VA_ARGS__, MPI_INFO_NULL, request); \
        }                                                          \
    } while (0)
#define MPI_IAllreduce_            MPI_Iallreduce
#define MPI_IReduce_               MPI_Ireduce
#define MPI_IReduce_scatter_       MPI_Ireduce_scatter
#define MPI_IReduce_scatter_block_ MPI_Ireduce_scatter_block
#define MPI_IBarrier_              MPI_Ibarrier

static void call(const operation_t *o, way_t way, MPI_Request *request)
{
    const sum_t *s = &o->sum;

    *request = MPI_REQUEST_NULL;
    switch (o->kind) {
    case ALLREDUCE:
        CALL(Allreduce, s->send, s->recv, s->count, MPI_INT64_T, MPI_SUM, s->comm);
        break;
    case REDUCE:
        CALL(Reduce, s->send, s->recv, s->count, MPI_INT64_T, MPI_SUM, o->root, s->comm);
        break;
    case SCATTER:
        CALL(Reduce_scatter, s->send, s->recv, o->counts, MPI_INT64_T, MPI_SUM, s->comm);
        break;
    case BLOCK:
        CALL(Reduce_scatter_block, s->send, s->recv, o->own, MPI_INT64_T, MPI_SUM, s->comm);
        break;
    default:
        CALL(Barrier, s->comm);
    }
}

/* Every element that this rank gets. */
static void check(const char *what, const operation_t *o)
{
    const sum_t *s = &o->sum;

    for (int i = 0; i < o->own; i++) {
        int64_t expected = 0;

        for (int in_rank = 0; in_rank < size; in_rank++) {
            expected += sum_element(s->number, in_rank, o->first + i);
        }
        if (expected != s->recv[i]) {
            wrong("%s, operation %d: element %d of %d of the %s is %lld instead of %lld", what,
                  s->number, i, o->own, names[o->kind], (long long) s->recv[i],
                  (long long) expected);
            return;
        }
    }
}

static void end(operation_t *o)
{
    free(o->sum.send);
    free(o->sum.recv);
}

/* ---- what counters say ---- */

static bool is_offloaded(const operation_t *o)
{
    return sizes_contain(&sizes[o->kind], BARRIER == o->kind ? 1 : o->sum.count);
}

static void expect(expected_t *e, const operation_t *o)
{
    e->offloaded[o->kind] += is_offloaded(o);
    e->size += !is_offloaded(o) && sizes[o->kind].num > 0;
    e->place += !is_offloaded(o) && 0 == sizes[o->kind].num;
}

static expected_t read_counters(void)
{
    expected_t e = {.size = pvar_read("fallbacks_size"), .place = pvar_read("fallbacks_place")};

    for (int kind = 0; kind < NUM_KINDS; kind++) {
        e.offloaded[kind] = SCATTER == kind ? 0 : pvar_read(counters[kind]);
    }
    return e;
}

static void compare(const char *what, const char *name, unsigned long long before,
                    unsigned long long moved, unsigned long long now)
{
    if (now - before != moved) {
        wrong("%s: %s moved by %llu instead of %llu", what, name, now - before, moved);
    }
}

static void compare_all(const char *what, const expected_t *before, const expected_t *moved)
{
    expected_t now = read_counters(), all = *moved;

    all.offloaded[BLOCK] += all.offloaded[SCATTER];
    all.offloaded[SCATTER] = 0;
    for (int kind = 0; kind < NUM_KINDS; kind++) {
        compare(what, counters[kind], before->offloaded[kind], all.offloaded[kind],
                now.offloaded[kind]);
    }
    compare(what, "fallbacks_size", before->size, all.size, now.size);
    compare(what, "fallbacks_place", before->place, all.place, now.place);
}

/* ---- what is done ---- */

/* On a communicator that is new; only: no other kinds, or NUM_KINDS. */
static void sequence(uint64_t seed, kind_t only)
{
    expected_t before, expected = {.size = 0};
    operation_t pending[MAX_PENDING], o;
    MPI_Request requests[MAX_PENDING], none;
    MPI_Comm comm;
    int waiting = 0;

    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    before = read_counters();
    for (int i = 0; i < OPERATIONS; i++) {
        kind_t kind = NUM_KINDS == only ? (kind_t) (draw(seed, i + 900) % NUM_KINDS) : only;
        int length = lengths[draw(seed, i) % NUM_LENGTHS];

        come_late(seed, i);
        if (0 == draw(seed, i + 500) % 3) {
            make(&o, comm, kind, length);
            expect(&expected, &o);
            call(&o, BLOCKING, &none);
            check("blocking", &o);
            end(&o);
        } else {
            make(&pending[waiting], comm, kind, length);
            expect(&expected, &pending[waiting]);
            call(&pending[waiting], NONBLOCKING, &requests[waiting]);
            waiting++;
        }
        if (MAX_PENDING == waiting || OPERATIONS - 1 == i) {
            MPI_Waitall(waiting, requests, MPI_STATUSES_IGNORE);
            while (waiting > 0) {
                check("nonblocking", &pending[--waiting]);
                end(&pending[waiting]);
            }
        }
    }
    compare_all("sequence", &before, &expected);
    MPI_Comm_free(&comm);
}

/*
 * Those that are known to be left when they are made count once: known says that a blocking one of
 * the communicator was offloaded.
 */
static void persistent(MPI_Comm comm, kind_t kind, int length, bool known)
{
    expected_t before = read_counters(), expected = {.size = 0};
    const sizes_t *own = &sizes[kind];
    MPI_Request request;
    operation_t o;
    bool once;

    make(&o, comm, kind, length);
    once = known || 0 == own->num
           || (BARRIER == kind ? 1 : 8 * (uint64_t) o.sum.count) < own->ranges[0].first;
    call(&o, PERSISTENT, &request);
    for (int s = 0; s < 3; s++) {
        come_late((uint64_t) length, s);
        memset(o.sum.recv, 0, (size_t) o.sum.count * sizeof(*o.sum.recv));
        MPI_Start(&request);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        check("persistent", &o);
        if (is_offloaded(&o) || !once || 0 == s) {
            expect(&expected, &o);
        }
    }
    MPI_Request_free(&request);
    end(&o);
    compare_all("persistent", &before, &expected);
}

/* Of all kinds, so that the communicator is set up if anything is offloaded at all. */
static void block(MPI_Comm comm)
{
    MPI_Request none;
    operation_t o;

    for (int length = 2000; length <= 30000; length *= 15) {
        for (kind_t kind = 0; kind < NUM_KINDS; kind++) {
            make(&o, comm, kind, length);
            call(&o, BLOCKING, &none);
            end(&o);
        }
    }
}

static void all_persistent(void)
{
    MPI_Comm comm;

    for (int known = 0; known < 2; known++) {
        MPI_Comm_dup(MPI_COMM_WORLD, &comm);
        if (known) {
            block(comm);
        }
        for (kind_t kind = 0; kind < NUM_KINDS; kind++) {
            for (int i = 0; i < NUM_LENGTHS; i++) {
                persistent(comm, kind, lengths[i], known);
            }
        }
        MPI_Comm_free(&comm);
    }
}

int main(int argc, char **argv)
{
    bool any = false;
    int status;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    for (int kind = 0; kind < NUM_KINDS; kind++) {
        sizes[kind] = sizes_parse(kind + 1 < argc ? argv[kind + 1] : "never");
        any = any || sizes[kind].num > 0;
    }
    for (uint64_t seed = 1; seed <= SEQUENCES; seed++) {
        sequence(seed, NUM_KINDS);
    }
    for (kind_t kind = 0; kind < NUM_KINDS; kind++) {
        sequence(SEQUENCES + 1, kind);
    }
    all_persistent();
    if (!any && 0 != pvar_read("groups")) {
        wrong("a communicator was set up for nothing");
    }
    pvars_end();
    status = conclude("auto_owners");
    MPI_Finalize();
    return status;
}
