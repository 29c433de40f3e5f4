/* SPDX-License-Identifier: BSD-3-Clause */
/* Decides which rank sends when, and how much. Part of the protocol: one thread at a time. */
#ifndef OC_MULTICAST_CORE_CHAIN_H
#define OC_MULTICAST_CORE_CHAIN_H

#include "multicast/core/cast_types.h"

oc_status_t oc_chains_make(oc_cast_group_t *group, oc_cast_operation_t *operation);
/* Whether who sends has to be told how far the others are (credit.h). */
bool oc_chains_need_credit(const oc_cast_group_t *group);
/* So many fragments of a rank's block are known to have been sent, which is news. */
void oc_chains_sent(oc_cast_operation_t *operation, uint32_t rank, uint32_t count, uint64_t now);
/* A fragment of a rank's block has come by multicast, as first sent. */
void oc_chains_came(oc_cast_operation_t *operation, uint32_t rank, uint64_t now);
/*
 * ns between two fragments of a rank's chain, by what multicast has brought (pace.h): of it, or of all, as all end
 * together.
 */
uint64_t oc_chains_pace(const oc_cast_operation_t *operation, uint32_t rank);
/* Own fragments that may have been sent by now. */
uint32_t oc_chains_limit(oc_cast_group_t *group, uint64_t now);
/* Whether no more is left to send than a chain may be ahead: the next rank may begin. */
bool oc_chains_nears_end(const oc_cast_group_t *group);
/* The rank whose turn is after that of this rank in its chain; num_ranks: none. */
uint32_t oc_chains_next(const oc_cast_group_t *group);
/* Whether this rank sends without waiting for a turn. */
bool oc_chains_heads(const oc_cast_operation_t *operation, uint32_t rank);
/* Whether a block's owner should be sending now. */
bool oc_chains_expects(const oc_cast_operation_t *operation, uint32_t rank);
/*
 * When there was news of its block last; if nothing of it has come, when the one before had ended.
 */
uint64_t oc_chains_heard(const oc_cast_operation_t *operation, uint32_t rank);

#endif
