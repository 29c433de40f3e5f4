/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * MPI_THREAD_MULTIPLE: each thread of a rank has a communicator of its own and does collectives of
 * all services on it; requests of one thread are waited for by another.
 *
 * usage: cast_threads REPETITIONS [declined]
 * declined: there is no multicast, and Open MPI does what it would have done
 */
#include "workers.h"

/* Of the thread's own communicator; other threads do the same with theirs. */
static void duplicate(worker_t *w, int repetition)
{
    MPI_Comm copy;

    (void) repetition;
    MPI_Comm_dup(w->comm, &copy);
    w->expected.groups++;
    worker_block(w, copy, ALLGATHER);
    worker_free(w, &copy, ALLGATHERV);
}

/* Open MPI frees no communicator that has nonblocking collectives of its own. */
static void duplicate_none(worker_t *w, int repetition)
{
    (void) w;
    (void) repetition;
}

static void expect_declined(counters_t *expected)
{
    expected->fallbacks_setup = expected->allgather_offloaded + expected->bcast_offloaded;
    expected->allgather_offloaded = expected->bcast_offloaded = 0;
}

int main(int argc, char **argv)
{
    /* each thread's communicator has both services, or that of Allreduce */
    static const work_t works[] = {
        {.name = "cast_threads", .kinds = NUM_COLLECTIVES, .groups = 2, .duplicate = duplicate},
        {.name = "cast_threads", .kinds = NUM_COLLECTIVES, .groups = 1,
         .duplicate = duplicate_none, .expect = expect_declined}};

    return workers_main(argc, argv, &works[argc > 2]);
}
