/* SPDX-License-Identifier: BSD-3-Clause */
/* What a rank tells the script that watches it, and when, by the clock on the wall. */
#ifndef TESTS_MPI_TELL_H
#define TESTS_MPI_TELL_H

#include <mpi.h>
#include <stdio.h>
#include <time.h>

static inline double wall_time(void)
{
    struct timespec time;

    clock_gettime(CLOCK_REALTIME, &time);
    return (double) time.tv_sec + (double) time.tv_nsec * 1e-9;
}

/* "rank R: WHAT at TIME" */
static inline void tell(const char *what)
{
    int rank;

    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    printf("rank %d: %s at %.3f\n", rank, what, wall_time());
    fflush(stdout);
}

/* "rank R: error after N operations at TIME: TEXT", in one line */
static inline void tell_error(int rc, int operations)
{
    char text[MPI_MAX_ERROR_STRING] = "";
    int rank, length;

    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Error_string(rc, text, &length);
    for (int i = 0; i < length; i++) {
        text[i] = '\n' == text[i] ? ' ' : text[i];
    }
    printf("rank %d: error after %d operations at %.3f: %s\n", rank, operations, wall_time(), text);
    fflush(stdout);
}

#endif
