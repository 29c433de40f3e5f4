/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Which member owns which chunks. Each says which are its own, side by side, in the order of the
 * members, so that one number tells how far they are.
 *
 * Blocks end anywhere, and so do their last chunks: contributions say how long their chunk is, and
 * must agree about it; its owner knows, and does not take a result of another length.
 */
#include "server/aggregator/receivers.h"

#include "server/aggregator/server_group.h"

static bool to_owners(const oc_reduction_t *reduction)
{
    return NULL != reduction->owns;
}

static bool receivers_refuse(oc_reduction_t *reduction, uint32_t rank)
{
    char name[OC_MEMBER_NAME_SIZE];

    oc_server_group_failed(reduction->group, OC_ERR_INVALID,
                           "%s does not own the chunks of collective %llu that it says it owns",
                           oc_server_group_member_name(reduction->group, rank, name),
                           (unsigned long long) reduction->sequence);
    return false;
}

bool oc_receivers_note(oc_reduction_t *reduction, const oc_header_t *header)
{
    const oc_server_group_t *group = reduction->group;

    if (!to_owners(reduction)) {
        return true;
    }
    /* nobody else contributes where there is nobody else */
    if (1 == group->num_ranks && !group->goes_up && !header->own.gives) {
        return receivers_refuse(reduction, header->rank);
    }
    reduction->owns[header->rank] = header->own;
    if (0 == header->own.chunks) {
        reduction->owns[header->rank].first = 0;
    }
    return true;
}

static uint32_t end_of(const oc_ownership_t *own)
{
    return own->first + own->chunks;
}

/* The owner of the next chunk, if it is here, or the next owner. */
static void find_owner(oc_reduction_t *reduction)
{
    while (reduction->owner < reduction->group->num_ranks
           && reduction->admitted >= end_of(&reduction->owns[reduction->owner])) {
        reduction->owner++;
    }
}

bool oc_receivers_agree(oc_reduction_t *reduction)
{
    const oc_server_group_t *group = reduction->group;
    bool begun = !group->goes_up;
    uint32_t end = 0;

    if (!to_owners(reduction)) {
        return true;
    }
    for (uint32_t rank = 0; rank < group->num_ranks; rank++) {
        const oc_ownership_t *own = &reduction->owns[rank];

        if (0 == own->chunks) {
            continue;
        }
        if (begun && own->first != end) {
            return receivers_refuse(reduction, rank);
        }
        begun = true;
        end = end_of(own);
    }
    if (!group->goes_up && end != reduction->header.chunks) {
        return receivers_refuse(reduction, group->num_ranks - 1);
    }
    find_owner(reduction);
    return true;
}

oc_ownership_t oc_receivers_of_leaf(const oc_reduction_t *reduction)
{
    oc_ownership_t all = {.gives = reduction->group->num_ranks > 1};

    for (uint32_t rank = 0; rank < reduction->group->num_ranks; rank++) {
        const oc_ownership_t *own = &reduction->owns[rank];

        if (own->chunks > 0) {
            all.first = 0 == all.chunks ? own->first : all.first;
            all.chunks += own->chunks;
            all.gives = all.gives || own->gives;
        }
    }
    return all;
}

/* NULL: a member of another leaf owns it. */
static const oc_ownership_t *next_owner(const oc_reduction_t *reduction)
{
    const oc_ownership_t *own;

    if (reduction->owner == reduction->group->num_ranks) {
        return NULL;
    }
    own = &reduction->owns[reduction->owner];
    return reduction->admitted >= own->first ? own : NULL;
}

uint32_t oc_receivers_next_length(const oc_reduction_t *reduction)
{
    const oc_header_t *header = &reduction->header;

    return !to_owners(reduction) && reduction->admitted + 1 == header->chunks
               ? header->last_bytes
               : header->chunk_bytes;
}

void oc_receivers_assign(oc_chunk_t *chunk)
{
    oc_reduction_t *reduction = chunk->reduction;
    const oc_ownership_t *own;

    chunk->number = reduction->admitted;
    chunk->length = chunk->counted = oc_receivers_next_length(reduction);
    chunk->owner = OC_NO_OWNER;
    if (to_owners(reduction)) {
        own = next_owner(reduction);
        chunk->unknown = true;
        chunk->owner = NULL != own ? reduction->owner : OC_NO_OWNER;
        chunk->owner_gives = NULL != own && own->gives;
        /* in trees these come as floats */
        chunk->wide = NULL != own && !own->gives && !reduction->group->tree
                      && NULL != oc_widen_kernel(reduction->header.type);
    }
    reduction->admitted++;
    if (to_owners(reduction)) {
        find_owner(reduction);
    }
}

bool oc_receivers_fits(oc_chunk_t *chunk, size_t length)
{
    if (chunk->unknown && length > 0 && length <= chunk->length
        && 0 == length % chunk->reduction->element) {
        chunk->unknown = false;
        chunk->length = (uint32_t) length;
    }
    return !chunk->unknown && length == chunk->length;
}

bool oc_receivers_expect(oc_chunk_t *chunk, uint32_t rank, size_t length)
{
    return oc_receivers_give(chunk, rank) ? oc_receivers_fits(chunk, length) : 0 == length;
}

bool oc_receivers_give(const oc_chunk_t *chunk, uint32_t rank)
{
    return rank != chunk->owner || chunk->owner_gives;
}

size_t oc_receivers_get(const oc_chunk_t *chunk, uint32_t rank)
{
    if (!to_owners(chunk->reduction)) {
        return chunk->length;
    }
    if (rank != chunk->owner) {
        return 0;
    }
    return chunk->wide ? 2 * (size_t) chunk->length : chunk->length;
}
