/* SPDX-License-Identifier: BSD-3-Clause */
/* Chunks under way, one in each slot. */
#include "client/collective/slot.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "client/collective/reply.h"
#include "client/collective/vector.h"
#include "protocol/tag.h"

static void slot_note(oc_slot_t *slot, unsigned what)
{
    if (NULL != slot->contribution.part->allreduce->base.group->client->timeline) {
        slot->times[what] = oc_clock_ns();
    }
}

static void slot_add_to_timeline(const oc_slot_t *slot)
{
    const oc_part_t *part = slot->contribution.part;
    const oc_group_t *group = part->allreduce->base.group;
    oc_timeline_record_t record = {.handle = part->lane->handle,
                                   .aggregator = part->lane->index,
                                   .sequence = part->allreduce->sequence,
                                   .number = slot->chunk.number,
                                   .bytes = slot->chunk.length,
                                   .first = group->servers->teams.rank,
                                   .last = group->servers->teams.rank};

    memcpy(record.times, slot->times, sizeof(slot->times));
    oc_timeline_add(group->client->timeline, &record);
}

/*
 * An aggregator receives a contribution when all ranks have come and there is memory for the chunk.
 * Until then, what was sent eagerly lies in memory that nobody counts there: it is limited here.
 */
static void send_contribution(oc_slot_t *slot, const void *data)
{
    const oc_part_t *part = slot->contribution.part;
    const oc_allreduce_t *allreduce = part->allreduce;
    oc_route_t *route = part->lane->route;
    size_t length = slot->chunk.length;
    uint64_t tag = oc_tag(OC_KIND_CONTRIBUTION, part->lane->handle,
                          allreduce->base.group->servers->teams.rank, allreduce->sequence,
                          slot->chunk.number);

    slot->eager = route->unasked + length <= part->lane->connection->eager_window;
    if (slot->eager) {
        route->unasked += length;
        oc_send_eager(route->endpoint, &slot->contribution.transfer, data, length, tag);
    } else {
        oc_send(route->endpoint, &slot->contribution.transfer, data, length, tag);
    }
}

/* The part's next chunk has gone: the one after it is the next. */
static void slot_advance(oc_part_t *part)
{
    part->sent++;
    if (part->sent < part->share.count) {
        part->next = oc_chunk_map_chunk(&oc_large_of(part->allreduce)->map, &part->share,
                                        part->sent);
    }
}

void oc_slot_send(oc_part_t *part, const void *contribution, void *result, oc_piece_t *piece)
{
    oc_allreduce_t *allreduce = part->allreduce;
    const oc_group_t *group = allreduce->base.group;
    oc_counters_t *counters = group->client->config.counters;
    oc_slot_t *slot = part->idle;

    assert(NULL != slot && 0 == slot->waiting && part->sent < part->share.count);
    part->idle = slot->next_idle;
    slot->chunk = part->next;
    slot->piece = piece;
    slot->waiting = 2;
    slot_advance(part);
    oc_large_of(allreduce)->flying++;
    part->lane->flying += slot->chunk.length;
    slot_note(slot, OC_CLIENT_POSTED);
    allreduce->waiting += 2;
    counters->bytes_sent += slot->chunk.length;
    counters->messages_sent++;
    counters->chunks++;
    oc_receive(group->client->worker, &slot->result.transfer, result, slot->chunk.length,
               oc_tag(OC_KIND_RESULT, group->servers->reply_handle, part->lane->index,
                      allreduce->sequence, slot->chunk.number), OC_TAG_EXACT);
    send_contribution(slot, contribution);
}

/* One chunk may always be under way, or nothing would ever make room. */
static bool slot_has_room(const oc_group_t *group, const oc_lane_t *lane, size_t length)
{
    size_t window = group->servers->teams.window * group->servers->chunk_bytes;

    return 0 == lane->flying || lane->flying + length <= window;
}

bool oc_slot_is_there(const oc_part_t *part)
{
    return NULL != part->idle
           && slot_has_room(part->allreduce->base.group, part->lane, part->next.length);
}

/* Its result is here, and UCX has let go of the contribution. */
static void slot_finish(oc_slot_t *slot)
{
    oc_part_t *part = slot->contribution.part;
    oc_allreduce_t *allreduce = part->allreduce;
    oc_client_t *client = allreduce->base.group->client;
    oc_large_t *large = oc_large_of(allreduce);
    oc_client_chunk_t chunk = slot->chunk;

    if (NULL != client->timeline) {
        slot_add_to_timeline(slot);
    }
    assert(part->received < part->sent && part->lane->flying >= chunk.length && large->flying > 0);
    client->config.counters->bytes_received += chunk.length;
    part->lane->route->unasked -= slot->eager ? chunk.length : 0;
    part->received++;
    oc_vector_give(part, slot->piece);
    slot->piece = NULL;
    slot->next_idle = part->idle;
    part->idle = slot;
    part->lane->flying -= chunk.length;
    large->flying--;
    large->chunk_done(part, &chunk);
}

static void on_transfer(oc_transfer_t *transfer)
{
    /* the two transfers of a slot are its first members, in this order */
    oc_part_t *part = ((oc_part_transfer_t *) transfer)->part;
    oc_slot_t *slot = &part->slots[((char *) transfer - (char *) part->slots) / sizeof(oc_slot_t)];
    bool is_result = transfer == &slot->result.transfer;

    if (is_result && OC_OK == transfer->status && transfer->length != slot->chunk.length) {
        transfer->status = OC_ERR_INVALID;
    }
    if (!oc_allreduce_called_back(part->allreduce, transfer, part->lane)) {
        return;
    }
    slot_note(slot, is_result ? OC_CLIENT_RESULT : OC_CLIENT_SENT);
    if (0 == --slot->waiting) {
        slot_finish(slot);
    }
}

bool oc_slots_make(oc_part_t *part)
{
    unsigned window = part->allreduce->base.group->servers->teams.window;

    part->num_slots = part->share.count < window ? part->share.count : window;
    part->slots = calloc(part->num_slots, sizeof(*part->slots));
    if (NULL == part->slots) {
        return false;
    }
    for (unsigned i = part->num_slots; i > 0; i--) {
        oc_slot_t *slot = &part->slots[i - 1];

        slot->contribution.part = slot->result.part = part;
        slot->contribution.transfer.done = slot->result.transfer.done = on_transfer;
        slot->next_idle = part->idle;
        part->idle = slot;
    }
    return oc_vector_reserve(part);
}

void oc_slots_free(oc_part_t *part)
{
    oc_vector_drop(part);
    free(part->slots);
    part->slots = part->idle = NULL;
}
