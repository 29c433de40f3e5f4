/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Allreduces on a crowd of communicators that come, are used in turns, and go; then on one after
 * the other, with a look at the memory. Some are never freed. 3 ranks or more.
 *
 * usage: many_comms NAME=VALUE...
 *   comms=N        how many there are at a time (default 200)
 *   operations=N   Allreduces among them (default 800)
 *   cycles=N       make, use and free one so often (default 1000)
 *   seed=N
 *   served=0       no server can be reached, and everything has to fall back
 *   pause=S        how long to wait for whoever looks at other processes (default 0)
 *
 * Prints "rank R: warm B bytes, F descriptors" when a fifth of the cycles is over, and "rank R:
 * done B bytes, F descriptors" after the last.
 */
#include "crowd.h"

#define LONGEST 3000

/* Communicators that got the id of the one before. */
static int reused;

/* A duplicate, or a part with another order of ranks; one rank in four may stay outside. */
static MPI_Comm derive_from(crowd_t *crowd, MPI_Comm parent)
{
    unsigned kind = next_random(&crowd->common, 4), parts = 1 + next_random(&crowd->common, 3);
    int direction = 0 == next_random(&crowd->common, 2) ? 1 : -1, own, color;
    MPI_Comm comm;

    if (MPI_COMM_NULL == parent) {
        return MPI_COMM_NULL;
    }
    if (0 == kind) {
        MPI_Comm_dup(parent, &comm);
        return comm;
    }
    MPI_Comm_rank(parent, &own);
    color = 1 == kind && 3 == own ? MPI_UNDEFINED : own % (int) parts;
    MPI_Comm_split(parent, color, direction * own, &comm);
    return comm;
}

static MPI_Comm derive(crowd_t *crowd, unsigned index)
{
    /* a parent that is freed later, or was already: of MPI_COMM_WORLD then, on all ranks alike */
    unsigned parent = next_random(&crowd->common, (unsigned) crowd->comms);
    bool from_world = 0 == next_random(&crowd->common, 2) || parent >= index;

    return derive_from(crowd, from_world ? MPI_COMM_WORLD : crowd->members[parent].comm);
}

static void pick(crowd_t *crowd, collective_kind_t *kind, int *count)
{
    *kind = ALLREDUCE;
    *count = 1 + (int) next_random(&crowd->common, LONGEST);
}

static MPI_Comm make(int number)
{
    static MPI_Fint last = -1;
    MPI_Comm comm;
    int rank;

    if (0 == number % 3) {
        MPI_Comm_rank(MPI_COMM_WORLD, &rank);
        MPI_Comm_split(MPI_COMM_WORLD, rank % 2, -rank, &comm);
    } else {
        MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    }
    reused += MPI_Comm_c2f(comm) == last;
    last = MPI_Comm_c2f(comm);
    return comm;
}

static void use(crowd_t *crowd, member_t *member, int number, int count)
{
    crowd_block(crowd, member, ALLREDUCE, number, count);
}

int main(int argc, char **argv)
{
    static const crowd_ways_t ways = {.turnover = 5, .derive = derive, .pick = pick, .make = make,
                                      .use = use, .last = ALLREDUCE};
    crowd_t crowd = {.ways = &ways, .comms = 200, .operations = 800, .cycles = 1000, .seed = 1,
                     .served = 1};
    const option_t options[] = {OPTION_NUMBER(crowd, comms), OPTION_NUMBER(crowd, operations),
                                OPTION_NUMBER(crowd, cycles), OPTION_NUMBER(crowd, seed),
                                OPTION_NUMBER(crowd, served), OPTION_NUMBER(crowd, pause),
                                OPTIONS_END};

    crowd_begin(&crowd, argc, argv, options);
    crowd_mingle(&crowd);
    crowd_cycle(&crowd);
    if (0 == reused) {
        wrong("no communicator got the id of the one before");
    }
    return crowd_end(&crowd, "many_comms");
}
