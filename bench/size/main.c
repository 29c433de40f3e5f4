/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * How far one server goes: thousands of clients that connect at once, heartbeats of all of them,
 * communicators of thousands of ranks at a time, and memory. Clients are control connections of
 * a few processes, without MPI.
 */
#include "config.h"

#include <getopt.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include "bench/bench_arguments.h"
#include "bench/size/crowd.h"
#include "bench/size/footprint.h"
#include "bench/size/reduce.h"
#include "bench/size/server.h"

#define CONNECT_TIMEOUT 5.0    /* coll_optcast_connect_timeout */
#define AT_A_TIME       400    /* so that none is lost where that is not what is measured */
#define PINGS           5      /* rounds */
#define HOSTS           64u
#define PER_HOST        64u
#define COMMUNICATORS   64u    /* more of them are not tried */
#define READY_SECONDS   20.0

/* Descriptors of this process and of the server beside those of its clients. */
#define OTHER_DESCRIPTORS 200u

typedef struct {
    const char *only;          /* NULL: all */
    unsigned least, most;      /* sessions that send heartbeats */
    FILE *json;
    const char *before;        /* in the JSON array */
    rlim_t descriptors;
    bool failed;
} bench_t;

static bool is_chosen(const bench_t *bench, const char *name)
{
    return NULL == bench->only || 0 == strcmp(bench->only, name);
}

static void raise_descriptors(bench_t *bench)
{
    struct rlimit limit;

    if (0 == getrlimit(RLIMIT_NOFILE, &limit)) {
        limit.rlim_cur = limit.rlim_max;
        (void) setrlimit(RLIMIT_NOFILE, &limit);
        bench->descriptors = limit.rlim_cur;
    }
}

/* false, with a line that says so: the server could not have that many. */
static bool has_descriptors(const bench_t *bench, unsigned clients)
{
    if (clients + OTHER_DESCRIPTORS <= bench->descriptors) {
        return true;
    }
    printf("%u clients: not measured, a process here may have %llu descriptors\n", clients,
           (unsigned long long) bench->descriptors);
    return false;
}

/*
 * false, with a line that says so: not all are there. The system keeps the ports of closed
 * connections for a minute, and may have none left.
 */
static bool all_are_there(bench_t *bench, const oc_crowd_outcome_t *outcome, unsigned clients)
{
    if (outcome->answered == clients) {
        return true;
    }
    printf("%u clients: not measured, %u of them were welcomed%s%s\n", clients, outcome->answered,
           '\0' != outcome->text[0] ? ": " : "", outcome->text);
    bench->failed = true;
    return false;
}

static void __attribute__((format(printf, 2, 3))) add_row(bench_t *bench, const char *format, ...)
{
    va_list args;

    fflush(stdout);
    if (NULL == bench->json) {
        return;
    }
    fprintf(bench->json, "%s\n  {", bench->before);
    va_start(args, format);
    vfprintf(bench->json, format, args);
    va_end(args);
    fprintf(bench->json, "}");
    bench->before = ",";
}

/* ---- connect ---- */

static void connect_at_once(bench_t *bench, unsigned clients)
{
    oc_crowd_outcome_t outcome;
    test_server_t server;
    oc_crowd_t crowd;

    if (!has_descriptors(bench, clients)) {
        return;
    }
    server_start(&server, NULL);
    oc_crowd_open(&crowd, clients, server.port);
    outcome = oc_crowd_connect(&crowd, CONNECT_TIMEOUT, 0);
    oc_crowd_close(&crowd);
    (void) server_stop(&server);
    printf("connect: %5u clients at once: %5u welcomed, %u refused, %u later than %.0f s, the last "
           "after %.2f s\n", clients, outcome.answered, outcome.refused, outcome.late,
           CONNECT_TIMEOUT, outcome.last);
    add_row(bench, "\"what\": \"connect\", \"clients\": %u, \"welcomed\": %u, \"refused\": %u, "
            "\"late\": %u, \"seconds\": %.3f", clients, outcome.answered, outcome.refused,
            outcome.late + clients - outcome.answered - outcome.refused, outcome.last);
}

/* ---- ping ---- */

static int compare(const void *a, const void *b)
{
    double x = *(const double *) a, y = *(const double *) b;

    return (x > y) - (x < y);
}

