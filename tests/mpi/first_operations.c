/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The first Allgather of each of several communicators, one after the other: how long it takes,
 * with all of the set-up, and whether it was offloaded. Every word is checked.
 *
 * usage: first_operations [NAME=VALUE]... COMMUNICATOR...
 *   COMMUNICATOR is "all", all ranks; "less", all but the last one; or "away": all ranks, and the
 *   operation is nonblocking, with rank AWAY elsewhere a while after it has begun it.
 *   away=RANK     (1)
 *   stays=S       seconds before it leaves (0)
 *   seconds=S     that it is elsewhere (1)
 *
 * Prints of each "communicator N: M ms, offloaded" or "left", as rank 0 sees it.
 */
#include <stdbool.h>
#include <string.h>

#include "check.h"
#include "pvars.h"

#define WORDS 20000

static int away = 1, rank, size;
static double stays, seconds = 1;

static uint64_t word_of(int owner, int index)
{
    return mix64((uint64_t) owner << 32 | (uint64_t) index);
}

static void check_words(const uint64_t *words, int ranks)
{
    for (int owner = 0; owner < ranks; owner++) {
        for (int i = 0; i < WORDS; i++) {
            if (words[(size_t) owner * WORDS + i] != word_of(owner, i)) {
                wrong("word %d of rank %d is wrong", i, owner);
                return;
            }
        }
    }
}

static void gather(const uint64_t *own, uint64_t *all, MPI_Comm comm, bool nonblocking)
{
    double leaves = MPI_Wtime() + stays, returns = leaves + seconds;
    MPI_Request request;
    int over = 0;

    if (!nonblocking) {
        MPI_Allgather(own, WORDS, MPI_UINT64_T, all, WORDS, MPI_UINT64_T, comm);
        return;
    }
    MPI_Iallgather(own, WORDS, MPI_UINT64_T, all, WORDS, MPI_UINT64_T, comm, &request);
    while (rank == away && MPI_Wtime() < leaves && !over) {
        MPI_Test(&request, &over, MPI_STATUS_IGNORE);
    }
    while (rank == away && MPI_Wtime() < returns) {
    }
    MPI_Wait(&request, MPI_STATUS_IGNORE);
}

static void first_of(MPI_Comm comm, int number, bool nonblocking)
{
    uint64_t *own = must(calloc(WORDS, sizeof(*own)));
    uint64_t *all = must(calloc((size_t) size * WORDS, sizeof(*all)));
    unsigned long long before = pvar_read("allgather_offloaded");
    double start;
    int ranks;

    MPI_Comm_size(comm, &ranks);
    for (int i = 0; i < WORDS; i++) {
        own[i] = word_of(rank, i);
    }
    sync_all(comm);
    start = MPI_Wtime();
    gather(own, all, comm, nonblocking);
    if (0 == rank) {
        printf("communicator %d: %d ms, %s\n", number, (int) (1000 * (MPI_Wtime() - start)),
               pvar_read("allgather_offloaded") > before ? "offloaded" : "left");
        fflush(stdout);
    }
    check_words(all, ranks);
    free(own);
    free(all);
}

/* Of the first so many ranks; without an Allgather of all, which would be the first one. */
static MPI_Comm derive(int ranks, int number)
{
    int range[3] = {0, ranks - 1, 1};
    MPI_Group world, group;
    MPI_Comm comm = MPI_COMM_NULL;

    MPI_Comm_group(MPI_COMM_WORLD, &world);
    MPI_Group_range_incl(world, 1, &range, &group);
    if (rank < ranks) {
        MPI_Comm_create_group(MPI_COMM_WORLD, group, number, &comm);
    }
    MPI_Group_free(&group);
    MPI_Group_free(&world);
    return comm;
}

static void use(const char *kind, int number)
{
    MPI_Comm comm = derive(0 == strcmp(kind, "less") ? size - 1 : size, number);

    if (MPI_COMM_NULL != comm) {
        first_of(comm, number, 0 == strcmp(kind, "away"));
        MPI_Comm_free(&comm);
    }
    sync_all(MPI_COMM_WORLD);
}

int main(int argc, char **argv)
{
    int status, number = 0;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    for (int i = 1; i < argc; i++) {
        if (1 != sscanf(argv[i], "away=%d", &away) && 1 != sscanf(argv[i], "stays=%lf", &stays)
            && 1 != sscanf(argv[i], "seconds=%lf", &seconds)) {
            use(argv[i], number++);
        }
    }
    status = conclude("first_operations");
    pvars_end();
    MPI_Finalize();
    return status;
}
