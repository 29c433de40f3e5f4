/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Allgather, Allgatherv and Bcast in all ways, by multicast and left to Open MPI for each reason.
 *
 * usage: cast_ways served|place|ranks|setup|off
 */
#include <string.h>

#include "collectives.h"
#include "persistent.h"

#define LARGE 100000

typedef enum { SERVED, PLACE, RANKS, SETUP, OFF } variant_t;

static variant_t variant;
static int last_number;

/* Operations that are to be left to Open MPI; or counted by kind, if they are not. */
typedef struct {
    counters_t counters;
    unsigned long long operations;
} expected_t;

static void expect_one(expected_t *expected, collective_kind_t kind)
{
    expected->operations++;
    collective_count(&expected->counters, kind);
}

static void check(const char *what, const counters_t *before, expected_t expected)
{
    counters_t moved = {.groups = 0};

    switch (variant) {
    case SERVED:
        moved = expected.counters;
        break;
    case PLACE:
        moved.fallbacks_place = expected.operations;
        break;
    case RANKS:
        moved.fallbacks_ranks = expected.operations;
        break;
    case SETUP:
        moved.fallbacks_setup = expected.operations;
        break;
    case OFF:
        break;
    }
    counters_moved(what, before, moved);
}

static void block(MPI_Comm comm, expected_t *expected)
{
    for (collective_kind_t kind = ALLGATHER; kind < NUM_COLLECTIVES; kind++) {
        collective_now("blocking", kind, comm, ++last_number, LARGE);
        expect_one(expected, kind);
    }
}

/*
 * Rank 0 knows the outcome of the set-up after its first operation, the others have begun the next
 * ones by then. In between all must have taken as many numbers of Open MPI's own nonblocking
 * collectives: the synchronisation, which is one, would never end.
 */
static void do_not_block(MPI_Comm comm, expected_t *expected)
{
    MPI_Request requests[NUM_COLLECTIVES];
    collective_t all[NUM_COLLECTIVES];

    for (collective_kind_t kind = ALLGATHER; kind < NUM_COLLECTIVES; kind++) {
        collective_start(&all[kind], kind, comm, ++last_number, LARGE, &requests[kind]);
        expect_one(expected, kind);
        if (ALLGATHER == kind && 0 == all[kind].rank) {
            MPI_Wait(&requests[kind], MPI_STATUS_IGNORE);
        }
    }
    begin_sync(comm, &requests[ALLREDUCE]);
    MPI_Waitall(NUM_COLLECTIVES, requests, MPI_STATUSES_IGNORE);
    for (collective_kind_t kind = ALLGATHER; kind < NUM_COLLECTIVES; kind++) {
        collective_check("nonblocking", &all[kind]);
    }
}

static void make_persistent(collective_t *c, MPI_Request *request)
{
    if (ALLGATHER == c->kind) {
        MPI_Allgather_init(c->send, c->count, MPI_INT, c->recv, c->count, MPI_INT, c->comm,
                           MPI_INFO_NULL, request);
    } else if (ALLGATHERV == c->kind) {
        MPI_Allgatherv_init(c->send, c->counts[c->rank], MPI_INT, c->recv, c->counts, c->displs,
                            MPI_INT, c->comm, MPI_INFO_NULL, request);
    } else {
        MPI_Bcast_init(c->recv, c->count, MPI_INT, c->root, c->comm, MPI_INFO_NULL, request);
    }
}

/*
 * Each rank starts them in an order of its own. Twice: the second time with what the first has
 * brought. counted: how often each is counted if it is left to Open MPI.
 */
