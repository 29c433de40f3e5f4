/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Owns the test of random schedules of multicast: groups, networks, operations and faults that
 * follow from a seed. Whatever happens: every operation ends, no result is wrong, nothing fails
 * unless a rank dies, and then all that live say so.
 *
 *   test_cast_schedules [--seed FIRST] [--count N] [--verbose]
 *
 * --seed N --count 1 repeats one schedule, exactly.
 */
/* Test: quick 120; default 300 -- --count 2000 --seed $SEED; sanitizers: all 240 */
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "tests/multicast/crew.h"
#include "tests/random.h"

#define DEFAULT_COUNT 1000

#define MAX_RANKS     12
#define MAX_SCHEDULED 12    /* operations */
#define MAX_PAUSES    2

/* So long a rank may stop, in any operation, also twice. */
#define LONGEST_PAUSE (40 * OC_SECOND)

/* What an operation may take, when nobody pauses. */
#define PATIENCE (20 * OC_SECOND)

typedef struct {
    unsigned rank;
    uint64_t at, duration;   /* at: after probing */
} pause_t;

typedef struct {
    uint64_t seed;
    crew_config_t crew;
    uint32_t hosts[MAX_RANKS];
    unsigned num_operations, num_pauses;
    operation_t operations[MAX_SCHEDULED];
    size_t lengths[MAX_SCHEDULED][MAX_RANKS];
    pause_t pauses[MAX_PAUSES];
    bool dies, is_noticed;   /* dies: a rank does */
    unsigned dead;
    uint64_t dies_at, notice;
    double flips;            /* share of fragments of which a bit changes */
} schedule_t;

typedef struct {
    unsigned long long lost, recovered, duplicated, late, corrupted, foreign, forged, dropped;
    unsigned long long operations, errors, deaths;
} totals_t;

static oc_random_t flipper;

static unsigned from_to(oc_random_t *dice, unsigned first, unsigned last)
{
    return first + (unsigned) oc_random_below(dice, last - first + 1);
}

static bool percent(oc_random_t *dice, unsigned chance)
{
    return oc_random_below(dice, 100) < chance;
}

static double share(oc_random_t *dice, double most)
{
    return most * (double) oc_random_below(dice, 1000) / 1000;
}

/* ---- from seeds to schedules ---- */

static void make_faults(oc_random_t *dice, oc_faults_t *faults)
{
    static const double losses[] = {0, 0.01, 0.05, 0.3};

    faults->seed = oc_random(dice);
    faults->drop = losses[from_to(dice, 0, 3)];
    faults->drop_sent = percent(dice, 30) ? share(dice, 0.1) : 0;
    faults->duplicate = percent(dice, 40) ? share(dice, 0.2) : 0;
    faults->reorder = percent(dice, 40) ? share(dice, 0.2) : 0;
    faults->delay = percent(dice, 30) ? share(dice, 0.2) : 0;
    faults->delay_ms = percent(dice, 50) ? from_to(dice, 1, 50) : from_to(dice, 50, 3000);
    faults->burst = percent(dice, 60) ? 1 : from_to(dice, 2, 6);
}

static void make_network(oc_random_t *dice, network_config_t *network)
{
    static const size_t sizes[] = {256, 512, 1472, 4096, 9000};

    network_defaults(network, from_to(dice, 2, percent(dice, 70) ? 6 : MAX_RANKS));
    network->seed = oc_random(dice);
    network->datagram_size = sizes[from_to(dice, 0, 4)];
    network->rate = 1000000ull * from_to(dice, 20, 1250);
    network->latency = 1000 * from_to(dice, 1, 100);
    network->send_queue = 16384u << from_to(dice, 0, 4);
    network->message_max = network->message_min + 1000 * from_to(dice, 1, 5000);
    network->message_room = 65536u << from_to(dice, 0, 4);
    network->loopback = percent(dice, 30);
    if (percent(dice, 40)) {
        network->port_queue = 16384u << from_to(dice, 0, 5);
    }
    if (percent(dice, 40)) {
        network->staging = 16384u << from_to(dice, 0, 5);
    }
    make_faults(dice, &network->faults);
}

