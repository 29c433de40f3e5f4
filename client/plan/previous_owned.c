/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The decisions of tuned are tables of Open MPI's (coll_tuned_decision_fixed.c, the same in 4.1.0
 * to 5.0.8), told here by the smallest number of ranks and bytes to which each entry applies. It
 * runs all algorithms in one piece, so that trees and chains pass on whole vectors.
 */
#include "client/plan/previous_owned.h"

#include "client/plan/model_time.h"

#define LENGTH(array) (sizeof(array) / sizeof((array)[0]))
#define MAX_ENTRIES   11

typedef struct {
    uint32_t from;             /* bytes */
    unsigned algorithm;
} entry_t;

typedef struct {
    uint32_t from;             /* ranks */
    entry_t entries[MAX_ENTRIES];
} row_t;

/* The last row and entry that are not beyond decide. Ends of powers of two only are missing. */
static const row_t reduce_rows[] = {
    {0, {{0, 7}, {8, 4}, {16, 3}, {32, 1}, {262144, 3}, {524288, 2}, {1048576, 3}}},
    {4, {{0, 4}, {4096, 2}, {65536, 5}, {262144, 1}, {524288, 5}, {1048576, 1}}},
    {8, {{0, 4}, {8192, 5}}},
    {16, {{0, 4}, {4096, 5}}},
    {32, {{0, 5}}},
    {256, {{0, 5}, {8192, 6}, {16384, 5}}},
    {512, {{0, 5}}},
    {2048, {{0, 5}, {512, 6}, {1024, 5}, {8192, 6}, {16384, 5}}},
    {4096, {{0, 5}, {16, 6}, {32, 5}, {1024, 6}, {2048, 5}, {8192, 6}, {16384, 5}}},
};

static const row_t scatter_rows[] = {
    {0, {{0, 3}, {65536, 4}, {131072, 3}}},
    {4, {{0, 1}, {8, 2}, {262144, 3}}},
    {8, {{0, 2}, {262144, 3}}},
    {32, {{0, 1}, {64, 2}, {2048, 4}, {524288, 3}}},
    {64, {{0, 1}, {256, 2}, {512, 4}, {2048, 2}, {4096, 4}}},
    {128, {{0, 1}, {256, 2}, {512, 4}}},
    {256, {{0, 1}, {256, 2}, {1024, 4}}},
    {512, {{0, 1}, {512, 2}, {2048, 4}, {8192, 2}, {16384, 4}}},
    {1024, {{0, 1}, {512, 2}, {4096, 4}, {16384, 2}, {32768, 4}}},
    {2048, {{0, 1}, {512, 2}, {4096, 4}}},
    {4096, {{0, 1}, {1024, 2}, {8192, 4}}},
};

/* By the bytes of one block. */
static const row_t block_rows[] = {
    {0, {{0, 2}, {4, 4}, {8, 3}, {16, 4}, {128, 3}, {256, 4}, {4096, 3}, {8192, 4}, {131072, 1}}},
    {4, {{0, 3}, {8, 2}, {32, 4}, {256, 3}, {8192, 4}, {16384, 3}, {1048576, 1}}},
    {8, {{0, 1}, {4, 3}, {32, 4}, {128, 3}, {524288, 1}, {4194304, 4}}},
    {16, {{0, 1}, {32, 3}, {524288, 1}, {2097152, 3}, {4194304, 4}}},
    {32, {{0, 3}, {4, 1}, {16, 4}, {65536, 1}, {262144, 4}}},
};

#define MAX_ALGORITHMS 9

/* Two ranks that exchange messages no longer than these ns on a link do not hinder each other. */
#define SWIFT_TIME 3000000
#define FEW_HOSTS  4

/*
 * Percent of a link's rate that an algorithm gets out of it over TCP: bench/run algorithms-owned
 * measures it. Where ranks exchange long messages it depends on luck, which counts for Open MPI,
 * and there is less of it on more than four hosts (crossed; 0: the same).
 */
typedef struct {
    const char *name;
    unsigned tcp, crossed;
} algorithm_t;

