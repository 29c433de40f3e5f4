/* SPDX-License-Identifier: BSD-3-Clause */
/* The table: columns, and how numbers look in it. */
#include "tools/perf/perf_report.h"

#include <inttypes.h>
#include <stdio.h>
#include <unistd.h>

#ifdef HAVE_CONFIG_H
#    include "config.h"
#endif
#ifndef PACKAGE_VERSION
#    define PACKAGE_VERSION "0 (built by hand)"
#endif

#define MICROSECONDS 1e6

oc_perf_facts_t oc_perf_facts(const oc_perf_options_t *options, const oc_perf_job_t *job,
                              const oc_perf_component_t *component)
{
    oc_perf_facts_t facts = {options, job, component, PACKAGE_VERSION, ""};

    oc_perf_library(facts.mpi, sizeof(facts.mpi));
    return facts;
}

const char *oc_perf_facts_type(const oc_perf_facts_t *facts)
{
    return oc_perf_has_data(facts->options->collective) ? oc_perf_type_name(facts->options->type)
                                                        : NULL;
}

const char *oc_perf_facts_op(const oc_perf_facts_t *facts)
{
    return OC_PERF_OP_END != facts->options->op ? oc_perf_op_name(facts->options->op) : NULL;
}

double oc_perf_algbw(const oc_perf_facts_t *facts, const oc_perf_row_t *row)
{
    double seconds = row->sides[OC_PERF_OURS].median;
    double bytes = (double) row->bytes * facts->options->stream;

    return seconds > 0 ? bytes / seconds / 1e9 : 0;
}

double oc_perf_busbw(const oc_perf_facts_t *facts, const oc_perf_row_t *row)
{
    const oc_perf_options_t *o = facts->options;
    unsigned ranks = (unsigned) facts->job->ranks;
    double factor = oc_perf_bus_factor(o->collective, ranks);

    return oc_perf_algbw(facts, row) * (factor + (o->pair ? oc_perf_bus_factor(o->second, ranks) : 0));
}

double oc_perf_ratio(const oc_perf_row_t *row)
{
    double ours = row->sides[OC_PERF_OURS].median;

    return ours > 0 ? row->sides[OC_PERF_PREVIOUS].median / ours : 0;
}

/* What an iteration does, and how many there are. */
static void print_iterations(const oc_perf_options_t *o)
{
    char name[64], stream[32] = "";

    oc_perf_options_name(o, name, sizeof(name));
    if (o->stream > 1) {
        snprintf(stream, sizeof(stream), ", a stream of %d", o->stream);
    }
    printf("# %s%s%s%s%s, %s%d iterations after %d to warm up%s\n", name, stream,
           o->same_communicator ? " on one communicator" : "", o->nonblocking ? ", nonblocking" : "",
           o->in_place ? ", in place" : "", 0 != o->milliseconds ? "at most " : "", o->iterations,
           o->warmup, o->compare ? "; without: the same without coll/optcast, in turns" : "");
    if (o->stream > 1) {
        printf("# a stream: all %d are started on one communicator before the first one is waited for; times "
               "and GB/s\n# are of all %d together, bytes of one\n", o->stream, o->stream);
    }
}

static void print_facts(const oc_perf_facts_t *facts)
{
    const oc_perf_options_t *o = facts->options;
    const oc_perf_component_t *c = facts->component;

    printf("# optcast-perf %s, %s\n", facts->version, facts->mpi);
    printf("# %d ranks on %d host%s, at most %d on a host\n", facts->job->ranks, facts->job->hosts,
           1 == facts->job->hosts ? "" : "s", facts->job->ranks_per_host);
    if (c->present) {
        printf("# %s: mode %s, servers %s\n",
               NULL == c->preloaded.counters ? "coll/optcast" : "liboptcast-mpich.so",
               oc_perf_component_setting(c, "mode"),
               oc_perf_component_setting(c, "servers"));
    } else {
        printf("# coll/optcast is not loaded\n");
    }
    print_iterations(o);
    if (o->overlap > 0) {
        printf("# %d ms outside MPI between start and wait, which time includes; own: of operations "
               "that are\n# waited for at once; hidden: the part of that which is not waited for; threads: "
               "processor time\n# of an iteration, of all ranks, but without the threads that call MPI\n",
               o->overlap);
    }
    if (o->compute) {
        printf("# that time is computed; alone: without an operation; slower: beside one\n");
    }
    if (0 != o->test_every) {
        printf("# MPI_Testall every %d us of that time\n", o->test_every);
    }
    printf("# time: slowest rank of an iteration, then median, min and max of all; GB/s: 10^9 "
           "bytes\n# sent, recv: of an operation and rank, to and from servers; tx, rx: of an "
           "operation and host, on its interfaces\n");
}

