/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Reduces vectors of all sizes, for all ranks, one of them, or each its block, in place and not, one at a time and several
 * at once, while servers die, and checks each element against what a fold in the order of the reduction shape gives, bit by
 * bit; that nobody leaves a Barrier before all are there; and that buffers are left alone once an operation is over.
 *
 * usage: recovery NAME=VALUE...
 *   seconds=S    how long to loop (default 5)
 *   until=FILE   loop until it exists, and so long at most
 *   most=N       elements of the largest vector (default 200000)
 *   per_host=P   sums are made host by host, each with so many ranks (default: in the order of ranks)
 *   seed=N       of what comes after what
 *   pause=S      a rank sleeps so long outside of MPI now and then
 *   dups=1       communicators are made all the time, used once and freed: they may be left to MPI
 *   later=N      so many are made at the end, one in 0.2 s
 *   freed=N      so many other communicators are made before, used once, and freed at once
 *   halves=1     now and then the even ranks and the odd ones are by themselves
 *   kept=N       so many persistent operations are started now and then
 *
 * Each rank prints "rank R: begins at TIME", and "rank R: error after N operations at TIME: TEXT" or
 * "rank R: N operations, O offloaded, V recoveries, B returns, longest S s", and "rank R: D of N later ones offloaded".
 */
#include <stdbool.h>
#include <unistd.h>

#include "offered.h"
#include "options.h"
#include "pvars.h"
#include "reductions.h"
#include "tell.h"

#define MOST_AT_ONCE 6

typedef struct {
    double seconds, pause;
    int most, per_host, seed, freed, dups, later, halves, kept;
    const char *until;
} options_t;

static int rank, size;
static crew_t world, half;
static MPI_Comm *others;
static int num_others;
static reduction_t *kept;
static uint32_t state;
static double longest;

/* The same on all ranks. */
static uint32_t draw(uint32_t below)
{
    state = state * 1664525u + 1013904223u;
    return (uint32_t) (((uint64_t) state * below) >> 32);
}

static kind_t draw_kind(void)
{
    static const kind_t kinds[] = {ALLREDUCE,      ALLREDUCE,      ALLREDUCE,            REDUCE, REDUCE,
                                   REDUCE_SCATTER, REDUCE_SCATTER, REDUCE_SCATTER_BLOCK, BARRIER};
    const uint32_t count = sizeof(kinds) / sizeof(*kinds);

    return kinds[draw(offers_barrier ? count : count - 1)];
}

static reduction_t make(const crew_t *crew, const options_t *options, int number)
{
    kind_t kind = draw_kind();
    int root = (int) draw((uint32_t) size), count = 1 + (int) draw(0 == draw(3) ? (uint32_t) options->most : 300);
    bool in_place = 0 == draw(2);

    return reduction_make(crew, kind, count, root, in_place, number);
}

static int one_on(const crew_t *crew, const options_t *options, int *number)
{
    reduction_t r = make(crew, options, (*number)++);
    int rc = reduction_run(&r);

    if (MPI_SUCCESS == rc) {
        reduction_check(&r);
    }
    reduction_free(&r);
    return rc;
}

