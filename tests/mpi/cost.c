/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Collectives that mode auto leaves to the MPI library, for tools that count what they cost.
 *
 * usage: cost KIND TIMES COUNT [offloaded]   KIND: allreduce, reduce, bcast, allgather, barrier, or iallreduce, which is
 * offloaded; COUNT elements of 8 bytes; offloaded: after a nonblocking Allreduce of 64 KiB that servers do; under
 * MPICH, after a Reduce_scatter_block of as much. Nothing of a set-up is in a function that is counted.
 */
#include <stdbool.h>

#include "counters.h"
#include "offered.h"
#include "sums.h"

static void check_all(const char *what, const int64_t *values, int count, int64_t expected)
{
    for (int i = 0; i < count; i++) {
        if (expected != values[i]) {
            wrong("%s: element %d is %lld instead of %lld", what, i, (long long) values[i], (long long) expected);
            return;
        }
    }
}

/* From rank 0. */
static void bcast(int number, int count)
{
    int64_t *vector = must(calloc((size_t) count, sizeof(*vector)));
    int rank;

    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int i = 0; 0 == rank && i < count; i++) {
        vector[i] = number + 1;
    }
    MPI_Bcast(vector, count, MPI_INT64_T, 0, MPI_COMM_WORLD);
    check_all("Bcast", vector, count, number + 1);
    free(vector);
}

/* Of the same from all. */
static void allgather(int number, int count)
{
    int ranks;
    int64_t *all, *own = must(calloc((size_t) count, sizeof(*own)));

    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    all = must(calloc((size_t) (count * ranks), sizeof(*all)));
    for (int i = 0; i < count; i++) {
        own[i] = number + 1;
    }
    MPI_Allgather(own, count, MPI_INT64_T, all, count, MPI_INT64_T, MPI_COMM_WORLD);
    check_all("Allgather", all, count * ranks, number + 1);
    free(own);
    free(all);
}

/* Issued, and waited for. */
static void iallreduce(int number, int count)
{
    MPI_Request request;
    sum_t s;

    sum_start(&s, MPI_COMM_WORLD, number, count, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    sum_check("issued", &s);
}

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
    } else if (0 == strcmp(kind, "iallreduce")) {
        iallreduce(number, count);
    } else if (0 == strcmp(kind, "bcast")) {
        bcast(number, count);
    } else if (0 == strcmp(kind, "allgather")) {
        allgather(number, count);
    } else {
        MPI_Barrier(MPI_COMM_WORLD);
    }
}

#ifdef MPICH_VERSION
/* In a function that is not counted. */
static void meet(const char *kind)
{
    int nothing = 0;

    if (0 == strcmp(kind, "bcast")) {
        MPI_Allreduce(MPI_IN_PLACE, &nothing, 0, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    } else {
        MPI_Bcast(&nothing, 0, MPI_INT, 0, MPI_COMM_WORLD);
    }
}

static void set_up(bool offloads)
{
    int ranks;
    int64_t *vector;

    if (offloads) {
        MPI_Comm_size(MPI_COMM_WORLD, &ranks);
        vector = must(calloc(8192, sizeof(*vector)));
        MPI_Reduce_scatter_block(MPI_IN_PLACE, vector, 8192 / ranks, MPI_INT64_T, MPI_SUM, MPI_COMM_WORLD);
        free(vector);
    }
}
#else
static void meet(const char *kind)
{
    (void) kind;
}

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

/* Of data, from this rank to servers. */
static void tell_messages(void)
{
    int rank;

    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    printf("rank %d: %llu messages\n", rank, pvar_read("messages_sent"));
    fflush(stdout);
}

int main(int argc, char **argv)
{
    int status, times = argc > 3 ? atoi(argv[2]) : 1, count = argc > 3 ? atoi(argv[3]) : 1;
    const char *kind = argc > 3 ? argv[1] : "allreduce";
    bool offloads = argc > 4;
    counters_t before, expected = {.allreduce_offloaded = offloads && offers_first_nonblocking,
                                   .groups = offloads};

    if (0 == strcmp(kind, "iallreduce")) {
        expected = (counters_t) {.allreduce_offloaded = (unsigned long long) times, .groups = 1};
    }
    expected.fallbacks_size = offloads ? (unsigned long long) times : 0;
    expected.fallbacks_place = offloads || 0 != expected.allreduce_offloaded ? 0 : (unsigned long long) times;
    MPI_Init(&argc, &argv);
    meet(kind);
    before = counters_read();
    set_up(offloads);
    for (int i = 0; i < times; i++) {
        once(kind, i, count);
    }
    counters_moved("cost", &before, expected);
    if (0 != expected.allreduce_offloaded) {
        tell_messages();
    }
    pvars_end();
    status = conclude("cost");
    MPI_Finalize();
    return status;
}
