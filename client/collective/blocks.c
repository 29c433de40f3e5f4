/* SPDX-License-Identifier: BSD-3-Clause */
/* Who owns what of a result, how the vector is cut by that, and the owner's own part. */
#include "client/collective/blocks.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "client/collective/vector.h"
#include "client/plan/owner_shares.h"
#include "reduction/reduction.h"

bool oc_blocks_copy(oc_allreduce_t *allreduce)
{
    const oc_allreduce_args_t *args = &allreduce->args;
    size_t size = allreduce->base.group->params.num_ranks * sizeof(*args->counts);

    if (OC_RESULT_TO_BLOCKS != args->to || NULL == args->counts) {
        return true;
    }
    allreduce->blocks.counts = malloc(size);
    if (NULL != allreduce->blocks.counts) {
        memcpy(allreduce->blocks.counts, args->counts, size);
    }
    return NULL != allreduce->blocks.counts;
}

/* Elements of a rank's block. */
static size_t elements_of(const oc_allreduce_t *allreduce, uint32_t rank)
{
    const oc_allreduce_args_t *args = &allreduce->args;

    if (OC_RESULT_TO_ROOT == args->to) {
        return rank == args->root ? args->count : 0;
    }
    return NULL != allreduce->blocks.counts ? allreduce->blocks.counts[rank]
                                            : args->count / allreduce->base.group->params.num_ranks;
}

static uint32_t member_of(const oc_group_t *group, uint32_t rank)
{
    return NULL != group->node ? group->node->hosts[rank] : rank;
}

static uint32_t num_members(const oc_group_t *group)
{
    return NULL != group->node ? group->node->num_hosts : group->params.num_ranks;
}

/* Ranks that are alone have nobody who would give anything. */
static bool owner_gives(const oc_allreduce_t *allreduce)
{
    const oc_group_t *group = allreduce->base.group;

    return OC_RESULT_TO_ROOT == allreduce->args.to || 1 == num_members(group)
           || OC_REPRODUCIBLE_RANK_ORDER == group->client->config.settings->reproducible;
}

void oc_blocks_begin(oc_allreduce_t *allreduce)
{
    oc_blocks_t *blocks = &allreduce->blocks;
    uint32_t self = allreduce->base.group->params.rank;

    blocks->own_count = allreduce->args.count;
    if (!oc_allreduce_has_owners(allreduce)) {
        return;
    }
    blocks->owner_gives = owner_gives(allreduce);
    blocks->member = member_of(allreduce->base.group, self);
    blocks->own_count = elements_of(allreduce, self);
    for (uint32_t rank = 0; rank < self; rank++) {
        blocks->own_first += elements_of(allreduce, rank);
    }
    blocks->recv_first = blocks->own_first;
}

bool oc_blocks_overlap(const oc_allreduce_t *allreduce)
{
    return OC_RESULT_TO_BLOCKS == allreduce->args.to
           && allreduce->args.send == allreduce->args.recv;
}

oc_status_t oc_blocks_keep_apart(oc_allreduce_t *allreduce)
{
    oc_blocks_t *blocks = &allreduce->blocks;

    blocks->kept_bytes = blocks->own_count * oc_type_size(allreduce->args.type);
    if (0 == blocks->kept_bytes) {
        return OC_OK;
    }
    blocks->kept = oc_stock_take(&allreduce->base.group->client->stock, blocks->kept_bytes);
    allreduce->recv = blocks->kept;
    return NULL != blocks->kept ? OC_OK : OC_ERR_NO_MEMORY;
}

void oc_blocks_hand_out(oc_allreduce_t *allreduce)
{
    const oc_blocks_t *blocks = &allreduce->blocks;

    if (NULL != blocks->kept) {
        memcpy(allreduce->args.recv, blocks->kept, blocks->kept_bytes);
        oc_count_copied(allreduce->base.group->client, blocks->kept_bytes);
    }
}

void oc_blocks_free(oc_client_t *client, oc_allreduce_t *allreduce)
{
    oc_blocks_t *blocks = &allreduce->blocks;

    if (!oc_allreduce_has_owners(allreduce)) {
        return; /* small ones have no time even for calls that free nothing */
    }
    free(blocks->counts);
    oc_block_map_free(&blocks->map);
    oc_stock_give(&client->stock, blocks->kept, blocks->kept_bytes);
    blocks->counts = NULL;
    blocks->kept = NULL;
}

/* ---- how the vector is cut ---- */

static int by_member(const void *a, const void *b)
{
    const oc_owner_block_t *x = a, *y = b;

    return x->member != y->member ? (x->member > y->member) - (x->member < y->member)
                                  : (x->rank > y->rank) - (x->rank < y->rank);
}

