/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * How much memory groups need on an aggregator, in bytes. By these numbers the registry refuses
 * groups that the aggregators could not serve. Pure functions, any thread.
 */
#ifndef OC_SERVER_AGGREGATOR_BUDGET_H
#define OC_SERVER_AGGREGATOR_BUDGET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* At most so much: one half for what an aggregator knows of a group, one for the control side. */
#define OC_GROUP_COST      512u
#define OC_GROUP_RANK_COST 64u

/*
 * Bytes that count as long as the group exists. above: on a leaf, for a group that continues on
 * the parent, for which the aggregator keeps more (oc_above_t).
 */
size_t oc_budget_group(uint32_t num_ranks, bool above);

/* All contributions to a small collective; the result replaces one of them, behind a header. */
size_t oc_budget_small(uint32_t num_ranks, size_t bytes);

/* The contributions of all ranks to one chunk. */
size_t oc_budget_chunk(uint32_t num_ranks, uint32_t chunk_bytes);

/*
 * The largest amount that a single step of the group needs. An aggregator that has this much,
 * beside what counts anyway, can do one step after the other, and so eventually serves every
 * group.
 */
size_t oc_budget_step(uint32_t num_ranks, uint32_t chunk_bytes, uint32_t small_bytes);

/* The reserve of a group that has its own: one chunk, and one small collective. */
size_t oc_budget_reserve(uint32_t num_ranks, uint32_t chunk_bytes, uint32_t small_bytes);

#endif
