/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Messages that no receive has taken although one was posted for each: others were taken in
 * their place. Of the aggregator, on its thread.
 */
#ifndef OC_SERVER_AGGREGATOR_SERVER_LEFTOVERS_H
#define OC_SERVER_AGGREGATOR_SERVER_LEFTOVERS_H

#include "server/aggregator/aggregator_types.h"

/*
 * The rank has sent all its contributions: whether all of them were taken; false: the group fails.
 */
bool oc_server_leftovers_none_of(oc_reduction_t *reduction, uint32_t rank);
/* On a leaf: the same for the results that the server above has sent. */
bool oc_server_leftovers_none_above(oc_reduction_t *reduction);
/* What does not go on may wait for such a message: to be called now and then, after progress. */
void oc_server_leftovers_sweep(oc_aggregator_t *aggregator);

#endif
