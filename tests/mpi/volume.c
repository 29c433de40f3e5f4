/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Allreduces of large vectors: all elements are checked, and what was sent is counted.
 *
 * usage: volume COUNT TIMES. Prints "rank R host H sent S received T offloaded N" for each rank.
 */
#include <unistd.h>

#include "check.h"
#include "volume.h"

/* Exact as a float for any number of ranks that a test has. */
static float contribution(int rank, int i, int round)
{
    return (float) ((i % 1021) * (rank + 1) + round);
}

static void check_sum(const float *sum, int count, int ranks, int round)
{
    int triangle = ranks * (ranks + 1) / 2;

    for (int i = 0; i < count; i++) {
        float expected = (float) ((i % 1021) * triangle + ranks * round);

        if (sum[i] != expected) {
            wrong("element %d is %g instead of %g in round %d", i, sum[i], expected, round);
        }
    }
}

int main(int argc, char **argv)
{
    int status, rank, ranks, count = argc > 2 ? atoi(argv[1]) : 0, times = argc > 2 ? atoi(argv[2]) : 0;
    char host[64] = "";
    float *in, *sum;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    in = must(malloc((size_t) count * sizeof(*in) + 1));
    sum = must(malloc((size_t) count * sizeof(*sum) + 1));
    for (int round = 0; round < times; round++) {
        for (int i = 0; i < count; i++) {
            in[i] = contribution(rank, i, round);
            sum[i] = -1;
        }
        MPI_Allreduce(in, sum, count, MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD);
        check_sum(sum, count, ranks, round);
    }
    gethostname(host, sizeof(host) - 1);
    tell_volume(rank, host);
    free(in);
    free(sum);
    failures += 0 == count || 0 == times;
    status = conclude("volume");
    pvars_end();
    MPI_Finalize();
    return status;
}
