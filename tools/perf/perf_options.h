/* SPDX-License-Identifier: BSD-3-Clause */
/* The command line of optcast-perf, without MPI. */
#ifndef OC_PERF_OPTIONS_H
#define OC_PERF_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "tools/perf/arguments.h"
#include "tools/perf/types.h"

#define OC_PERF_MAX_STREAM 64

typedef struct {
    oc_perf_collective_t collective;
    bool pair;                  /* two at once, the other is … */
    oc_perf_collective_t second;
    bool same_communicator;     /* both on one */
    int stream;                 /* operations of the only collective, started together; of a pair 1 of each */
    uint64_t min, max;          /* bytes; 0 if the collective has no data */
    unsigned factor;
    int iterations, warmup;
    int milliseconds;           /* that the iterations of a size take at most; 0: as many as above */
    oc_perf_type_t type;
    oc_perf_op_t op;            /* OC_PERF_OP_END if no collective has one */
    int overlap;                /* milliseconds outside MPI between start and wait; 0: none … */
    bool compute;               /* … in which it computes, … */
    int test_every;             /* … and calls MPI_Testall at intervals of so many microseconds; 0: it does not */
    int root;
    int first;                  /* percent of a vector that rank 0's block is; -1: all are equal */
    bool in_place, nonblocking, check, compare;
    const char *interfaces;     /* NULL: as wire.h chooses */
    const char *json, *csv;     /* NULL: none */
} oc_perf_options_t;

/* The same on all ranks that have the same arguments; texts remain those of argv. */
oc_perf_command_t oc_perf_options_parse(int argc, char **argv, oc_perf_options_t *options,
                                        char *error, size_t size);

void oc_perf_options_help(FILE *out);

/* What is measured, as the command line has it; size 64 is enough. */
void oc_perf_options_name(const oc_perf_options_t *options, char *name, size_t size);

#endif
