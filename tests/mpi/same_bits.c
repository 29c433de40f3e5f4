/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Prints a hash of floating-point sums and products of fixed inputs, which is the same whatever
 * servers, chunks and windows computed them.
 *
 * usage: same_bits [REPEATS]
 */
#include <string.h>

#include "check.h"
#include "pvars.h"

#define LONGEST 150001

static const int counts[] = {1, 5, 100, 1000, 4097, 20000, LONGEST};
#define NUM_COUNTS (sizeof(counts) / sizeof(counts[0]))

static uint64_t hash_bytes(uint64_t hash, const void *data, size_t bytes)
{
    const unsigned char *at = data;

    for (size_t i = 0; i < bytes; i++) {
        hash = (hash ^ at[i]) * 0x100000001b3u;
    }
    return hash;
}

/* Of very different sizes for sums, around 1 for products. */
static double input(int rank, int i, MPI_Op op)
{
    uint64_t bits = mix64(mix64((uint64_t) rank + 1) ^ (uint64_t) i);
    double mantissa = 1.0 + (double) (bits >> 12) / 0x1p52;

    if (MPI_PROD == op) {
        return mantissa;
    }
    return (bits & 1 ? mantissa : -mantissa) * (double) (1u << (bits / 2 % 24));
}

static uint64_t hash_of(MPI_Datatype type, MPI_Op op, int count, int rank, int nonblocking)
{
    size_t size = MPI_FLOAT == type ? sizeof(float) : sizeof(double);
    size_t bytes = (size_t) count * size;
    void *send = must(malloc(bytes)), *recv = must(malloc(bytes));
    MPI_Request request = MPI_REQUEST_NULL;
    uint64_t hash;

    for (int i = 0; i < count; i++) {
        if (MPI_FLOAT == type) {
            ((float *) send)[i] = (float) input(rank, i, op);
        } else {
            ((double *) send)[i] = input(rank, i, op);
        }
    }
    if (nonblocking) {
        MPI_Iallreduce(send, recv, count, type, op, MPI_COMM_WORLD, &request);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
    } else {
        MPI_Allreduce(send, recv, count, type, op, MPI_COMM_WORLD);
    }
    hash = hash_bytes(0xcbf29ce484222325u, recv, bytes);
    free(send);
    free(recv);
    return hash;
}

static uint64_t hash_all(int rank)
{
    const MPI_Datatype types[] = {MPI_FLOAT, MPI_DOUBLE};
    const MPI_Op ops[] = {MPI_SUM, MPI_PROD};
    uint64_t all = 0xcbf29ce484222325u;

    for (size_t i = 0; i < NUM_COUNTS; i++) {
        for (int k = 0; k < 8; k++) {
            uint64_t one = hash_of(types[k & 1], ops[k >> 1 & 1], counts[i], rank, k >> 2);

            all = hash_bytes(all, &one, sizeof(one));
        }
    }
    return all;
}

static void compare(uint64_t hash, int rank)
{
    uint64_t first = hash;

    MPI_Bcast(&first, 1, MPI_UINT64_T, 0, MPI_COMM_WORLD);
    if (first != hash) {
        wrong("hash %016llx, and %016llx on rank 0", (unsigned long long) hash,
              (unsigned long long) first);
    }
    if (0 == rank) {
        printf("hash %016llx\n", (unsigned long long) hash);
        fflush(stdout);
    }
}

int main(int argc, char **argv)
{
    int rank, repeats = argc > 1 ? atoi(argv[1]) : 1, status;
    unsigned long long offloaded = (unsigned long long) repeats * NUM_COUNTS * 8;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int i = 0; i < repeats; i++) {
        compare(hash_all(rank), rank);
    }
    if (offloaded != pvar_read("allreduce_offloaded") || 0 != pvar_read("fallbacks")) {
        wrong("%llu of %llu operations were offloaded", pvar_read("allreduce_offloaded"),
              offloaded);
    }
    pvars_end();
    status = conclude("same_bits");
    MPI_Finalize();
    return status;
}
