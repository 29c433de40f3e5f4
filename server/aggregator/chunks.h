/* SPDX-License-Identifier: BSD-3-Clause */
/* The chunks of a large collective. Of the aggregator, on its thread. */
#ifndef OC_SERVER_AGGREGATOR_CHUNKS_H
#define OC_SERVER_AGGREGATOR_CHUNKS_H

#include "server/aggregator/aggregator_types.h"

/* All ranks have come. */
void oc_chunks_begin(oc_reduction_t *reduction);
/* As many as the window allows and there is memory for; the rest waits. */
void oc_chunks_admit(oc_server_group_t *group);
/*
 * One chunk of a collective that waits for memory, if it is its turn, or else by the group's
 * reserve: false if there is no room.
 */
bool oc_chunks_feed(oc_reduction_t *reduction, bool in_turn);
/* Takes back the receives of a collective; what cannot be taken back ends by itself. */
void oc_chunks_cancel(oc_reduction_t *reduction);
/* Walks the chunks of a group: what is wrong, or NULL; see base/check.h. */
const char *oc_chunks_check(const oc_server_group_t *group);
/* What the chunks of a collective count in the pool. */
size_t oc_chunks_cost(const oc_reduction_t *reduction);
/* The result of all is there: it goes to the members. */
void oc_chunk_result(oc_chunk_t *chunk);
/* Frees it, with its buffers: no transfer may point to it any more. */
void oc_chunk_drop(oc_chunk_t *chunk);

#endif
