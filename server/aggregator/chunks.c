/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Chunks of a large collective: n receives, one reduction, n sends; what of them has no bytes says
 * receivers.c.
 *
 * A chunk gets all its n buffers or none. All collectives of a group share a window, however many
 * there are, so that no group gets ahead of others by starting more of them; its chunks get memory
 * in the order in which its ranks send them. Receives are posted with exact tags when the chunk is
 * admitted; contributions that come earlier wait (early.c).
 */
#include "server/aggregator/chunks.h"

#include <assert.h>
#include <string.h>
#include <utlist.h>

#include "base/clock.h"
#include "base/log.h"
#include "protocol/tag.h"
#include "server/aggregator/budget.h"
#include "server/aggregator/cache.h"
#include "server/aggregator/early.h"
#include "server/aggregator/receivers.h"
#include "server/aggregator/server_group.h"
#include "server/aggregator/server_reduction.h"
#include "server/aggregator/replies.h"
#include "server/aggregator/reserve.h"
#include "server/aggregator/starving.h"

static void on_result_sent(oc_transfer_t *transfer);

static size_t block_size(const oc_server_group_t *group)
{
    return oc_budget_chunk(group->num_ranks, group->chunk_bytes);
}

/* Without its buffers. */
static size_t chunks_chunk_size(const oc_server_group_t *group)
{
    return sizeof(oc_chunk_t) + group->num_ranks * sizeof(oc_chunk_transfer_t);
}

/*
 * In the order of the ranks; that of an owner which contributes nothing is the first, for the
 * result. What is twice as long then does not fall upon what is not read yet (oc_reduce_wide).
 */
static uint8_t *buffer_of(const oc_chunk_t *chunk, uint32_t rank)
{
    uint32_t place = rank;

    if (OC_NO_OWNER != chunk->owner && !chunk->owner_gives) {
        place = rank == chunk->owner ? 0 : rank + (rank < chunk->owner);
    }
    return chunk->buffers + (size_t) place * chunk->reduction->group->chunk_bytes;
}

static void chunks_note(oc_chunk_t *chunk, unsigned what)
{
    if (NULL != chunk->reduction->group->aggregator->timeline) {
        chunk->times[what] = oc_clock_ns();
    }
}

static void note_arrival(oc_chunk_t *chunk, uint32_t rank)
{
    if (chunk->waiting == chunk->reduction->group->num_ranks) {
        chunks_note(chunk, OC_SERVER_FIRST);
        chunk->first = rank;
    }
    if (1 == chunk->waiting) {
        chunks_note(chunk, OC_SERVER_LAST);
        chunk->last = rank;
    }
}

static void chunks_add_to_timeline(const oc_chunk_t *chunk)
{
    const oc_reduction_t *reduction = chunk->reduction;
    oc_timeline_record_t record = {
        .handle = reduction->group->handle, .aggregator = reduction->group->index,
        .sequence = reduction->sequence, .number = chunk->number, .bytes = chunk->length,
        .first = chunk->first, .last = chunk->last};

    memcpy(record.times, chunk->times, sizeof(chunk->times));
    oc_timeline_add(reduction->group->aggregator->timeline, &record);
}

void oc_chunk_drop(oc_chunk_t *chunk)
{
    oc_reduction_t *reduction = chunk->reduction;
    oc_server_group_t *group = reduction->group;

    assert(0 == chunk->waiting && group->flying >= chunk->counted);
    DL_DELETE(reduction->chunks, chunk);
    group->flying -= chunk->counted;
    oc_pool_put(&group->aggregator->pool, chunk->buffers, block_size(group));
    if (chunk->lent) {
        oc_reserve_return_chunk(group);
    }
    oc_stock_give(&group->aggregator->stock, chunk, chunks_chunk_size(group));
}

/* Aggregators begin with different ranks, so that they do not all meet at the link of one. */
void oc_chunk_result(oc_chunk_t *chunk)
{
    oc_reduction_t *reduction = chunk->reduction;
    oc_server_group_t *group = reduction->group;

    assert(0 == chunk->waiting && reduction->answered < reduction->admitted);
    chunk->waiting = group->num_ranks;
    for (uint32_t i = 0; i < group->num_ranks; i++) {
        uint32_t rank = (uint32_t) (((uint64_t) group->index + chunk->number + i)
                                    % group->num_ranks);
        oc_transfer_t *transfer = &chunk->transfers[rank].transfer;

        transfer->done = on_result_sent;
        oc_server_group_hold(group);
        oc_aggregator_send(group, rank, transfer, chunk->result, oc_receivers_get(chunk, rank),
                           oc_tag(OC_KIND_RESULT, group->members[rank].reply_handle, group->index,
                                  reduction->sequence, chunk->number));
    }
    if (++reduction->answered == reduction->header.chunks) {
        oc_reduction_sent(reduction);
    }
}

