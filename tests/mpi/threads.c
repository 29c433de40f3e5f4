/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * MPI_THREAD_MULTIPLE: each thread of a rank reduces on a communicator of its own, duplicates it
 * and frees the duplicate; and requests of one thread are waited for by another.
 *
 * usage: threads REPETITIONS
 */
#include "workers.h"

/* Of the thread's own communicator; other threads do the same with theirs. */
static void duplicate(worker_t *w, int repetition)
{
    MPI_Request request;
    MPI_Comm copy;

    if (0 == next_random(&w->random, 2)) {
        MPI_Comm_dup(w->comm, &copy);
    } else {
        MPI_Comm_idup(w->comm, &copy, &request);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
    }
    w->expected.groups++;
    if (0 != (w->number + repetition) % 3) {
        worker_block(w, copy, ALLREDUCE);
    }
    worker_free(w, &copy, ALLREDUCE);
}

int main(int argc, char **argv)
{
    return workers_main(argc, argv, &(work_t) {.name = "threads", .kinds = 1, .groups = 1,
                                               .duplicate = duplicate});
}
