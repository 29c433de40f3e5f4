/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The decision of tuned is a table of Open MPI's (coll_tuned_decision_fixed.c, the same in 4.1.0
 * to 5.0.8), told here by the smallest number of ranks and bytes to which each entry applies.
 */
#include "client/plan/previous.h"

#include "client/plan/model_time.h"
#include "client/plan/previous_owned.h"

#define LENGTH(array) (sizeof(array) / sizeof((array)[0]))
#define MAX_ENTRIES   7

typedef struct {
    uint32_t from;             /* bytes */
    oc_algorithm_t algorithm;
} entry_t;

/* The last of both that is not beyond decides. */
static const struct {
    uint32_t from;             /* ranks */
    entry_t entries[MAX_ENTRIES];
} fixed[] = {
    {0, {{0, 4}, {8, 3}, {4096, 4}, {8192, 3}, {16384, 4}, {65536, 5}, {262144, 6}}},
    {4, {{0, 4}, {16, 3}, {8192, 6}}},
    {8, {{0, 3}, {8192, 6}}},
    {16, {{0, 5}, {64, 3}, {4096, 6}}},
    {32, {{0, 5}, {128, 6}}},
    {64, {{0, 3}, {262144, 6}}},
    {128, {{0, 2}, {131072, 3}, {262144, 6}}},
    {256, {{0, 2}, {4096, 6}}},
    {512, {{0, 2}, {2048, 3}, {16384, 6}}},
    {2048, {{0, 2}, {2048, 5}, {4096, 3}, {16384, 6}}},
    {4096, {{0, 2}, {2048, 5}, {16384, 3}, {32768, 6}}},
};

/* With less than an element for each rank there is no ring, and they double instead. */
#define RING_PART 8

/*
 * Messages that take a link no more than these ns go at full speed, also if both sides send one at
 * a time.
 */
#define SWIFT_TIME 3000000

/*
 * Percent of a link's rate that an algorithm gets out of it over TCP: bench/run algorithms
 * measures it. Two ranks that exchange long messages send them over one connection, whose
 * acknowledgements wait behind data; a ring has a connection for each direction. With RDMA nobody
 * has measured, and Open MPI is given all of the rate.
 */
static const struct {
    const char *name;
    unsigned tcp;
} algorithms[OC_NUM_ALGORITHMS] = {
    [OC_ALGORITHM_LINEAR] = {"linear", 95},
    [OC_ALGORITHM_NONOVERLAPPING] = {"reduce and bcast", 60},
    [OC_ALGORITHM_RECURSIVE_DOUBLING] = {"recursive doubling", 60},
    [OC_ALGORITHM_RING] = {"ring", 90},
    [OC_ALGORITHM_SEGMENTED_RING] = {"segmented ring", 85},
    [OC_ALGORITHM_RABENSEIFNER] = {"Rabenseifner", 60},
    [OC_ALGORITHM_HAN] = {"HAN", 40},
};

/* The whole vector in each step; the ranks of a host share its link. */
static uint64_t recursive_doubling(const oc_constants_t *c, const oc_situation_t *s, uint64_t rate,
                                   uint64_t bytes)
{
    uint64_t outside = add(c->link_latency, at_rate(scale(bytes, s->per_host, 1), rate));
    uint64_t inside = add(c->link_latency / LOCAL_PART, at_rate(bytes, c->memory_rate));

    return add(scale(log2_up(s->hosts), outside, 1), scale(log2_up(s->per_host), inside, 1));
}

/*
 * Rabenseifner's: halves, quarters, … are reduced, and come back in the same way. Where ranks are
 * numbered host by host, the first steps are inside hosts, so that a link carries as much as if its
 * host had one rank.
 */