static void make_crew(oc_random_t *dice, schedule_t *schedule)
{
    crew_config_t *crew = &schedule->crew;
    unsigned kind;

    crew_defaults(crew, 2);
    make_network(dice, &crew->network);
    for (unsigned i = 0; i < crew->network.num_nodes; i++) {
        schedule->hosts[i] = from_to(dice, 0, crew->network.num_nodes / 2);
        crew->born[i] = percent(dice, 20) ? from_to(dice, 0, 300) * OC_MILLISECOND : 0;
    }
    crew->hosts = schedule->hosts;
    kind = from_to(dice, 0, 2);
    crew->chains = from_to(dice, 1, 3);
    crew->chains = 0 == kind ? 0 : 1 == kind ? TOGETHER : crew->chains;
    crew->window = 16384u << from_to(dice, 0, 5);
    crew->eager = percent(dice, 30);
    crew->alternates = percent(dice, 50);
    crew->probe_timeout = percent(dice, 50) ? 0 : 5 * OC_SECOND;
}

static size_t some_size(oc_random_t *dice)
{
    return percent(dice, 10) ? 0 : from_to(dice, 0, 1u << from_to(dice, 0, 17));
}

static void make_operation(oc_random_t *dice, schedule_t *schedule, unsigned number)
{
    operation_t *operation = &schedule->operations[number];
    unsigned ranks = schedule->crew.network.num_nodes;
    unsigned kind = from_to(dice, 0, 2), root = from_to(dice, 0, ranks - 1);

    operation->block = some_size(dice);
    for (unsigned i = 0; kind > 0 && i < ranks; i++) {
        schedule->lengths[number][i] = 1 == kind || i == root ? some_size(dice) : 0;
        operation->lengths = schedule->lengths[number];
    }
    operation->gap = percent(dice, 50) ? from_to(dice, 0, 40) : 0;
    operation->in_place = percent(dice, 50);
    operation->blocking = percent(dice, 50);
    operation->queued = number > 0 && !schedule->operations[number - 1].blocking
                        && percent(dice, 60);
    for (unsigned i = 0; i < ranks; i++) {
        if (percent(dice, 10)) {
            operation->compute[i] = from_to(dice, 0, 50) * OC_MILLISECOND;
        } else if (percent(dice, 2)) {
            operation->compute[i] = from_to(dice, 1, 60) * OC_SECOND;
        }
    }
}

static void make_troubles(oc_random_t *dice, schedule_t *schedule)
{
    unsigned ranks = schedule->crew.network.num_nodes;

    schedule->num_pauses = percent(dice, 40) ? from_to(dice, 1, MAX_PAUSES) : 0;
    for (unsigned i = 0; i < schedule->num_pauses; i++) {
        pause_t *pause = &schedule->pauses[i];

        pause->rank = from_to(dice, 0, ranks - 1);
        pause->at = oc_random_below(dice, 20 * OC_MILLISECOND);
        pause->duration = oc_random_below(dice, LONGEST_PAUSE);
    }
    schedule->dies = percent(dice, 20);
    schedule->dead = from_to(dice, 0, ranks - 1);
    schedule->dies_at = oc_random_below(dice, (percent(dice, 50) ? 5 : 500) * OC_MILLISECOND);
    schedule->notice = oc_random_below(dice, 2 * OC_SECOND);
    schedule->flips = percent(dice, 10) ? 0.01 : 0;
}

static void make_schedule(schedule_t *schedule, uint64_t seed)
{
    oc_random_t dice = {.state = seed};

    memset(schedule, 0, sizeof(*schedule));
    schedule->seed = seed;
    make_crew(&dice, schedule);
    schedule->num_operations = from_to(&dice, 1, MAX_SCHEDULED);
    for (unsigned i = 0; i < schedule->num_operations; i++) {
        make_operation(&dice, schedule, i);
    }
    make_troubles(&dice, schedule);
}

static void print_schedule(const schedule_t *schedule)
{
    const crew_config_t *crew = &schedule->crew;
    const network_config_t *network = &crew->network;
    const oc_faults_t *faults = &network->faults;

    printf("seed %llu: %u ranks, datagrams %zu, chains %u, window %zu, eager %d, alternates %d\n",
           (unsigned long long) schedule->seed, network->num_nodes, network->datagram_size,
           crew->chains, crew->window, crew->eager, crew->alternates);
    printf("  rate %llu, queues %zu %zu %zu, messages take up to %llu us, room %zu, loopback %d\n",
           (unsigned long long) network->rate, network->send_queue, network->port_queue,
           network->staging, (unsigned long long) network->message_max / 1000,
           network->message_room, network->loopback);
    printf("  drop %g, sent %g, duplicate %g, reorder %g, delay %g up to %u ms, burst %u, "
           "flip %g\n",
           faults->drop, faults->drop_sent, faults->duplicate, faults->reorder, faults->delay,
           faults->delay_ms, faults->burst, schedule->flips);
    for (unsigned i = 0; i < schedule->num_operations; i++) {
        const operation_t *operation = &schedule->operations[i];

        printf("  operation %u: %s %zu%s%s%s\n", i,
               NULL != operation->lengths ? "unequal blocks, not" : "blocks of", operation->block,
               operation->blocking ? ", blocking" : "", operation->queued ? ", queued" : "",
               operation->in_place ? ", in place" : "");
    }
    for (unsigned i = 0; i < schedule->num_pauses; i++) {
        printf("  rank %u stops at %.6f s for %.6f s\n", schedule->pauses[i].rank,
               (double) schedule->pauses[i].at * 1e-9,
               (double) schedule->pauses[i].duration * 1e-9);
    }
    if (schedule->dies) {
        printf("  rank %u dies at %.6f s\n", schedule->dead, (double) schedule->dies_at * 1e-9);
    }
}

