/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A job that goes on until it is told to stop, or is killed: Allreduces of all sizes on old and
 * new communicators.
 *
 * usage: two_jobs STOP SEED
 * STOP is a file; when it exists the job ends, and prints "N operations".
 */
#include <stdbool.h>
#include <unistd.h>

#include "counters.h"
#include "sums.h"

#define LARGE 60000

static int rank;

/* One element, which rank 0 may raise: all ranks see the same. Offloaded like the others. */
static bool told_to_stop(const char *file)
{
    int64_t stop = 0 == rank && 0 == access(file, F_OK);

    MPI_Allreduce(MPI_IN_PLACE, &stop, 1, MPI_INT64_T, MPI_SUM, MPI_COMM_WORLD);
    return 0 != stop;
}

static void on_a_new_one(int number, int count)
{
    MPI_Request request;
    MPI_Comm comm;
    sum_t s;

    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    sum_now("a new communicator", comm, number, count);
    sum_start(&s, comm, number + 1, count, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    sum_check("a new communicator", &s);
    MPI_Comm_free(&comm);
}

int main(int argc, char **argv)
{
    uint64_t random = argc > 2 ? strtoull(argv[2], NULL, 10) : 1;
    counters_t before, expected = {.fallbacks_order = ANY, .groups = 1};
    int number = 0, status;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    before = counters_read();
    do {
        int count = 1 + (int) next_random(&random, 0 == next_random(&random, 4) ? LARGE : 1000);

        if (0 == next_random(&random, 10)) {
            on_a_new_one(3 * number, count);
            expected.groups++;
            expected.allreduce_offloaded++;
        } else {
            sum_now("MPI_COMM_WORLD", MPI_COMM_WORLD, 3 * number, count);
        }
        expected.allreduce_offloaded += 2;
        number++;
        usleep(500); /* there are other jobs */
    } while (!told_to_stop(argc > 1 ? argv[1] : "."));
    counters_moved("until told to stop", &before, expected);
    if (0 == rank) {
        printf("%llu operations\n", expected.allreduce_offloaded);
    }
    pvars_end();
    status = conclude("two_jobs");
    MPI_Finalize();
    return status;
}
