/* SPDX-License-Identifier: BSD-3-Clause */
/* Owns one trial: its ranks, what else is on the links, and the sums afterwards. */
#include "bench/multicast/trial.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "tests/multicast/flow.h"
#include "tests/multicast/memory.h"

/* What an operation may take at most, in virtual time. */
#define PATIENCE (3600 * OC_SECOND)

/* Bytes that a background stream is given at a time, which is never less than its window. */
#define BACKGROUND_LETTER (1u << 20)

typedef struct {
    const trial_t *trial;
    crew_t *crew;
    network_t *network;
    unsigned num_ranks;
    unsigned *host_of;
    size_t *lengths;             /* of a Bcast's blocks */
    flow_t **streams;
    uint64_t *streamed;          /* bytes before the operations */
    uint64_t begin;
    fabric_traffic_t before;     /* of all links */
    unsigned long long up_before;
} run_t;

void trial_defaults(trial_t *trial)
{
    memset(trial, 0, sizeof(*trial));
    crew_defaults(&trial->crew, 1);
    network_real(&trial->crew.network, 1);
    trial->crew.unchecked = true;
    trial->hosts = 8;
    trial->ranks_per_host = 1;
    trial->bytes = 1u << 20;
    trial->operations = 1;
}

size_t trial_block(const trial_t *trial)
{
    return trial->bytes / ((size_t) trial->hosts * trial->ranks_per_host);
}

/*
 * A host gets what is not its own, once, over its link, which may have saved a burst of tokens;
 * nothing is counted of headers.
 */
static double least_seconds(const trial_t *trial)
{
    size_t own = trial_block(trial) * trial->ranks_per_host;
    double bytes = (double) (trial->bcast ? trial->bytes : own * (trial->hosts - 1));
    double saved = (double) trial->crew.network.burst;

    return (bytes > saved ? bytes - saved : 0) / (double) trial->crew.network.rate;
}

/* ---- what else is on the links ---- */

static void refill(void *arg, flow_t *flow, void *thing)
{
    (void) arg;
    flow_send(flow, BACKGROUND_LETTER, thing);
}

static void begin_streams(run_t *run)
{
    const trial_t *trial = run->trial;

    run->streams = memory_new(trial->background * sizeof(flow_t *));
    run->streamed = memory_new(trial->background * sizeof(uint64_t));
    for (unsigned i = 0; i < trial->background; i++) {
        flow_config_t config = {.from = i % trial->hosts, .to = (i + 1) % trial->hosts,
                                .window = trial->crew.network.tcp_window,
                                .events = network_events(run->network),
                                .fabric = network_fabric(run->network), .delivered = refill};

        run->streams[i] = flow_new(&config);
        flow_send(run->streams[i], BACKGROUND_LETTER, NULL);
        flow_send(run->streams[i], BACKGROUND_LETTER, NULL);
    }
}

/*
 * Probes that ranks send when all have heard all tell nobody anything, and are n - 1 arrivals each.
 */
static void lose_probes(run_t *run)
{
    for (unsigned host = 0; host < run->trial->hosts; host++) {
        fabric_lose_up(network_fabric(run->network), host, 1);
    }
}

static void set_losses(run_t *run)
{
    const trial_t *trial = run->trial;
    fabric_t *fabric = network_fabric(run->network);

    for (unsigned host = 0; host < trial->hosts; host++) {
        fabric_lose_up(fabric, host, 0 == host ? trial->root_loss : 0);
        fabric_lose_down(fabric, host, trial->loss);
    }
}

/* A network that has forgotten who is to get multicast. */
static void cut(void *arg)
{
    run_t *run = arg;
    unsigned hosts = run->trial->hosts;

    for (unsigned host = hosts - run->trial->cut_hosts; host < hosts; host++) {
        fabric_lose_down(network_fabric(run->network), host, 1);
    }
}

/* ---- the operations ---- */

