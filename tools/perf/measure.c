/* SPDX-License-Identifier: BSD-3-Clause */
/* Iterations of one size on one or two communicators in turns, and what comes out of them. */
#include "tools/perf/measure.h"

#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "tools/perf/check.h"
#include "tools/perf/meter.h"
#include "tools/perf/traffic.h"

#define ALIGNMENT 4096

/* ---- opening ---- */

static const char *why_not_compare(const oc_perf_job_t *job, const oc_perf_component_t *c)
{
    if (!c->present) {
        return "--compare: coll/optcast is not loaded, there is nothing to compare: see "
               "optcast-info, or leave out --compare";
    }
    if (!job->suspended) {
        return "--compare: the coll/optcast that is loaded does not let its mode be changed: load "
               "the one of this optcast-perf, or leave out --compare";
    }
    if (c->mode_now == c->mode_never) {
        return "--compare: coll_optcast_mode is never, so that both sides would be the same: set "
               "it to always or auto, or leave out --compare";
    }
    return "";
}

/* What cannot work, in one line; "" if nothing is wrong. */
static void check_arguments(const oc_perf_meter_t *m, char *error, size_t size)
{
    const oc_perf_options_t *o = m->options;
    oc_perf_layout_t largest = oc_perf_layout(o, o->max, (unsigned) m->job->rank,
                                              (unsigned) m->job->ranks);

    if (o->root >= m->job->ranks) {
        snprintf(error, size, "--root %d: there are %d ranks: give a number from 0 to %d", o->root,
                 m->job->ranks, m->job->ranks - 1);
    } else if (largest.total > INT_MAX) {
        snprintf(error, size, "--max %" PRIu64 ": that are %" PRIu64 " elements of %s, and counts "
                 "of MPI-3.1 end at %d: give a smaller size or a larger type", o->max,
                 largest.total, oc_perf_type_name(o->type), INT_MAX);
    } else if (o->check && m->job->ranks > OC_PERF_MAX_CHECKED_RANKS) {
        snprintf(error, size, "--check: %d ranks: leave it out for more than %d", m->job->ranks,
                 OC_PERF_MAX_CHECKED_RANKS);
    } else if (o->compare) {
        snprintf(error, size, "%s", why_not_compare(m->job, m->component));
    }
}

/* Also for no elements. */
static unsigned char *buffer(uint64_t elements, size_t element)
{
    void *memory = NULL;

    return 0 == posix_memalign(&memory, ALIGNMENT, elements * element + ALIGNMENT) ? memory : NULL;
}

static void allocate(oc_perf_meter_t *m, char *error, size_t size)
{
    const oc_perf_options_t *o = m->options;
    size_t element = oc_perf_type_size(o->type), ranks = (size_t) m->job->ranks;
    oc_perf_layout_t l = oc_perf_layout(o, o->max, (unsigned) m->job->rank, (unsigned) ranks);

    m->send = buffer(l.send, element);
    m->receive = buffer(l.receive, element);
    m->seconds = calloc((size_t) m->sides * (size_t) o->iterations, sizeof(*m->seconds));
    m->own = calloc((size_t) m->sides * (size_t) o->iterations, sizeof(*m->own));
    m->counts = calloc(ranks, sizeof(*m->counts));
    m->first = calloc(ranks, sizeof(*m->first));
    if (NULL == m->send || NULL == m->receive || NULL == m->seconds || NULL == m->own
        || NULL == m->counts || NULL == m->first) {
        snprintf(error, size, "rank %d has no memory for --max %" PRIu64 " (%" PRIu64 " bytes to "
                 "send and %" PRIu64 " to receive): give a smaller size, or run fewer ranks on a "
                 "host", m->job->rank, o->max, l.send * element, l.receive * element);
    }
}

/* The first operation shall not wait for pages; after all ranks have their addresses. */
static void touch(oc_perf_meter_t *m)
{
    const oc_perf_options_t *o = m->options;
    size_t element = oc_perf_type_size(o->type);
    oc_perf_layout_t l = oc_perf_layout(o, o->max, (unsigned) m->job->rank,
                                        (unsigned) m->job->ranks);

    memset(m->send, 0, l.send * element);
    memset(m->receive, 0, l.receive * element);
}

static void open_wire(oc_perf_meter_t *m, char *error, size_t size)
{
    if (m->job->leader
        && !oc_perf_wire_open(&m->wire, "/sys", m->options->interfaces, error, size)) {
        m->wire.count = 0;
    }
}

