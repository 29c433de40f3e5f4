/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Requests of offloaded operations in all functions of MPI that take requests, among others and by themselves;
 * MPICH's own messages go on while a rank waits for an offloaded operation, and the other way round.
 */
#include <stdbool.h>
#include <string.h>
#include <unistd.h>

#include "check.h"
#include "offered.h"
#include "pvars.h"

#define LENGTH  30000       /* elements of a vector */
#define LARGE   (4 << 20)   /* bytes of a message that its receiver has to ask for */
#define AT_ONCE 5

static int rank, size;

typedef struct {
    MPI_Request request;
    int number;
    int64_t *data;
} sum_t;

static void sum_begin(sum_t *s, int number, MPI_Comm comm)
{
    s->number = number;
    s->data = must(malloc(LENGTH * sizeof(*s->data)));
    for (int i = 0; i < LENGTH; i++) {
        s->data[i] = rank * 1000 + number + i;
    }
    MPI_Iallreduce(MPI_IN_PLACE, s->data, LENGTH, MPI_INT64_T, MPI_SUM, comm, &s->request);
}

static void sum_end(const char *what, sum_t *s)
{
    for (int i = 0; i < LENGTH; i++) {
        int64_t value = (int64_t) size * (s->number + i) + 500 * (int64_t) size * (size - 1);

        if (value != s->data[i]) {
            wrong("%s: element %d is %lld instead of %lld", what, i, (long long) s->data[i],
                  (long long) value);
            break;
        }
    }
    free(s->data);
}

/* So many more operations have been offloaded since. */
static void expect_offloaded(const char *what, const char *counter, unsigned long long before,
                             unsigned long long many)
{
    if (pvar_read(counter) - before != many) {
        wrong("%s: %s has grown by %llu instead of %llu", what, counter, pvar_read(counter) - before,
              many);
    }
}

static void by_wait(sum_t *s)
{
    MPI_Status status;

    for (int i = AT_ONCE - 1; i >= 0; i--) {
        MPI_Wait(&s[i].request, &status);
    }
}

static void by_test(sum_t *s)
{
    for (int i = 0, done; i < AT_ONCE; i++) {
        do {
            MPI_Test(&s[i].request, &done, MPI_STATUS_IGNORE);
        } while (!done);
    }
}

static void by_get_status(sum_t *s)
{
    for (int i = 0, done; i < AT_ONCE; i++) {
        do {
            MPI_Request_get_status(s[i].request, &done, MPI_STATUS_IGNORE);
        } while (!done);
        MPI_Wait(&s[i].request, MPI_STATUS_IGNORE);
    }
}

/* In one array with messages of MPICH, a Barrier and null requests. */
static void together(sum_t *s, bool waits, bool statuses)
{
    static char in[LARGE], out[LARGE];
    MPI_Request requests[AT_ONCE + 4];
    MPI_Status array[AT_ONCE + 4];
    int count = 0, done = 0;

    MPI_Irecv(in, LARGE, MPI_BYTE, (rank + 1) % size, 1, MPI_COMM_WORLD, &requests[count++]);
    for (int i = 0; i < AT_ONCE; i++) {
        requests[count++] = s[i].request;
    }
    requests[count++] = MPI_REQUEST_NULL;
    MPI_Ibarrier(MPI_COMM_WORLD, &requests[count++]);
    memset(out, rank, LARGE);
    MPI_Isend(out, LARGE, MPI_BYTE, (rank + size - 1) % size, 1, MPI_COMM_WORLD, &requests[count++]);
    if (waits) {
        MPI_Waitall(count, requests, statuses ? array : MPI_STATUSES_IGNORE);
    }
    while (!waits && !done) {
        MPI_Testall(count, requests, &done, statuses ? array : MPI_STATUSES_IGNORE);
    }
    if ((rank + 1) % size != in[0] || 0 != memcmp(in, in + 1, LARGE - 1)) {
        wrong("a message beside the requests is wrong");
    }
}

static void by_waitall(sum_t *s)
{
    together(s, true, true);
}

static void by_waitall_without_statuses(sum_t *s)
{
    together(s, true, false);
}

static void by_testall(sum_t *s)
{
    together(s, false, false);
}

