/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Persistent Allreduces: before, among and after others, on communicators in all states.
 *
 * usage: persistent served|unserved|crowded
 *        persistent doomed FILE
 * unserved: no server can be reached. crowded: no communicator may be offloaded. doomed: the
 * server is killed when the program says so; then there is FILE.
 */
#include <stdbool.h>
#include <string.h>
#include <unistd.h>

#include "check.h"
#include "persistent.h"
#include "pvars.h"

#define ROUNDS 5
#define SMALL  3
#define LARGE  40000

static int rank, size;
static bool served;
static const char *reason; /* the counter of fallbacks that may move if not served */

typedef struct {
    MPI_Comm comm;
    int count, number;
    int64_t *send, *recv;
    MPI_Request request;
} operation_t;

typedef struct {
    unsigned long long offloaded, fallbacks, failures;
} counters_t;

static counters_t read_counters(void)
{
    return (counters_t) {.offloaded = pvar_read("allreduce_offloaded"),
                         .fallbacks = pvar_read(reason), .failures = pvar_read("failures")};
}

/* If it is not served, at least one fallback has to be seen: for the reason of this run. */
static void moved(const char *what, const counters_t *before, unsigned long long offloaded)
{
    counters_t now = read_counters();
    unsigned long long did = now.offloaded - before->offloaded;
    unsigned long long fell = now.fallbacks - before->fallbacks;

    if (did != (served ? offloaded : 0) || (served ? 0 != fell : 0 == fell)
        || now.failures != before->failures) {
        wrong("%s: %llu offloaded and not %llu, %llu %s, %llu failures", what, did, offloaded,
              fell, reason, now.failures - before->failures);
    }
}

static operation_t make(MPI_Comm comm, int count, bool in_place)
{
    operation_t o = {.comm = comm, .count = count};

    o.recv = must(calloc((size_t) count, sizeof(int64_t)));
    o.send = in_place ? o.recv : must(calloc((size_t) count, sizeof(int64_t)));
    MPI_Allreduce_init(in_place ? MPI_IN_PLACE : o.send, o.recv, count, MPI_INT64_T, MPI_SUM, comm,
                       MPI_INFO_NULL, &o.request);
    return o;
}

static void fill(operation_t *o, int number)
{
    o->number = number;
    for (int i = 0; i < o->count; i++) {
        o->recv[i] = -1;
        o->send[i] = rank + i + (int64_t) number * 1000;
    }
}

static void check(const char *what, const operation_t *o)
{
    for (int i = 0; i < o->count; i++) {
        int64_t sum = (int64_t) size * (size - 1) / 2 + (int64_t) size * (i + o->number * 1000LL);

        if (o->recv[i] != sum) {
            wrong("%s, round %d: element %d of %d is %lld instead of %lld", what, o->number, i,
                  o->count, (long long) o->recv[i], (long long) sum);
            return;
        }
    }
}

static void release(operation_t *o)
{
    MPI_Request_free(&o->request);
    if (o->send != o->recv) {
        free(o->send);
    }
    free(o->recv);
}

static void rounds(const char *what, operation_t *o, int num)
{
    MPI_Request requests[8];

    for (int number = 0; number < ROUNDS; number++) {
        for (int i = 0; i < num; i++) {
            fill(&o[i], number);
            requests[i] = o[i].request;
        }
        if (0 == number % 2) {
            MPI_Startall(num, requests);
        } else {
            for (int i = 0; i < num; i++) {
                MPI_Start(&requests[i]);
            }
        }
        MPI_Waitall(num, requests, MPI_STATUSES_IGNORE);
        for (int i = 0; i < num; i++) {
            if (requests[i] != o[i].request) {
                wrong("%s: waiting has changed a persistent request", what);
            }
            check(what, &o[i]);
        }
    }
}

static void blocking(MPI_Comm comm)
{
    double one = 1, sum = 0;

    MPI_Allreduce(&one, &sum, 1, MPI_DOUBLE, MPI_SUM, comm);
    if (sum != size) {
        wrong("a blocking Allreduce gives %g instead of %d", sum, size);
    }
}

