/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What huge pages are worth to an aggregator: memory in pieces as it takes them is got, touched
 * first, reduced and given back, with each kind of pages in turns.
 */
#include "config.h"

#include <getopt.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>

#include "base/settings.h"
#include "bench/bench_arguments.h"
#include "reduction/reduction.h"
#include "server/host/pages.h"

#define INPUTS      32u
#define CHUNK       ((size_t) 64 << 10)
#define PIECE       (INPUTS * CHUNK)
#define MAX_PIECES  512u
#define MAX_ROUNDS  99u
#define WORK        ((size_t) 1 << 30)  /* bytes of inputs that each reduces in a round */
#define BYTE        0x3c                /* a normal number in every type */

enum { FAULTS, TOUCH, RATE, NUM_VALUES };

static const char *const value_names[NUM_VALUES] = {"faults", "touch_s", "gbytes_s"};

typedef struct {
    unsigned rounds, pieces;
    const char *json;
} options_t;

typedef struct {
    const char *name;
    int huge_pages;
    double values[NUM_VALUES][MAX_ROUNDS];
} kind_t;

static kind_t kinds[] = {{.name = "auto", .huge_pages = OC_HUGE_PAGES_AUTO},
                         {.name = "reserved", .huge_pages = OC_HUGE_PAGES_RESERVED},
                         {.name = "off", .huge_pages = OC_HUGE_PAGES_OFF}};

#define NUM_KINDS (sizeof(kinds) / sizeof(kinds[0]))

/* Of the processor: what other programs take of it does not count. */
static double seconds(void)
{
    struct timespec time;

    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
    return (double) time.tv_sec + (double) time.tv_nsec * 1e-9;
}

static double faults(void)
{
    struct rusage usage;

    getrusage(RUSAGE_SELF, &usage);
    return (double) usage.ru_minflt;
}

static void reduce(char *piece)
{
    const void *sources[INPUTS];

    for (unsigned i = 0; i < INPUTS; i++) {
        sources[i] = piece + i * CHUNK;
    }
    oc_reduce_kernel(OC_OP_MAX, OC_TYPE_FLOAT)(piece, sources, INPUTS, CHUNK / sizeof(float));
}

static bool measure(kind_t *kind, unsigned round, unsigned pieces)
{
    char *memory[MAX_PIECES];
    size_t passes = WORK / (pieces * PIECE) > 0 ? WORK / (pieces * PIECE) : 1;
    double start = seconds(), before = faults();

    for (unsigned i = 0; i < pieces; i++) {
        memory[i] = oc_pages_get(PIECE, kind->huge_pages);
        if (NULL == memory[i]) {
            return false;
        }
        memset(memory[i], BYTE, PIECE);
    }
    kind->values[TOUCH][round] = seconds() - start;
    kind->values[FAULTS][round] = faults() - before;
    start = seconds();
    for (size_t pass = 0; pass < passes; pass++) {
        for (unsigned i = 0; i < pieces; i++) {
            reduce(memory[i]);
        }
    }
    kind->values[RATE][round] = (double) (passes * pieces * PIECE) / (seconds() - start) / 1e9;
    for (unsigned i = 0; i < pieces; i++) {
        oc_pages_put(memory[i], PIECE, kind->huge_pages);
    }
    return true;
}

/* ---- telling ---- */

static int compare(const void *a, const void *b)
{
    double x = *(const double *) a, y = *(const double *) b;

    return (x > y) - (x < y);
}

static void print(const kind_t *kind, unsigned rounds)
{
    double sorted[NUM_VALUES][MAX_ROUNDS];

    for (unsigned v = 0; v < NUM_VALUES; v++) {
        memcpy(sorted[v], kind->values[v], rounds * sizeof(double));
        qsort(sorted[v], rounds, sizeof(double), compare);
    }
    printf("%-9s %8.0f %10.2f  %6.2f-%-6.2f %8.2f  %.2f-%.2f\n", kind->name,
           sorted[FAULTS][rounds / 2], sorted[TOUCH][rounds / 2] * 1e3, sorted[TOUCH][0] * 1e3,
           sorted[TOUCH][rounds - 1] * 1e3, sorted[RATE][rounds / 2], sorted[RATE][0],
           sorted[RATE][rounds - 1]);
}

