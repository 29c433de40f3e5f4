/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Who gets the results of a large collective, and who contributes to which of its chunks: all
 * members, or, if it goes to owners (OC_TO_OWNERS), each member those of its own chunks. What a
 * member does not give or get is a message without bytes: so each chunk has one contribution and
 * one result of each member, and a result, however short, says that the contribution has arrived.
 * Of the aggregator, on its thread.
 */
#ifndef OC_SERVER_AGGREGATOR_RECEIVERS_H
#define OC_SERVER_AGGREGATOR_RECEIVERS_H

#include "server/aggregator/aggregator_types.h"

/* What a member owns, as its START says. false: that cannot be, and the group has failed. */
bool oc_receivers_note(oc_reduction_t *reduction, const oc_header_t *header);
/*
 * All members have come: whether what they own fits together, each chunk one owner. false: the
 * group has failed.
 */
bool oc_receivers_agree(oc_reduction_t *reduction);
/* On a leaf: what its members own together, which is what the leaf owns on its parent. */
oc_ownership_t oc_receivers_of_leaf(const oc_reduction_t *reduction);
/* Bytes of the next chunk to be admitted; to owners, the most that they may be. */
uint32_t oc_receivers_next_length(const oc_reduction_t *reduction);
/* The next chunk: sets its owner and length, and goes on to the one after it. */
void oc_receivers_assign(oc_chunk_t *chunk);
/*
 * A contribution of so many bytes is here: whether they are as many as they have to be. To owners,
 * the first one that has any says how long the chunk is.
 */
bool oc_receivers_expect(oc_chunk_t *chunk, uint32_t rank, size_t length);
/* The same for a chunk's data, whoever sent them. */
bool oc_receivers_fits(oc_chunk_t *chunk, size_t length);
/* Whether a member contributes to the chunk. */
bool oc_receivers_give(const oc_chunk_t *chunk, uint32_t rank);
/* Bytes of the result that a member gets. */
size_t oc_receivers_get(const oc_chunk_t *chunk, uint32_t rank);

#endif
