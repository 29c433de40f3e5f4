/* SPDX-License-Identifier: BSD-3-Clause */
/* Parsing of the command line, defaults, and which options go together. */
#include "tools/perf/perf_options.h"

#include <getopt.h>
#include <inttypes.h>
#include <limits.h>
#include <string.h>

#define DEFAULT_MIN    1024
#define DEFAULT_MAX    (16u << 20)
#define DEFAULT_FACTOR 2
#define MAX_ITERATIONS 1000000
#define MAX_FACTOR     1000000
#define MAX_TIME       3600000 /* ms */
#define MAX_TEST       1000000 /* us */

/* What sharded training does at once: parameters of one layer, gradients of another. */
#define PAIR    "pair"
#define PAIR_OF "allgather+reduce_scatter_block"

/* Which options were given: bits, as far as somebody asks. */
enum { MIN = 1, MAX = 2, FACTOR = 4, TYPE = 8, OP = 16, ROOT = 32, FIRST = 64 };

typedef struct {
    oc_perf_parser_t common;
    oc_perf_options_t *options;
    unsigned given;
    char name[64];              /* of what is measured */
} parser_t;

/* Always false. */
#define WRONG(parser, ...) oc_perf_wrong(&(parser)->common, __VA_ARGS__)

static const struct option known[] = {
    {"min", required_argument, NULL, 'b'},        {"max", required_argument, NULL, 'e'},
    {"factor", required_argument, NULL, 'f'},     {"iterations", required_argument, NULL, 'n'},
    {"warmup", required_argument, NULL, 'w'},     {"time", required_argument, NULL, 't'},
    {"type", required_argument, NULL, 'd'},
    {"op", required_argument, NULL, 'o'},         {"root", required_argument, NULL, 'r'},
    {"first", required_argument, NULL, 'F'},      {"overlap", required_argument, NULL, 'O'},
    {"in-place", no_argument, NULL, 'p'},         {"nonblocking", no_argument, NULL, 'N'},
    {"compute", no_argument, NULL, 'k'},          {"test", required_argument, NULL, 'T'},
    {"same-communicator", no_argument, NULL, 's'}, {"stream", required_argument, NULL, 'm'},
    {"check", no_argument, NULL, 'c'},            {"compare", no_argument, NULL, 'C'},
    {"interface", required_argument, NULL, 'i'},  {"json", required_argument, NULL, 'J'},
    {"csv", required_argument, NULL, 'S'},        {"help", no_argument, NULL, 'h'},
    {"version", no_argument, NULL, 'v'},          {0}};

void oc_perf_options_help(FILE *out)
{
    fprintf(out,
            "Usage: mpirun ... optcast-perf COLLECTIVE [OPTION]...\n"
            "Measures a collective operation of MPI, and what coll/optcast makes of it.\n\n"
            "COLLECTIVE: allreduce, allgather, allgatherv, bcast, reduce, reduce_scatter,\n"
            "            reduce_scatter_block or barrier; two with a + between are started "
            "together\n"
            "            (pair: allgather+reduce_scatter_block)\n\n"
            "  -b, --min SIZE          Smallest size in bytes; K, M and G are understood (1K).\n"
            "  -e, --max SIZE          Largest size (16M).\n"
            "  -f, --factor N          From one size to the next (2).\n"
            "  -n, --iterations N      Timed iterations of each size (20).\n"
            "  -w, --warmup N          Iterations before them that are not timed (5).\n"
            "  -t, --time MS           No more iterations of a size than take MS milliseconds, but "
            "one after\n"
            "                          two that are not timed (as many as -n says).\n"
            "  -d, --type TYPE         int8 to int64, uint8 to uint64, float, double; without an "
            "operation\n"
            "                          also byte and char (float).\n"
            "  -o, --op OP             sum, prod, min, max; for integers also band, bor, bxor, "
            "land, lor,\n"
            "                          lxor (sum).\n"
            "      --root RANK         Of bcast and reduce (0).\n"
            "      --first PERCENT     Of allgatherv and reduce_scatter: the block of rank 0, of the "
            "whole\n"
            "                          vector; the others are equal (all are).\n"
            "      --in-place          With MPI_IN_PLACE.\n"
            "      --nonblocking       MPI_I... and MPI_Wait.\n"
            "      --overlap MS        The same, with MS milliseconds outside MPI in between, and how "
            "much of the\n"
            "                          operation's own time they hide.\n"
            "      --same-communicator Two at once are on one communicator, not on two.\n"
            "      --stream N          N operations (2 to 64) on one communicator, all started before "
            "the first one\n"
            "                          is waited for; nonblocking. Times are of all N together.\n"
            "      --compute           With --overlap: multiply matrices for about as long instead of "
            "sleeping,\n"
            "                          and tell what that loses beside the operation.\n"
            "      --test US           With --overlap: call MPI_Testall every US microseconds.\n"
            "      --check             Verify every element of every result.\n"
            "      --compare           Measure the same without coll/optcast, too, in turns.\n"
            "      --interface LIST    Count the bytes of these: NAME of a network interface, "
            "DEVICE:PORT of\n"
            "                          an RDMA port, separated by commas; or none. Default: all "
            "that are up.\n"
            "      --json FILE         Write all numbers, those of each iteration too.\n"
            "      --csv FILE          Write the table.\n"
            "      --help, --version\n\n"
            "Exit status: 0; 1 if a result was wrong or could not be written; 2 if nothing was "
            "measured,\nafter a wrong option or without memory.\n");
}

