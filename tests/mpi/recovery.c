/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Reduces vectors of all sizes, for all ranks, one of them, or each its block, in place and not, one at a time and several
 * at once, while servers die, and checks each element against what a fold in the order of the ranks gives, bit by bit.
 *
 * usage: recovery NAME=VALUE...
 *   seconds=S    how long to loop (default 5)
 *   most=N       elements of the largest vector (default 200000)
 *   exact=1      whole numbers, whose sums are the same in any order
 *   seed=N       of what comes after what
 *   pause=S      a rank sleeps so long outside of MPI now and then
 *   dups=1       communicators are made all the time, used once and freed: they may be left to MPI
 *   later=N      so many are made at the end, one in 0.2 s
 *   freed=N      so many other communicators are made before, used once, and freed at once
 *
 * Each rank prints "rank R: begins at TIME", and "rank R: error after N operations at TIME: TEXT" or
 * "rank R: N operations, O offloaded, V recoveries, B returns, longest S s", and "rank R: D of N later ones offloaded".
 */
#include <stdbool.h>
#include <unistd.h>

#include "offered.h"
#include "options.h"
#include "pvars.h"
#include "tell.h"

#define MOST_AT_ONCE 6

typedef struct {
    double seconds, pause;
    int most, seed, freed, dups, later, exact;
} options_t;

typedef enum {
    ALLREDUCE,
    REDUCE,
    REDUCE_SCATTER,
    KINDS
} kind_t;

static const char *const counters[KINDS] = {"allreduce_offloaded", "reduce_offloaded", "reduce_scatter_offloaded"};

/* One operation, of floats: their sums tell in which order they were added. */
typedef struct {
    kind_t kind;
    int count, number;
    int root;
    int *counts, first;        /* of a Reduce_scatter: blocks, and where the own one begins */
    bool in_place;
    float *send, *recv;
    MPI_Request request;
} operation_t;

static int rank, size;
static bool exact;
static MPI_Comm *others;
static int num_others;
static uint32_t state;
static double longest;

static uint32_t draw(uint32_t below)
{
    state = state * 1664525u + 1013904223u;
    return (uint32_t) (((uint64_t) state * below) >> 32);
}

static float element(int of, int number, int i)
{
    uint32_t x = (uint32_t) of * 2654435761u ^ (uint32_t) number * 40503u ^ (uint32_t) i * 2246822519u;

    x ^= x >> 15;
    x *= 2246822519u;
    x ^= x >> 13;
    return exact ? (float) (x % 2000) - 1000 : ((float) (x % 20000) - 10000) / 7.0f;
}

/* Blocks of any size; some are empty. */
static void cut(operation_t *o)
{
    int left = o->count;

    o->counts = must(malloc((size_t) size * sizeof(*o->counts)));
    for (int r = 0; r < size; r++) {
        o->counts[r] = r + 1 == size ? left : (int) draw((uint32_t) (left / 2 + 1));
        left -= o->counts[r];
        o->first += r < rank ? o->counts[r] : 0;
    }
}

static void make(operation_t *o, const options_t *options, int number)
{
    uint32_t kind = draw(5);

    *o = (operation_t) {.kind = kind < 3 ? ALLREDUCE : kind < 4 ? REDUCE : REDUCE_SCATTER, .number = number,
                        .root = (int) draw((uint32_t) size), .request = MPI_REQUEST_NULL};
    o->count = 0 == draw(3) ? 1 + (int) draw((uint32_t) options->most) : 1 + (int) draw(300);
    o->in_place = 0 == draw(2) && (REDUCE != o->kind || rank == o->root);
    o->send = must(malloc((size_t) o->count * sizeof(float)));
    o->recv = must(malloc((size_t) o->count * sizeof(float)));
    for (int i = 0; i < o->count; i++) {
        o->send[i] = o->recv[i] = element(rank, number, i);
    }
    if (REDUCE_SCATTER == o->kind) {
        cut(o);
    }
}

