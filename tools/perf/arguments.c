/* SPDX-License-Identifier: BSD-3-Clause */
/* Parsing of sizes, numbers and files, and the sentences about them. */
#include "tools/perf/arguments.h"

#include <getopt.h>
#include <stdarg.h>
#include <stdio.h>

#include "base/text.h"

#define MAX_SIZE (1ull << 60)

bool oc_perf_wrong(oc_perf_parser_t *p, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    vsnprintf(p->error, p->size, format, args);
    va_end(args);
    return false;
}

bool oc_perf_parse_size(oc_perf_parser_t *p, const char *name, const char *text, uint64_t *value)
{
    if (OC_OK != oc_parse_size(text, value) || 0 == *value || *value > MAX_SIZE) {
        return oc_perf_wrong(p, "\"%s\" is not a size for --%s: give a number of at least 1, with "
                             "K, M or G if you like", text, name);
    }
    return true;
}

bool oc_perf_parse_number(oc_perf_parser_t *p, const char *name, const char *text, int min,
                          int max, int *number)
{
    uint64_t value;

    if (OC_OK != oc_parse_size(text, &value) || value < (uint64_t) min
        || value > (uint64_t) max) {
        return oc_perf_wrong(p, "\"%s\" is not a value of --%s: give a number from %d to %d", text,
                             name, min, max);
    }
    *number = (int) value;
    return true;
}

bool oc_perf_parse_file(oc_perf_parser_t *p, const char *name, const char *text, const char **file)
{
    *file = text;
    return '\0' != text[0]
           || oc_perf_wrong(p, "\"\" is not a file for --%s: give its name", name);
}

bool oc_perf_unknown_option(oc_perf_parser_t *p, char **argv, int option)
{
    const char *word = argv[optind - 1];

    if (':' == option) {
        return oc_perf_wrong(p, "%s needs a value: see %s --help", word, p->program);
    }
    if (0 != optopt && '-' != word[1]) {
        return oc_perf_wrong(p, "there is no option -%c: see %s --help", optopt, p->program);
    }
    return oc_perf_wrong(p, "there is no option %s, or it takes no value: see %s --help", word,
                         p->program);
}