static void persist(MPI_Comm comm, int counted, expected_t *expected)
{
    MPI_Request requests[NUM_COLLECTIVES];
    collective_t all[NUM_COLLECTIVES];
    int rank, kinds = NUM_COLLECTIVES - ALLGATHER;

    MPI_Comm_rank(comm, &rank);
    for (collective_kind_t kind = ALLGATHER; kind < NUM_COLLECTIVES; kind++) {
        collective_make(&all[kind], kind, comm, ++last_number, LARGE);
        make_persistent(&all[kind], &requests[kind]);
        expected->operations += (unsigned long long) counted;
        collective_count(&expected->counters, kind);
        collective_count(&expected->counters, kind);
    }
    for (int round = 0; round < 2; round++) {
        for (int i = 0; i < kinds; i++) {
            MPI_Start(&requests[ALLGATHER + (i + rank) % kinds]);
        }
        MPI_Waitall(kinds, requests + ALLGATHER, MPI_STATUSES_IGNORE);
    }
    for (collective_kind_t kind = ALLGATHER; kind < NUM_COLLECTIVES; kind++) {
        MPI_Request_free(&requests[kind]);
        collective_check("persistent", &all[kind]);
    }
}

/* The outcome of the set-up is known to all from the first on. */
static void begin_blocking(void)
{
    expected_t expected = {.operations = 0};
    counters_t before;
    MPI_Comm comm;

    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    before = counters_read();
    block(comm, &expected);
    do_not_block(comm, &expected);
    persist(comm, 1, &expected);
    block(comm, &expected);
    expected.counters.groups = 1 + NUM_COLLECTIVES - ALLGATHER;
    check("begin_blocking", &before, expected);
    MPI_Comm_free(&comm);
}

/* Ranks learn at different times what became of it; persistent operations are on their own. */
static void begin_nonblocking(void)
{
    expected_t expected = {.operations = 0};
    counters_t before;
    MPI_Comm comm;

    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    before = counters_read();
    do_not_block(comm, &expected);
    persist(comm, SETUP == variant ? 2 : 1, &expected);
    do_not_block(comm, &expected);
    block(comm, &expected);
    do_not_block(comm, &expected);
    expected.counters.groups = 1 + NUM_COLLECTIVES - ALLGATHER;
    check("begin_nonblocking", &before, expected);
    MPI_Comm_free(&comm);
}

/* One that is declined or freed before it was started has cost nothing. */
static void never_started(void)
{
    counters_t before = counters_read();
    expected_t expected = {.operations = 0};
    MPI_Request request;
    collective_t c;

    collective_make(&c, BCAST, MPI_COMM_WORLD, ++last_number, 10);
    MPI_Bcast_init(c.recv, c.count, MPI_INT, c.root, MPI_COMM_WORLD, MPI_INFO_NULL, &request);
    MPI_Request_free(&request);
    MPI_Bcast(c.recv, c.count, MPI_INT, c.root, MPI_COMM_WORLD);
    collective_check("never started", &c);
    expect_one(&expected, BCAST);
    expected.counters.groups = 1;
    expected.operations += SETUP != variant;
    check("never_started", &before, expected);
}

/* What nobody offloads: small nonblocking Bcasts, and those of nothing. */
static void exceptions(void)
{
    counters_t before = counters_read(), expected = {.fallbacks_order = 2, .fallbacks_size = 1};
    int ids[2] = {-1, -1}, rank;
    MPI_Datatype nothing;
    MPI_Request request;

    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Type_contiguous(0, MPI_INT, &nothing);
    MPI_Type_commit(&nothing);
    MPI_Bcast(ids, 1, nothing, 0, MPI_COMM_WORLD);
    for (int i = 0; i < 2; i++) {
        ids[i] = 0 == rank ? 17 + i : -1;
        MPI_Ibcast(ids, 1 + i, MPI_INT, 0, MPI_COMM_WORLD, &request);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        if (17 + i != ids[i]) {
            wrong("a small Bcast gives %d", ids[i]);
        }
    }
    MPI_Type_free(&nothing);
    counters_moved("exceptions", &before, expected);
}

static variant_t parse(const char *name)
{
    static const char *const names[] = {"served", "place", "ranks", "setup", "off"};
    unsigned i = 0;

    while (i < OFF && 0 != strcmp(name, names[i])) {
        i++;
    }
    return (variant_t) i;
}

int main(int argc, char **argv)
{
    int status;

    MPI_Init(&argc, &argv);
    variant = parse(argc > 1 ? argv[1] : "served");
    begin_blocking();
    begin_nonblocking();
    never_started();
    if (SERVED == variant) {
        exceptions();
    }
    pvars_end();
    status = conclude("cast_ways");
    MPI_Finalize();
    return status;
}
