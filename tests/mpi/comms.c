/* SPDX-License-Identifier: BSD-3-Clause */
/* Communicators of all kinds and ages, and operations that are not offloaded. 4 ranks or more. */
/* Test: quick 120 -- 4 embedded; default 120 -- 4 embedded + 5 embedded:3 chunk_size=4096 + 4 server */
/* Test: sanitizers: default 300 -- 4 embedded + 5 embedded:3 chunk_size=4096 + 4 server */
#include <stdbool.h>
#include <string.h>

#include "counters.h"

#define CYCLES 50
#define LARGE  50000

static int rank, size;

/* The difference to before must be expected; communicators may have been made in between. */
static void moved(const char *what, const counters_t *before, counters_t expected)
{
    expected.fallbacks_order = ANY;
    counters_moved(what, before, expected);
}

/* In place; element i of rank r is r + i. */
static int64_t *make(MPI_Comm comm, int count)
{
    int64_t *data = must(malloc((size_t) count * sizeof(*data)));
    int own;

    MPI_Comm_rank(comm, &own);
    for (int i = 0; i < count; i++) {
        data[i] = own + i;
    }
    return data;
}

static void check_sum(const char *what, int64_t *data, int count, int ranks)
{
    for (int i = 0; i < count; i++) {
        int64_t sum = (int64_t) ranks * (ranks - 1) / 2 + (int64_t) ranks * i;

        if (data[i] != sum) {
            wrong("%s: element %d of %d is %lld instead of %lld", what, i, count,
                  (long long) data[i], (long long) sum);
            break;
        }
    }
    free(data);
}

static void sum(const char *what, MPI_Comm comm, int count)
{
    int64_t *data = make(comm, count);
    int ranks;

    MPI_Comm_size(comm, &ranks);
    MPI_Allreduce(MPI_IN_PLACE, data, count, MPI_INT64_T, MPI_SUM, comm);
    check_sum(what, data, count, ranks);
}

/* MPI_Comm_free with an operation pending, which is (or is not) the first of its communicator. */
static void free_while_pending(int count, bool first)
{
    const char *what = first ? "free with a first operation pending" : "free with one pending";
    counters_t before = counters_read();
    MPI_Request requests[2];
    MPI_Comm comm, half;
    int64_t *data[2];
    int halves;

    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    MPI_Comm_split(MPI_COMM_WORLD, rank < 2, -rank, &half);
    MPI_Comm_size(half, &halves);
    if (!first) {
        sum(what, comm, 10);
        sum(what, half, count);
    }
    data[0] = make(comm, count);
    data[1] = make(half, count);
    MPI_Iallreduce(MPI_IN_PLACE, data[0], count, MPI_INT64_T, MPI_SUM, comm, &requests[0]);
    MPI_Iallreduce(MPI_IN_PLACE, data[1], count, MPI_INT64_T, MPI_SUM, half, &requests[1]);
    MPI_Comm_free(&comm);
    MPI_Comm_free(&half);
    MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
    check_sum(what, data[0], count, size);
    check_sum(what, data[1], count, halves);
    moved(what, &before, (counters_t) {.allreduce_offloaded = first ? 2 : 4, .groups = 2});
}

static void cycles(void)
{
    counters_t before = counters_read();

    for (int i = 0; i < CYCLES; i++) {
        MPI_Comm comm;

        if (0 == i % 2) {
            MPI_Comm_dup(MPI_COMM_WORLD, &comm);
        } else {
            MPI_Comm_split(MPI_COMM_WORLD, rank % 2, -rank, &comm);
        }
        sum("cycles", comm, 0 == i % 5 ? LARGE : 1 + i);
        MPI_Comm_free(&comm);
    }
    moved("cycles", &before, (counters_t) {.allreduce_offloaded = CYCLES, .groups = CYCLES});
}

static void never_used(void)
{
    counters_t before = counters_read();

    for (int i = 0; i < 10; i++) {
        MPI_Comm comm;

        MPI_Comm_dup(MPI_COMM_WORLD, &comm);
        MPI_Comm_free(&comm);
    }
    moved("unused communicators", &before, (counters_t) {0});
}

static void self(void)
{
    counters_t before = counters_read();

    sum("MPI_COMM_SELF", MPI_COMM_SELF, 100);
    moved("MPI_COMM_SELF", &before, (counters_t) {0});
}

/* Each side gets the sum of the other. */
static void intercommunicator(void)
{
    counters_t before;
    MPI_Comm side, inter;
    int remote, low = rank < 2;
    int64_t in = rank, out = -1, expected;

    MPI_Comm_split(MPI_COMM_WORLD, low, rank, &side);
    MPI_Intercomm_create(side, 0, MPI_COMM_WORLD, low ? 2 : 0, 5, &inter);
    MPI_Comm_remote_size(inter, &remote);
    before = counters_read();
    MPI_Allreduce(&in, &out, 1, MPI_INT64_T, MPI_SUM, inter);
    expected = low ? (int64_t) size * (size - 1) / 2 - 1 : 1;
    if (out != expected) {
        wrong("intercommunicator: %lld instead of %lld from %d ranks", (long long) out,
              (long long) expected, remote);
    }
    /* Open MPI's algorithm uses the side's own Allreduce: those of sides are not ours to count */
    if (pvar_read("failures") != before.failures) {
        wrong("intercommunicator: a failure was counted");
    }
    MPI_Comm_free(&inter);
    MPI_Comm_free(&side);
}

