/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * MPI_THREAD_MULTIPLE in mode auto: each thread of a rank has a communicator of its own, and on it
 * sums of the sizes that are offloaded and of others that are left to Open MPI, as they come;
 * requests of one thread are waited for by another.
 *
 * usage: auto_threads REPETITIONS SIZES   as those of auto
 */
#include "workers.h"

static sizes_t sizes;

/* Set up by the first sum that might be offloaded, which blocks or does not. */
static void duplicate(worker_t *w, int repetition)
{
    MPI_Request request;
    MPI_Comm copy;
    collective_t c;

    MPI_Comm_dup(w->comm, &copy);
    if (0 == (w->number + repetition) % 2) {
        worker_block(w, copy, ALLREDUCE);
    }
    worker_begin(w, copy, ALLREDUCE, &c, &request);
    /* Open MPI frees no communicator on which it has something to do */
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    collective_check("copy", &c);
    worker_block(w, copy, ALLREDUCE);
    MPI_Comm_free(&copy);
}

/* Where nothing is large enough nothing is set up. */
static void expect_any_groups(counters_t *expected)
{
    expected->groups = ANY;
    if (0 == expected->allreduce_offloaded || 0 == expected->fallbacks_size) {
        wrong("all sums are of one side of the border");
    }
}

int main(int argc, char **argv)
{
    sizes = sizes_parse(argc > 2 ? argv[2] : "never");
    return workers_main(argc, argv, &(work_t) {.name = "auto_threads", .kinds = 1,
                                               .sizes = &sizes, .duplicate = duplicate,
                                               .expect = expect_any_groups});
}