static bool parse_type(parser_t *p, const char *text)
{
    p->given |= TYPE;
    p->options->type = oc_perf_type_find(text);
    return OC_PERF_TYPE_END != p->options->type
           || WRONG(p, "\"%s\" is not a type: give int8, int16, int32, int64, uint8, uint16, "
                    "uint32, uint64, float, double, byte or char", text);
}

static bool parse_op(parser_t *p, const char *text)
{
    p->given |= OP;
    p->options->op = oc_perf_op_find(text);
    return OC_PERF_OP_END != p->options->op
           || WRONG(p, "\"%s\" is not an operation: give sum, prod, min, max, band, bor, bxor, "
                    "land, lor or lxor", text);
}

static bool parse_factor(parser_t *p, const char *text)
{
    int number = 0;

    p->given |= FACTOR;
    if (!oc_perf_parse_number(&p->common, "factor", text, 2, MAX_FACTOR, &number)) {
        return false;
    }
    p->options->factor = (unsigned) number;
    return true;
}

static bool parse_flag(oc_perf_options_t *options, int option)
{
    switch (option) {
    case 'p':
        return options->in_place = true;
    case 'N':
        return options->nonblocking = true;
    case 'k':
        return options->compute = true;
    case 's':
        return options->same_communicator = true;
    case 'c':
        return options->check = true;
    default:
        return options->compare = true;
    }
}

/* How much of what. */
static bool parse_data_option(parser_t *p, int option)
{
    oc_perf_options_t *options = p->options;

    switch (option) {
    case 'b':
        p->given |= MIN;
        return oc_perf_parse_size(&p->common, "min", optarg, &options->min);
    case 'e':
        p->given |= MAX;
        return oc_perf_parse_size(&p->common, "max", optarg, &options->max);
    case 'f':
        return parse_factor(p, optarg);
    case 'd':
        return parse_type(p, optarg);
    case 'o':
        return parse_op(p, optarg);
    case 'r':
        p->given |= ROOT;
        return oc_perf_parse_number(&p->common, "root", optarg, 0, INT_MAX, &options->root);
    case 'F':
        p->given |= FIRST;
        return oc_perf_parse_number(&p->common, "first", optarg, 0, 100, &options->first);
    default:
        return parse_flag(options, option);
    }
}

