/* SPDX-License-Identifier: BSD-3-Clause */
/* A product of square matrices, some rows of it in each unit. */
#include "tools/perf/work.h"

#include <math.h>
#include <stdlib.h>
#include <time.h>

#define ORDER 128               /* three matrices of it have 384 KiB */
#define ROWS  8                 /* in a unit */

/* Units that are timed together. */
#define PART 16

struct oc_perf_work {
    double a[ORDER][ORDER], b[ORDER][ORDER], c[ORDER][ORDER];
    unsigned row;               /* where the next unit begins */
};

oc_perf_work_t *oc_perf_work_new(void)
{
    oc_perf_work_t *work = calloc(1, sizeof(*work));

    for (unsigned i = 0; NULL != work && i < ORDER; i++) {
        for (unsigned j = 0; j < ORDER; j++) {
            work->a[i][j] = 1.0 / (1 + i + j);
            work->b[i][j] = i == j ? 1.0 : 0.0;
        }
    }
    return work;
}

void oc_perf_work_free(oc_perf_work_t *work)
{
    free(work);
}

/* Adds a multiple of b's row k to c's row i, for all k. */
static void multiply_row(oc_perf_work_t *work, unsigned i)
{
    for (unsigned k = 0; k < ORDER; k++) {
        double factor = work->a[i][k];

        for (unsigned j = 0; j < ORDER; j++) {
            work->c[i][j] += factor * work->b[k][j];
        }
    }
}

void oc_perf_work_unit(oc_perf_work_t *work)
{
    for (unsigned i = 0; i < ROWS; i++) {
        multiply_row(work, work->row + i);
    }
    work->row = (work->row + ROWS) % ORDER;
}

static double now(void)
{
    struct timespec time;

    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double) time.tv_sec + 1e-9 * (double) time.tv_nsec;
}

uint64_t oc_perf_work_units(oc_perf_work_t *work, int milliseconds)
{
    double wanted = milliseconds / 1e3, begin = now(), best = INFINITY, last = begin, units;

    do {
        double time;

        for (int i = 0; i < PART; i++) {
            oc_perf_work_unit(work);
        }
        time = now();
        best = time - last < best ? time - last : best;
        last = time;
    } while (last - begin < wanted);
    units = best > 0 ? wanted / best * PART : 1;
    return units < 1 ? 1 : (uint64_t) units;
}
