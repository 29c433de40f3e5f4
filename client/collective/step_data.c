/* SPDX-License-Identifier: BSD-3-Clause */
/* The elements of steps, on their way between the caller's vectors and the memory of the host. */
#include "client/collective/step_data.h"

#include <string.h>

#include "client/collective/supply.h"
#include "client/collective/vector.h"
#include "client/state/collapse.h"
#include "reduction/reduction.h"

/* Bytes of the caller's vector. */
static size_t own_bytes(const oc_allreduce_t *allreduce, const oc_step_piece_t *piece)
{
    return piece->count * oc_type_size(allreduce->args.type);
}

/* Elements of a device that are not as they travel. false: as read_in. */
static bool widen_staged(oc_allreduce_t *allreduce, void *to, const oc_step_piece_t *piece)
{
    oc_stock_t *stock = &allreduce->base.group->client->stock;
    size_t length = own_bytes(allreduce, piece);
    void *elements = oc_stock_take(stock, length);
    bool read;

    if (NULL == elements) {
        oc_client_collapse(allreduce->base.group->client, OC_ERR_NO_MEMORY, "out of memory");
        return false;
    }
    read = oc_vector_read(allreduce, piece->offset, length, elements);
    if (read) {
        oc_convert(oc_widen_kernel(allreduce->args.type), to, elements, piece->count);
    }
    oc_stock_give(stock, elements, length);
    return read;
}

/* A vector whose results travel wide, and as such in a supply; else NULL. */
static const oc_allreduce_t *supplied_wide(const oc_allreduce_t *allreduce)
{
    const oc_allreduce_t *of = NULL != allreduce->supply ? allreduce->supply->of : NULL;

    return NULL != of && of->wide ? of : NULL;
}

/* Of a large vector: the others give zeros. */
static void read_supply(const oc_allreduce_t *allreduce, void *to, const oc_step_piece_t *piece, uint32_t chunk)
{
    const oc_allreduce_t *wide = supplied_wide(allreduce);
    size_t element = NULL != wide ? wide->element : 1;

    if (!oc_cut_bit(allreduce->supply->own, chunk)) {
        memset(to, 0, piece->count);
    } else if (NULL != wide) {
        oc_convert(oc_widen_kernel(wide->args.type), to,
                   (const char *) wide->recv + piece->offset / element * oc_type_size(wide->args.type),
                   piece->count / element);
    } else {
        memcpy(to, (const char *) allreduce->recv + piece->offset, piece->count);
    }
}

/* false: nothing can be sent, and all service is being given up. */
static bool read_in(oc_allreduce_t *allreduce, void *to, const oc_step_piece_t *piece, uint32_t step)
{
    if (NULL != allreduce->steps.listed && NULL != allreduce->supply) {
        read_supply(allreduce, to, piece, allreduce->steps.listed[step]);
        return true;
    }
    if (!allreduce->wide) {
        return oc_vector_read(allreduce, piece->offset, own_bytes(allreduce, piece), to);
    }
    if (NULL != allreduce->vector.send_device) {
        return widen_staged(allreduce, to, piece);
    }
    oc_convert(oc_widen_kernel(allreduce->args.type), to,
               (const char *) allreduce->send + piece->offset, piece->count);
    return true;
}

/*
 * The next step after one that was read: those of others are read in order, own ones later, in
 * order too.
 */
static bool will_be_read(const oc_allreduce_t *allreduce, uint32_t step)
{
    const oc_node_t *node = allreduce->base.group->node;

    return oc_step_owner(allreduce, step) == node->self
           || allreduce->steps.first + step >= oc_ring_given(node->ring);
}

bool oc_step_copy_in(oc_allreduce_t *allreduce, void *to, uint32_t step)
{
    oc_step_piece_t piece = oc_step_piece(allreduce, step), next;

    if (!read_in(allreduce, to, &piece, step)) {
        return false;
    }
    if (step + 1 < allreduce->steps.count && will_be_read(allreduce, step + 1)) {
        next = oc_step_piece(allreduce, step + 1);
        oc_vector_read_ahead(allreduce, next.offset, own_bytes(allreduce, &next));
    }
    oc_count_copied(allreduce->base.group->client, oc_step_bytes(allreduce, &piece));
    return true;
}

static void narrow_staged(oc_allreduce_t *allreduce, const void *from,
                          const oc_step_piece_t *piece)
{
    oc_stock_t *stock = &allreduce->base.group->client->stock;
    size_t length = own_bytes(allreduce, piece);
    void *elements = oc_stock_take(stock, length);

    if (NULL == elements) {
        oc_client_collapse(allreduce->base.group->client, OC_ERR_NO_MEMORY, "out of memory");
        return;
    }
    oc_convert(oc_narrow_kernel(allreduce->args.type), elements, from, piece->count);
    oc_vector_write(allreduce, piece->to, length, elements);
    oc_stock_give(stock, elements, length);
}

/* Each element as it was made once. */
static void narrow_supply(const oc_allreduce_t *wide, const void *from, const oc_step_piece_t *piece)
{
    oc_convert(oc_narrow_kernel(wide->args.type),
               (char *) wide->recv + piece->to / wide->element * oc_type_size(wide->args.type), from,
               piece->count / wide->element);
}

void oc_step_copy_out(oc_allreduce_t *allreduce, const void *from, const oc_step_piece_t *piece)
{
    if (NULL != supplied_wide(allreduce) && NULL != allreduce->steps.listed) {
        narrow_supply(supplied_wide(allreduce), from, piece);
    } else if (!allreduce->wide) {
        oc_vector_write(allreduce, piece->to, own_bytes(allreduce, piece), from);
    } else if (NULL != allreduce->vector.recv_device) {
        narrow_staged(allreduce, from, piece);
    } else {
        oc_convert(oc_narrow_kernel(allreduce->args.type),
                   (char *) allreduce->recv + piece->to, from, piece->count);
    }
    oc_count_copied(allreduce->base.group->client, oc_step_bytes(allreduce, piece));
}

/* Own data is read where the caller has it, unless it has to be made wide, or fetched, first. */
bool oc_step_reduce(oc_allreduce_t *allreduce, uint32_t step, void *to)
{
    oc_node_t *node = allreduce->base.group->node;
    oc_step_piece_t piece = oc_step_piece(allreduce, step);
    bool copied = allreduce->wide || NULL != allreduce->vector.send_device || NULL != allreduce->supply;

    for (uint32_t i = 0; i < node->num_members; i++) {
        node->sources[i] = oc_step_place(allreduce, i, step);
    }
    node->sources[node->self] = (const char *) allreduce->send + piece.offset;
    if (copied) {
        if (!oc_step_copy_in(allreduce, to, step)) {
            return false;
        }
        node->sources[node->self] = to;
    }
    oc_reduce(oc_reduce_kernel(allreduce->args.op, allreduce->type), to, node->sources,
              node->num_members, piece.count);
    if (1 == node->num_members && !copied) {
        oc_count_copied(allreduce->base.group->client, oc_step_bytes(allreduce, &piece));
    }
    return true;
}
