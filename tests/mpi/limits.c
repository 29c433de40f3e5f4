/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Nonblocking operations on many communicators at a time, in another order on every rank, against
 * a server that has not the memory for a part of them.
 *
 * usage: limits COMMUNICATORS served|unserved|drained FILE
 * served: everything has to be offloaded, and at the end FILE is waited for. unserved: everything
 * has to fall back. drained: with all operations begun FILE is waited for; they and later ones on
 * the same communicators have to be offloaded, those on a new communicator have to fall back.
 *
 * Each rank prints "rank R: waits" before it waits for FILE, outside of MPI, and "rank R: O
 * offloaded, F without service, A sent again".
 */
#include <stdbool.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "check.h"
#include "pvars.h"

#define MAX_COMMS 128

/* Elements of 8 bytes: small ones of several sizes, and a large one. */
static const int counts[] = {2048, 1, 20000, 300, 2048};

#define NUM_COUNTS ((int) (sizeof(counts) / sizeof(counts[0])))

typedef struct {
    MPI_Comm comm;
    int64_t *send[NUM_COUNTS], *recv[NUM_COUNTS];
} user_t;

static user_t users[MAX_COMMS];
static MPI_Request requests[MAX_COMMS * NUM_COUNTS];
static int rank, size, num_comms;

static int64_t element(int in_rank, int user, int operation, int i)
{
    return (int64_t) (mix64((uint64_t) ((in_rank * MAX_COMMS + user) * NUM_COUNTS + operation))
                      >> 10) + i;
}

static void begin(int user)
{
    user_t *u = &users[user];

    for (int o = 0; o < NUM_COUNTS; o++) {
        u->send[o] = must(malloc((size_t) counts[o] * sizeof(int64_t)));
        u->recv[o] = must(calloc((size_t) counts[o], sizeof(int64_t)));
        for (int i = 0; i < counts[o]; i++) {
            u->send[o][i] = element(rank, user, o, i);
        }
        MPI_Iallreduce(u->send[o], u->recv[o], counts[o], MPI_INT64_T, MPI_SUM, u->comm,
                       &requests[user * NUM_COUNTS + o]);
    }
}

static void check(int user)
{
    user_t *u = &users[user];

    for (int o = 0; o < NUM_COUNTS; o++) {
        for (int i = 0; i < counts[o]; i++) {
            int64_t expected = 0;

            for (int other = 0; other < size; other++) {
                expected += element(other, user, o, i);
            }
            if (expected != u->recv[o][i]) {
                wrong("communicator %d, operation %d: element %d is %lld instead of %lld", user, o,
                      i, (long long) u->recv[o][i], (long long) expected);
                break;
            }
        }
        free(u->send[o]);
        free(u->recv[o]);
    }
}

/* Each rank begins at another place, and every other one goes backwards. */
static int nth(int n)
{
    int place = (n + rank * num_comms / size) % num_comms;

    return rank % 2 ? num_comms - 1 - place : place;
}

static void allreduce_one(MPI_Comm comm)
{
    int64_t one = 1, sum = 0;

    MPI_Allreduce(&one, &sum, 1, MPI_INT64_T, MPI_SUM, comm);
    if (sum != size) {
        wrong("a sum of ones is %lld", (long long) sum);
    }
}

static void make_comms(void)
{
    for (int user = 0; user < num_comms; user++) {
        MPI_Comm_dup(MPI_COMM_WORLD, &users[user].comm);
    }
    for (int user = 0; user < num_comms; user++) {
        allreduce_one(users[user].comm);
    }
}

static void wait_for(const char *path)
{
    struct timespec nap = {.tv_nsec = 5000000};

    printf("rank %d: waits\n", rank);
    fflush(stdout);
    for (int i = 0; i < 6000 && 0 != access(path, F_OK); i++) {
        (void) nanosleep(&nap, NULL);
    }
}

static void run(const char *hold)
{
    for (int n = 0; n < num_comms; n++) {
        begin(nth(n));
    }
    if (NULL != hold) {
        wait_for(hold);
    }
    MPI_Waitall(num_comms * NUM_COUNTS, requests, MPI_STATUSES_IGNORE);
    for (int user = 0; user < num_comms; user++) {
        check(user);
    }
}

/* What the counter gained since before. */
static void expect_gain(const char *name, unsigned long long before, unsigned long long gain)
{
    unsigned long long now = pvar_read(name);

    if (now - before != gain) {
        wrong("%s rose by %llu instead of %llu", name, now - before, gain);
    }
}

static void served(const char *path)
{
    unsigned long long before;

    make_comms();
    before = pvar_read("allreduce_offloaded");
    run(NULL);
    run(NULL);
    expect_gain("allreduce_offloaded", before,
                2ull * (unsigned) num_comms * (unsigned) NUM_COUNTS);
    expect_gain("fallbacks_setup", 0, 0);
    wait_for(path);
}

static void unserved(void)
{
    make_comms();
    run(NULL);
    expect_gain("allreduce_offloaded", 0, 0);
    expect_gain("groups", 0, 0);
    if (pvar_read("fallbacks_setup") < (unsigned) (num_comms * (1 + NUM_COUNTS))) {
        wrong("only %llu operations fell back", pvar_read("fallbacks_setup"));
    }
}

static void drained(const char *path)
{
    unsigned long long before;
    MPI_Comm late;

    MPI_Comm_dup(MPI_COMM_WORLD, &late);
    make_comms();
    before = pvar_read("allreduce_offloaded");
    run(path);
    run(NULL);
    expect_gain("allreduce_offloaded", before,
                2ull * (unsigned) num_comms * (unsigned) NUM_COUNTS);
    expect_gain("fallbacks_setup", 0, 0);
    before = pvar_read("allreduce_offloaded");
    allreduce_one(late);
    expect_gain("allreduce_offloaded", before, 0);
    expect_gain("fallbacks_setup", 0, 1);
    MPI_Comm_free(&late);
}

int main(int argc, char **argv)
{
    int status;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    num_comms = argc > 3 ? atoi(argv[1]) : 0;
    if (num_comms < 1 || num_comms > MAX_COMMS) {
        wrong("usage: limits COMMUNICATORS served|unserved|drained FILE");
    } else if (0 == strcmp(argv[2], "served")) {
        served(argv[3]);
    } else if (0 == strcmp(argv[2], "unserved")) {
        unserved();
    } else {
        drained(argv[3]);
    }
    printf("rank %d: %llu offloaded, %llu without service, %llu sent again\n", rank,
           pvar_read("allreduce_offloaded"), pvar_read("fallbacks_setup"),
           pvar_read("messages_resent"));
    expect_gain("failures", 0, 0);
    for (int user = 0; user < num_comms; user++) {
        MPI_Comm_free(&users[user].comm);
    }
    pvars_end();
    status = conclude("limits");
    MPI_Finalize();
    return status;
}
