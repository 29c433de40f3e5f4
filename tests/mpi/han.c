/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Collectives that are left to Open MPI, whose HAN does them by communicators of its own: nothing of these
 * is offloaded, and no group is opened for them. Then some that are offloaded.
 */
#include "collectives.h"

#define COUNT  200000
#define ROUNDS 3

static void add(void *in, void *inout, int *count, MPI_Datatype *type)
{
    const double *from = in;
    double *to = inout;

    (void) type;
    for (int i = 0; i < *count; i++) {
        to[i] += from[i];
    }
}

/* By an operation of the application. */
static void reduce_all(MPI_Op op)
{
    static double send[COUNT], recv[COUNT];
    int rank, size;

    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    for (int i = 0; i < COUNT; i++) {
        send[i] = rank + i;
    }
    MPI_Allreduce(send, recv, COUNT, MPI_DOUBLE, op, MPI_COMM_WORLD);
    for (int i = 0; i < COUNT; i++) {
        if (recv[i] != size * (size - 1) / 2.0 + (double) size * i) {
            wrong("element %d is %g", i, recv[i]);
            break;
        }
    }
}

int main(int argc, char **argv)
{
    counters_t before, expected = {.fallbacks_order = ANY};
    MPI_Op op;
    int status;

    MPI_Init(&argc, &argv);
    MPI_Op_create(add, 1, &op);
    before = counters_read();
    for (int round = 0; round < ROUNDS; round++) {
        reduce_all(op);
    }
    expected.fallbacks_op = ROUNDS;
    counters_moved("left", &before, expected);
    for (collective_kind_t kind = 0; kind < NUM_COLLECTIVES; kind++) {
        collective_now("offloaded", kind, MPI_COMM_WORLD, 1, COUNT);
        collective_count(&expected, kind);
    }
    expected.groups = 2;
    counters_moved("offloaded", &before, expected);
    MPI_Op_free(&op);
    status = conclude("han");
    MPI_Finalize();
    return status;
}
