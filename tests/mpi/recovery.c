/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Reduces vectors of all sizes, in place and not, one at a time and several at once, while servers die, and checks each
 * element against what a fold in the order of the ranks gives, bit by bit.
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
 * "rank R: N operations, O offloaded, V recoveries, longest S s", and "rank R: D of N later ones offloaded".
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

/* One operation, of floats: their sums tell in which order they were added. */
typedef struct {
    int count, number;
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

static void make(operation_t *o, const options_t *options, int number)
{
    o->number = number;
    o->count = 0 == draw(3) ? 1 + (int) draw((uint32_t) options->most) : 1 + (int) draw(300);
    o->in_place = 0 == draw(2);
    o->send = must(malloc((size_t) o->count * sizeof(float)));
    o->recv = must(malloc((size_t) o->count * sizeof(float)));
    for (int i = 0; i < o->count; i++) {
        o->send[i] = o->recv[i] = element(rank, number, i);
    }
}

static const void *send_of(const operation_t *o)
{
    return o->in_place ? MPI_IN_PLACE : o->send;
}

static void check(const operation_t *o)
{
    for (int i = 0; i < o->count; i++) {
        float sum = element(0, o->number, i);

        for (int r = 1; r < size; r++) {
            sum += element(r, o->number, i);
        }
        if (0 != memcmp(&sum, &o->recv[i], sizeof(sum))) {
            wrong("operation %d of %d elements%s: element %d is %a instead of %a", o->number, o->count,
                  o->in_place ? " in place" : "", i, (double) o->recv[i], (double) sum);
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
}

static int one_on(MPI_Comm comm, const options_t *options, int *number)
{
    operation_t o;
    int rc;

    make(&o, options, (*number)++);
    rc = MPI_Allreduce(send_of(&o), o.recv, o.count, MPI_FLOAT, MPI_SUM, comm);
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
        o[i].request = MPI_REQUEST_NULL;
        make(&o[i], options, (*number)++);
        if (MPI_SUCCESS == rc) {
            rc = MPI_Iallreduce(send_of(&o[i]), o[i].recv, o[i].count, MPI_FLOAT, MPI_SUM,
                                MPI_COMM_WORLD, &o[i].request);
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
        printf("rank %d: %d operations, %llu offloaded, %llu recoveries, longest %.3f s\n", rank, number,
               pvar_read("allreduce_offloaded"), pvar_read("recoveries"), longest);
        fflush(stdout);
    }
    pvars_end();
    free(others);
    status = conclude("recovery");
    MPI_Finalize();
    return MPI_SUCCESS == rc ? status : EXIT_FAILURE;
}
