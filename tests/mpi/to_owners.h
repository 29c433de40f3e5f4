/* SPDX-License-Identifier: BSD-3-Clause */
/* A Reduce and a Reduce_scatter_block at once, checked, and how many of them were offloaded. */
#ifndef TESTS_MPI_TO_OWNERS_H
#define TESTS_MPI_TO_OWNERS_H

#include "check.h"
#include "pvars.h"

static inline double to_owners_sum(int number, int size, int index)
{
    return size * (size - 1) / 2.0 + (double) size * (number + index);
}

static inline void to_owners_check(const char *what, const double *result, int number, int size,
                                   int first, int count)
{
    for (int i = 0; i < count; i++) {
        if (to_owners_sum(number, size, first + i) != result[i]) {
            wrong("%s %d: element %d is %g instead of %g", what, number, first + i, result[i],
                  to_owners_sum(number, size, first + i));
            break;
        }
    }
}

/* Collective over comm: sums of vectors of count elements for each rank, by op, which is a sum. The Reduce is
 * blocking if number is even, the Reduce_scatter_block if it is odd; the root changes with number. */
static inline void reduce_to_owners(MPI_Comm comm, MPI_Op op, int number, int count)
{
    MPI_Request request;
    int rank, size, root;
    double *send, *all, *block;

    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &size);
    root = number % size;
    send = must(malloc(sizeof(*send) * count * size));
    all = must(calloc((size_t) count * size, sizeof(*all)));
    block = must(calloc(count, sizeof(*block)));
    for (int i = 0; i < count * size; i++) {
        send[i] = rank + number + i;
    }
    if (0 == number % 2) {
        MPI_Ireduce_scatter_block(send, block, count, MPI_DOUBLE, op, comm, &request);
        MPI_Reduce(send, all, count * size, MPI_DOUBLE, op, root, comm);
    } else {
        MPI_Ireduce(send, all, count * size, MPI_DOUBLE, op, root, comm, &request);
        MPI_Reduce_scatter_block(send, block, count, MPI_DOUBLE, op, comm);
    }
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    to_owners_check("Reduce", all, number, size, 0, rank == root ? count * size : 0);
    to_owners_check("Reduce_scatter_block", block, number, size, rank * count, count);
    free(send);
    free(all);
    free(block);
}

/* So many of each have been offloaded since the process began. */
static inline void to_owners_offloaded(unsigned long long expected)
{
    unsigned long long reduces = pvar_read("reduce_offloaded");
    unsigned long long scatters = pvar_read("reduce_scatter_offloaded");

    if (reduces != expected || scatters != expected) {
        wrong("%llu Reduces and %llu Reduce_scatters offloaded instead of %llu", reduces, scatters,
              expected);
    }
}

#endif
