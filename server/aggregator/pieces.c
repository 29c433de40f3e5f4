/* SPDX-License-Identifier: BSD-3-Clause */
/* Contributions to small collectives that may be of a reserve. */
#include "server/aggregator/pieces.h"

#include "server/aggregator/cache.h"
#include "server/aggregator/reserve.h"

void oc_pieces_give(oc_reduction_t *reduction, uint32_t rank)
{
    if (NULL != reduction->held[rank]) {
        oc_piece_give(reduction, rank);
        oc_reserve_return_piece(reduction, oc_pool_cost(oc_piece_size(reduction, rank)));
    }
}

void oc_pieces_free(oc_reduction_t *reduction)
{
    if (NULL == reduction->held) {
        return;
    }
    oc_cache_leave(reduction);
    for (uint32_t rank = 0; rank < reduction->group->num_ranks; rank++) {
        oc_pieces_give(reduction, rank);
    }
    /* if not all that was lent has been taken */
    oc_reserve_return_piece(reduction, reduction->lent);
}
