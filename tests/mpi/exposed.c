/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Allgathers beside Allreduces for some time, every result checked, for a test of whether servers get the
 * datagrams of the first.
 *
 * usage: exposed [NAME=VALUE]...
 *   seconds=S      how long (4); at least one of each
 *   nap=S          seconds outside of MPI in each round (0)
 *   nonblocking=1  the nonblocking forms, with the nap before Wait
 *
 * Each rank prints "rank R: begins at TIME", and at the end "rank R: N rounds, G gathered, D reduced, F
 * flooded", which are operations that were offloaded, and servers; or, after an error, "rank R: error after N
 * operations at TIME: TEXT".
 */
#include <unistd.h>

#include "options.h"
#include "pvars.h"
#include "tell.h"

#define BLOCK  16384
#define VECTOR 65536

typedef struct {
    double seconds, nap;
    int nonblocking;
} options_t;

static int rank, size;
static int *blocks, own[BLOCK];
static float vector[VECTOR], sum[VECTOR];

static void fill(int round)
{
    for (int i = 0; i < BLOCK; i++) {
        own[i] = round * 31 + rank * 7 + i;
    }
    for (int i = 0; i < VECTOR; i++) {
        vector[i] = (float) ((round + rank + i) % 100);
    }
}

static void check(int round)
{
    for (int owner = 0; owner < size; owner++) {
        for (int i = 0; i < BLOCK; i += 61) {
            if (blocks[owner * BLOCK + i] != round * 31 + owner * 7 + i) {
                wrong("round %d: the block of rank %d is wrong at %d", round, owner, i);
                return;
            }
        }
    }
    for (int i = 0; i < VECTOR; i += 61) {
        float expected = 0;

        for (int other = 0; other < size; other++) {
            expected += (float) ((round + other + i) % 100);
        }
        if (expected != sum[i]) {
            wrong("round %d: the sum is wrong at %d", round, i);
            return;
        }
    }
}

static void nap(const options_t *o)
{
    if (o->nap > 0) {
        usleep((useconds_t) (o->nap * 1e6));
    }
}

static int operate(const options_t *o)
{
    MPI_Request requests[2];
    int rc;

    if (!o->nonblocking) {
        rc = MPI_Allreduce(vector, sum, VECTOR, MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD);
        nap(o);
        return MPI_SUCCESS != rc ? rc
                                 : MPI_Allgather(own, BLOCK, MPI_INT, blocks, BLOCK, MPI_INT,
                                                 MPI_COMM_WORLD);
    }
    rc = MPI_Iallreduce(vector, sum, VECTOR, MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD, &requests[0]);
    if (MPI_SUCCESS == rc) {
        rc = MPI_Iallgather(own, BLOCK, MPI_INT, blocks, BLOCK, MPI_INT, MPI_COMM_WORLD,
                            &requests[1]);
    }
    nap(o);
    return MPI_SUCCESS != rc ? rc : MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
}

/* Told by messages: a collective might be offloaded. */
static bool goes_on(double end)
{
    int more = MPI_Wtime() < end;

    for (int other = 1; 0 == rank && other < size; other++) {
        MPI_Send(&more, 1, MPI_INT, other, 0, MPI_COMM_WORLD);
    }
    if (0 != rank) {
        MPI_Recv(&more, 1, MPI_INT, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
    return more;
}

static int run(const options_t *o)
{
    double end = MPI_Wtime() + o->seconds;
    int rounds = 0, rc;

    do {
        fill(rounds);
        rc = operate(o);
        if (MPI_SUCCESS == rc) {
            check(rounds++);
        }
    } while (MPI_SUCCESS == rc && goes_on(end));
    if (MPI_SUCCESS != rc) {
        tell_error(rc, rounds);
        sleep(3); /* others tell theirs before the launcher ends the job */
        return rc;
    }
    printf("rank %d: %d rounds, %llu gathered, %llu reduced, %llu flooded\n", rank, rounds,
           pvar_read("allgather_offloaded"), pvar_read("allreduce_offloaded"),
           pvar_read("servers_flooded"));
    fflush(stdout);
    return rc;
}

int main(int argc, char **argv)
{
    options_t o = {.seconds = 4};
    const option_t options[] = {OPTION_SECONDS(o, seconds), OPTION_SECONDS(o, nap),
                                OPTION_NUMBER(o, nonblocking), OPTIONS_END};
    int rc, status;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    options_read(argc, argv, options);
    blocks = must(calloc((size_t) size * BLOCK, sizeof(*blocks)));
    tell("begins");
    rc = run(&o);
    if (MPI_SUCCESS != rc) {
        MPI_Abort(MPI_COMM_WORLD, 2);
    }
    status = conclude("exposed");
    free(blocks);
    pvars_end();
    MPI_Finalize();
    return status;
}
