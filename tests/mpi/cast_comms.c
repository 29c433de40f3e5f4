/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Collectives of all services on a crowd of communicators that come, are used in turns, and go;
 * then communicators one after the other, with a look at memory and descriptors. Some are never
 * freed, and some are freed while they are in use. 3 ranks or more.
 *
 * usage: cast_comms NAME=VALUE...
 *   comms=N        how many there are at a time (default 200)
 *   operations=N   collectives among them (default 1000)
 *   cycles=N       make, use and free one so often (default 2000)
 *   seed=N
 *
 * Prints "rank R: warm B bytes, F descriptors" when a fifth of the cycles is over, and "rank R: done
 * B bytes, F descriptors" after the last.
 */
#include <dirent.h>
#include <malloc.h>
#include <string.h>

#include "collectives.h"

#define LONGEST 2000
#define LARGE   60000
#define FLYING  24 /* nonblocking operations at a time */

typedef struct {
    int comms, operations, cycles, seed;
} options_t;

typedef struct {
    MPI_Comm comm;        /* MPI_COMM_NULL: this rank is not in it */
    bool reduced, cast;   /* its services have been used */
} member_t;

typedef struct {
    const options_t *options;
    member_t *members;
    collective_t flying[FLYING];
    MPI_Request requests[FLYING];
    uint64_t common, own; /* random numbers: equal on all ranks, and different */
    counters_t expected;
} test_t;

static int rank, size;

/* A duplicate, or a part: made without an Allgather, which would count. */
static MPI_Comm derive(test_t *test)
{
    int range[3] = {0, size - 1, 1};
    MPI_Group world, group;
    MPI_Comm comm;

    if (0 != next_random(&test->common, 3)) {
        MPI_Comm_dup(MPI_COMM_WORLD, &comm);
        return comm;
    }
    range[0] = (int) next_random(&test->common, 2);
    MPI_Comm_group(MPI_COMM_WORLD, &world);
    MPI_Group_range_incl(world, 1, &range, &group);
    comm = MPI_COMM_NULL;
    if (rank >= range[0]) {
        MPI_Comm_create_group(MPI_COMM_WORLD, group, 7, &comm);
    }
    MPI_Group_free(&group);
    MPI_Group_free(&world);
    return comm;
}

static void land(test_t *test)
{
    int index;

    MPI_Waitany(FLYING, test->requests, &index, MPI_STATUS_IGNORE);
    if (MPI_UNDEFINED != index) {
        collective_check("crowd", &test->flying[index]);
    }
}

static int free_place(test_t *test)
{
    for (int place = 0; place < FLYING; place++) {
        if (MPI_REQUEST_NULL == test->requests[place]) {
            return place;
        }
    }
    land(test);
    return free_place(test);
}

static void expect_one(test_t *test, member_t *member, collective_kind_t kind)
{
    bool *used = ALLREDUCE == kind ? &member->reduced : &member->cast;

    collective_count(&test->expected, kind);
    test->expected.groups += !*used;
    *used = true;
}

static void use(test_t *test, member_t *member, int number)
{
    collective_kind_t kind = (collective_kind_t) next_random(&test->common, NUM_COLLECTIVES);
    int count = 1 + (int) next_random(&test->common, 0 == next_random(&test->common, 9) ? LARGE
                                                                                       : LONGEST);
    bool nonblocking = 0 != next_random(&test->common, 3);

    if (MPI_COMM_NULL == member->comm) {
        return;
    }
    expect_one(test, member, kind);
    if (nonblocking) {
        int place = free_place(test);

        collective_start(&test->flying[place], kind, member->comm, number, count,
                         &test->requests[place]);
    } else {
        collective_now("crowd", kind, member->comm, number, count);
    }
    if (0 == next_random(&test->own, 4)) {
        land(test);
    }
}

/* Operations of it may be pending. */
static void leave(member_t *member)
{
    if (MPI_COMM_NULL != member->comm) {
        MPI_Comm_free(&member->comm);
    }
}

