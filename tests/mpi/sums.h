/* SPDX-License-Identifier: BSD-3-Clause */
/* Sums of whole numbers: right or wrong whatever the order, and different for each operation. */
#ifndef TESTS_MPI_SUMS_H
#define TESTS_MPI_SUMS_H

#include "check.h"

/* One MPI_Allreduce of count MPI_INT64_T with MPI_SUM; number tells it from the others. */
typedef struct {
    MPI_Comm comm;
    int number, count, ranks;
    int64_t *send, *recv;
} sum_t;

static inline int64_t sum_element(int number, int in_rank, int i)
{
    return (int64_t) (mix64((uint64_t) number * 1000 + (uint64_t) in_rank) >> 8) + i;
}

static inline void sum_make(sum_t *s, MPI_Comm comm, int number, int count)
{
    int rank;

    *s = (sum_t) {.comm = comm, .number = number, .count = count};
    MPI_Comm_size(comm, &s->ranks);
    MPI_Comm_rank(comm, &rank);
    s->send = must(malloc((size_t) count * sizeof(int64_t)));
    s->recv = must(calloc((size_t) count, sizeof(int64_t)));
    for (int i = 0; i < count; i++) {
        s->send[i] = sum_element(number, rank, i);
    }
}

/* Every element; frees the vectors. */
static inline void sum_check(const char *what, sum_t *s)
{
    int64_t base = 0;

    for (int in_rank = 0; in_rank < s->ranks; in_rank++) {
        base += sum_element(s->number, in_rank, 0);
    }
    for (int i = 0; i < s->count; i++) {
        if (s->recv[i] != base + (int64_t) i * s->ranks) {
            wrong("%s, operation %d on %d ranks: element %d of %d is %lld instead of %lld", what,
                  s->number, s->ranks, i, s->count, (long long) s->recv[i],
                  (long long) (base + (int64_t) i * s->ranks));
            break;
        }
    }
    free(s->send);
    free(s->recv);
}

static inline void sum_start(sum_t *s, MPI_Comm comm, int number, int count, MPI_Request *request)
{
    sum_make(s, comm, number, count);
    MPI_Iallreduce(s->send, s->recv, count, MPI_INT64_T, MPI_SUM, comm, request);
}

static inline void sum_now(const char *what, MPI_Comm comm, int number, int count)
{
    sum_t s;

    sum_make(&s, comm, number, count);
    MPI_Allreduce(s.send, s.recv, count, MPI_INT64_T, MPI_SUM, comm);
    sum_check(what, &s);
}

#endif
