/* SPDX-License-Identifier: BSD-3-Clause */
/* The rounds of a settlement: what a rank says in each, and what all hear. */
#include "client/recovery/settling.h"

#include <stdlib.h>
#include <string.h>
#include <utlist.h>

#include "client/collective/blocks.h"
#include "client/collective/collective.h"
#include "client/collective/kept.h"
#include "client/collective/small.h"
#include "client/collective/supply.h"
#include "client/state/collapse.h"
#include "reduction/reduction.h"

/* What ranks say of where they are: minima. */
typedef enum {
    AT_FIRST,       /* the first collective that is not over here */
    AT_END,         /* minus the first that has not begun here */
    AT_CHUNK,       /* bytes of the largest chunk that all aggregators take */
    NUM_PLACES
} place_t;

/* Rows of bits about collectives: begun here, not ended here, ended here. */
#define STATES 3

static size_t bytes_of_bits(uint64_t bits)
{
    return (size_t) (bits / 8 + 1);
}

static uint64_t count_all(const oc_renewal_t *renewal)
{
    return renewal->end - renewal->first;
}

oc_allreduce_t *oc_settling_find(const oc_group_t *group, uint64_t number)
{
    oc_collective_t *running;

    DL_FOREACH (group->running, running) {
        if (NULL == running->inner && number == oc_allreduce_of(running)->number) {
            return oc_allreduce_of(running);
        }
    }
    return NULL;
}

bool oc_settling_is_small(const oc_allreduce_t *allreduce)
{
    return &oc_small_flat == allreduce->algorithm || &oc_small_node == allreduce->algorithm;
}

oc_fate_t oc_settling_fate(const oc_renewal_t *renewal, uint64_t number)
{
    const uint8_t *begun = renewal->states;
    const uint8_t *open = begun + bytes_of_bits(count_all(renewal));
    const uint8_t *ended = open + bytes_of_bits(count_all(renewal));
    uint32_t i = (uint32_t) (number - renewal->first);

    if (oc_cut_bit(ended, i)) {
        return OC_FATE_DONE;
    }
    if (!oc_cut_bit(open, i)) {
        return OC_FATE_OVER;
    }
    return oc_cut_bit(begun, i) ? OC_FATE_OPEN : OC_FATE_NEW;
}

/* Whose chunks are in question: NULL: this one's are not. */
static const oc_allreduce_t *settled_chunks_of(const oc_group_t *group, uint64_t number)
{
    const oc_allreduce_t *allreduce;

    if (OC_FATE_OPEN != oc_settling_fate(group->servers->renewal, number)) {
        return NULL;
    }
    allreduce = oc_settling_find(group, number);
    return oc_settling_is_small(allreduce) ? NULL : allreduce;
}

static uint64_t count_chunks(const oc_group_t *group)
{
    const oc_renewal_t *renewal = group->servers->renewal;
    uint64_t count = 0;

    for (uint64_t number = renewal->first; number < renewal->end; number++) {
        const oc_allreduce_t *allreduce = settled_chunks_of(group, number);

        count += NULL != allreduce ? allreduce->cut.num_chunks : 0;
    }
    return count;
}

/* ---- rounds ---- */

static void on_round(oc_collective_t *collective, oc_status_t status)
{
    oc_renewal_t *renewal = collective->group->servers->renewal;

    if (OC_OK == status && NULL != renewal) {
        renewal->vector = oc_allreduce_of(collective)->owned;
        renewal->answered = true;
        oc_allreduce_of(collective)->owned = NULL;
    }
}

/* An Allreduce of the vector, in place. Takes it over. */
static void begin_round(oc_group_t *group, void *vector, size_t count, unsigned op, unsigned type)
{
    const oc_renewal_t *renewal = group->servers->renewal;
    oc_allreduce_args_t args = {.send = vector, .recv = vector, .count = count, .op = op,
                                .type = type, .to = OC_RESULT_TO_ALL, .blocking = true};
    oc_collective_t *collective = oc_allreduce_new(group, &args);

    if (NULL == collective) {
        free(vector);
        oc_client_collapse(group->client, OC_ERR_NO_MEMORY, "out of memory");
        return;
    }
    collective->inner = on_round;
    oc_allreduce_of(collective)->owned = vector;
    oc_allreduce_of(collective)->sequence = (uint64_t) (renewal->step - OC_RENEWAL_RANGE);
    oc_collective_start_inner(collective, NULL);
}

/* Room for what a round says, all zeros. NULL: a collapse is due. */
static void *round_vector(oc_group_t *group, size_t bytes)
{
    void *vector = calloc(1, bytes);

    if (NULL == vector) {
        oc_client_collapse(group->client, OC_ERR_NO_MEMORY, "out of memory");
    }
    return vector;
}