static const struct {
    const row_t *rows;
    size_t num_rows;
    algorithm_t algorithms[MAX_ALGORITHMS];
} known[OC_NUM_RULED] = {
    [OC_RULED_REDUCE] = {reduce_rows, LENGTH(reduce_rows),
                         {[OC_REDUCE_LINEAR] = {"linear", 95, 0},
                          [OC_REDUCE_CHAIN] = {"chain", 95, 0},
                          [OC_REDUCE_PIPELINE] = {"pipeline", 95, 0},
                          [OC_REDUCE_BINARY] = {"binary tree", 95, 0},
                          [OC_REDUCE_BINOMIAL] = {"binomial tree", 95, 0},
                          [OC_REDUCE_IN_ORDER_BINARY] = {"in-order binary tree", 95, 0},
                          [OC_REDUCE_RABENSEIFNER] = {"Rabenseifner", 95, 0},
                          [OC_REDUCE_HAN] = {"HAN", 95, 0}}},
    [OC_RULED_REDUCE_SCATTER] = {scatter_rows, LENGTH(scatter_rows),
                                 {[OC_SCATTER_NONOVERLAPPING] = {"reduce and scatter", 95, 0},
                                  [OC_SCATTER_HALVING] = {"recursive halving", 95, 70},
                                  [OC_SCATTER_RING] = {"ring", 95, 0},
                                  [OC_SCATTER_BUTTERFLY] = {"butterfly", 95, 70}}},
    [OC_RULED_REDUCE_SCATTER_BLOCK] = {block_rows, LENGTH(block_rows),
                                       {[OC_BLOCK_LINEAR] = {"reduce and scatter", 95, 0},
                                        [OC_BLOCK_DOUBLING] = {"recursive doubling", 95, 70},
                                        [OC_BLOCK_HALVING] = {"recursive halving", 95, 70},
                                        [OC_BLOCK_BUTTERFLY] = {"butterfly", 95, 70}}},
};

unsigned oc_previous_owned_decision(oc_ruled_t ruled, uint32_t ranks, uint64_t bytes)
{
    const row_t *row = known[ruled].rows, *end = row + known[ruled].num_rows;
    uint64_t size = OC_RULED_REDUCE_SCATTER_BLOCK == ruled ? bytes / ranks : bytes;
    const entry_t *entry;

    while (row + 1 < end && row[1].from <= ranks) {
        row++;
    }
    entry = row->entries;
    for (unsigned i = 1; i < MAX_ENTRIES && 0 != entry[1].from && entry[1].from <= size; i++) {
        entry++;
    }
    return entry->algorithm;
}

const char *oc_previous_owned_name(oc_ruled_t ruled, unsigned algorithm)
{
    return known[ruled].algorithms[algorithm].name;
}

/* ---- what is common ---- */

/* Steps from one host to the next, of so many bytes on a link each, and steps inside hosts. */
static uint64_t in_steps(const oc_constants_t *c, uint64_t rate, uint64_t outside, uint64_t carried,
                         uint64_t inside, uint64_t copied)
{
    return add(add(scale(outside, c->link_latency, 1), at_rate(carried, rate)),
               add(scale(inside, c->link_latency / LOCAL_PART, 1),
                   at_rate(copied, c->memory_rate)));
}

/* Of whole vectors. */
static uint64_t in_hops(const oc_constants_t *c, uint64_t rate, uint64_t outside, uint64_t inside,
                        uint64_t bytes)
{
    return in_steps(c, rate, outside, scale(bytes, outside, 1), inside, scale(bytes, inside, 1));
}

static uint64_t part_outside(const oc_situation_t *s, uint64_t bytes)
{
    return scale(bytes, (uint64_t) s->hosts - 1, s->hosts);
}

static bool is_power_of_two(uint32_t number)
{
    return 0 == (number & (number - 1));
}

/* ---- Reduce ---- */

/* A chain of messages that are sent at once is a pipeline of operations. */
#define LONG_MESSAGE 65536

/* Each host but the first ones gets two vectors, one after the other. */
static uint64_t binary_levels(uint64_t hosts)
{
    return most_of(2 * (log2_down(hosts + 1) - 1), 1);
}