/* ---- a schedule ---- */

static bool flip_bits(void *arg, unsigned from, unsigned to, uint8_t *bytes, size_t length)
{
    const schedule_t *schedule = arg;

    (void) from;
    (void) to;
    if (length > OC_DATAGRAM_HEADER && oc_random_chance(&flipper, schedule->flips)) {
        size_t at = oc_random_below(&flipper, length - OC_DATAGRAM_HEADER);

        bytes[OC_DATAGRAM_HEADER + at] ^= (uint8_t) (1u << oc_random_below(&flipper, 8));
        if (oc_random_chance(&flipper, 0.5)) { /* in the sender's memory, and not on the way */
            crew_seal_again(bytes, length);
        }
    }
    return true;
}

static uint64_t patience(const schedule_t *schedule)
{
    uint64_t sum = PATIENCE * schedule->num_operations;

    for (unsigned i = 0; i < schedule->num_operations; i++) {
        for (unsigned k = 0; k < schedule->crew.network.num_nodes; k++) {
            sum += schedule->operations[i].compute[k];
        }
    }
    for (unsigned i = 0; i < schedule->num_pauses; i++) {
        sum += schedule->pauses[i].duration;
    }
    return sum;
}

/* When the first operation of a rank ended with an error; UINT64_MAX: none has. */
static uint64_t first_failure(const schedule_t *schedule, crew_t *crew, unsigned rank)
{
    uint64_t first = UINT64_MAX;

    for (unsigned i = 0; i < schedule->num_operations; i++) {
        const outcome_t *outcome = crew_outcome(crew, rank, i);

        first = OC_OK != outcome->status && outcome->end < first ? outcome->end : first;
    }
    return first;
}

/* Of one rank after the death of another: once there is an error, there is nothing else. */
static void judge_survivor(const schedule_t *schedule, crew_t *crew, unsigned rank,
                           totals_t *totals)
{
    network_t *network = crew_network(crew);
    uint64_t failed_at = first_failure(schedule, crew, rank);
    bool failed = UINT64_MAX != failed_at;
    char name[16];

    snprintf(name, sizeof(name), "rank %u ", schedule->dead);
    for (unsigned i = 0; i < schedule->num_operations; i++) {
        const outcome_t *outcome = crew_outcome(crew, rank, i);

        if (OC_OK == outcome->status && outcome->end > failed_at) {
            network_complain(network, "rank %u: operation %u succeeds after a failure", rank, i);
        }
        totals->errors += OC_OK != outcome->status;
    }
    if (failed && NULL == strstr(oc_cast_group_reason(crew_group(crew, rank)), name)) {
        network_complain(network, "rank %u blames somebody else: %s", rank,
                         oc_cast_group_reason(crew_group(crew, rank)));
    }
}

/* Without deaths every fragment is sent once, and placed once on each other rank. */
static void judge_counters(const schedule_t *schedule, crew_t *crew)
{
    unsigned ranks = schedule->crew.network.num_nodes;
    oc_cast_counters_t sum = crew_totals(crew);
    unsigned long long fragments = 0;

    for (unsigned i = 0; i < schedule->num_operations; i++) {
        const operation_t *operation = &schedule->operations[i];

        for (unsigned k = 0; k < ranks; k++) {
            fragments += crew_fragments(crew, NULL != operation->lengths ? operation->lengths[k]
                                                                         : operation->block);
        }
    }
    if (sum.fragments_sent != fragments) {
        network_complain(crew_network(crew), "%llu fragments were sent instead of %llu",
                         sum.fragments_sent, fragments);
    }
    if (0 == schedule->flips
        && (0 != sum.blocks_corrupted
            || sum.fragments_received + sum.fragments_recovered != fragments * (ranks - 1))) {
        network_complain(crew_network(crew),
                         "%llu blocks were corrupted, %llu + %llu fragments came instead of %llu",
                         sum.blocks_corrupted, sum.fragments_received, sum.fragments_recovered,
                         fragments * (ranks - 1));
    }
}

