/* SPDX-License-Identifier: BSD-3-Clause */
/* Arguments, and what is wrong with them. */
#include "bench/bench_arguments.h"

#include <errno.h>
#include <getopt.h>
#include <stdlib.h>
#include <string.h>

void oc_bench_wrong(const char *option, const char *value, const char *why)
{
    fprintf(stderr, "%s: %s %s: %s\n", program_invocation_short_name, option, value, why);
    exit(OC_BENCH_USAGE);
}

size_t oc_bench_number(const char *option, const char *value, size_t least, size_t most)
{
    unsigned long number;
    char *end, why[96];

    errno = 0;
    number = strtoul(value, &end, 10);
    if (0 != errno || '\0' != *end || end == value || number < least || number > most) {
        snprintf(why, sizeof(why), "a number from %zu to %zu is needed", least, most);
        oc_bench_wrong(option, value, why);
    }
    return number;
}

void oc_bench_no_more(int argc, char **argv)
{
    if (optind < argc) {
        fprintf(stderr, "%s: %s: only options are known; see --help\n",
                program_invocation_short_name, argv[optind]);
        exit(OC_BENCH_USAGE);
    }
}

FILE *oc_bench_create(const char *path)
{
    FILE *file = NULL != path ? fopen(path, "w") : NULL;

    if (NULL != path && NULL == file) {
        fprintf(stderr, "%s: cannot write %s: %s\n", program_invocation_short_name, path,
                strerror(errno));
        exit(EXIT_FAILURE);
    }
    return file;
}

int oc_bench_close(FILE *file)
{
    return NULL == file || 0 == fclose(file) ? EXIT_SUCCESS : EXIT_FAILURE;
}