/* Halves, quarters, … are reduced and collected; what is beyond a power of two comes first. */
static uint64_t rabenseifner(const oc_constants_t *c, const oc_situation_t *s, uint64_t rate,
                             uint64_t bytes)
{
    uint64_t power = 1ull << log2_down(s->hosts), whole = s->hosts > power ? bytes : 0;

    return in_steps(c, rate, 2 * log2_up(s->hosts),
                    add(whole, scale(bytes, 2 * (power - 1), power)), 2 * log2_up(s->per_host),
                    scale(bytes, 2 * ((uint64_t) s->per_host - 1), s->per_host));
}

/* It reduces inside hosts, and leaves what is between them to libnbc. */
static uint64_t han_reduce(const oc_constants_t *c, const oc_situation_t *s, uint64_t rate,
                           uint64_t bytes)
{
    return s->hosts > 2 ? rabenseifner(c, s, rate, bytes) : in_hops(c, rate, 1, 1, bytes);
}

static uint64_t reduce_time(const oc_constants_t *c, const oc_situation_t *s, uint64_t rate,
                            unsigned algorithm, uint64_t bytes)
{
    uint64_t hosts = s->hosts, others = s->ranks - s->per_host;

    switch (algorithm) {
    case OC_REDUCE_LINEAR:
        return in_steps(c, rate, 1, scale(bytes, others, 1), 0, 0);
    case OC_REDUCE_CHAIN:
    case OC_REDUCE_PIPELINE:
        return bytes < LONG_MESSAGE ? in_hops(c, rate, 1, 1, bytes)
                                    : in_hops(c, rate, hosts - 1, s->ranks - hosts, bytes);
    case OC_REDUCE_BINARY:
    case OC_REDUCE_IN_ORDER_BINARY:
        return in_hops(c, rate, binary_levels(hosts), 0, bytes);
    case OC_REDUCE_BINOMIAL:
        return in_hops(c, rate, log2_up(hosts), log2_up(s->per_host), bytes);
    case OC_REDUCE_HAN:
        return han_reduce(c, s, rate, bytes);
    default:
        return rabenseifner(c, s, rate, bytes);
    }
}

/* libnbc takes Rabenseifner's, but a chain between two. */
static unsigned nonblocking_reduce(const oc_situation_t *s)
{
    return s->ranks > 2 ? OC_REDUCE_RABENSEIFNER : OC_REDUCE_CHAIN;
}

/* ---- Reduce_scatter ---- */

/* tuned decides about the Reduce, and rank 0 sends all others their blocks. */
static uint64_t reduce_and_scatter(const oc_constants_t *c, const oc_situation_t *s, uint64_t rate,
                                   uint64_t bytes)
{
    unsigned algorithm = oc_previous_owned_decision(OC_RULED_REDUCE, s->ranks, bytes);
    uint64_t scattered = scale(bytes, s->ranks - s->per_host, s->ranks);

    return add(reduce_time(c, s, rate, algorithm, bytes), in_steps(c, rate, 1, scattered, 0, 0));
}

/* Ranks beyond a power of two give all they have to another one first. */
static uint64_t fold(const oc_constants_t *c, const oc_situation_t *s, uint64_t rate,
                     uint64_t bytes)
{
    if (is_power_of_two(s->ranks)) {
        return 0;
    }
    return s->per_host > 1 ? in_hops(c, rate, 0, 1, bytes) : in_hops(c, rate, 1, 0, bytes);
}

/* Halves go to the other half of the hosts first, from all ranks of a host. */
static uint64_t recursive_halving(const oc_constants_t *c, const oc_situation_t *s, uint64_t rate,
                                  uint64_t bytes)
{
    return add(fold(c, s, rate, bytes),
               in_steps(c, rate, log2_up(s->hosts), scale(part_outside(s, bytes), s->per_host, 1),
                        log2_up(s->per_host), 0));
}

/* … or to neighbours; and blocks to their owners at the end. */
static uint64_t butterfly(const oc_constants_t *c, const oc_situation_t *s, uint64_t rate,
                          uint64_t bytes)
{
    return add(fold(c, s, rate, bytes),
               in_steps(c, rate, log2_up(s->hosts) + 1, part_outside(s, bytes),
                        log2_up(s->per_host), bytes));
}

