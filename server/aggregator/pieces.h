/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Contributions to small collectives that may be of a reserve. Of the aggregator, on its thread.
 */
#ifndef OC_SERVER_AGGREGATOR_PIECES_H
#define OC_SERVER_AGGREGATOR_PIECES_H

#include "server/aggregator/aggregator_types.h"

/* The piece of a rank, if there is one, goes back to the pool or to the reserve. */
void oc_pieces_give(oc_reduction_t *reduction, uint32_t rank);
/* The end of a collective, small or not: all that it has of both. */
void oc_pieces_free(oc_reduction_t *reduction);

#endif
