/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A crowd of communicators that come, are used in turns, and go; then one after the other, with
 * a look at the memory. Some are never freed. 3 ranks or more.
 *
 * usage: many_comms NAME=VALUE...
 *   comms=N        how many there are at a time (default 200)
 *   operations=N   Allreduces among them (default 800)
 *   cycles=N       make, use and free one so often (default 1000)
 *   seed=N
 *   served=0       no server can be reached, and everything has to fall back
 *   pause=S        how long to wait for whoever looks at other processes (default 0)
 *
 * Prints "rank R: warm B bytes in use" when a fifth of the cycles is over, and "rank R: done B
 * bytes in use" after the last.
 */
#include <malloc.h>
#include <stdbool.h>
#include <unistd.h>

#include "counters.h"
#include "sums.h"

#define LONGEST 3000
#define FLYING  24 /* nonblocking operations at a time */

typedef struct {
    int comms, operations, cycles, seed, served, pause;
} options_t;

typedef struct {
    MPI_Comm comm; /* MPI_COMM_NULL: freed, or this rank is not in it */
    bool used;
} member_t;

typedef struct {
    const options_t *options;
    member_t *members;
    sum_t flying[FLYING];
    MPI_Request requests[FLYING];
    uint64_t common, own;             /* random numbers: equal on all ranks, and different */
    unsigned long long operations, groups; /* on communicators of several ranks */
} test_t;

static int rank, size;

static bool has_peers(MPI_Comm comm)
{
    int ranks;

    MPI_Comm_size(comm, &ranks);
    return ranks > 1;
}

/* A duplicate, or a part with another order of ranks; one rank in four may stay outside. */
static MPI_Comm derive(test_t *test, MPI_Comm parent)
{
    unsigned kind = next_random(&test->common, 4), parts = 1 + next_random(&test->common, 3);
    int direction = 0 == next_random(&test->common, 2) ? 1 : -1, own, color;
    MPI_Comm comm;

    if (MPI_COMM_NULL == parent) {
        return MPI_COMM_NULL;
    }
    if (0 == kind) {
        MPI_Comm_dup(parent, &comm);
        return comm;
    }
    MPI_Comm_rank(parent, &own);
    color = 1 == kind && 3 == own ? MPI_UNDEFINED : own % (int) parts;
    MPI_Comm_split(parent, color, direction * own, &comm);
    return comm;
}

static void join(test_t *test, int number)
{
    /* a parent that is freed later, or was already: of MPI_COMM_WORLD then, on all ranks alike */
    unsigned which = next_random(&test->common, (unsigned) test->options->comms);
    bool from_world = 0 == next_random(&test->common, 2) || (int) which >= number;

    test->members[number] = (member_t) {
        .comm = derive(test, from_world ? MPI_COMM_WORLD : test->members[which].comm)};
}

static void land(test_t *test)
{
    int index;

    MPI_Waitany(FLYING, test->requests, &index, MPI_STATUS_IGNORE);
    if (MPI_UNDEFINED != index) {
        sum_check("crowd", &test->flying[index]);
    }
}

static void land_all(test_t *test)
{
    for (int i = 0; i < FLYING; i++) {
        land(test);
    }
}

/* Operations of it may be pending, unless Open MPI does them: it crashes then. */
static void leave(test_t *test, member_t *member)
{
    if (!test->options->served) {
        land_all(test);
    }
    if (MPI_COMM_NULL != member->comm) {
        MPI_Comm_free(&member->comm);
    }
}

static void take_off(test_t *test, MPI_Comm comm, int number, int count)
{
    int place = 0;

    while (place < FLYING && MPI_REQUEST_NULL != test->requests[place]) {
        place++;
    }
    if (FLYING == place) {
        land(test);
        take_off(test, comm, number, count);
        return;
    }
    sum_start(&test->flying[place], comm, number, count, &test->requests[place]);
}

static void use(test_t *test, member_t *member, int number)
{
    int count = 1 + (int) next_random(&test->common, LONGEST);
    bool nonblocking = 0 != next_random(&test->common, 3);

    if (MPI_COMM_NULL == member->comm) {
        return;
    }
    if (has_peers(member->comm)) {
        test->operations++;
        test->groups += !member->used;
    }
    member->used = true;
    if (nonblocking) {
        take_off(test, member->comm, number, count);
    } else {
        sum_now("crowd", member->comm, number, count);
    }
    if (0 == next_random(&test->own, 4)) {
        land(test);
    }
}