static void begin_run(run_t *run)
{
    const trial_t *trial = run->trial;
    crew_config_t config = trial->crew;

    run->num_ranks = trial->hosts * trial->ranks_per_host;
    run->host_of = memory_new(run->num_ranks * sizeof(unsigned));
    run->lengths = memory_new(run->num_ranks * sizeof(size_t));
    run->lengths[0] = trial->bytes;
    for (unsigned i = 0; i < run->num_ranks; i++) {
        run->host_of[i] = i / trial->ranks_per_host;
    }
    config.network.num_nodes = run->num_ranks;
    config.staging = (uint32_t) (config.network.staging / config.network.datagram_size);
    config.network.hosts = run->host_of;
    config.hosts = run->host_of;
    config.alternates = 2 == trial->groups;
    run->crew = crew_new(&config);
    run->network = crew_network(run->crew);
}

static unsigned long long bytes_up(run_t *run)
{
    unsigned long long sum = 0;

    for (unsigned host = 0; host < run->trial->hosts; host++) {
        sum += fabric_up(network_fabric(run->network), host)->bytes;
    }
    return sum;
}

static void add_operations(run_t *run)
{
    const trial_t *trial = run->trial;
    operation_t operation = {.block = trial_block(trial), .blocking = 0 == trial->groups};

    if (trial->bcast) {
        operation.lengths = run->lengths;
    }
    for (unsigned i = 0; i < trial->operations; i++) {
        operation.queued = trial->groups > 0 && i > 0;
        (void) crew_add(run->crew, &operation);
    }
    if (trial->pause > 0) {
        crew_pause(run->crew, trial->pause_rank,
                   network_now(run->network)
                       + (uint64_t) (least_seconds(trial) / 3.0 * (double) OC_SECOND),
                   trial->pause);
    }
}

static bool play(run_t *run)
{
    const trial_t *trial = run->trial;

    if (!crew_probe(run->crew, PATIENCE)) {
        network_complain(run->network, "the set-up does not end");
        return false;
    }
    lose_probes(run);
    /* what the set-up has under way is not of the operations */
    (void) network_run(run->network, network_now(run->network) + OC_SECOND, NULL, NULL);
    set_losses(run);
    network_at(run->network, network_now(run->network) + trial->cut, cut, run);
    begin_streams(run);
    run->up_before = bytes_up(run);
    run->before = fabric_total(network_fabric(run->network));
    run->begin = network_now(run->network);
    add_operations(run);
    for (unsigned i = 0; i < run->trial->background; i++) {
        run->streamed[i] = flow_received(run->streams[i]);
    }
    return crew_finish(run->crew, PATIENCE) && crew_succeeded(run->crew);
}

/* ---- sums ---- */

static int compare(const void *a, const void *b)
{
    double x = *(const double *) a, y = *(const double *) b;

    return (x > y) - (x < y);
}

/* From the last beginning to the last end: who comes late is not waited for here. */
static double seconds_of(const run_t *run, unsigned operation)
{
    uint64_t begin = 0, end = 0;

    for (unsigned i = 0; i < run->num_ranks; i++) {
        const outcome_t *outcome = crew_outcome(run->crew, i, operation);

        begin = outcome->begin > begin ? outcome->begin : begin;
        end = outcome->end > end ? outcome->end : end;
    }
    return (double) (end - begin) / OC_SECOND;
}

static void add_times(const run_t *run, result_t *result)
{
    unsigned count = run->trial->operations;
    double *all = memory_new(count * sizeof(double));

    for (unsigned i = 0; i < count; i++) {
        all[i] = seconds_of(run, i);
    }
    qsort(all, count, sizeof(double), compare);
    result->seconds = run->trial->groups > 0 ? all[count - 1] / count : all[count / 2];
    result->slowest = all[count - 1];
    free(all);
}

