/* SPDX-License-Identifier: BSD-3-Clause */
/* Collectives of all services, of whole numbers that are different for each operation. */
#ifndef TESTS_MPI_COLLECTIVES_H
#define TESTS_MPI_COLLECTIVES_H

#include <stdbool.h>

#include "counters.h"
#include "sums.h"

typedef enum { ALLREDUCE, ALLGATHER, ALLGATHERV, BCAST, NUM_COLLECTIVES } collective_kind_t;

/* One of them; number tells it from the others. */
typedef struct {
    MPI_Comm comm;
    collective_kind_t kind;
    int number, count, ranks, rank, root;
    int *send, *recv, *counts, *displs;
    sum_t sum;
} collective_t;

static inline int collective_element(int number, int block, int i)
{
    return (int) (mix64((uint64_t) number * 1000 + (uint64_t) block) >> 40) + i;
}

/* Blocks of different lengths, with a gap between them that stays as it is. */
static inline void collective_place(collective_t *c)
{
    int next = 0;

    c->counts = must(malloc((size_t) c->ranks * sizeof(int)));
    c->displs = must(malloc((size_t) c->ranks * sizeof(int)));
    for (int i = 0; i < c->ranks; i++) {
        bool vector = ALLGATHERV == c->kind;

        c->counts[i] = BCAST == c->kind && i != c->root ? 0 : vector ? c->count * (i % 3) : c->count;
        c->counts[i] += vector && i == c->root;
        c->displs[i] = BCAST == c->kind ? 0 : next;
        next += c->counts[i] + vector;
    }
    c->recv = must(malloc((size_t) (next + 1) * sizeof(int)));
    for (int i = 0; i <= next; i++) {
        c->recv[i] = -1;
    }
}

/* count: elements of a block, more or less; at least three, for a Bcast that is offloaded. */
static inline void collective_make(collective_t *c, collective_kind_t kind, MPI_Comm comm,
                                   int number, int count)
{
    *c = (collective_t) {.comm = comm, .kind = kind, .number = number, .count = count + 2};
    MPI_Comm_size(comm, &c->ranks);
    MPI_Comm_rank(comm, &c->rank);
    c->root = abs(number) % c->ranks;
    if (ALLREDUCE == kind) {
        sum_make(&c->sum, comm, number, count);
        return;
    }
    collective_place(c);
    c->send = must(malloc((size_t) (c->counts[c->rank] + 1) * sizeof(int)));
    for (int i = 0; i < c->counts[c->rank]; i++) {
        c->send[i] = collective_element(number, c->rank, i);
    }
    if (BCAST == kind && c->rank == c->root) {
        memcpy(c->recv, c->send, (size_t) c->count * sizeof(int));
    }
}

static inline void collective_check_block(const char *what, const collective_t *c, int block)
{
    for (int i = 0; i < c->counts[block]; i++) {
        int is = c->recv[c->displs[block] + i], should = collective_element(c->number, block, i);

        if (is != should) {
            wrong("%s, operation %d of kind %d on %d ranks: element %d of block %d is %d instead "
                  "of %d", what, c->number, (int) c->kind, c->ranks, i, block, is, should);
            return;
        }
    }
    if (ALLGATHERV == c->kind && -1 != c->recv[c->displs[block] + c->counts[block]]) {
        wrong("%s, operation %d: the gap behind block %d has changed", what, c->number, block);
    }
}

/* Every element; frees what it has. */
static inline void collective_check(const char *what, collective_t *c)
{
    if (ALLREDUCE == c->kind) {
        sum_check(what, &c->sum);
        return;
    }
    for (int block = 0; block < c->ranks; block++) {
        collective_check_block(what, c, block);
    }
    free(c->send);
    free(c->recv);
    free(c->counts);
    free(c->displs);
}

/* A blocking one that was made. */
static inline int collective_do(collective_t *c)
{
    switch (c->kind) {
    case ALLREDUCE:
        return MPI_Allreduce(c->sum.send, c->sum.recv, c->sum.count, MPI_INT64_T, MPI_SUM,
                             c->comm);
    case ALLGATHER:
        return MPI_Allgather(c->send, c->count, MPI_INT, c->recv, c->count, MPI_INT, c->comm);
    case ALLGATHERV:
        return MPI_Allgatherv(c->send, c->counts[c->rank], MPI_INT, c->recv, c->counts, c->displs,
                              MPI_INT, c->comm);
    default:
        return MPI_Bcast(c->recv, c->count, MPI_INT, c->root, c->comm);
    }
}

static inline int collective_begin(collective_t *c, MPI_Request *request)
{
    switch (c->kind) {
    case ALLREDUCE:
        return MPI_Iallreduce(c->sum.send, c->sum.recv, c->sum.count, MPI_INT64_T, MPI_SUM,
                              c->comm, request);
    case ALLGATHER:
        return MPI_Iallgather(c->send, c->count, MPI_INT, c->recv, c->count, MPI_INT, c->comm,
                              request);
    case ALLGATHERV:
        return MPI_Iallgatherv(c->send, c->counts[c->rank], MPI_INT, c->recv, c->counts,
                               c->displs, MPI_INT, c->comm, request);
    default:
        return MPI_Ibcast(c->recv, c->count, MPI_INT, c->root, c->comm, request);
    }
}

static inline void collective_now(const char *what, collective_kind_t kind, MPI_Comm comm,
                                  int number, int count)
{
    collective_t c;

    collective_make(&c, kind, comm, number, count);
    collective_do(&c);
    collective_check(what, &c);
}

static inline void collective_start(collective_t *c, collective_kind_t kind, MPI_Comm comm,
                                    int number, int count, MPI_Request *request)
{
    collective_make(c, kind, comm, number, count);
    collective_begin(c, request);
}

/* It is to be offloaded. */
static inline void collective_count(counters_t *expected, collective_kind_t kind)
{
    expected->allreduce_offloaded += ALLREDUCE == kind;
    expected->allgather_offloaded += ALLGATHER == kind || ALLGATHERV == kind;
    expected->bcast_offloaded += BCAST == kind;
}

#endif