static int start(operation_t *o, MPI_Comm comm)
{
    const void *send = o->in_place ? MPI_IN_PLACE : o->send;

    switch (o->kind) {
    case REDUCE:
        return MPI_Ireduce(send, o->recv, o->count, MPI_FLOAT, MPI_SUM, o->root, comm, &o->request);
    case REDUCE_SCATTER:
        return MPI_Ireduce_scatter(send, o->recv, o->counts, MPI_FLOAT, MPI_SUM, comm, &o->request);
    default:
        return MPI_Iallreduce(send, o->recv, o->count, MPI_FLOAT, MPI_SUM, comm, &o->request);
    }
}

static int reduce(const operation_t *o, MPI_Comm comm)
{
    const void *send = o->in_place ? MPI_IN_PLACE : o->send;

    switch (o->kind) {
    case REDUCE:
        return MPI_Reduce(send, o->recv, o->count, MPI_FLOAT, MPI_SUM, o->root, comm);
    case REDUCE_SCATTER:
        return MPI_Reduce_scatter(send, o->recv, o->counts, MPI_FLOAT, MPI_SUM, comm);
    default:
        return MPI_Allreduce(send, o->recv, o->count, MPI_FLOAT, MPI_SUM, comm);
    }
}

/* What this rank gets. */
static int results_of(const operation_t *o)
{
    switch (o->kind) {
    case REDUCE:
        return rank == o->root ? o->count : 0;
    case REDUCE_SCATTER:
        return o->counts[rank];
    default:
        return o->count;
    }
}

static void check(const operation_t *o)
{
    for (int i = 0; i < results_of(o); i++) {
        float sum = element(0, o->number, o->first + i);

        for (int r = 1; r < size; r++) {
            sum += element(r, o->number, o->first + i);
        }
        if (0 != memcmp(&sum, &o->recv[i], sizeof(sum))) {
            wrong("operation %d (%s) of %d elements%s: element %d is %a instead of %a", o->number, counters[o->kind],
                  o->count, o->in_place ? " in place" : "", i, (double) o->recv[i], (double) sum);
            return;
        }
    }
}

static void finish(operation_t *o, bool fine)
{
    if (fine) {
        check(o);
    }
    free(o->send);
    free(o->recv);
    free(o->counts);
}

static int one_on(MPI_Comm comm, const options_t *options, int *number)
{
    operation_t o;
    int rc;

    make(&o, options, (*number)++);
    rc = reduce(&o, comm);
    finish(&o, MPI_SUCCESS == rc);
    return rc;
}

/* Who has the result does not wait for the others. */
static int one(const options_t *options, int *number)
{
    int rc;

    if (0 == num_others) {
        return one_on(MPI_COMM_WORLD, options, number);
    }
    rc = one_on(others[--num_others], options, number);
    MPI_Comm_free(&others[num_others]);
    return rc;
}

/* They are set up: what begins later has no part in a recovery. */
static void make_others(const options_t *options)
{
    int own = 1, sum;

    others = must(calloc((size_t) options->freed + 1, sizeof(*others)));
    while (num_others < options->freed) {
        MPI_Comm_dup(MPI_COMM_WORLD, &others[num_others]);
        MPI_Comm_set_errhandler(others[num_others], MPI_ERRORS_RETURN);
        MPI_Allreduce(&own, &sum, 1, MPI_INT, MPI_SUM, others[num_others++]);
    }
}

static int several(const options_t *options, int *number)
{
    operation_t o[MOST_AT_ONCE];
    int count = 2 + (int) draw(MOST_AT_ONCE - 1), rc = MPI_SUCCESS;

    for (int i = 0; i < count; i++) {
        make(&o[i], options, (*number)++);
        if (MPI_SUCCESS == rc) {
            rc = start(&o[i], MPI_COMM_WORLD);
        }
    }
    for (int i = 0; i < count; i++) {
        int waited = MPI_Wait(&o[i].request, MPI_STATUS_IGNORE);

        rc = MPI_SUCCESS == rc ? waited : rc;
        finish(&o[i], MPI_SUCCESS == rc);
    }
    return rc;
}

