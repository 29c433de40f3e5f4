/* SPDX-License-Identifier: BSD-3-Clause */
/* Chunks under way, one in each slot. */
#include "client/collective/slot.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "client/collective/blocks.h"
#include "client/collective/reply.h"
#include "client/collective/step.h"
#include "client/collective/vector.h"
#include "client/state/collapse.h"
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
                                   .last = group->servers->teams.rank,
                                   .collective = part->allreduce->base.ruled};

    memcpy(record.times, slot->times, sizeof(slot->times));
    oc_timeline_add(group->client->timeline, &record);
}

/* Nothing may take so little room that a rank has more messages under way than a server expects. */
static size_t room_of(size_t length)
{
    return length > OC_MIN_CHUNK ? length : OC_MIN_CHUNK;
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
    size_t length = oc_blocks_given(allreduce, &slot->chunk);
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

/* Where chunks come and go is the caller's memory, and not that of the host. */
static bool is_callers(const oc_allreduce_t *allreduce)
{
    return NULL == allreduce->base.group->node || oc_step_is_direct(allreduce);
}

/*
 * In place, what has half arrived when a server is lost would be neither contribution nor result: it falls upon the
 * contribution when it is whole. false: out of memory.
 */
static bool slot_make_landing(oc_slot_t *slot, const void *contribution, void *result)
{
    oc_allreduce_t *allreduce = slot->contribution.part->allreduce;
    bool lacks_own = oc_blocks_lack_own(allreduce, &slot->chunk);

    slot->gets = oc_blocks_gotten(allreduce, &slot->chunk);
    slot->own = lacks_own ? contribution : NULL;
    slot->place = slot->landing = result;
    if ((lacks_own && (contribution == result || slot->gets > slot->chunk.length))
        || (NULL != allreduce->cut.have && contribution == result && is_callers(allreduce))) {
        slot->landing = oc_stock_take(&allreduce->base.group->client->stock, slot->gets);
    }
    return NULL != slot->landing || 0 == slot->gets;
}

static void slot_free_landing(oc_slot_t *slot)
{
    oc_client_t *client = slot->contribution.part->allreduce->base.group->client;

    if (slot->landing != slot->place) {
        oc_stock_give(&client->stock, slot->landing, slot->gets);
        slot->landing = slot->place;
    }
}

/* What was to come is here: the result, or that of the others. */
static void slot_add_own(oc_slot_t *slot)
{
    if (NULL != slot->own) {
        oc_blocks_add_own(slot->contribution.part->allreduce, slot->place, slot->landing,
                          slot->own, slot->chunk.length);
    } else if (slot->landing != slot->place) {
        memcpy(slot->place, slot->landing, slot->gets);
        oc_count_copied(slot->contribution.part->allreduce->base.group->client, slot->gets);
    }
    slot_free_landing(slot);
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

/* Nothing was sent of it, and the others count on it. */
static void slot_give_up(oc_slot_t *slot)
{
    oc_allreduce_t *allreduce = slot->contribution.part->allreduce;

    allreduce->base.status = OC_ERR_NO_MEMORY;
    oc_client_collapse(allreduce->base.group->client, OC_ERR_NO_MEMORY, "out of memory");
}

static void slot_begin(oc_slot_t *slot)
{
    oc_part_t *part = slot->contribution.part;
    oc_counters_t *counters = part->allreduce->base.group->client->config.counters;

    slot->waiting = 2;
    oc_large_of(part->allreduce)->flying[part->side]++;
    part->lane->flying += room_of(slot->chunk.length);
    slot_note(slot, OC_CLIENT_POSTED);
    part->allreduce->waiting += 2;
    counters->bytes_sent += oc_allreduce_payload(part->allreduce, oc_blocks_given(part->allreduce, &slot->chunk));
    counters->messages_sent++;
    counters->chunks++;
}

void oc_slot_send(oc_part_t *part, const void *contribution, void *result, oc_piece_t *piece)
{
    oc_allreduce_t *allreduce = part->allreduce;
    const oc_group_t *group = allreduce->base.group;
    oc_slot_t *slot = part->idle;

    assert(NULL != slot && 0 == slot->waiting && part->sent < part->share.count);
    part->idle = slot->next_idle;
    slot->chunk = part->next;
    slot->piece = piece;
    slot_advance(part);
    if (!slot_make_landing(slot, contribution, result)) {
        slot_give_up(slot);
        return;
    }
    slot_begin(slot);
    oc_receive(group->client->worker, &slot->result.transfer, slot->landing, slot->gets,
               oc_tag(OC_KIND_RESULT, group->servers->reply_handle, part->lane->index,
                      allreduce->sequence, slot->chunk.number), OC_TAG_EXACT);
    send_contribution(slot, contribution);
}

/* One chunk may always be under way, or nothing would ever make room. */
static bool slot_has_room(const oc_group_t *group, const oc_lane_t *lane, size_t length)
{
    size_t window = group->servers->teams.window * group->servers->chunk_bytes;

    return 0 == lane->flying || lane->flying + room_of(length) <= window;
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
    assert(part->received < part->sent && part->lane->flying >= room_of(chunk.length)
           && large->flying[part->side] > 0);
    client->config.counters->bytes_received += oc_allreduce_payload(allreduce, slot->gets);
    part->lane->route->unasked -= slot->eager ? oc_blocks_given(allreduce, &chunk) : 0;
    part->received++;
    slot_add_own(slot);
    oc_vector_give(part, slot->piece);
    slot->piece = NULL;
    slot->next_idle = part->idle;
    part->idle = slot;
    part->lane->flying -= room_of(chunk.length);
    large->flying[part->side]--;
    large->chunk_done(part, &chunk);
}

static void on_transfer(oc_transfer_t *transfer)
{
    /* the two transfers of a slot are its first members, in this order */
    oc_part_t *part = ((oc_part_transfer_t *) transfer)->part;
    oc_slot_t *slot = &part->slots[((char *) transfer - (char *) part->slots) / sizeof(oc_slot_t)];
    bool is_result = transfer == &slot->result.transfer;

    if (is_result && OC_OK == transfer->status && transfer->length != slot->gets) {
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
    for (unsigned i = 0; NULL != part->slots && i < part->num_slots; i++) {
        slot_free_landing(&part->slots[i]);
    }
    free(part->slots);
    part->slots = part->idle = NULL;
}
