/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What is where. A block travels as its bytes followed by their CRC32C; fragments are equal pieces
 * of that, the last may be shorter. The checksum grows with the fragments that are there without
 * a gap, while their bytes are still in the cache.
 */
#include "multicast/core/fragment.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

#include "multicast/core/cast_memory.h"
#include "multicast/core/chain.h"
#include "multicast/core/crc32c.h"
#include "multicast/core/open_blocks.h"
#include "multicast/core/reception.h"

/* How often a block is fetched whose checksum does not fit. */
#define MAX_FAILURES 3

uint32_t oc_fragment_length(const oc_cast_group_t *group, const oc_block_t *block, uint32_t index)
{
    uint64_t total = (uint64_t) block->length + OC_CAST_TRAILER;
    uint64_t at = (uint64_t) index * group->payload;

    assert(index < block->fragments && at < total);
    return total - at < group->payload ? (uint32_t) (total - at) : group->payload;
}

/* Bytes of a fragment that are data, the rest is trailer. */
static uint32_t data_length(const oc_cast_group_t *group, const oc_block_t *block, uint32_t index)
{
    uint64_t at = (uint64_t) index * group->payload;
    uint32_t length = oc_fragment_length(group, block, index);

    if (at >= block->length) {
        return 0;
    }
    return block->length - at < length ? (uint32_t) (block->length - at) : length;
}

/* Where the trailer bytes of a fragment begin within the trailer. */
static size_t trailer_at(const oc_cast_group_t *group, const oc_block_t *block, uint32_t index)
{
    uint64_t at = (uint64_t) index * group->payload;

    return at > block->length ? (size_t) (at - block->length) : 0;
}

void oc_fragment_read(const oc_cast_group_t *group, uint32_t rank, uint32_t index, uint8_t *to)
{
    const oc_block_t *block = &group->active->blocks[rank];
    uint32_t length = oc_fragment_length(group, block, index);
    uint32_t data = data_length(group, block, index);

    if (data > 0) {
        oc_memory_get(group, rank, (uint64_t) index * group->payload, data, to);
    }
    if (length > data) {
        memcpy(to + data, block->trailer + trailer_at(group, block, index), length - data);
    }
}

bool oc_fragment_here(const oc_cast_group_t *group, uint32_t rank, uint32_t index)
{
    const oc_cast_operation_t *operation = group->active;

    return rank == group->config.rank
               ? index < operation->sent
               : oc_bit(operation->present, operation->blocks[rank].first + index);
}

uint32_t oc_fragments_ready(const oc_cast_group_t *group)
{
    const size_t *ready = group->active->args.ready;
    const oc_block_t *own = &group->active->blocks[group->config.rank];

    return NULL == ready || *ready >= own->length ? own->fragments
                                                  : (uint32_t) (*ready / group->payload);
}

static void add_to_sum(const oc_cast_group_t *group, uint32_t rank, oc_block_t *block)
{
    uint32_t data = data_length(group, block, block->summed);

    assert(block->summed < block->fragments);
    if (data > 0) {
        block->crc = oc_crc32c(block->crc,
                               oc_memory_at(group, rank,
                                            (uint64_t) block->summed * group->payload, data),
                               data);
    }
    block->summed++;
}

void oc_fragment_sum_own(oc_cast_group_t *group, uint32_t index)
{
    oc_block_t *own = &group->active->blocks[group->config.rank];

    if (own->summed != index) {
        return; /* the network had no room for it before */
    }
    add_to_sum(group, group->config.rank, own);
    for (unsigned i = 0; i < OC_CAST_TRAILER; i++) {
        own->trailer[i] = (uint8_t) (own->crc >> (8 * i));
    }
}