static void judge(const schedule_t *schedule, crew_t *crew, totals_t *totals)
{
    unsigned ranks = schedule->crew.network.num_nodes;
    oc_cast_counters_t sum = crew_totals(crew);

    if (!schedule->dies) {
        (void) crew_succeeded(crew);
        judge_counters(schedule, crew);
    }
    for (unsigned i = 0; i < ranks; i++) {
        if (schedule->dies && i != schedule->dead) {
            judge_survivor(schedule, crew, i, totals);
        }
        totals->dropped += network_traffic(crew_network(crew), i)->lost_at_port
                           + network_traffic(crew_network(crew), i)->lost_at_node;
    }
    totals->operations += schedule->num_operations;
    totals->deaths += schedule->dies;
    totals->lost += sum.fragments_lost;
    totals->recovered += sum.fragments_recovered;
    totals->duplicated += sum.fragments_duplicated;
    totals->late += sum.fragments_late;
    totals->corrupted += sum.blocks_corrupted;
    totals->foreign += sum.fragments_foreign;
    totals->forged += sum.datagrams_forged;
}

static void play(schedule_t *schedule, crew_t *crew)
{
    network_t *network = crew_network(crew);

    if (!crew_probe(crew, PATIENCE)) {
        network_complain(network, "probing does not end");
        return;
    }
    for (unsigned i = 0; i < schedule->num_operations; i++) {
        (void) crew_add(crew, &schedule->operations[i]);
    }
    for (unsigned i = 0; i < schedule->num_pauses; i++) {
        crew_pause(crew, schedule->pauses[i].rank, network_now(network) + schedule->pauses[i].at,
                   schedule->pauses[i].duration);
    }
    if (schedule->dies) {
        crew_kill(crew, schedule->dead, network_now(network) + schedule->dies_at,
                  schedule->notice);
    }
    (void) crew_play(crew, patience(schedule));
}

static bool run_schedule(uint64_t seed, bool verbose, totals_t *totals)
{
    static schedule_t schedule;
    crew_t *crew;
    bool good;

    make_schedule(&schedule, seed);
    if (schedule.flips > 0) {
        flipper.state = seed;
        schedule.crew.network.meddler = (meddler_t) {.datagram = flip_bits, .arg = &schedule};
    }
    if (verbose) {
        print_schedule(&schedule);
    }
    crew = crew_new(&schedule.crew);
    play(&schedule, crew);
    judge(&schedule, crew, totals);
    good = '\0' == network_complaint(crew_network(crew))[0];
    if (!good) {
        print_schedule(&schedule);
        printf("seed %llu: %s\n  again: test_cast_schedules --seed %llu --count 1\n",
               (unsigned long long) seed, network_complaint(crew_network(crew)),
               (unsigned long long) seed);
    }
    crew_free(crew);
    return good;
}

static void usage(void)
{
    fprintf(stderr, "usage: test_cast_schedules [--seed FIRST] [--count N] [--verbose]\n");
    exit(2);
}

int main(int argc, char **argv)
{
    static const struct option options[] = {{"seed", required_argument, NULL, 's'},
                                            {"count", required_argument, NULL, 'c'},
                                            {"verbose", no_argument, NULL, 'v'},
                                            {NULL, 0, NULL, 0}};
    unsigned long long first = 1, count = DEFAULT_COUNT, failed = 0;
    totals_t totals = {0};
    bool verbose = false;
    int option;

    while (-1 != (option = getopt_long(argc, argv, "", options, NULL))) {
        switch (option) {
        case 's':
            first = strtoull(optarg, NULL, 0);
            break;
        case 'c':
            count = strtoull(optarg, NULL, 0);
            break;
        case 'v':
            verbose = true;
            break;
        default:
            usage();
        }
    }
    for (uint64_t seed = first; seed < first + count; seed++) {
        failed += !run_schedule(seed, verbose, &totals);
    }
    printf("seeds %llu to %llu: %llu failed; %llu operations, %llu deaths, %llu errors\n", first,
           first + count - 1, failed, totals.operations, totals.deaths, totals.errors);
    printf("fragments: %llu lost, %llu recovered, %llu duplicated, %llu late, %llu foreign, %llu "
           "changed, %llu without room; %llu blocks corrupted\n",
           totals.lost, totals.recovered, totals.duplicated, totals.late, totals.foreign,
           totals.forged, totals.dropped, totals.corrupted);
    return 0 == failed ? EXIT_SUCCESS : EXIT_FAILURE;
}
