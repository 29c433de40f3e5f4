/* SPDX-License-Identifier: BSD-3-Clause */
/* What a measurement needs before its first row: checked options, buffers, counters, communicators. */
#include "tools/perf/meter.h"

#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>

#include "tools/perf/meter_types.h"

static const char *why_not_compare(const oc_perf_job_t *job, const oc_perf_component_t *c)
{
    if (!c->present) {
        return "--compare: coll/optcast is not loaded, there is nothing to compare: see "
               "optcast-info, or leave out --compare; with MPICH preload liboptcast-mpich.so";
    }
    if (!job->suspended) {
        return "--compare: the coll/optcast that is loaded does not let its mode be changed: load "
               "the one of this optcast-perf, or leave out --compare";
    }
    if (c->mode_now == c->mode_never) {
        return "--compare: the mode (coll_optcast_mode; with MPICH OPTCAST_MODE) is never, so that both sides would "
               "be the same: set it to always or auto, or leave out --compare";
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

static void allocate(oc_perf_meter_t *m, char *error, size_t size)
{
    size_t times = (size_t) m->sides * (size_t) m->options->iterations;
    bool good = true;

    m->seconds = calloc(times, sizeof(*m->seconds));
    m->own = calloc(times, sizeof(*m->own));
    m->alone = calloc(times, sizeof(*m->alone));
    m->beside = calloc(times, sizeof(*m->beside));
    m->work = m->options->compute ? oc_perf_work_new() : NULL;
    if (NULL == m->seconds || NULL == m->own || NULL == m->alone || NULL == m->beside
        || (m->options->compute && NULL == m->work)) {
        snprintf(error, size, "rank %d has no memory for the times of %d iterations: give a "
                 "smaller --iterations", m->job->rank, m->options->iterations);
        return;
    }
    for (int i = 0; i < m->num_parts && good; i++) {
        good = oc_perf_part_open(&m->parts[i], m->options, i, m->job, error, size);
    }
}

static void open_wire(oc_perf_meter_t *m, char *error, size_t size)
{
    if (m->job->leader
        && !oc_perf_wire_open(&m->wire, "/sys", m->options->interfaces, error, size)) {
        m->wire.count = 0;
    }
}

/* A stream is on one communicator; so are two operations at once only if the options want that. */
static void open_comms(oc_perf_meter_t *m)
{
    const oc_perf_job_t *job = m->job;

    for (int i = 0; i < OC_PERF_MAX_CALLS; i++) {
        m->comms[OC_PERF_OURS][i] = job->ours;
        m->comms[OC_PERF_PREVIOUS][i] = job->previous;
    }
    m->own_comms = m->options->pair && !m->options->same_communicator;
    if (m->own_comms) {
        MPI_Comm_dup(job->ours, &m->comms[OC_PERF_OURS][1]);
        oc_perf_component_settle(m->component, m->comms[OC_PERF_OURS][1]);
        if (job->suspended) {
            (void) oc_perf_component_suspend(m->component);
        }
        MPI_Comm_dup(job->previous, &m->comms[OC_PERF_PREVIOUS][1]);
        oc_perf_component_settle(m->component, m->comms[OC_PERF_PREVIOUS][1]);
        if (job->suspended) {
            oc_perf_component_resume(m->component);
        }
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
    for (int i = 0; i < m->num_parts; i++) {
        oc_perf_part_touch(&m->parts[i]);
    }
    open_wire(m, error, sizeof(error));
    if (!oc_perf_job_agree(m->job, error)) {
        return false;
    }
    count = (int) m->wire.count;
    MPI_Allreduce(MPI_IN_PLACE, &count, 1, MPI_INT, MPI_SUM, m->job->control);
    m->wire_anywhere = 0 != count;
    open_comms(m);
    if (NULL != m->work) {
        MPI_Barrier(m->job->control); /* all at once, as later */
        m->units = oc_perf_work_units(m->work, m->options->overlap);
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
    m->num_parts = options->pair ? 2 : options->stream;
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
    if (m->own_comms) {
        for (int side = 0; side < OC_PERF_NUM_SIDES; side++) {
            MPI_Comm_free(&m->comms[side][1]);
        }
    }
    for (int i = 0; i < m->num_parts; i++) {
        oc_perf_part_close(&m->parts[i]);
    }
    oc_perf_wire_close(&m->wire);
    free(m->seconds);
    free(m->own);
    free(m->alone);
    free(m->beside);
    oc_perf_work_free(m->work);
    free(m);
}