static double median(double *values, unsigned count)
{
    qsort(values, count, sizeof(values[0]), compare);
    return values[count / 2];
}

static bool ping_rounds(bench_t *bench, unsigned sessions, double seconds[PINGS],
                        double used[PINGS])
{
    oc_crowd_outcome_t outcome;
    test_server_t server;
    oc_crowd_t crowd;
    bool all;

    server_start(&server, NULL);
    oc_crowd_open(&crowd, sessions, server.port);
    outcome = oc_crowd_connect(&crowd, 0, AT_A_TIME);
    all = all_are_there(bench, &outcome, sessions);
    for (unsigned i = 0; i < PINGS && all; i++) {
        double before = oc_server_use(&server).seconds;

        outcome = oc_crowd_ping(&crowd);
        seconds[i] = outcome.last;
        used[i] = oc_server_use(&server).seconds - before;
        all = all_are_there(bench, &outcome, sessions);
    }
    oc_crowd_close(&crowd);
    (void) server_stop(&server);
    return all;
}

static void ping_each(bench_t *bench, unsigned sessions)
{
    double seconds[PINGS], used[PINGS], wall, processor;

    if (!has_descriptors(bench, sessions) || !ping_rounds(bench, sessions, seconds, used)) {
        return;
    }
    wall = median(seconds, PINGS);
    processor = median(used, PINGS);
    printf("ping: %5u sessions: all answered after %6.1f ms, %6.1f µs of a processor each\n",
           sessions, wall * 1e3, processor / sessions * 1e6);
    add_row(bench, "\"what\": \"ping\", \"sessions\": %u, \"seconds\": %.6f, \"processor\": %.6f",
            sessions, wall, processor);
}

/* ---- communicators ---- */

/*
 * Each aggregator has a connection to each process that has joined: with several of them, a process
 * joins with as many ranks, or a server of the usual limits would have no descriptors left.
 */
static oc_crowd_join_t default_join(uint32_t number, uint32_t hosts, uint32_t per_host,
                                    unsigned aggregators)
{
    oc_job_settings_t settings;

    oc_settings_default(&oc_job_settings_table, &settings);
    return (oc_crowd_join_t) {
        .number = number, .hosts = hosts, .per_host = per_host, .aggregators = aggregators,
        .ranks_each = aggregators,
        .chunk_bytes = (uint32_t) oc_settings_largest_chunk(&settings),
        .window = (uint32_t) settings.window,
        .small_bytes = (uint32_t) settings.small_size, .reserves = per_host > 1 || aggregators > 1};
}

static void start_server(test_server_t *server, unsigned aggregators)
{
    char text[16];
    const char *options[] = {"--aggregators", text, NULL};

    snprintf(text, sizeof(text), "%u", aggregators);
    server_start(server, options);
}

/* Live are those that all ranks have joined, and that all aggregators are ready for. */
static void count_communicators(bench_t *bench, unsigned aggregators)
{
    unsigned ranks = HOSTS * PER_HOST, live = 0;
    oc_crowd_outcome_t outcome = {0};
    test_server_t server;
    oc_crowd_t crowd;
    bool all;

    start_server(&server, aggregators);
    oc_crowd_open(&crowd, ranks / aggregators, server.port);
    outcome = oc_crowd_connect(&crowd, 0, AT_A_TIME);
    all = all_are_there(bench, &outcome, ranks / aggregators);
    while (all && live < COMMUNICATORS) {
        oc_crowd_join_t join = default_join(live, HOSTS, PER_HOST, aggregators);

        outcome = oc_crowd_join(&crowd, &join);
        if (outcome.answered < ranks
            || !oc_crowd_wait_ready(&crowd, ranks * aggregators, READY_SECONDS)) {
            break;
        }
        live++;
    }
    oc_crowd_close(&crowd);
    (void) server_stop(&server);
    if (!all) {
        return;
    }
    printf("communicators: %u hosts with %u ranks, %u aggregator%s: %u%s live at once%s%s\n",
           HOSTS, PER_HOST, aggregators, 1 == aggregators ? "" : "s", live,
           COMMUNICATORS == live ? " (no more were tried)" : "",
           '\0' != outcome.text[0] ? "; the next one: " : "", outcome.text);
    add_row(bench, "\"what\": \"communicators\", \"hosts\": %u, \"per_host\": %u, "
            "\"aggregators\": %u, \"live\": %u, \"tried\": %u", HOSTS, PER_HOST, aggregators, live,
            COMMUNICATORS);
}

