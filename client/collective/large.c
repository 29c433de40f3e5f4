/* SPDX-License-Identifier: BSD-3-Clause */
/* How a large vector is cut, and START, SENT, ACK and COMMIT on every lane. */
#include "client/collective/large.h"

#include <assert.h>
#include <stdlib.h>

#include "client/collective/blocks.h"
#include "client/collective/collective.h"
#include "client/collective/leftovers.h"
#include "client/collective/reply.h"
#include "client/collective/slot.h"
#include "client/collective/vector.h"
#include "client/state/codes.h"
#include "client/state/loss.h"
#include "protocol/tag.h"

/* What this rank, or its host, owns of the part. */
static oc_ownership_t ownership_of(const oc_part_t *part)
{
    const oc_allreduce_t *allreduce = part->allreduce;
    oc_owned_t owned = oc_chunk_map_owned(&oc_large_of(allreduce)->map, &part->share,
                                          allreduce->blocks.member);

    return (oc_ownership_t) {.first = owned.first, .chunks = owned.count,
                             .gives = allreduce->blocks.owner_gives,
                             .cut = allreduce->blocks.map.digest};
}

static void send_header(oc_part_t *part, oc_part_transfer_t *transfer, uint8_t *bytes,
                        uint8_t message)
{
    oc_allreduce_t *allreduce = part->allreduce;
    const oc_group_t *group = allreduce->base.group;
    oc_header_t header = {
        .message = message, .op = (uint8_t) allreduce->args.op,
        .type = (uint8_t) allreduce->type, .handle = part->lane->handle,
        .rank = group->servers->teams.rank,
        .chunk_bytes = oc_large_of(allreduce)->map.chunk_bytes,
        .last_bytes = part->last_bytes, .chunks = part->share.count,
        .sequence = allreduce->sequence, .count = allreduce->args.count};

    if (oc_allreduce_has_owners(allreduce)) {
        header.to = OC_TO_OWNERS;
        header.last_bytes = 0;
        header.own = ownership_of(part);
    }
    oc_request_seal(group, part->lane, &header, bytes, OC_HEADER_SIZE);
    allreduce->waiting++;
    group->client->config.counters->messages_sent++;
    oc_send(part->lane->route->endpoint, &transfer->transfer, bytes, OC_HEADER_SIZE,
            oc_tag(OC_KIND_REQUEST, part->lane->handle, group->servers->teams.rank,
                   allreduce->sequence, 0));
}

/*
 * Done when every lane has committed, in the node shape those of all ranks of the host, and UCX has
 * let go of everything.
 */
static void large_finish_if_done(oc_allreduce_t *allreduce)
{
    if (0 == allreduce->waiting && 0 == allreduce->uncommitted) {
        oc_collective_finish(&allreduce->base, allreduce->base.status);
    }
}

static void large_on_header_sent(oc_transfer_t *transfer)
{
    oc_part_t *part = ((oc_part_transfer_t *) transfer)->part;

    if (oc_allreduce_called_back(part->allreduce, transfer, part->lane)) {
        large_finish_if_done(part->allreduce);
    }
}

/* A reply with header in bytes; what is not genuine is waited for again. */
static void large_receive_reply(oc_part_t *part, oc_part_transfer_t *transfer, uint8_t *bytes,
                                uint64_t slot)
{
    oc_allreduce_t *allreduce = part->allreduce;
    const oc_group_t *group = allreduce->base.group;

    allreduce->waiting++;
    oc_receive(group->client->worker, &transfer->transfer, bytes, OC_HEADER_SIZE,
               oc_tag(OC_KIND_REPLY, group->servers->reply_handle, part->lane->index,
                      allreduce->sequence, slot), OC_TAG_EXACT);
}

static void large_on_commit(oc_transfer_t *transfer)
{
    oc_part_t *part = ((oc_part_transfer_t *) transfer)->part;
    oc_allreduce_t *allreduce = part->allreduce;
    const oc_large_t *large = oc_large_of(allreduce);

    if (oc_reply_is_forged(&allreduce->base, part->lane, transfer, part->commit_bytes)) {
        allreduce->waiting--;
        large_receive_reply(part, &part->commit, part->commit_bytes, OC_COMMIT_SLOT);
        return;
    }
    if (!oc_allreduce_called_back(allreduce, transfer, part->lane)) {
        return;
    }
    if (oc_allreduce_check_reply(allreduce, part->lane, part->commit_bytes, transfer->length,
                                 OC_MESSAGE_COMMIT)) {
        assert(allreduce->uncommitted > 0);
        if (0 == --allreduce->uncommitted && NULL != large->committed) {
            large->committed(allreduce);
        }
    }
    large_finish_if_done(allreduce);
}

