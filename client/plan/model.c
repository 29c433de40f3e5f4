/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Rules first, then the model. It compares with what Open MPI would do; where it is not sure, it
 * speaks for Open MPI, which is what a program would have without us.
 */
#include "client/plan/model.h"

#include <stdio.h>
#include <string.h>

#include "base/limits.h"
#include "client/plan/division.h"
#include "client/plan/model_time.h"
#include "client/plan/previous.h"
#include "net/address.h"
#include "reduction/reduction.h"

/* Vectors of up to 1 TiB are looked at, by powers of two; larger ones are as the largest. */
#define NUM_SIZES 40

/* What is offloaded has to be a tenth faster: tenths. */
#define GAIN_OF 9
#define GAIN_TO 10

/* From so many hosts on not every number of them is looked at. */
#define ALL_HOSTS 16

/* Hosts that aggregate, also if each has several aggregators. */
static uint64_t peer_hosts(const oc_situation_t *s)
{
    return least_of(s->peers, s->hosts);
}

/* What the busiest link carries of a vector that each host sends once: see division.h. */
static uint64_t busiest_link(const oc_situation_t *s, uint64_t bytes)
{
    uint64_t hosts = s->hosts, full = hosts * OC_WEIGHT_ONE;

    if (0 == s->weights) {
        return scale(bytes, peer_hosts(s) + hosts - 2, peer_hosts(s));
    }
    if (s->weights >= full) {
        return bytes;
    }
    return s->peers > 1 ? scale(bytes, 2 * (hosts - 1) * full,
                                hosts * full + s->weights * (hosts - 2))
                        : scale(bytes, full, s->weights);
}

/* The ranks of a host meet before and after, which takes them no less time than MPI. */
static uint64_t meeting_time(const oc_constants_t *c, const oc_situation_t *s)
{
    return s->nodes ? 2 * log2_up(s->per_host) * (c->link_latency / LOCAL_PART) : 0;
}

/*
 * What the busiest server takes in, or a peer, from all senders together: by its share of the
 * vector, however fast its link is.
 */
static uint64_t busiest_server(const oc_situation_t *s, uint64_t bytes)
{
    uint64_t hosts = s->hosts, full = hosts * OC_WEIGHT_ONE, link = busiest_link(s, bytes);
    uint64_t peer;

    if (0 == s->weights) {
        return scale(bytes, hosts, peer_hosts(s));
    }
    if (s->weights >= full || s->peers < 2) {
        return scale(bytes, hosts * s->heaviest, s->weights);
    }
    peer = scale(link, full - s->weights, 2 * (hosts - 1) * OC_WEIGHT_ONE);
    return most_of(peer, scale(link, s->heaviest, OC_WEIGHT_ONE));
}

/* So many times to an aggregator and back, and what the ranks of a host need to meet. */
static uint64_t latency(const oc_constants_t *c, const oc_situation_t *s, unsigned trips)
{
    return add(add(c->offload_latency, 2 * trips * c->link_latency), meeting_time(c, s));
}

/* Each sender sends to one aggregator, and gets as much from it; one rank of a host reads all. */
static uint64_t small_time(const oc_constants_t *c, const oc_situation_t *s, uint64_t bytes)
{
    uint64_t senders = s->nodes ? s->hosts : s->ranks;
    uint64_t message = add(c->message_cost, at_rate(bytes, c->link_rate));
    uint64_t inside = s->nodes ? at_rate(scale(bytes, s->per_host, 1), c->memory_rate) : 0;

    return add(latency(c, s, 1), add(inside, scale(2 * senders, message, 1)));
}

/* As large.c has it: no more than what each aggregator gets. */
static uint64_t chunk_of(const oc_situation_t *s, uint64_t bytes)
{
    uint64_t lanes = most_of(s->lanes, 1), share = (bytes + lanes - 1) / lanes;
    uint64_t chunk = most_of(bytes / (lanes * s->fewest_chunks), OC_FINE_CHUNK);

    return most_of(least_of(least_of(chunk, s->largest_chunk), share), OC_MIN_CHUNK);
}