static void make_patterns(oc_perf_meter_t *m)
{
    const oc_perf_options_t *o = m->options;
    unsigned ranks = (unsigned) m->job->ranks;

    oc_perf_pattern_input(&m->input, o->type, o->op, (unsigned) m->job->rank, ranks);
    if (oc_perf_has_op(o->collective)) {
        oc_perf_pattern_result(&m->result, o->type, o->op, ranks);
    } else {
        oc_perf_pattern_input(&m->result, o->type, o->op, (unsigned) o->root, ranks);
    }
}

static bool open_all(oc_perf_meter_t *m)
{
    char error[OC_PERF_ERROR_SIZE] = "";
    int count;

    check_arguments(m, error, sizeof(error));
    if (!oc_perf_job_agree(m->job, error)) {
        return false;
    }
    allocate(m, error, sizeof(error));
    if (!oc_perf_job_agree(m->job, error)) {
        return false;
    }
    touch(m);
    open_wire(m, error, sizeof(error));
    if (!oc_perf_job_agree(m->job, error)) {
        return false;
    }
    count = (int) m->wire.count;
    MPI_Allreduce(MPI_IN_PLACE, &count, 1, MPI_INT, MPI_SUM, m->job->control);
    m->wire_anywhere = 0 != count;
    if (oc_perf_has_data(m->options->collective)) {
        make_patterns(m);
    }
    return true;
}

oc_perf_meter_t *oc_perf_meter_open(const oc_perf_options_t *options, const oc_perf_job_t *job,
                                    const oc_perf_component_t *component)
{
    oc_perf_meter_t *m = calloc(1, sizeof(*m));

    if (!oc_perf_job_agree(job, NULL == m ? "no memory" : "")) {
        free(m);
        return NULL;
    }
    m->options = options;
    m->job = job;
    m->component = component;
    m->sides = options->compare ? OC_PERF_NUM_SIDES : 1;
    m->iterations = options->iterations;
    m->warmup = options->warmup;
    if (!open_all(m)) {
        oc_perf_meter_close(m);
        return NULL;
    }
    return m;
}

void oc_perf_meter_close(oc_perf_meter_t *m)
{
    oc_perf_wire_close(&m->wire);
    free(m->send);
    free(m->receive);
    free(m->seconds);
    free(m->own);
    free(m->counts);
    free(m->first);
    free(m);
}

/* ---- one row ---- */

static void set_call(oc_perf_meter_t *m)
{
    const oc_perf_options_t *o = m->options;
    unsigned ranks = (unsigned) m->job->ranks;

    m->call = (oc_perf_call_t) {
        .collective = o->collective, .nonblocking = o->nonblocking,
        .send = m->layout.input_in_receive ? MPI_IN_PLACE : m->send, .receive = m->receive,
        .count = (int) m->layout.count, .root = o->root, .counts = m->counts, .first = m->first,
        .type = oc_perf_mpi_type(o->type), .op = oc_perf_mpi_op(o->op)};
    for (unsigned rank = 0; rank < ranks; rank++) {
        m->counts[rank] = (int) oc_perf_block_count(o, m->layout.total, rank, ranks);
        m->first[rank] = (int) oc_perf_block_first(o, m->layout.total, rank, ranks);
    }
}

static MPI_Comm comm_of(const oc_perf_meter_t *m, int side)
{
    return OC_PERF_OURS == side ? m->job->ours : m->job->previous;
}

/* Of this process, in seconds, all its threads included. */
static double processor_time(void)
{
    struct timespec time;

    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
    return (double) time.tv_sec + 1e-9 * (double) time.tv_nsec;
}

/* Adds to *processor. */
static double time_call(oc_perf_meter_t *m, MPI_Comm comm, int outside, double *processor)
{
    double begin, used;

    m->call.outside = outside;
    MPI_Barrier(m->job->control);
    used = processor_time();
    begin = MPI_Wtime();
    oc_perf_call(&m->call, comm);
    begin = MPI_Wtime() - begin;
    *processor += processor_time() - used;
    return begin;
}

static void add_difference(oc_perf_counters_t *sum, const oc_perf_counters_t *before,
                           const oc_perf_counters_t *after)
{
    sum->offloaded += after->offloaded - before->offloaded;
    sum->fallbacks += after->fallbacks - before->fallbacks;
    sum->bytes_sent += after->bytes_sent - before->bytes_sent;
    sum->bytes_received += after->bytes_received - before->bytes_received;
}