static void expect(const char *what, const test_t *test, const counters_t *before)
{
    counters_t expected = {.fallbacks_order = ANY};

    if (test->options->served) {
        expected.allreduce_offloaded = test->operations;
        expected.groups = test->groups;
    } else {
        expected.fallbacks_setup = test->operations;
    }
    counters_moved(what, before, expected);
}

static void crowd(test_t *test)
{
    counters_t before = counters_read();
    unsigned comms = (unsigned) test->options->comms;

    for (int number = 0; number < (int) comms; number++) {
        join(test, number);
    }
    for (int number = 0; number < test->options->operations; number++) {
        unsigned which = next_random(&test->common, comms);

        if (0 == next_random(&test->common, 5)) {
            leave(test, &test->members[which]);
            join(test, (int) which);
        }
        use(test, &test->members[which], number);
    }
    /* all but some that MPI_Finalize finds, in another order than that in which they were made */
    for (unsigned i = 0; i < comms; i++) {
        unsigned which = (i * 77 + 5) % comms;

        if (0 != which % 10) {
            leave(test, &test->members[which]);
        }
    }
    land_all(test);
    expect("crowd", test, &before);
}

/*
 * The first operation blocks: the other way Open MPI would keep the buffers of the persistent
 * requests that the set-up needs then, and nobody could tell its loss from one of ours.
 */
static void use_once(test_t *test, MPI_Comm comm, int number)
{
    unsigned long long operations = has_peers(comm) ? 1 + number % 2 : 0;
    int count = 0 == number % 16 ? 20000 : 1 + number % 500;
    MPI_Request request;
    sum_t s;

    test->operations += operations;
    test->groups += operations > 0;
    sum_now("cycle", comm, number, count);
    if (0 == number % 2) {
        MPI_Comm_free(&comm);
        return;
    }
    sum_start(&s, comm, -number, count, &request);
    if (test->options->served) {
        MPI_Comm_free(&comm);
    }
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    sum_check("cycle", &s);
    if (!test->options->served) {
        MPI_Comm_free(&comm);
    }
}

/* Bytes of this process's heap, and not of what the allocator keeps for later. */
static size_t in_use(void)
{
    struct mallinfo2 info = mallinfo2();

    return info.uordblks + info.hblkhd;
}

static void tell_memory(const test_t *test, const char *when)
{
    MPI_Barrier(MPI_COMM_WORLD);
    printf("rank %d: %s %zu bytes in use\n", rank, when, in_use());
    fflush(stdout);
    sleep((unsigned) test->options->pause);
    MPI_Barrier(MPI_COMM_WORLD);
}

static void cycles(test_t *test)
{
    counters_t before = counters_read();
    int warm = test->options->cycles / 5, reused = 0;
    MPI_Fint last = -1;

    test->operations = test->groups = 0;
    for (int number = 0; number < test->options->cycles; number++) {
        MPI_Comm comm;

        if (number == warm) {
            tell_memory(test, "warm");
        }
        if (0 == number % 3) {
            MPI_Comm_split(MPI_COMM_WORLD, rank % 2, -rank, &comm);
        } else {
            MPI_Comm_dup(MPI_COMM_WORLD, &comm);
        }
        reused += MPI_Comm_c2f(comm) == last;
        last = MPI_Comm_c2f(comm);
        if (0 == number % 5) {
            MPI_Comm_free(&comm);
        } else {
            use_once(test, comm, number);
        }
    }
    expect("cycles", test, &before);
    if (0 == reused) {
        wrong("no communicator got the id of the one before");
    }
    tell_memory(test, "done");
}

static void set_option(options_t *o, const char *word)
{
    if (1 != sscanf(word, "comms=%d", &o->comms)
        && 1 != sscanf(word, "operations=%d", &o->operations)
        && 1 != sscanf(word, "cycles=%d", &o->cycles)
        && 1 != sscanf(word, "seed=%d", &o->seed) && 1 != sscanf(word, "served=%d", &o->served)
        && 1 != sscanf(word, "pause=%d", &o->pause)) {
        wrong("unknown option %s", word);
    }
}

int main(int argc, char **argv)
{
    options_t options = {.comms = 200, .operations = 800, .cycles = 1000, .seed = 1, .served = 1};
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
    status = conclude("many_comms");
    MPI_Finalize();
    return status;
}