/* Their receives were posted before the contributions were sent. */
static bool has_leftover(const oc_part_t *part)
{
    uint32_t slots = part->sent < OC_TAG_SLOTS ? part->sent : OC_TAG_SLOTS;

    for (uint32_t slot = 0; slot < slots; slot++) {
        if (oc_leftover_is_here(part->allreduce, part->lane, OC_KIND_RESULT, slot)) {
            return true;
        }
    }
    return false;
}

/* Whether all results were the aggregator's; false: all service is given up. */
static bool is_clean(const oc_part_t *part)
{
    oc_allreduce_t *allreduce = part->allreduce;

    if (!has_leftover(part)) {
        return true;
    }
    allreduce->base.status = OC_ERR_INVALID;
    oc_leftover_tell(allreduce, part->lane);
    return false;
}

/* What the aggregator has sent is here. Others may end when this rank says that it has that. */
static void large_on_sent(oc_transfer_t *transfer)
{
    oc_part_t *part = ((oc_part_transfer_t *) transfer)->part;
    oc_allreduce_t *allreduce = part->allreduce;

    if (oc_reply_is_forged(&allreduce->base, part->lane, transfer, part->sent_bytes)) {
        allreduce->waiting--;
        large_receive_reply(part, &part->news, part->sent_bytes, OC_SENT_SLOT);
        return;
    }
    if (!oc_allreduce_called_back(allreduce, transfer, part->lane)) {
        return;
    }
    if (oc_allreduce_check_reply(allreduce, part->lane, part->sent_bytes, transfer->length,
                                 OC_MESSAGE_SENT)
        && is_clean(part)) {
        part->acknowledged = true;
        large_receive_reply(part, &part->commit, part->commit_bytes, OC_COMMIT_SLOT);
        send_header(part, &part->ack, part->ack_bytes, OC_MESSAGE_ACK);
    }
    large_finish_if_done(allreduce);
}

/*
 * When the aggregator's SENT says that the results were its own, they are acknowledged, and a
 * COMMIT says that all other ranks have theirs.
 */
void oc_large_received(oc_part_t *part)
{
    if (part->received == part->share.count) {
        large_receive_reply(part, &part->news, part->sent_bytes, OC_SENT_SLOT);
    }
}

void oc_large_announce(oc_part_t *part)
{
    send_header(part, &part->start, part->start_bytes, OC_MESSAGE_START);
}

/* ---- parts ---- */

/*
 * Of a Reduce, whose results all go through one link: it takes 2 % less time by them. A Reduce_scatter would have too
 * little under way then to get its part of a link beside an Allgather by multicast.
 */
#define MORE_CHUNKS 2

/*
 * A chunk of which the aggregator with the least gets as many as there should be; of owners' shares,
 * which may be anything, the mean counts.
 */
static size_t fine_chunk(const oc_allreduce_t *allreduce, size_t share)
{
    const oc_group_t *group = allreduce->base.group;
    const oc_division_t *division = &group->servers->division;
    size_t fewest = oc_settings_fewest_chunks(group->client->config.settings);

    if (OC_RESULT_TO_ROOT == allreduce->args.to && fewest > 1) {
        return share / (MORE_CHUNKS * fewest);
    }
    if (oc_allreduce_has_owners(allreduce)) {
        return share / fewest;
    }
    return (allreduce->bytes + division->period - 1) / division->period * division->least / fewest;
}

/*
 * Among which a vector is divided. Beside an Allgather by multicast servers have most of it, and need as much under way
 * as where they are as many as hosts: with the chunks of all lanes their links would idle.
 */
static size_t count_lanes(const oc_allreduce_t *allreduce)
{
    const oc_group_t *group = allreduce->base.group;
    bool beside = OC_RESULT_TO_BLOCKS == allreduce->args.to
                  && OC_BESIDE_ALLGATHER == group->hints.reduce_scatter_beside;
    size_t lanes = oc_blocks_lanes(allreduce), peers = group->servers->num_peers;

    if (!beside || 0 == peers) {
        return lanes;
    }
    return peers > lanes - peers ? peers : lanes - peers;
}

