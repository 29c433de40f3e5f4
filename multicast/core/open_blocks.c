/* SPDX-License-Identifier: BSD-3-Clause */
/* A bit for each block, in the order in which they are looked at. */
#include "multicast/core/open_blocks.h"

#include <assert.h>
#include <stdlib.h>

#include "multicast/core/partners.h"

oc_status_t oc_open_blocks_begin(const oc_cast_group_t *group, oc_cast_operation_t *operation)
{
    assert(operation == group->active && NULL == operation->open);
    operation->open = calloc(group->config.num_ranks / 64 + 1u, sizeof(uint64_t));
    if (NULL == operation->open) {
        return OC_ERR_NO_MEMORY;
    }
    for (uint32_t rank = 0; rank < group->config.num_ranks; rank++) {
        oc_open_blocks_add(group, rank);
    }
    return OC_OK;
}

void oc_open_blocks_add(const oc_cast_group_t *group, uint32_t owner)
{
    if (!group->active->blocks[owner].complete) {
        oc_bit_set(group->active->open, oc_partners_number(group, owner));
    }
}

void oc_open_blocks_remove(const oc_cast_group_t *group, uint32_t owner)
{
    oc_bit_clear(group->active->open, oc_partners_number(group, owner));
}

uint32_t oc_open_blocks_next(const oc_cast_group_t *group, uint32_t number)
{
    const uint64_t *open = group->active->open;
    uint32_t ranks = group->config.num_ranks;

    for (uint32_t at = number; at < ranks; at = (at / 64 + 1) * 64) {
        uint64_t left = open[at / 64] >> (at % 64);

        if (0 != left) {
            return at + (uint32_t) __builtin_ctzll(left);
        }
    }
    return ranks;
}
