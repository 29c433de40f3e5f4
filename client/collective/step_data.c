/* SPDX-License-Identifier: BSD-3-Clause */
/* The elements of steps, on their way between the caller's vectors and the memory of the host. */
#include "client/collective/step_data.h"

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

/* false: nothing can be sent, and all service is being given up. */
static bool read_in(oc_allreduce_t *allreduce, void *to, const oc_step_piece_t *piece)
{
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

    if (!read_in(allreduce, to, &piece)) {
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

void oc_step_copy_out(oc_allreduce_t *allreduce, const void *from, const oc_step_piece_t *piece)
{
    if (!allreduce->wide) {
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
    bool copied = allreduce->wide || NULL != allreduce->vector.send_device;

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
