/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * One rank's allocations fail, each in turn, while a communicator or a persistent operation is made: all ranks
 * go on with the same modules and the same numbers. Or all of them fail from one on: the job ends.
 *
 * usage: no_memory each
 *        no_memory all COMMUNICATOR|OPERATION
 */
#include <dlfcn.h>
#include <stdbool.h>
#include <string.h>

#include "collectives.h"
#include "persistent.h"

#define COUNT 5000
#define MOST  200

static void (*shim_fail)(long after, long count);
static unsigned long (*shim_end)(void);
static int rank, size;

static void fail(long after, long count)
{
    if (1 == rank) {
        shim_fail(after, count);
    }
}

/* Whether something has failed, on all ranks. */
static bool has_failed(void)
{
    unsigned long failed = 1 == rank ? shim_end() : 0;

    MPI_Bcast(&failed, 1, MPI_UNSIGNED_LONG, 1, MPI_COMM_WORLD);
    return 0 != failed;
}

typedef struct {
    int *send, *recv, *all, *counts, *displs;
    MPI_Request requests[2];
} operations_t;

static void make(operations_t *o, MPI_Comm comm)
{
    o->send = must(calloc(COUNT, sizeof(int)));
    o->recv = must(calloc(COUNT, sizeof(int)));
    o->all = must(calloc((size_t) size * (COUNT + 1), sizeof(int)));
    o->counts = must(calloc((size_t) size, sizeof(int)));
    o->displs = must(calloc((size_t) size, sizeof(int)));
    for (int i = 0; i < size; i++) {
        o->counts[i] = COUNT;
        o->displs[i] = i * (COUNT + 1);
    }
    MPI_Allreduce_init(o->send, o->recv, COUNT, MPI_INT, MPI_SUM, comm, MPI_INFO_NULL, &o->requests[0]);
    MPI_Allgatherv_init(o->send, COUNT, MPI_INT, o->all, o->counts, o->displs, MPI_INT, comm,
                        MPI_INFO_NULL, &o->requests[1]);
}

/* Also what comes next of Open MPI's own nonblocking collectives, which are numbered. */
static void use(operations_t *o, MPI_Comm comm, long after)
{
    MPI_Request barrier;

    begin_sync(comm, &barrier);
    MPI_Wait(&barrier, MPI_STATUS_IGNORE);
    for (int i = 0; i < COUNT; i++) {
        o->send[i] = rank + i;
    }
    MPI_Start(&o->requests[1]);
    MPI_Start(&o->requests[0]);
    MPI_Waitall(2, o->requests, MPI_STATUSES_IGNORE);
    for (int i = 0; i < COUNT; i++) {
        if (o->recv[i] != size * i + size * (size - 1) / 2) {
            wrong("after %ld allocations: sum %d is %d", after, i, o->recv[i]);
            break;
        }
    }
    for (int r = 0; r < size; r++) {
        if (o->all[r * (COUNT + 1) + 7] != r + 7 || o->all[r * (COUNT + 1) + COUNT] != 0) {
            wrong("after %ld allocations: the block of rank %d", after, r);
        }
    }
    for (int i = 0; i < 2; i++) {
        MPI_Request_free(&o->requests[i]);
    }
    free(o->send);
    free(o->recv);
    free(o->all);
    free(o->counts);
    free(o->displs);
}

/* Returns whether there was an allocation to fail. */
static bool with_failure_while_made(long after, bool in_communicator)
{
    operations_t o;
    MPI_Comm comm;
    bool failed = false;

    if (in_communicator) {
        fail(after, 1);
    }
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    if (in_communicator) {
        failed = has_failed();
        collective_now("communicator", ALLREDUCE, comm, 1, COUNT);
        collective_now("communicator", ALLGATHER, comm, 2, COUNT);
    }
    if (!in_communicator) {
        fail(after, 1);
    }
    make(&o, comm);
    if (!in_communicator) {
        failed = has_failed();
    }
    use(&o, comm, after);
    MPI_Comm_free(&comm);
    return failed;
}

static void fail_each(bool in_communicator)
{
    long after = 0;

    while (after < MOST && with_failure_while_made(after, in_communicator)) {
        after++;
    }
    if (after < 2 || MOST == after) {
        wrong("%ld allocations have failed", after);
    }
}

int main(int argc, char **argv)
{
    bool all = argc > 2 && 0 == strcmp(argv[1], "all");
    unsigned long long before;
    MPI_Comm comm;
    operations_t o;
    int status;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    *(void **) &shim_fail = must(dlsym(RTLD_DEFAULT, "shim_fail"));
    *(void **) &shim_end = must(dlsym(RTLD_DEFAULT, "shim_end"));
    before = pvar_read("fallbacks_setup");
    if (all) {
        MPI_Comm_dup(MPI_COMM_WORLD, &comm);
        fail(0, -1);
        if (0 == strcmp(argv[2], "COMMUNICATOR")) {
            MPI_Comm_dup(MPI_COMM_WORLD, &comm);
        } else {
            make(&o, comm);
        }
        collective_now("all", ALLREDUCE, comm, 1, COUNT);
        wrong("the job goes on");
    } else {
        fail_each(true);
        fail_each(false);
    }
    if (pvar_read("fallbacks_setup") != before) {
        wrong("%llu operations were left to Open MPI", pvar_read("fallbacks_setup") - before);
    }
    pvars_end();
    status = conclude("no_memory");
    MPI_Finalize();
    return status;
}
