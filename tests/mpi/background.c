/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Nonblocking and persistent collectives while the program is not in MPI. 3 ranks or more:
 *
 * usage: background thread|left|mpi|blocking
 * thread: each operation ends, and its result is there, before the program calls MPI again; left: one
 * is under way in MPI_Finalize; mpi: no large one moves; blocking: no thread is made for blocking ones.
 */
#include <dirent.h>
#include <stdbool.h>
#include <time.h>
#include <unistd.h>

#include "check.h"
#include "offered.h"
#include "persistent.h"
#include "pvars.h"

#define SMALL    50      /* elements of 8 bytes of a vector, for each rank */
#define LARGE    40000
#define PATIENCE 30      /* s: an operation that needs so long does not move */
#define MOMENT   300     /* ms for one that is not to move */
#define ROUNDS   3
#define AT_ONCE  4

typedef enum { ALLREDUCE, REDUCE, BLOCKS, BARRIER, ALLGATHER, BCAST, NUM_KINDS } kind_t;

static const char *const names[NUM_KINDS] = {"Allreduce", "Reduce", "Reduce_scatter_block",
                                             "Barrier", "Allgather", "Bcast"};
static const char *const counters[NUM_KINDS] = {
    "allreduce_offloaded", "reduce_offloaded", "reduce_scatter_offloaded", "barrier_offloaded",
    "allgather_offloaded", "bcast_offloaded"};

typedef struct {
    kind_t kind;
    MPI_Comm comm;
    int number, root;
    size_t block, length;   /* elements of a rank's block, and of all */
    int64_t *send, *recv;
    MPI_Request request;
} operation_t;

static int rank, size;

static bool is_offered(kind_t kind)
{
    return BARRIER != kind || offers_barrier;
}

static int64_t element(int number, int in_rank, size_t i)
{
    return (int64_t) (mix64((uint64_t) number * 1000 + (uint64_t) in_rank) >> 8) + (int64_t) i;
}

/* As if it had not been done yet. */
static void refill(const operation_t *o)
{
    for (size_t i = 0; i < o->length; i++) {
        o->send[i] = element(o->number, rank, i);
        o->recv[i] = BCAST == o->kind && rank == o->root ? o->send[i] : -1;
    }
}

static void operation_make(operation_t *o, kind_t kind, MPI_Comm comm, size_t block)
{
    static int last_number;

    *o = (operation_t) {.kind = kind, .comm = comm, .number = ++last_number, .block = block,
                        .length = block * (size_t) size, .request = MPI_REQUEST_NULL};
    o->root = o->number % size;
    o->send = must(malloc(o->length * sizeof(int64_t)));
    o->recv = must(malloc(o->length * sizeof(int64_t)));
    refill(o);
}

static void operation_free(operation_t *o)
{
    free(o->send);
    free(o->recv);
}

static int64_t sum_of(const operation_t *o, size_t i)
{
    int64_t sum = 0;

    for (int in_rank = 0; in_rank < size; in_rank++) {
        sum += element(o->number, in_rank, i);
    }
    return sum;
}

/* Element i of what this rank has got; false: it gets no more. */
static bool expect(const operation_t *o, size_t i, int64_t *value)
{
    size_t whose = i / o->block;

    switch (o->kind) {
    case ALLREDUCE:
        *value = sum_of(o, i);
        return true;
    case REDUCE:
        *value = sum_of(o, i);
        return rank == o->root;
    case BLOCKS:
        *value = sum_of(o, (size_t) rank * o->block + i);
        return i < o->block;
    case ALLGATHER:
        *value = element(o->number, (int) whose, i % o->block);
        return true;
    case BCAST:
        *value = element(o->number, o->root, i);
        return true;
    default:
        return false;
    }
}

static void operation_check(const char *what, const operation_t *o)
{
    int64_t value;

    for (size_t i = 0; i < o->length && expect(o, i, &value); i++) {
        if (value != o->recv[i]) {
            wrong("%s, %s %d: element %zu of %zu is %lld instead of %lld", what, names[o->kind],
                  o->number, i, o->length, (long long) o->recv[i], (long long) value);
            return;
        }
    }
}