/* The engine's own do not count. */
static uint64_t first_open(const oc_group_t *group)
{
    const oc_collective_t *running = group->running;

    while (NULL != running && NULL != running->inner) {
        running = running->next;
    }
    return NULL != running ? ((const oc_allreduce_t *) running)->number : group->servers->next_sequence;
}

static bool ask_range(oc_group_t *group)
{
    const oc_group_servers_t *servers = group->servers;
    int64_t *places = round_vector(group, NUM_PLACES * sizeof(*places));

    if (NULL == places) {
        return false;
    }
    places[AT_FIRST] = (int64_t) first_open(group);
    places[AT_END] = -(int64_t) servers->next_sequence;
    places[AT_CHUNK] = servers->renewal->readiness->chunk_bytes;
    begin_round(group, places, NUM_PLACES, OC_OP_MIN, OC_TYPE_INT64);
    return true;
}

/* Minima of what this rank has said, too. */
static bool range_is_plausible(const oc_group_t *group, const int64_t *places)
{
    return places[AT_FIRST] >= 0 && (uint64_t) places[AT_FIRST] <= first_open(group)
           && places[AT_END] <= -(int64_t) group->servers->next_sequence
           && (uint64_t) (-places[AT_END] - places[AT_FIRST]) <= OC_SETTLING_MAX
           && places[AT_CHUNK] >= OC_MIN_CHUNK
           && places[AT_CHUNK] <= group->servers->renewal->readiness->chunk_bytes;
}

static void hear_range(oc_group_t *group)
{
    oc_renewal_t *renewal = group->servers->renewal;
    const int64_t *places = renewal->vector;

    if (!range_is_plausible(group, places)) {
        oc_client_collapse(group->client, OC_ERR_INVALID, "%s; what its ranks have settled after that makes "
                           "no sense", group->client->loss_reason);
        return;
    }
    renewal->first = (uint64_t) places[AT_FIRST];
    renewal->end = (uint64_t) -places[AT_END];
    group->servers->chunk_bytes = (size_t) places[AT_CHUNK];
}

static bool ask_states(oc_group_t *group)
{
    const oc_renewal_t *renewal = group->servers->renewal;
    size_t bytes = bytes_of_bits(count_all(renewal));
    uint8_t *begun;

    if (0 == count_all(renewal) || NULL == (begun = round_vector(group, STATES * bytes))) {
        return false;
    }
    for (uint64_t number = renewal->first; number < renewal->end; number++) {
        uint32_t i = (uint32_t) (number - renewal->first);
        bool is_begun = number < group->servers->next_sequence;

        if (is_begun) {
            oc_cut_set_bit(begun, i);
        }
        oc_cut_set_bit(is_begun && NULL == oc_settling_find(group, number) ? begun + 2 * bytes
                                                                           : begun + bytes, i);
    }
    begin_round(group, begun, STATES * bytes, OC_OP_BAND, OC_TYPE_UINT8);
    return true;
}

/* All that are to go on keep account of their chunks, and servers have room for these. NULL, or why not. */
static const char *find_obstacle(const oc_group_t *group)
{
    const oc_renewal_t *renewal = group->servers->renewal;

    for (uint64_t number = renewal->first; number < renewal->end; number++) {
        const oc_allreduce_t *allreduce = oc_settling_find(group, number);

        if (NULL == allreduce || oc_settling_is_small(allreduce)
            || OC_FATE_OPEN != oc_settling_fate(renewal, number)) {
            continue;
        }
        if (NULL == allreduce->cut.have) {
            return "what is under way cannot be done again";
        }
        if (allreduce->cut.chunk_bytes > group->servers->chunk_bytes) {
            return "the aggregators that are left have no memory for chunks as large as those under way: lower "
                   "coll_optcast_chunk_size, or raise --memory-limit of the servers";
        }
    }
    return NULL;
}

static void hear_states(oc_group_t *group)
{
    oc_renewal_t *renewal = group->servers->renewal;
    const char *obstacle;

    renewal->states = renewal->vector;
    renewal->vector = NULL;
    obstacle = find_obstacle(group);
    if (NULL != obstacle) {
        oc_client_collapse(group->client, group->client->loss_status, "%s; %s", group->client->loss_reason, obstacle);
    }
}

/* Of a chunk that does not come to this rank it says nothing: what others say counts. */
static void say_chunk(const oc_allreduce_t *allreduce, uint32_t chunk, uint8_t *have, uint8_t *lack, uint32_t i)
{
    bool gets = oc_blocks_gets(allreduce, chunk), has = oc_cut_bit(allreduce->cut.have, chunk);

    if (!gets || has) {
        oc_cut_set_bit(have, i);
    }
    if (!gets || !has) {
        oc_cut_set_bit(lack, i);
    }
}

