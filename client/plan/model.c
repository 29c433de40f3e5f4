/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Rules first, then the model. It compares with what Open MPI would do; where it is not sure, it
 * speaks for Open MPI, which is what a program would have without us.
 */
#include "client/plan/model.h"

#include <stdio.h>
#include <string.h>

#include "client/plan/division.h"
#include "client/plan/model_time.h"
#include "client/plan/offloaded.h"
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

/*
 * Without servers links carry what a ring puts on them, so that all is gained from what Open MPI
 * makes less of: that has been measured over TCP.
 */
static bool may_win(const oc_situation_t *situation)
{
    return situation->weights > 0 || OC_FABRIC_TCP == situation->network.fabric;
}

static bool wins(const oc_constants_t *constants, const oc_situation_t *situation, oc_ruled_t ruled,
                 uint64_t bytes)
{
    uint64_t time = oc_offloaded_time(constants, situation, ruled, bytes);

    return time < OC_FOREVER && may_win(situation)
           && scale(time, GAIN_TO, GAIN_OF) <= oc_previous_time(constants, situation, ruled, bytes);
}

/* Where nobody knows the rate, at all that there are. */
static bool wins_anyway(const oc_constants_t *constants, const oc_situation_t *situation,
                        oc_ruled_t ruled, uint64_t bytes)
{
    static const uint64_t rates[] = {1000, 2500, 10000, 25000, 50000, 100000};
    oc_constants_t supposed = *constants;

    if (0 != constants->link_rate) {
        return wins(constants, situation, ruled, bytes);
    }
    for (size_t i = 0; i < sizeof(rates) / sizeof(rates[0]); i++) {
        supposed.link_rate = rates[i];
        if (!wins(&supposed, situation, ruled, bytes)) {
            return false;
        }
    }
    return true;
}

/* From a power of two to the next one: if it wins at both ends. */
static bool wins_from(const oc_constants_t *constants, const oc_situation_t *situation,
                      oc_ruled_t ruled, unsigned power)
{
    uint64_t first = 1ull << power;

    return wins_anyway(constants, situation, ruled, first)
           && wins_anyway(constants, situation, ruled, 2 * first - 1);
}

static void ask_model(const oc_constants_t *constants, const oc_situation_t *situation,
                      oc_ruled_t ruled, oc_sizes_t *sizes)
{
    bool before = false;

    *sizes = (oc_sizes_t) {0};
    for (unsigned power = 0; power < NUM_SIZES; power++) {
        bool now = wins_from(constants, situation, ruled, power);

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

/*
 * 16-bit floats: where the ranks of a host reduce first, all of them go as 32 bits, so that links
 * carry no less than for a ring: these are left. Owners that add their own part get 32 bits, too.
 */
static void ask_about_wide(const oc_constants_t *constants, const oc_situation_t *situation,
                           oc_ruled_t ruled, oc_choice_t *choice)
{
    bool scatters = OC_RULED_REDUCE_SCATTER == ruled || OC_RULED_REDUCE_SCATTER_BLOCK == ruled;
    oc_situation_t wide = *situation;

    wide.wide = true;
    if (situation->nodes) {
        return;
    }
    if (scatters && !situation->in_order) {
        ask_model(constants, &wide, ruled, &choice->wide);
    } else {
        choice->wide = choice->sizes;
    }
}

void oc_model_choose(const oc_rules_t *rules, const oc_situation_t *situation, oc_ruled_t ruled,
                     oc_choice_t *choice)
{
    oc_constants_t constants;

    for (uint64_t i = 0; i < rules->count; i++) {
        const oc_rule_t *rule = &rules->rules[i];

        if (ruled == rule->ruled && oc_range_contains(&rule->hosts, situation->hosts)
            && oc_range_contains(&rule->ranks_per_host, situation->per_host)
            && oc_range_contains(&rule->servers, situation->weights / OC_WEIGHT_ONE)) {
            *choice = (oc_choice_t) {.rule = i, .sizes = rule->offload, .wide = rule->offload};
            return;
        }
    }
    *choice = (oc_choice_t) {.rule = OC_MODEL};
    oc_rules_constants(rules, &situation->network, &constants);
    ask_model(&constants, situation, ruled, &choice->sizes);
    ask_about_wide(&constants, situation, ruled, choice);
}

bool oc_choice_leaves(const oc_choice_t *choice, unsigned type, uint64_t bytes)
{
    return !oc_sizes_contain(&choice->sizes, bytes)
           || (NULL != oc_widen_kernel(type) && !oc_sizes_contain(&choice->wide, bytes));
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
        .nodes = outlook->nodes && hosts < ranks, .in_order = outlook->in_order,
        .lanes = outlook->servers + peers,
        .small_size = outlook->small_size, .largest_chunk = outlook->largest_chunk,
        .fewest_chunks = outlook->fewest_chunks, .network = outlook->network};
}

/* The smallest vector that the model would offload on any number of hosts. */
static uint64_t least_of_model(const oc_rules_t *rules, const oc_outlook_t *outlook,
                               oc_ruled_t ruled, uint32_t ranks, uint64_t job_hosts)
{
    uint32_t most_hosts = (uint32_t) most_of(least_of(ranks, job_hosts), 2);
    unsigned least = NUM_SIZES;
    oc_constants_t constants;

    oc_rules_constants(rules, &outlook->network, &constants);
    for (uint32_t hosts = 2; hosts <= most_hosts;) {
        oc_situation_t situation = imagine(outlook, ranks, hosts);

        memcpy(situation.previous, rules->previous, sizeof(situation.previous));
        for (unsigned power = 0; power < least; power++) {
            if (wins_from(&constants, &situation, ruled, power)) {
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

uint64_t oc_model_least(const oc_rules_t *rules, const oc_outlook_t *outlook, oc_ruled_t ruled,
                        uint32_t ranks, uint32_t most_ranks, bool one_host)
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

        if (ruled != rule->ruled
            || !oc_range_contains(&rule->servers, outlook->weights / OC_WEIGHT_ONE)
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
    least = least_of(least, least_of_model(rules, outlook, ruled, ranks, outlook->hosts));
    return most_ranks == ranks
               ? least
               : least_of(least, least_of_model(rules, outlook, ruled, most_ranks,
                                              outlook->hosts));
}

static unsigned model_class_of(uint32_t ranks)
{
    unsigned class = 31 - (unsigned) __builtin_clz(ranks);

    return class < OC_LEAST_CLASSES ? class : OC_LEAST_CLASSES - 1;
}

void oc_least_make(const oc_rules_t *rules, const oc_outlook_t *outlook, oc_ruled_t ruled,
                   uint32_t job_ranks, oc_least_t *least)
{
    memset(least, 0xff, sizeof(*least));
    for (unsigned class = 1; class < OC_LEAST_CLASSES && 1u << class <= job_ranks; class++) {
        uint32_t last = OC_LEAST_CLASSES - 1 == class ? job_ranks : (2u << class) - 1;
        uint32_t most = last < job_ranks ? last : job_ranks;

        for (int one_host = 0; one_host < 2; one_host++) {
            least->bytes[one_host][class] =
                oc_model_least(rules, outlook, ruled, 1u << class, most, one_host);
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

void oc_choice_print(const oc_rules_t *rules, const oc_situation_t *situation, oc_ruled_t ruled,
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
             situation->per_host, servers, network, oc_previous_name(situation, ruled));
}
