/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Reductions of any kind on a communicator (folds.h), blocking, nonblocking and persistent, whose results are checked bit by
 * bit. What an operation has no right to change is checked, too: what it sends, what lies behind its result, and for some
 * time after its end the result itself. What it has sent is written over at once.
 */
#ifndef TESTS_MPI_REDUCTIONS_H
#define TESTS_MPI_REDUCTIONS_H

#include <string.h>
#include <time.h>

#include "folds.h"
#include "persistent.h"

typedef enum {
    ALLREDUCE,
    REDUCE,
    REDUCE_SCATTER,
    REDUCE_SCATTER_BLOCK,
    BARRIER,
    KINDS
} kind_t;

static const char *const kind_names[KINDS] = {"Allreduce", "Reduce", "Reduce_scatter", "Reduce_scatter_block", "Barrier"};

typedef struct {
    const crew_t *crew;
    kind_t kind;
    int count, number, root;
    int *counts, first;    /* of a Reduce_scatter: blocks, and where the own one begins */
    bool in_place, kept;   /* persistent ones are kept: they may be started again */
    float *send, *recv;
    double begin;
    MPI_Request request;
} reduction_t;

/* Results that are the program's alone by now. */
static struct {
    float *memory;
    size_t bytes;
    uint64_t sum;
    int number;
} left_alone[8];
static unsigned num_left_alone;

static inline double steady_time(void)
{
    struct timespec time;

    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double) time.tv_sec + (double) time.tv_nsec * 1e-9;
}

static inline uint64_t sum_of_memory(const void *memory, size_t bytes)
{
    const unsigned char *at = memory;
    uint64_t sum = 0;
    uint32_t word;

    for (size_t i = 0; i + sizeof(word) <= bytes; i += sizeof(word)) {
        memcpy(&word, at + i, sizeof(word));
        sum = (sum ^ word) * 0x9e3779b97f4a7c15u;
    }
    return sum;
}

/* Takes the memory, and has a look at what it took some operations ago. */
static inline void leave_alone(float *memory, size_t bytes, int number)
{
    unsigned place = num_left_alone++ % (sizeof(left_alone) / sizeof(*left_alone));

    if (NULL != left_alone[place].memory
        && sum_of_memory(left_alone[place].memory, left_alone[place].bytes) != left_alone[place].sum) {
        wrong("the results of operation %d changed after its end", left_alone[place].number);
    }
    free(left_alone[place].memory);
    left_alone[place].memory = memory;
    left_alone[place].bytes = bytes;
    left_alone[place].sum = sum_of_memory(memory, bytes);
    left_alone[place].number = number;
}

/* Blocks of any size, some of them empty, or of the same. */
static inline void reduction_cut(reduction_t *r)
{
    const crew_t *crew = r->crew;
    uint64_t state = (uint64_t) r->number;
    int left = r->count;

    r->counts = must(calloc((size_t) crew->size, sizeof(*r->counts)));
    for (int i = 0; i < crew->size; i++) {
        r->counts[i] = REDUCE_SCATTER_BLOCK == r->kind ? r->count / crew->size
                       : i + 1 == crew->size           ? left
                                                       : (int) next_random(&state, (unsigned) left / 2 + 1);
        left -= r->counts[i];
        r->first += i < crew->rank ? r->counts[i] : 0;
    }
}

/* What it contributes, in both buffers: what lies behind its results has to stay. */
static inline void reduction_fill(reduction_t *r, int number)
{
    r->number = number;
    for (int i = 0; i < r->count; i++) {
        r->send[i] = r->recv[i] = contribution(r->crew->rank, number, i);
    }
}

/* In place counts where there are results. */
static inline reduction_t reduction_make(const crew_t *crew, kind_t kind, int count, int root, bool in_place, int number)
{
    reduction_t r = {.crew = crew, .kind = kind, .number = number, .root = root % crew->size, .request = MPI_REQUEST_NULL};

    r.count = BARRIER == kind ? 0 : REDUCE_SCATTER_BLOCK == kind ? (count / crew->size + 1) * crew->size : count;
    r.in_place = in_place && (REDUCE != kind || crew->rank == r.root);
    r.send = must(malloc((size_t) r.count * sizeof(float) + 1));
    r.recv = must(malloc((size_t) r.count * sizeof(float) + 1));
    if (REDUCE_SCATTER == kind || REDUCE_SCATTER_BLOCK == kind) {
        reduction_cut(&r);
    }
    reduction_fill(&r, number);
    return r;
}

static inline const void *reduction_input(const reduction_t *r)
{
    return r->in_place ? MPI_IN_PLACE : r->send;
}

static inline int reduction_run(reduction_t *r)
{
    MPI_Comm comm = r->crew->comm;
    const void *send = reduction_input(r);

    r->begin = steady_time();
    switch (r->kind) {
    case REDUCE:
        return MPI_Reduce(send, r->recv, r->count, MPI_FLOAT, MPI_SUM, r->root, comm);
    case REDUCE_SCATTER:
        return MPI_Reduce_scatter(send, r->recv, r->counts, MPI_FLOAT, MPI_SUM, comm);
    case REDUCE_SCATTER_BLOCK:
        return MPI_Reduce_scatter_block(send, r->recv, r->counts[0], MPI_FLOAT, MPI_SUM, comm);
    case BARRIER:
        return MPI_Barrier(comm);
    default:
        return MPI_Allreduce(send, r->recv, r->count, MPI_FLOAT, MPI_SUM, comm);
    }
}

