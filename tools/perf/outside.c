/* SPDX-License-Identifier: BSD-3-Clause */
/* Sleeping or computing, with or without a look at the requests now and then. */
#include "tools/perf/outside.h"

#include <errno.h>
#include <time.h>

/* So that all processors are there for whoever moves the operations on. */
static void sleep_for(double seconds)
{
    struct timespec left = {.tv_sec = (time_t) seconds};

    left.tv_nsec = (long) ((seconds - (double) left.tv_sec) * 1e9);
    while (0 != nanosleep(&left, &left) && EINTR == errno) {
    }
}

static void test(MPI_Request *requests, int count)
{
    int all;

    (void) MPI_Testall(count, requests, &all, MPI_STATUSES_IGNORE);
}

static void sleep_and_test(const oc_perf_outside_t *o, MPI_Request *requests, int count)
{
    double end = MPI_Wtime() + o->milliseconds / 1e3, left;

    while ((left = end - MPI_Wtime()) > 0) {
        sleep_for(o->test_every > 0 && left > o->test_every / 1e6 ? o->test_every / 1e6 : left);
        if (o->test_every > 0) {
            test(requests, count);
        }
    }
}

static void compute_and_test(const oc_perf_outside_t *o, MPI_Request *requests, int count)
{
    double next = MPI_Wtime() + o->test_every / 1e6;

    for (uint64_t unit = 0; unit < o->units; unit++) {
        oc_perf_work_unit(o->work);
        if (o->test_every > 0 && MPI_Wtime() >= next) {
            test(requests, count);
            next = MPI_Wtime() + o->test_every / 1e6;
        }
    }
}

double oc_perf_stay_outside(const oc_perf_outside_t *o, MPI_Request *requests, int count)
{
    double begin = MPI_Wtime();

    if (NULL != o->work) {
        compute_and_test(o, requests, count);
    } else if (o->milliseconds > 0) {
        sleep_and_test(o, requests, count);
    }
    return MPI_Wtime() - begin;
}
