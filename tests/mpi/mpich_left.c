/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Calls that are left to MPICH again and again, which is remembered: by reason and by counter as if each were looked at,
 * and never longer than it is true. 2 ranks or more.
 *
 * usage: mpich_left auto|always|never|off   mode of the job; off: always, and no multicast
 */
#include <stdbool.h>
#include <string.h>

#include "counters.h"
#include "sums.h"

#define SMALL 8     /* elements of 8 bytes, less than the job's rule asks for */
#define LARGE 16384 /* ... and more */
#define TIMES 3

/* Counts that share a place, and one that does not. */
static const int counts[] = {SMALL, SMALL + 4, SMALL, SMALL + 1, SMALL + 8, SMALL};

/* Blocking and nonblocking small ones of several counts, and large ones between them. */
static void by_size(MPI_Comm comm)
{
    counters_t before = counters_read();
    int number = 0, left = 0;
    MPI_Request request;
    sum_t s;

    for (int time = 0; time < TIMES; time++) {
        for (size_t i = 0; i < sizeof(counts) / sizeof(counts[0]); i++) {
            sum_now("left for its size", comm, number++, counts[i]);
            sum_start(&s, comm, number++, counts[i], &request);
            MPI_Wait(&request, MPI_STATUS_IGNORE);
            sum_check("left for its size, nonblocking", &s);
            left += 2;
        }
        sum_now("offloaded", comm, number++, LARGE);
    }
    counters_moved("by size", &before,
                   (counters_t) {.fallbacks_size = (unsigned long long) left,
                                 .allreduce_offloaded = TIMES, .groups = ANY});
}

/* A nonblocking one wants service: the next blocking one sets it up, also where it is known to be left itself. */
static void wanted_since(void)
{
    counters_t before = counters_read();
    MPI_Request request;
    MPI_Comm comm;
    sum_t s;

    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    sum_now("left", comm, 1, SMALL);
    sum_now("left again", comm, 2, SMALL);
    sum_start(&s, comm, 3, LARGE, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    sum_check("too early", &s);
    sum_now("left, and sets up", comm, 4, SMALL);
    sum_start(&s, comm, 5, LARGE, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    sum_check("in time", &s);
    MPI_Comm_free(&comm);
    counters_moved("wanted", &before,
                   (counters_t) {.fallbacks_size = 3, .fallbacks_order = 1, .allreduce_offloaded = 1,
                                 .groups = 1});
}

/* Ints of that number as one element. */
static MPI_Datatype type_of(int length)
{
    MPI_Datatype type;

    MPI_Type_contiguous(length, MPI_INT, &type);
    MPI_Type_commit(&type);
    return type;
}

/* MPICH uses a freed handle again, for a type of another size. */
static void handle_used_again(void)
{
    counters_t before = counters_read();
    MPI_Datatype empty = type_of(0), full;
    int vector[1000], rank;

    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    memset(vector, 0 == rank ? 7 : 1, sizeof(vector));
    MPI_Bcast(vector, 1, empty, 0, MPI_COMM_WORLD);
    MPI_Bcast(vector, 1, empty, 0, MPI_COMM_WORLD);
    full = empty;
    MPI_Type_free(&empty);
    empty = full;
    full = type_of(1000);
    if (empty != full) {
        wrong("MPICH has not used the handle %#x again, but %#x: this tests nothing", empty, full);
    }
    MPI_Bcast(vector, 1, full, 0, MPI_COMM_WORLD);
    MPI_Type_free(&full);
    for (int i = 0; i < 1000; i++) {
        if (0x07070707 != vector[i]) {
            wrong("element %d of 1000 is %#x after the Bcast of a type whose handle was used again", i,
                  (unsigned) vector[i]);
            break;
        }
    }
    counters_moved("a handle used again", &before,
                   (counters_t) {.fallbacks_size = 2, .bcast_offloaded = 1, .groups = ANY});
}

/* What the settings do not want is counted by nobody. */
static void uncounted(const char *what, bool reduces)
{
    counters_t before = counters_read();
    int value, rank;

    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int time = 0; time < TIMES; time++) {
        value = 0 == rank ? time : -1;
        MPI_Bcast(&value, 1, MPI_INT, 0, MPI_COMM_WORLD);
        if (time != value) {
            wrong("%s: the Bcast brought %d instead of %d", what, value, time);
        }
        if (reduces) {
            sum_now(what, MPI_COMM_WORLD, time, SMALL);
        }
    }
    counters_moved(what, &before, (counters_t) {0});
}

int main(int argc, char **argv)
{
    const char *how = argc > 1 ? argv[1] : "";
    int status;

    MPI_Init(&argc, &argv);
    if (0 == strcmp(how, "auto")) {
        by_size(MPI_COMM_WORLD);
        wanted_since();
    } else if (0 == strcmp(how, "always")) {
        handle_used_again();
    } else if (0 == strcmp(how, "never") || 0 == strcmp(how, "off")) {
        uncounted(how, 0 == strcmp(how, "never"));
    } else {
        wrong("usage: mpich_left auto|always|never|off");
    }
    status = conclude("mpich_left");
    pvars_end();
    MPI_Finalize();
    return status;
}
