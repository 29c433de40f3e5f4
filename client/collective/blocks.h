/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Reductions whose result goes to some ranks only: who owns what of it. Under the lock of the client.
 *
 * Each rank owns a block of the vector, or one of them, the root, owns all of it. In the node shape
 * it is a rank's host that servers know as the owner.
 */
#ifndef OC_CLIENT_COLLECTIVE_BLOCKS_H
#define OC_CLIENT_COLLECTIVE_BLOCKS_H

#include "client/collective/large.h"

/* Keeps what args say of blocks, which are the caller's. false: out of memory. */
bool oc_blocks_copy(oc_allreduce_t *allreduce);
/* Its turn has come: what this rank gets, and where that lies, in the caller's terms. */
void oc_blocks_begin(oc_allreduce_t *allreduce);
/*
 * Whether the result goes to where there may be something that has not been sent yet: in place, the
 * block of a rank goes to where the vector begins.
 */
bool oc_blocks_overlap(const oc_allreduce_t *allreduce);
/* Until oc_blocks_hand_out it goes somewhere else. OC_ERR_NO_MEMORY or OC_OK. */
oc_status_t oc_blocks_keep_apart(oc_allreduce_t *allreduce);
void oc_blocks_hand_out(oc_allreduce_t *allreduce);
/* Frees what the functions above have made. */
void oc_blocks_free(oc_client_t *client, oc_allreduce_t *allreduce);

/* Cuts the vector into chunks of so many bytes as it travels, of which its cut may list some. As oc_block_map_make. */
oc_status_t oc_blocks_cut(oc_allreduce_t *allreduce, uint32_t chunk_bytes);
/* The aggregators that get something; at least 1. The same on all ranks. */
unsigned oc_blocks_lanes(const oc_allreduce_t *allreduce);

/* What this rank, or its host, sends of a chunk and gets of it, in bytes as they travel. */
size_t oc_blocks_given(const oc_allreduce_t *allreduce, const oc_client_chunk_t *chunk);
size_t oc_blocks_gotten(const oc_allreduce_t *allreduce, const oc_client_chunk_t *chunk);
/* Whether the result lacks what its owner gives, which is added by oc_blocks_add_own. */
bool oc_blocks_lack_own(const oc_allreduce_t *allreduce, const oc_client_chunk_t *chunk);
/* Whether the result of a chunk, by its number in the whole vector, comes to this rank. */
bool oc_blocks_gets(const oc_allreduce_t *allreduce, uint32_t chunk);
/* Whether a block, or NULL for all of the vector, is of this very rank. */
bool oc_blocks_is_mine(const oc_allreduce_t *allreduce, const oc_owner_block_t *block);
/*
 * The last step of the fold: to = partial OP own, length bytes as contributions travel. partial is
 * changed. to may be own or partial, if that is not of floats for 16-bit floats.
 */
void oc_blocks_add_own(const oc_allreduce_t *allreduce, void *to, void *partial, const void *own,
                       size_t length);

#endif