static inline int reduction_issue(reduction_t *r)
{
    MPI_Comm comm = r->crew->comm;
    const void *send = reduction_input(r);

    switch (r->kind) {
    case REDUCE:
        return MPI_Ireduce(send, r->recv, r->count, MPI_FLOAT, MPI_SUM, r->root, comm, &r->request);
    case REDUCE_SCATTER:
        return MPI_Ireduce_scatter(send, r->recv, r->counts, MPI_FLOAT, MPI_SUM, comm, &r->request);
    case REDUCE_SCATTER_BLOCK:
        return MPI_Ireduce_scatter_block(send, r->recv, r->counts[0], MPI_FLOAT, MPI_SUM, comm, &r->request);
    case BARRIER:
        return MPI_Ibarrier(comm, &r->request);
    default:
        return MPI_Iallreduce(send, r->recv, r->count, MPI_FLOAT, MPI_SUM, comm, &r->request);
    }
}

#ifndef MPICH_VERSION
/* Makes it persistent. */
static inline int reduction_keep(reduction_t *r)
{
    MPI_Comm comm = r->crew->comm;
    const void *send = reduction_input(r);

    r->kept = true;
    switch (r->kind) {
    case REDUCE:
        return MPI_Reduce_init(send, r->recv, r->count, MPI_FLOAT, MPI_SUM, r->root, comm, MPI_INFO_NULL, &r->request);
    case REDUCE_SCATTER:
        return MPI_Reduce_scatter_init(send, r->recv, r->counts, MPI_FLOAT, MPI_SUM, comm, MPI_INFO_NULL, &r->request);
    case REDUCE_SCATTER_BLOCK:
        return MPI_Reduce_scatter_block_init(send, r->recv, r->counts[0], MPI_FLOAT, MPI_SUM, comm, MPI_INFO_NULL,
                                             &r->request);
    case BARRIER:
        return MPI_Barrier_init(comm, MPI_INFO_NULL, &r->request);
    default:
        return MPI_Allreduce_init(send, r->recv, r->count, MPI_FLOAT, MPI_SUM, comm, MPI_INFO_NULL, &r->request);
    }
}
#endif

/* Without waiting for it: nonblocking, or a persistent one once more. */
static inline int reduction_start(reduction_t *r)
{
    r->begin = steady_time();
    return r->kept ? MPI_Start(&r->request) : reduction_issue(r);
}

/* Elements that this rank gets. */
static inline int reduction_results(const reduction_t *r)
{
    switch (r->kind) {
    case REDUCE:
        return r->crew->rank == r->root ? r->count : 0;
    case REDUCE_SCATTER:
    case REDUCE_SCATTER_BLOCK:
        return r->counts[r->crew->rank];
    default:
        return r->count;
    }
}

static inline void reduction_wrong(const reduction_t *r, const char *what, int i, float is, float should)
{
    wrong("operation %d, %s of %d elements%s%s, on %d ranks: %s %d is %a instead of %a", r->number, kind_names[r->kind],
          r->count, r->in_place ? ", in place" : "", r->kept ? ", persistent" : "", r->crew->size, what, i, (double) is,
          (double) should);
}

/* The clock is that of one machine. */
static inline void reduction_check_barrier(const reduction_t *r)
{
    double end = steady_time(), *begins = must(calloc((size_t) r->crew->size, sizeof(double)));

    MPI_Allgather(&r->begin, 1, MPI_DOUBLE, begins, 1, MPI_DOUBLE, r->crew->comm);
    for (int i = 0; i < r->crew->size; i++) {
        if (begins[i] > end) {
            wrong("operation %d: out of a Barrier %.6f s before rank %d comes", r->number, begins[i] - end, i);
        }
    }
    free(begins);
}

static inline void reduction_check_results(const reduction_t *r)
{
    int owner = REDUCE_SCATTER == r->kind || REDUCE_SCATTER_BLOCK == r->kind ? r->crew->rank : -1;
    int count = reduction_results(r);

    for (int i = 0; i < count; i++) {
        float sum = sum_of_all(r->crew, owner, r->number, r->first + i);

        if (0 != memcmp(&sum, &r->recv[i], sizeof(sum))) {
            reduction_wrong(r, "element", i, r->recv[i], sum);
            return;
        }
    }
}

static inline void reduction_check_rest(const reduction_t *r)
{
    int results = reduction_results(r);

    for (int i = 0; i < r->count && !r->in_place; i++) {
        float own = contribution(r->crew->rank, r->number, i);

        if (0 != memcmp(&own, &r->send[i], sizeof(own))) {
            reduction_wrong(r, "sent element", i, r->send[i], own);
            return;
        }
        if (i >= results && 0 != memcmp(&own, &r->recv[i], sizeof(own))) {
            reduction_wrong(r, "what is behind the results", i, r->recv[i], own);
            return;
        }
    }
}

/* Collective. What an operation that has ended well has come to. */
static inline void reduction_check(const reduction_t *r)
{
    if (BARRIER == r->kind) {
        reduction_check_barrier(r);
    } else {
        reduction_check_results(r);
        reduction_check_rest(r);
    }
    memset(r->send, 0xff, (size_t) r->count * sizeof(float));
}

static inline void reduction_free(reduction_t *r)
{
    if (r->kept) {
        MPI_Request_free(&r->request);
    }
    leave_alone(r->recv, (size_t) r->count * sizeof(float), r->number);
    free(r->send);
    free(r->counts);
}

#endif