/* All that the other has not been told yet. */
static uint64_t doubling(const oc_constants_t *c, const oc_situation_t *s, uint64_t rate,
                         uint64_t bytes)
{
    uint64_t steps = log2_up(s->hosts), carried = scale(bytes, steps, 1) - part_outside(s, bytes);

    return in_steps(c, rate, steps, scale(carried, s->per_host, 1), log2_up(s->per_host), 0);
}

static uint64_t scatter_ring(const oc_constants_t *c, const oc_situation_t *s, uint64_t rate,
                             uint64_t bytes)
{
    uint64_t steps = (uint64_t) s->ranks - 1;

    return in_steps(c, rate, steps, scale(bytes, steps, s->ranks), 0, 0);
}

static uint64_t scatter_time(const oc_constants_t *c, const oc_situation_t *s, uint64_t rate,
                             unsigned algorithm, uint64_t bytes)
{
    switch (algorithm) {
    case OC_SCATTER_NONOVERLAPPING:
        return reduce_and_scatter(c, s, rate, bytes);
    case OC_SCATTER_HALVING:
        return recursive_halving(c, s, rate, bytes);
    case OC_SCATTER_RING:
        return scatter_ring(c, s, rate, bytes);
    default:
        return butterfly(c, s, rate, bytes);
    }
}

static uint64_t block_time(const oc_constants_t *c, const oc_situation_t *s, uint64_t rate,
                           unsigned algorithm, uint64_t bytes)
{
    switch (algorithm) {
    case OC_BLOCK_LINEAR:
        return reduce_and_scatter(c, s, rate, bytes);
    case OC_BLOCK_DOUBLING:
        return doubling(c, s, rate, bytes);
    case OC_BLOCK_HALVING:
        return recursive_halving(c, s, rate, bytes);
    default:
        return butterfly(c, s, rate, bytes);
    }
}

/* ---- all ---- */

static uint64_t fastest_of_links(const oc_constants_t *c, const oc_situation_t *s, oc_ruled_t ruled,
                                 uint64_t bytes)
{
    return at_rate(OC_RULED_REDUCE == ruled ? bytes : part_outside(s, bytes), c->link_rate);
}

/* Its longest messages are halves. */
static uint64_t owned_rate(const oc_constants_t *c, const oc_situation_t *s, oc_ruled_t ruled,
                           unsigned algorithm, uint64_t bytes)
{
    const algorithm_t *found = &known[ruled].algorithms[algorithm];
    bool crossed = 0 != found->crossed && s->hosts > FEW_HOSTS
                   && at_rate(bytes / 2 / s->per_host, c->link_rate) > SWIFT_TIME;
    unsigned percent = crossed ? found->crossed : found->tcp;

    return OC_FABRIC_TCP == s->network.fabric ? most_of(scale(c->link_rate, percent, 100), 1)
                                              : c->link_rate;
}

static uint64_t owned_time(const oc_constants_t *c, const oc_situation_t *s, oc_ruled_t ruled,
                           unsigned algorithm, uint64_t bytes)
{
    uint64_t rate = owned_rate(c, s, ruled, algorithm, bytes);

    switch (ruled) {
    case OC_RULED_REDUCE:
        return reduce_time(c, s, rate, algorithm, bytes);
    case OC_RULED_REDUCE_SCATTER:
        return scatter_time(c, s, rate, algorithm, bytes);
    default:
        return block_time(c, s, rate, algorithm, bytes);
    }
}

uint64_t oc_previous_owned_time(const oc_constants_t *constants, const oc_situation_t *situation,
                                oc_ruled_t ruled, unsigned algorithm, uint64_t bytes)
{
    uint64_t time;

    if (0 == algorithm) {
        return fastest_of_links(constants, situation, ruled, bytes);
    }
    time = owned_time(constants, situation, ruled, algorithm, bytes);
    return OC_RULED_REDUCE == ruled
               ? least_of(time, owned_time(constants, situation, ruled,
                                           nonblocking_reduce(situation), bytes))
               : time;
}
