/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * MPI_THREAD_MULTIPLE: each thread of a rank has a communicator of its own and does collectives of
 * all services on it; requests of one thread are waited for by another.
 *
 * usage: cast_threads REPETITIONS
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

int main(int argc, char **argv)
{
    /* each thread's communicator has both services */
    return workers_main(argc, argv, &(work_t) {.name = "cast_threads", .kinds = NUM_COLLECTIVES,
                                               .groups = 2, .duplicate = duplicate});
}
