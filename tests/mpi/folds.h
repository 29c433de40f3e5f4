/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Floats that the ranks of a communicator contribute, and their sums, added one by one in the order that the reduction shape
 * of the communicator has: sums of floats tell in which order they were made.
 */
#ifndef TESTS_MPI_FOLDS_H
#define TESTS_MPI_FOLDS_H

#include <mpi.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>

#include "check.h"

typedef struct {
    MPI_Comm comm;
    int rank, size, hosts;
    int *row;      /* all ranks: host by host, and hosts by their lowest rank */
    int *first;    /* of each host in the row, and where the last one ends */
    int *host;     /* of each rank */
} crew_t;

/* Host by host in the row; host_of has a number that says on which host a rank is. */
static inline void crew_line_up(crew_t *crew, const int *host_of)
{
    int placed = 0;

    for (int low = 0; low < crew->size; low++) {
        int before = 0;

        while (host_of[before] != host_of[low]) {
            before++;
        }
        if (before < low) {
            continue;
        }
        crew->first[crew->hosts] = placed;
        for (int r = low; r < crew->size; r++) {
            if (host_of[r] == host_of[low]) {
                crew->host[r] = crew->hosts;
                crew->row[placed++] = r;
            }
        }
        crew->first[++crew->hosts] = placed;
    }
}

/* Collective. So many ranks of the job are on each host, one host after the other; 0: they are added in their order. */
static inline crew_t crew_make(MPI_Comm comm, int per_host)
{
    crew_t crew = {.comm = comm};
    int of_job, host, *host_of;

    MPI_Comm_rank(MPI_COMM_WORLD, &of_job);
    MPI_Comm_rank(comm, &crew.rank);
    MPI_Comm_size(comm, &crew.size);
    host = 0 == per_host ? 0 : of_job / per_host;
    host_of = must(calloc((size_t) crew.size, sizeof(int)));
    crew.row = must(calloc((size_t) crew.size, sizeof(int)));
    crew.host = must(calloc((size_t) crew.size, sizeof(int)));
    crew.first = must(calloc((size_t) crew.size + 1, sizeof(int)));
    MPI_Allgather(&host, 1, MPI_INT, host_of, 1, MPI_INT, comm);
    crew_line_up(&crew, host_of);
    free(host_of);
    return crew;
}

static inline void crew_free(crew_t *crew)
{
    free(crew->row);
    free(crew->host);
    free(crew->first);
}

/* What a rank contributes to operation number at place i. */
static inline float contribution(int of, int number, int i)
{
    uint32_t x = (uint32_t) of * 2654435761u ^ (uint32_t) number * 40503u ^ (uint32_t) i * 2246822519u;

    x ^= x >> 15;
    x *= 2246822519u;
    x ^= x >> 13;
    return ((float) (x % 20000) - 10000) / 7.0f;
}

static inline float sum_of_host(const crew_t *crew, int host, int number, int i)
{
    const int *row = crew->row + crew->first[host], *end = crew->row + crew->first[host + 1];
    float sum = contribution(*row, number, i);

    while (++row < end) {
        sum += contribution(*row, number, i);
    }
    return sum;
}

/* The host of an owner comes last; negative: nobody's does. */
static inline float sum_of_all(const crew_t *crew, int owner, int number, int i)
{
    int last = owner < 0 ? -1 : crew->host[owner];
    bool begun = false;
    float sum = 0;

    for (int host = 0; host < crew->hosts; host++) {
        if (host != last) {
            sum = begun ? sum + sum_of_host(crew, host, number, i) : sum_of_host(crew, host, number, i);
            begun = true;
        }
    }
    if (last < 0) {
        return sum;
    }
    return begun ? sum + sum_of_host(crew, last, number, i) : sum_of_host(crew, last, number, i);
}

#endif
