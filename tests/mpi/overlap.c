/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Allreduces among other things that MPI does at the same time: communicators in the making,
 * messages, other collectives, and all ways to wait. 4 ranks or more.
 *
 * usage: overlap ROUNDS SEED served|unserved|cast
 * unserved: no server can be reached, and everything has to fall back.
 * cast: other collectives, also Open MPI's own, go by multicast; they are not counted.
 */
#include <malloc.h>
#include <stdbool.h>
#include <string.h>
#include <unistd.h>

#include "counters.h"
#include "sums.h"

#define FAMILIES 3 /* parents and their duplicates */
#define MANY    6
#define LARGE   40000
#define MESSAGE (1 << 19)

static int rank, size;
static bool served, cast;
static uint64_t common, own; /* random numbers: equal on all ranks, and different */
static int last_number;

static void expect(const char *what, const counters_t *before, unsigned long long operations,
                   unsigned long long groups)
{
    counters_t expected = {.fallbacks_order = ANY};

    if (served) {
        expected.allreduce_offloaded = operations;
        expected.groups = cast ? ANY : groups;
        expected.allgather_offloaded = expected.bcast_offloaded = cast ? ANY : 0;
    } else {
        expected.fallbacks_setup = operations;
    }
    counters_moved(what, before, expected);
}

/* This rank comes later than others, and looks more or less often whether something is ready. */
static void dawdle(MPI_Request request)
{
    int done;

    for (unsigned i = next_random(&own, 40); i > 0; i--) {
        if (0 == next_random(&own, 4)) {
            usleep(next_random(&own, 500));
        }
        MPI_Request_get_status(request, &done, MPI_STATUS_IGNORE);
    }
}

static int some_count(void)
{
    return 1 + (int) next_random(&common, 0 == next_random(&common, 4) ? LARGE : 500);
}

/* All of them, one by one, in an order of this rank's own. */
static void wait_in_any_order(int count, MPI_Request *requests)
{
    for (int left = count; left > 0; left--) {
        int index = (int) next_random(&own, (unsigned) count);

        while (MPI_REQUEST_NULL == requests[index]) {
            index = (index + 1) % count;
        }
        MPI_Wait(&requests[index], MPI_STATUS_IGNORE);
    }
}

/*
 * A parent has one duplication under way while it reduces. Open MPI agrees about ids by
 * nonblocking collectives of the parent, which a rank issues when it happens to make progress;
 * so the parent's first Allreduce is a blocking one, that takes no place among them: with
 * nonblocking ones of its own, or with two duplications of one parent, Open MPI 4.1 alone hangs.
 */
typedef struct {
    MPI_Comm parent, copy;
    sum_t sums[MANY];
    MPI_Request requests[MANY + 1]; /* the last is the duplication's */
} family_t;

static void duplicate_step(family_t *family, int step)
{
    if (MANY / 2 == step) {
        MPI_Comm_idup(family->parent, &family->copy, &family->requests[MANY]);
    }
    sum_start(&family->sums[step], family->parent, ++last_number, some_count(),
              &family->requests[step]);
    dawdle(family->requests[step]);
}

static void duplicate(void)
{
    counters_t before = counters_read();
    family_t families[FAMILIES];
    MPI_Request other_request;
    MPI_Comm other;
    sum_t other_sum;

    for (int i = 0; i < FAMILIES; i++) {
        MPI_Comm_dup(MPI_COMM_WORLD, &families[i].parent);
        sum_now("parent", families[i].parent, ++last_number, 10);
    }
    MPI_Comm_dup(MPI_COMM_WORLD, &other);
    /* is set up meanwhile */
    sum_start(&other_sum, other, ++last_number, 100, &other_request);
    for (int step = 0; step < MANY; step++) {
        for (int i = 0; i < FAMILIES; i++) {
            duplicate_step(&families[i], step);
        }
    }
    for (int i = 0; i < FAMILIES; i++) {
        family_t *family = &families[(rank + i) % FAMILIES];

        wait_in_any_order(MANY + 1, family->requests);
        for (int k = 0; k < MANY; k++) {
            sum_check("parent", &family->sums[k]);
        }
    }
    for (int i = 0; i < FAMILIES; i++) {
        sum_now("copy", families[i].copy, ++last_number, some_count());
        MPI_Comm_free(&families[i].copy);
        MPI_Comm_free(&families[i].parent);
    }
    MPI_Wait(&other_request, MPI_STATUS_IGNORE);
    sum_check("other", &other_sum);
    MPI_Comm_free(&other);
    expect("duplicate", &before, FAMILIES * (MANY + 2) + 1, 2 * FAMILIES + 1);
}