/*
 * Links, aggregators and the ranks' processors work at the same time; but until the first chunk
 * of all ranks has come nothing goes back, and at the end nothing is left to send. Each sender
 * begins and ends with three messages more, of which ACK and COMMIT come when all is there, and
 * nobody has less to carry than one chunk of all. A host without servers aggregates beside what it
 * sends and receives.
 */
static uint64_t large_time(const oc_constants_t *c, const oc_situation_t *s, uint64_t bytes)
{
    uint64_t chunk = chunk_of(s, bytes), crowd = s->nodes ? 1 : s->per_host;
    uint64_t senders = s->nodes ? s->hosts : s->ranks;
    uint64_t sent = scale(bytes, crowd, 1), least = senders * chunk;
    uint64_t carried = most_of(busiest_link(s, sent), least);
    uint64_t taken = most_of(busiest_server(s, sent), least);
    uint64_t link = at_rate(carried, c->link_rate);
    uint64_t own = s->weights > 0 ? 0 : scale(sent, 2, 1);
    uint64_t server = add(at_rate(add(taken, own), c->server_rate),
                          scale(taken, 2 * c->message_cost, chunk));
    uint64_t copies = s->nodes && s->per_host > 1 ? at_rate(scale(bytes, 3, 1), c->memory_rate)
                                                  : 0;
    uint64_t first = scale(s->weights > 0 && s->nodes ? 2 * senders : senders, chunk, 1);
    uint64_t alone = at_rate(least_of(carried, first), c->link_rate);
    uint64_t before = add(latency(c, s, 2), scale(3 * senders, c->message_cost, 1));

    return add(before, add(alone, most_of(most_of(link, server), copies)));
}

uint64_t oc_model_offloaded(const oc_constants_t *constants, const oc_situation_t *situation,
                            uint64_t bytes)
{
    bool many = situation->peers > OC_MAX_PEERS;

    if ((0 == situation->weights && (0 == situation->peers || many)) || situation->hosts < 2) {
        return OC_FOREVER;
    }
    if (situation->tree) {
        /* the link of a leaf with n hosts carries n + 1 vectors: never less than a ring */
        return OC_FOREVER;
    }
    return bytes <= situation->small_size ? small_time(constants, situation, bytes)
                                          : large_time(constants, situation, bytes);
}

/*
 * Without servers links carry what a ring puts on them, so that all is gained from what Open MPI
 * makes less of: that has been measured over TCP.
 */
static bool may_win(const oc_situation_t *situation)
{
    return situation->weights > 0 || OC_FABRIC_TCP == situation->network.fabric;
}

static bool wins(const oc_constants_t *constants, const oc_situation_t *situation, uint64_t bytes)
{
    uint64_t time = oc_model_offloaded(constants, situation, bytes);

    return time < OC_FOREVER && may_win(situation)
           && scale(time, GAIN_TO, GAIN_OF) <= oc_previous_time(constants, situation, bytes);
}

/* Where nobody knows the rate, at all that there are. */
static bool wins_anyway(const oc_constants_t *constants, const oc_situation_t *situation,
                        uint64_t bytes)
{
    static const uint64_t rates[] = {1000, 2500, 10000, 25000, 50000, 100000};
    oc_constants_t supposed = *constants;

    if (0 != constants->link_rate) {
        return wins(constants, situation, bytes);
    }
    for (size_t i = 0; i < sizeof(rates) / sizeof(rates[0]); i++) {
        supposed.link_rate = rates[i];
        if (!wins(&supposed, situation, bytes)) {
            return false;
        }
    }
    return true;
}

/* From a power of two to the next one: if it wins at both ends. */
static bool wins_from(const oc_constants_t *constants, const oc_situation_t *situation,
                      unsigned power)
{
    uint64_t first = 1ull << power;

    return wins_anyway(constants, situation, first)
           && wins_anyway(constants, situation, 2 * first - 1);
}

static void ask_model(const oc_constants_t *constants, const oc_situation_t *situation,
                      oc_sizes_t *sizes)
{
    bool before = false;

    *sizes = (oc_sizes_t) {0};
    for (unsigned power = 0; power < NUM_SIZES; power++) {
        bool now = wins_from(constants, situation, power);

        if (now && !before && OC_MAX_SIZES > sizes->count) {
            sizes->ranges[sizes->count++] =
                (oc_range_t) {.first = 1ull << power, .last = UINT64_MAX};
        } else if (before && !now) {
            sizes->ranges[sizes->count - 1].last = (1ull << power) - 1;
            if (OC_MAX_SIZES == sizes->count) {
                return;
            }
        }
        before = now;
    }
}

