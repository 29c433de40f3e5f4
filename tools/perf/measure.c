/* SPDX-License-Identifier: BSD-3-Clause */
/* Iterations of one size on one or two communicators in turns, and what comes out of them. */
#include "tools/perf/measure.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "tools/perf/check.h"
#include "tools/perf/meter_types.h"
#include "tools/perf/operate.h"
#include "tools/perf/traffic.h"

/* Seconds of the processor. */
typedef struct {
    double all, others;         /* of all threads, and of all but this one */
} usage_t;

static double processor_time(clockid_t clock)
{
    struct timespec time;

    clock_gettime(clock, &time);
    return (double) time.tv_sec + 1e-9 * (double) time.tv_nsec;
}

static usage_t usage_now(void)
{
    double all = processor_time(CLOCK_PROCESS_CPUTIME_ID);

    return (usage_t) {all, all - processor_time(CLOCK_THREAD_CPUTIME_ID)};
}

/* What it took on this rank. */
typedef struct {
    double seconds, outside;
    usage_t usage;
} cost_t;

static cost_t measure(oc_perf_meter_t *m, int side, const oc_perf_outside_t *outside)
{
    usage_t before, after;
    cost_t cost;
    double begin;

    MPI_Barrier(m->job->control);
    before = usage_now();
    begin = MPI_Wtime();
    cost.outside = oc_perf_operate(m, side, outside);
    cost.seconds = MPI_Wtime() - begin;
    after = usage_now();
    cost.usage = (usage_t) {after.all - before.all, after.others - before.others};
    return cost;
}

static void add_difference(oc_perf_counters_t *sum, const oc_perf_counters_t *before,
                           const oc_perf_counters_t *after)
{
    sum->offloaded += after->offloaded - before->offloaded;
    sum->fallbacks += after->fallbacks - before->fallbacks;
    sum->bytes_sent += after->bytes_sent - before->bytes_sent;
    sum->bytes_received += after->bytes_received - before->bytes_received;
    sum->helper_wakes += after->helper_wakes - before->helper_wakes;
}

static oc_perf_outside_t outside_of(const oc_perf_meter_t *m)
{
    return (oc_perf_outside_t) {.milliseconds = m->options->overlap, .work = m->work,
                                .units = m->units, .test_every = m->options->test_every};
}

/* What there is to compare with what overlaps: the operation and the program, each by itself. at: in all times. */
static void measure_apart(oc_perf_meter_t *m, int side, int at)
{
    oc_perf_outside_t outside = outside_of(m);

    if (m->options->in_place) {
        oc_perf_meter_prepare(m, false);
    }
    m->own[at] = measure(m, side, NULL).seconds;
    if (NULL != m->work) {
        MPI_Barrier(m->job->control);
        m->alone[at] = oc_perf_stay_outside(&outside, NULL, 0);
    }
}

static void keep(oc_perf_meter_t *m, int side, int at, const cost_t *cost)
{
    oc_perf_side_t *of = &m->row->sides[side];

    m->seconds[at] = cost->seconds;
    m->beside[at] = cost->outside;
    of->processor += cost->usage.all / m->iterations;
    of->threads += cost->usage.others / m->iterations;
}

/* iteration is negative in the warm-up. In place, an operation spoils its own input. */
static void iterate(oc_perf_meter_t *m, int side, int iteration)
{
    oc_perf_outside_t outside = outside_of(m);
    int at = side * m->iterations + (iteration > 0 ? iteration : 0);
    bool check = m->options->check && iteration >= 0;
    oc_perf_counters_t before, after;
    cost_t cost;

    if (m->options->overlap > 0) {
        measure_apart(m, side, at);
    }
    if (check || m->options->in_place) {
        oc_perf_meter_prepare(m, check);
    }
    oc_perf_component_read(m->component, &before);
    cost = measure(m, side, &outside);
    oc_perf_component_read(m->component, &after);
    if (iteration >= 0) {
        keep(m, side, at, &cost);
        add_difference(&m->row->sides[side].counters, &before, &after);
    }
    if (check) {
        oc_perf_meter_check(m, side, iteration);
    }
}

