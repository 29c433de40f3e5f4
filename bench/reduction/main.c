/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * How fast the reduction reads its inputs, beside what this machine reads and writes at most.
 *
 * Kernels of all types and plain streams take turns on the same memory, slice by slice: what else
 * the machine does meanwhile meets all of them. A rate of the limit is that of the fastest shape in
 * the same round, so a ratio compares what ran within a second or so.
 */
#include "config.h"

#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "bench/bench_arguments.h"
#include "bench/reduction/reduction_sweep.h"

#define MAX_ROUNDS 99u
#define MAX_SHAPES 8u
#define MAX_RUNNERS (MAX_SHAPES + OC_TYPE_END)
#define SLICES     8u
/* What each runner passes in a round where the working set is small. */
#define SMALL_WORK ((size_t) 256 << 20)
#define DEFAULT_L2 ((size_t) 512 << 10)

typedef struct {
    size_t memory, chunk;   /* bytes */
    size_t inputs;          /* 0: all */
    unsigned rounds;
    bool types[OC_TYPE_END];
    const char *json;       /* NULL: none */
} options_t;

/* One place with one number of inputs: gigabytes of inputs per second, by runner and round. */
typedef struct {
    const char *name;
    oc_sweep_place_t place;
    double rates[MAX_RUNNERS][MAX_ROUNDS];
} measurement_t;

static const size_t input_counts[] = {2, 3, 4, 8, 16, 32, 64};
static oc_runner_t runners[MAX_RUNNERS];
static size_t num_runners;
static unsigned types[OC_TYPE_END];     /* of the runners behind the shapes */
static size_t num_types;

static unsigned op_of(unsigned type)
{
    return NULL != oc_reduce_kernel(OC_OP_SUM, type) ? OC_OP_SUM : OC_OP_MINLOC;
}

static void make_runners(const options_t *options)
{
    for (size_t i = 0; i < oc_num_stream_shapes; i++) {
        runners[num_runners++] = (oc_runner_t) {.shape = &oc_stream_shapes[i]};
    }
    for (unsigned type = 1; type < OC_TYPE_END; type++) {
        if (options->types[type]) {
            types[num_types++] = type;
            runners[num_runners++] = (oc_runner_t) {.kernel = oc_reduce_kernel(op_of(type), type),
                                                    .element = oc_type_size(type)};
        }
    }
}

/* ---- measuring ---- */

static void measure_round(measurement_t *m, unsigned round)
{
    const oc_sweep_place_t *place = &m->place;
    size_t slices = place->chunks < SLICES ? place->chunks : SLICES;
    size_t bytes = place->chunks * place->inputs * place->chunk_bytes * place->repeat;
    double times[MAX_RUNNERS] = {0};

    /* a small set is passed more often instead, so that turns are as short there */
    for (size_t turn = 0; turn < SLICES; turn++) {
        size_t slice = turn % slices;

        for (size_t i = 0; i < num_runners; i++) {
            times[i] += oc_sweep(&runners[i], place, slice * place->chunks / slices,
                                 (slice + 1) * place->chunks / slices);
        }
    }
    for (size_t i = 0; i < num_runners; i++) {
        m->rates[i][round] = (double) bytes / (double) slices * SLICES / times[i] / 1e9;
    }
}

static int compare(const void *a, const void *b)
{
    double x = *(const double *) a, y = *(const double *) b;

    return (x > y) - (x < y);
}

static double limit(const measurement_t *m, unsigned round)
{
    double best = 0;

    for (size_t i = 0; i < oc_num_stream_shapes; i++) {
        best = m->rates[i][round] > best ? m->rates[i][round] : best;
    }
    return best;
}

/* The shape that was the fastest one most often. */
static size_t usual_shape(const measurement_t *m, unsigned rounds)
{
    unsigned won[MAX_SHAPES] = {0};
    size_t best = 0;

    for (unsigned round = 0; round < rounds; round++) {
        size_t i = 0;

        while (m->rates[i][round] < limit(m, round)) {
            i++;
        }
        won[i]++;
        best = won[i] > won[best] ? i : best;
    }
    return best;
}

/* ---- telling ---- */

