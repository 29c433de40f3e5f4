/* SPDX-License-Identifier: BSD-3-Clause */
/* What all Allreduces have in common: beginning and end, and by which algorithm they go. */
#include "client/collective/allreduce.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "client/collective/blocks.h"
#include "client/collective/collective.h"
#include "client/collective/large_flat.h"
#include "client/collective/large_node.h"
#include "client/collective/pack.h"
#include "client/collective/kept.h"
#include "client/collective/small.h"
#include "client/collective/supply.h"
#include "client/collective/vector.h"
#include "client/state/collapse.h"
#include "reduction/reduction.h"

/* What is smaller is out of the way soon. */
#define HELD_BYTES (256u << 10)

struct oc_conversion {
    /* Of what the caller has, some elements … */
    oc_vector_move_fn_t *pack;
    /* … and back; of the result, counted from the first element that this rank gets. */
    oc_vector_move_fn_t *unpack;
    bool keeps_gaps;           /* what is between the caller's elements belongs to the caller */
};

/* In the packed vector, of elements of so many bytes. */
static void *packed_at(const oc_allreduce_t *allreduce, size_t first, size_t size)
{
    return (char *) allreduce->packed + first * size;
}

static size_t result_at(const oc_allreduce_t *allreduce, size_t first)
{
    return allreduce->blocks.own_first + first;
}

static void pack_some(oc_allreduce_t *allreduce, size_t first, size_t count, void *elements)
{
    oc_pack(packed_at(allreduce, first, allreduce->element), elements, count, allreduce->element,
            &allreduce->args.layout);
}

static void unpack_some(oc_allreduce_t *allreduce, size_t first, size_t count, void *elements)
{
    oc_unpack(elements, packed_at(allreduce, result_at(allreduce, first), allreduce->element),
              count, allreduce->element, &allreduce->args.layout);
}

static void widen_some(oc_allreduce_t *allreduce, size_t first, size_t count, void *elements)
{
    oc_convert(oc_widen_kernel(allreduce->args.type),
               packed_at(allreduce, first, allreduce->element), elements, count);
}

static void narrow_some(oc_allreduce_t *allreduce, size_t first, size_t count, void *elements)
{
    oc_convert(oc_narrow_kernel(allreduce->args.type), elements,
               packed_at(allreduce, result_at(allreduce, first), allreduce->element), count);
}

static void copy_some(oc_allreduce_t *allreduce, size_t first, size_t count, void *elements)
{
    size_t size = oc_type_size(allreduce->args.type);

    memcpy(packed_at(allreduce, first, size), elements, count * size);
}

static void copy_back_some(oc_allreduce_t *allreduce, size_t first, size_t count, void *elements)
{
    size_t size = oc_type_size(allreduce->args.type);

    memcpy(elements, packed_at(allreduce, result_at(allreduce, first), size), count * size);
}

static const oc_conversion_t without_gaps = {.pack = pack_some, .unpack = unpack_some,
                                             .keeps_gaps = true};
static const oc_conversion_t to_floats = {.pack = widen_some, .unpack = narrow_some};
static const oc_conversion_t to_host = {.pack = copy_some, .unpack = copy_back_some};

/* From one of the caller's elements to the next. */
static size_t stride_of(const oc_allreduce_t *allreduce)
{
    return 0 != allreduce->args.layout.extent ? allreduce->args.layout.extent
                                              : oc_type_size(allreduce->args.type);
}

/* What goes on the wire is not what the caller has, but made from that. */
static oc_status_t convert_all(oc_allreduce_t *allreduce, size_t bytes,
                               const oc_conversion_t *conversion)
{
    oc_status_t status;

    allreduce->packed = oc_stock_take(&allreduce->base.group->client->stock, bytes);
    if (NULL == allreduce->packed) {
        return OC_ERR_NO_MEMORY;
    }
    allreduce->packed_bytes = bytes;
    allreduce->conversion = conversion;
    status = oc_vector_look_at_all(allreduce, stride_of(allreduce), conversion->pack);
    oc_count_copied(allreduce->base.group->client, bytes);
    allreduce->send = allreduce->recv = allreduce->packed;
    allreduce->blocks.recv_first = 0;
    oc_vector_unstage(allreduce);
    return status;
}

/* Partial results of 16-bit floats travel as floats, and are rounded once. */
static void travel_wide(oc_allreduce_t *allreduce)
{
    allreduce->wide = true;
    allreduce->type = OC_TYPE_FLOAT;
    allreduce->element = oc_type_size(OC_TYPE_FLOAT);
    allreduce->bytes = allreduce->args.count * allreduce->element;
}

/*
 * Elements as they travel, where those of the caller are not. Gaps do not travel, and what is in
 * those of the receive buffer belongs to the caller. Floats are made step by step in the node shape;
 * else there is a buffer for all of them.
 */