/* ---- flat ---- */

static void serve_flat(bench_t *bench, unsigned ranks, unsigned aggregators)
{
    oc_crowd_join_t join = default_join(0, ranks, 1, aggregators);
    oc_crowd_outcome_t outcome;
    test_server_t server;
    oc_crowd_t crowd;
    double seconds = 0;
    bool all;

    start_server(&server, aggregators);
    oc_crowd_open(&crowd, ranks / aggregators, server.port);
    outcome = oc_crowd_connect(&crowd, 0, AT_A_TIME);
    all = all_are_there(bench, &outcome, ranks / aggregators);
    if (all) {
        outcome = oc_crowd_join(&crowd, &join);
    }
    if (all && outcome.answered == ranks
        && oc_crowd_wait_ready(&crowd, ranks * aggregators, READY_SECONDS)) {
        seconds = oc_reduce_once(&crowd, &join);
    }
    if (seconds > 0) {
        printf("flat: %u ranks, %u aggregator%s: served, chunks of %u bytes; the first Allreduce of "
               "%u chunks took %.2f s, and is right\n", ranks, aggregators,
               1 == aggregators ? "" : "s", oc_crowd_chunk(&crowd, &join), aggregators, seconds);
    } else if (all) {
        printf("flat: %u ranks, %u aggregators: %s\n", ranks, aggregators,
               '\0' != outcome.text[0] ? outcome.text : "no service");
    }
    if (all) {
        add_row(bench, "\"what\": \"flat\", \"ranks\": %u, \"aggregators\": %u, \"chunk\": %u, "
                "\"seconds\": %.3f", ranks, aggregators,
                seconds > 0 ? oc_crowd_chunk(&crowd, &join) : 0, seconds);
    }
    oc_crowd_close(&crowd);
    (void) server_stop(&server);
}

/* ---- memory ---- */

static void weigh_server(bench_t *bench, unsigned ranks)
{
    oc_crowd_join_t join = default_join(0, ranks, 1, 1);
    double connected, joined, endpoints;
    oc_crowd_outcome_t outcome;
    test_server_t server;
    oc_crowd_t crowd;
    bool all;

    if (!has_descriptors(bench, ranks)) {
        return;
    }
    server_start(&server, NULL);
    oc_crowd_open(&crowd, ranks, server.port);
    endpoints = oc_memory_of_endpoints(&crowd, ranks);
    outcome = oc_crowd_connect(&crowd, 0, AT_A_TIME);
    connected = oc_server_use(&server).kib;
    all = all_are_there(bench, &outcome, ranks);
    if (all) {
        outcome = oc_crowd_join(&crowd, &join);
        all = all_are_there(bench, &outcome, ranks);
    }
    if (all && !oc_crowd_wait_ready(&crowd, ranks, READY_SECONDS)) {
        printf("%u ranks: not measured, READY did not come within %.0f seconds\n", ranks, READY_SECONDS);
        all = false;
    }
    joined = oc_server_use(&server).kib;
    oc_crowd_close(&crowd);
    (void) server_stop(&server);
    if (!all) {
        bench->failed = true;
        return;
    }
    printf("memory: a server with %5u ranks: %7.0f KiB connected, %7.0f with a communicator; as many "
           "endpoints of UCX: %7.0f KiB\n", ranks, connected, joined, endpoints);
    add_row(bench, "\"what\": \"server\", \"ranks\": %u, \"connected\": %.0f, \"joined\": %.0f, "
            "\"endpoints\": %.0f", ranks, connected, joined, endpoints);
}

