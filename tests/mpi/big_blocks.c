/* SPDX-License-Identifier: BSD-3-Clause */
/* Reduce_scatters, in place, of more elements together than an int can count: equal blocks, and one
 * block that has almost all of them. */
#include <limits.h>

#include "check.h"
#include "pvars.h"

#define RANKS  2
#define BLOCK  ((1 << 30) + 5)
#define LITTLE 12

/* Elements that are close to each other differ, and so do those of two ranks. */
static uint8_t contribution(int rank, long long index)
{
    return (uint8_t) (((unsigned long long) index * 0x9e3779b97f4a7c15u >> 40) + 77u * rank);
}

static uint8_t expected(long long index)
{
    uint8_t sum = 0;

    for (int rank = 0; rank < RANKS; rank++) {
        sum ^= (uint8_t) (contribution(rank, index) * (rank + 1));
    }
    return sum;
}

static void fill(uint8_t *vector, int rank, long long elements)
{
    for (long long i = 0; i < elements; i++) {
        vector[i] = (uint8_t) (contribution(rank, i) * (rank + 1));
    }
}

static void check_block(const char *what, const uint8_t *block, long long first, int count)
{
    for (int i = 0; i < count; i++) {
        if (expected(first + i) != block[i]) {
            wrong("%s: element %d of the block from %lld on is %d instead of %d", what, i, first,
                  block[i], expected(first + i));
            return;
        }
    }
}

/* In rank order a rank sends all that it has, and gets the result of its own block alone. */
static void check_counters(const char *what, unsigned long long sent, unsigned long long received)
{
    static unsigned long long offloaded, sent_before, received_before;
    unsigned long long moved = pvar_read("reduce_scatter_offloaded") - offloaded;
    unsigned long long out = pvar_read("bytes_sent") - sent_before;
    unsigned long long in = pvar_read("bytes_received") - received_before;

    offloaded += moved;
    sent_before += out;
    received_before += in;
    if (1 != moved || out != sent || in != received) {
        wrong("%s: %llu offloaded, %llu bytes sent, %llu received; instead of 1, %llu, %llu", what,
              moved, out, in, sent, received);
    }
}

static void equal_blocks(uint8_t *vector, int rank)
{
    long long first = (long long) rank * BLOCK;

    _Static_assert((long long) RANKS * BLOCK > INT_MAX, "this is not big");
    fill(vector, rank, (long long) RANKS * BLOCK);
    MPI_Reduce_scatter_block(MPI_IN_PLACE, vector, BLOCK, MPI_UINT8_T, MPI_BXOR, MPI_COMM_WORLD);
    check_block("equal blocks", vector, first, BLOCK);
    check_counters("equal blocks", (unsigned long long) RANKS * BLOCK, BLOCK);
}

static void unequal_blocks(uint8_t *vector, int rank)
{
    const int counts[RANKS] = {INT_MAX, LITTLE};

    fill(vector, rank, (long long) INT_MAX + LITTLE);
    MPI_Reduce_scatter(MPI_IN_PLACE, vector, counts, MPI_UINT8_T, MPI_BXOR, MPI_COMM_WORLD);
    check_block("unequal blocks", vector, 0 == rank ? 0 : INT_MAX, counts[rank]);
    check_counters("unequal blocks", (unsigned long long) INT_MAX + LITTLE, counts[rank]);
}

int main(int argc, char **argv)
{
    int rank, status;
    uint8_t *vector;

    MPI_Init(&argc, &argv);
    vector = must(malloc((size_t) RANKS * BLOCK));
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    equal_blocks(vector, rank);
    unequal_blocks(vector, rank);
    free(vector);
    pvars_end();
    status = conclude("big_blocks");
    MPI_Finalize();
    return status;
}