/* Of those that own anything, in the order of members. NULL: out of memory. */
static oc_owner_block_t *make_blocks(const oc_allreduce_t *allreduce, uint32_t *num_blocks)
{
    const oc_group_t *group = allreduce->base.group;
    oc_owner_block_t *blocks = malloc(group->params.num_ranks * sizeof(*blocks));
    size_t offset = 0;

    *num_blocks = 0;
    for (uint32_t rank = 0; NULL != blocks && rank < group->params.num_ranks; rank++) {
        size_t bytes = elements_of(allreduce, rank) * allreduce->element;

        if (bytes > 0) {
            blocks[(*num_blocks)++] = (oc_owner_block_t) {
                .rank = rank, .member = member_of(group, rank), .offset = offset, .bytes = bytes};
        }
        offset += bytes;
    }
    assert(NULL == blocks || (offset == allreduce->bytes && *num_blocks > 0));
    if (NULL != blocks && NULL != group->node) {
        qsort(blocks, *num_blocks, sizeof(*blocks), by_member);
    }
    return blocks;
}

/* What each lane is to get. NULL: out of memory. */
static uint64_t *make_shares(const oc_allreduce_t *allreduce)
{
    const oc_group_t *group = allreduce->base.group;
    const oc_group_servers_t *servers = group->servers;
    uint64_t *shares = calloc(servers->num_lanes, sizeof(*shares));
    uint64_t *owned = calloc(num_members(group), sizeof(*owned));
    uint32_t for_servers = OC_RESULT_TO_BLOCKS == allreduce->args.to
                               ? servers->for_servers_scattered : servers->for_servers;
    oc_status_t status = OC_ERR_NO_MEMORY;

    if (NULL != shares && NULL != owned) {
        for (uint32_t rank = 0; rank < group->params.num_ranks; rank++) {
            owned[member_of(group, rank)] += elements_of(allreduce, rank) * allreduce->element;
        }
        status = oc_owner_shares(owned, num_members(group), servers->owner_lanes,
                                 servers->num_lanes, for_servers, shares);
    }
    free(owned);
    if (OC_OK != status) {
        free(shares);
        return NULL;
    }
    return shares;
}

unsigned oc_blocks_lanes(const oc_allreduce_t *allreduce)
{
    const oc_group_t *group = allreduce->base.group;
    /* of a Reduce nearly all of the root's link is for results: it aggregates nothing */
    bool root_does_not = OC_RESULT_TO_ROOT == allreduce->args.to && group->servers->num_peers > 2;

    return group->servers->num_lanes - (root_does_not ? 1 : 0);
}

oc_status_t oc_blocks_cut(oc_allreduce_t *allreduce, uint32_t chunk_bytes)
{
    const oc_group_t *group = allreduce->base.group;
    uint64_t *shares = make_shares(allreduce);
    oc_block_plan_t plan = {.chunk_bytes = chunk_bytes, .shares = shares, .num_lanes = group->servers->num_lanes,
                            .stepped = NULL != group->node,
                            .listed = allreduce->cut.listed, .num_listed = allreduce->cut.num_listed};
    oc_status_t status = OC_ERR_NO_MEMORY;

    oc_block_map_free(&allreduce->blocks.map);
    if (NULL != shares) {
        plan.blocks = make_blocks(allreduce, &plan.num_blocks);
    }
    if (NULL != plan.blocks) {
        status = oc_block_map_make(&allreduce->blocks.map, &plan);
    }
    free(shares);
    return status;
}

/* ---- chunks ---- */

static bool is_own(const oc_allreduce_t *allreduce, const oc_client_chunk_t *chunk)
{
    return NULL != chunk->block && chunk->block->member == allreduce->blocks.member;
}

bool oc_blocks_lack_own(const oc_allreduce_t *allreduce, const oc_client_chunk_t *chunk)
{
    return is_own(allreduce, chunk) && !allreduce->blocks.owner_gives;
}

size_t oc_blocks_given(const oc_allreduce_t *allreduce, const oc_client_chunk_t *chunk)
{
    return oc_blocks_lack_own(allreduce, chunk) ? 0 : chunk->length;
}

static bool comes_wide(const oc_allreduce_t *allreduce)
{
    return !allreduce->blocks.owner_gives && NULL != oc_widen_kernel(allreduce->type);
}

size_t oc_blocks_gotten(const oc_allreduce_t *allreduce, const oc_client_chunk_t *chunk)
{
    if (NULL == chunk->block) {
        return chunk->length;
    }
    if (!is_own(allreduce, chunk)) {
        return 0;
    }
    return comes_wide(allreduce) ? 2 * (size_t) chunk->length : chunk->length;
}

bool oc_blocks_gets(const oc_allreduce_t *allreduce, uint32_t chunk)
{
    return !oc_allreduce_has_owners(allreduce)
           || oc_blocks_is_mine(allreduce, oc_block_map_owner(&allreduce->blocks.map, chunk));
}

bool oc_blocks_is_mine(const oc_allreduce_t *allreduce, const oc_owner_block_t *block)
{
    return NULL == block || block->rank == allreduce->base.group->params.rank;
}

void oc_blocks_add_own(const oc_allreduce_t *allreduce, void *to, void *partial, const void *own,
                       size_t length)
{
    size_t count = length / allreduce->element;
    const void *const both[] = {partial, own};

    if (comes_wide(allreduce)) {
        oc_reduce_narrow(allreduce->args.op, allreduce->type, to, partial, own, count);
    } else {
        oc_reduce(oc_reduce_kernel(allreduce->args.op, allreduce->type), to, both, 2, count);
    }
}