/* The larger one of each. */
static void larger(void *in, void *inout, int *count, MPI_Datatype *type)
{
    int64_t *a = in, *b = inout;

    (void) type;
    for (int i = 0; i < *count; i++) {
        b[i] = a[i] > b[i] ? a[i] : b[i];
    }
}

typedef struct {
    int64_t number;
    double weight;
} pair_t;

static void add_pairs(void *in, void *inout, int *count, MPI_Datatype *type)
{
    pair_t *a = in, *b = inout;

    (void) type;
    for (int i = 0; i < *count; i++) {
        b[i].number += a[i].number;
        b[i].weight += a[i].weight;
    }
}

static void user_operation(bool nonblocking)
{
    counters_t before = counters_read();
    int64_t data[3] = {rank, -rank, 7};
    MPI_Request request;
    MPI_Op op;

    MPI_Op_create(larger, 1, &op);
    if (nonblocking) {
        MPI_Iallreduce(MPI_IN_PLACE, data, 3, MPI_INT64_T, op, MPI_COMM_WORLD, &request);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
    } else {
        MPI_Allreduce(MPI_IN_PLACE, data, 3, MPI_INT64_T, op, MPI_COMM_WORLD);
    }
    if (size - 1 != data[0] || 0 != data[1] || 7 != data[2]) {
        wrong("user operation: %lld %lld %lld", (long long) data[0], (long long) data[1],
              (long long) data[2]);
    }
    MPI_Op_free(&op);
    moved("user operation", &before, (counters_t) {.fallbacks_op = 1});
}

static void derived_type(void)
{
    counters_t before = counters_read();
    pair_t in = {rank, 0.5}, out = {0, 0};
    int lengths[] = {1, 1};
    MPI_Aint at[] = {0, sizeof(int64_t)};
    MPI_Datatype types[] = {MPI_INT64_T, MPI_DOUBLE}, pair;
    MPI_Op op;

    MPI_Type_create_struct(2, lengths, at, types, &pair);
    MPI_Type_commit(&pair);
    MPI_Op_create(add_pairs, 1, &op);
    MPI_Allreduce(&in, &out, 1, pair, op, MPI_COMM_WORLD);
    if (size * (size - 1) / 2 != out.number || 0.5 * size != out.weight) {
        wrong("derived type: %lld %g", (long long) out.number, out.weight);
    }
    MPI_Op_free(&op);
    MPI_Type_free(&pair);
    moved("derived type", &before, (counters_t) {.fallbacks_op = 1});
}

/* Nothing to reduce: nothing is touched, nothing is sent. */
static void empty(void)
{
    counters_t before = counters_read();
    int64_t send = 1, recv = 2;
    MPI_Request request;

    MPI_Allreduce(&send, &recv, 0, MPI_INT64_T, MPI_SUM, MPI_COMM_WORLD);
    MPI_Iallreduce(&send, &recv, 0, MPI_INT64_T, MPI_SUM, MPI_COMM_WORLD, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    if (2 != recv) {
        wrong("an empty Allreduce has changed its buffer");
    }
    if (before.failures != pvar_read("failures")
        || before.allreduce_offloaded != pvar_read("allreduce_offloaded")) {
        wrong("an empty Allreduce was offloaded");
    }
}

/* Two communicators in opposite orders: each only waits for its own ranks. */
static void opposite_orders(void)
{
    MPI_Comm a, b;
    MPI_Request requests[2];
    int64_t *first, *second;

    MPI_Comm_dup(MPI_COMM_WORLD, &a);
    MPI_Comm_dup(MPI_COMM_WORLD, &b);
    first = make(a, LARGE);
    second = make(b, LARGE);
    for (int i = 0; i < 2; i++) {
        bool use_a = (0 == i) == (0 == rank % 2);

        MPI_Iallreduce(MPI_IN_PLACE, use_a ? first : second, LARGE, MPI_INT64_T, MPI_SUM,
                       use_a ? a : b, &requests[i]);
    }
    MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
    check_sum("opposite orders", first, LARGE, size);
    check_sum("opposite orders", second, LARGE, size);
    MPI_Comm_free(&a);
    MPI_Comm_free(&b);
}

/*
 * A duplication agrees about its id by nonblocking collectives that are issued when a rank happens
 * to make progress: the set-up of the parent must not get mixed up with them.
 */
static void duplicate_meanwhile(void)
{
    for (int i = 0; i < 10; i++) {
        MPI_Comm parent, copy;
        MPI_Request request;
        int done = 0;

        MPI_Comm_dup(MPI_COMM_WORLD, &parent);
        MPI_Comm_idup(parent, &copy, &request);
        for (int polls = 0; polls < 50 * (rank % 3) && !done; polls++) {
            MPI_Test(&request, &done, MPI_STATUS_IGNORE);
        }
        sum("during a duplication", parent, 100);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        sum("after a duplication", copy, 100);
        MPI_Comm_free(&copy);
        MPI_Comm_free(&parent);
    }
}

int main(int argc, char **argv)
{
    int status;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    if (size < 4) {
        wrong("4 ranks or more are needed");
        MPI_Abort(MPI_COMM_WORLD, 2);
    }
    never_used();
    free_while_pending(10, true);
    free_while_pending(LARGE, true);
    free_while_pending(10, false);
    free_while_pending(LARGE, false);
    cycles();
    self();
    intercommunicator();
    user_operation(false);
    user_operation(true);
    derived_type();
    empty();
    opposite_orders();
    duplicate_meanwhile();
    pvars_end();
    status = conclude("comms");
    MPI_Finalize();
    return status;
}
