/* SPDX-License-Identifier: BSD-3-Clause */
/* What small and large Allreduces have in common: beginning and end. */
#include "client/collective/allreduce.h"

#include <stdlib.h>
#include <utlist.h>

#include "client/collective/collective.h"
#include "client/collective/large.h"
#include "client/collective/pack.h"
#include "client/collective/small.h"
#include "client/collective/vector.h"
#include "client/state/collapse.h"
#include "reduction/reduction.h"

/* Of what the caller has, of elements for the wire. */
static void *packed_at(const oc_collective_t *collective, size_t first)
{
    return (char *) collective->packed + first * collective->element;
}

/* What goes on the wire is not what the caller has, but made by that. */
static oc_status_t convert_all(oc_collective_t *collective, size_t stride,
                               oc_vector_move_fn_t *make)
{
    oc_status_t status;

    collective->packed = oc_stock_take(&collective->group->client->stock, collective->bytes);
    if (NULL == collective->packed) {
        return OC_ERR_NO_MEMORY;
    }
    status = oc_vector_look_at_all(collective, stride, make);
    collective->group->client->config.counters->bytes_copied += collective->bytes;
    collective->send = collective->recv = collective->packed;
    oc_vector_unstage(collective);
    return status;
}

static void pack_some(oc_collective_t *collective, size_t first, size_t count, void *elements)
{
    oc_pack(packed_at(collective, first), elements, count, collective->element,
            &collective->args.layout);
}

static void widen_some(oc_collective_t *collective, size_t first, size_t count, void *elements)
{
    oc_convert(oc_widen_kernel(collective->args.type), packed_at(collective, first), elements,
               count);
}

/* Gaps do not travel, and what is in those of the receive buffer belongs to the caller. */
static oc_status_t pack(oc_collective_t *collective)
{
    return convert_all(collective, collective->args.layout.extent, pack_some);
}

/*
 * Partial results of 16-bit floats travel as floats, and are rounded once. In the node shape that
 * is done step by step; else there is a buffer for all of it.
 */
static oc_status_t widen(oc_collective_t *collective)
{
    if (NULL == oc_widen_kernel(collective->args.type)) {
        return OC_OK;
    }
    collective->wide = true;
    collective->type = OC_TYPE_FLOAT;
    collective->element = oc_type_size(OC_TYPE_FLOAT);
    collective->bytes = collective->args.count * collective->element;
    return NULL != collective->group->node
               ? OC_OK
               : convert_all(collective, oc_type_size(collective->args.type), widen_some);
}

/* Elements as they travel, where those of the caller are not. */
static oc_status_t prepare(oc_collective_t *collective)
{
    const oc_group_t *group = collective->group;

    if (0 != collective->args.layout.extent) {
        return pack(collective);
    }
    return NULL != group->node || 0 != group->branch.leaves ? widen(collective) : OC_OK;
}

static void unpack_some(oc_collective_t *collective, size_t first, size_t count, void *elements)
{
    oc_unpack(elements, packed_at(collective, first), count, collective->element,
              &collective->args.layout);
}

static void narrow_some(oc_collective_t *collective, size_t first, size_t count, void *elements)
{
    oc_convert(oc_narrow_kernel(collective->args.type), elements, packed_at(collective, first),
               count);
}

static oc_status_t unpack(oc_collective_t *collective)
{
    const oc_allreduce_args_t *args = &collective->args;

    collective->group->client->config.counters->bytes_copied += collective->bytes;
    return collective->wide
               ? oc_vector_make_all(collective, oc_type_size(args->type), false, narrow_some)
               : oc_vector_make_all(collective, args->layout.extent, true, unpack_some);
}

static void allreduce_release(oc_client_t *client, oc_collective_t *collective)
{
    oc_stock_give(&client->stock, collective->packed, collective->bytes);
}

static oc_status_t start(oc_collective_t *collective)
{
    bool small = collective->bytes <= collective->group->client->config.settings->small_size;

    return small ? oc_small_start(collective) : oc_large_start(collective);
}

static void allreduce_begin(oc_collective_t *collective)
{
    oc_group_t *group = collective->group;
    oc_status_t status;

    collective->sequence = group->next_sequence++;
    status = prepare(collective);
    if (OC_OK == status && collective->sequence >= OC_MAX_SEQUENCE) {
        status = OC_ERR_LIMIT;
    }
    if (OC_OK == status) {
        status = start(collective);
    }
    if (OC_OK != status) {
        /* the others count on this rank's share: nobody can go on */
        oc_client_collapse(group->client, status, "a collective could not be started: %s",
                           oc_status_string(status));
        if (0 == collective->waiting) {
            oc_collective_finish(collective, status);
        }
    }
}

/* Of a large one. */
static void free_parts(oc_collective_t *collective)
{
    for (unsigned i = 0; i < collective->num_parts; i++) {
        free(collective->parts[i].slots);
    }
    free(collective->parts);
    collective->parts = NULL;
}

static oc_status_t allreduce_end(oc_collective_t *collective, oc_status_t status)
{
    oc_status_t staged = oc_vector_close(collective);

    if (OC_OK == status) {
        status = staged;
    }
    if (OC_OK == status && NULL != collective->packed) {
        status = unpack(collective);
    }
    if (OC_OK == status) {
        collective->group->client->config.counters->allreduce_offloaded++;
    }
    oc_large_end(collective);
    if (NULL != collective->parts) {
        free_parts(collective);
    }
    oc_small_end(collective);
    return status;
}

/* Chunks wait for those of others: what has no transfer under way would wait for ever. */
static void allreduce_fail(oc_collective_t *collective)
{
    if (0 == collective->waiting) {
        oc_collective_finish(collective, collective->status);
    }
}

static const oc_collective_ops_t allreduce_ops = {
    .begin = allreduce_begin, .fail = allreduce_fail, .end = allreduce_end,
    .release = allreduce_release};

oc_collective_t *oc_allreduce_new(oc_group_t *group, const void *allreduce_args)
{
    const oc_allreduce_args_t *args = allreduce_args;
    oc_collective_t *collective = oc_collective_new(group, &allreduce_ops);

    if (NULL == collective) {
        return NULL;
    }
    collective->finished = args->finished;
    collective->arg = args->arg;
    collective->args = *args;
    collective->type = args->type;
    collective->element = oc_type_size(args->type);
    collective->bytes = args->count * collective->element;
    collective->send = args->send;
    collective->recv = args->recv;
    if (!oc_vector_open(collective)) {
        oc_collective_free(group->client, collective);
        return NULL;
    }
    return collective;
}