static uint64_t halving(const oc_constants_t *c, const oc_situation_t *s, uint64_t rate,
                        uint64_t bytes)
{
    uint64_t steps = 2 * log2_up(s->hosts), local = 2 * log2_up(s->per_host);
    uint64_t outside = scale(bytes, 2 * ((uint64_t) s->hosts - 1), s->hosts);
    uint64_t inside = scale(bytes, 2 * ((uint64_t) s->per_host - 1), s->per_host);

    return add(add(steps * c->link_latency, at_rate(outside, rate)),
               add(local * (c->link_latency / LOCAL_PART), at_rate(inside, c->memory_rate)));
}

/* A link carries one part in each step, however many ranks its host has; these carry one, too. */
static uint64_t ring(const oc_constants_t *c, const oc_situation_t *s, uint64_t rate,
                     uint64_t bytes)
{
    uint64_t steps = 2 * ((uint64_t) s->ranks - 1);
    uint64_t slowest = s->per_host > 1 ? least_of(rate, c->memory_rate) : rate;

    return add(scale(steps, c->link_latency, 1), at_rate(scale(bytes, steps, s->ranks), slowest));
}

/* Along a binomial tree to rank 0, and back. */
static uint64_t up_and_down(const oc_constants_t *c, const oc_situation_t *s, uint64_t rate,
                            uint64_t bytes)
{
    uint64_t outside = add(c->link_latency, at_rate(bytes, rate));
    uint64_t inside = add(c->link_latency / LOCAL_PART, at_rate(bytes, c->memory_rate));

    return add(scale(2 * log2_up(s->hosts), outside, 1),
               scale(2 * log2_up(s->per_host), inside, 1));
}

/* All send to rank 0, which sends to all. */
static uint64_t linear(const oc_constants_t *c, const oc_situation_t *s, uint64_t rate,
                       uint64_t bytes)
{
    uint64_t others = s->ranks - s->per_host;

    return add(2 * c->link_latency, at_rate(scale(bytes, 2 * others, 1), rate));
}

/* ---- what it would do ---- */

/* HAN has no Reduce_scatter of its own. */
static bool is_for_han(const oc_situation_t *situation, oc_ruled_t ruled)
{
    return situation->previous[ruled] >= OC_PREVIOUS_HAN && situation->per_host > 1
           && (OC_RULED_ALLREDUCE == ruled || OC_RULED_REDUCE == ruled);
}

/* Which is not HAN. */
static uint64_t previous_of(const oc_situation_t *situation, oc_ruled_t ruled)
{
    return situation->previous[ruled] % OC_PREVIOUS_HAN;
}

static oc_algorithm_t fixed_decision(uint32_t ranks, uint64_t bytes)
{
    const entry_t *entry;
    size_t row = 0;

    while (row + 1 < LENGTH(fixed) && fixed[row + 1].from <= ranks) {
        row++;
    }
    entry = fixed[row].entries;
    for (unsigned i = 1; i < MAX_ENTRIES && 0 != entry[1].from && entry[1].from <= bytes; i++) {
        entry++;
    }
    return entry->algorithm;
}

oc_algorithm_t oc_previous_algorithm(const oc_situation_t *situation, uint64_t bytes)
{
    uint64_t previous = previous_of(situation, OC_RULED_ALLREDUCE);

    if (is_for_han(situation, OC_RULED_ALLREDUCE)) {
        return OC_ALGORITHM_HAN;
    }
    if (previous >= OC_PREVIOUS_FORCED) {
        return (oc_algorithm_t) (previous - OC_PREVIOUS_FORCED);
    }
    return OC_PREVIOUS_TUNED == previous ? fixed_decision(situation->ranks, bytes)
                                         : OC_NUM_ALGORITHMS;
}

/* Of the longest message that two hosts exchange. */
static bool is_swift(const oc_constants_t *c, const oc_situation_t *s, oc_algorithm_t algorithm,
                     uint64_t bytes)
{
    uint64_t message = OC_ALGORITHM_RABENSEIFNER == algorithm ? bytes / 2 / s->per_host : bytes;
    bool exchanges = OC_ALGORITHM_RABENSEIFNER == algorithm
                     || OC_ALGORITHM_RECURSIVE_DOUBLING == algorithm;

    return exchanges && at_rate(message, c->link_rate) <= SWIFT_TIME;
}

