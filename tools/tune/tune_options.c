/* SPDX-License-Identifier: BSD-3-Clause */
/* Parsing of the command line, and defaults. */
#include "tools/tune/tune_options.h"

#include <getopt.h>
#include <inttypes.h>
#include <string.h>

#include "tools/tune/decision.h"

#define DEFAULT_MIN 8
#define DEFAULT_MAX (64u << 20)

typedef struct {
    oc_perf_parser_t common;
    oc_tune_options_t *options;
    const char *elements;       /* an option that is about them; NULL: none was given */
} parser_t;

static const struct option known[] = {
    {"collective", required_argument, NULL, 'c'},
    {"output", required_argument, NULL, 'o'}, {"add", no_argument, NULL, 'a'},
    {"min", required_argument, NULL, 'b'},    {"max", required_argument, NULL, 'e'},
    {"rounds", required_argument, NULL, 'r'}, {"type", required_argument, NULL, 'd'},
    {"help", no_argument, NULL, 'h'},         {"version", no_argument, NULL, 'v'},
    {0}};

void oc_tune_options_help(FILE *out)
{
    fprintf(out,
            "Usage: mpirun ... optcast-tune [OPTION]...\n"
            "Measures from which size on a reduction is faster with coll/optcast than without, "
            "for this\nnumber of hosts, ranks and servers, and writes that as a rule for "
            "coll_optcast_rules.\n\n"
            "  -c, --collective NAME   allreduce, reduce, reduce_scatter, reduce_scatter_block or "
            "barrier\n"
            "                          (allreduce).\n"
            "  -o, --output FILE       Write the rule there; without it, to stdout.\n"
            "  -a, --add               FILE has rules already: keep those of other situations.\n"
            "  -b, --min SIZE          Smallest size in bytes; K, M and G are understood (8).\n"
            "  -e, --max SIZE          Largest size (64M).\n"
            "  -r, --rounds N          How often each size is measured, %d to %d (%d).\n"
            "  -d, --type TYPE         int8 to int64, uint8 to uint64, float, double (float).\n"
            "      --help, --version\n\n"
            "Exit status: 0; 1 if a result was wrong, nothing was offloaded, or the rule could "
            "not be written;\n2 if nothing was measured.\n",
            OC_TUNE_MIN_ROUNDS, OC_TUNE_MAX_ROUNDS, OC_TUNE_MIN_ROUNDS);
}

static bool parse_type(parser_t *p, const char *text)
{
    p->options->type = oc_perf_type_find(text);
    return p->options->type < OC_PERF_BYTE
           || oc_perf_wrong(&p->common, "\"%s\" is not a type that can be added up: give int8, "
                            "int16, int32, int64, uint8, uint16, uint32, uint64, float or double",
                            text);
}

/* The tools and the rules call it by the same name. */
static bool parse_collective(parser_t *p, const char *text)
{
    oc_tune_options_t *options = p->options;

    options->collective = oc_perf_collective_find(text);
    for (int ruled = 0; ruled < OC_NUM_RULED; ruled++) {
        if (0 == strcmp(text, oc_ruled_name((oc_ruled_t) ruled))) {
            options->ruled = (oc_ruled_t) ruled;
            return true;
        }
    }
    return oc_perf_wrong(&p->common, "\"%s\" is not a collective that rules speak of: give "
                         "allreduce, reduce, reduce_scatter, reduce_scatter_block or barrier",
                         text);
}

static bool parse_option(parser_t *p, int option)
{
    oc_tune_options_t *options = p->options;

    switch (option) {
    case 'c':
        return parse_collective(p, optarg);
    case 'o':
        return oc_perf_parse_file(&p->common, "output", optarg, &options->output);
    case 'a':
        return options->add = true;
    case 'b':
        p->elements = "--min";
        return oc_perf_parse_size(&p->common, "min", optarg, &options->min);
    case 'e':
        p->elements = "--max";
        return oc_perf_parse_size(&p->common, "max", optarg, &options->max);
    case 'r':
        return oc_perf_parse_number(&p->common, "rounds", optarg, OC_TUNE_MIN_ROUNDS,
                                    OC_TUNE_MAX_ROUNDS, &options->rounds);
    default:
        p->elements = "--type";
        return parse_type(p, optarg);
    }
}

static bool check_together(parser_t *p, int argc, char **argv)
{
    const oc_tune_options_t *options = p->options;

    if (optind < argc) {
        return oc_perf_wrong(&p->common, "unexpected argument \"%s\": see optcast-tune --help",
                             argv[optind]);
    }
    if (options->add && NULL == options->output) {
        return oc_perf_wrong(&p->common, "--add is for a file: name it with --output");
    }
    if (!oc_perf_has_data(options->collective) && NULL != p->elements) {
        return oc_perf_wrong(&p->common, "%s is not for %s, which has no elements: leave it out",
                             p->elements, oc_perf_collective_name(options->collective));
    }
    return options->max / 2 >= options->min
           || oc_perf_wrong(&p->common, "--min %" PRIu64 " and --max %" PRIu64 ": one size proves "
                            "nothing: make --max at least twice --min", options->min, options->max);
}

oc_perf_command_t oc_tune_options_parse(int argc, char **argv, oc_tune_options_t *options,
                                        char *error, size_t size)
{
    parser_t parser = {.common = {"optcast-tune", error, size}, .options = options};
    bool good = true;
    int option;

    *options = (oc_tune_options_t) {.collective = OC_PERF_ALLREDUCE, .ruled = OC_RULED_ALLREDUCE,
                                    .min = DEFAULT_MIN, .max = DEFAULT_MAX,
                                    .rounds = OC_TUNE_MIN_ROUNDS, .type = OC_PERF_FLOAT};
    optind = 0; /* from the start, also a second time */
    while (good && -1 != (option = getopt_long(argc, argv, ":c:o:ab:e:r:d:", known, NULL))) {
        if ('h' == option || 'v' == option) {
            return 'h' == option ? OC_PERF_HELP : OC_PERF_VERSION;
        }
        good = '?' == option || ':' == option
                   ? oc_perf_unknown_option(&parser.common, argv, option)
                   : parse_option(&parser, option);
    }
    return good && check_together(&parser, argc, argv) ? OC_PERF_RUN : OC_PERF_WRONG;
}
