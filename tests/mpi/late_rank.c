/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The last rank computes while the others wait for it in Allreduce: at first asleep, with a small
 * vector; then busy, with a large one.
 *
 * usage: late_rank SECONDS_SMALL SECONDS_LARGE
 * Rank 0 prints "waiting small" and "waiting large" when the others are about to wait.
 */
#include <time.h>
#include <unistd.h>

#include "check.h"
#include "pvars.h"

#define LARGE 2000000

static double now(void)
{
    struct timespec time;

    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double) time.tv_sec + (double) time.tv_nsec * 1e-9;
}

static void compute(double seconds)
{
    double end = now() + seconds;

    while (now() < end) {
    }
}

static void reduce(int count, int rank, int size)
{
    int32_t *data = must(malloc((size_t) count * sizeof(*data)));
    int32_t sum = (int32_t) (size * (size - 1) / 2);

    for (int i = 0; i < count; i++) {
        data[i] = rank + i % 1000;
    }
    MPI_Allreduce(MPI_IN_PLACE, data, count, MPI_INT32_T, MPI_SUM, MPI_COMM_WORLD);
    for (int i = 0; i < count; i++) {
        if (data[i] != sum + size * (i % 1000)) {
            wrong("element %d of %d is %d instead of %d", i, count, data[i],
                  sum + size * (i % 1000));
            break;
        }
    }
    free(data);
}

static void late(const char *name, int count, double asleep, double busy)
{
    int rank, size;

    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    sync_all(MPI_COMM_WORLD);
    if (0 == rank) {
        printf("waiting %s\n", name);
        fflush(stdout);
    }
    if (size - 1 == rank) {
        usleep((useconds_t) (asleep * 1e6));
        compute(busy);
    }
    reduce(count, rank, size);
}

int main(int argc, char **argv)
{
    double small = argc > 1 ? atof(argv[1]) : 20, large = argc > 2 ? atof(argv[2]) : 8;
    int rank, size, status;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    reduce(10, rank, size);
    late("small", 10, small, 0);
    late("large", LARGE, 0, large);
    if (3 != pvar_read("allreduce_offloaded") || 0 != pvar_read("failures")) {
        wrong("%llu of 3 operations were offloaded, %llu failed",
              pvar_read("allreduce_offloaded"), pvar_read("failures"));
    }
    pvars_end();
    status = conclude("late_rank");
    MPI_Finalize();
    return status;
}