void oc_model_choose(const oc_rules_t *rules, const oc_situation_t *situation,
                     oc_choice_t *choice)
{
    oc_constants_t constants;

    for (uint64_t i = 0; i < rules->count; i++) {
        const oc_rule_t *rule = &rules->rules[i];

        if (oc_range_contains(&rule->hosts, situation->hosts)
            && oc_range_contains(&rule->ranks_per_host, situation->per_host)
            && oc_range_contains(&rule->servers, situation->weights / OC_WEIGHT_ONE)) {
            *choice = (oc_choice_t) {.rule = i, .sizes = rule->offload};
            return;
        }
    }
    choice->rule = OC_MODEL;
    oc_rules_constants(rules, &situation->network, &constants);
    ask_model(&constants, situation, &choice->sizes);
}

bool oc_choice_leaves(const oc_choice_t *choice, const oc_situation_t *situation, unsigned type,
                      uint64_t bytes)
{
    return !oc_sizes_contain(&choice->sizes, bytes)
           || (situation->nodes && OC_MODEL == choice->rule && NULL != oc_widen_kernel(type));
}

/* On so many hosts, with ranks spread evenly. */
static oc_situation_t imagine(const oc_outlook_t *outlook, uint32_t ranks, uint32_t hosts)
{
    bool helped = 0 == outlook->servers
                  || (outlook->peers && oc_peers_help(hosts, outlook->weights));
    uint32_t peers = helped ? hosts : 0;

    return (oc_situation_t) {
        .ranks = ranks, .hosts = hosts, .per_host = (ranks + hosts - 1) / hosts,
        .weights = outlook->weights, .heaviest = outlook->heaviest, .peers = peers,
        .nodes = outlook->nodes && hosts < ranks, .lanes = outlook->servers + peers,
        .small_size = outlook->small_size, .largest_chunk = outlook->largest_chunk,
        .fewest_chunks = outlook->fewest_chunks, .network = outlook->network};
}

/* The smallest vector that the model would offload on any number of hosts. */
static uint64_t least_of_model(const oc_rules_t *rules, const oc_outlook_t *outlook,
                               uint32_t ranks, uint64_t job_hosts)
{
    uint32_t most_hosts = (uint32_t) most_of(least_of(ranks, job_hosts), 2);
    unsigned least = NUM_SIZES;
    oc_constants_t constants;

    oc_rules_constants(rules, &outlook->network, &constants);
    for (uint32_t hosts = 2; hosts <= most_hosts;) {
        oc_situation_t situation = imagine(outlook, ranks, hosts);

        situation.previous = rules->previous;
        for (unsigned power = 0; power < least; power++) {
            if (wins_from(&constants, &situation, power)) {
                least = power;
            }
        }
        if (hosts == most_hosts) {
            break;
        }
        hosts += hosts < ALL_HOSTS ? 1 : hosts / 4;
        hosts = hosts < most_hosts ? hosts : most_hosts;
    }
    return NUM_SIZES == least ? UINT64_MAX : 1ull << least;
}

static bool overlaps(const oc_range_t *range, uint64_t first, uint64_t last)
{
    return range->first <= last && first <= range->last;
}

static bool model_covers(const oc_range_t *range, uint64_t first, uint64_t last)
{
    return range->first <= first && last <= range->last;
}

