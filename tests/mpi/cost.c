/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Allreduces that mode auto leaves to Open MPI, for tools that count what they cost.
 *
 * usage: cost TIMES COUNT [offloaded]   COUNT elements of 8 bytes; offloaded: after a nonblocking
 * Allreduce of 64 KiB that servers do
 */
#include <stdbool.h>

#include "counters.h"
#include "sums.h"

int main(int argc, char **argv)
{
    int status, times = argc > 1 ? atoi(argv[1]) : 1, count = argc > 2 ? atoi(argv[2]) : 1;
    counters_t before, expected = {.fallbacks_place = (unsigned long long) times};
    MPI_Request request;
    sum_t s;

    MPI_Init(&argc, &argv);
    before = counters_read();
    if (argc > 3) {
        expected = (counters_t) {.fallbacks_size = (unsigned long long) times,
                                 .allreduce_offloaded = 1, .groups = 1};
        sum_start(&s, MPI_COMM_WORLD, 1, 8192, &request);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        sum_check("offloaded", &s);
    }
    for (int i = 0; i < times; i++) {
        sum_now("left", MPI_COMM_WORLD, i, count);
    }
    counters_moved("cost", &before, expected);
    pvars_end();
    status = conclude("cost");
    MPI_Finalize();
    return status;
}