/* The first collective of a communicator is persistent, or comes after one that blocked. */
static void on_new_communicator(bool blocking_first)
{
    const char *what = blocking_first ? "after a blocking one" : "first";
    counters_t before;
    operation_t o[4];
    MPI_Comm comm;

    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    before = read_counters();
    if (blocking_first) {
        blocking(comm);
    }
    o[0] = make(comm, SMALL, false);
    o[1] = make(comm, LARGE, false);
    o[2] = make(comm, LARGE, true);
    o[3] = make(comm, SMALL, true);
    rounds(what, o, 4);
    moved(what, &before, 4 * ROUNDS + blocking_first);
    for (int i = 3; i >= 0; i--) {
        release(&o[i]);
    }
    MPI_Comm_free(&comm);
}

/* Each rank waits in another order, with other nonblocking collectives between. */
static void among_others(void)
{
    counters_t before;
    operation_t a, b;
    MPI_Request barrier, immediate;
    MPI_Comm comm;
    float one = 1, sum = 0;

    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    before = read_counters();
    a = make(comm, LARGE, false);
    begin_sync(comm, &barrier);
    b = make(comm, SMALL, true);
    fill(&a, 1);
    fill(&b, 2);
    MPI_Start(&b.request);
    MPI_Iallreduce(&one, &sum, 1, MPI_FLOAT, MPI_SUM, comm, &immediate);
    MPI_Start(&a.request);
    if (0 == rank % 2) {
        MPI_Wait(&a.request, MPI_STATUS_IGNORE);
    }
    MPI_Wait(&immediate, MPI_STATUS_IGNORE);
    MPI_Wait(&barrier, MPI_STATUS_IGNORE);
    MPI_Wait(&b.request, MPI_STATUS_IGNORE);
    MPI_Wait(&a.request, MPI_STATUS_IGNORE);
    check("among others", &a);
    check("among others", &b);
    if (sum != (float) size) {
        wrong("among others: an immediate sum is %g", (double) sum);
    }
    moved("among others", &before, 3);
    release(&a);
    release(&b);
    MPI_Comm_free(&comm);
}

/* Only initialisations come in the same order on all ranks. */
static void started_in_other_orders(void)
{
    counters_t before;
    operation_t a, b, *first, *second;
    MPI_Comm comm;

    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    before = read_counters();
    a = make(comm, LARGE, false);
    b = make(comm, LARGE, true);
    first = 0 == rank % 2 ? &a : &b;
    second = 0 == rank % 2 ? &b : &a;
    for (int number = 0; number < ROUNDS; number++) {
        fill(&a, 10 + number);
        fill(&b, 20 + number);
        MPI_Start(&first->request);
        if (1 == rank % 2 || ROUNDS == number + 1) {
            MPI_Start(&second->request);
        }
        blocking(comm);
        if (0 == rank % 2 && ROUNDS != number + 1) {
            MPI_Start(&second->request);
        }
        MPI_Wait(&second->request, MPI_STATUS_IGNORE);
        MPI_Wait(&first->request, MPI_STATUS_IGNORE);
        check("other orders", &a);
        check("other orders", &b);
    }
    moved("other orders", &before, 3 * ROUNDS);
    release(&a);
    release(&b);
    MPI_Comm_free(&comm);
}