static void by_waitsome(sum_t *s)
{
    MPI_Request requests[AT_ONCE];
    int indices[AT_ONCE], count = 0, done = 0;

    for (int i = 0; i < AT_ONCE; i++) {
        requests[i] = s[i].request;
    }
    while (done < AT_ONCE && MPI_UNDEFINED != count) {
        MPI_Waitsome(AT_ONCE, requests, &count, indices, MPI_STATUSES_IGNORE);
        done += count;
    }
}

static void in_each_way(void)
{
    static const struct {
        const char *name;
        void (*finish)(sum_t *s);
    } ways[] = {{"Wait", by_wait}, {"Test", by_test}, {"get_status", by_get_status},
                {"Waitall", by_waitall}, {"Waitall, no statuses", by_waitall_without_statuses},
                {"Testall", by_testall}, {"Waitsome", by_waitsome}};

    for (size_t way = 0; way < sizeof(ways) / sizeof(ways[0]); way++) {
        unsigned long long before = pvar_read("allreduce_offloaded");
        sum_t s[AT_ONCE];

        for (int i = 0; i < AT_ONCE; i++) {
            sum_begin(&s[i], 10 * (int) way + i, MPI_COMM_WORLD);
        }
        ways[way].finish(s);
        expect_offloaded(ways[way].name, "allreduce_offloaded", before, AT_ONCE);
        for (int i = 0; i < AT_ONCE; i++) {
            sum_end(ways[way].name, &s[i]);
        }
    }
}