static void weigh_rank(bench_t *bench, unsigned ranks)
{
    oc_rank_memory_t memory;
    test_server_t server;
    bool done;

    server_start(&server, NULL);
    done = oc_memory_of_rank(&server, ranks, &memory);
    (void) server_stop(&server);
    if (!done) {
        bench->failed = true;
        printf("memory: a rank of %u: not measured\n", ranks);
        return;
    }
    printf("memory: a rank of %5u: %5.0f KiB during the set-up of a communicator, %4.0f of it when "
           "live; its process has %.0f before, UCX's worker %.0f\n", ranks, memory.setup,
           memory.live, memory.process, memory.ucx);
    add_row(bench, "\"what\": \"rank\", \"ranks\": %u, \"setup\": %.1f, \"live\": %.1f, "
            "\"process\": %.0f, \"worker\": %.0f", ranks, memory.setup, memory.live,
            memory.process, memory.ucx);
}

/* ---- the command line ---- */

static const char *const names[] = {"connect", "ping", "communicators", "flat", "memory"};

static void measure_all(bench_t *bench)
{
    if (is_chosen(bench, "connect")) {
        connect_at_once(bench, 1024);
        connect_at_once(bench, 8192);
    }
    for (unsigned n = bench->least; is_chosen(bench, "ping") && n <= bench->most; n *= 2) {
        ping_each(bench, n);
    }
    for (unsigned k = 1; is_chosen(bench, "communicators") && k <= 4; k *= 4) {
        count_communicators(bench, k);
    }
    for (unsigned k = 1; is_chosen(bench, "flat") && k <= 4; k *= 4) {
        serve_flat(bench, HOSTS * PER_HOST, k);
    }
    for (unsigned n = 1000; is_chosen(bench, "memory") && n <= 8000; n *= 2) {
        weigh_server(bench, n);
    }
    for (unsigned n = 1000; is_chosen(bench, "memory") && n <= 64000; n *= 4) {
        weigh_rank(bench, n);
    }
}

static void print_help(void)
{
    printf("Usage: optcast-bench-size [OPTION]...\n"
           "How far one server goes, with default settings: 8,192 clients that connect at once, a "
           "heartbeat of\neach of up to 16,384 sessions, communicators of 64 ranks on each of 64 "
           "hosts, one of 4,096 ranks\nwithout shared memory, and what memory all that takes.\n\n"
           "  --only NAME    One of connect, ping, communicators, flat and memory.\n"
           "  --least N      Heartbeats of so many sessions (default 2048), then of twice as many …\n"
           "  --most N       … but of no more than these (default 16384).\n"
           "  --json FILE    Write all numbers there.\n"
           "  --help\n\n"
           "OPTCAST_SERVER in the environment is the server (default ./optcast-server).\n"
           "Exit status: 0, 1 if something failed, 2 after a wrong option.\n");
}

static const char *known_name(const char *name)
{
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        if (0 == strcmp(name, names[i])) {
            return name;
        }
    }
    oc_bench_wrong("--only", name, "connect, ping, communicators, flat or memory is needed");
}

int main(int argc, char **argv)
{
    static const struct option known[] = {
        {"only", required_argument, NULL, 'o'}, {"most", required_argument, NULL, 'm'},
        {"least", required_argument, NULL, 'l'},
        {"json", required_argument, NULL, 'j'}, {"help", no_argument, NULL, 'h'},
        {NULL, 0, NULL, 0}};
    bench_t bench = {.least = 2048, .most = 16384, .before = ""};
    int option;

    while ((option = getopt_long(argc, argv, "", known, NULL)) >= 0) {
        switch (option) {
        case 'o':
            bench.only = known_name(optarg);
            break;
        case 'l':
            bench.least = (unsigned) oc_bench_number("--least", optarg, 1, 65536);
            break;
        case 'm':
            bench.most = (unsigned) oc_bench_number("--most", optarg, 1, 65536);
            break;
        case 'j':
            bench.json = oc_bench_create(optarg);
            break;
        case 'h':
            print_help();
            return EXIT_SUCCESS;
        default:
            return OC_BENCH_USAGE;
        }
    }
    oc_bench_no_more(argc, argv);
    raise_descriptors(&bench);
    if (NULL != bench.json) {
        fprintf(bench.json, "{\"rows\": [");
    }
    measure_all(&bench);
    if (NULL != bench.json) {
        fprintf(bench.json, "\n]}\n");
    }
    if (bench.failed) {
        (void) oc_bench_close(bench.json);
        return EXIT_FAILURE;
    }
    return oc_bench_close(bench.json);
}
