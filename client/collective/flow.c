/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Which chunks of large vectors may be under way: a window on every lane, and a horizon.
 *
 * What is under way goes before whatever comes later, of any group. So all vectors of a group share
 * a window on each lane, however many there are, and groups with as much in flight get as much of
 * a link. On a lane the chunks go in the order of the vectors: if a later one could take the room
 * of an earlier one that waits for its horizon, ranks could wait for each other for ever.
 *
 * On each lane the receive of a chunk's result is posted before its contribution is sent; in place
 * both are the same memory, which is right because a result only exists once the whole contribution
 * has been received. In the node shape it is node.c that decides when a chunk goes.
 *
 * Lanes with different shares have to be done at the same time, or links would idle at the end.
 * They share this rank's link, which knows nothing of shares: a lane with a small one would run
 * ahead, and take from the others what it does not need. Hence the horizon: only chunks before it
 * may go, and it moves on a span ahead of the first chunk whose result is not here. With equal
 * shares there is none.
 */
#include "client/collective/flow.h"

#include <string.h>
#include <utlist.h>

#include "base/clock.h"
#include "client/collective/part.h"
#include "client/collective/parts.h"
#include "client/collective/reply.h"
#include "client/collective/step.h"
#include "client/collective/vector.h"
#include "protocol/tag.h"

/* The horizon is looked at when so much of a span has ended. */
#define LOOKS_A_SPAN 8

static void note(oc_slot_t *slot, unsigned what)
{
    if (NULL != slot->contribution.part->collective->group->client->timeline) {
        slot->times[what] = oc_clock_ns();
    }
}

static void add_to_timeline(const oc_slot_t *slot)
{
    const oc_part_t *part = slot->contribution.part;
    const oc_group_t *group = part->collective->group;
    oc_timeline_record_t record = {
        .handle = part->lane->handle, .aggregator = part->lane->index,
        .sequence = part->collective->sequence, .number = slot->number,
        .bytes = (uint32_t) oc_part_length(part, slot->number),
        .first = group->teams.rank, .last = group->teams.rank};

    memcpy(record.times, slot->times, sizeof(slot->times));
    oc_timeline_add(group->client->timeline, &record);
}

/*
 * An aggregator receives a contribution when all ranks have come and there is memory for the chunk.
 * Until then, what was sent eagerly lies in memory that nobody counts there: it is limited here.
 */
static void send_contribution(oc_slot_t *slot, const void *data, size_t length)
{
    const oc_part_t *part = slot->contribution.part;
    const oc_collective_t *collective = part->collective;
    oc_route_t *route = part->lane->route;
    uint64_t tag = oc_tag(OC_KIND_CONTRIBUTION, part->lane->handle,
                          collective->group->teams.rank, collective->sequence, slot->number);

    slot->eager = route->unasked + length <= part->lane->connection->eager_window;
    if (slot->eager) {
        route->unasked += length;
        oc_send_eager(route->endpoint, &slot->contribution.transfer, data, length, tag);
    } else {
        oc_send(route->endpoint, &slot->contribution.transfer, data, length, tag);
    }
}

/* Sends this contribution, and receives the result there. */
static void slot_start(oc_slot_t *slot, uint32_t number, const void *contribution, void *result)
{
    oc_part_t *part = slot->contribution.part;
    oc_collective_t *collective = part->collective;
    const oc_group_t *group = collective->group;
    oc_counters_t *counters = group->client->config.counters;
    size_t length = oc_part_length(part, number);

    slot->number = number;
    slot->waiting = 2;
    collective->flying++;
    part->lane->flying += length;
    note(slot, OC_CLIENT_POSTED);
    collective->waiting += 2;
    counters->bytes_sent += length;
    counters->messages_sent++;
    counters->chunks++;
    oc_receive(group->client->worker, &slot->result.transfer, result, length,
               oc_tag(OC_KIND_RESULT, group->reply_handle, part->lane->index,
                      collective->sequence, number), OC_TAG_EXACT);
    send_contribution(slot, contribution, length);
}

static void leave_line(oc_part_t *part)
{
    DL_DELETE(part->lane->line, part);
    part->in_line = false;
}

/* What goes next is copied from its device while this is sent. */
static void look_ahead(const oc_part_t *part)
{
    if (oc_vector_is_staged(part->collective) && part->sent < part->chunks) {
        oc_vector_read_ahead(part->collective, oc_part_offset(part, part->sent),
                             oc_part_length(part, part->sent));
    }
}

/* In the flat shape: the next chunk, from and into user memory. */
static void slot_go(oc_slot_t *slot)
{
    oc_part_t *part = slot->contribution.part;
    uint32_t number = part->sent;
    const void *contribution;
    void *result;

    contribution = oc_vector_take(part, oc_part_offset(part, number),
                                  oc_part_length(part, number), &slot->piece, &result);
    part->sent++;
    slot_start(slot, number, contribution, result);
    look_ahead(part);
    if (part->sent == part->chunks) {
        leave_line(part);
    }
}

static bool is_paced(const oc_collective_t *collective)
{
    return 0 != collective->span;
}

/* One chunk may always be under way, or nothing would ever make room. */
static bool has_room(const oc_group_t *group, const oc_lane_t *lane, size_t length)
{
    size_t window = group->teams.window * group->chunk_bytes;

    return 0 == lane->flying || lane->flying + length <= window;
}

