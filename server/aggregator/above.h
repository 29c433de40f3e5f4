/* SPDX-License-Identifier: BSD-3-Clause */
/* A leaf passes on what it has reduced, and the result back. Of the aggregator, on its thread. */
#ifndef OC_SERVER_AGGREGATOR_ABOVE_H
#define OC_SERVER_AGGREGATOR_ABOVE_H

#include "server/aggregator/aggregator_types.h"

/*
 * Opens the endpoint of the server above; on failure the control side hears of it. Until
 * oc_above_limit says less, OC_EAGER_WINDOW bytes of chunks may be on their way there unannounced.
 */
void oc_above_connect(oc_aggregator_t *aggregator, const void *address);
/* false: out of memory */
bool oc_above_new(oc_server_group_t *group, uint32_t leaf);
void oc_above_joined(oc_server_group_t *group, uint32_t handle);
/* The server above takes no more than so many bytes unasked. */
void oc_above_limit(oc_aggregator_t *aggregator, uint64_t eager_window);
/* The group is dropped. */
void oc_above_cancel(oc_server_group_t *group);
/* All members have begun a large collective. */
void oc_above_start(oc_reduction_t *reduction);
/* The chunk's first buffer is sent, and the result received there. */
void oc_above_chunk(oc_chunk_t *chunk);
/* The same with data behind a header. */
void oc_above_small(oc_reduction_t *reduction);
/* All members have the results: ACK, then COMMIT. */
void oc_above_acknowledge(oc_reduction_t *reduction);
void oc_above_cancel_reduction(oc_reduction_t *reduction);

#endif