/* Who goes first changes each time: the second may find warmer caches. */
static void iterate_all(oc_perf_meter_t *m)
{
    for (int i = -m->warmup; i < m->iterations; i++) {
        for (int turn = 0; turn < m->sides; turn++) {
            iterate(m, (turn + (i & 1)) % m->sides, i);
        }
    }
}

static int by_value(const void *a, const void *b)
{
    const double *x = a, *y = b;

    return (*x > *y) - (*x < *y);
}

/* Ascending; sorted is room for as many numbers. Returns the median. */
static double sort(const double *values, double *sorted, size_t count)
{
    memcpy(sorted, values, count * sizeof(*sorted));
    qsort(sorted, count, sizeof(*sorted), by_value);
    return (sorted[(count - 1) / 2] + sorted[count / 2]) / 2;
}

/* To rank 0, of the slowest rank each. Returns the median there; what this rank has is spent. */
static double collect_times(const oc_perf_meter_t *m, double *mine, double *each)
{
    MPI_Reduce(mine, each, m->iterations, MPI_DOUBLE, MPI_MAX, 0, m->job->control);
    return 0 == m->job->rank ? sort(each, mine, (size_t) m->iterations) : 0;
}

/* What is waited for is what the whole takes longer than the time outside. */
static void set_hidden(oc_perf_side_t *side, double outside)
{
    double waited = side->median > outside ? side->median - outside : 0;

    side->hidden = side->own_median > waited ? 1 - waited / side->own_median : 0;
}

static void collect_overlap(oc_perf_meter_t *m, int index)
{
    oc_perf_side_t *side = &m->row->sides[index];
    double outside = m->options->overlap / 1e3;
    int first = index * m->iterations;

    side->own_median = collect_times(m, m->own + first, side->own);
    if (NULL != m->work) {
        side->alone_median = collect_times(m, m->alone + first, side->alone);
        side->beside_median = collect_times(m, m->beside + first, side->beside);
        side->slowdown = side->alone_median > 0 ? side->beside_median / side->alone_median - 1 : 0;
        outside = side->alone_median;
    }
    set_hidden(side, outside);
}

static void collect_processors(const oc_perf_meter_t *m, oc_perf_side_t *side)
{
    double mine[] = {side->processor, side->threads}, sum[2] = {0, 0};

    MPI_Reduce(mine, sum, 2, MPI_DOUBLE, MPI_SUM, 0, m->job->control);
    side->processor = sum[0];
    side->threads = sum[1];
}

static void collect_counters(const oc_perf_meter_t *m, oc_perf_counters_t *counters)
{
    /* the least is the greatest of what is missing */
    uint64_t mine[] = {~counters->offloaded, counters->fallbacks, counters->bytes_sent,
                       counters->bytes_received, counters->helper_wakes};
    uint64_t most[OC_PERF_NUM_COUNTERS];

    MPI_Allreduce(mine, most, OC_PERF_NUM_COUNTERS, MPI_UINT64_T, MPI_MAX, m->job->control);
    *counters = (oc_perf_counters_t) {~most[0], most[1], most[2], most[3], most[4]};
}

/* After this, everything but the times is the same on all ranks. */
static void collect(oc_perf_meter_t *m, int index)
{
    oc_perf_side_t *side = &m->row->sides[index];
    double *sorted = m->seconds + index * m->iterations;

    side->median = collect_times(m, sorted, side->seconds);
    side->min = sorted[0];
    side->max = sorted[m->iterations - 1];
    if (m->options->overlap > 0) {
        collect_overlap(m, index);
    }
    collect_processors(m, side);
    collect_counters(m, &side->counters);
    MPI_Allreduce(MPI_IN_PLACE, &side->wrong, 1, MPI_UINT64_T, MPI_SUM, m->job->control);
    (void) oc_perf_job_agree(m->job, m->wrong[index]);
    if (m->wire_anywhere) {
        oc_perf_meter_wire(m, index, side);
    }
}

