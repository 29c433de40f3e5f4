/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * One rank has no memory for the temporaries of its part of a blocking Allgather, each in turn: all ranks get an error, and
 * none waits for it. With memory for all of them the blocks are right, and are offloaded.
 */
#include <dlfcn.h>
#include <stdbool.h>

#include "check.h"
#include "pvars.h"

#define LENGTH 5000
#define MOST   100

static void (*shim_fail)(long after, long count);
static unsigned long (*shim_end)(void);
static size_t *shim_least;
static int rank, size;

/* Whether an allocation of rank 1 has failed, on all ranks: by what nobody offloads. */
static bool has_failed(void)
{
    unsigned long failed = 1 == rank ? shim_end() : 0, each[16], common = 0;

    for (int i = 0; i < size; i++) {
        each[i] = failed;
    }
    MPI_Scatter(each, 1, MPI_UNSIGNED_LONG, &common, 1, MPI_UNSIGNED_LONG, 1, MPI_COMM_WORLD);
    return 0 != common;
}

/* Of every second int, on both sides: no rows, so there are temporaries. */
static int gather(MPI_Comm comm, int seed, bool too_long)
{
    int *in = must(calloc(4 * LENGTH, sizeof(*in)));
    int *out = must(calloc(2 * (size_t) size * LENGTH, sizeof(*out)));
    MPI_Datatype vector, one, sent;
    int rc;

    MPI_Type_vector(1, 1, 2, MPI_INT, &vector);
    MPI_Type_create_resized(vector, 0, 2 * sizeof(int), &one);
    MPI_Type_contiguous(too_long ? 2 * LENGTH : LENGTH, one, &sent);
    MPI_Type_commit(&one);
    MPI_Type_commit(&sent);
    for (int i = 0; i < 2 * LENGTH; i++) {
        in[2 * i] = rank * LENGTH + i + seed;
    }
    rc = MPI_Allgather(in, 1, sent, out, LENGTH, one, comm);
    for (int i = 0; MPI_SUCCESS == rc && i < size * LENGTH; i++) {
        if (i + seed != out[2 * i] || 0 != out[2 * i + 1]) {
            wrong("element %d is %d, and %d is behind it", i, out[2 * i], out[2 * i + 1]);
            break;
        }
    }
    MPI_Type_free(&vector);
    MPI_Type_free(&one);
    MPI_Type_free(&sent);
    free(in);
    free(out);
    return rc;
}

/* The last rank that has all the memory it wants does not count. */
static bool try_without(long after, bool too_long)
{
    unsigned long long before;
    char text[MPI_MAX_ERROR_STRING];
    MPI_Comm comm;
    bool failed;
    int rc, length;

    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
    rc = gather(comm, 1, false);
    if (MPI_SUCCESS != rc) {
        MPI_Error_string(rc, text, &length);
        wrong("there is an error without a reason: %s", text);
    }
    /* the end of a group may reach ranks that have not left the operation before; nobody offloads this */
    MPI_Barrier(MPI_COMM_WORLD);
    before = pvar_read("allgather_offloaded");
    if (1 == rank) {
        shim_fail(after, 1);
    }
    rc = gather(comm, 2, too_long && 1 == rank);
    failed = has_failed();
    if (failed && MPI_SUCCESS == rc) {
        wrong("allocation %ld: no error", after);
    } else if (!failed && pvar_read("allgather_offloaded") - before != 1) {
        wrong("with all its memory it was not offloaded");
    }
    MPI_Comm_free(&comm);
    return failed;
}

int main(int argc, char **argv)
{
    long tried[2] = {0, 0};
    int status;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    *(void **) &shim_fail = dlsym(RTLD_DEFAULT, "shim_fail");
    *(void **) &shim_end = dlsym(RTLD_DEFAULT, "shim_end");
    shim_least = dlsym(RTLD_DEFAULT, "shim_least");
    if (NULL == shim_fail || NULL == shim_end || NULL == shim_least) {
        wrong("there is no shim");
        exit(EXIT_FAILURE);
    }
    *shim_least = LENGTH * sizeof(int);
    for (int kind = 0; 0 == failures && kind < 2; kind++) {
        while (tried[kind] < MOST && try_without(tried[kind], 1 == kind)) {
            tried[kind]++;
        }
        if (tried[kind] < 1 || MOST == tried[kind]) {
            wrong("%ld allocations could fail", tried[kind]);
        }
    }
    if (tried[1] <= tried[0]) {
        wrong("what is too long needs no memory of its own");
    }
    status = conclude("without memory");
    MPI_Finalize();
    return status;
}