/* MPI lets the even ranks wait for a message that the odd ones send when the operation is over. */
static void message_behind(void)
{
    int partner = rank ^ 1, token = rank;
    sum_t s;

    sum_begin(&s, 1, MPI_COMM_WORLD);
    if (0 == rank % 2 && partner < size) {
        MPI_Recv(&token, 1, MPI_INT, partner, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
    MPI_Wait(&s.request, MPI_STATUS_IGNORE);
    if (1 == rank % 2) {
        MPI_Send(&token, 1, MPI_INT, partner, 2, MPI_COMM_WORLD);
    } else if (partner < size && partner != token) {
        wrong("the message behind an operation is %d", token);
    }
    sum_end("message behind", &s);
}

/* A large message needs its sender, which waits in an offloaded operation. */
static void message_beside(void)
{
    static char buffer[LARGE];
    MPI_Request request = MPI_REQUEST_NULL;
    int64_t sum = 1;

    if (0 == rank) {
        memset(buffer, 7, LARGE);
        MPI_Isend(buffer, LARGE, MPI_BYTE, 1, 3, MPI_COMM_WORLD, &request);
    } else if (1 == rank) {
        usleep(50000);
        MPI_Recv(buffer, LARGE, MPI_BYTE, 0, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        if (7 != buffer[LARGE - 1]) {
            wrong("a large message is wrong");
        }
    }
    MPI_Allreduce(MPI_IN_PLACE, &sum, 1, MPI_INT64_T, MPI_SUM, MPI_COMM_WORLD);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    if (size != sum) {
        wrong("a sum beside a large message is %lld", (long long) sum);
    }
}

/* What the program gives back before the operation is over. */
static void given_back(void)
{
    unsigned long long before = pvar_read("allreduce_offloaded");
    MPI_Comm comm;
    sum_t s;

    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    meet_first(comm);
    sum_begin(&s, 3, comm);
    MPI_Comm_free(&comm);
    MPI_Wait(&s.request, MPI_STATUS_IGNORE);
    sum_end("a freed communicator", &s);
    expect_offloaded("a freed communicator", "allreduce_offloaded", before, 2);
}

static void type_given_back(void)
{
    unsigned long long before = pvar_read("allgather_offloaded");
    int *all = must(calloc((size_t) size * 2 * LENGTH, sizeof(int)));
    MPI_Datatype every_other;
    MPI_Request request;

    for (int i = 0; i < LENGTH; i++) {
        all[2 * ((size_t) rank * LENGTH + (size_t) i)] = rank + i;
    }
    MPI_Type_create_resized(MPI_INT, 0, 2 * sizeof(int), &every_other);
    MPI_Type_commit(&every_other);
    MPI_Iallgather(MPI_IN_PLACE, -1, MPI_DATATYPE_NULL, all, LENGTH, every_other, MPI_COMM_WORLD,
                   &request);
    MPI_Type_free(&every_other);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    for (int i = 0; i < 2 * size * LENGTH; i++) {
        int value = 1 == i % 2 ? 0 : i / 2 / LENGTH + i / 2 % LENGTH;

        if (value != all[i]) {
            wrong("a freed type: element %d is %d instead of %d", i, all[i], value);
            break;
        }
    }
    free(all);
    expect_offloaded("a freed type", "allgather_offloaded", before, 1);
}

/* Forms with large counts, blocking and not. */
static void large_counts(void)
{
    unsigned long long before = pvar_read("allreduce_offloaded");
    int64_t vector[2] = {rank, 1};
    MPI_Request request;

    MPI_Allreduce_c(MPI_IN_PLACE, vector, 2, MPI_INT64_T, MPI_SUM, MPI_COMM_WORLD);
    MPI_Iallreduce_c(MPI_IN_PLACE, vector, 2, MPI_INT64_T, MPI_SUM, MPI_COMM_WORLD, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    if (size * (size - 1) / 2 * size != vector[0] || size * size != vector[1]) {
        wrong("large counts: %lld, %lld", (long long) vector[0], (long long) vector[1]);
    }
    expect_offloaded("large counts", "allreduce_offloaded", before, 2);
}

/* Types that MPICH tells about only by functions with large counts, and requests that are given back too early. */
static void large_type(void)
{
    unsigned long long before = pvar_read("bcast_offloaded");
    int *vector = must(malloc(3 * LENGTH * sizeof(int)));
    MPI_Datatype three;
    int errors = 0;

    for (int i = 0; i < 3 * LENGTH; i++) {
        vector[i] = 0 == rank ? i : -1;
    }
    MPI_Type_contiguous_c(3, MPI_INT, &three);
    MPI_Type_commit(&three);
    MPI_Bcast(vector, LENGTH, three, 0, MPI_COMM_WORLD);
    MPI_Type_free(&three);
    for (int i = 0; i < 3 * LENGTH; i++) {
        errors += i != vector[i];
    }
    if (0 != errors) {
        wrong("a large type: %d elements are wrong", errors);
    }
    free(vector);
    expect_offloaded("a large type", "bcast_offloaded", before, 1);
}

static void freed_request(void)
{
    static int64_t vector[LENGTH];
    unsigned long long before = pvar_read("allreduce_offloaded");
    MPI_Request request;
    int64_t sum = 1;

    MPI_Iallreduce(MPI_IN_PLACE, vector, LENGTH, MPI_INT64_T, MPI_SUM, MPI_COMM_WORLD, &request);
    MPI_Request_free(&request);
    MPI_Allreduce(MPI_IN_PLACE, &sum, 1, MPI_INT64_T, MPI_SUM, MPI_COMM_WORLD);
    if (size != sum || MPI_REQUEST_NULL != request) {
        wrong("behind a freed request: the sum is %lld", (long long) sum);
    }
    /* nobody waits for it, but it ends */
    for (int i = 0; i < 1000 && pvar_read("allreduce_offloaded") - before < 2; i++) {
        usleep(10000);
    }
    expect_offloaded("a freed request", "allreduce_offloaded", before, 2);
}

/* An operation of the program is MPICH's, and may be freed meanwhile. */
static void add(void *in, void *inout, int *length, MPI_Datatype *type)
{
    (void) type;
    for (int i = 0; i < *length; i++) {
        ((int *) inout)[i] += ((int *) in)[i];
    }
}

static void own_operation(void)
{
    unsigned long long before = pvar_read("fallbacks_op");
    int sum = 1;
    MPI_Request request;
    MPI_Op op;

    MPI_Op_create(add, 1, &op);
    MPI_Iallreduce(MPI_IN_PLACE, &sum, 1, MPI_INT, op, MPI_COMM_WORLD, &request);
    MPI_Op_free(&op);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    if (size != sum) {
        wrong("own operation: %d", sum);
    }
    expect_offloaded("own operation", "fallbacks_op", before, 1);
}

int main(int argc, char **argv)
{
    int status;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    meet_first(MPI_COMM_WORLD);
    in_each_way();
    message_behind();
    message_beside();
    given_back();
    type_given_back();
    large_counts();
    large_type();
    freed_request();
    own_operation();
    status = conclude("mpich_requests");
    pvars_end();
    MPI_Finalize();
    return status;
}