/*
 * As many iterations as fit the time, the same on all ranks. What is done for the first time may
 * have to be set up: the second time tells.
 */
static void rehearse(oc_perf_meter_t *m)
{
    double least = 0, seconds, begin, count;

    for (int turn = 0; turn < 2; turn++) {
        begin = MPI_Wtime();
        for (int side = 0; side < m->sides; side++) {
            iterate(m, side, -1);
        }
        seconds = MPI_Wtime() - begin;
        least = 0 == turn || seconds < least ? seconds : least;
    }
    MPI_Allreduce(MPI_IN_PLACE, &least, 1, MPI_DOUBLE, MPI_MAX, m->job->control);
    count = m->options->milliseconds / 1e3 / least;
    m->iterations = count < 1 ? 1 : count < m->options->iterations ? (int) count
                                                                   : m->options->iterations;
    m->warmup = m->options->warmup < m->iterations / 10 ? m->options->warmup : m->iterations / 10;
}

static bool get_times(oc_perf_side_t *side, size_t iterations)
{
    side->seconds = calloc(iterations, sizeof(double));
    side->own = calloc(iterations, sizeof(double));
    side->alone = calloc(iterations, sizeof(double));
    side->beside = calloc(iterations, sizeof(double));
    return NULL != side->seconds && NULL != side->own && NULL != side->alone
           && NULL != side->beside;
}

/* Nonblocking operations of MPICH may be offloaded from the next blocking one of the communicator on. */
static void settle(oc_perf_meter_t *m)
{
    if (!m->options->nonblocking || !oc_perf_component_settles(m->component)) {
        return;
    }
    for (int side = 0; side < m->sides; side++) {
        iterate(m, side, -1);
        for (int i = 0; i < m->num_parts; i++) {
            oc_perf_component_settle(m->component, m->comms[side][i]);
        }
    }
}

static bool begin_row(oc_perf_meter_t *m, uint64_t size)
{
    const oc_perf_layout_t *layout = &m->parts[0].layout;
    bool good = true;

    for (int i = 0; i < m->num_parts; i++) {
        oc_perf_part_resize(&m->parts[i], size);
    }
    m->row->bytes = layout->total * oc_perf_type_size(m->options->type);
    m->row->count = layout->count;
    memset(m->wrong, 0, sizeof(m->wrong));
    if (oc_perf_has_data(m->options->collective)) {
        oc_perf_meter_prepare(m, false);
    }
    settle(m);
    if (0 != m->options->milliseconds) {
        rehearse(m);
    }
    m->row->iterations = m->iterations;
    for (int side = 0; 0 == m->job->rank && side < m->sides; side++) {
        good = get_times(&m->row->sides[side], (size_t) m->iterations) && good;
    }
    return oc_perf_job_agree(m->job, good ? "" : "rank 0 has no memory for the times of all "
                             "iterations");
}

void oc_perf_meter_effort(oc_perf_meter_t *m, int iterations, int warmup)
{
    m->iterations = iterations < m->options->iterations ? iterations : m->options->iterations;
    m->warmup = warmup;
}

bool oc_perf_meter_row(oc_perf_meter_t *m, uint64_t size, oc_perf_row_t *row)
{
    *row = (oc_perf_row_t) {0};
    m->row = row;
    if (!begin_row(m, size)) {
        return false;
    }
    iterate_all(m);
    for (int side = 0; side < m->sides; side++) {
        collect(m, side);
    }
    return true;
}

void oc_perf_row_free(oc_perf_row_t *row)
{
    for (int side = 0; side < OC_PERF_NUM_SIDES; side++) {
        free(row->sides[side].seconds);
        free(row->sides[side].own);
        free(row->sides[side].alone);
        free(row->sides[side].beside);
    }
}
