/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Communicators in numbers: a crowd of them that come, are used in turns, and go; then one after
 * the other, with a look at memory and descriptors. Some are never freed, and some are freed while
 * they are in use. What programs about them share.
 */
#ifndef TESTS_MPI_CROWD_H
#define TESTS_MPI_CROWD_H

#include <dirent.h>
#include <malloc.h>
#include <unistd.h>

#include "collectives.h"
#include "options.h"

#define CROWD_FLYING 24 /* nonblocking operations at a time */

typedef struct {
    MPI_Comm comm;        /* MPI_COMM_NULL: freed, or this rank is not in it */
    bool reduced, cast;   /* its services have been used */
} member_t;

typedef struct crowd crowd_t;

/* What sets a program apart. It draws from the random numbers that are equal on all ranks. */
typedef struct {
    unsigned turnover;    /* before one operation in so many, its communicator is replaced */
    /* Makes the crowd's communicator of that index. */
    MPI_Comm (*derive)(crowd_t *crowd, unsigned index);
    /* An operation on one of the crowd. */
    void (*pick)(crowd_t *crowd, collective_kind_t *kind, int *count);
    /* Makes one of the communicators after the crowd. */
    MPI_Comm (*make)(int number);
    /* Its first operations, which block; ... */
    void (*use)(crowd_t *crowd, member_t *member, int number, int count);
    collective_kind_t last;  /* ... and what may be pending when it is freed */
} crowd_ways_t;

struct crowd {
    const crowd_ways_t *ways;
    /* from the command line */
    int comms;            /* how many there are at a time */
    int operations;       /* among them */
    int cycles;           /* make, use and free one so often */
    int seed;
    int served;           /* 0: by nobody, and everything has to fall back */
    int pause;            /* s, for whoever looks at other processes when memory was told */
    /* the program's own */
    int rank, size;
    uint64_t common, own; /* random numbers: equal on all ranks, and different */
    member_t *members;
    collective_t flying[CROWD_FLYING];
    MPI_Request requests[CROWD_FLYING];
    counters_t expected;  /* if it is served */
};

/* ---- operations ---- */

static inline void crowd_land(crowd_t *crowd)
{
    int index;

    MPI_Waitany(CROWD_FLYING, crowd->requests, &index, MPI_STATUS_IGNORE);
    if (MPI_UNDEFINED != index) {
        collective_check("crowd", &crowd->flying[index]);
    }
}

static inline void crowd_land_all(crowd_t *crowd)
{
    for (int i = 0; i < CROWD_FLYING; i++) {
        crowd_land(crowd);
    }
}

static inline int crowd_free_place(crowd_t *crowd)
{
    for (int place = 0; place < CROWD_FLYING; place++) {
        if (MPI_REQUEST_NULL == crowd->requests[place]) {
            return place;
        }
    }
    crowd_land(crowd);
    return crowd_free_place(crowd);
}

/* Communicators of one rank are not served. */
static inline void crowd_count(crowd_t *crowd, member_t *member, collective_kind_t kind)
{
    bool *used = ALLREDUCE == kind ? &member->reduced : &member->cast;
    int ranks;

    MPI_Comm_size(member->comm, &ranks);
    if (ranks > 1) {
        collective_count(&crowd->expected, kind);
        crowd->expected.groups += !*used;
    }
    *used = true;
}

static inline void crowd_block(crowd_t *crowd, member_t *member, collective_kind_t kind, int number,
                               int count)
{
    crowd_count(crowd, member, kind);
    collective_now("blocking", kind, member->comm, number, count);
}

static inline void crowd_use(crowd_t *crowd, member_t *member, int number)
{
    collective_kind_t kind;
    bool nonblocking;
    int count;

    crowd->ways->pick(crowd, &kind, &count);
    nonblocking = 0 != next_random(&crowd->common, 3);
    if (MPI_COMM_NULL == member->comm) {
        return;
    }
    if (nonblocking) {
        int place = crowd_free_place(crowd);

        crowd_count(crowd, member, kind);
        collective_start(&crowd->flying[place], kind, member->comm, number, count,
                         &crowd->requests[place]);
    } else {
        crowd_block(crowd, member, kind, number, count);
    }
    if (0 == next_random(&crowd->own, 4)) {
        crowd_land(crowd);
    }
}

/* What the counters have to have moved by; the next ones are counted anew. */
static inline void crowd_expect(crowd_t *crowd, const char *what, const counters_t *before)
{
    counters_t expected = crowd->expected;

    if (!crowd->served) {
        expected = (counters_t) {.fallbacks_setup = expected.allreduce_offloaded
                                                    + expected.allgather_offloaded
                                                    + expected.bcast_offloaded};
    }
    expected.fallbacks_order = ANY; /* Open MPI's own, for new communicators */
    counters_moved(what, before, expected);
    crowd->expected = (counters_t) {0};
}

/* ---- many at a time ---- */

