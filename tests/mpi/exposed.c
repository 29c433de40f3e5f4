/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Allgathers beside Allreduces for some time, every result checked, for a test of whether servers
 * get the datagrams of the first.
 *
 * usage: exposed [NAME=VALUE]...
 *   seconds=S      how long (4); at least one of each
 *   nap=S          seconds outside of MPI in each round (0)
 *   nonblocking=1  the nonblocking forms, with the nap before Wait
 *   columns=C      in rows of so many ranks, and in the columns, instead of in all (0)
 *
 * Each rank prints "rank R: begins at TIME", and at the end "rank R: N rounds, G gathered, D
 * reduced, F flooded", which are operations that were offloaded, and servers; or, after an error,
 * "rank R: error after N operations at TIME: TEXT".
 */
#include <unistd.h>

#include "options.h"
#include "pvars.h"
#include "tell.h"

#define BLOCK  16384
#define VECTOR 65536

typedef struct {
    double seconds, nap;
    int nonblocking, columns;
} options_t;

static int rank, size;
static MPI_Comm comms[2];
static int num_comms;
static int *blocks, own[BLOCK];
static float vector[VECTOR], sum[VECTOR];

/* Without an Allgather of all, which would use multicast, too. */
static void make_comm(int first, int step, int count)
{
    int *members = must(calloc((size_t) count, sizeof(*members)));
    MPI_Group world, group;

    for (int i = 0; i < count; i++) {
        members[i] = first + i * step;
    }
    MPI_Comm_group(MPI_COMM_WORLD, &world);
    MPI_Group_incl(world, count, members, &group);
    MPI_Comm_create_group(MPI_COMM_WORLD, group, 1 == step ? 1 : 2, &comms[num_comms++]);
    MPI_Group_free(&group);
    MPI_Group_free(&world);
}

static void make_comms(const options_t *o)
{
    if (0 == o->columns) {
        comms[num_comms++] = MPI_COMM_WORLD;
        return;
    }
    make_comm(rank / o->columns * o->columns, 1, o->columns);
    make_comm(rank % o->columns, o->columns, size / o->columns);
}

static void free_comms(const options_t *o)
{
    for (int i = 0; 0 != o->columns && i < num_comms; i++) {
        MPI_Comm_free(&comms[i]);
    }
}

static void fill(int round, int number)
{
    for (int i = 0; i < BLOCK; i++) {
        own[i] = round * 31 + number * 7 + i;
    }
    for (int i = 0; i < VECTOR; i++) {
        vector[i] = (float) ((round + number + i) % 100);
    }
}

static void check(int round, int members)
{
    for (int owner = 0; owner < members; owner++) {
        for (int i = 0; i < BLOCK; i += 61) {
            if (blocks[owner * BLOCK + i] != round * 31 + owner * 7 + i) {
                wrong("round %d: the block of rank %d is wrong at %d", round, owner, i);
                return;
            }
        }
    }
    for (int i = 0; i < VECTOR; i += 61) {
        float expected = 0;

        for (int other = 0; other < members; other++) {
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

static int operate(const options_t *o, MPI_Comm comm)
{
    MPI_Request requests[2];
    int rc;

    if (!o->nonblocking) {
        rc = MPI_Allreduce(vector, sum, VECTOR, MPI_FLOAT, MPI_SUM, comm);
        nap(o);
        return MPI_SUCCESS != rc ? rc
                                 : MPI_Allgather(own, BLOCK, MPI_INT, blocks, BLOCK, MPI_INT, comm);
    }
    rc = MPI_Iallreduce(vector, sum, VECTOR, MPI_FLOAT, MPI_SUM, comm, &requests[0]);
    if (MPI_SUCCESS == rc) {
        rc = MPI_Iallgather(own, BLOCK, MPI_INT, blocks, BLOCK, MPI_INT, comm, &requests[1]);
    }
    nap(o);
    return MPI_SUCCESS != rc ? rc : MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
}

static int operate_checked(const options_t *o, MPI_Comm comm, int round)
{
    int number, members, rc;

    MPI_Comm_rank(comm, &number);
    MPI_Comm_size(comm, &members);
    fill(round, number);
    rc = operate(o, comm);
    if (MPI_SUCCESS == rc) {
        check(round, members);
    }
    return rc;
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
        rc = MPI_SUCCESS;
        for (int i = 0; MPI_SUCCESS == rc && i < num_comms; i++) {
            rc = operate_checked(o, comms[i], rounds);
            rounds += MPI_SUCCESS == rc;
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
                                OPTION_NUMBER(o, nonblocking), OPTION_NUMBER(o, columns),
                                OPTIONS_END};
    int rc, status;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    options_read(argc, argv, options);
    make_comms(&o);
    blocks = must(calloc((size_t) size * BLOCK, sizeof(*blocks)));
    tell("begins");
    rc = run(&o);
    if (MPI_SUCCESS != rc) {
        MPI_Abort(MPI_COMM_WORLD, 2);
    }
    status = conclude("exposed");
    free_comms(&o);
    free(blocks);
    pvars_end();
    MPI_Finalize();
    return status;
}
