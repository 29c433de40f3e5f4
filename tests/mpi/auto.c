/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Mode auto: vectors of the sizes that are to be offloaded are, and all others are left to Open
 * MPI, whichever comes first on a communicator, blocks or not, and however late a rank comes. 2
 * ranks or more, all of them with these sizes:
 *
 * usage: auto SIZES [SIZES]   FIRST-[LAST][,FIRST-LAST]... in bytes, as in the rules of the job, or
 *                             never
 * The second ones are of communicators without the first rank, which are tried, too, as are those
 * in which it is the last.
 */
#include <stdbool.h>
#include <stdint.h>
#include <unistd.h>

#include "counters.h"
#include "persistent.h"
#include "sizes.h"
#include "sums.h"

#define SEQUENCES    24
#define OPERATIONS   40
#define MAX_PENDING  8
#define DELAY        3000 /* µs */

static int rank, size, number;
static sizes_t sizes;

/* Elements of 8 bytes; around the borders of ranges 1K-2K, 64K- and 2K-20000. */
static const int counts[] = {1, 100, 127, 128, 200, 255, 256, 257, 2000, 2500, 2501, 8191, 8192,
                             30000};
#define NUM_COUNTS (int) (sizeof(counts) / sizeof(counts[0]))

/* The same on all ranks, but for the time. */
static uint64_t draw(uint64_t seed, int what)
{
    return mix64(seed * 1000 + (uint64_t) what);
}

static void come_late(uint64_t seed, int what)
{
    if (0 == draw(seed + (uint64_t) rank + 77, what) % 4) {
        usleep((useconds_t) (draw(seed + (uint64_t) rank, what) % DELAY));
    }
}

/* Blocking and not, small and large, on a communicator that is new, of the ranks of parent. */
static void sequence(uint64_t seed, MPI_Comm parent, const sizes_t *offloaded)
{
    counters_t before = counters_read(), expected = {.fallbacks_order = ANY, .groups = ANY};
    MPI_Request requests[MAX_PENDING];
    sum_t pending[MAX_PENDING];
    MPI_Comm comm;
    int waiting = 0;

    MPI_Comm_dup(parent, &comm);
    for (int i = 0; i < OPERATIONS; i++) {
        /* the first two of a communicator: all pairs of sizes, sooner or later */
        int count = counts[draw(seed, i) % NUM_COUNTS];

        come_late(seed, i);
        sizes_count(offloaded, &expected, count);
        if (0 == draw(seed, i + 500) % 3) {
            sum_now("blocking", comm, ++number, count);
        } else {
            sum_start(&pending[waiting], comm, ++number, count, &requests[waiting]);
            waiting++;
        }
        if (MAX_PENDING == waiting || OPERATIONS - 1 == i) {
            MPI_Waitall(waiting, requests, MPI_STATUSES_IGNORE);
            while (waiting > 0) {
                sum_check("nonblocking", &pending[--waiting]);
            }
        }
    }
    MPI_Comm_free(&comm);
    counters_moved("sequence", &before, expected);
}

/*
 * Rules are those of the job's first rank, wherever that is in a communicator, and also where it is
 * not in it.
 */
static void without_first_rank(const sizes_t *offloaded)
{
    MPI_Comm others, reversed;

    MPI_Comm_split(MPI_COMM_WORLD, 0 == rank ? MPI_UNDEFINED : 0, rank, &others);
    MPI_Comm_split(MPI_COMM_WORLD, 0, -rank, &reversed);
    for (uint64_t seed = SEQUENCES + 1; seed <= 2 * SEQUENCES; seed++) {
        sequence(seed, reversed, &sizes);
        if (MPI_COMM_NULL != others) {
            sequence(seed, others, offloaded);
        } else {
            number += OPERATIONS;
        }
    }
    MPI_Comm_free(&reversed);
    if (MPI_COMM_NULL != others) {
        MPI_Comm_free(&others);
    }
}

/* How often an operation that is left to Open MPI counts: see README. */
static void persistent(MPI_Comm comm, int count, bool known, int starts)
{
    counters_t before = counters_read(), expected = {.groups = sizes_contain(&sizes, count)};
    int64_t *data = must(malloc((size_t) count * sizeof(*data)));
    MPI_Request request;
    bool at_init = known || 8 * (uint64_t) count < sizes.ranges[0].first || 0 == sizes.num;

    MPI_Allreduce_init(MPI_IN_PLACE, data, count, MPI_INT64_T, MPI_SUM, comm, MPI_INFO_NULL,
                       &request);
    for (int s = 0; s < starts; s++) {
        for (int i = 0; i < count; i++) {
            data[i] = rank + i + s;
        }
        come_late((uint64_t) count, s);
        MPI_Start(&request);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        for (int i = 0; i < count; i++) {
            if ((int64_t) size * (size - 1) / 2 + (int64_t) size * (i + s) != data[i]) {
                wrong("persistent, start %d: element %d of %d is %lld", s, i, count,
                      (long long) data[i]);
                break;
            }
        }
        if (sizes_contain(&sizes, count) || !at_init || 0 == s) {
            sizes_count(&sizes, &expected, count);
        }
    }
    MPI_Request_free(&request);
    free(data);
    counters_moved("persistent", &before, expected);
}

static void all_persistent(void)
{
    MPI_Comm comm;

    for (int known = 0; known < 2; known++) {
        MPI_Comm_dup(MPI_COMM_WORLD, &comm);
        if (known) {
            sum_now("before", comm, ++number, 30000);
        }
        for (int i = 0; i < NUM_COUNTS; i++) {
            persistent(comm, counts[i], known, 3);
        }
        MPI_Comm_free(&comm);
    }
}

/* As those that are left, more nonblocking ones than a communicator takes numbers for. */
static void many(int count)
{
    counters_t before = counters_read(), expected = {.fallbacks_order = ANY, .groups = ANY};
    MPI_Request request;
    MPI_Comm comm;
    sum_t s;

    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    for (int i = 0; i < 1100; i++) {
        sum_start(&s, comm, ++number, 0 == i % 100 ? 200 : count, &request);
        sizes_count(&sizes, &expected, s.count);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        sum_check("many", &s);
    }
    MPI_Comm_free(&comm);
    counters_moved("many", &before, expected);
}

int main(int argc, char **argv)
{
    sizes_t others;
    int status;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    sizes = sizes_parse(argc > 1 ? argv[1] : "never");
    for (uint64_t seed = 1; seed <= SEQUENCES; seed++) {
        sequence(seed, MPI_COMM_WORLD, &sizes);
    }
    if (argc > 2) {
        others = sizes_parse(argv[2]);
        without_first_rank(&others);
    }
    all_persistent();
    many(2000);
    if (0 == sizes.num && 0 != pvar_read("groups")) {
        wrong("a communicator was set up for nothing");
    }
    pvars_end();
    status = conclude("auto");
    MPI_Finalize();
    return status;
}
