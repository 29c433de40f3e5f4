/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A program that survives failures, with Open MPI 5.0 and its ULFM extension: the last rank dies between
 * collectives, the others are told so, revoke, shrink, and go on without it. Nothing is offloaded.
 */
#include <signal.h>
#include <stdbool.h>
#include <unistd.h>

#include <mpi.h>
#include <mpi-ext.h>

#include "check.h"
#include "pvars.h"

#define COUNT  200000
#define BEFORE 5
#define AFTER  5

static int buffer[COUNT], sums[COUNT];

/* Allreduce and Bcast, checked; the first error. */
static int operate(MPI_Comm comm, int number)
{
    int rank, size, rc;

    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &size);
    for (int i = 0; i < COUNT; i++) {
        buffer[i] = rank + i + number;
    }
    rc = MPI_Allreduce(buffer, sums, COUNT, MPI_INT, MPI_SUM, comm);
    for (int i = 0; MPI_SUCCESS == rc && i < COUNT; i++) {
        if (sums[i] != size * (size - 1) / 2 + size * (i + number)) {
            wrong("operation %d: element %d is wrong", number, i);
            break;
        }
    }
    if (MPI_SUCCESS == rc) {
        rc = MPI_Bcast(buffer, COUNT, MPI_INT, 0, comm);
    }
    for (int i = 0; MPI_SUCCESS == rc && i < COUNT; i++) {
        if (buffer[i] != i + number) {
            wrong("operation %d: element %d that was sent is wrong", number, i);
            break;
        }
    }
    return rc;
}

static bool is_failure(int rc)
{
    int class = MPI_SUCCESS;

    MPI_Error_class(rc, &class);
    return MPIX_ERR_PROC_FAILED == class || MPIX_ERR_REVOKED == class;
}

int main(int argc, char **argv)
{
    int rank, size, rc = MPI_SUCCESS;
    MPI_Comm comm, rest;

    MPI_Init(&argc, &argv);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &size);
    for (int i = 0; i < BEFORE; i++) {
        if (MPI_SUCCESS != operate(comm, i)) {
            wrong("operation %d fails, and nobody has died", i);
        }
    }
    if (size - 1 == rank) {
        raise(SIGKILL);
    }
    while (MPI_SUCCESS == rc) {
        rc = operate(comm, BEFORE);
    }
    if (!is_failure(rc)) {
        wrong("error %d is not that a process has failed", rc);
    }
    MPIX_Comm_revoke(comm);
    MPIX_Comm_shrink(comm, &rest);
    for (int i = 0; i < AFTER; i++) {
        if (MPI_SUCCESS != operate(rest, i)) {
            wrong("operation %d fails for those who are left", i);
        }
    }
    if (0 != pvar_read("allreduce_offloaded") + pvar_read("bcast_offloaded")) {
        wrong("something was offloaded");
    }
    MPI_Comm_size(rest, &size);
    if (0 == rank && 0 == failures) {
        printf("ok ulfm: %d are left\n", size);
        fflush(stdout);
    }
    MPI_Comm_free(&rest);
    MPI_Finalize();
    return 0 == failures ? EXIT_SUCCESS : EXIT_FAILURE;
}
