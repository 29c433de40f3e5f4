/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Collectives of all kinds, sizes and ways, on old and new communicators, until a file is there. Every
 * result is right and offloaded, whichever rank stands still meanwhile.
 *
 * usage: stopped FILE
 *
 * Each rank prints "rank R is PID" when it begins, and at the end how many rounds there were.
 */
#include <unistd.h>

#include "collectives.h"
#include "to_owners.h"

static const int counts[] = {10, 3000, 100000};

#define NUM_COUNTS (sizeof(counts) / sizeof(counts[0]))

static void both_ways(MPI_Comm comm, int number, counters_t *expected)
{
    collective_t nonblocking[NUM_COLLECTIVES];
    MPI_Request requests[NUM_COLLECTIVES];

    for (collective_kind_t kind = 0; kind < NUM_COLLECTIVES; kind++) {
        collective_now("blocking", kind, comm, number, counts[number % NUM_COUNTS]);
        collective_count(expected, kind);
    }
    for (collective_kind_t kind = 0; kind < NUM_COLLECTIVES; kind++) {
        collective_start(&nonblocking[kind], kind, comm, number, counts[number % NUM_COUNTS],
                         &requests[kind]);
        collective_count(expected, kind);
    }
    MPI_Waitall(NUM_COLLECTIVES, requests, MPI_STATUSES_IGNORE);
    for (collective_kind_t kind = 0; kind < NUM_COLLECTIVES; kind++) {
        collective_check("nonblocking", &nonblocking[kind]);
    }
}

static bool is_over(const char *file, int rank)
{
    int over = 0 == rank && 0 == access(file, F_OK);

    MPI_Bcast(&over, 1, MPI_INT, 0, MPI_COMM_WORLD);
    return over;
}

int main(int argc, char **argv)
{
    counters_t before, expected = {.fallbacks_order = ANY};
    int rank, number = 0, status;
    MPI_Comm comm;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    printf("rank %d is %d\n", rank, (int) getpid());
    fflush(stdout);
    before = counters_read();
    expected.groups = 2; /* of MPI_COMM_WORLD */
    do {
        both_ways(MPI_COMM_WORLD, number, &expected);
        reduce_to_owners(MPI_COMM_WORLD, MPI_SUM, number, counts[number % NUM_COUNTS]);
        MPI_Comm_dup(MPI_COMM_WORLD, &comm);
        both_ways(comm, number++, &expected);
        MPI_Comm_free(&comm);
        expected.groups += 2;
        expected.bcast_offloaded++;
    } while (!is_over(argv[1], rank));
    counters_moved("all", &before, expected);
    to_owners_offloaded(number);
    printf("rank %d: %d rounds\n", rank, number);
    status = conclude("stopped");
    MPI_Finalize();
    return status;
}