static void add_up(run_t *run, result_t *result)
{
    double seconds = (double) (network_now(run->network) - run->begin) / OC_SECOND;
    fabric_traffic_t links = fabric_total(network_fabric(run->network));

    add_times(run, result);
    result->crossings = links.packets - run->before.packets;
    result->multicast_crossings = links.multicast - run->before.multicast;
    result->lost = links.lost - run->before.lost;
    result->up_bytes = bytes_up(run) - run->up_before;
    result->counters = crew_totals(run->crew);
    for (unsigned i = 0; i < run->num_ranks; i++) {
        unsigned peers = network_peers(run->network, i);

        result->peers = peers > result->peers ? peers : result->peers;
        result->lost_at_node += network_traffic(run->network, i)->lost_at_node;
    }
    for (unsigned host = 0; host < run->trial->hosts; host++) {
        result->lost_at_port += fabric_down(network_fabric(run->network), host)->lost;
    }
    for (unsigned i = 0; i < run->trial->background; i++) {
        double rate = (double) (flow_received(run->streams[i]) - run->streamed[i]) / seconds;

        result->background = 0 == i || rate < result->background ? rate : result->background;
    }
    result->events = events_past(network_events(run->network));
}

static void end_run(run_t *run)
{
    crew_free(run->crew);
    for (unsigned i = 0; NULL != run->streams && i < run->trial->background; i++) {
        flow_free(run->streams[i]);
    }
    free(run->streams);
    free(run->streamed);
    free(run->host_of);
    free(run->lengths);
}

/* ---- what no network can do ---- */

static bool is_quicker(const run_t *run, double floor, char *text, size_t size)
{
    for (unsigned i = 0; i < run->trial->operations; i++) {
        double seconds = seconds_of(run, i);

        if (seconds < floor) {
            snprintf(text, size, "operation %u took %.6f s, less than the links allow, which is "
                     "%.6f s", i, seconds, floor);
            return true;
        }
    }
    return false;
}

/* Each block leaves its host. What streams send counts, too, and hides it. */
static bool has_sent_less(const trial_t *trial, const result_t *result, char *text, size_t size)
{
    unsigned long long own = (unsigned long long) trial_block(trial) * trial->ranks_per_host
                             * trial->hosts;
    unsigned long long least = (trial->bcast ? trial->bytes : own) * trial->operations;

    if (0 == trial->background && result->up_bytes < least) {
        snprintf(text, size, "hosts have sent %llu bytes, less than the %llu that all blocks have",
                 result->up_bytes, least);
        return true;
    }
    return false;
}

/* Both over the same link, for as long as all of the operations took, and a burst of tokens. */
static bool exceeds_link(const run_t *run, const result_t *result, char *text, size_t size)
{
    const trial_t *trial = run->trial;
    double seconds = (double) (network_now(run->network) - run->begin) / OC_SECOND;
    double rate = (double) trial->crew.network.rate;
    double own = result->floor * rate * trial->operations / seconds;

    rate += (double) trial->crew.network.burst / seconds;
    if (trial->background > 0 && own + result->background > rate) {
        snprintf(text, size, "the operations had %.0f bytes a second and a stream %.0f, more than "
                 "the link's %.0f", own, result->background, rate);
        return true;
    }
    return false;
}

static bool beats_a_bound(const run_t *run, const result_t *result, char *text, size_t size)
{
    return is_quicker(run, result->floor, text, size)
           || has_sent_less(run->trial, result, text, size)
           || exceeds_link(run, result, text, size);
}

const char *trial_run(const trial_t *trial, result_t *result)
{
    static char wrong[600];
    run_t run = {.trial = trial};
    bool done;

    memset(result, 0, sizeof(*result));
    result->floor = least_seconds(trial);
    begin_run(&run);
    done = play(&run);
    if (done) {
        add_up(&run, result);
    }
    snprintf(wrong, sizeof(wrong), "%s", network_complaint(run.network));
    done = done && !beats_a_bound(&run, result, wrong, sizeof(wrong));
    end_run(&run);
    return done ? NULL : wrong;
}
