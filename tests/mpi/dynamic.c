/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Processes that MPI starts or meets while it runs. Each job has service of its own, and a
 * communicator of two jobs has none.
 *
 * usage: dynamic spawn CHILDREN        spawns children that run this program
 *        dynamic accept | connect      two jobs that meet: the first prints "port NAME"; the other
 *                                      reads NAME as its next argument
 *        dynamic meet                  halves of one job that meet: the merged one has service
 *        dynamic self                  one process, also without mpirun
 */
#include <stdbool.h>
#include <string.h>

#include "counters.h"
#include "sums.h"

#define LARGE 30000

static const counters_t nothing = {.fallbacks_order = ANY};

/* Blocking and nonblocking, small and large: four operations. */
#define SUMS 4

static void some_sums(const char *what, MPI_Comm comm)
{
    MPI_Request requests[2];
    sum_t sums[2];

    sum_now(what, comm, 1, 100);
    sum_start(&sums[0], comm, 2, LARGE, &requests[0]);
    sum_start(&sums[1], comm, 3, 10, &requests[1]);
    MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
    sum_check(what, &sums[0]);
    sum_check(what, &sums[1]);
    sum_now(what, comm, 4, LARGE);
}

static void expect_served(const char *what, MPI_Comm comm)
{
    counters_t before = counters_read();

    some_sums(what, comm);
    counters_moved(what, &before, (counters_t) {.allreduce_offloaded = SUMS, .groups = 1,
                                                .fallbacks_order = ANY});
}

/* The component is not there: it counts nothing. */
static void expect_left_alone(const char *what, MPI_Comm comm)
{
    counters_t before = counters_read();

    some_sums(what, comm);
    counters_moved(what, &before, (counters_t) {.fallbacks_order = ANY});
}

/* Each side gets the sum of the other; served by nobody. */
static void across(MPI_Comm inter)
{
    int rank, remote, count = LARGE;
    int64_t *send = must(malloc(LARGE * sizeof(*send)));
    int64_t *recv = must(calloc(LARGE, sizeof(*recv)));
    unsigned long long failed = pvar_read("failures");

    MPI_Comm_rank(inter, &rank);
    MPI_Comm_remote_size(inter, &remote);
    for (int i = 0; i < count; i++) {
        send[i] = rank + i;
    }
    MPI_Allreduce(send, recv, count, MPI_INT64_T, MPI_SUM, inter);
    for (int i = 0; i < count; i++) {
        if (remote * (remote - 1) / 2 + (int64_t) remote * i != recv[i]) {
            wrong("intercommunicator: element %d is %lld", i, (long long) recv[i]);
            break;
        }
    }
    if (pvar_read("failures") != failed) {
        wrong("intercommunicator: a failure was counted");
    }
    free(send);
    free(recv);
}

/* The other side of inter is of another job, or of the same one. */
static void meet(MPI_Comm inter, bool high, bool same_job)
{
    MPI_Comm merged, copy;

    across(inter);
    MPI_Intercomm_merge(inter, high, &merged);
    MPI_Comm_dup(merged, &copy);
    if (same_job) {
        expect_served("merged", merged);
        expect_served("merged copy", copy);
    } else {
        expect_left_alone("merged", merged);
        expect_left_alone("merged copy", copy);
    }
    MPI_Comm_free(&copy);
    MPI_Comm_free(&merged);
}

static void spawn(char *program, int children)
{
    MPI_Comm inter;
    char *arguments[] = {"child", NULL};

    expect_served("parent", MPI_COMM_WORLD);
    MPI_Comm_spawn(program, arguments, children, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &inter,
                   MPI_ERRCODES_IGNORE);
    meet(inter, false, false);
    some_sums("parent after its children", MPI_COMM_WORLD);
    MPI_Comm_disconnect(&inter);
}

static void child(void)
{
    MPI_Comm parent;

    MPI_Comm_get_parent(&parent);
    expect_served("child", MPI_COMM_WORLD);
    meet(parent, true, false);
    some_sums("child after it has met", MPI_COMM_WORLD);
    MPI_Comm_disconnect(&parent);
}

static void accept_job(void)
{
    char port[MPI_MAX_PORT_NAME] = "";
    MPI_Comm inter;
    int rank;

    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    expect_served("accepting", MPI_COMM_WORLD);
    if (0 == rank) {
        MPI_Open_port(MPI_INFO_NULL, port);
        printf("port %s\n", port);
        fflush(stdout);
    }
    MPI_Comm_accept(port, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &inter);
    meet(inter, false, false);
    MPI_Comm_disconnect(&inter);
}

static void connect_job(const char *port)
{
    MPI_Comm inter;

    MPI_Comm_connect(port, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &inter);
    meet(inter, true, false);
    expect_served("connecting", MPI_COMM_WORLD);
    MPI_Comm_disconnect(&inter);
}

/* Ranks of one job that meet by a port. */
static void meet_inside(void)
{
    char port[MPI_MAX_PORT_NAME] = "";
    MPI_Comm half, inter;
    int rank;

    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_split(MPI_COMM_WORLD, rank % 2, rank, &half);
    if (0 == rank) {
        MPI_Open_port(MPI_INFO_NULL, port);
    }
    MPI_Bcast(port, MPI_MAX_PORT_NAME, MPI_CHAR, 0, MPI_COMM_WORLD);
    if (0 == rank % 2) {
        MPI_Comm_accept(port, MPI_INFO_NULL, 0, half, &inter);
    } else {
        MPI_Comm_connect(port, MPI_INFO_NULL, 0, half, &inter);
    }
    meet(inter, rank % 2, true);
    MPI_Comm_disconnect(&inter);
    MPI_Comm_free(&half);
}

static void self(void)
{
    counters_t before = counters_read();
    MPI_Comm copy;

    some_sums("MPI_COMM_SELF", MPI_COMM_SELF);
    MPI_Comm_dup(MPI_COMM_SELF, &copy);
    some_sums("a copy of MPI_COMM_SELF", copy);
    MPI_Comm_free(&copy);
    counters_moved("MPI_COMM_SELF", &before, nothing);
}

int main(int argc, char **argv)
{
    const char *what = argc > 1 ? argv[1] : "";
    int status;

    MPI_Init(&argc, &argv);
    if (0 == strcmp(what, "spawn") && argc > 2) {
        spawn(argv[0], atoi(argv[2]));
    } else if (0 == strcmp(what, "child")) {
        child();
    } else if (0 == strcmp(what, "accept")) {
        accept_job();
    } else if (0 == strcmp(what, "connect") && argc > 2) {
        connect_job(argv[2]);
    } else if (0 == strcmp(what, "meet")) {
        meet_inside();
    } else if (0 != strcmp(what, "self")) {
        wrong("unknown argument \"%s\"", what);
    }
    self();
    pvars_end();
    status = conclude(what);
    MPI_Finalize();
    return status;
}