/* How large chunks are: the same on all ranks. */
static uint32_t choose_chunk(const oc_allreduce_t *allreduce)
{
    const oc_group_t *group = allreduce->base.group;
    size_t lanes = count_lanes(allreduce);
    size_t share = (allreduce->bytes + lanes - 1) / lanes;
    size_t chunk = group->servers->chunk_bytes / OC_MIN_CHUNK * OC_MIN_CHUNK;
    size_t fine = fine_chunk(allreduce, share);

    /* before the first chunk has gone no result can come, and the last has nothing beside it */
    fine = fine > OC_FINE_CHUNK ? fine / OC_MIN_CHUNK * OC_MIN_CHUNK : OC_FINE_CHUNK;
    share = (share + OC_MIN_CHUNK - 1) / OC_MIN_CHUNK * OC_MIN_CHUNK;
    chunk = fine < chunk ? fine : chunk;
    chunk = share < chunk ? share : chunk;
    /* whole elements: the size of some is no power of two */
    return (uint32_t) (chunk / allreduce->element * allreduce->element);
}

static void set_callbacks(oc_part_t *part)
{
    part->start.transfer.done = part->ack.transfer.done = large_on_header_sent;
    part->news.transfer.done = large_on_sent;
    part->commit.transfer.done = large_on_commit;
    part->start.part = part->ack.part = part->news.part = part->commit.part = part;
}

/* false: out of memory. */
static bool part_make(oc_allreduce_t *allreduce, oc_part_t *part, oc_lane_t *lane)
{
    const oc_chunk_map_t *map = &oc_large_of(allreduce)->map;

    part->allreduce = allreduce;
    part->lane = lane;
    part->side = lane->connection->of_rank ? OC_AT_PEERS : OC_AT_SERVERS;
    part->share = oc_chunk_map_share(map, lane->team, lane->aggregator);
    if (0 == part->share.count) {
        return true;
    }
    part->next = oc_chunk_map_chunk(map, &part->share, 0);
    part->last_bytes = oc_chunk_map_chunk(map, &part->share, part->share.count - 1).length;
    set_callbacks(part);
    allreduce->uncommitted++;
    return oc_slots_make(part);
}

/* The cut stays when the servers are others: what is done of the vector is counted in its chunks. */
static oc_status_t keep_account(oc_allreduce_t *allreduce)
{
    const oc_chunk_map_t *map = &oc_large_of(allreduce)->map;
    oc_cut_t *cut = &allreduce->cut;

    if (0 != cut->chunk_bytes) {
        return OC_OK;
    }
    cut->chunk_bytes = map->chunk_bytes;
    cut->num_chunks = map->num_chunks;
    if (!oc_group_is_renewable(allreduce->base.group) || oc_vector_is_staged(allreduce)) {
        return OC_OK;
    }
    cut->have = calloc(map->num_chunks / 8 + 1, 1);
    return NULL != cut->have ? OC_OK : OC_ERR_NO_MEMORY;
}

static oc_status_t map_blocks(oc_allreduce_t *allreduce, uint32_t chunk)
{
    oc_status_t status = oc_blocks_cut(allreduce, chunk);

    if (OC_OK == status) {
        oc_large_of(allreduce)->map = oc_chunk_map_of_blocks(
            &allreduce->blocks.map, allreduce->bytes, allreduce->base.group->servers->teams.count, allreduce->sequence);
    }
    return status;
}

static void map_whole(oc_allreduce_t *allreduce, uint32_t chunk)
{
    const oc_group_servers_t *servers = allreduce->base.group->servers;
    oc_large_t *large = oc_large_of(allreduce);

    large->map = oc_chunk_map_make(&servers->division, allreduce->bytes, chunk, servers->teams.count,
                                   allreduce->sequence);
    if (NULL != allreduce->cut.listed) {
        oc_chunk_map_list(&large->map, allreduce->cut.listed, allreduce->cut.num_listed);
    }
}

static oc_status_t make_map(oc_allreduce_t *allreduce)
{
    uint32_t chunk = 0 != allreduce->cut.chunk_bytes ? allreduce->cut.chunk_bytes
                                                     : choose_chunk(allreduce);
    oc_status_t status = OC_OK;

    if (oc_allreduce_has_owners(allreduce)) {
        status = map_blocks(allreduce, chunk);
    } else {
        map_whole(allreduce, chunk);
    }
    return OC_OK == status ? keep_account(allreduce) : status;
}

