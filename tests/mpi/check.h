/* SPDX-License-Identifier: BSD-3-Clause */
/* Counting of what is wrong, the last line of a test program, and reproducible random numbers. */
#ifndef TESTS_MPI_CHECK_H
#define TESTS_MPI_CHECK_H

#include <mpi.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

/* More than this many complaints of one process help nobody. */
#define MAX_COMPLAINTS 5

static _Atomic unsigned long failures; /* threads may find something */

static inline void wrong(const char *format, ...) __attribute__((format(printf, 1, 2)));

static inline void wrong(const char *format, ...)
{
    char text[512];
    va_list args;
    int rank;

    if (failures++ >= MAX_COMPLAINTS) {
        return;
    }
    va_start(args, format);
    vsnprintf(text, sizeof(text), format, args);
    va_end(args);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    printf("not ok: rank %d: %s\n", rank, text);
    fflush(stdout);
}

/* What an MPI program cannot go on without. */
static inline void *must(void *memory)
{
    if (NULL == memory) {
        printf("not ok: out of memory\n");
        fflush(stdout);
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
    return memory;
}

/* Collective over MPI_COMM_WORLD; offloads nothing. Returns the exit status of the process. */
static inline int conclude(const char *summary)
{
    unsigned long mine = failures, all = 0;
    int rank, size;

    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Scan(&mine, &all, 1, MPI_UNSIGNED_LONG, MPI_SUM, MPI_COMM_WORLD);
    MPI_Bcast(&all, 1, MPI_UNSIGNED_LONG, size - 1, MPI_COMM_WORLD);
    if (0 == rank && 0 == all) {
        printf("ok %s\n", summary);
        fflush(stdout);
    }
    return 0 == all ? EXIT_SUCCESS : EXIT_FAILURE;
}

/* Collectives that nobody offloads, for programs that count: nobody is out before all are in. */
static inline void begin_sync(MPI_Comm comm, MPI_Request *request)
{
    enum { MOST = 1024 };
    static char nothing[2 * MOST]; /* only ever zeros, so many may be under way */

    MPI_Ialltoall(nothing, 1, MPI_CHAR, nothing + MOST, 1, MPI_CHAR, comm, request);
}

static inline void sync_all(MPI_Comm comm)
{
    MPI_Request request;

    begin_sync(comm, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
}

/* splitmix64: a different, random-looking number for each x. */
static inline uint64_t mix64(uint64_t x)
{
    x += 0x9e3779b97f4a7c15u;
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
    return x ^ (x >> 31);
}

/* The next number of a sequence below limit. */
static inline unsigned next_random(uint64_t *state, unsigned limit)
{
    *state = mix64(*state);
    return (unsigned) ((*state >> 16) % limit);
}

#endif
