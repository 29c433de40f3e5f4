/* SPDX-License-Identifier: BSD-3-Clause */
/* One Allreduce, in place, of a vector that has more bytes than an int can count. */
#include <limits.h>

#include "check.h"
#include "pvars.h"

#define COUNT ((1 << 28) + 5)

/* No two elements are alike, so none can be in the place of another. */
static double contribution(int rank, int index)
{
    return (double) index * (rank + 1);
}

static void check_result(const double *result, int ranks)
{
    int sum = ranks * (ranks + 1) / 2;

    for (int i = 0; i < COUNT; i++) {
        if ((double) i * sum != result[i]) {
            wrong("element %d is %g instead of %g", i, result[i], (double) i * sum);
            return;
        }
    }
}

static void check_counters(void)
{
    unsigned long long bytes = COUNT * sizeof(double);

    if (1 != pvar_read("allreduce_offloaded") || bytes != pvar_read("bytes_sent")
        || bytes != pvar_read("bytes_received") || 0 != pvar_read("bytes_copied")) {
        wrong("%llu offloaded, %llu bytes sent, %llu received, %llu copied; instead of 1, %llu, "
              "%llu, 0", pvar_read("allreduce_offloaded"), pvar_read("bytes_sent"),
              pvar_read("bytes_received"), pvar_read("bytes_copied"), bytes, bytes);
    }
}

int main(int argc, char **argv)
{
    int rank, ranks, status;
    double *vector;

    _Static_assert(COUNT * sizeof(double) > INT_MAX, "this is not big");
    MPI_Init(&argc, &argv);
    vector = must(malloc(COUNT * sizeof(double)));
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    for (int i = 0; i < COUNT; i++) {
        vector[i] = contribution(rank, i);
    }
    MPI_Allreduce(MPI_IN_PLACE, vector, COUNT, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    check_result(vector, ranks);
    check_counters();
    free(vector);
    pvars_end();
    status = conclude("big");
    MPI_Finalize();
    return status;
}