/* Communicators are made while Allreduces of others, that not all ranks have begun, are pending. */
static void make_meanwhile(void)
{
    counters_t before = counters_read();
    MPI_Request requests[2];
    MPI_Comm live, fresh, part, few;
    MPI_Group world, group;
    sum_t sums[2];
    int range[3] = {0, size - 1, 2};

    MPI_Comm_dup(MPI_COMM_WORLD, &live);
    MPI_Comm_dup(MPI_COMM_WORLD, &fresh);
    sum_now("live", live, ++last_number, 10);
    usleep(next_random(&own, 20000));
    sum_start(&sums[0], live, ++last_number, LARGE, &requests[0]);
    sum_start(&sums[1], fresh, ++last_number, some_count(), &requests[1]);
    dawdle(requests[0]);
    MPI_Comm_split(live, rank % 2, -rank, &part);
    MPI_Comm_group(MPI_COMM_WORLD, &world);
    MPI_Group_range_incl(world, 1, &range, &group);
    if (0 == rank % 2) {
        MPI_Comm_create_group(MPI_COMM_WORLD, group, 3, &few);
        sum_now("create_group", few, 2000000, 100);
        MPI_Comm_free(&few);
    }
    sum_now("split", part, 1000000, 300);
    wait_in_any_order(2, requests);
    sum_check("live", &sums[0]);
    sum_check("fresh", &sums[1]);
    MPI_Group_free(&group);
    MPI_Group_free(&world);
    MPI_Comm_free(&part);
    MPI_Comm_free(&live);
    MPI_Comm_free(&fresh);
    expect("make_meanwhile", &before, 4 + (0 == rank % 2), 3 + (0 == rank % 2));
}

/*
 * Even ranks are inside the Allreduce, which cannot end before odd ranks have received what the
 * even ones send: that takes both sides' progress (see overlap.sh).
 */