/* Of those who contribute, in the order of the ranks; how many they are. */
static uint32_t find_sources(const oc_chunk_t *chunk)
{
    const oc_server_group_t *group = chunk->reduction->group;
    uint32_t count = 0;

    for (uint32_t rank = 0; rank < group->num_ranks; rank++) {
        if (oc_receivers_give(chunk, rank)) {
            group->sources[count++] = buffer_of(chunk, rank);
        }
    }
    return count;
}

/* The first buffer is the output, and may be an input. */
static void reduce(oc_chunk_t *chunk)
{
    const oc_reduction_t *reduction = chunk->reduction;
    const oc_server_group_t *group = reduction->group;
    uint32_t num_sources = find_sources(chunk);
    size_t count = chunk->length / reduction->element;

    chunk->result = chunk->buffers;
    if (0 == num_sources) {
        chunk->result = NULL;
    } else if (chunk->wide) {
        oc_reduce_wide(reduction->header.op, reduction->header.type, chunk->buffers,
                       group->sources, num_sources, count);
    } else {
        oc_reduce(reduction->kernel, chunk->buffers, group->sources, num_sources, count);
    }
}

static void on_contribution(oc_transfer_t *transfer)
{
    oc_chunk_t *chunk = ((oc_chunk_transfer_t *) transfer)->chunk;
    oc_server_group_t *group = chunk->reduction->group;
    uint32_t rank = (uint32_t) ((oc_chunk_transfer_t *) transfer - chunk->transfers);

    if (OC_OK != transfer->status || !oc_receivers_expect(chunk, rank, transfer->length)) {
        oc_server_group_failed(
            group, OC_ERR_INVALID, "chunk %u of collective %llu came with %zu bytes from rank "
            "%u, not with %u: %s", chunk->number, (unsigned long long) chunk->reduction->sequence,
            transfer->length, rank, oc_receivers_give(chunk, rank) ? chunk->length : 0,
            oc_status_string(transfer->status));
    }
    assert(rank < group->num_ranks && chunk->waiting > 0);
    note_arrival(chunk, rank);
    if (0 == --chunk->waiting) {
        if (group->failed) {
            oc_chunk_drop(chunk);
        } else {
            reduce(chunk);
            chunks_note(chunk, OC_SERVER_REDUCED);
            group->outlet->chunk(chunk);
        }
    }
    oc_server_group_release(group);
}

static void on_result_sent(oc_transfer_t *transfer)
{
    oc_chunk_t *chunk = ((oc_chunk_transfer_t *) transfer)->chunk;
    oc_reduction_t *reduction = chunk->reduction;
    oc_server_group_t *group = reduction->group;

    assert(chunk->waiting > 0 && reduction->finished < reduction->answered);
    oc_aggregator_check_sent(group, transfer);
    if (0 == --chunk->waiting) {
        chunks_note(chunk, OC_SERVER_SENT);
        if (NULL != group->aggregator->timeline) {
            chunks_add_to_timeline(chunk);
        }
        oc_chunk_drop(chunk);
        reduction->finished++;
        if (!group->failed) {
            oc_chunks_admit(group);
            oc_reduction_settle(reduction);
        }
    }
    oc_server_group_release(group);
}

static oc_chunk_t *chunk_new(oc_reduction_t *reduction)
{
    oc_server_group_t *group = reduction->group;
    oc_pool_t *pool = &group->aggregator->pool;
    oc_stock_t *stock = &group->aggregator->stock;
    oc_chunk_t *chunk = oc_stock_take(stock, chunks_chunk_size(group));

    assert(reduction->admitted < reduction->header.chunks
           && oc_receivers_next_length(reduction) <= group->chunk_bytes);
    if (NULL == chunk) {
        return NULL;
    }
    memset(chunk, 0, sizeof(*chunk));
    chunk->buffers = oc_pool_get(pool, block_size(group));
    if (NULL == chunk->buffers) {
        oc_stock_give(stock, chunk, chunks_chunk_size(group));
        return NULL;
    }
    chunk->reduction = reduction;
    oc_receivers_assign(chunk);
    DL_APPEND(reduction->chunks, chunk);
    group->flying += chunk->counted;
    return chunk;
}

static uint64_t contribution_tag(const oc_reduction_t *reduction, uint32_t rank, uint32_t number)
{
    return oc_tag(OC_KIND_CONTRIBUTION, reduction->group->handle, rank, reduction->sequence,
                  number);
}

