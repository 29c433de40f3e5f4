/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Collectives that are left to Open MPI, some of whose components do them by communicators of their own: nothing
 * of these is offloaded, and no group is opened for them. Then some that are offloaded, and both in turns.
 *
 * usage: below always|auto
 * auto: small ones are left, too.
 */
#include "collectives.h"
#include "to_owners.h"

#define COUNT  200000
#define SMALL  100
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

/* Of all kinds, blocking and not; in a round of its own numbers. */
static void do_all(const char *what, int round, int count)
{
    collective_t pending[NUM_COLLECTIVES];
    MPI_Request requests[NUM_COLLECTIVES];

    for (collective_kind_t kind = 0; kind < NUM_COLLECTIVES; kind++) {
        collective_now(what, kind, MPI_COMM_WORLD, 10 * round + (int) kind, count);
    }
    for (collective_kind_t kind = 0; kind < NUM_COLLECTIVES; kind++) {
        collective_start(&pending[kind], kind, MPI_COMM_WORLD, 100 + 10 * round + (int) kind, count,
                         &requests[kind]);
    }
    MPI_Waitall(NUM_COLLECTIVES, requests, MPI_STATUSES_IGNORE);
    for (collective_kind_t kind = 0; kind < NUM_COLLECTIVES; kind++) {
        collective_check(what, &pending[kind]);
    }
}

int main(int argc, char **argv)
{
    bool is_auto = argc > 1 && 0 == strcmp(argv[1], "auto");
    counters_t before, expected = {.fallbacks_order = ANY};
    MPI_Op op;
    int status;

    MPI_Init(&argc, &argv);
    MPI_Op_create(add, 1, &op);
    before = counters_read();
    for (int round = 0; round < ROUNDS; round++) {
        reduce_all(op);
        reduce_to_owners(MPI_COMM_WORLD, op, round, SMALL);
        /* mode auto looks at the size first */
        expected.fallbacks_op += is_auto ? 1 : 3;
        expected.fallbacks_size += is_auto ? 2 : 0;
        if (is_auto) {
            do_all("small", round, SMALL);
            reduce_to_owners(MPI_COMM_WORLD, MPI_SUM, round, SMALL);
            expected.fallbacks_size += 2 * NUM_COLLECTIVES + 2;
        }
    }
    counters_moved("left", &before, expected);
    to_owners_offloaded(0);
    expected.groups = 2;
    for (int round = ROUNDS; round < 2 * ROUNDS; round++) {
        do_all("large", round, COUNT);
        for (collective_kind_t kind = 0; kind < NUM_COLLECTIVES; kind++) {
            collective_count(&expected, kind);
            collective_count(&expected, kind);
        }
        reduce_all(op);
        expected.fallbacks_op++;
        reduce_to_owners(MPI_COMM_WORLD, MPI_SUM, round, COUNT / 5);
        counters_moved("large", &before, expected);
        to_owners_offloaded((unsigned long long) (round - ROUNDS + 1));
    }
    MPI_Op_free(&op);
    status = conclude("below");
    MPI_Finalize();
    return status;
}