static void talk_while_blocked(MPI_Comm comm, bool nonblocking)
{
    int left = (rank + size - 1) % size, right = (rank + 1) % size;
    int *out = must(malloc(MESSAGE * sizeof(int))), *in = must(calloc(MESSAGE, sizeof(int)));
    MPI_Request sent, request;
    sum_t s;

    for (int i = 0; i < MESSAGE; i++) {
        out[i] = rank + i;
    }
    MPI_Isend(out, MESSAGE, MPI_INT, right, 1, MPI_COMM_WORLD, &sent);
    if (1 == rank % 2) {
        MPI_Recv(in, MESSAGE, MPI_INT, left, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
    if (nonblocking) {
        sum_start(&s, comm, ++last_number, 1000, &request);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        sum_check("talk", &s);
    } else {
        sum_now("talk", comm, ++last_number, 1000);
    }
    if (0 == rank % 2) {
        MPI_Recv(in, MESSAGE, MPI_INT, left, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
    MPI_Wait(&sent, MPI_STATUS_IGNORE);
    for (int i = 0; i < MESSAGE; i++) {
        if (in[i] != left + i) {
            wrong("talk: number %d from rank %d is %d", i, left, in[i]);
            break;
        }
    }
    free(out);
    free(in);
}

static void talk(void)
{
    counters_t before = counters_read();
    MPI_Comm comm;

    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    talk_while_blocked(comm, false); /* while it is set up */
    talk_while_blocked(comm, false);
    talk_while_blocked(comm, true);
    MPI_Comm_free(&comm);
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    talk_while_blocked(comm, true);
    MPI_Comm_free(&comm);
    expect("talk", &before, 4, 2);
}

static void expect_request_error(const char *what, int rc, MPI_Request request)
{
    int class;

    MPI_Error_class(rc, &class);
    if (MPI_ERR_REQUEST != class || MPI_REQUEST_NULL == request) {
        wrong("%s of an active request gives error class %d instead of MPI_ERR_REQUEST", what,
              class);
    }
}

/* Erroneous, and an error for that reason; the operation goes on. Rank 0 comes last. */
static void free_active(MPI_Comm comm, int count)
{
    int token = 0;
    MPI_Request request;
    sum_t s;

    for (int other = 1; 0 == rank && other < size; other++) {
        MPI_Recv(&token, 1, MPI_INT, other, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
    sum_start(&s, comm, ++last_number, count, &request);
    if (0 != rank) {
        dawdle(request);
        expect_request_error("MPI_Request_free", MPI_Request_free(&request), request);
        expect_request_error("MPI_Cancel", MPI_Cancel(&request), request);
        MPI_Send(&token, 1, MPI_INT, 0, 2, MPI_COMM_WORLD);
    }
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    sum_check("free of an active request", &s);
}

static void free_requests(void)
{
    counters_t before = counters_read();
    MPI_Comm comm;

    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    free_active(comm, 10); /* while it is set up */
    free_active(comm, 10);
    free_active(comm, LARGE);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);
    MPI_Comm_free(&comm);
    expect("free_requests", &before, 3, 1);
}

/* One call of MPI to complete some of them; which one is this rank's own choice. */
static void complete_some(int count, MPI_Request *requests)
{
    int index, done, indices[4 * MANY];

    switch (next_random(&own, 7)) {
    case 0:
        MPI_Waitany(count, requests, &index, MPI_STATUS_IGNORE);
        break;
    case 1:
        MPI_Testany(count, requests, &index, &done, MPI_STATUS_IGNORE);
        break;
    case 2:
        MPI_Waitsome(count, requests, &index, indices, MPI_STATUSES_IGNORE);
        break;
    case 3:
        MPI_Testsome(count, requests, &index, indices, MPI_STATUSES_IGNORE);
        break;
    case 4:
        MPI_Testall(count, requests, &done, MPI_STATUSES_IGNORE);
        break;
    case 5:
        MPI_Test(&requests[next_random(&own, (unsigned) count)], &done, MPI_STATUS_IGNORE);
        break;
    default:
        MPI_Wait(&requests[next_random(&own, (unsigned) count)], MPI_STATUS_IGNORE);
    }
}

static bool all_done(int count, const MPI_Request *requests)
{
    while (count > 0 && MPI_REQUEST_NULL == requests[count - 1]) {
        count--;
    }
    return 0 == count;
}

/* Allreduces between other nonblocking collectives of the same communicator. */
static void mix(void)
{
    counters_t before = counters_read();
    MPI_Request requests[4 * MANY];
    int values[MANY], *all = must(malloc(MANY * (size_t) size * sizeof(int)));
    sum_t sums[MANY];
    MPI_Comm comm;

    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    for (int i = 0; i < MANY; i++) {
        values[i] = 0 == rank ? 100 + i : -1;
        MPI_Ibcast(&values[i], 1, MPI_INT, 0, comm, &requests[4 * i]);
        sum_start(&sums[i], comm, ++last_number, some_count(), &requests[4 * i + 1]);
        begin_sync(comm, &requests[4 * i + 2]);
        MPI_Iallgather(&rank, 1, MPI_INT, all + i * size, 1, MPI_INT, comm,
                       &requests[4 * i + 3]);
    }
    while (!all_done(4 * MANY, requests)) {
        complete_some(4 * MANY, requests);
    }
    for (int i = 0; i < MANY; i++) {
        sum_check("mix", &sums[i]);
        if (100 + i != values[i]) {
            wrong("mix: Ibcast %d gave %d", i, values[i]);
        }
        for (int other = 0; other < size; other++) {
            if (other != all[i * size + other]) {
                wrong("mix: Iallgather %d has %d from rank %d", i, all[i * size + other], other);
            }
        }
    }
    free(all);
    MPI_Comm_free(&comm);
    expect("mix", &before, MANY, 1);
}

int main(int argc, char **argv)
{
    int rounds = argc > 1 ? atoi(argv[1]) : 5, status;
    uint64_t seed = argc > 2 ? strtoull(argv[2], NULL, 10) : 1;

    served = argc <= 3 || 0 != strcmp(argv[3], "unserved");
    cast = argc > 3 && 0 == strcmp(argv[3], "cast");
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    /* large vectors are mapped anew each time: what was known of their pages is wrong then */
    mallopt(M_MMAP_THRESHOLD, 1 << 16);
    common = mix64(seed);
    own = mix64(seed + 1000 + (uint64_t) rank);
    for (int i = 0; i < rounds; i++) {
        if (served) {
            duplicate(); /* Open MPI alone crashes */
        }
        make_meanwhile();
        mix();
    }
    talk();
    free_requests();
    pvars_end();
    status = conclude("overlap");
    MPI_Finalize();
    return status;
}