uint64_t oc_model_least(const oc_rules_t *rules, const oc_outlook_t *outlook, uint32_t ranks,
                        uint32_t most_ranks, bool one_host)
{
    uint64_t fewest = one_host ? 1 : 2;
    uint64_t most = one_host ? 1 : most_of(least_of(most_ranks, outlook->hosts), 2);
    uint64_t crowd = (ranks + most - 1) / most, crowds = most_ranks - fewest + 1;
    uint64_t least = UINT64_MAX;

    if (outlook->unclear) {
        return 1;
    }
    for (uint64_t i = 0; i < rules->count; i++) {
        const oc_rule_t *rule = &rules->rules[i];

        if (!oc_range_contains(&rule->servers, outlook->weights / OC_WEIGHT_ONE)
            || !overlaps(&rule->hosts, fewest, most)
            || !overlaps(&rule->ranks_per_host, crowd, crowds)) {
            continue;
        }
        if (rule->offload.count > 0) {
            least = least_of(least, rule->offload.ranges[0].first);
        }
        if (model_covers(&rule->hosts, fewest, most)
            && model_covers(&rule->ranks_per_host, crowd, crowds)) {
            return least;
        }
    }
    if (one_host) {
        return least;
    }
    least = least_of(least, least_of_model(rules, outlook, ranks, outlook->hosts));
    return most_ranks == ranks
               ? least
               : least_of(least, least_of_model(rules, outlook, most_ranks, outlook->hosts));
}

static unsigned model_class_of(uint32_t ranks)
{
    unsigned class = 31 - (unsigned) __builtin_clz(ranks);

    return class < OC_LEAST_CLASSES ? class : OC_LEAST_CLASSES - 1;
}

void oc_least_make(const oc_rules_t *rules, const oc_outlook_t *outlook, uint32_t job_ranks,
                   oc_least_t *least)
{
    memset(least, 0xff, sizeof(*least));
    for (unsigned class = 1; class < OC_LEAST_CLASSES && 1u << class <= job_ranks; class++) {
        uint32_t last = OC_LEAST_CLASSES - 1 == class ? job_ranks : (2u << class) - 1;
        uint32_t most = last < job_ranks ? last : job_ranks;

        for (int one_host = 0; one_host < 2; one_host++) {
            least->bytes[one_host][class] =
                oc_model_least(rules, outlook, 1u << class, most, one_host);
        }
    }
}

uint64_t oc_least_find(const oc_least_t *least, uint32_t ranks, bool one_host)
{
    return least->bytes[one_host][model_class_of(ranks)];
}

/* "1.5 servers" */
static void print_servers(const oc_situation_t *situation, char text[48])
{
    uint64_t whole = situation->weights / OC_WEIGHT_ONE, rest = situation->weights % OC_WEIGHT_ONE;

    if (situation->tree) {
        snprintf(text, 48, "servers that are leaves of a tree");
    } else if (0 == situation->weights) {
        snprintf(text, 48, "no servers");
    } else if (0 == rest) {
        snprintf(text, 48, "%llu server%s", (unsigned long long) whole, 1 == whole ? "" : "s");
    } else {
        snprintf(text, 48, "servers of weight %llu.%03llu", (unsigned long long) whole,
                 (unsigned long long) rest);
    }
}

/* ", TCP at 100 Mbit/s" */
static void print_network(const oc_rules_t *rules, const oc_situation_t *situation, char text[48])
{
    oc_constants_t constants;

    oc_rules_constants(rules, &situation->network, &constants);
    text[0] = '\0';
    if (OC_FABRIC_UNKNOWN != situation->network.fabric) {
        snprintf(text, 48, 0 != constants.link_rate ? ", %s at %llu Mbit/s" : ", %s at any rate",
                 OC_FABRIC_RDMA == situation->network.fabric ? "RDMA" : "TCP",
                 (unsigned long long) constants.link_rate);
    }
}

void oc_choice_print(const oc_rules_t *rules, const oc_situation_t *situation,
                     const oc_choice_t *choice, char *buffer, size_t size)
{
    char sizes[128], servers[48], network[48];

    oc_sizes_print(&choice->sizes, sizes, sizeof(sizes));
    if (OC_MODEL != choice->rule) {
        snprintf(buffer, size, "offloads %s (rule \"%s\" of %s)", sizes,
                 rules->rules[choice->rule].name, rules->source);
        return;
    }
    print_servers(situation, servers);
    print_network(rules, situation, network);
    snprintf(buffer, size, "offloads %s (model%s%s: %u hosts x %u ranks, %s%s, compared with %s)",
             sizes, '\0' == rules->source[0] ? "" : " of ", rules->source, situation->hosts,
             situation->per_host, servers, network, oc_previous_name(situation));
}
