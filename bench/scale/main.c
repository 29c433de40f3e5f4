/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What an aggregator uses of a processor: for each chunk and each small vector, whether they are of
 * one group or of many; and for each gigabyte of contributions over TCP.
 *
 * Ranks and groups are those of the engine's tests, without MPI, and so is the server, a process
 * of its own. In each round all loads take their turn.
 */
#include "config.h"

#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "bench/bench_arguments.h"
#include "bench/scale/usage.h"
#include "tests/engine/harness.h"

#define MAX_ROUNDS    99u
#define MAX_IN_FLIGHT 64u
#define KIB           1024u
#define MIB           (1024u * KIB)
#define GB            1e9
#define LIMIT_SECONDS 300u

/*
 * The same work for any number of groups: so many operations at a time, and so many chunks, in all
 * of them together.
 */
typedef struct {
    const char *name, *unit;
    unsigned ranks, groups, in_flight;
    size_t bytes;              /* of a vector */
    size_t chunk;              /* 0: the default, as for the window */
    int window;
    unsigned operations;       /* in a round */
    bool tcp;
} load_t;

static const load_t loads[] = {
    {"chunks", "chunk", 4, 1, 64, 128 * KIB, 16 * KIB, 64, 1024, false},
    {"chunks", "chunk", 4, 8, 64, 128 * KIB, 16 * KIB, 8, 1024, false},
    {"chunks", "chunk", 4, 64, 64, 128 * KIB, 16 * KIB, 1, 1024, false},
    {"small", "vector", 4, 1, 64, 1 * KIB, 0, 0, 8192, false},
    {"small", "vector", 4, 8, 64, 1 * KIB, 0, 0, 8192, false},
    {"small", "vector", 4, 64, 64, 1 * KIB, 0, 0, 8192, false},
    {"tcp", "chunk", 8, 1, 1, 16 * MIB, 0, 0, 12, true},
};

#define NUM_LOADS (sizeof(loads) / sizeof(loads[0]))

typedef struct {
    unsigned rounds;
    const char *load;          /* NULL: all */
    const char *json;          /* NULL: none */
} options_t;

static const load_t *load;     /* of the ranks */
static test_server_t server;
static oc_usage_t *shared_usage;
static oc_usage_t usages[NUM_LOADS][MAX_ROUNDS];

static bool is_chosen(const options_t *options, const load_t *l)
{
    return NULL == options->load || 0 == strcmp(options->load, l->name);
}

static bool is_small(const load_t *l)
{
    return 0 == l->chunk && !l->tcp;
}

static oc_job_settings_t settings_of(const load_t *l)
{
    oc_job_settings_t settings;

    oc_settings_default(&oc_job_settings_table, &settings);
    settings.servers = server.address;
    settings.chunk_size = oc_settings_largest_chunk(&settings);
    if (0 != l->chunk) {
        settings.chunk_size = l->chunk;
        settings.window = l->window;
    }
    return settings;
}

/* Chunks or small vectors of a round. */
static double units(const load_t *l)
{
    oc_job_settings_t settings = settings_of(l);
    size_t each = is_small(l) ? l->bytes : (size_t) settings.chunk_size;

    return (double) l->operations * (double) (l->bytes / each);
}

/* ---- in a rank ---- */

static void operate(rank_t *rank, unsigned operations, float *send, float *recv)
{
    static outcome_t outcomes[MAX_IN_FLIGHT];
    size_t count = load->bytes / sizeof(float);

    for (unsigned done = 0; done < operations; done += load->in_flight) {
        for (unsigned i = 0; i < load->in_flight; i++) {
            CHECK(OC_OK == rank_start(rank, i % load->groups, OC_OP_SUM, OC_TYPE_FLOAT, send,
                                      recv + i * count, count, &outcomes[i]));
        }
        CHECK(rank_wait(rank, outcomes, load->in_flight, LIMIT_SECONDS));
        for (unsigned i = 0; i < load->in_flight; i++) {
            CHECK(OC_OK == outcomes[i].status);
        }
    }
}

static void body(rank_t *rank)
{
    float *send = calloc(1, load->bytes), *recv = calloc(load->in_flight, load->bytes);
    oc_meter_t meter;

    CHECK(NULL != send && NULL != recv);
    operate(rank, load->in_flight, send, recv);
    rank_barrier(rank);
    if (0 == rank->rank) {
        CHECK(oc_meter_open(&meter, server_data_process(&server), "optcast-agg0"));
        CHECK(oc_meter_start(&meter));
    }
    rank_barrier(rank);
    operate(rank, load->operations, send, recv);
    if (0 == rank->rank) {
        CHECK(oc_meter_stop(&meter, shared_usage));
        oc_meter_close(&meter);
    }
    free(send);
    free(recv);
}

/* ---- measuring ---- */

static bool measure(const load_t *l, oc_usage_t *usage)
{
    oc_job_settings_t settings;

    load = l;
    setenv("OPTCAST_UCX_TLS", l->tcp ? "tcp" : "all", 1);
    setenv("OPTCAST_UCX_NET_DEVICES", l->tcp ? "lo" : "all", 1);
    server_start(&server, NULL);
    settings = settings_of(l);
    if (!ranks_succeed(&server, l->ranks, &settings, body, LIMIT_SECONDS)) {
        return false;
    }
    *usage = *shared_usage;
    return true;
}

static int compare(const void *a, const void *b)
{
    double x = *(const double *) a, y = *(const double *) b;

    return (x > y) - (x < y);
}

/* ---- telling ---- */