/* Who has the result does not wait for the others. */
static int one(const options_t *options, int *number)
{
    crew_t crew = world;
    int rc;

    if (0 == num_others) {
        return one_on(options->halves && 0 == draw(4) ? &half : &world, options, number);
    }
    crew.comm = others[--num_others];
    rc = one_on(&crew, options, number);
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

static void make_half(const options_t *options)
{
    int own = 1, sum;
    MPI_Comm comm;

    if (options->halves) {
        MPI_Comm_split(MPI_COMM_WORLD, rank % 2, rank, &comm);
        MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
        half = crew_make(comm, options->per_host);
        MPI_Allreduce(&own, &sum, 1, MPI_INT, MPI_SUM, comm);
    }
}

static void free_half(const options_t *options)
{
    if (options->halves) {
        MPI_Comm_free(&half.comm);
        crew_free(&half);
    }
}

static int again(reduction_t *r, int number)
{
    reduction_fill(r, number);
    return reduction_start(r);
}

/* Each is started once: what sets it up has no part in a recovery. */
static void make_kept(const options_t *options, int *number)
{
#ifdef MPICH_VERSION
    (void) options;
    (void) number;
#else
    kept = must(calloc((size_t) options->kept + 1, sizeof(*kept)));
    for (int i = 0; i < options->kept; i++) {
        kept[i] = make(&world, options, (*number)++);
        reduction_keep(&kept[i]);
        reduction_start(&kept[i]);
        MPI_Wait(&kept[i].request, MPI_STATUS_IGNORE);
        reduction_check(&kept[i]);
    }
#endif
}

static void free_kept(const options_t *options)
{
    for (int i = 0; NULL != kept && i < options->kept; i++) {
        reduction_free(&kept[i]);
    }
    free(kept);
}

/* Waits for it, if rc says that all is well so far, and checks it; what is well then. */
static int finish(reduction_t *r, int rc)
{
    int waited = MPI_Wait(&r->request, MPI_STATUS_IGNORE);

    rc = MPI_SUCCESS == rc ? waited : rc;
    if (MPI_SUCCESS == rc) {
        reduction_check(r);
    }
    return rc;
}

static int several(const options_t *options, int *number)
{
    reduction_t r[MOST_AT_ONCE];
    reduction_t *once_more = NULL != kept && options->kept > 0 && 0 == draw(2) ? &kept[draw((uint32_t) options->kept)] : NULL;
    int count = 2 + (int) draw(MOST_AT_ONCE - 1), rc = MPI_SUCCESS;

    if (NULL != once_more) {
        rc = again(once_more, (*number)++);
    }
    for (int i = 0; i < count; i++) {
        r[i] = make(&world, options, (*number)++);
        if (MPI_SUCCESS == rc) {
            rc = reduction_start(&r[i]);
        }
    }
    for (int i = 0; i < count; i++) {
        rc = finish(&r[i], rc);
        reduction_free(&r[i]);
    }
    return NULL != once_more ? finish(once_more, rc) : rc;
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

static bool is_over(const options_t *options, double begin)
{
    return wall_time() > begin + options->seconds || (NULL != options->until && 0 == access(options->until, F_OK));
}

/* Rank 0 says to all when it is over. */
static int ask_to_stop(const options_t *options, double begin, int *stop)
{
    int own = 0 == rank && is_over(options, begin);

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
    static const char *const counters[] = {"allreduce_offloaded", "reduce_offloaded", "reduce_scatter_offloaded",
                                           "barrier_offloaded"};
    unsigned long long all = 0;

    for (int i = 0; i < (offers_barrier ? 4 : 3); i++) {
        unsigned long long some = pvar_read(counters[i]);

        if (0 == some) {
            wrong("%s is 0", counters[i]);
        }
        all += some;
    }
    return all;
}

static void begin_all(const options_t *options, int *number)
{
    meet_first(MPI_COMM_WORLD);
    world = crew_make(MPI_COMM_WORLD, options->per_host);
    make_others(options);
    make_half(options);
    make_kept(options, number);
    tell("begins");
}

/* Recoveries take time, and nothing else does what they do; so much at most. */
static void check_time_lost(double seconds)
{
    unsigned long long changes = pvar_read("recoveries") + pvar_read("returns"), us = pvar_read("recovery_time");

    if ((0 == changes) != (0 == us) || us > 1e6 * seconds) {
        wrong("%llu recoveries and returns are said to have taken %llu us of %.3f s", changes, us, seconds);
    }
}

static void end_all(const options_t *options)
{
    free_kept(options);
    free_half(options);
    crew_free(&world);
    free(others);
}

int main(int argc, char **argv)
{
    options_t o = {.seconds = 5, .most = 200000, .seed = 1};
    const option_t options[] = {OPTION_SECONDS(o, seconds), OPTION_SECONDS(o, pause), OPTION_TEXT(o, until),
                                OPTION_NUMBER(o, most), OPTION_NUMBER(o, per_host), OPTION_NUMBER(o, seed),
                                OPTION_NUMBER(o, freed), OPTION_NUMBER(o, dups), OPTION_NUMBER(o, later),
                                OPTION_NUMBER(o, halves), OPTION_NUMBER(o, kept), OPTIONS_END};
    int number = 0, stop = 0, rc = MPI_SUCCESS, status;
    double begin;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    options_read(argc, argv, options);
    state = (uint32_t) o.seed;
    begin_all(&o, &number);
    begin = wall_time();
    while (!stop && MPI_SUCCESS == rc) {
        rc = turn(&o, begin, &number, &stop);
    }
    if (MPI_SUCCESS == rc) {
        rc = later_ones(&o);
        check_time_lost(wall_time() - begin);
    }
    if (MPI_SUCCESS != rc) {
        tell_error(rc, number);
    } else {
        printf("rank %d: %d operations, %llu offloaded, %llu recoveries, %llu returns, longest %.3f s\n", rank, number,
               count_offloaded(), pvar_read("recoveries"), pvar_read("returns"), longest);
        fflush(stdout);
    }
    if (MPI_SUCCESS == rc) {
        end_all(&o);
    }
    pvars_end();
    status = conclude("recovery");
    MPI_Finalize();
    return MPI_SUCCESS == rc ? status : EXIT_FAILURE;
}
