/* SPDX-License-Identifier: BSD-3-Clause */
/* What all Allreduces have in common: beginning and end, and by which algorithm they go. */
#include "client/collective/allreduce.h"

#include <assert.h>
#include <string.h>

#include "client/collective/collective.h"
#include "client/collective/large_flat.h"
#include "client/collective/large_node.h"
#include "client/collective/pack.h"
#include "client/collective/small.h"
#include "client/collective/vector.h"
#include "client/state/collapse.h"
#include "reduction/reduction.h"

/* Of what the caller has, of elements for the wire. */
static void *packed_at(const oc_allreduce_t *allreduce, size_t first)
{
    return (char *) allreduce->packed + first * allreduce->element;
}

/* What goes on the wire is not what the caller has, but made by that. */
static oc_status_t convert_all(oc_allreduce_t *allreduce, size_t stride,
                               oc_vector_move_fn_t *make)
{
    oc_status_t status;

    allreduce->packed = oc_stock_take(&allreduce->base.group->client->stock, allreduce->bytes);
    if (NULL == allreduce->packed) {
        return OC_ERR_NO_MEMORY;
    }
    status = oc_vector_look_at_all(allreduce, stride, make);
    allreduce->base.group->client->config.counters->bytes_copied += allreduce->bytes;
    allreduce->send = allreduce->recv = allreduce->packed;
    oc_vector_unstage(allreduce);
    return status;
}

static void pack_some(oc_allreduce_t *allreduce, size_t first, size_t count, void *elements)
{
    oc_pack(packed_at(allreduce, first), elements, count, allreduce->element,
            &allreduce->args.layout);
}

static void widen_some(oc_allreduce_t *allreduce, size_t first, size_t count, void *elements)
{
    oc_convert(oc_widen_kernel(allreduce->args.type), packed_at(allreduce, first), elements,
               count);
}

/* Gaps do not travel, and what is in those of the receive buffer belongs to the caller. */
static oc_status_t pack(oc_allreduce_t *allreduce)
{
    return convert_all(allreduce, allreduce->args.layout.extent, pack_some);
}

/*
 * Partial results of 16-bit floats travel as floats, and are rounded once. In the node shape that
 * is done step by step; else there is a buffer for all of it.
 */
static oc_status_t widen(oc_allreduce_t *allreduce)
{
    if (NULL == oc_widen_kernel(allreduce->args.type)) {
        return OC_OK;
    }
    allreduce->wide = true;
    allreduce->type = OC_TYPE_FLOAT;
    allreduce->element = oc_type_size(OC_TYPE_FLOAT);
    allreduce->bytes = allreduce->args.count * allreduce->element;
    return NULL != allreduce->base.group->node
               ? OC_OK
               : convert_all(allreduce, oc_type_size(allreduce->args.type), widen_some);
}

/* Elements as they travel, where those of the caller are not. */
static oc_status_t allreduce_prepare(oc_allreduce_t *allreduce)
{
    const oc_group_t *group = allreduce->base.group;

    if (0 != allreduce->args.layout.extent) {
        return pack(allreduce);
    }
    return NULL != group->node || 0 != group->servers->branch.leaves ? widen(allreduce)
                                                                              : OC_OK;
}

static void unpack_some(oc_allreduce_t *allreduce, size_t first, size_t count, void *elements)
{
    oc_unpack(elements, packed_at(allreduce, first), count, allreduce->element,
              &allreduce->args.layout);
}

static void narrow_some(oc_allreduce_t *allreduce, size_t first, size_t count, void *elements)
{
    oc_convert(oc_narrow_kernel(allreduce->args.type), elements, packed_at(allreduce, first),
               count);
}

static oc_status_t unpack(oc_allreduce_t *allreduce)
{
    const oc_allreduce_args_t *args = &allreduce->args;

    allreduce->base.group->client->config.counters->bytes_copied += allreduce->bytes;
    return allreduce->wide
               ? oc_vector_make_all(allreduce, oc_type_size(args->type), false, narrow_some)
               : oc_vector_make_all(allreduce, args->layout.extent, true, unpack_some);
}

static void allreduce_release(oc_client_t *client, oc_collective_t *collective)
{
    const oc_allreduce_t *allreduce = oc_allreduce_of(collective);

    assert(NULL == allreduce->state);
    oc_stock_give(&client->stock, allreduce->packed, allreduce->bytes);
}

/*
 * Tags tell collectives apart by the low bits of their numbers, so none may begin too far from the
 * oldest one that has not ended. Running ones are in the order of their numbers.
 */
static bool allreduce_may_begin(const oc_group_t *group)
{
    return NULL == group->running
           || (group->num_running < OC_MAX_IN_FLIGHT
               && group->servers->next_sequence - oc_allreduce_of(group->running)->sequence
                      < OC_MAX_SPAN);
}

static const oc_allreduce_algorithm_t *choose_algorithm(const oc_allreduce_t *allreduce)
{
    const oc_group_t *group = allreduce->base.group;

    if (allreduce->bytes <= group->client->config.settings->small_size) {
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

static void allreduce_begin(oc_collective_t *collective)
{
    oc_allreduce_t *allreduce = oc_allreduce_of(collective);
    oc_group_t *group = collective->group;
    oc_status_t status;

    allreduce->sequence = group->servers->next_sequence++;
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
        collective->group->client->config.counters->allreduce_offloaded++;
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
    allreduce->args = *args;
    allreduce->type = args->type;
    allreduce->element = oc_type_size(args->type);
    allreduce->bytes = args->count * allreduce->element;
    allreduce->send = args->send;
    allreduce->recv = args->recv;
    collective->type = args->type;
    collective->bytes = allreduce->bytes;
    if (!oc_vector_open(allreduce)) {
        oc_collective_free(group->client, collective);
        return NULL;
    }
    return collective;
}
