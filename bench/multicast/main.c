/* SPDX-License-Identifier: BSD-3-Clause */
/* What Allgathers and Bcasts by multicast take on networks that are simulated. */
#include "config.h"

#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench/bench_arguments.h"
#include "bench/multicast/trial.h"

#define GIGA 1000000000ull

static void print_help(void)
{
    printf("Usage: optcast-bench-multicast [OPTION]...\n"
           "Plays an Allgather or a Bcast by multicast on a simulated network, in virtual time, with "
           "the protocol\nthat the component uses, and prints what it took. Equal options give equal "
           "results.\n\n"
           "  --operation NAME   allgather (default) or bcast.\n"
           "  --hosts N          Hosts (8).\n"
           "  --ranks N          Ranks on each host (1), each of which receives for itself.\n"
           "  --bytes N          Of the whole vector (1048576).\n"
           "  --operations N     One after the other (1); the time is the median,\n"
           "                     and of several the slowest one is told, too.\n"
           "  --groups N         1, 2: the operations are nonblocking and all started at once, of a\n"
           "                     communicator with so many groups; the time is that of all, divided\n"
           "                     by how many they are. 0: see above (0).\n"
           "  --chains N         Ranks that send at a time; 0: chosen (0).\n"
           "  --window N         Bytes that may be in flight to a rank (524288).\n"
           "  --datagram N       Bytes of a datagram (1472).\n"
           "  --piece N          Bytes of datagrams that cross links in one piece (0: each alone).\n"
           "  --rate N           Mbit/s of a host's link (10000).\n"
           "  --latency N        ns through a switch (5000).\n"
           "  --leaf N, --pod N  Hosts of a leaf switch, and of a pod (0: one switch).\n"
           "  --trunk N          Mbit/s between switches (0: as much as the hosts below).\n"
           "  --burst N          Bytes of the token buckets of links (0).\n"
           "  --port N           Bytes that a switch keeps for a link (1073741824).\n"
           "  --staging N        Bytes that a rank's socket keeps (1073741824).\n"
           "  --work N           Processor time, in ns, for a datagram or message (500).\n"
           "  --loss N           Datagrams in a million that each host loses (0).\n"
           "  --root-loss N      Datagrams in a million lost between host 0 and its switch (0).\n"
           "  --cut N            Multicast is cut off after so many microseconds (0).\n"
           "  --cut-hosts N      From so many hosts (0: it is not).\n"
           "  --tcp N            Streams beside the operations, from host i to i + 1 (0).\n"
           "  --tcp-window N     Bytes that a TCP connection may have in flight (262144).\n"
           "  --pause N          Rank 1 is outside MPI, or not scheduled, for so many\n"
           "                     microseconds (0).\n"
           "  --seed N           Of all that is random (1).\n"
           "  --json FILE        Write the results there.\n"
           "  --help\n\n"
           "Exit status: 0, 1 if the operations failed, 2 after a wrong option.\n");
}

/* ---- the command line ---- */

typedef struct {
    const char *name;
    size_t least, most;
    size_t *size;                /* where it goes: one of these */
    unsigned *number;
    uint64_t *time;
    double *share;               /* in a million */
    uint64_t *rate;              /* of Mbit/s */
} setting_t;

static void take(const setting_t *setting, const char *value)
{
    char option[32];
    size_t number;

    snprintf(option, sizeof(option), "--%s", setting->name);
    number = oc_bench_number(option, value, setting->least, setting->most);
    if (NULL != setting->size) {
        *setting->size = number;
    } else if (NULL != setting->number) {
        *setting->number = (unsigned) number;
    } else if (NULL != setting->time) {
        *setting->time = number;
    } else if (NULL != setting->rate) {
        *setting->rate = number * 1000000 / 8;
    } else {
        *setting->share = (double) number / 1e6;
    }
}

static void take_operation(trial_t *trial, const char *value)
{
    trial->bcast = 0 == strcmp("bcast", value);
    if (!trial->bcast && 0 != strcmp("allgather", value)) {
        oc_bench_wrong("--operation", value, "allgather or bcast is needed");
    }
}