/* Whatever does it, sums of integers are the same. */
static int one_on_new(int number)
{
    int own = rank * 1000 + number, sum, rc;
    MPI_Comm comm;

    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
    rc = MPI_Allreduce(&own, &sum, 1, MPI_INT, MPI_SUM, comm);
    if (MPI_SUCCESS == rc && sum != size * (size - 1) / 2 * 1000 + size * number) {
        wrong("a new communicator's sum is %d", sum);
    }
    MPI_Comm_free(&comm);
    return rc;
}

static int later_ones(const options_t *options)
{
    unsigned long long before = pvar_read("allreduce_offloaded");
    int rc = MPI_SUCCESS;

    for (int i = 0; i < options->later && MPI_SUCCESS == rc; i++) {
        usleep(200000);
        rc = one_on_new(i);
    }
    if (options->later > 0) {
        printf("rank %d: %llu of %d later ones offloaded\n", rank, pvar_read("allreduce_offloaded") - before,
               options->later);
    }
    return rc;
}

/* Rank 0 says to all when it is over. */
static int ask_to_stop(const options_t *options, double begin, int *stop)
{
    int own = 0 == rank && wall_time() > begin + options->seconds;

    return MPI_Allreduce(&own, stop, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
}

static int turn(const options_t *options, double begin, int *number, int *stop)
{
    bool at_once = 0 == draw(2), sleeps = options->pause > 0 && 0 == draw(8);
    int sleeper = (int) draw((uint32_t) size), rc;
    double since;

    if (sleeps && sleeper == rank) {
        usleep((useconds_t) (options->pause * 1e6));
    }
    if (options->dups && 0 == draw(4) && MPI_SUCCESS != (rc = one_on_new(*number))) {
        return rc;
    }
    since = wall_time();
    rc = at_once ? several(options, number) : one(options, number);
    if (MPI_SUCCESS == rc) {
        rc = ask_to_stop(options, begin, stop);
    }
    longest = wall_time() - since > longest ? wall_time() - since : longest;
    return rc;
}

/* Of all kinds; each of them was. */
static unsigned long long count_offloaded(void)
{
    unsigned long long all = 0;

    for (int kind = 0; kind < KINDS; kind++) {
        unsigned long long some = pvar_read(counters[kind]);

        if (0 == some) {
            wrong("%s is 0", counters[kind]);
        }
        all += some;
    }
    return all;
}

int main(int argc, char **argv)
{
    options_t o = {.seconds = 5, .most = 200000, .seed = 1};
    const option_t options[] = {OPTION_SECONDS(o, seconds), OPTION_SECONDS(o, pause),
                                OPTION_NUMBER(o, most), OPTION_NUMBER(o, seed), OPTION_NUMBER(o, freed),
                                OPTION_NUMBER(o, dups), OPTION_NUMBER(o, later), OPTION_NUMBER(o, exact), OPTIONS_END};
    int number = 0, stop = 0, rc = MPI_SUCCESS, status;
    double begin;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    options_read(argc, argv, options);
    state = (uint32_t) o.seed;
    exact = 0 != o.exact;
    meet_first(MPI_COMM_WORLD);
    make_others(&o);
    tell("begins");
    begin = wall_time();
    while (!stop && MPI_SUCCESS == rc) {
        rc = turn(&o, begin, &number, &stop);
    }
    if (MPI_SUCCESS == rc) {
        rc = later_ones(&o);
    }
    if (MPI_SUCCESS != rc) {
        tell_error(rc, number);
    } else {
        printf("rank %d: %d operations, %llu offloaded, %llu recoveries, %llu returns, longest %.3f s\n", rank, number,
               count_offloaded(), pvar_read("recoveries"), pvar_read("returns"), longest);
        fflush(stdout);
    }
    pvars_end();
    free(others);
    status = conclude("recovery");
    MPI_Finalize();
    return MPI_SUCCESS == rc ? status : EXIT_FAILURE;
}
