/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Small collectives: contributions that are held until all are there, and those that are not.
 *
 * A contribution that comes before all ranks have come is kept only as long as nobody needs the
 * room: what a group waits for must not stop another group. A collective that all ranks have
 * come to gets memory for all that it lacks or for nothing, in the same queue as the chunks of
 * large ones; then its ranks are asked to send again what was dropped. From then on it
 * waits for nothing but those messages, so whoever has memory ends and gives it back.
 */
#include "server/aggregator/server_small.h"

#include <assert.h>
#include <string.h>

#include "protocol/tag.h"
#include "server/aggregator/cache.h"
#include "server/aggregator/server_codes.h"
#include "server/aggregator/server_group.h"
#include "server/aggregator/pieces.h"
#include "server/aggregator/server_reduction.h"
#include "server/aggregator/replies.h"
#include "server/aggregator/reserve.h"
#include "server/aggregator/starving.h"

void oc_server_small_result(oc_reduction_t *reduction)
{
    oc_header_t header = reduction->header;
    uint8_t *result = reduction->held[0];

    header.message = OC_MESSAGE_RESULT;
    header.rank = reduction->group->index;
    oc_server_seal_reply(reduction->group, &header, result, OC_HEADER_SIZE + header.chunk_bytes);
    oc_reduction_reply(reduction, result, OC_HEADER_SIZE + header.chunk_bytes);
}

static void server_small_finish(oc_reduction_t *reduction)
{
    oc_server_group_t *group = reduction->group;
    uint8_t *result = reduction->held[0];

    assert(0 == reduction->asked && 0 == reduction->cached && !reduction->waits_for_memory);
    for (uint32_t rank = 0; rank < group->num_ranks; rank++) {
        assert(NULL != reduction->held[rank]);
        group->sources[rank] = reduction->held[rank] + oc_piece_offset(rank);
    }
    oc_reduce(reduction->kernel, result + OC_HEADER_SIZE, group->sources, group->num_ranks,
              reduction->header.count);
    for (uint32_t rank = 1; rank < group->num_ranks; rank++) {
        oc_pieces_give(reduction, rank);
    }
    group->outlet->small(reduction);
}

/* ---- what was dropped ---- */

static size_t missing(const oc_reduction_t *reduction)
{
    size_t size = 0;

    for (uint32_t rank = 0; rank < reduction->group->num_ranks; rank++) {
        if (NULL == reduction->held[rank]) {
            size += oc_pool_cost(oc_piece_size(reduction, rank));
        }
    }
    return size;
}

static void ask_again(oc_reduction_t *reduction, uint32_t rank)
{
    oc_server_group_t *group = reduction->group;
    oc_header_t header = reduction->header;

    header.message = OC_MESSAGE_RESEND;
    header.rank = group->index;
    reduction->seen[rank] |= OC_SEEN_ASKED;
    reduction->asked++;
    group->aggregator->asked++;
    oc_aggregator_send_header(group, rank, &header, 0);
}

/* All ranks are asked, or the group fails. */
static void take_missing(oc_reduction_t *reduction)
{
    for (uint32_t rank = 0; rank < reduction->group->num_ranks; rank++) {
        if (NULL != reduction->held[rank]) {
            continue;
        }
        if (!oc_piece_take(reduction, rank)) {
            oc_server_group_failed(reduction->group, OC_ERR_NO_MEMORY,
                                   "the server is out of memory");
            return;
        }
        ask_again(reduction, rank);
    }
}

/* Whether there was room. */
static bool server_small_serve(oc_reduction_t *reduction, bool in_turn)
{
    oc_aggregator_t *aggregator = reduction->group->aggregator;
    size_t size = missing(reduction);

    assert(reduction->arrived == reduction->group->num_ranks && 0 == reduction->asked);
    if (!(in_turn && oc_cache_make_room(aggregator, reduction, size))
        && !oc_reserve_lend_small(reduction, size)) {
        return false;
    }
    oc_cache_leave(reduction);
    take_missing(reduction);
    return true;
}

void oc_server_small_admit(oc_reduction_t *reduction)
{
    if (reduction->group->failed) {
        return;
    }
    if (0 == missing(reduction)) {
        oc_cache_leave(reduction);
        server_small_finish(reduction);
    } else if (!server_small_serve(reduction,
                                   oc_reduction_may_take(reduction->group->aggregator))) {
        oc_reduction_starve(reduction);
    }
}

bool oc_server_small_feed(oc_reduction_t *reduction, bool in_turn)
{
    return reduction->group->failed || server_small_serve(reduction, in_turn);
}

/* ---- arrivals ---- */

static void server_small_keep(oc_reduction_t *reduction, const oc_request_t *request)
{
    uint32_t rank = request->header.rank;

    memcpy(reduction->held[rank] + oc_piece_offset(rank), request->bytes + OC_HEADER_SIZE,
           reduction->header.chunk_bytes);
}

/* Room that is free may be used, but only by the last rank at the cost of others. */
static bool may_keep(oc_reduction_t *reduction, size_t cost)
{
    oc_aggregator_t *aggregator = reduction->group->aggregator;

    if (!oc_reduction_may_take(aggregator)) {
        return false;
    }
    return oc_pool_has(&aggregator->pool, cost)
           || (reduction->arrived == reduction->group->num_ranks
               && oc_cache_make_room(aggregator, reduction, cost));
}

void oc_server_small_arrive(oc_reduction_t *reduction, const oc_request_t *request)
{
    uint32_t rank = request->header.rank;
    size_t cost = oc_pool_cost(oc_piece_size(reduction, rank));

    if (may_keep(reduction, cost) && oc_piece_take(reduction, rank)) {
        server_small_keep(reduction, request);
        oc_cache_add(reduction, cost);
    }
}

void oc_server_small_arrive_again(oc_reduction_t *reduction, const oc_request_t *request)
{
    assert(reduction->asked > 0 && NULL != reduction->held[request->header.rank]);
    reduction->seen[request->header.rank] &= (uint8_t) ~OC_SEEN_ASKED;
    server_small_keep(reduction, request);
    if (0 == --reduction->asked) {
        server_small_finish(reduction);
    }
}