/* Returns where the results go; NULL: nowhere. */
static const char *parse(int argc, char **argv, trial_t *trial)
{
    network_config_t *network = &trial->crew.network;
    const setting_t settings[] = {
        {.name = "hosts", .least = 2, .most = 4096, .number = &trial->hosts},
        {.name = "ranks", .least = 1, .most = 64, .number = &trial->ranks_per_host},
        {.name = "bytes", .least = 1, .most = 1u << 30, .size = &trial->bytes},
        {.name = "operations", .least = 1, .most = 500, .number = &trial->operations},
        {.name = "groups", .most = 2, .number = &trial->groups},
        {.name = "chains", .most = 65536, .number = &trial->crew.chains},
        {.name = "window", .least = 16384, .most = 1u << 30, .size = &trial->crew.window},
        {.name = "datagram", .least = 256, .most = 65507, .size = &network->datagram_size},
        {.name = "piece", .most = 65507, .size = &network->piece},
        {.name = "rate", .least = 1, .most = 1000000, .rate = &network->rate},
        {.name = "latency", .most = GIGA, .time = &network->latency},
        {.name = "leaf", .most = 4096, .number = &network->leaf_hosts},
        {.name = "pod", .most = 4096, .number = &network->pod_hosts},
        {.name = "trunk", .most = 100000000, .rate = &network->trunk_rate},
        {.name = "burst", .most = 1u << 30, .size = &network->burst},
        {.name = "port", .least = 2000, .most = 1u << 30, .size = &network->port_queue},
        {.name = "staging", .least = 2000, .most = 1u << 30, .size = &network->staging},
        {.name = "work", .most = GIGA, .time = &network->work},
        {.name = "loss", .most = 900000, .share = &trial->loss},
        {.name = "root-loss", .most = 900000, .share = &trial->root_loss},
        {.name = "cut", .most = 100000000, .time = &trial->cut},
        {.name = "cut-hosts", .most = 4096, .number = &trial->cut_hosts},
        {.name = "tcp", .most = 4096, .number = &trial->background},
        {.name = "tcp-window", .least = 2000, .most = 1u << 30, .size = &network->tcp_window},
        {.name = "pause", .most = 100000000, .time = &trial->pause},
        {.name = "seed", .most = UINT32_MAX, .time = &network->seed},
    };
    enum { NUM_SETTINGS = sizeof(settings) / sizeof(settings[0]) };
    struct option known[NUM_SETTINGS + 4] = {{"operation", required_argument, NULL, 'o'},
                                             {"json", required_argument, NULL, 'j'},
                                             {"help", no_argument, NULL, 'h'}};
    const char *json = NULL;
    int option, index;

    for (size_t i = 0; i < NUM_SETTINGS; i++) {
        known[3 + i] = (struct option) {settings[i].name, required_argument, NULL, 0};
    }
    while ((option = getopt_long(argc, argv, "", known, &index)) >= 0) {
        switch (option) {
        case 0:
            take(&settings[index - 3], optarg);
            break;
        case 'o':
            take_operation(trial, optarg);
            break;
        case 'j':
            json = optarg;
            break;
        case 'h':
            print_help();
            exit(EXIT_SUCCESS);
        default:
            exit(OC_BENCH_USAGE);
        }
    }
    oc_bench_no_more(argc, argv);
    trial->pause *= 1000;
    trial->cut *= 1000;
    trial->cut_hosts = trial->cut_hosts < trial->hosts ? trial->cut_hosts : trial->hosts;
    trial->pause_rank = 1;
    return json;
}

/* ---- telling ---- */

static double per_host(const trial_t *trial, unsigned long long sum)
{
    return (double) sum / trial->hosts / trial->operations;
}

static void print_result(const trial_t *trial, const result_t *result)
{
    const oc_cast_counters_t *c = &result->counters;

    printf("%s of %zu bytes, %u hosts with %u ranks: %.6f s, %.3f of the limit\n",
           trial->bcast ? "Bcast" : "Allgather", trial->bytes, trial->hosts, trial->ranks_per_host,
           result->seconds, result->seconds / result->floor);
    printf("each host sends %.0f bytes an operation; packets cross links %llu times, %llu are lost\n",
           per_host(trial, result->up_bytes), result->crossings, result->lost);
    printf("%llu fragments sent, %llu lost, %llu bytes of them again; %llu lost at ports, %llu at "
           "ranks\n", c->fragments_sent, c->fragments_lost, c->repair_bytes, result->lost_at_port,
           result->lost_at_node);
    printf("%llu control messages, %u connections at most\n", c->control_messages, result->peers);
    if (trial->operations > 1) {
        printf("the slowest operation: %.6f s\n", result->slowest);
    }
    if (trial->background > 0) {
        printf("streams beside it: %.0f bytes a second\n", result->background);
    }
}

static void write_result(FILE *file, const trial_t *trial, const result_t *result)
{
    const oc_cast_counters_t *c = &result->counters;

    fprintf(file, "{\"operation\": \"%s\", \"bytes\": %zu, \"hosts\": %u, \"ranks\": %u, "
            "\"operations\": %u, \"seed\": %llu,\n \"seconds\": %.9f, \"slowest\": %.9f, \"floor\": %.9f, "
            "\"up_bytes\": %.0f, \"crossings\": %llu, \"multicast_crossings\": %llu, \"lost\": %llu,\n ",
            trial->bcast ? "bcast" : "allgather", trial->bytes, trial->hosts,
            trial->ranks_per_host, trial->operations,
            (unsigned long long) trial->crew.network.seed, result->seconds, result->slowest,
            result->floor,
            per_host(trial, result->up_bytes), result->crossings, result->multicast_crossings,
            result->lost);
    fprintf(file, "\"fragments_sent\": %llu, \"fragments_lost\": %llu, \"repair_bytes\": %llu, "
            "\"control_messages\": %llu,\n \"lost_at_port\": %llu, \"lost_at_node\": %llu, "
            "\"peers\": %u, \"background\": %.0f, \"events\": %llu}\n", c->fragments_sent,
            c->fragments_lost, c->repair_bytes, c->control_messages, result->lost_at_port,
            result->lost_at_node, result->peers, result->background, result->events);
}

int main(int argc, char **argv)
{
    trial_t trial;
    result_t result;
    const char *json, *wrong;
    FILE *file;

    trial_defaults(&trial);
    json = parse(argc, argv, &trial);
    if (trial.bytes < (size_t) trial.hosts * trial.ranks_per_host) {
        fprintf(stderr, "optcast-bench-multicast: %zu bytes are too few for %u ranks\n", trial.bytes,
                trial.hosts * trial.ranks_per_host);
        return OC_BENCH_USAGE;
    }
    file = oc_bench_create(json);
    wrong = trial_run(&trial, &result);
    if (NULL != wrong) {
        fprintf(stderr, "optcast-bench-multicast: %s\n", wrong);
        return EXIT_FAILURE;
    }
    print_result(&trial, &result);
    if (NULL != file) {
        write_result(file, &trial, &result);
    }
    return oc_bench_close(file);
}
