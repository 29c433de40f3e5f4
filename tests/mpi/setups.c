/* SPDX-License-Identifier: BSD-3-Clause */
/* Set-ups by all ways to begin one, many at a time, in another order on each rank; their messages are counted. */
/* usage: setups [casts]: Allgathers and Bcasts are offloaded, too. */
/* Test: quick 60 -- 5 embedded multicast=udp multicast_interface=lo reproducible=shape casts */
/* Test: default 400 -- 2 embedded multicast=udp multicast_interface=lo reproducible=shape casts + 3 embedded multicast=udp multicast_interface=lo casts + 4 server reproducible=shape + 6 embedded multicast=udp multicast_interface=lo casts + 8 server reproducible=shape + 11 embedded multicast=udp multicast_interface=lo reproducible=shape casts + 16 server */
/* Test: sanitizers: all 300 -- 5 embedded multicast=udp multicast_interface=lo reproducible=shape casts + 4 server */
#include <string.h>
#include <unistd.h>

#include "collectives.h"
#include "persistent.h"

#define COMMS 5
#define COUNT 700

/*
 * An exchange of n ranks takes ceil(log2 n) messages of each. A set-up has one of records and one
 * vote; and one vote more, where ranks share memory or go by multicast. For multicast, a rank also
 * sends one to each of its neighbours in a tree.
 */
#define LEAST_EXCHANGES 2
#define MOST_EXCHANGES  3

/* Bytes of the record that a rank gives to all others, and of the contact that its neighbours get. */
#define SERVER_RECORD 136
#define VOTE          32
#define CAST_RECORD   152
#define MOST_CONTACT  1352

static int rank, size, last_number;
static bool casts; /* there is multicast */

typedef struct {
    counters_t counters;
    unsigned long long messages, bytes;
} before_t;

static unsigned rounds_of(int ranks)
{
    unsigned rounds = 0;

    while (1 << rounds < ranks) {
        rounds++;
    }
    return rounds;
}

/* Above and below, in a tree of ranks with eight below each. */
static unsigned count_neighbours(void)
{
    int below = size - 1 - 8 * rank;

    return (unsigned) (below < 0 ? 0 : below < 8 ? below : 8) + (rank > 0);
}

static before_t look(void)
{
    return (before_t) {.counters = counters_read(), .messages = pvar_read("setup_messages"),
                       .bytes = pvar_read("setup_bytes")};
}

/* So many set-ups of communicators of all ranks; with servers alone, or any. */
static void check_messages(const char *what, const before_t *before, unsigned setups, bool servers)
{
    unsigned long long messages = pvar_read("setup_messages") - before->messages;
    unsigned long long bytes = pvar_read("setup_bytes") - before->bytes;
    unsigned long long least = (unsigned long long) setups * LEAST_EXCHANGES * rounds_of(size);
    unsigned long long most = (unsigned long long) setups
                              * (MOST_EXCHANGES * rounds_of(size) + (servers ? 0 : count_neighbours()));
    unsigned long long most_bytes =
        setups * ((size - 1ull) * (servers ? SERVER_RECORD : CAST_RECORD)
                  + (MOST_EXCHANGES - 1) * rounds_of(size) * VOTE);

    if (messages < least || messages > most) {
        wrong("%s: %u set-ups of %d ranks took %llu messages of each, not %llu to %llu", what,
              setups, size, messages, least, most);
    }
    most_bytes += servers ? 0 : (unsigned long long) setups * count_neighbours() * MOST_CONTACT;
    if (bytes > most_bytes) {
        wrong("%s: %u set-ups of %d ranks took %llu bytes of each, more than %llu", what, setups,
              size, bytes, most_bytes);
    }
}

static void check_counters(const char *what, const before_t *before, counters_t expected)
{
    /* Open MPI's own, for new communicators */
    expected.fallbacks_order = ANY;
    counters_moved(what, &before->counters, expected);
}

/* Whoever comes first, and how the ranks meet, is another thing each time. */
static void come_late(int number)
{
    usleep((useconds_t) (mix64((uint64_t) (rank * 100 + number)) % 3000));
}

static void dup_all(MPI_Comm comms[COMMS])
{
    for (int i = 0; i < COMMS; i++) {
        MPI_Comm_dup(MPI_COMM_WORLD, &comms[i]);
    }
}

static void free_all(MPI_Comm comms[COMMS])
{
    for (int i = 0; i < COMMS; i++) {
        MPI_Comm_free(&comms[i]);
    }
}

/* A blocking collective is the first of its communicator. */
static void block(collective_kind_t kind)
{
    counters_t expected = {.groups = COMMS};
    MPI_Comm comms[COMMS];
    before_t before;

    dup_all(comms);
    before = look();
    for (int i = 0; i < COMMS; i++) {
        come_late(i);
        collective_now("blocking", kind, comms[i], ++last_number, COUNT);
        collective_count(&expected, kind);
    }
    check_messages("blocking", &before, COMMS, ALLREDUCE == kind);
    check_counters("blocking", &before, expected);
    free_all(comms);
}