static uint64_t rate_of(const oc_constants_t *c, const oc_situation_t *s, oc_algorithm_t algorithm,
                        uint64_t bytes)
{
    bool all = OC_FABRIC_TCP != s->network.fabric || is_swift(c, s, algorithm, bytes);

    return all ? c->link_rate : most_of(scale(c->link_rate, algorithms[algorithm].tcp, 100), 1);
}

static bool is_ring(oc_algorithm_t algorithm)
{
    return OC_ALGORITHM_RING == algorithm || OC_ALGORITHM_SEGMENTED_RING == algorithm;
}

static uint64_t time_of(const oc_constants_t *c, const oc_situation_t *s, oc_algorithm_t algorithm,
                        uint64_t bytes)
{
    uint64_t rate;

    if (is_ring(algorithm) && bytes < RING_PART * (uint64_t) s->ranks) {
        algorithm = OC_ALGORITHM_RECURSIVE_DOUBLING;
    }
    rate = rate_of(c, s, algorithm, bytes);
    switch (algorithm) {
    case OC_ALGORITHM_LINEAR:
        return linear(c, s, rate, bytes);
    case OC_ALGORITHM_NONOVERLAPPING:
        return up_and_down(c, s, rate, bytes);
    case OC_ALGORITHM_RECURSIVE_DOUBLING:
        return recursive_doubling(c, s, rate, bytes);
    case OC_ALGORITHM_RING:
    case OC_ALGORITHM_SEGMENTED_RING:
        return ring(c, s, rate, bytes);
    default:
        return halving(c, s, rate, bytes);
    }
}

static uint64_t allreduce_time(const oc_constants_t *constants, const oc_situation_t *situation,
                               uint64_t bytes)
{
    oc_algorithm_t algorithm = oc_previous_algorithm(situation, bytes);
    uint64_t time;

    if (algorithm < OC_NUM_ALGORITHMS) {
        return time_of(constants, situation, algorithm, bytes);
    }
    time = time_of(constants, situation, OC_ALGORITHM_RECURSIVE_DOUBLING, bytes);
    time = least_of(time, time_of(constants, situation, OC_ALGORITHM_RABENSEIFNER, bytes));
    return least_of(time, time_of(constants, situation, OC_ALGORITHM_RING, bytes));
}

/* 0: nobody knows. */
static unsigned owned_algorithm(const oc_situation_t *situation, oc_ruled_t ruled, uint64_t bytes)
{
    uint64_t previous = previous_of(situation, ruled);

    if (is_for_han(situation, ruled)) {
        return OC_REDUCE_HAN;
    }
    if (OC_PREVIOUS_BEST == previous) {
        return 0;
    }
    return previous > OC_PREVIOUS_FORCED
               ? (unsigned) (previous - OC_PREVIOUS_FORCED)
               : oc_previous_owned_decision(ruled, situation->ranks, bytes);
}

uint64_t oc_previous_time(const oc_constants_t *constants, const oc_situation_t *situation,
                          oc_ruled_t ruled, uint64_t bytes)
{
    if (OC_RULED_ALLREDUCE == ruled) {
        return allreduce_time(constants, situation, bytes);
    }
    return oc_previous_owned_time(constants, situation, ruled,
                                  owned_algorithm(situation, ruled, bytes), bytes);
}

const char *oc_previous_name(const oc_situation_t *situation, oc_ruled_t ruled)
{
    uint64_t previous = previous_of(situation, ruled);

    if (is_for_han(situation, ruled)) {
        return algorithms[OC_ALGORITHM_HAN].name;
    }
    if (previous > OC_PREVIOUS_FORCED) {
        unsigned algorithm = (unsigned) (previous - OC_PREVIOUS_FORCED);

        return OC_RULED_ALLREDUCE == ruled ? algorithms[algorithm].name
                                           : oc_previous_owned_name(ruled, algorithm);
    }
    return OC_PREVIOUS_TUNED == previous ? "tuned" : "the best of Open MPI";
}