static void print_row(const load_t *l, const oc_usage_t *all, unsigned rounds)
{
    double micros[MAX_ROUNDS], users[MAX_ROUNDS], instructions[MAX_ROUNDS];

    for (unsigned round = 0; round < rounds; round++) {
        micros[round] = all[round].seconds / units(l) * 1e6;
        users[round] = all[round].user;
        instructions[round] = all[round].instructions / units(l);
    }
    qsort(micros, rounds, sizeof(micros[0]), compare);
    qsort(users, rounds, sizeof(users[0]), compare);
    qsort(instructions, rounds, sizeof(instructions[0]), compare);
    printf("%-7s %6u %7u  %8.2f  %6.2f-%-8.2f %4.0f %%  ", l->name, l->ranks, l->groups,
           micros[rounds / 2], micros[0], micros[rounds - 1], 100 * users[rounds / 2]);
    if (instructions[0] > 0) {
        printf("%12.0f", instructions[rounds / 2]);
    } else {
        printf("%12s", "not counted");
    }
    if (l->tcp) {
        printf("  %.3f s per GB", micros[rounds / 2] * 1e-6 * units(l)
                                  / ((double) l->operations * l->ranks * (double) l->bytes / GB));
    }
    printf("\n");
    fflush(stdout);
}

static void write_row(FILE *file, const load_t *l, const oc_usage_t *all, unsigned rounds)
{
    fprintf(file, "{\"load\": \"%s\", \"unit\": \"%s\", \"ranks\": %u, \"groups\": %u, "
            "\"units\": %.0f, \"bytes\": %.0f, \"tcp\": %s,\n   \"seconds\": [", l->name, l->unit,
            l->ranks, l->groups, units(l), (double) l->operations * l->ranks * (double) l->bytes,
            l->tcp ? "true" : "false");
    for (unsigned round = 0; round < rounds; round++) {
        fprintf(file, "%s%.6f", 0 == round ? "" : ", ", all[round].seconds);
    }
    fprintf(file, "],\n   \"user\": [");
    for (unsigned round = 0; round < rounds; round++) {
        fprintf(file, "%s%.3f", 0 == round ? "" : ", ", all[round].user);
    }
    fprintf(file, "],\n   \"instructions\": [");
    for (unsigned round = 0; round < rounds; round++) {
        fprintf(file, "%s%.0f", 0 == round ? "" : ", ", all[round].instructions);
    }
    fprintf(file, "]}");
}

static void write_json(FILE *file, const options_t *options)
{
    const char *before = "";

    fprintf(file, "{\"rounds\": %u, \"rows\": [", options->rounds);
    for (size_t i = 0; i < NUM_LOADS; i++) {
        if (is_chosen(options, &loads[i])) {
            fprintf(file, "%s\n  ", before);
            write_row(file, &loads[i], usages[i], options->rounds);
            before = ",";
        }
    }
    fprintf(file, "\n]}\n");
}

static bool measure_all(const options_t *options)
{
    for (unsigned round = 0; round < options->rounds; round++) {
        for (size_t i = 0; i < NUM_LOADS; i++) {
            if (is_chosen(options, &loads[i]) && !measure(&loads[i], &usages[i][round])) {
                fprintf(stderr, "optcast-bench-scale: \"%s\" with %u groups failed\n",
                        loads[i].name, loads[i].groups);
                return false;
            }
        }
    }
    printf("%-7s %6s %7s  %8s  %-15s %6s  %12s\n", "load", "ranks", "groups", "µs/unit", "min-max",
           "user", "instructions");
    for (size_t i = 0; i < NUM_LOADS; i++) {
        if (is_chosen(options, &loads[i])) {
            print_row(&loads[i], usages[i], options->rounds);
        }
    }
    return true;
}

/* ---- the command line ---- */

static void print_help(void)
{
    printf("Usage: optcast-bench-scale [OPTION]...\n"
           "What the thread of an aggregator uses of a processor for each chunk (16 KiB from each "
           "of 4 ranks)\nand each small vector (1 KiB), when 64 of them are under way in 1, 8 or "
           "64 groups; and for each\ngigabyte of contributions of 8 ranks over TCP on this "
           "host.\n\n"
           "  --rounds N     How often each is measured (default 5, at most %u).\n"
           "  --load NAME    Only these: chunks, small or tcp.\n"
           "  --json FILE    Write all numbers there.\n"
           "  --help\n\n"
           "OPTCAST_SERVER in the environment is the server (default ./optcast-server).\n"
           "Exit status: 0, 1 if something failed, 2 after a wrong option.\n", MAX_ROUNDS);
}

static const char *known_load(const char *name)
{
    for (size_t i = 0; i < NUM_LOADS; i++) {
        if (0 == strcmp(name, loads[i].name)) {
            return name;
        }
    }
    oc_bench_wrong("--load", name, "chunks, small or tcp is needed");
}

static options_t parse(int argc, char **argv)
{
    static const struct option known[] = {
        {"rounds", required_argument, NULL, 'r'}, {"load", required_argument, NULL, 'l'},
        {"json", required_argument, NULL, 'j'}, {"help", no_argument, NULL, 'h'},
        {NULL, 0, NULL, 0}};
    options_t options = {.rounds = 5};
    int option;

    while ((option = getopt_long(argc, argv, "", known, NULL)) >= 0) {
        switch (option) {
        case 'r':
            options.rounds = (unsigned) oc_bench_number("--rounds", optarg, 1, MAX_ROUNDS);
            break;
        case 'l':
            options.load = known_load(optarg);
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

    shared_usage = mmap(NULL, sizeof(*shared_usage), PROT_READ | PROT_WRITE,
                        MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (MAP_FAILED == (void *) shared_usage || !measure_all(&options)) {
        return EXIT_FAILURE;
    }
    if (NULL != file) {
        write_json(file, &options);
    }
    return oc_bench_close(file);
}