static void print_row(const measurement_t *m, size_t index, unsigned rounds)
{
    unsigned type = types[index];
    double rates[MAX_ROUNDS], limits[MAX_ROUNDS], ratios[MAX_ROUNDS];

    for (unsigned round = 0; round < rounds; round++) {
        rates[round] = m->rates[oc_num_stream_shapes + index][round];
        limits[round] = limit(m, round);
        ratios[round] = rates[round] / limits[round];
    }
    qsort(rates, rounds, sizeof(rates[0]), compare);
    qsort(limits, rounds, sizeof(limits[0]), compare);
    qsort(ratios, rounds, sizeof(ratios[0]), compare);
    printf("%-7s %6zu  %-14s %-6s %8.2f %8.2f %6.2f  %.2f-%.2f\n", m->name, m->place.inputs,
           oc_type_name(type), oc_op_name(op_of(type)), rates[rounds / 2], limits[rounds / 2],
           ratios[rounds / 2], ratios[0], ratios[rounds - 1]);
}

static void print(const measurement_t *m, unsigned rounds)
{
    for (size_t i = 0; i < num_types; i++) {
        print_row(m, i, rounds);
    }
    printf("%-7s %6zu  limit: %s\n", m->name, m->place.inputs,
           oc_stream_shapes[usual_shape(m, rounds)].name);
    fflush(stdout);
}

static void write_rates(FILE *file, const char *name, const double *rates, unsigned rounds)
{
    fprintf(file, "{\"name\": \"%s\", \"gbytes_s\": [", name);
    for (unsigned round = 0; round < rounds; round++) {
        fprintf(file, "%s%.3f", 0 == round ? "" : ", ", rates[round]);
    }
    fprintf(file, "]}");
}

static void write_json(FILE *file, const measurement_t *m, unsigned rounds, const char *before)
{
    fprintf(file, "%s\n  {\"place\": \"%s\", \"inputs\": %zu, \"chunk_bytes\": %zu, "
            "\"working_set\": %zu,\n   \"limits\": [", before, m->name, m->place.inputs,
            m->place.chunk_bytes, m->place.chunks * m->place.inputs * m->place.chunk_bytes);
    for (size_t i = 0; i < oc_num_stream_shapes; i++) {
        fprintf(file, "%s\n    ", 0 == i ? "" : ",");
        write_rates(file, oc_stream_shapes[i].name, m->rates[i], rounds);
    }
    fprintf(file, "],\n   \"types\": [");
    for (size_t i = 0; i < num_types; i++) {
        fprintf(file, "%s\n    ", 0 == i ? "" : ",");
        write_rates(file, oc_type_name(types[i]), m->rates[oc_num_stream_shapes + i], rounds);
    }
    fprintf(file, "]}");
}

/* ---- places ---- */

static size_t l2_bytes(void)
{
    long found = sysconf(_SC_LEVEL2_CACHE_SIZE);

    return found > 0 ? (size_t) found : DEFAULT_L2;
}

static void set_memory(measurement_t *m, const options_t *options, char *memory, size_t inputs)
{
    m->name = "memory";
    m->place = (oc_sweep_place_t) {
        .memory = memory,
        .inputs = inputs,
        .chunk_bytes = options->chunk,
        .chunks = options->memory / (inputs * options->chunk),
        .repeat = 1,
    };
}

/* One chunk, which fits half of the cache. */
static void set_l2(measurement_t *m, char *memory, size_t inputs)
{
    size_t chunk = l2_bytes() / 2 / inputs / OC_STREAM_STRIP * OC_STREAM_STRIP;

    m->name = "L2";
    m->place = (oc_sweep_place_t) {
        .memory = memory,
        .inputs = inputs,
        .chunk_bytes = chunk,
        .chunks = 1,
        .repeat = SMALL_WORK / SLICES / (inputs * chunk),
    };
}

static void measure(measurement_t *m, const options_t *options, FILE *file, const char *before)
{
    for (unsigned round = 0; round < options->rounds; round++) {
        measure_round(m, round);
    }
    print(m, options->rounds);
    if (NULL != file) {
        write_json(file, m, options->rounds, before);
    }
}

static void measure_all(const options_t *options, char *memory, FILE *file)
{
    static measurement_t m;
    const char *before = "";

    printf("%s kernels; streams with vectors of %zu bytes\n\n", oc_isa_name(oc_reduce_isa()),
           oc_streams_vector());
    printf("%-7s %6s  %-14s %-6s %8s %8s %6s  %s\n", "place", "inputs", "type", "op", "GB/s",
           "limit", "ratio", "min-max");
    if (NULL != file) {
        fprintf(file, "{\"isa\": \"%s\", \"vector_bytes\": %zu, \"rounds\": %u, \"rows\": [",
                oc_isa_name(oc_reduce_isa()), oc_streams_vector(), options->rounds);
    }
    for (size_t i = 0; i < sizeof(input_counts) / sizeof(input_counts[0]); i++) {
        if (0 == options->inputs || options->inputs == input_counts[i]) {
            set_memory(&m, options, memory, input_counts[i]);
            measure(&m, options, file, before);
            set_l2(&m, memory, input_counts[i]);
            measure(&m, options, file, ",");
            before = ",";
        }
    }
    if (NULL != file) {
        fprintf(file, "\n]}\n");
    }
}

