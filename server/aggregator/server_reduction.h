/* SPDX-License-Identifier: BSD-3-Clause */
/* Collectives on an aggregator. Of the aggregator, on its thread. */
#ifndef OC_SERVER_AGGREGATOR_SERVER_REDUCTION_H
#define OC_SERVER_AGGREGATOR_SERVER_REDUCTION_H

#include "server/aggregator/aggregator_types.h"

/* NULL: there is none with this number. */
oc_reduction_t *oc_reduction_find(const oc_server_group_t *group, uint64_t sequence);
/* … it is made; NULL: what the header says cannot be, or no memory, and the group has failed. */
oc_reduction_t *oc_reduction_find_or_make(oc_server_group_t *group, const oc_header_t *header);
/* A large one has chunks to be admitted, or no longer. */
void oc_reduction_open(oc_reduction_t *reduction);
void oc_reduction_close(oc_reduction_t *reduction);
/* The same bytes to all ranks; they stay until the last one has them. */
void oc_reduction_reply(oc_reduction_t *reduction, const void *data, size_t length);
/* The results of all chunks are on their way to all ranks. */
void oc_reduction_sent(oc_reduction_t *reduction);
/* All ranks have acknowledged their results, everywhere. */
void oc_reduction_commit(oc_reduction_t *reduction);
/* Ends it, whatever it waits for. No transfer may point to it. */
void oc_reduction_free(oc_reduction_t *reduction);
/* Walks those of a group: what is wrong, or NULL; see base/check.h. */
const char *oc_reductions_check(const oc_server_group_t *group);
/* All of the group. */
void oc_reductions_free(oc_server_group_t *group);
/* If nothing is left to be sent or received, its memory goes. */
void oc_reduction_settle(oc_reduction_t *reduction);

#endif
