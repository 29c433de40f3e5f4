/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Allgather, Allgatherv and Bcast of more bytes than an int can count.
 *
 * usage: big_cast [gaps]
 * gaps: also a Bcast of as many bytes of a type with gaps
 */
#include <limits.h>
#include <string.h>

#include "check.h"
#include "pvars.h"

#define COUNT ((1 << 27) + 5) /* of each of two blocks */

static int rank, ranks;

/* No two elements are alike, so none can be in the place of another. */
static int64_t element(int block, int index)
{
    return (int64_t) block << 40 | index;
}

static void fill(int64_t *block, int number)
{
    for (int i = 0; i < COUNT; i++) {
        block[i] = element(number, i);
    }
}

static void check_block(const char *what, const int64_t *block, int number)
{
    for (int i = 0; i < COUNT; i++) {
        if (element(number, i) != block[i]) {
            wrong("%s: element %d of block %d is %#llx", what, i, number,
                  (unsigned long long) block[i]);
            return;
        }
    }
}

static void gather(int64_t *all)
{
    fill(all + (size_t) rank * COUNT, rank);
    MPI_Allgather(MPI_IN_PLACE, COUNT, MPI_INT64_T, all, COUNT, MPI_INT64_T, MPI_COMM_WORLD);
    for (int i = 0; i < ranks; i++) {
        check_block("Allgather", all + (size_t) i * COUNT, i);
    }
}

/* The blocks the other way around. */
static void gather_different(int64_t *all)
{
    int counts[2] = {COUNT, COUNT}, displs[2] = {COUNT, 0};

    memset(all, 0, (size_t) ranks * COUNT * sizeof(*all));
    fill(all + displs[rank], rank);
    MPI_Allgatherv(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, all, counts, displs, MPI_INT64_T,
                   MPI_COMM_WORLD);
    for (int i = 0; i < ranks; i++) {
        check_block("Allgatherv", all + displs[i], i);
    }
}

static void broadcast(int64_t *all)
{
    MPI_Datatype pair;

    memset(all, 0, 2 * sizeof(*all) * COUNT);
    if (1 == rank) {
        fill(all, 7);
        fill(all + COUNT, 8);
    }
    MPI_Type_contiguous(2, MPI_INT64_T, &pair);
    MPI_Type_commit(&pair);
    MPI_Bcast(all, COUNT, pair, 1, MPI_COMM_WORLD);
    MPI_Type_free(&pair);
    check_block("Bcast", all, 7);
    check_block("Bcast", all + COUNT, 8);
}

/* Two of three elements. */
static void broadcast_gaps(void)
{
    int64_t *all = must(malloc(3 * sizeof(*all) * COUNT));
    MPI_Datatype pair, gapped;
    int i = 0;

    memset(all, 0, 3 * sizeof(*all) * COUNT);
    for (i = 0; 0 == rank && i < COUNT; i++) {
        all[3 * (size_t) i] = element(1, i);
        all[3 * (size_t) i + 1] = element(2, i);
    }
    MPI_Type_contiguous(2, MPI_INT64_T, &pair);
    MPI_Type_create_resized(pair, 0, 3 * sizeof(*all), &gapped);
    MPI_Type_commit(&gapped);
    MPI_Bcast(all, COUNT, gapped, 0, MPI_COMM_WORLD);
    for (i = 0; i < COUNT && element(1, i) == all[3 * (size_t) i]
                && element(2, i) == all[3 * (size_t) i + 1] && 0 == all[3 * (size_t) i + 2]; i++) {
        continue;
    }
    if (i < COUNT) {
        wrong("Bcast with gaps: element %d is %#llx, %#llx and %#llx", i,
              (unsigned long long) all[3 * (size_t) i],
              (unsigned long long) all[3 * (size_t) i + 1],
              (unsigned long long) all[3 * (size_t) i + 2]);
    }
    MPI_Type_free(&pair);
    MPI_Type_free(&gapped);
    free(all);
}

int main(int argc, char **argv)
{
    unsigned long long bcasts = argc > 1 ? 2 : 1;
    int64_t *all;
    int status;

    _Static_assert(2 * sizeof(*all) * COUNT > INT_MAX, "this is not big");
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    if (2 != ranks) {
        wrong("this is for 2 ranks");
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
    all = must(malloc(2 * sizeof(*all) * COUNT));
    gather(all);
    gather_different(all);
    broadcast(all);
    free(all);
    if (bcasts > 1) {
        broadcast_gaps();
    }
    if (2 != pvar_read("allgather_offloaded") || bcasts != pvar_read("bcast_offloaded")) {
        wrong("%llu and %llu were offloaded", pvar_read("allgather_offloaded"),
              pvar_read("bcast_offloaded"));
    }
    pvars_end();
    status = conclude("big_cast");
    MPI_Finalize();
    return status;
}
