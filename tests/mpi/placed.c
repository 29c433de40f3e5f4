/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Allreduces whose results show in which order they were added up: compared, bit by bit, with a
 * fold inside each host by rank and then over hosts by lowest rank, for the hosts of the ranks.
 *
 * usage: placed COUNT TIMES. Prints what volume does, and on rank 0 "hosts H H ..." by rank.
 */
#include <string.h>
#include <unistd.h>

#include "check.h"
#include "volume.h"

#define HOST_SIZE 64

static int rank, ranks;
static char (*hosts)[HOST_SIZE];
static int *numbers;     /* of each rank's host: by lowest rank */
static int num_hosts;

static float contribution(int from, int i, int round)
{
    uint64_t bits = mix64((uint64_t) (from + 1) << 40 | (uint64_t) round << 32 | (unsigned) i);
    float mantissa = 1.0f + (float) (bits >> 40) / 0x1p24f;

    return (bits & 1 ? mantissa : -mantissa) * (float) (1u << (bits / 2 % 20));
}

static float in_node_shape(const float *values)
{
    float total = 0;

    for (int host = 0; host < num_hosts; host++) {
        float partial = 0;
        int first = 1;

        for (int r = 0; r < ranks; r++) {
            if (numbers[r] == host) {
                partial = first ? values[r] : partial + values[r];
                first = 0;
            }
        }
        total = 0 == host ? partial : total + partial;
    }
    return total;
}

static float by_rank(const float *values)
{
    float total = values[0];

    for (int r = 1; r < ranks; r++) {
        total += values[r];
    }
    return total;
}

/* How many elements a fold over all ranks gives other bits. */
static int check_bits(const float *sum, int count, int round)
{
    float *values = must(malloc((size_t) ranks * sizeof(*values)));
    int different = 0;

    for (int i = 0; i < count; i++) {
        float expected, flat;

        for (int r = 0; r < ranks; r++) {
            values[r] = contribution(r, i, round);
        }
        expected = in_node_shape(values);
        flat = by_rank(values);
        if (0 != memcmp(&sum[i], &expected, sizeof(expected))) {
            wrong("element %d is %a instead of %a in round %d", i, sum[i], expected, round);
        }
        different += 0 != memcmp(&flat, &expected, sizeof(expected));
    }
    free(values);
    return different;
}

static void find_hosts(void)
{
    char own[HOST_SIZE] = "";

    hosts = must(calloc((size_t) ranks, sizeof(*hosts)));
    numbers = must(calloc((size_t) ranks, sizeof(*numbers)));
    gethostname(own, sizeof(own) - 1);
    MPI_Allgather(own, HOST_SIZE, MPI_CHAR, hosts, HOST_SIZE, MPI_CHAR, MPI_COMM_WORLD);
    for (int r = 0; r < ranks; r++) {
        int same = 0;

        while (0 != strcmp(hosts[same], hosts[r])) {
            same++;
        }
        numbers[r] = same < r ? numbers[same] : num_hosts++;
    }
}

static void tell_hosts(void)
{
    printf("hosts");
    for (int r = 0; r < ranks; r++) {
        printf(" %s", hosts[r]);
    }
    printf("\n");
    fflush(stdout);
}

int main(int argc, char **argv)
{
    int status, count = argc > 2 ? atoi(argv[1]) : 0, times = argc > 2 ? atoi(argv[2]) : 0;
    float *in, *sum;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    find_hosts();
    in = must(malloc((size_t) count * sizeof(*in) + 1));
    sum = must(malloc((size_t) count * sizeof(*sum) + 1));
    for (int round = 0; round < times; round++) {
        for (int i = 0; i < count; i++) {
            in[i] = contribution(rank, i, round);
        }
        MPI_Allreduce(in, sum, count, MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD);
        if (check_bits(sum, count, round) < count / 10) {
            wrong("the order of ranks makes no difference in round %d", round);
        }
    }
    tell_volume(rank, hosts[rank]);
    if (0 == rank) {
        tell_hosts();
    }
    failures += 0 == count || 0 == times;
    status = conclude("placed");
    pvars_end();
    free(in);
    free(sum);
    free(hosts);
    free(numbers);
    MPI_Finalize();
    return status;
}