static void start(operation_t *o)
{
    int block = (int) o->block, length = (int) o->length;

    switch (o->kind) {
    case ALLREDUCE:
        MPI_Iallreduce(o->send, o->recv, length, MPI_INT64_T, MPI_SUM, o->comm, &o->request);
        break;
    case REDUCE:
        MPI_Ireduce(o->send, o->recv, length, MPI_INT64_T, MPI_SUM, o->root, o->comm, &o->request);
        break;
    case BLOCKS:
        MPI_Ireduce_scatter_block(o->send, o->recv, block, MPI_INT64_T, MPI_SUM, o->comm,
                                  &o->request);
        break;
    case BARRIER:
        MPI_Ibarrier(o->comm, &o->request);
        break;
    case ALLGATHER:
        MPI_Iallgather(o->send, block, MPI_INT64_T, o->recv, block, MPI_INT64_T, o->comm,
                       &o->request);
        break;
    default:
        MPI_Ibcast(o->recv, length, MPI_INT64_T, o->root, o->comm, &o->request);
    }
}

/* Both services of the communicator, so that no set-up is left. */
static void set_up(MPI_Comm comm)
{
    int mine = rank, sum, all[64];

    MPI_Allreduce(&mine, &sum, 1, MPI_INT, MPI_SUM, comm);
    MPI_Allgather(&mine, 1, MPI_INT, all, 1, MPI_INT, comm);
}

/* ---- outside MPI ---- */

static double seconds(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double) now.tv_sec + 1e-9 * (double) now.tv_nsec;
}

typedef struct {
    unsigned long long of[NUM_KINDS];
} ended_t;

static ended_t read_ended(void)
{
    ended_t now;

    for (kind_t kind = 0; kind < NUM_KINDS; kind++) {
        now.of[kind] = pvar_read(counters[kind]);
    }
    return now;
}

/* How many of that kind have ended since; reading is no call that moves anything. */
static unsigned long long ended_since(const ended_t *before, kind_t kind)
{
    return pvar_read(counters[kind]) - before->of[kind];
}

/* Whether it ends while the program is elsewhere for that long at most. */
static bool ends_by_itself(const ended_t *before, kind_t kind, unsigned long long many,
                           double patience)
{
    double begin = seconds();

    while (ended_since(before, kind) < many) {
        if (seconds() - begin > patience) {
            return false;
        }
        usleep(1000);
    }
    return true;
}

static void expect_end(const char *what, const ended_t *before, const operation_t *o,
                       unsigned long long many)
{
    if (!ends_by_itself(before, o->kind, many, PATIENCE)) {
        wrong("%s: the %s of %zu elements has not ended in %d s outside MPI", what, names[o->kind],
              o->length, PATIENCE);
    }
    operation_check(what, o);
}

/* ---- what is done ---- */

static void one(MPI_Comm comm, kind_t kind, size_t block)
{
    ended_t before = read_ended();
    operation_t o;

    operation_make(&o, kind, comm, block);
    start(&o);
    expect_end("alone", &before, &o, 1);
    MPI_Wait(&o.request, MPI_STATUS_IGNORE);
    operation_check("alone, waited for", &o);
    operation_free(&o);
}

/* One after the other, and beside each other: queued ones begin by themselves, too. */
static void many(MPI_Comm comm, size_t block)
{
    operation_t o[AT_ONCE][NUM_KINDS];
    ended_t before = read_ended();

    for (int i = 0; i < AT_ONCE; i++) {
        for (kind_t kind = 0; kind < NUM_KINDS; kind++) {
            operation_make(&o[i][kind], kind, comm, block);
            start(&o[i][kind]);
        }
    }
    for (kind_t kind = 0; kind < NUM_KINDS; kind++) {
        for (int i = 0; is_offered(kind) && i < AT_ONCE; i++) {
            expect_end("at once", &before, &o[i][kind], AT_ONCE);
        }
    }
    for (int i = 0; i < AT_ONCE; i++) {
        for (kind_t kind = 0; kind < NUM_KINDS; kind++) {
            MPI_Wait(&o[i][kind].request, MPI_STATUS_IGNORE);
            operation_free(&o[i][kind]);
        }
    }
}

/* A rank that comes late keeps nobody from going on by themselves afterwards. */
static void late(MPI_Comm comm, size_t block)
{
    ended_t before = read_ended();
    operation_t o;

    operation_make(&o, ALLREDUCE, comm, block);
    if (size - 1 == rank) {
        usleep(100000);
    }
    start(&o);
    expect_end("late", &before, &o, 1);
    MPI_Wait(&o.request, MPI_STATUS_IGNORE);
    operation_free(&o);
}

static void persistent(MPI_Comm comm, size_t block)
{
    operation_t o;

    operation_make(&o, ALLREDUCE, comm, block);
    MPI_Allreduce_init(o.send, o.recv, (int) o.length, MPI_INT64_T, MPI_SUM, comm, MPI_INFO_NULL,
                       &o.request);
    for (int round = 0; round < ROUNDS; round++) {
        ended_t before = read_ended();

        refill(&o);
        MPI_Start(&o.request);
        if (round > 0) { /* the first one sets it up */
            expect_end("persistent", &before, &o, 1);
        }
        MPI_Wait(&o.request, MPI_STATUS_IGNORE);
        operation_check("persistent, waited for", &o);
    }
    MPI_Request_free(&o.request);
    operation_free(&o);
}