/* iteration is negative in the warm-up. In place, an operation spoils its own input. */
static void iterate(oc_perf_meter_t *m, int side, int iteration)
{
    oc_perf_counters_t before, after;
    bool check = m->options->check && iteration >= 0;
    double seconds, own, processor = 0, ignored = 0;

    if (m->options->overlap > 0) {
        if (m->options->in_place) {
            oc_perf_meter_prepare(m, false);
        }
        own = time_call(m, comm_of(m, side), 0, &ignored);
        m->own[side * m->iterations + (iteration > 0 ? iteration : 0)] = own;
    }
    if (check || m->options->in_place) {
        oc_perf_meter_prepare(m, check);
    }
    oc_perf_component_read(m->component, &before);
    seconds = time_call(m, comm_of(m, side), m->options->overlap, &processor);
    oc_perf_component_read(m->component, &after);
    if (iteration >= 0) {
        m->seconds[side * m->iterations + iteration] = seconds;
        m->row->sides[side].processor += processor / m->iterations;
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

static void set_statistics(oc_perf_side_t *side, double *sorted, int iterations)
{
    size_t count = (size_t) iterations;

    side->median = sort(side->seconds, sorted, count);
    side->min = sorted[0];
    side->max = sorted[count - 1];
}

/* What is waited for is what the whole takes longer than the time outside. */
static void set_hidden(oc_perf_side_t *side, double *sorted, int iterations, double outside)
{
    double waited;

    side->own_median = sort(side->own, sorted, (size_t) iterations);
    waited = side->median > outside ? side->median - outside : 0;
    side->hidden = side->own_median > waited ? 1 - waited / side->own_median : 0;
}

static void collect_counters(const oc_perf_meter_t *m, oc_perf_counters_t *counters)
{
    /* the least is the greatest of what is missing */
    uint64_t mine[] = {~counters->offloaded, counters->fallbacks, counters->bytes_sent,
                       counters->bytes_received};
    uint64_t most[OC_PERF_NUM_COUNTERS];

    MPI_Allreduce(mine, most, OC_PERF_NUM_COUNTERS, MPI_UINT64_T, MPI_MAX, m->job->control);
    *counters = (oc_perf_counters_t) {~most[0], most[1], most[2], most[3]};
}

/* After this, everything but the times is the same on all ranks. */
static void collect(oc_perf_meter_t *m, int index)
{
    oc_perf_side_t *side = &m->row->sides[index];
    int iterations = m->iterations;
    double *mine = m->seconds + index * iterations, processor = side->processor;

    MPI_Reduce(mine, side->seconds, iterations, MPI_DOUBLE, MPI_MAX, 0, m->job->control);
    if (0 == m->job->rank) {
        set_statistics(side, mine, iterations);
    }
    if (m->options->overlap > 0) {
        mine = m->own + index * iterations;
        MPI_Reduce(mine, side->own, iterations, MPI_DOUBLE, MPI_MAX, 0, m->job->control);
    }
    if (0 == m->job->rank && m->options->overlap > 0) {
        set_hidden(side, mine, iterations, m->options->overlap / 1e3);
    }
    MPI_Reduce(&processor, &side->processor, 1, MPI_DOUBLE, MPI_SUM, 0, m->job->control);
    collect_counters(m, &side->counters);
    MPI_Allreduce(MPI_IN_PLACE, &side->wrong, 1, MPI_UINT64_T, MPI_SUM, m->job->control);
    (void) oc_perf_job_agree(m->job, m->wrong[index]);
    if (m->wire_anywhere) {
        oc_perf_meter_wire(m, comm_of(m, index), side);
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

static bool begin_row(oc_perf_meter_t *m, uint64_t size)
{
    size_t element = oc_perf_type_size(m->options->type);
    bool good = true;

    m->layout = oc_perf_layout(m->options, size, (unsigned) m->job->rank,
                               (unsigned) m->job->ranks);
    m->row->bytes = m->layout.total * element;
    m->row->count = m->layout.count;
    memset(m->wrong, 0, sizeof(m->wrong));
    set_call(m);
    if (oc_perf_has_data(m->options->collective)) {
        oc_perf_meter_prepare(m, false);
    }
    if (0 != m->options->milliseconds) {
        rehearse(m);
    }
    m->row->iterations = m->iterations;
    for (int side = 0; 0 == m->job->rank && side < m->sides; side++) {
        m->row->sides[side].seconds = calloc((size_t) m->iterations, sizeof(double));
        m->row->sides[side].own = calloc((size_t) m->iterations, sizeof(double));
        good = good && NULL != m->row->sides[side].seconds && NULL != m->row->sides[side].own;
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
    }
}