static bool parse_option(parser_t *p, int option)
{
    oc_perf_options_t *options = p->options;

    switch (option) {
    case 'n':
        return oc_perf_parse_number(&p->common, "iterations", optarg, 1, MAX_ITERATIONS,
                                    &options->iterations);
    case 'w':
        return oc_perf_parse_number(&p->common, "warmup", optarg, 0, MAX_ITERATIONS,
                                    &options->warmup);
    case 'O':
        options->nonblocking = true;
        return oc_perf_parse_number(&p->common, "overlap", optarg, 1, MAX_TIME, &options->overlap);
    case 'm':
        options->nonblocking = true;
        return oc_perf_parse_number(&p->common, "stream", optarg, 2, OC_PERF_MAX_STREAM,
                                    &options->stream);
    case 'T':
        return oc_perf_parse_number(&p->common, "test", optarg, 1, MAX_TEST, &options->test_every);
    case 't':
        return oc_perf_parse_number(&p->common, "time", optarg, 1, MAX_TIME,
                                    &options->milliseconds);
    case 'i':
        options->interfaces = optarg;
        return true;
    case 'J':
        return oc_perf_parse_file(&p->common, "json", optarg, &options->json);
    case 'S':
        return oc_perf_parse_file(&p->common, "csv", optarg, &options->csv);
    default:
        return parse_data_option(p, option);
    }
}

/* The first length characters of text. */
static bool find_collective(parser_t *p, const char *text, size_t length,
                            oc_perf_collective_t *collective)
{
    char name[32] = "";

    if (length < sizeof(name)) {
        memcpy(name, text, length);
    }
    *collective = oc_perf_collective_find(name);
    return OC_PERF_COLLECTIVE_END != *collective
           || WRONG(p, "\"%.*s\" is not a collective: give allreduce, allgather, allgatherv, bcast, "
                    "reduce, reduce_scatter, reduce_scatter_block or barrier, two of them with a + "
                    "between, or pair", (int) (length < 64 ? length : 64), text);
}

/* One, or two with a plus. */
static bool parse_name(parser_t *p, const char *text)
{
    oc_perf_options_t *options = p->options;
    const char *plus;

    if (0 == strcmp(text, PAIR)) {
        text = PAIR_OF;
    }
    plus = strchr(text, '+');
    options->pair = NULL != plus;
    if (NULL == plus) {
        return find_collective(p, text, strlen(text), &options->collective);
    }
    return find_collective(p, text, (size_t) (plus - text), &options->collective)
           && find_collective(p, plus + 1, strlen(plus + 1), &options->second);
}

static bool parse_collective(parser_t *p, int argc, char **argv)
{
    if (optind >= argc) {
        return WRONG(p, "no collective is named: give allreduce, allgather, allgatherv, bcast, "
                     "reduce, reduce_scatter, reduce_scatter_block or barrier");
    }
    if (!parse_name(p, argv[optind])) {
        return false;
    }
    if (optind + 1 < argc) {
        return WRONG(p, "unexpected argument \"%s\": give one collective, or two at once with a + "
                     "between", argv[optind + 1]);
    }
    return true;
}

static bool check_barrier(parser_t *p)
{
    if (0 != (p->given & (MIN | MAX | FACTOR | TYPE))) {
        return WRONG(p, "barrier has no data: leave out --min, --max, --factor and --type");
    }
    if (p->options->check) {
        return WRONG(p, "barrier has no result: leave out --check");
    }
    p->options->min = p->options->max = 0;
    return true;
}

static bool check_sizes(parser_t *p)
{
    oc_perf_options_t *options = p->options;

    if (0 == (p->given & MAX) && options->max < options->min) {
        options->max = options->min;
    }
    if (0 == (p->given & MIN) && options->min > options->max) {
        options->min = options->max;
    }
    return options->min <= options->max
           || WRONG(p, "--min %" PRIu64 " is larger than --max %" PRIu64 ": exchange them",
                    options->min, options->max);
}

/* Whether one of the two has that, or the only one. */
static bool any_has(const oc_perf_options_t *options, bool (*has)(oc_perf_collective_t collective))
{
    return has(options->collective) || (options->pair && has(options->second));
}

static bool check_op(parser_t *p)
{
    oc_perf_options_t *options = p->options;
    const char *type = oc_perf_type_name(options->type);

    if (!any_has(options, oc_perf_has_op)) {
        options->op = OC_PERF_OP_END;
        return 0 == (p->given & OP)
               || WRONG(p, "%s has no operation: leave out --op", p->name);
    }
    if (OC_PERF_BYTE == options->type || OC_PERF_CHAR == options->type) {
        return WRONG(p, "%s has no operations, and %s needs one: give int8 or uint8", type,
                     p->name);
    }
    if (oc_perf_type_is_float(options->type) && options->op >= OC_PERF_BAND) {
        return WRONG(p, "%s is not an operation on %s: give sum, prod, min or max, or an integer "
                     "--type", oc_perf_op_name(options->op), type);
    }
    return true;
}

