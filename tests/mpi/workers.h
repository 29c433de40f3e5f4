/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Threads of a rank that do collectives at the same time, each on a communicator of its own, and
 * wait for each other's requests: what programs about MPI_THREAD_MULTIPLE share.
 */
#ifndef TESTS_MPI_WORKERS_H
#define TESTS_MPI_WORKERS_H

#include <pthread.h>

#include "collectives.h"
#include "sizes.h"

#define WORKERS       4
#define WORKER_FLYING 6     /* nonblocking operations of each at a time */
#define WORKER_LARGE  30000

typedef struct worker worker_t;

/* What sets a program apart. */
typedef struct {
    const char *name;
    unsigned kinds;                  /* of collectives: the first so many */
    const sizes_t *sizes;            /* of those that are offloaded; NULL: all are */
    unsigned long long groups;       /* that they make of a communicator */
    /* Makes a duplicate of the worker's communicator, uses it, and frees it. */
    void (*duplicate)(worker_t *w, int repetition);
    /* NULL, or changes what all workers together expect of the counters. */
    void (*expect)(counters_t *expected);
} work_t;

struct worker {
    const work_t *work;
    int number, repetitions;
    MPI_Comm comm;
    uint64_t random;                 /* equal for the threads of one number on all ranks */
    counters_t expected;
    int operation;
    collective_t flying[WORKER_FLYING];
    MPI_Request requests[WORKER_FLYING];
};

static worker_t workers[WORKERS];
static pthread_barrier_t workers_barrier;

static inline collective_kind_t worker_kind(worker_t *w)
{
    return (collective_kind_t) next_random(&w->random, w->work->kinds);
}

static inline int worker_count(worker_t *w)
{
    return 1 + (int) next_random(&w->random, 0 == next_random(&w->random, 5) ? WORKER_LARGE : 400);
}

/* Of an operation that the counters are to show. */
static inline int worker_number(worker_t *w, collective_kind_t kind, int count)
{
    if (NULL == w->work->sizes) {
        collective_count(&w->expected, kind);
    } else {
        sizes_count(w->work->sizes, &w->expected, count);
    }
    return w->number * 1000000 + ++w->operation;
}

static inline void worker_block(worker_t *w, MPI_Comm comm, collective_kind_t kind)
{
    int count = worker_count(w);

    collective_now("blocking", kind, comm, worker_number(w, kind, count), count);
}

static inline void worker_begin(worker_t *w, MPI_Comm comm, collective_kind_t kind,
                                collective_t *c, MPI_Request *request)
{
    int count = worker_count(w);

    collective_start(c, kind, comm, worker_number(w, kind, count), count, request);
}

static inline void worker_start(worker_t *w)
{
    for (int i = 0; i < WORKER_FLYING; i++) {
        worker_begin(w, w->comm, worker_kind(w), &w->flying[i], &w->requests[i]);
    }
}

static inline void worker_finish(worker_t *w)
{
    MPI_Waitall(WORKER_FLYING, w->requests, MPI_STATUSES_IGNORE);
    for (int i = 0; i < WORKER_FLYING; i++) {
        collective_check("nonblocking", &w->flying[i]);
    }
}

/* Frees a communicator while such an operation is pending on it. */
static inline void worker_free(worker_t *w, MPI_Comm *comm, collective_kind_t kind)
{
    MPI_Request request;
    collective_t c;

    worker_begin(w, *comm, kind, &c, &request);
    MPI_Comm_free(comm);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    collective_check("copy", &c);
}

static inline void *worker_run(void *arg)
{
    worker_t *w = arg;
    worker_t *neighbour = &workers[(w->number + 1) % WORKERS];

    for (int i = 0; i < w->repetitions; i++) {
        if (0 == w->number % 2) {
            worker_block(w, w->comm, worker_kind(w));
        }
        worker_start(w);
        /* what the neighbour has begun may need what this thread does, and the other way around */
        pthread_barrier_wait(&workers_barrier);
        worker_finish(neighbour);
        pthread_barrier_wait(&workers_barrier);
        w->work->duplicate(w, i);
        worker_block(w, w->comm, worker_kind(w));
        worker_start(w);
        worker_finish(w);
    }
    return NULL;
}

static inline void workers_add(counters_t *sum, const counters_t *one)
{
    sum->allreduce_offloaded += one->allreduce_offloaded;
    sum->allgather_offloaded += one->allgather_offloaded;
    sum->bcast_offloaded += one->bcast_offloaded;
    sum->fallbacks_size += one->fallbacks_size;
    sum->groups += one->groups;
}

static inline void workers_make(const work_t *work, int repetitions)
{
    pthread_barrier_init(&workers_barrier, NULL, WORKERS);
    for (int i = 0; i < WORKERS; i++) {
        workers[i] = (worker_t) {.work = work, .number = i, .repetitions = repetitions,
                                 .expected.groups = work->groups, .random = mix64((uint64_t) i)};
        MPI_Comm_dup(MPI_COMM_WORLD, &workers[i].comm);
    }
}

static inline void workers_free(void)
{
    for (int i = 0; i < WORKERS; i++) {
        MPI_Comm_free(&workers[i].comm);
    }
    pthread_barrier_destroy(&workers_barrier);
}

/* All of a program: PROGRAM [REPETITIONS]. Returns its exit status. */
static inline int workers_main(int argc, char **argv, const work_t *work)
{
    counters_t before, expected = {.fallbacks_order = ANY};
    pthread_t threads[WORKERS];
    int provided, status;

    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
    if (MPI_THREAD_MULTIPLE != provided) {
        wrong("MPI offers thread level %d only", provided);
    }
    before = counters_read();
    workers_make(work, argc > 1 ? atoi(argv[1]) : 20);
    for (int i = 0; i < WORKERS; i++) {
        pthread_create(&threads[i], NULL, worker_run, &workers[i]);
    }
    for (int i = 0; i < WORKERS; i++) {
        pthread_join(threads[i], NULL);
        workers_add(&expected, &workers[i].expected);
    }
    workers_free();
    if (NULL != work->expect) {
        work->expect(&expected);
    }
    counters_moved("threads", &before, expected);
    pvars_end();
    status = conclude(work->name);
    MPI_Finalize();
    return status;
}

#endif
