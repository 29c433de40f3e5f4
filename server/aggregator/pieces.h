/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Frees contributions to small collectives, to the pool or to the reserve from which they came. On
 * the thread of the aggregator.
 */
#ifndef OC_SERVER_AGGREGATOR_PIECES_H
#define OC_SERVER_AGGREGATOR_PIECES_H

#include "server/aggregator/aggregator_types.h"

/* Frees the piece of a rank, if there is one. */
void oc_pieces_give(oc_reduction_t *reduction, uint32_t rank);
/* Frees all pieces and reserves of a collective, small or large, at its end. */
void oc_pieces_free(oc_reduction_t *reduction);

#endif