static bool check_pair(parser_t *p)
{
    oc_perf_options_t *options = p->options;

    if (!options->pair) {
        return !options->same_communicator
               || WRONG(p, "--same-communicator: %s is only one operation: leave it out, or give "
                        "two with a + between", p->name);
    }
    if (!oc_perf_has_data(options->collective) || !oc_perf_has_data(options->second)) {
        return WRONG(p, "%s: barrier has no data, and cannot be one of two: give another",
                     p->name);
    }
    options->nonblocking = true;
    return true;
}

static bool check_stream(parser_t *p)
{
    const oc_perf_options_t *options = p->options;

    if (1 == options->stream) {
        return true;
    }
    if (options->pair) {
        return WRONG(p, "--stream %d: %s are two collectives, and a stream has one: leave it out, or "
                     "give one of them", options->stream, p->name);
    }
    return oc_perf_has_data(options->collective)
           || WRONG(p, "--stream %d: %s has no data that could be fetched ahead: leave it out, or "
                    "give another collective", options->stream, p->name);
}

static bool check_together(parser_t *p)
{
    oc_perf_options_t *options = p->options;
    bool in_place = oc_perf_has_in_place(options->collective)
                    && (!options->pair || oc_perf_has_in_place(options->second));

    oc_perf_options_name(options, p->name, sizeof(p->name));
    if (options->in_place && !in_place) {
        return WRONG(p, "%s has no variant in place: leave out --in-place", p->name);
    }
    if (0 != (p->given & ROOT) && !any_has(options, oc_perf_has_root)) {
        return WRONG(p, "%s has no root: leave out --root", p->name);
    }
    if (0 != (p->given & FIRST) && !any_has(options, oc_perf_has_counts)) {
        return WRONG(p, "%s has no unequal blocks: leave out --first", p->name);
    }
    if (0 == options->overlap && (options->compute || 0 != options->test_every)) {
        return WRONG(p, "%s is of the time outside MPI, and there is none: give --overlap, too",
                     options->compute ? "--compute" : "--test");
    }
    if (NULL != options->json && NULL != options->csv && 0 == strcmp(options->json, options->csv)) {
        return WRONG(p, "--json and --csv name the same file, %s: give two", options->json);
    }
    return check_stream(p) && check_pair(p) && check_op(p)
           && (oc_perf_has_data(options->collective) ? check_sizes(p) : check_barrier(p));
}

void oc_perf_options_name(const oc_perf_options_t *options, char *name, size_t size)
{
    const char *first = oc_perf_collective_name(options->collective);

    if (options->pair) {
        snprintf(name, size, "%s+%s", first, oc_perf_collective_name(options->second));
    } else {
        snprintf(name, size, "%s", first);
    }
}

oc_perf_command_t oc_perf_options_parse(int argc, char **argv, oc_perf_options_t *options,
                                        char *error, size_t size)
{
    parser_t parser = {.common = {"optcast-perf", error, size}, .options = options};
    bool good = true;
    int option;

    *options = (oc_perf_options_t) {.min = DEFAULT_MIN, .max = DEFAULT_MAX,
                                    .factor = DEFAULT_FACTOR, .iterations = 20, .warmup = 5,
                                    .type = OC_PERF_FLOAT, .op = OC_PERF_SUM, .first = -1,
                                    .stream = 1};
    optind = 0; /* from the start, also a second time */
    while (good && -1 != (option = getopt_long(argc, argv, ":b:e:f:n:w:t:d:o:", known, NULL))) {
        if ('h' == option || 'v' == option) {
            return 'h' == option ? OC_PERF_HELP : OC_PERF_VERSION;
        }
        good = '?' == option || ':' == option ? oc_perf_unknown_option(&parser.common, argv, option)
                                              : parse_option(&parser, option);
    }
    good = good && parse_collective(&parser, argc, argv) && check_together(&parser);
    return good ? OC_PERF_RUN : OC_PERF_WRONG;
}