static bool ask_chunks(oc_group_t *group)
{
    oc_renewal_t *renewal = group->servers->renewal;
    uint64_t count = NULL != renewal->states ? count_chunks(group) : 0;
    size_t bytes = bytes_of_bits(count);
    uint8_t *have;
    uint32_t i = 0;

    if (0 == count || NULL == (have = round_vector(group, 2 * bytes))) {
        return false;
    }
    renewal->num_chunks = count;
    for (uint64_t number = renewal->first; number < renewal->end; number++) {
        const oc_allreduce_t *allreduce = settled_chunks_of(group, number);

        for (uint32_t c = 0; NULL != allreduce && c < allreduce->cut.num_chunks; c++, i++) {
            say_chunk(allreduce, c, have, have + bytes, i);
        }
    }
    begin_round(group, have, 2 * bytes, OC_OP_BAND, OC_TYPE_UINT8);
    return true;
}

static void hear_chunks(oc_group_t *group)
{
    oc_renewal_t *renewal = group->servers->renewal;

    renewal->chunks = renewal->vector;
    renewal->vector = NULL;
}

/* One for each small collective that is over, and for each chunk that some have: where it is given, this rank has it. */
static uint32_t list_sources(const oc_group_t *group, uint32_t *sources)
{
    const oc_renewal_t *renewal = group->servers->renewal;
    uint32_t rank = group->params.rank, nobody = group->params.num_ranks, count = 0, i = 0;

    for (uint64_t number = renewal->first; NULL != renewal->states && number < renewal->end; number++) {
        const oc_allreduce_t *allreduce = settled_chunks_of(group, number);

        if (oc_settling_is_supplied(group, number)) {
            if (NULL != sources) {
                sources[count] = NULL != oc_kept_find(group, number) ? rank : nobody;
            }
            count++;
        }
        for (uint32_t c = 0; NULL != allreduce && c < allreduce->cut.num_chunks; c++, i++) {
            if (OC_CHUNK_SOME != oc_settling_chunk(group, i)) {
                continue;
            }
            if (NULL != sources) {
                sources[count] = oc_cut_bit(allreduce->cut.have, c) ? rank : nobody;
            }
            count++;
        }
    }
    return count;
}

static bool ask_sources(oc_group_t *group)
{
    uint32_t count = list_sources(group, NULL);
    uint32_t *sources;

    if (0 == count || NULL == (sources = round_vector(group, count * sizeof(*sources)))) {
        return false;
    }
    (void) list_sources(group, sources);
    begin_round(group, sources, count, OC_OP_MIN, OC_TYPE_UINT32);
    return true;
}

static void hear_sources(oc_group_t *group)
{
    oc_renewal_t *renewal = group->servers->renewal;

    renewal->sources = renewal->vector;
    renewal->vector = NULL;
}

/* ---- what they are about ---- */

bool oc_settling_is_supplied(const oc_group_t *group, uint64_t number)
{
    const oc_allreduce_t *allreduce = oc_settling_find(group, number);

    if (OC_FATE_OVER != oc_settling_fate(group->servers->renewal, number)) {
        return false;
    }
    return NULL != allreduce ? oc_settling_is_small(allreduce)
                             : NULL != oc_kept_find(group, number);
}

oc_chunk_state_t oc_settling_chunk(const oc_group_t *group, uint32_t i)
{
    const uint8_t *all = group->servers->renewal->chunks;
    const uint8_t *none = all + bytes_of_bits(group->servers->renewal->num_chunks);

    if (oc_cut_bit(all, i)) {
        return OC_CHUNK_ALL;
    }
    return oc_cut_bit(none, i) ? OC_CHUNK_NOBODY : OC_CHUNK_SOME;
}

typedef struct {
    bool (*ask)(oc_group_t *group);
    void (*hear)(oc_group_t *group);
} round_t;

static const round_t rounds[OC_RENEWAL_ROUNDS] = {
    {ask_range, hear_range},
    {ask_states, hear_states},
    {ask_chunks, hear_chunks},
    {ask_sources, hear_sources},
};

bool oc_settling_ask(oc_group_t *group)
{
    return rounds[group->servers->renewal->step - OC_RENEWAL_RANGE].ask(group);
}

void oc_settling_hear(oc_group_t *group)
{
    oc_renewal_t *renewal = group->servers->renewal;

    rounds[renewal->step - OC_RENEWAL_RANGE].hear(group);
    free(renewal->vector);
    renewal->vector = NULL;
    renewal->step++;
}