/* The program's own calls go on beside it. */
static void blocking_meanwhile(MPI_Comm comm, MPI_Comm other)
{
    ended_t before = read_ended();
    operation_t o;

    operation_make(&o, BLOCKS, comm, LARGE);
    start(&o);
    for (int i = 0; i < 100; i++) {
        int mine = i, sum = 0;

        MPI_Allreduce(&mine, &sum, 1, MPI_INT, MPI_SUM, other);
        if (size * i != sum) {
            wrong("a blocking sum beside it is %d instead of %d", sum, size * i);
        }
    }
    expect_end("beside blocking ones", &before, &o, 1);
    MPI_Wait(&o.request, MPI_STATUS_IGNORE);
    operation_free(&o);
}

/* On a communicator that the program has freed. left: and nobody waits for it before MPI_Finalize. */
static void on_a_freed_one(bool left)
{
    static int64_t vector[LARGE];
    MPI_Request request;
    ended_t before;
    MPI_Comm comm;

    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    set_up(comm);
    before = read_ended();
    MPI_Iallreduce(MPI_IN_PLACE, vector, LARGE, MPI_INT64_T, MPI_SUM, comm, &request);
    MPI_Comm_free(&comm);
    if (!left) {
        if (!ends_by_itself(&before, ALLREDUCE, 1, PATIENCE)) {
            wrong("freed: it has not ended");
        }
        MPI_Wait(&request, MPI_STATUS_IGNORE);
    }
}

static void in_the_background(MPI_Comm comm)
{
    MPI_Comm other;

    MPI_Comm_dup(MPI_COMM_WORLD, &other);
    set_up(other);
    for (int round = 0; round < ROUNDS; round++) {
        for (kind_t kind = 0; kind < NUM_KINDS; kind++) {
            if (is_offered(kind)) {
                one(comm, kind, SMALL);
                one(comm, kind, LARGE);
            }
        }
    }
    many(comm, SMALL);
    many(comm, LARGE);
    late(comm, LARGE);
    if (offers_persistent) {
        persistent(comm, LARGE);
    }
    blocking_meanwhile(comm, other);
    MPI_Comm_free(&other);
    on_a_freed_one(false);
    if (0 == pvar_read("helper_wakes")) {
        wrong("the thread was never there");
    }
}

/* Also that the test above can fail. */
static void not_in_the_background(MPI_Comm comm)
{
    for (kind_t kind = 0; kind < NUM_KINDS; kind++) {
        ended_t before = read_ended();
        operation_t o;

        if (BARRIER == kind) {
            continue;
        }
        operation_make(&o, kind, comm, LARGE);
        start(&o);
        if (ends_by_itself(&before, kind, 1, MOMENT / 1000.0)) {
            wrong("mpi: the %s has ended by itself", names[kind]);
        }
        MPI_Wait(&o.request, MPI_STATUS_IGNORE);
        operation_check("mpi", &o);
        operation_free(&o);
    }
}

static bool has_helper(void)
{
    DIR *tasks = opendir("/proc/self/task");
    struct dirent *task;
    bool found = false;

    while (NULL != tasks && NULL != (task = readdir(tasks))) {
        char path[300], name[32] = "";
        FILE *file;

        snprintf(path, sizeof(path), "/proc/self/task/%s/comm", task->d_name);
        file = fopen(path, "r");
        found |= NULL != file && NULL != fgets(name, sizeof(name), file)
                 && 0 == strncmp(name, "optcast-helper", 14);
        if (NULL != file) {
            fclose(file);
        }
    }
    if (NULL != tasks) {
        closedir(tasks);
    }
    return found;
}

int main(int argc, char **argv)
{
    const char *variant = argc > 1 ? argv[1] : "";
    bool left = 0 == strcmp(variant, "left"), thread = left || 0 == strcmp(variant, "thread");
    MPI_Comm comm;
    int status;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    set_up(comm);
    if (left) {
        on_a_freed_one(true);
    } else if (thread) {
        in_the_background(comm);
    } else if (0 == strcmp(variant, "mpi")) {
        not_in_the_background(comm);
    }
    if (thread != has_helper() || (!thread && 0 != pvar_read("helper_wakes"))) {
        wrong("%s: there is %s thread", variant, thread ? "no" : "a");
    }
    MPI_Comm_free(&comm);
    pvars_end();
    status = conclude("background");
    MPI_Finalize();
    return status;
}