static void chunks_receive(oc_chunk_t *chunk, uint32_t rank)
{
    oc_server_group_t *group = chunk->reduction->group;
    oc_transfer_t *transfer = &chunk->transfers[rank].transfer;
    uint64_t tag = contribution_tag(chunk->reduction, rank, chunk->number);
    size_t most = oc_receivers_give(chunk, rank) ? chunk->length : 0;

    oc_early_receive(group, transfer, buffer_of(chunk, rank), most, tag);
}

static void receive_contributions(oc_chunk_t *chunk)
{
    oc_server_group_t *group = chunk->reduction->group;

    chunk->waiting = group->num_ranks;
    for (uint32_t rank = 0; rank < group->num_ranks; rank++) {
        oc_chunk_transfer_t *transfer = &chunk->transfers[rank];

        transfer->chunk = chunk;
        transfer->transfer.done = on_contribution;
        transfer->transfer.length = 0;
        oc_server_group_hold(group);
        chunks_receive(chunk, rank);
    }
}

/* There is room for it. */
static void admit_next(oc_reduction_t *reduction, bool lent)
{
    oc_chunk_t *chunk = chunk_new(reduction);

    if (NULL == chunk) {
        if (lent) {
            oc_reserve_return_chunk(reduction->group);
        }
        oc_server_group_failed(reduction->group, OC_ERR_NO_MEMORY,
                               "the server is out of memory");
        return;
    }
    chunk->lent = lent;
    chunks_note(chunk, OC_SERVER_ADMITTED);
    receive_contributions(chunk);
    if (reduction->admitted == reduction->header.chunks) {
        oc_reduction_close(reduction);
    }
}

/* One chunk may always be under way, or nothing would ever make room. */
static bool wants_chunk(const oc_reduction_t *reduction)
{
    const oc_server_group_t *group = reduction->group;

    return !group->failed && reduction == group->open
           && reduction->admitted - reduction->finished < group->window
           && (0 == group->flying || group->flying + oc_receivers_next_length(reduction)
                                         <= (size_t) group->window * group->chunk_bytes);
}

/* Whether there was room. */
static bool try_admit(oc_reduction_t *reduction, bool in_turn)
{
    oc_server_group_t *group = reduction->group;
    bool has_room = in_turn
                    && oc_cache_make_room(group->aggregator, reduction, block_size(group));

    if (!has_room && !oc_reserve_lend_chunk(reduction)) {
        return false;
    }
    admit_next(reduction, !has_room);
    return true;
}

void oc_chunks_admit(oc_server_group_t *group)
{
    oc_reduction_t *first;

    while (NULL != (first = group->open) && !first->waits_for_memory && wants_chunk(first)) {
        /* nobody overtakes those who wait already */
        if (!try_admit(first, oc_reduction_may_take(group->aggregator))) {
            oc_reduction_starve(first);
        }
    }
}

void oc_chunks_begin(oc_reduction_t *reduction)
{
    oc_reduction_open(reduction);
    oc_chunks_admit(reduction->group);
}

bool oc_chunks_feed(oc_reduction_t *reduction, bool in_turn)
{
    return !wants_chunk(reduction) || try_admit(reduction, in_turn);
}

void oc_chunks_cancel(oc_reduction_t *reduction)
{
    oc_chunk_t *chunk;

    DL_FOREACH (reduction->chunks, chunk) {
        for (uint32_t rank = 0; rank < reduction->group->num_ranks; rank++) {
            if (on_contribution == chunk->transfers[rank].transfer.done) {
                oc_receive_cancel(&chunk->transfers[rank].transfer);
            }
        }
        oc_receive_cancel(&chunk->down.transfer);
    }
}

size_t oc_chunks_cost(const oc_reduction_t *reduction)
{
    const oc_chunk_t *chunk;
    size_t count = 0;

    DL_COUNT(reduction->chunks, chunk, count);
    return count * block_size(reduction->group);
}

/* A group that has failed ends chunks without results. */
static bool counts_agree(const oc_reduction_t *reduction)
{
    const oc_chunk_t *chunk;
    size_t count = 0;

    DL_COUNT(reduction->chunks, chunk, count);
    return reduction->finished <= reduction->answered && reduction->answered <= reduction->admitted
           && reduction->admitted <= reduction->header.chunks
           && (reduction->group->failed || count == reduction->admitted - reduction->finished);
}

const char *oc_chunks_check(const oc_server_group_t *group)
{
    const oc_reduction_t *reduction;
    const oc_chunk_t *chunk;
    size_t flying = 0;

    DL_FOREACH2 (group->reductions, reduction, group_next) {
        if (!counts_agree(reduction)) {
            return "a collective counts other chunks than it has";
        }
        DL_FOREACH (reduction->chunks, chunk) {
            flying += chunk->counted;
        }
    }
    return flying == group->flying ? NULL : "a group counts other chunks than its collectives have";
}
