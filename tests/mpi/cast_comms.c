/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Collectives of all services on a crowd of communicators that come, are used in turns, and go;
 * then communicators one after the other, with a look at memory and descriptors. Some are never
 * freed, and some are freed while they are in use. 3 ranks or more.
 *
 * usage: cast_comms NAME=VALUE...
 *   comms=N        how many there are at a time (default 200)
 *   operations=N   collectives among them (default 1000)
 *   cycles=N       make, use and free one so often (default 2000)
 *   seed=N
 *
 * Prints "rank R: warm B bytes, F descriptors" when a fifth of the cycles is over, and "rank R:
 * done B bytes, F descriptors" after the last.
 */
#include "crowd.h"

#define LONGEST 2000
#define LARGE   60000

/* A duplicate, or a part: made without an Allgather, which would count. */
static MPI_Comm derive(crowd_t *crowd, unsigned index)
{
    int range[3] = {0, crowd->size - 1, 1};
    MPI_Group world, group;
    MPI_Comm comm;

    (void) index;
    if (0 != next_random(&crowd->common, 3)) {
        MPI_Comm_dup(MPI_COMM_WORLD, &comm);
        return comm;
    }
    range[0] = (int) next_random(&crowd->common, 2);
    MPI_Comm_group(MPI_COMM_WORLD, &world);
    MPI_Group_range_incl(world, 1, &range, &group);
    comm = MPI_COMM_NULL;
    if (crowd->rank >= range[0]) {
        MPI_Comm_create_group(MPI_COMM_WORLD, group, 7, &comm);
    }
    MPI_Group_free(&group);
    MPI_Group_free(&world);
    return comm;
}

static void pick(crowd_t *crowd, collective_kind_t *kind, int *count)
{
    unsigned limit;

    *kind = (collective_kind_t) next_random(&crowd->common, NUM_COLLECTIVES);
    limit = 0 == next_random(&crowd->common, 9) ? LARGE : LONGEST;
    *count = 1 + (int) next_random(&crowd->common, limit);
}

static MPI_Comm make(int number)
{
    MPI_Comm comm;

    (void) number;
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    return comm;
}

static void use(crowd_t *crowd, member_t *member, int number, int count)
{
    crowd_block(crowd, member, (collective_kind_t) (ALLGATHER + number % 3), number, count);
    if (0 == number % 8) {
        crowd_block(crowd, member, ALLREDUCE, number, count);
    }
}

int main(int argc, char **argv)
{
    static const crowd_ways_t ways = {.turnover = 8, .derive = derive, .pick = pick, .make = make,
                                      .use = use, .last = ALLGATHERV};
    crowd_t crowd = {.ways = &ways, .comms = 200, .operations = 1000, .cycles = 2000, .seed = 1,
                     .served = 1};
    const option_t options[] = {OPTION_NUMBER(crowd, comms), OPTION_NUMBER(crowd, operations),
                                OPTION_NUMBER(crowd, cycles), OPTION_NUMBER(crowd, seed),
                                OPTIONS_END};

    crowd_begin(&crowd, argc, argv, options);
    crowd_mingle(&crowd);
    crowd_cycle(&crowd);
    return crowd_end(&crowd, "cast_comms");
}
