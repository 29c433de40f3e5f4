/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Allgathers on communicators of parts of the ranks, which have multicast addresses of their own:
 * every word is checked on every rank, and what was offloaded is counted.
 *
 * usage: rows WORD...
 *   per_host=N      ranks of each host, in a row (1)
 *   rows=W          makes a communicator of ranks of W hosts, N for each W hosts: ranks of a host
 *                   are in different ones
 *   rounds=N        makes N communicators of this rank and another one, as in a tournament: all
 *                   ranks in each round, and no two ranks twice. The number of ranks is even.
 *   again           makes two more of each so far: a duplicate, and one in another order
 *   gather=B:TIMES  Allgathers of B bytes of each rank, on each communicator in turn
 *   free            frees all communicators
 *   pause=S         sleeps for so many seconds
 *
 * Prints after each word "rank R host H: WORD: J joined, O offloaded, X foreign", which are
 * multicast addresses in 239.0.0.0/8 that its host has joined, operations that were offloaded, and
 * datagrams from elsewhere and fragments of groups that this rank is not in.
 */
#include <string.h>
#include <unistd.h>

#include "check.h"
#include "pvars.h"

#define MOST_COMMS 64

static int rank, size, per_host = 1, num_comms;
static MPI_Comm comms[MOST_COMMS];
static int numbers[MOST_COMMS];    /* of each: what its words are made of, the same on its ranks */
static unsigned long long operations;

/* Without an Allgather of all, which would have an address, too. */
static void make(int count, int *members, int number)
{
    MPI_Group world, group;

    if (MOST_COMMS == num_comms) {
        wrong("there is room for %d communicators", MOST_COMMS);
        return;
    }
    MPI_Comm_group(MPI_COMM_WORLD, &world);
    MPI_Group_incl(world, count, members, &group);
    MPI_Comm_create_group(MPI_COMM_WORLD, group, number, &comms[num_comms]);
    numbers[num_comms++] = number;
    MPI_Group_free(&group);
    MPI_Group_free(&world);
}

static void make_row(int hosts)
{
    int *members = must(calloc((size_t) hosts, sizeof(*members)));
    int row = rank / per_host / hosts;

    for (int i = 0; i < hosts; i++) {
        members[i] = (row * hosts + i) * per_host + rank % per_host;
    }
    make(hosts, members, 1000 + members[0]);
    free(members);
}

/* The circle method: the last rank stays, and the others go round. */
static int opponent(int round)
{
    int circle = size - 1, other;

    if (rank == circle) {
        return round * (size / 2) % circle;
    }
    other = ((round - rank) % circle + circle) % circle;
    return other == rank ? circle : other;
}

static void make_rounds(int rounds)
{
    for (int round = 0; round < rounds; round++) {
        int other = opponent(round);
        int members[2] = {rank < other ? rank : other, rank < other ? other : rank};

        make(2, members, 2000 + 100 * round + members[0]);
    }
}

static void make_reversed(int place)
{
    int members[MOST_COMMS], own[MOST_COMMS], count;
    MPI_Group world, group;

    MPI_Comm_size(comms[place], &count);
    for (int i = 0; i < count; i++) {
        own[i] = count - 1 - i;
    }
    MPI_Comm_group(MPI_COMM_WORLD, &world);
    MPI_Comm_group(comms[place], &group);
    MPI_Group_translate_ranks(group, count, own, world, members);
    MPI_Group_free(&group);
    MPI_Group_free(&world);
    make(count, members, 20000 + numbers[place]);
}

static void make_again(void)
{
    int before = num_comms;

    for (int i = 0; i < before; i++) {
        make_reversed(i);
        MPI_Comm_dup(comms[i], &comms[num_comms]);
        numbers[num_comms++] = 10000 + numbers[i];
    }
}

static uint64_t word_of(int number, int owner, unsigned long long operation, int index)
{
    return mix64((uint64_t) number << 40 | (uint64_t) operation << 20 | (uint64_t) owner)
           + (uint64_t) index;
}

static void gather(MPI_Comm comm, int number, int words)
{
    int ranks, own_rank;
    uint64_t *own = must(calloc((size_t) words, sizeof(*own))), *all;

    MPI_Comm_size(comm, &ranks);
    MPI_Comm_rank(comm, &own_rank);
    all = must(calloc((size_t) ranks * (size_t) words, sizeof(*all)));
    for (int i = 0; i < words; i++) {
        own[i] = word_of(number, own_rank, operations, i);
    }
    MPI_Allgather(own, words, MPI_UINT64_T, all, words, MPI_UINT64_T, comm);
    for (int i = 0; i < ranks * words; i++) {
        if (all[i] != word_of(number, i / words, operations, i % words)) {
            wrong("communicator %d, operation %llu: word %d of rank %d is wrong", number,
                  operations, i % words, i / words);
            break;
        }
    }
    free(own);
    free(all);
}

static void gather_all(int bytes, int times)
{
    for (int i = 0; i < times; i++) {
        for (int place = 0; place < num_comms; place++) {
            gather(comms[place], numbers[place], bytes / (int) sizeof(uint64_t));
        }
        operations++;
    }
}

static void free_all(void)
{
    while (num_comms > 0) {
        MPI_Comm_free(&comms[--num_comms]);
    }
}

/* As the kernel prints them: in hexadecimal digits, the last byte first. */
static int count_joined(void)
{
    FILE *file = fopen("/proc/net/igmp", "re");
    char line[256];
    unsigned group;
    int count = 0;

    while (NULL != file && NULL != fgets(line, sizeof(line), file)) {
        count += '\t' == line[0] && 1 == sscanf(line, " %8x", &group) && 239 == (group & 255);
    }
    if (NULL != file) {
        fclose(file);
    }
    return count;
}

static void tell(const char *word)
{
    char host[64] = "";

    gethostname(host, sizeof(host) - 1);
    printf("rank %d host %s: %s: %d joined, %llu offloaded, %llu foreign\n", rank, host, word,
           count_joined(), pvar_read("allgather_offloaded"),
           pvar_read("datagrams_foreign") + pvar_read("fragments_foreign"));
    fflush(stdout);
}

static void obey(const char *word)
{
    int number, times;

    if (1 == sscanf(word, "per_host=%d", &number)) {
        per_host = number;
    } else if (1 == sscanf(word, "rows=%d", &number)) {
        make_row(number);
    } else if (1 == sscanf(word, "rounds=%d", &number)) {
        make_rounds(number);
    } else if (0 == strcmp(word, "again")) {
        make_again();
    } else if (2 == sscanf(word, "gather=%d:%d", &number, &times)) {
        gather_all(number, times);
    } else if (0 == strcmp(word, "free")) {
        free_all();
    } else if (1 == sscanf(word, "pause=%d", &number)) {
        sleep((unsigned) number);
    } else {
        wrong("\"%s\" is no word of this program", word);
    }
    sync_all(MPI_COMM_WORLD);
    tell(word);
    sync_all(MPI_COMM_WORLD);
}

int main(int argc, char **argv)
{
    int status;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    for (int i = 1; i < argc; i++) {
        obey(argv[i]);
    }
    free_all();
    status = conclude("rows");
    pvars_end();
    MPI_Finalize();
    return status;
}
