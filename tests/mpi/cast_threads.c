/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * MPI_THREAD_MULTIPLE: each thread of a rank has a communicator of its own and does collectives of
 * all services on it; requests of one thread are waited for by another.
 *
 * usage: cast_threads REPETITIONS
 */
#include <pthread.h>
#include <string.h>

#include "collectives.h"

#define THREADS 4
#define FLYING  6
#define LARGE   30000

typedef struct {
    int number;                /* of the thread */
    int repetitions;
    MPI_Comm comm;
    uint64_t random;           /* equal for the threads of one number on all ranks */
    counters_t expected;
    int operation;
    collective_t flying[FLYING];
    MPI_Request requests[FLYING];
} worker_t;

static worker_t workers[THREADS];
static pthread_barrier_t barrier;

static collective_kind_t next_kind(worker_t *w)
{
    collective_kind_t kind = (collective_kind_t) next_random(&w->random, NUM_COLLECTIVES);

    w->operation++;
    collective_count(&w->expected, kind);
    return kind;
}

static int next_number(const worker_t *w)
{
    return w->number * 1000000 + w->operation;
}

static int some_count(worker_t *w)
{
    return 1 + (int) next_random(&w->random, 0 == next_random(&w->random, 5) ? LARGE : 400);
}

static void block(worker_t *w)
{
    collective_kind_t kind = next_kind(w);

    collective_now("blocking", kind, w->comm, next_number(w), some_count(w));
}

static void start(worker_t *w)
{
    for (int i = 0; i < FLYING; i++) {
        collective_kind_t kind = next_kind(w);

        collective_start(&w->flying[i], kind, w->comm, next_number(w), some_count(w),
                         &w->requests[i]);
    }
}

static void finish(worker_t *w)
{
    MPI_Waitall(FLYING, w->requests, MPI_STATUSES_IGNORE);
    for (int i = 0; i < FLYING; i++) {
        collective_check("nonblocking", &w->flying[i]);
    }
}

/* Of the thread's own communicator; other threads do the same with theirs. */
static void duplicate(worker_t *w)
{
    MPI_Request request;
    MPI_Comm copy;
    collective_t c;

    MPI_Comm_dup(w->comm, &copy);
    w->expected.groups++;
    w->expected.allgather_offloaded += 2;
    collective_now("copy", ALLGATHER, copy, -next_number(w), some_count(w));
    collective_start(&c, ALLGATHERV, copy, -next_number(w), some_count(w), &request);
    MPI_Comm_free(&copy);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    collective_check("copy", &c);
}

static void *run(void *arg)
{
    worker_t *w = arg;
    worker_t *neighbour = &workers[(w->number + 1) % THREADS];

    for (int i = 0; i < w->repetitions; i++) {
        if (0 == w->number % 2) {
            block(w);
        }
        start(w);
        /* what the neighbour has begun may need what this thread does, and the other way around */
        pthread_barrier_wait(&barrier);
        finish(neighbour);
        pthread_barrier_wait(&barrier);
        duplicate(w);
        block(w);
        start(w);
        finish(w);
    }
    return NULL;
}

static void add(counters_t *sum, const counters_t *one)
{
    sum->allreduce_offloaded += one->allreduce_offloaded;
    sum->allgather_offloaded += one->allgather_offloaded;
    sum->bcast_offloaded += one->bcast_offloaded;
    sum->groups += one->groups;
}

int main(int argc, char **argv)
{
    int repetitions = argc > 1 ? atoi(argv[1]) : 20, provided, status;
    counters_t before, expected = {.fallbacks_order = ANY};
    pthread_t threads[THREADS];

    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
    if (MPI_THREAD_MULTIPLE != provided) {
        wrong("MPI offers thread level %d only", provided);
    }
    before = counters_read();
    pthread_barrier_init(&barrier, NULL, THREADS);
    for (int i = 0; i < THREADS; i++) {
        /* each thread's communicator has both services */
        workers[i] = (worker_t) {.number = i, .repetitions = repetitions, .expected.groups = 2,
                                 .random = mix64((uint64_t) i)};
        MPI_Comm_dup(MPI_COMM_WORLD, &workers[i].comm);
    }
    for (int i = 0; i < THREADS; i++) {
        pthread_create(&threads[i], NULL, run, &workers[i]);
    }
    for (int i = 0; i < THREADS; i++) {
        pthread_join(threads[i], NULL);
        add(&expected, &workers[i].expected);
    }
    for (int i = 0; i < THREADS; i++) {
        MPI_Comm_free(&workers[i].comm);
    }
    counters_moved("threads", &before, expected);
    pthread_barrier_destroy(&barrier);
    pvars_end();
    status = conclude("cast_threads");
    MPI_Finalize();
    return status;
}
