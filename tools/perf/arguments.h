/* SPDX-License-Identifier: BSD-3-Clause */
/* What command lines have in common: values of options, and saying what is wrong. No MPI. */
#ifndef OC_PERF_ARGUMENTS_H
#define OC_PERF_ARGUMENTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef enum {
    OC_PERF_RUN,
    OC_PERF_HELP,
    OC_PERF_VERSION,
    OC_PERF_WRONG,              /* error says what is wrong and what to do, in one line */
} oc_perf_command_t;

#define OC_PERF_EXIT_USAGE 2    /* nothing was measured */

typedef struct {
    const char *program;        /* for messages */
    char *error;
    size_t size;
} oc_perf_parser_t;

/* All of these are false with a sentence in error, or true; wrong is always false. */
bool oc_perf_wrong(oc_perf_parser_t *parser, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
bool oc_perf_parse_size(oc_perf_parser_t *parser, const char *name, const char *text,
                        uint64_t *value);
bool oc_perf_parse_number(oc_perf_parser_t *parser, const char *name, const char *text, int min,
                          int max, int *number);
bool oc_perf_parse_file(oc_perf_parser_t *parser, const char *name, const char *text,
                        const char **file);

/* After getopt_long with a ":" in front gave '?' or ':': names the word that it did not like. */
bool oc_perf_unknown_option(oc_perf_parser_t *parser, char **argv, int option);

#endif