static oc_status_t allreduce_prepare(oc_allreduce_t *allreduce)
{
    const oc_group_t *group = allreduce->base.group;
    bool partial = NULL != group->node || 0 != group->servers->branch.leaves;
    bool staged = oc_vector_is_staged(allreduce) && oc_blocks_overlap(allreduce);
    size_t caller_bytes = allreduce->bytes;

    if (0 != allreduce->args.layout.extent) {
        return convert_all(allreduce, caller_bytes, &without_gaps);
    }
    if (partial && NULL != oc_widen_kernel(allreduce->args.type)) {
        travel_wide(allreduce);
        if (NULL == group->node) {
            return convert_all(allreduce, allreduce->bytes, &to_floats);
        }
    }
    if (staged) {
        return convert_all(allreduce, caller_bytes, &to_host);
    }
    return oc_blocks_overlap(allreduce) ? oc_blocks_keep_apart(allreduce) : OC_OK;
}

static oc_status_t unpack(oc_allreduce_t *allreduce)
{
    const oc_conversion_t *conversion = allreduce->conversion;

    oc_count_copied(allreduce->base.group->client,
                    allreduce->packed_bytes / allreduce->args.count * allreduce->blocks.own_count);
    return oc_vector_make_all(allreduce, stride_of(allreduce), conversion->keeps_gaps,
                              conversion->unpack);
}

static void allreduce_release(oc_client_t *client, oc_collective_t *collective)
{
    oc_allreduce_t *allreduce = oc_allreduce_of(collective);

    assert(NULL == allreduce->state);
    oc_stock_give(&client->stock, allreduce->packed, allreduce->packed_bytes);
    oc_blocks_free(client, allreduce);
    if (0 != allreduce->cut.chunk_bytes || NULL != collective->inner) {
        free(allreduce->cut.have);
        free(allreduce->cut.listed);
        free(allreduce->owned);
        oc_supply_free(allreduce->supply);
    }
}

/*
 * Tags tell collectives apart by the low bits of their numbers, so none may begin too far from the
 * oldest one that has not ended. Running ones are in the order of their numbers.
 */
static bool sequence_may_begin(const oc_group_t *group)
{
    return NULL == group->running
           || (group->num_running < OC_MAX_IN_FLIGHT
               && oc_wire_sequence(&group->servers->numbering, group->servers->next_sequence)
                          - oc_allreduce_of(group->running)->sequence
                      < OC_MAX_SPAN);
}

/* NULL: none of the application's runs. */
static const oc_allreduce_t *find_oldest(const oc_group_t *group)
{
    oc_collective_t *running = group->running;

    while (NULL != running && NULL != running->inner) {
        running = running->next;
    }
    return NULL != running ? oc_allreduce_of(running) : NULL;
}

/* What may have to be settled, and results that are kept, are few: see kept.h. */
static bool kept_may_begin(const oc_group_t *group)
{
    const oc_group_servers_t *servers = group->servers;
    const oc_allreduce_t *oldest = servers->renews ? find_oldest(group) : NULL;

    return NULL == oldest
           || (servers->next_sequence - oldest->number < OC_KEPT_SPAN
               && servers->small_begun - oldest->small_before <= servers->kept_most);
}

/*
 * Multicast has only messages to say that it begins, and these would wait behind what a large vector puts into
 * the queue of this host.
 */
static bool is_held(const oc_group_t *group)
{
    return 0 != group->client->quiet && group->queue->bytes >= HELD_BYTES;
}

static bool allreduce_may_begin(const oc_group_t *group)
{
    return NULL == group->servers->renewal && !is_held(group) && sequence_may_begin(group)
           && kept_may_begin(group);
}

static bool is_small(const oc_allreduce_t *allreduce)
{
    return allreduce->bytes <= allreduce->base.group->client->config.settings->small_size
           && !oc_allreduce_has_owners(allreduce);
}

static const oc_allreduce_algorithm_t *choose_algorithm(const oc_allreduce_t *allreduce)
{
    const oc_group_t *group = allreduce->base.group;

    if (is_small(allreduce)) {
        return NULL != group->node ? &oc_small_node : &oc_small_flat;
    }
    return NULL != group->node ? &oc_large_node : &oc_large_flat;
}

static oc_status_t allreduce_start(oc_allreduce_t *allreduce)
{
    const oc_allreduce_algorithm_t *algorithm = choose_algorithm(allreduce);

    allreduce->state = oc_stock_take(&allreduce->base.group->client->stock,
                                     algorithm->state_size);
    if (NULL == allreduce->state) {
        return OC_ERR_NO_MEMORY;
    }
    memset(allreduce->state, 0, algorithm->state_size);
    allreduce->algorithm = algorithm;
    return algorithm->start(allreduce);
}