static void write_json(FILE *file, const options_t *options)
{
    fprintf(file, "{\"piece_bytes\": %zu, \"pieces\": %u, \"inputs\": %u, \"kinds\": [", PIECE,
            options->pieces, INPUTS);
    for (size_t i = 0; i < NUM_KINDS; i++) {
        fprintf(file, "%s\n  {\"name\": \"%s\"", 0 == i ? "" : ",", kinds[i].name);
        for (unsigned v = 0; v < NUM_VALUES; v++) {
            fprintf(file, ",\n   \"%s\": [", value_names[v]);
            for (unsigned round = 0; round < options->rounds; round++) {
                fprintf(file, "%s%.9g", 0 == round ? "" : ", ", kinds[i].values[v][round]);
            }
            fprintf(file, "]");
        }
        fprintf(file, "}");
    }
    fprintf(file, "\n]}\n");
}

/* ---- the command line ---- */

static void print_help(void)
{
    printf("Usage: optcast-bench-pages [OPTION]...\n"
           "What huge pages are worth to an aggregator: page faults, time to touch memory first, "
           "and gigabytes of\ninputs that are reduced in a second, for pieces of 2 MiB, which are "
           "32 inputs of 64 KiB. Kinds of\npages take turns; times are those of the processor.\n\n"
           "  --pieces N     How many pieces there are at a time (default 64, at most %u).\n"
           "  --rounds N     How often each is measured (default 9, at most %u).\n"
           "  --json FILE    Write all values there.\n"
           "  --help\n\n"
           "Exit status: 0, 1 if there was no memory or no file, 2 after a wrong option.\n",
           MAX_PIECES, MAX_ROUNDS);
}

static options_t parse(int argc, char **argv)
{
    static const struct option known[] = {
        {"pieces", required_argument, NULL, 'p'}, {"rounds", required_argument, NULL, 'r'},
        {"json", required_argument, NULL, 'j'}, {"help", no_argument, NULL, 'h'},
        {NULL, 0, NULL, 0}};
    options_t options = {.pieces = 64, .rounds = 9};
    int option;

    while ((option = getopt_long(argc, argv, "", known, NULL)) >= 0) {
        switch (option) {
        case 'p':
            options.pieces = (unsigned) oc_bench_number("--pieces", optarg, 1, MAX_PIECES);
            break;
        case 'r':
            options.rounds = (unsigned) oc_bench_number("--rounds", optarg, 1, MAX_ROUNDS);
            break;
        case 'j':
            options.json = optarg;
            break;
        case 'h':
            print_help();
            exit(EXIT_SUCCESS);
        default:
            exit(OC_BENCH_USAGE);
        }
    }
    oc_bench_no_more(argc, argv);
    return options;
}

int main(int argc, char **argv)
{
    options_t options = parse(argc, argv);
    FILE *file = oc_bench_create(options.json);

    for (unsigned round = 0; round < options.rounds; round++) {
        for (size_t i = 0; i < NUM_KINDS; i++) {
            if (!measure(&kinds[i], round, options.pieces)) {
                fprintf(stderr, "optcast-bench-pages: no memory: lower --pieces\n");
                return EXIT_FAILURE;
            }
        }
    }
    printf("%-9s %8s %10s  %-13s %8s  %s\n", "pages", "faults", "touch, ms", "min-max", "GB/s",
           "min-max");
    for (size_t i = 0; i < NUM_KINDS; i++) {
        print(&kinds[i], options.rounds);
    }
    if (NULL != file) {
        write_json(file, &options);
    }
    return oc_bench_close(file);
}
