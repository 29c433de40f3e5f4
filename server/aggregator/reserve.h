/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Memory that is kept back, so that there is always one that can go on. Of the aggregator, on
 * its thread.
 */
#ifndef OC_SERVER_AGGREGATOR_RESERVE_H
#define OC_SERVER_AGGREGATOR_RESERVE_H

#include "server/aggregator/aggregator_types.h"

/*
 * For a new group. In a tree, and for all groups of a leaf: if there is no room for it, it is owed.
 */
void oc_reserve_take(oc_server_group_t *group);
void oc_reserve_give(oc_server_group_t *group);
/* Memory came back: who is owed something gets it first, and then the reserve that is shared. */
void oc_reserves_pay(oc_aggregator_t *aggregator);
/* Whether what comes back is for reserves. */
bool oc_reserves_lack(const oc_aggregator_t *aggregator);
/* Whether one could be lent to who waits, if what he waits for has arrived. */
bool oc_reserve_is_free(const oc_aggregator_t *aggregator);
/* Makes room for a chunk of this collective; false: the reserve is not for it, or not free. */
bool oc_reserve_lend_chunk(oc_reduction_t *reduction);
void oc_reserve_return_chunk(oc_server_group_t *group);
/* Makes room for so much of a small collective. */
bool oc_reserve_lend_small(oc_reduction_t *reduction, size_t size);
/* Walks all groups: what is wrong, or NULL; see base/check.h. */
const char *oc_reserve_check(const oc_aggregator_t *aggregator);
/* What the pool counts as used for groups and reserves, beside chunks and pieces. */
size_t oc_reserve_counted(const oc_aggregator_t *aggregator);
/* A piece that counted so much is back in the pool. */
void oc_reserve_return_piece(oc_reduction_t *reduction, size_t cost);

#endif