/*
 * Several nonblocking ones at a time, one a communicator, in an order of each rank's own. free:
 * communicators are freed while their set-ups are under way.
 */
static void do_not_block(collective_kind_t kind, bool free)
{
    const char *what = free ? "nonblocking, freed" : "nonblocking";
    counters_t expected = {.groups = COMMS};
    MPI_Request requests[COMMS];
    collective_t all[COMMS];
    MPI_Comm comms[COMMS];
    before_t before;

    dup_all(comms);
    before = look();
    for (int i = 0; i < COMMS; i++) {
        collective_make(&all[i], kind, comms[i], ++last_number, COUNT);
        collective_count(&expected, kind);
    }
    for (int i = 0; i < COMMS; i++) {
        int turn = (i + rank) % COMMS;

        come_late(i);
        collective_begin(&all[turn], &requests[turn]);
        if (free) {
            MPI_Comm_free(&comms[turn]);
        }
    }
    MPI_Waitall(COMMS, requests, MPI_STATUSES_IGNORE);
    for (int i = 0; i < COMMS; i++) {
        collective_check(what, &all[i]);
    }
    check_messages(what, &before, COMMS, ALLREDUCE == kind);
    check_counters(what, &before, expected);
    if (!free) {
        free_all(comms);
    }
}

static void init(collective_t *c, MPI_Request *request)
{
    if (ALLREDUCE == c->kind) {
        MPI_Allreduce_init(c->sum.send, c->sum.recv, c->sum.count, MPI_INT64_T, MPI_SUM, c->comm,
                           MPI_INFO_NULL, request);
    } else if (ALLGATHER == c->kind) {
        MPI_Allgather_init(c->send, c->count, MPI_INT, c->recv, c->count, MPI_INT, c->comm,
                           MPI_INFO_NULL, request);
    } else {
        MPI_Bcast_init(c->recv, c->count, MPI_INT, c->root, c->comm, MPI_INFO_NULL, request);
    }
}

/*
 * Persistent ones of one communicator, and one that is not and begins the set-up of the
 * communicator itself, in an order of each rank's own: none of their messages may meet another's.
 */
static void persist(bool free)
{
    static const collective_kind_t kinds[COMMS] = {ALLREDUCE, ALLGATHER, BCAST, ALLREDUCE, ALLREDUCE};
    const char *what = free ? "persistent, freed" : "persistent";
    counters_t expected = {.groups = 0};
    MPI_Request requests[COMMS + 1];
    collective_t all[COMMS + 1];
    before_t before;
    MPI_Comm comm;

    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    before = look();
    for (int i = 0; i < COMMS; i++) {
        collective_make(&all[i], casts ? kinds[i] : ALLREDUCE, comm, ++last_number, COUNT);
        collective_count(&expected, all[i].kind);
        init(&all[i], &requests[i]);
    }
    collective_start(&all[COMMS], ALLREDUCE, comm, ++last_number, COUNT, &requests[COMMS]);
    collective_count(&expected, ALLREDUCE);
    expected.groups = COMMS + 1;
    for (int i = 0; i < COMMS; i++) {
        come_late(i);
        MPI_Start(&requests[(i + rank) % COMMS]);
    }
    if (free) {
        MPI_Comm_free(&comm);
    }
    MPI_Waitall(COMMS + 1, requests, MPI_STATUSES_IGNORE);
    for (int i = 0; i <= COMMS; i++) {
        collective_check(what, &all[i]);
        if (i < COMMS) {
            MPI_Request_free(&requests[i]);
        }
    }
    check_messages(what, &before, COMMS + 1, !casts);
    check_counters(what, &before, expected);
    if (!free) {
        MPI_Comm_free(&comm);
    }
}

/* Both services of one communicator at a time, with numbers of Open MPI's own in between. */
static void both(void)
{
    counters_t expected = {.groups = 2};
    collective_t reduce, gather;
    MPI_Request requests[4];
    before_t before;
    MPI_Comm comm;

    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    before = look();
    begin_sync(comm, &requests[0]);
    collective_start(&reduce, ALLREDUCE, comm, ++last_number, COUNT, &requests[1]);
    come_late(0);
    begin_sync(comm, &requests[2]);
    collective_start(&gather, ALLGATHER, comm, ++last_number, COUNT, &requests[3]);
    MPI_Waitall(4, requests, MPI_STATUSES_IGNORE);
    collective_check("both", &reduce);
    collective_check("both", &gather);
    collective_count(&expected, ALLREDUCE);
    collective_count(&expected, ALLGATHER);
    check_messages("both", &before, 2, false);
    check_counters("both", &before, expected);
    MPI_Comm_free(&comm);
}

int main(int argc, char **argv)
{
    int status;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    casts = argc > 1 && 0 == strcmp(argv[1], "casts");
    for (collective_kind_t kind = ALLREDUCE; kind < (casts ? NUM_COLLECTIVES : ALLGATHER); kind++) {
        block(kind);
        do_not_block(kind, false);
        do_not_block(kind, true);
    }
    persist(false);
    persist(true);
    if (casts) {
        both();
    }
    pvars_end();
    status = conclude("setups");
    MPI_Finalize();
    return status;
}
