/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Large Allreduces in the node shape: each chunk is a step of the stream that the ranks of a host
 * go through together, and node.c says when it may go.
 *
 * An owner tells a server that a collective begins when it has the first step from all ranks of
 * the host: so a server may still count on it that whoever began will send (see the server's memory
 * in doc/architecture.md), and ranks of a host may begin nonblocking collectives of several
 * communicators in any order.
 */
#include "client/collective/large_node.h"

#include <assert.h>

#include "client/collective/large.h"
#include "client/collective/slot.h"
#include "client/collective/step.h"
#include "client/collective/step_data.h"

static bool large_node_may_send(oc_allreduce_t *allreduce, uint32_t step)
{
    oc_large_t *large = oc_large_of(allreduce);

    /* steps come in the order of the stream, which is that of each lane, too: nothing overtakes */
    large->due = oc_large_part_of(allreduce, step);
    assert(large->due->sent < large->due->share.count && large->due->next.step == step);
    return oc_slot_is_there(large->due);
}

static void large_node_send(oc_allreduce_t *allreduce, uint32_t step)
{
    oc_part_t *part = oc_large_of(allreduce)->due;

    assert(part->next.step == step);
    if (!oc_step_is_direct(allreduce)
        && !oc_step_reduce(allreduce, step, oc_step_result(allreduce, step))) {
        return;
    }
    if (0 == part->sent) {
        oc_large_announce(part);
    }
    oc_slot_send(part, oc_step_contribution(allreduce, step), oc_step_result(allreduce, step),
                 NULL);
}

static void large_node_chunk_done(oc_part_t *part, const oc_client_chunk_t *chunk)
{
    oc_large_received(part);
    oc_step_publish(part->allreduce, chunk->step);
}

static oc_status_t large_node_start(oc_allreduce_t *allreduce)
{
    oc_large_t *large = oc_large_of(allreduce);
    oc_status_t status = oc_large_make(allreduce);

    if (OC_OK != status) {
        return status;
    }
    large->chunk_done = large_node_chunk_done;
    large->committed = oc_steps_commit;
    /* memory that its host shares is always the same, and cut in the same way */
    if (oc_step_is_direct(allreduce)) {
        oc_large_map(allreduce);
    }
    oc_steps_join(allreduce, oc_allreduce_has_owners(allreduce) ? &large->map : NULL,
                  large->map.num_chunks, large->map.chunk_bytes);
    if (0 == allreduce->uncommitted) {
        oc_steps_commit(allreduce);
    }
    return OC_OK;
}

/* The account of what is here stays, and so do its steps and their map: others may have results of them. */
static void large_node_suspend(oc_allreduce_t *allreduce)
{
    oc_large_t *large = oc_large_of(allreduce);
    oc_chunk_map_t map = large->map;

    oc_large_end(allreduce);
    *large = (oc_large_t) {.map = map};
    allreduce->waiting = allreduce->uncommitted = 0;
}

const oc_allreduce_algorithm_t oc_large_node = {
    .state_size = sizeof(oc_large_t), .start = large_node_start, .end = oc_large_end,
    .suspend = large_node_suspend, .resume = large_node_start,
    .leftover = oc_large_leftover, .may_send = large_node_may_send, .send = large_node_send,
    .settles = true};