/* ---- the command line ---- */

static void print_help(void)
{
    printf("Usage: optcast-bench-reduction [OPTION]...\n"
           "How many gigabytes of inputs the reduction reads in a second, for each type and 2 to "
           "64 inputs,\nbeside loops that do nothing but read as many streams and write one: in "
           "memory, and in half of\nthe L2 cache. All take turns. Times are those of the "
           "processor.\n\n"
           "  --memory MIB   The working set in memory (default 2048, at least 64).\n"
           "  --chunk KIB    Bytes of each input of a chunk (default 64).\n"
           "  --inputs N     Only so many: 2, 3, 4, 8, 16, 32 or 64.\n"
           "  --type NAME    Only this type, such as float; may be repeated.\n"
           "  --rounds N     How often each is measured (default 5, at most %u).\n"
           "  --json FILE    Write all rates there.\n"
           "  --help\n\n"
           "OPTCAST_ISA in the environment lowers the instruction set of the kernels.\n"
           "Exit status: 0, 1 if there was no memory or no file, 2 after a wrong option.\n",
           MAX_ROUNDS);
}

static unsigned type_named(const char *name)
{
    for (unsigned type = 1; type < OC_TYPE_END; type++) {
        if (0 == strcmp(name, oc_type_name(type))) {
            return type;
        }
    }
    oc_bench_wrong("--type", name, "there is no such type; without --type all are measured, and "
                                   "their names printed");
}

static size_t known_inputs(const char *text)
{
    size_t inputs = oc_bench_number("--inputs", text, 2, OC_MAX_INPUTS);

    for (size_t i = 0; i < sizeof(input_counts) / sizeof(input_counts[0]); i++) {
        if (input_counts[i] == inputs) {
            return inputs;
        }
    }
    oc_bench_wrong("--inputs", text, "2, 3, 4, 8, 16, 32 or 64 is needed");
}

static void choose(options_t *options, int option, const char *value)
{
    switch (option) {
    case 'm':
        options->memory = oc_bench_number("--memory", value, 64, 1 << 20) << 20;
        break;
    case 'c':
        options->chunk = oc_bench_number("--chunk", value, 1, 1 << 10) << 10;
        break;
    case 'i':
        options->inputs = known_inputs(value);
        break;
    case 't':
        options->types[0] = true;
        options->types[type_named(value)] = true;
        break;
    case 'r':
        options->rounds = (unsigned) oc_bench_number("--rounds", value, 1, MAX_ROUNDS);
        break;
    case 'j':
        options->json = value;
        break;
    case 'h':
        print_help();
        exit(EXIT_SUCCESS);
    default:
        exit(OC_BENCH_USAGE);
    }
}

/* Type 0 does not exist: its place says that some were named. */
static options_t parse(int argc, char **argv)
{
    static const struct option known[] = {
        {"memory", required_argument, NULL, 'm'}, {"chunk", required_argument, NULL, 'c'},
        {"inputs", required_argument, NULL, 'i'}, {"type", required_argument, NULL, 't'},
        {"rounds", required_argument, NULL, 'r'}, {"json", required_argument, NULL, 'j'},
        {"help", no_argument, NULL, 'h'}, {NULL, 0, NULL, 0}};
    options_t options = {.memory = (size_t) 2048 << 20, .chunk = 64 << 10, .rounds = 5};
    int option;

    while ((option = getopt_long(argc, argv, "", known, NULL)) >= 0) {
        choose(&options, option, optarg);
    }
    for (unsigned type = 1; type < OC_TYPE_END; type++) {
        options.types[type] |= !options.types[0];
    }
    oc_bench_no_more(argc, argv);
    return options;
}

int main(int argc, char **argv)
{
    options_t options = parse(argc, argv);
    FILE *file = oc_bench_create(options.json);
    char *memory = aligned_alloc(4096, options.memory);

    if (NULL == memory) {
        fprintf(stderr, "optcast-bench-reduction: no %zu MiB of memory: lower --memory\n",
                options.memory >> 20);
        return EXIT_FAILURE;
    }
    memset(memory, OC_SWEEP_BYTE, options.memory);
    make_runners(&options);
    measure_all(&options, memory, file);
    free(memory);
    return oc_bench_close(file);
}
