/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Messages that no receive has taken although one was posted for each: others were taken in
 * their place. Of the aggregator, on its thread.
 */
#ifndef OC_SERVER_AGGREGATOR_SERVER_LEFTOVERS_H
#define OC_SERVER_AGGREGATOR_SERVER_LEFTOVERS_H

#include "server/aggregator/aggregator_types.h"

/*
 * To be called when the rank has sent all its contributions. Whether the receives have taken all
 * of them; false: the group fails.
 */
bool oc_server_leftovers_none_of(oc_reduction_t *reduction, uint32_t rank);
/* The same on a leaf, for the results that the parent has sent. */
bool oc_server_leftovers_none_above(oc_reduction_t *reduction);
/*
 * Looks for such messages in collectives that make no progress. To be called now and then, after
 * progress.
 */
void oc_server_leftovers_sweep(oc_aggregator_t *aggregator);

#endif