void oc_fragment_misfit(oc_cast_group_t *group, uint32_t owner, uint32_t other, bool more)
{
    char reason[OC_CAST_REASON_SIZE];

    snprintf(reason, sizeof(reason), "rank %u sends %s than rank %u %s: their counts or types do "
             "not match", owner, more ? "more" : "less", other,
             more ? "has room for" : "is to receive");
    oc_cast_group_fail(group, more ? OC_ERR_TRUNCATED : OC_ERR_MISMATCH, reason);
}

void oc_fragment_sent(oc_cast_group_t *group, uint32_t rank, uint32_t count, uint64_t now)
{
    oc_cast_operation_t *operation = group->active;
    oc_block_t *block = &operation->blocks[rank];
    const oc_chain_t *chain = &operation->chains[block->chain];
    uint32_t high = block->high, awaited = chain->awaited;

    assert(count <= block->fragments);
    if (count > high) {
        oc_chains_sent(operation, rank, count, now);
        block->ended = now;
        operation->look_news = true;
        operation->poll_news = operation->poll_news || block->held > 0;
        if (0 == high) {
            oc_open_blocks_add(group, rank);
        }
        if (chain->awaited > awaited && chain->awaited < chain->end_rank) {
            oc_open_blocks_add(group, chain->awaited); /* now it should be sending */
        }
    }
    block->heard = now;
}

/* Everything that came with it is in doubt, and the owner is the one who knows. */
static void begin_anew(oc_cast_group_t *group, uint32_t rank, oc_block_t *block)
{
    oc_cast_operation_t *operation = group->active;
    char reason[OC_CAST_REASON_SIZE];

    group->config.counters->blocks_corrupted++;
    for (uint32_t i = 0; i < block->fragments; i++) {
        oc_bit_clear(operation->present, block->first + i);
        oc_bit_clear(operation->asked, block->first + i);
    }
    operation->received -= block->received;
    block->received = block->summed = block->crc = block->clean = 0;
    block->mark = block->fragments;
    if (++block->failures == MAX_FAILURES) {
        snprintf(reason, sizeof(reason), "the block of rank %u arrived %d times with a checksum "
                 "that does not fit", rank, MAX_FAILURES);
        oc_cast_group_fail(group, OC_ERR_INVALID, reason);
    }
}

static void complete(oc_cast_group_t *group, uint32_t rank, oc_block_t *block)
{
    uint32_t crc = 0;

    for (unsigned i = 0; i < OC_CAST_TRAILER; i++) {
        crc |= (uint32_t) block->trailer[i] << (8 * i);
    }
    if (crc != block->crc) {
        begin_anew(group, rank, block);
        return;
    }
    assert(group->active->incomplete > 0 && block->summed == block->fragments);
    block->complete = true;
    block->news = block->received;
    group->active->incomplete--;
    oc_open_blocks_remove(group, rank);
    oc_reception_complete(group, rank);
}

bool oc_fragment_place(oc_cast_group_t *group, uint32_t rank, uint32_t index, const uint8_t *from,
                       uint64_t now)
{
    oc_cast_operation_t *operation = group->active;
    oc_block_t *block = &operation->blocks[rank];
    uint32_t length = oc_fragment_length(group, block, index);
    uint32_t data = data_length(group, block, index);

    if (block->complete || oc_bit(operation->present, block->first + index)) {
        return false;
    }
    if (data > 0) {
        oc_memory_put(group, rank, (uint64_t) index * group->payload, data, from);
    }
    if (length > data) {
        memcpy(block->trailer + trailer_at(group, block, index), from + data, length - data);
    }
    assert(rank != group->config.rank && block->received < block->fragments);
    oc_bit_set(operation->present, block->first + index);
    block->received++;
    operation->received++;
    operation->look_news = true;
    oc_fragment_sent(group, rank, index + 1, now);
    while (block->summed < block->fragments
           && oc_bit(operation->present, block->first + block->summed)) {
        add_to_sum(group, rank, block);
    }
    if (block->received == block->fragments) {
        complete(group, rank, block);
    }
    return true;
}