oc_status_t oc_large_make(oc_allreduce_t *allreduce)
{
    const oc_group_t *group = allreduce->base.group;
    oc_large_t *large = oc_large_of(allreduce);
    unsigned lanes = group->servers->num_lanes * group->servers->teams.own;
    oc_status_t status = make_map(allreduce);

    if (OC_OK != status) {
        return status;
    }
    large->parts = calloc(lanes, sizeof(*large->parts));
    if (NULL == large->parts) {
        return OC_ERR_NO_MEMORY;
    }
    large->num_parts = lanes;
    /* each rank begins with another lane, so that they do not all meet at the first */
    for (unsigned i = 0; i < lanes; i++) {
        if (!part_make(allreduce, &large->parts[i],
                       &group->servers->lanes[(i + group->params.rank) % lanes])) {
            return OC_ERR_NO_MEMORY;
        }
    }
    return OC_OK;
}

oc_part_t *oc_large_next(const oc_allreduce_t *allreduce, const oc_part_t *part)
{
    const oc_large_t *large = oc_large_of(allreduce);

    for (unsigned i = NULL == part ? 0 : (unsigned) (part - large->parts) + 1;
         i < large->num_parts; i++) {
        if (0 != large->parts[i].share.count) {
            return &large->parts[i];
        }
    }
    return NULL;
}

oc_part_t *oc_large_part_of(const oc_allreduce_t *allreduce, uint32_t chunk)
{
    const oc_group_t *group = allreduce->base.group;
    const oc_large_t *large = oc_large_of(allreduce);
    unsigned lane = oc_lane_number(group, oc_chunk_map_team(&large->map, chunk),
                                   oc_chunk_map_aggregator(&large->map, chunk));

    assert(lane < large->num_parts);
    return &large->parts[(lane + large->num_parts - group->params.rank % large->num_parts)
                         % large->num_parts];
}

/* ---- memory ---- */

static bool uses_rdma(const oc_allreduce_t *allreduce)
{
    oc_part_t *part;

    for (part = oc_large_next(allreduce, NULL); NULL != part;
         part = oc_large_next(allreduce, part)) {
        if (oc_endpoint_is_rdma(part->lane->route->endpoint)) {
            return true;
        }
    }
    return false;
}

/* Of recv, from its beginning on, in host memory. */
static size_t recv_bytes(const oc_allreduce_t *allreduce)
{
    return NULL != allreduce->packed ? allreduce->bytes
                                     : allreduce->blocks.own_count * allreduce->element;
}

void oc_large_map(oc_allreduce_t *allreduce)
{
    const oc_client_t *client = allreduce->base.group->client;
    const oc_vector_t *vector = &allreduce->vector;
    oc_mapping_t **mappings = oc_large_of(allreduce)->mappings;
    size_t length;
    void *memory;

    if (!uses_rdma(allreduce)) {
        return;
    }
    /* packed vectors are one for both */
    if (NULL == vector->recv_device && recv_bytes(allreduce) > 0) {
        mappings[0] = oc_map(client->worker, allreduce->recv, recv_bytes(allreduce));
    }
    if (NULL == vector->send_device
        && (allreduce->send != allreduce->recv || recv_bytes(allreduce) < allreduce->bytes)) {
        mappings[1] = oc_map(client->worker, allreduce->send, allreduce->bytes);
    }
    if (oc_vector_is_staged(allreduce)) {
        memory = oc_arena_bytes(client->arena, &length);
        mappings[2] = oc_map(client->worker, memory, length);
    }
}

void oc_large_end(oc_allreduce_t *allreduce)
{
    oc_large_t *large = oc_large_of(allreduce);

    for (unsigned i = 0; i < sizeof(large->mappings) / sizeof(large->mappings[0]); i++) {
        oc_unmap(allreduce->base.group->client->worker, large->mappings[i]);
    }
    for (unsigned i = 0; i < large->num_parts; i++) {
        oc_slots_free(&large->parts[i]);
    }
    free(large->parts);
    large->parts = NULL;
    large->num_parts = 0;
}

/* ---- messages that no receive has taken ---- */

/* A reply that waits beside its own receive, which has taken what does not come. */
static bool misses_reply(const oc_part_t *part)
{
    return part->received == part->share.count
           && oc_leftover_is_here(part->allreduce, part->lane, OC_KIND_REPLY,
                                  part->acknowledged ? OC_COMMIT_SLOT : OC_SENT_SLOT);
}

const oc_lane_t *oc_large_leftover(const oc_allreduce_t *allreduce)
{
    oc_part_t *part;

    for (part = oc_large_next(allreduce, NULL); NULL != part;
         part = oc_large_next(allreduce, part)) {
        if (has_leftover(part) || misses_reply(part)) {
            return part->lane;
        }
    }
    return NULL;
}
