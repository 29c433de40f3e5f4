/* SPDX-License-Identifier: BSD-3-Clause */
/* Sums of what groups and their collectives take. Products of 32-bit limits do not overflow. */
#include "server/aggregator/budget.h"

#include "protocol/message.h"
#include "server/aggregator/aggregator_types.h"
#include "server/aggregator/pool.h"

size_t oc_budget_group(uint32_t num_ranks, bool above)
{
    return OC_GROUP_COST + (size_t) num_ranks * OC_GROUP_RANK_COST
           + (above ? oc_pool_cost(sizeof(oc_above_t)) : 0);
}

size_t oc_budget_small(uint32_t num_ranks, size_t bytes)
{
    return oc_pool_cost(OC_HEADER_SIZE + bytes) + (num_ranks - 1) * oc_pool_cost(bytes);
}

size_t oc_budget_chunk(uint32_t num_ranks, uint32_t chunk_bytes)
{
    return (size_t) num_ranks * chunk_bytes;
}

size_t oc_budget_step(uint32_t num_ranks, uint32_t chunk_bytes, uint32_t small_bytes)
{
    size_t chunk = oc_budget_chunk(num_ranks, chunk_bytes);
    size_t small = oc_budget_small(num_ranks, small_bytes);

    return small > chunk ? small : chunk;
}

size_t oc_budget_reserve(uint32_t num_ranks, uint32_t chunk_bytes, uint32_t small_bytes)
{
    return oc_budget_chunk(num_ranks, chunk_bytes) + oc_budget_small(num_ranks, small_bytes);
}
