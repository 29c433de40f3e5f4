/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * MPI_THREAD_MULTIPLE: each thread of a rank reduces on a communicator of its own, duplicates it
 * and frees the duplicate; and requests of one thread are waited for by another.
 *
 * usage: threads REPETITIONS
 */
#include <pthread.h>
#include <stdbool.h>

#include "counters.h"
#include "sums.h"

#define THREADS 4
#define FLYING  5
#define LARGE   30000

typedef struct {
    int number;                /* of the thread */
    int repetitions;
    MPI_Comm comm;
    uint64_t random;           /* equal for the threads of one number on all ranks */
    unsigned long long offloaded, groups;
    int operation;
    sum_t sums[FLYING];
    MPI_Request requests[FLYING];
} worker_t;

static worker_t workers[THREADS];
static pthread_barrier_t barrier;

static int next_number(worker_t *w)
{
    w->offloaded++;
    return w->number * 1000000 + w->operation++;
}

static int some_count(worker_t *w)
{
    return 1 + (int) next_random(&w->random, 0 == next_random(&w->random, 5) ? LARGE : 400);
}

static void block(worker_t *w)
{
    sum_now("blocking", w->comm, next_number(w), some_count(w));
}

static void start(worker_t *w)
{
    for (int i = 0; i < FLYING; i++) {
        sum_start(&w->sums[i], w->comm, next_number(w), some_count(w), &w->requests[i]);
    }
}

static void finish(worker_t *w)
{
    MPI_Waitall(FLYING, w->requests, MPI_STATUSES_IGNORE);
    for (int i = 0; i < FLYING; i++) {
        sum_check("nonblocking", &w->sums[i]);
    }
}

/* Of the thread's own communicator; other threads do the same with theirs. */
static void duplicate(worker_t *w, bool block_first)
{
    MPI_Request request;
    MPI_Comm copy;
    sum_t s;

    if (0 == next_random(&w->random, 2)) {
        MPI_Comm_dup(w->comm, &copy);
    } else {
        MPI_Comm_idup(w->comm, &copy, &request);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
    }
    w->groups++;
    if (block_first) {
        sum_now("copy", copy, next_number(w), some_count(w));
    }
    sum_start(&s, copy, next_number(w), some_count(w), &request);
    MPI_Comm_free(&copy);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    sum_check("copy", &s);
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
        duplicate(w, (w->number + i) % 3 != 0);
        block(w);
        start(w);
        finish(w);
    }
    return NULL;
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
        workers[i] = (worker_t) {.number = i, .repetitions = repetitions, .groups = 1,
                                 .random = mix64((uint64_t) i)};
        MPI_Comm_dup(MPI_COMM_WORLD, &workers[i].comm);
    }
    for (int i = 0; i < THREADS; i++) {
        pthread_create(&threads[i], NULL, run, &workers[i]);
    }
    for (int i = 0; i < THREADS; i++) {
        pthread_join(threads[i], NULL);
        expected.allreduce_offloaded += workers[i].offloaded;
        expected.groups += workers[i].groups;
    }
    for (int i = 0; i < THREADS; i++) {
        MPI_Comm_free(&workers[i].comm);
    }
    counters_moved("threads", &before, expected);
    pthread_barrier_destroy(&barrier);
    pvars_end();
    status = conclude("threads");
    MPI_Finalize();
    return status;
}