static inline void crowd_join(crowd_t *crowd, unsigned index)
{
    crowd->members[index] = (member_t) {.comm = crowd->ways->derive(crowd, index)};
}

/* Operations of it may be pending, unless Open MPI does them: it crashes then. */
static inline void crowd_leave(crowd_t *crowd, member_t *member)
{
    if (!crowd->served) {
        crowd_land_all(crowd);
    }
    if (MPI_COMM_NULL != member->comm) {
        MPI_Comm_free(&member->comm);
    }
}

static inline void crowd_mingle(crowd_t *crowd)
{
    counters_t before = counters_read();
    unsigned comms = (unsigned) crowd->comms;

    for (unsigned i = 0; i < comms; i++) {
        crowd_join(crowd, i);
    }
    for (int number = 0; number < crowd->operations; number++) {
        unsigned index = next_random(&crowd->common, comms);

        if (0 == next_random(&crowd->common, crowd->ways->turnover)) {
            crowd_leave(crowd, &crowd->members[index]);
            crowd_join(crowd, index);
        }
        crowd_use(crowd, &crowd->members[index], number);
    }
    /* all but some that MPI_Finalize finds, in another order than that in which they were made */
    for (unsigned i = 0; i < comms; i++) {
        unsigned index = (i * 77 + 5) % comms;

        if (0 != index % 10) {
            crowd_leave(crowd, &crowd->members[index]);
        }
    }
    crowd_land_all(crowd);
    crowd_expect(crowd, "crowd", &before);
}

/* ---- one after the other ---- */

/*
 * The first operation blocks: the other way Open MPI would keep the buffers of the persistent
 * requests that the set-up needs then, and nobody could tell its loss from one of ours.
 */
static inline void crowd_use_once(crowd_t *crowd, MPI_Comm comm, int number)
{
    int count = 0 == number % 16 ? 20000 : 1 + number % 500;
    member_t member = {.comm = comm};
    MPI_Request request;
    collective_t c;

    crowd->ways->use(crowd, &member, number, count);
    if (0 == number % 2) {
        MPI_Comm_free(&comm);
        return;
    }
    crowd_count(crowd, &member, crowd->ways->last);
    collective_start(&c, crowd->ways->last, comm, -number, count, &request);
    if (crowd->served) {
        MPI_Comm_free(&comm);
    }
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    collective_check("cycle", &c);
    if (!crowd->served) {
        MPI_Comm_free(&comm);
    }
}

static inline unsigned crowd_descriptors(void)
{
    DIR *directory = opendir("/proc/self/fd");
    unsigned count = 0;

    while (NULL != directory && NULL != readdir(directory)) {
        count++;
    }
    closedir(directory);
    return count;
}

/*
 * "rank R: WHEN B bytes, F descriptors": bytes of this process's heap, and not of what the
 * allocator keeps for later.
 */
static inline void crowd_tell(const crowd_t *crowd, const char *when)
{
    struct mallinfo2 info;

    sync_all(MPI_COMM_WORLD);
    info = mallinfo2();
    printf("rank %d: %s %zu bytes, %u descriptors\n", crowd->rank, when,
           info.uordblks + info.hblkhd, crowd_descriptors());
    fflush(stdout);
    sleep((unsigned) crowd->pause);
    sync_all(MPI_COMM_WORLD);
}

/* Tells of "warm" when a fifth of the cycles is over, and of "done" after the last. */
static inline void crowd_cycle(crowd_t *crowd)
{
    counters_t before = counters_read();

    for (int number = 0; number < crowd->cycles; number++) {
        MPI_Comm comm;

        if (number == crowd->cycles / 5) {
            crowd_tell(crowd, "warm");
        }
        comm = crowd->ways->make(number);
        if (0 == number % 5) {
            MPI_Comm_free(&comm);
        } else {
            crowd_use_once(crowd, comm, number);
        }
    }
    crowd_expect(crowd, "cycles", &before);
    crowd_tell(crowd, "done");
}

/* ---- the program ---- */

static inline void crowd_begin(crowd_t *crowd, int argc, char **argv, const option_t *options)
{
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &crowd->rank);
    MPI_Comm_size(MPI_COMM_WORLD, &crowd->size);
    options_read(argc, argv, options);
    crowd->common = mix64((uint64_t) crowd->seed);
    crowd->own = mix64((uint64_t) crowd->seed + 1000 + (uint64_t) crowd->rank);
    crowd->members = must(calloc((size_t) crowd->comms, sizeof(*crowd->members)));
    for (int i = 0; i < CROWD_FLYING; i++) {
        crowd->requests[i] = MPI_REQUEST_NULL;
    }
}

/* Returns the exit status. */
static inline int crowd_end(crowd_t *crowd, const char *name)
{
    int status;

    free(crowd->members);
    pvars_end();
    status = conclude(name);
    MPI_Finalize();
    return status;
}

#endif