/* Open MPI's own use of such operations is not persistent: these are offloaded too. */
static void maximum_of_an_int(void)
{
    counters_t before = read_counters();
    int in = rank, out = -1;
    MPI_Request request;

    MPI_Allreduce_init(&in, &out, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD, MPI_INFO_NULL, &request);
    MPI_Start(&request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    MPI_Request_free(&request);
    if (size - 1 != out) {
        wrong("the largest rank is %d instead of %d", out, size - 1);
    }
    moved("MAX of one int", &before, 1);
}

static void never_started(void)
{
    counters_t before = read_counters();
    operation_t o = make(MPI_COMM_WORLD, SMALL, false);

    release(&o);
    if (read_counters().offloaded != before.offloaded) {
        wrong("an operation that was never started was offloaded");
    }
}

static void inactive(void)
{
    operation_t o = make(MPI_COMM_WORLD, LARGE, false);
    int done = 0;

    MPI_Wait(&o.request, MPI_STATUS_IGNORE);
    MPI_Test(&o.request, &done, MPI_STATUS_IGNORE);
    if (!done || MPI_REQUEST_NULL == o.request) {
        wrong("an inactive request is not complete");
    }
    release(&o);
}

/* Rank 0 only starts when the others have tried: theirs cannot be complete. */
static void freed_while_active(void)
{
    operation_t o = make(MPI_COMM_WORLD, LARGE, false);
    MPI_Request copy = o.request;

    fill(&o, 0);
    for (int i = 1; 0 == rank && i < size; i++) {
        MPI_Recv(NULL, 0, MPI_INT, i, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
    MPI_Start(&o.request);
    if (0 != rank) {
        MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
        if (MPI_SUCCESS == MPI_Request_free(&copy)) {
            wrong("an active request was freed");
        }
        MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);
        MPI_Send(NULL, 0, MPI_INT, 0, 0, MPI_COMM_WORLD);
    }
    MPI_Wait(&o.request, MPI_STATUS_IGNORE);
    check("freed while active", &o);
    release(&o);
}

/* MPI_Comm_free only marks: a request keeps the communicator as long as it is served. */
static void communicator_freed(void)
{
    counters_t before;
    operation_t o[2];
    MPI_Comm comm;

    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    before = read_counters();
    o[0] = make(comm, SMALL, false);
    o[1] = make(comm, LARGE, true);
    MPI_Comm_free(&comm);
    rounds("communicator freed", o, 2);
    moved("communicator freed", &before, 2 * ROUNDS);
    release(&o[0]);
    release(&o[1]);
}

/*
 * The server dies while the operations are inactive: starting them afterwards must not pass for
 * success. path: a file that is there when the server is not.
 */
static void doomed(const char *path)
{
    operation_t o[2] = {make(MPI_COMM_WORLD, SMALL, false), make(MPI_COMM_WORLD, LARGE, true)};

    rounds("before the server dies", o, 2);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    sync_all(MPI_COMM_WORLD);
    if (0 == rank) {
        printf("may die\n");
        fflush(stdout);
    }
    for (int i = 0; i < 200 && 0 != access(path, F_OK); i++) {
        usleep(100000);
    }
    /* the first one finds out, and the second one is started when all is known */
    for (int i = 0; i < 2; i++) {
        MPI_Startall(1, &o[i].request);
        if (MPI_SUCCESS == MPI_Wait(&o[i].request, MPI_STATUS_IGNORE)) {
            wrong("operation %d has no error without its server", i);
        }
        /* Open MPI itself may free what has failed */
        if (MPI_REQUEST_NULL != o[i].request) {
            release(&o[i]);
        }
    }
}

/* What no user gives back must not trouble MPI_Finalize. */
static void leak(void)
{
    operation_t o;
    MPI_Comm comm;

    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    o = make(comm, SMALL, false);
    rounds("leaked", &o, 1);
    free(o.send);
    free(o.recv);
}

int main(int argc, char **argv)
{
    int status;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    served = argc > 1 && 0 == strcmp(argv[1], "served");
    reason = argc > 1 && 0 == strcmp(argv[1], "crowded") ? "fallbacks_ranks" : "fallbacks_setup";
    if (argc > 2 && 0 == strcmp(argv[1], "doomed")) {
        served = true;
        doomed(argv[2]);
        pvars_end();
        status = conclude("persistent");
        MPI_Finalize();
        return status;
    }
    on_new_communicator(false);
    on_new_communicator(true);
    among_others();
    started_in_other_orders();
    maximum_of_an_int();
    never_started();
    inactive();
    if (0 != strcmp(reason, "fallbacks_ranks")) {
        /* otherwise both would be Open MPI's own requests */
        freed_while_active();
        communicator_freed();
    }
    leak();
    pvars_end();
    status = conclude("persistent");
    MPI_Finalize();
    return status;
}
