/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Many Iallreduces in flight on three communicators whose first collectives they are, completed
 * in another order on every rank, among messages and other nonblocking collectives.
 *
 * usage: inflight OPERATIONS SEED served|unserved|plain
 * unserved: no server can be reached, and everything has to fall back. plain: without the
 * component.
 */
#include <stdbool.h>
#include <string.h>
#include <unistd.h>

#include "check.h"
#include "offered.h"
#include "pvars.h"
#include "sums.h"

#define NUM_COMMS 3
#define LONGEST   9000

typedef struct {
    MPI_Comm comms[NUM_COMMS];
    sum_t *operations;
    MPI_Request *requests;
    int count, done;
    int blocking;              /* operations that waited at once */
    int met;                   /* … and those that set communicators up */
    uint64_t common, own;      /* random numbers: equal on all ranks, and different */
} test_t;

static int rank, size;

static void make_comms(test_t *test)
{
    MPI_Comm_dup(MPI_COMM_WORLD, &test->comms[0]);
    MPI_Comm_split(MPI_COMM_WORLD, rank % 2, rank, &test->comms[1]);
    MPI_Comm_split(MPI_COMM_WORLD, 0, -rank, &test->comms[2]);
}

/* One message around the ring. */
static void exchange(int number)
{
    int out = rank * 1000 + number, in = -1;
    int left = (rank + size - 1) % size, right = (rank + 1) % size;
    MPI_Request requests[2];

    MPI_Irecv(&in, 1, MPI_INT, left, 7, MPI_COMM_WORLD, &requests[0]);
    MPI_Isend(&out, 1, MPI_INT, right, 7, MPI_COMM_WORLD, &requests[1]);
    MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
    if (in != left * 1000 + number) {
        wrong("message %d from rank %d is %d", number, left, in);
    }
}

/* Other collectives of the same communicator, which keep their place among the Iallreduces. */
static void others(MPI_Comm comm, int number)
{
    int value = number, comm_rank;
    MPI_Request requests[2];

    MPI_Comm_rank(comm, &comm_rank);
    value = 0 == comm_rank ? number : -1;
    MPI_Ibcast(&value, 1, MPI_INT, 0, comm, &requests[0]);
    begin_sync(comm, &requests[1]);
    MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
    if (value != number) {
        wrong("Ibcast %d gave %d", number, value);
    }
}

static void block(test_t *test, MPI_Comm comm, int number, int count)
{
    sum_now("blocking", comm, number, count);
    test->blocking++;
}

/* What happens besides is the same on all ranks: collectives come in one order everywhere. */
static void meanwhile(test_t *test, MPI_Comm comm, int number)
{
    switch (next_random(&test->common, 12)) {
    case 0:
    case 1:
        exchange(number);
        break;
    case 2:
        others(comm, number);
        break;
    case 3:
        /* late, so that the first collective of each communicator is a nonblocking one */
        if (number > test->count / 2) {
            block(test, comm, 100000 + number, 1 + (int) next_random(&test->common, LONGEST));
        }
        break;
    default:
        break;
    }
    if (0 == next_random(&test->own, 8)) {
        usleep(next_random(&test->own, 3000));
    }
}

static void start_all(test_t *test)
{
    for (int number = 0; number < test->count; number++) {
        unsigned which = next_random(&test->common, NUM_COMMS);
        bool is_short = 0 != next_random(&test->common, 3);
        int count = 1 + (int) next_random(&test->common, is_short ? 1000 : LONGEST);

        sum_start(&test->operations[number], test->comms[which], number, count,
                  &test->requests[number]);
        meanwhile(test, test->comms[which], number);
    }
}

static void finish(test_t *test, int number)
{
    sum_check("nonblocking", &test->operations[number]);
    test->done++;
}

static void wait_any(test_t *test)
{
    int index;

    MPI_Waitany(test->count, test->requests, &index, MPI_STATUS_IGNORE);
    finish(test, index);
}

static void test_some(test_t *test)
{
    int *indices = must(malloc((size_t) test->count * sizeof(int))), outcount;

    MPI_Testsome(test->count, test->requests, &outcount, indices, MPI_STATUSES_IGNORE);
    for (int i = 0; MPI_UNDEFINED != outcount && i < outcount; i++) {
        finish(test, indices[i]);
    }
    free(indices);
}

static void wait_random(test_t *test)
{
    int index = (int) next_random(&test->own, (unsigned) test->count);

    while (MPI_REQUEST_NULL == test->requests[index]) {
        index = (index + 1) % test->count;
    }
    MPI_Wait(&test->requests[index], MPI_STATUS_IGNORE);
    finish(test, index);
}

static void finish_all(test_t *test)
{
    while (test->done < test->count) {
        switch (next_random(&test->own, 3)) {
        case 0:
            wait_any(test);
            break;
        case 1:
            test_some(test);
            break;
        default:
            wait_random(test);
        }
    }
}

static void expect(const char *name, unsigned long long value)
{
    if (value != pvar_read(name)) {
        wrong("pvar %s is %llu instead of %llu", name, pvar_read(name), value);
    }
}

static void check_counters(const test_t *test, bool served, unsigned long long order)
{
    unsigned long long all = (unsigned long long) (test->count + test->blocking + test->met);

    expect("allreduce_offloaded", served ? all : 0);
    expect("fallbacks_setup", served ? 0 : all);
    /* Open MPI's own, for new communicators */
    expect("fallbacks", order + (served ? 0 : all));
    expect("groups", served ? NUM_COMMS : 0);
    expect("failures", 0);
}

int main(int argc, char **argv)
{
    test_t test = {.count = argc > 1 ? atoi(argv[1]) : 64};
    uint64_t seed = argc > 2 ? strtoull(argv[2], NULL, 10) : 1;
    bool served = argc <= 3 || 0 == strcmp(argv[3], "served");
    bool plain = argc > 3 && 0 == strcmp(argv[3], "plain");
    unsigned long long order;
    int status;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    test.common = mix64(seed);
    test.own = mix64(seed + 1000 + (uint64_t) rank);
    test.operations = must(calloc((size_t) test.count, sizeof(*test.operations)));
    test.requests = must(calloc((size_t) test.count, sizeof(*test.requests)));
    make_comms(&test);
    for (int i = 0; i < NUM_COMMS; i++) {
        meet_first(test.comms[i]);
    }
    test.met = offers_first_nonblocking ? 0 : NUM_COMMS;
    order = plain ? 0 : pvar_read("fallbacks_order");
    start_all(&test);
    finish_all(&test);
    if (!plain) {
        check_counters(&test, served, order);
    }
    for (int i = 0; i < NUM_COMMS; i++) {
        MPI_Comm_free(&test.comms[i]);
    }
    free(test.operations);
    free(test.requests);
    pvars_end();
    status = conclude("inflight");
    MPI_Finalize();
    return status;
}
