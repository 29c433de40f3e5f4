/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The fragments of a block: which have arrived, and their contents. Part of the protocol: one
 * thread at a time.
 */
#ifndef OC_MULTICAST_CORE_FRAGMENT_H
#define OC_MULTICAST_CORE_FRAGMENT_H

#include "multicast/core/cast_types.h"

/* Bytes of a fragment, the trailer included. */
uint32_t oc_fragment_length(const oc_cast_group_t *group, const oc_block_t *block,
                            uint32_t index);
/* Copies a fragment out of the block; the fragment must be here. */
void oc_fragment_read(const oc_cast_group_t *group, uint32_t rank, uint32_t index, uint8_t *to);
/* Copies a fragment into the block. false: it was there already. */
bool oc_fragment_place(oc_cast_group_t *group, uint32_t rank, uint32_t index, const uint8_t *from,
                       uint64_t now);
/* So many fragments of a block are known to have been sent. */
void oc_fragment_sent(oc_cast_group_t *group, uint32_t rank, uint32_t count, uint64_t now);
/* Own fragments that can be sent, from the first on: their bytes are there. */
uint32_t oc_fragments_ready(const oc_cast_group_t *group);
/* Whether a fragment can be given to others. */
bool oc_fragment_here(const oc_cast_group_t *group, uint32_t rank, uint32_t index);
/* Adds the next own fragment to the block's checksum. */
void oc_fragment_sum_own(oc_cast_group_t *group, uint32_t index);
/*
 * The owner of a block and another rank, one of which is this one, have different lengths for it,
 * as a program that is wrong gives them: the group fails. more: the owner's is larger.
 */
void oc_fragment_misfit(oc_cast_group_t *group, uint32_t owner, uint32_t other, bool more);

#endif