static void take_number(oc_allreduce_t *allreduce)
{
    oc_group_servers_t *servers = allreduce->base.group->servers;

    allreduce->number = servers->next_sequence++;
    allreduce->sequence = oc_wire_sequence(&servers->numbering, allreduce->number);
    allreduce->small_before = servers->small_begun;
    if (is_small(allreduce) && !allreduce->args.blocking) {
        servers->small_begun += allreduce->bytes;
    }
}

static void allreduce_begin(oc_collective_t *collective)
{
    oc_allreduce_t *allreduce = oc_allreduce_of(collective);
    oc_group_t *group = collective->group;
    oc_status_t status;

    if (NULL == collective->inner) {
        take_number(allreduce);
    }
    oc_blocks_begin(allreduce);
    status = allreduce_prepare(allreduce);
    if (OC_OK == status && allreduce->sequence >= OC_MAX_SEQUENCE) {
        status = OC_ERR_LIMIT;
    }
    if (OC_OK == status) {
        status = allreduce_start(allreduce);
    }
    if (OC_OK != status) {
        /* the others count on this rank's share: nobody can go on */
        oc_client_collapse(group->client, status, "a collective could not be started: %s",
                           oc_status_string(status));
        if (0 == allreduce->waiting) {
            oc_collective_finish(collective, status);
        }
    }
}

static void end_algorithm(oc_allreduce_t *allreduce)
{
    if (NULL != allreduce->algorithm) {
        allreduce->algorithm->end(allreduce);
        oc_stock_give(&allreduce->base.group->client->stock, allreduce->state,
                      allreduce->algorithm->state_size);
        allreduce->state = NULL;
    }
}

static void count_offloaded(const oc_allreduce_t *allreduce)
{
    oc_counters_t *counters = allreduce->base.group->client->config.counters;

    switch (allreduce->args.to) {
    case OC_RESULT_TO_ALL:
        counters->allreduce_offloaded++;
        break;
    case OC_RESULT_TO_ROOT:
        counters->reduce_offloaded++;
        break;
    case OC_RESULT_TO_BLOCKS:
        counters->reduce_scatter_offloaded++;
        break;
    case OC_RESULT_TO_NOBODY:
        counters->barrier_offloaded++;
        break;
    }
}

static oc_status_t allreduce_end(oc_collective_t *collective, oc_status_t status)
{
    oc_allreduce_t *allreduce = oc_allreduce_of(collective);
    oc_status_t staged;

    end_algorithm(allreduce);
    staged = oc_vector_close(allreduce);
    if (OC_OK == status) {
        status = staged;
    }
    if (OC_OK == status && NULL != allreduce->packed) {
        status = unpack(allreduce);
    }
    if (OC_OK == status) {
        oc_blocks_hand_out(allreduce);
        if (NULL == collective->inner) {
            oc_kept_drop(allreduce);
        }
        if (NULL == collective->inner && OC_PARTING_NOT == collective->group->parting) {
            count_offloaded(allreduce);
        }
    }
    return status;
}

/* Chunks wait for those of others: what has no transfer under way would wait for ever. */
static void allreduce_fail(oc_collective_t *collective)
{
    if (0 == oc_allreduce_of(collective)->waiting) {
        oc_collective_finish(collective, collective->status);
    }
}

static const oc_collective_ops_t allreduce_ops = {
    .size = sizeof(oc_allreduce_t), .may_begin = allreduce_may_begin, .begin = allreduce_begin,
    .fail = allreduce_fail, .end = allreduce_end, .release = allreduce_release};

oc_collective_t *oc_allreduce_new(oc_group_t *group, const void *allreduce_args)
{
    const oc_allreduce_args_t *args = allreduce_args;
    oc_collective_t *collective = oc_collective_new(group, &allreduce_ops);
    oc_allreduce_t *allreduce;

    if (NULL == collective) {
        return NULL;
    }
    allreduce = oc_allreduce_of(collective);
    collective->finished = args->finished;
    collective->arg = args->arg;
    collective->background = !args->blocking;
    collective->bound = NULL != args->send_device || NULL != args->recv_device;
    group->client->had_devices = group->client->had_devices || collective->bound;
    allreduce->args = *args;
    allreduce->type = args->type;
    allreduce->element = oc_type_size(args->type);
    allreduce->bytes = args->count * allreduce->element;
    allreduce->send = args->send;
    allreduce->recv = args->recv;
    collective->ruled = args->ruled;
    collective->type = args->type;
    collective->bytes = allreduce->bytes;
    if (!oc_blocks_copy(allreduce) || !oc_vector_open(allreduce)) {
        oc_collective_free(group->client, collective);
        return NULL;
    }
    return collective;
}