static void print_overlap_titles(const oc_perf_options_t *o, const char *own, const char *hidden,
                                 const char *threads, const char *alone, const char *slower)
{
    if (o->overlap > 0) {
        printf(" %9s %6s %9s", own, hidden, threads);
    }
    if (o->compute) {
        printf(" %9s %6s", alone, slower);
    }
}

static void print_overlap(const oc_perf_options_t *o, const oc_perf_side_t *side)
{
    if (o->overlap > 0) {
        printf(" %9.2f %6.1f %9.2f", side->own_median * MICROSECONDS, 100 * side->hidden,
               side->threads * MICROSECONDS);
    }
    if (o->compute) {
        printf(" %9.2f %6.1f", side->alone_median * MICROSECONDS, 100 * side->slowdown);
    }
}

void oc_perf_print_header(const oc_perf_facts_t *facts)
{
    bool compare = facts->options->compare, stream = facts->options->stream > 1;

    print_facts(facts);
    printf("#\n# %10s %10s %6s %4s%s %9s %9s %9s %7s %7s %6s", "size", "count", "type", "op",
           stream ? " stream" : "", "time", "min", "max", "algbw", "busbw", "wrong");
    if (compare) {
        printf(" %9s %9s %9s %6s %6s", "without", "min", "max", "wrong", "ratio");
    }
    print_overlap_titles(facts->options, "own", "hidden", "threads", "alone", "slower");
    printf(" %7s %5s %9s %9s %9s %9s\n", "offload", "fallb", "sent", "recv", "tx", "rx");
    printf("# %10s %10s %6s %4s%s %9s %9s %9s %7s %7s %6s", "(B)", "", "", "", stream ? "       " : "",
           "(us)", "(us)", "(us)", "(GB/s)", "(GB/s)", "");
    if (compare) {
        printf(" %9s %9s %9s %6s %6s", "(us)", "(us)", "(us)", "", "");
    }
    print_overlap_titles(facts->options, "(us)", "(%)", "(us)", "(us)", "(%)");
    printf(" %7s %5s %9s %9s %9s %9s\n", "", "", "(B)", "(B)", "(B)", "(B)");
    fflush(stdout);
}

static void print_wrong(const oc_perf_facts_t *facts, const oc_perf_side_t *side)
{
    if (facts->options->check) {
        printf(" %6" PRIu64, side->wrong);
    } else {
        printf(" %6s", "-");
    }
}

static void print_times(const oc_perf_side_t *side)
{
    printf(" %9.2f %9.2f %9.2f", side->median * MICROSECONDS, side->min * MICROSECONDS,
           side->max * MICROSECONDS);
}

static void print_offload(const oc_perf_facts_t *facts, const oc_perf_row_t *row)
{
    const oc_perf_side_t *side = &row->sides[OC_PERF_OURS];
    const oc_perf_counters_t *counters = &side->counters;
    uint64_t operations = (uint64_t) row->iterations * (uint64_t) facts->options->stream;

    if (facts->component->present) {
        printf(" %7" PRIu64 " %5" PRIu64 " %9" PRIu64 " %9" PRIu64, counters->offloaded,
               counters->fallbacks, counters->bytes_sent / operations,
               counters->bytes_received / operations);
    } else {
        printf(" %7s %5s %9s %9s", "-", "-", "-", "-");
    }
}

void oc_perf_print_row(const oc_perf_facts_t *facts, const oc_perf_row_t *row)
{
    const oc_perf_side_t *ours = &row->sides[OC_PERF_OURS];
    const oc_perf_side_t *previous = &row->sides[OC_PERF_PREVIOUS];
    const char *type = oc_perf_facts_type(facts), *op = oc_perf_facts_op(facts);

    printf("  %10" PRIu64 " %10" PRIu64 " %6s %4s", row->bytes, row->count,
           NULL != type ? type : "-", NULL != op ? op : "-");
    if (facts->options->stream > 1) {
        printf(" %6d", facts->options->stream);
    }
    print_times(ours);
    printf(" %7.3f %7.3f", oc_perf_algbw(facts, row), oc_perf_busbw(facts, row));
    print_wrong(facts, ours);
    if (facts->options->compare) {
        print_times(previous);
        print_wrong(facts, previous);
        printf(" %6.2f", oc_perf_ratio(row));
    }
    print_overlap(facts->options, ours);
    print_offload(facts, row);
    if (ours->wire.known) {
        printf(" %9.0f %9.0f\n", ours->wire.sent_max, ours->wire.received_max);
    } else {
        printf(" %9s %9s\n", "-", "-");
    }
    fflush(stdout);
}

void oc_perf_progress(uint64_t size)
{
    if (!isatty(STDERR_FILENO)) {
        return;
    }
    if (0 == size) {
        fprintf(stderr, "\r%40s\r", "");
    } else {
        fprintf(stderr, "\rmeasuring %" PRIu64 " bytes ...", size);
    }
    fflush(stderr);
}