/* Every tenth communicator is left for MPI_Finalize. */
static void crowd(test_t *test)
{
    counters_t before = counters_read();
    unsigned comms = (unsigned) test->options->comms;

    for (unsigned i = 0; i < comms; i++) {
        test->members[i] = (member_t) {.comm = derive(test)};
    }
    for (int number = 0; number < test->options->operations; number++) {
        member_t *member = &test->members[next_random(&test->common, comms)];

        if (0 == next_random(&test->common, 8)) {
            leave(member);
            *member = (member_t) {.comm = derive(test)};
        }
        use(test, member, number);
    }
    for (unsigned i = 0; i < comms; i++) {
        if (0 != i % 10) {
            leave(&test->members[(i * 77 + 5) % comms]);
        }
    }
    for (int i = 0; i < FLYING; i++) {
        land(test);
    }
    test->expected.fallbacks_order = ANY; /* Open MPI's own, for new communicators */
    counters_moved("crowd", &before, test->expected);
}

/*
 * The first operation blocks: the other way Open MPI would keep the buffers of the persistent
 * requests that the set-up needs then, and nobody could tell its loss from one of ours.
 */
static void use_once(test_t *test, MPI_Comm comm, int number)
{
    member_t member = {.comm = comm};
    collective_kind_t first = (collective_kind_t) (ALLGATHER + number % 3);
    int count = 0 == number % 16 ? 20000 : 1 + number % 500;
    MPI_Request request;
    collective_t c;

    expect_one(test, &member, first);
    collective_now("cycle", first, comm, number, count);
    if (0 == number % 8) {
        expect_one(test, &member, ALLREDUCE);
        collective_now("cycle", ALLREDUCE, comm, number, count);
    }
    if (0 == number % 2) {
        MPI_Comm_free(&comm);
        return;
    }
    expect_one(test, &member, ALLGATHERV);
    collective_start(&c, ALLGATHERV, comm, -number, count, &request);
    MPI_Comm_free(&comm);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    collective_check("cycle", &c);
}

static unsigned descriptors(void)
{
    DIR *directory = opendir("/proc/self/fd");
    unsigned count = 0;

    while (NULL != directory && NULL != readdir(directory)) {
        count++;
    }
    closedir(directory);
    return count;
}

/* Bytes of this process's heap, and not of what the allocator keeps for later. */
static void tell_memory(const char *when)
{
    struct mallinfo2 info = mallinfo2();

    MPI_Barrier(MPI_COMM_WORLD);
    printf("rank %d: %s %zu bytes, %u descriptors\n", rank, when, info.uordblks + info.hblkhd,
           descriptors());
    fflush(stdout);
}

static void cycles(test_t *test)
{
    counters_t before = counters_read();

    test->expected = (counters_t) {.fallbacks_order = ANY};
    for (int number = 0; number < test->options->cycles; number++) {
        MPI_Comm comm;

        if (number == test->options->cycles / 5) {
            tell_memory("warm");
        }
        MPI_Comm_dup(MPI_COMM_WORLD, &comm);
        if (0 == number % 5) {
            MPI_Comm_free(&comm);
        } else {
            use_once(test, comm, number);
        }
    }
    counters_moved("cycles", &before, test->expected);
    tell_memory("done");
}

static void set_option(options_t *o, const char *word)
{
    if (1 != sscanf(word, "comms=%d", &o->comms)
        && 1 != sscanf(word, "operations=%d", &o->operations)
        && 1 != sscanf(word, "cycles=%d", &o->cycles)
        && 1 != sscanf(word, "seed=%d", &o->seed)) {
        wrong("unknown option %s", word);
    }
}

int main(int argc, char **argv)
{
    options_t options = {.comms = 200, .operations = 1000, .cycles = 2000, .seed = 1};
    test_t test = {.options = &options};
    int status;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    for (int i = 1; i < argc; i++) {
        set_option(&options, argv[i]);
    }
    test.common = mix64((uint64_t) options.seed);
    test.own = mix64((uint64_t) options.seed + 1000 + (uint64_t) rank);
    test.members = must(calloc((size_t) options.comms, sizeof(*test.members)));
    for (int i = 0; i < FLYING; i++) {
        test.requests[i] = MPI_REQUEST_NULL;
    }
    crowd(&test);
    cycles(&test);
    free(test.members);
    pvars_end();
    status = conclude("cast_comms");
    MPI_Finalize();
    return status;
}
