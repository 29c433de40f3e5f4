/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Reductions that mode auto leaves to Open MPI, for tools that count what they cost.
 *
 * usage: cost KIND TIMES COUNT [offloaded]   KIND: allreduce, reduce or barrier; COUNT elements of 8
 * bytes; offloaded: after a nonblocking Allreduce of 64 KiB that servers do; under MPICH, after a Reduce_scatter_block
 * of as much. Nothing of a set-up is in a function that is counted.
 */
#include <stdbool.h>

#include "counters.h"
#include "offered.h"
#include "sums.h"

/* To rank 0. */
static void reduce(int number, int count)
{
    sum_t s;
    int rank;

    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    sum_make(&s, MPI_COMM_WORLD, number, count);
    MPI_Reduce(s.send, s.recv, count, MPI_INT64_T, MPI_SUM, 0, MPI_COMM_WORLD);
    if (0 == rank) {
        sum_check("left", &s);
    } else {
        free(s.send);
        free(s.recv);
    }
}

static void once(const char *kind, int number, int count)
{
    if (0 == strcmp(kind, "allreduce")) {
        sum_now("left", MPI_COMM_WORLD, number, count);
    } else if (0 == strcmp(kind, "reduce")) {
        reduce(number, count);
    } else {
        MPI_Barrier(MPI_COMM_WORLD);
    }
}

#ifdef MPICH_VERSION
static void set_up(bool offloads)
{
    int nothing = 0, ranks;
    int64_t *vector;

    MPI_Bcast(&nothing, 1, MPI_INT, 0, MPI_COMM_WORLD);
    if (offloads) {
        MPI_Comm_size(MPI_COMM_WORLD, &ranks);
        vector = must(calloc(8192, sizeof(*vector)));
        MPI_Reduce_scatter_block(MPI_IN_PLACE, vector, 8192 / ranks, MPI_INT64_T, MPI_SUM, MPI_COMM_WORLD);
        free(vector);
    }
}
#else
static void set_up(bool offloads)
{
    MPI_Request request;
    sum_t s;

    if (offloads) {
        sum_start(&s, MPI_COMM_WORLD, 1, 8192, &request);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        sum_check("offloaded", &s);
    }
}
#endif

int main(int argc, char **argv)
{
    int status, times = argc > 3 ? atoi(argv[2]) : 1, count = argc > 3 ? atoi(argv[3]) : 1;
    const char *kind = argc > 3 ? argv[1] : "allreduce";
    bool offloads = argc > 4;
    counters_t before, expected = {.allreduce_offloaded = offloads && offers_first_nonblocking,
                                   .groups = offloads};

    expected.fallbacks_size = offloads ? (unsigned long long) times : 0;
    expected.fallbacks_place = offloads ? 0 : (unsigned long long) times;
    MPI_Init(&argc, &argv);
    before = counters_read();
    set_up(offloads);
    for (int i = 0; i < times; i++) {
        once(kind, i, count);
    }
    counters_moved("cost", &before, expected);
    pvars_end();
    status = conclude("cost");
    MPI_Finalize();
    return status;
}
