/* SPDX-License-Identifier: BSD-3-Clause */
/* The command line of optcast-tune, without MPI. */
#ifndef OC_TUNE_TUNE_OPTIONS_H
#define OC_TUNE_TUNE_OPTIONS_H

#include <stdio.h>

#include "base/rules.h"
#include "tools/perf/arguments.h"
#include "tools/perf/types.h"

typedef struct {
    oc_perf_collective_t collective; /* one that rules speak of */
    oc_ruled_t ruled;           /* the same */
    const char *output;         /* NULL: stdout */
    bool add;                   /* to the rules that the file has */
    uint64_t min, max;          /* bytes; max is at least twice min */
    int rounds;
    oc_perf_type_t type;
} oc_tune_options_t;

/* The same on all ranks that have the same arguments; texts remain those of argv. */
oc_perf_command_t oc_tune_options_parse(int argc, char **argv, oc_tune_options_t *options,
                                        char *error, size_t size);

void oc_tune_options_help(FILE *out);

#endif