static bool may_go(const oc_part_t *part)
{
    const oc_collective_t *collective = part->collective;

    return part == part->lane->line
           && has_room(collective->group, part->lane, oc_part_length(part, part->sent))
           && oc_vector_has_room(part)
           && (!is_paced(collective) || oc_part_chunk(part, part->sent) < collective->horizon);
}

/* What windows and horizon allow of the first vector in line, then of the next. */
static void go_on(oc_lane_t *lane)
{
    oc_part_t *part;

    do {
        part = lane->line;
        for (unsigned i = 0; NULL != part && i < part->num_slots && may_go(part); i++) {
            if (0 == part->slots[i].waiting) {
                slot_go(&part->slots[i]);
            }
        }
    } while (part != lane->line);
}

/*
 * A lane's results hardly ever come in another order than it was asked, so its number of results
 * tells how far it is. Now and then is enough, and cheap with any number of lanes.
 */
static void move_horizon(oc_collective_t *collective)
{
    uint64_t first = UINT64_MAX;

    for (unsigned i = 0; i < collective->num_parts; i++) {
        const oc_part_t *part = &collective->parts[i];

        if (part->received < part->chunks) {
            uint64_t chunk = oc_part_chunk(part, part->received);

            first = chunk < first ? chunk : first;
        }
    }
    collective->news = 0;
    if (UINT64_MAX != first) {
        collective->horizon = first + collective->span;
    }
    for (unsigned i = 0; i < collective->num_parts; i++) {
        go_on(collective->parts[i].lane);
    }
}

/* Its result is here, and UCX has let go of the contribution. */
static void chunk_done(oc_slot_t *slot)
{
    oc_part_t *part = slot->contribution.part;
    oc_collective_t *collective = part->collective;
    const oc_group_t *group = collective->group;
    size_t length = oc_part_length(part, slot->number);

    if (NULL != group->client->timeline) {
        add_to_timeline(slot);
    }
    group->client->config.counters->bytes_received += length;
    part->lane->route->unasked -= slot->eager ? length : 0;
    part->received++;
    oc_vector_give(part, slot->piece);
    slot->piece = NULL;
    part->lane->flying -= length;
    collective->flying--;
    collective->news++;
    if (part->received == part->chunks) {
        part->received_all(part);
    }
    if (NULL != group->node) {
        oc_step_publish(collective, (uint32_t) (oc_part_offset(part, slot->number)
                                                / collective->chunk_bytes));
        return;
    }
    go_on(part->lane);
    if (is_paced(collective)
        && (0 == collective->flying || collective->news >= collective->span / LOOKS_A_SPAN)) {
        move_horizon(collective);
    }
}

static void on_chunk_transfer(oc_transfer_t *transfer)
{
    /* the two transfers of a slot are its first members, in this order */
    oc_part_t *part = ((oc_part_transfer_t *) transfer)->part;
    oc_slot_t *slot = &part->slots[((char *) transfer - (char *) part->slots) / sizeof(oc_slot_t)];
    bool is_result = transfer == &slot->result.transfer;

    if (is_result && OC_OK == transfer->status
        && transfer->length != oc_part_length(part, slot->number)) {
        transfer->status = OC_ERR_INVALID;
    }
    if (!oc_collective_called_back(part->collective, transfer, part->lane)) {
        return;
    }
    note(slot, is_result ? OC_CLIENT_RESULT : OC_CLIENT_SENT);
    if (0 == --slot->waiting) {
        chunk_done(slot);
    }
}

void oc_flow_prepare(oc_collective_t *collective)
{
    for (unsigned i = 0; i < collective->num_parts; i++) {
        oc_part_t *part = &collective->parts[i];

        for (unsigned s = 0; s < part->num_slots; s++) {
            oc_slot_t *slot = &part->slots[s];

            slot->contribution.part = slot->result.part = part;
            slot->contribution.transfer.done = slot->result.transfer.done = on_chunk_transfer;
        }
    }
}

/*
 * All share one link: the first chunks of all lanes go before the second ones, so that every
 * aggregator can begin early.
 */
void oc_flow_open(oc_collective_t *collective)
{
    unsigned window = collective->group->teams.window;

    for (unsigned p = 0; p < collective->num_parts; p++) {
        oc_part_t *part = &collective->parts[p];

        part->in_line = true;
        DL_APPEND(part->lane->line, part);
        look_ahead(part);
    }
    for (unsigned i = 0; i < window; i++) {
        for (unsigned p = 0; p < collective->num_parts; p++) {
            oc_part_t *part = &collective->parts[p];

            if (i < part->num_slots && may_go(part)) {
                slot_go(&part->slots[i]);
            }
        }
    }
}

void oc_flow_end(oc_collective_t *collective)
{
    /* the lanes of a group that has failed are gone, and their lines with them */
    for (unsigned p = 0; NULL != collective->group->lanes && p < collective->num_parts; p++) {
        if (collective->parts[p].in_line) {
            leave_line(&collective->parts[p]);
        }
    }
}

static oc_slot_t *find_slot(const oc_part_t *part)
{
    for (unsigned i = 0; i < part->num_slots; i++) {
        if (0 == part->slots[i].waiting) {
            return &part->slots[i];
        }
    }
    return NULL;
}

/* Who asks goes in the order of the stream, which is that of each lane, too: nothing overtakes. */
bool oc_flow_has_slot(const oc_part_t *part)
{
    return NULL != find_slot(part)
           && has_room(part->collective->group, part->lane, oc_part_length(part, part->sent));
}

void oc_flow_send(oc_part_t *part, const void *contribution, void *result)
{
    slot_start(find_slot(part), part->sent++, contribution, result);
}
