/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Large Allreduces: chunks from and into user memory, a window on every lane, ACK and COMMIT.
 *
 * In the flat shape, chunk c belongs to the lane that has place c + sequence of the group's
 * division. In the node shape chunks go to the teams in turn first, and the division is that of a
 * team's chunks; when a chunk may go is decided in node.c. On each lane the receive of a chunk's
 * result is posted before its contribution is sent; in place both are the same memory, which is
 * right because a result only exists once the whole contribution has been received.
 *
 * Lanes with different shares have to be done at the same time, or links would idle at the end.
 * They share this rank's link, which knows nothing of shares: a lane with a small one would run
 * ahead, and take from the others what it does not need. Hence the horizon: only chunks before it
 * may go, and it moves on a span ahead of the first chunk whose result is not here. With equal
 * shares there is none.
 */
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "client/types.h"
#include "protocol/tag.h"

/* The horizon is looked at when so much of a span has ended. */
#define LOOKS_A_SPAN 8

/* Teams begin with another one each time. */
static uint32_t first_of_team(const oc_collective_t *collective, uint32_t team)
{
    uint32_t teams = collective->group->teams.count;

    return (uint32_t) ((team + teams - collective->sequence % teams) % teams);
}

/* Which chunk of its team a part's chunk is; in the flat shape, of the vector. */
static uint64_t chunk_of(const oc_part_t *part, uint32_t number)
{
    const oc_collective_t *collective = part->collective;

    return oc_division_place(&collective->group->division, part->lane->aggregator,
                             part->first + number) - collective->first_place;
}

static size_t offset_of(const oc_part_t *part, uint32_t number)
{
    const oc_collective_t *collective = part->collective;

    return ((size_t) chunk_of(part, number) * collective->group->teams.count
            + first_of_team(collective, part->lane->team)) * collective->chunk_bytes;
}

static size_t length_of(const oc_part_t *part, uint32_t number)
{
    return number + 1 == part->chunks ? part->last_bytes : part->collective->chunk_bytes;
}

static void send_header(oc_part_t *part, oc_part_transfer_t *transfer, uint8_t *bytes,
                        uint8_t message)
{
    oc_collective_t *collective = part->collective;
    const oc_group_t *group = collective->group;
    oc_header_t header = {
        .message = message, .op = (uint8_t) collective->args.op,
        .type = (uint8_t) collective->type, .handle = part->lane->handle,
        .rank = group->teams.rank, .chunk_bytes = collective->chunk_bytes,
        .last_bytes = part->last_bytes, .chunks = part->chunks,
        .sequence = collective->sequence, .count = collective->args.count};

    oc_header_encode(&header, bytes);
    collective->waiting++;
    group->client->config.counters->messages_sent++;
    oc_send(part->lane->route->endpoint, &transfer->transfer, bytes, OC_HEADER_SIZE,
            oc_tag(OC_KIND_REQUEST, part->lane->handle, group->teams.rank,
                   collective->sequence, 0));
}

/*
 * Done when every lane has committed, in the node shape those of all ranks of the host, and UCX has
 * let go of everything.
 */
static void finish_if_done(oc_collective_t *collective)
{
    if (0 == collective->waiting) {
        oc_collective_finish(collective, collective->status);
    }
}

static void on_header_sent(oc_transfer_t *transfer)
{
    oc_part_t *part = ((oc_part_transfer_t *) transfer)->part;

    if (oc_collective_called_back(part->collective, transfer, part->lane)) {
        finish_if_done(part->collective);
    }
}

static void on_commit(oc_transfer_t *transfer)
{
    oc_part_t *part = ((oc_part_transfer_t *) transfer)->part;
    oc_collective_t *collective = part->collective;

    if (!oc_collective_called_back(collective, transfer, part->lane)) {
        return;
    }
    if (oc_collective_check_reply(collective, part->lane, part->commit_bytes, transfer->length,
                                  OC_MESSAGE_COMMIT)
        && 0 == --collective->uncommitted && NULL != collective->group->node) {
        oc_node_commit(collective);
    }
    finish_if_done(collective);
}

/* All results of this lane are here; a COMMIT says that all other ranks have theirs. */
static void acknowledge(oc_part_t *part)
{
    oc_collective_t *collective = part->collective;

    collective->waiting++;
    oc_receive(collective->group->client->worker, &part->commit.transfer, part->commit_bytes,
               OC_HEADER_SIZE,
               oc_tag(OC_KIND_REPLY, collective->group->reply_handle, part->lane->index,
                      collective->sequence, 0), OC_TAG_EXACT);
    send_header(part, &part->ack, part->ack_bytes, OC_MESSAGE_ACK);
}

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
        .bytes = (uint32_t) length_of(part, slot->number),
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

    slot->eager = route->unasked + length
                  <= collective->group->client->config.settings->eager_window;
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
    size_t length = length_of(part, number);

    slot->number = number;
    slot->waiting = 2;
    collective->flying++;
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

/* In the flat shape: the next chunk, from and into user memory. */
static void slot_go(oc_slot_t *slot)
{
    oc_part_t *part = slot->contribution.part;
    size_t offset = offset_of(part, part->sent);

    slot_start(slot, part->sent++, (const char *) part->collective->send + offset,
               (char *) part->collective->recv + offset);
}

static bool is_paced(const oc_collective_t *collective)
{
    return 0 != collective->span;
}

static bool may_go(const oc_part_t *part)
{
    return part->sent < part->chunks
           && (!is_paced(part->collective)
               || chunk_of(part, part->sent) < part->collective->horizon);
}

/* What the window and the horizon allow. */
static void go_on(oc_part_t *part)
{
    for (unsigned i = 0; i < part->num_slots && may_go(part); i++) {
        if (0 == part->slots[i].waiting) {
            slot_go(&part->slots[i]);
        }
    }
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
            uint64_t chunk = chunk_of(part, part->received);

            first = chunk < first ? chunk : first;
        }
    }
    collective->news = 0;
    if (UINT64_MAX != first) {
        collective->horizon = first + collective->span;
    }
    for (unsigned i = 0; i < collective->num_parts; i++) {
        go_on(&collective->parts[i]);
    }
}

static void on_chunk_transfer(oc_transfer_t *transfer)
{
    /* the two transfers of a slot are its first members, in this order */
    oc_part_t *part = ((oc_part_transfer_t *) transfer)->part;
    oc_collective_t *collective = part->collective;
    oc_slot_t *slot = &part->slots[((char *) transfer - (char *) part->slots) / sizeof(oc_slot_t)];
    bool is_result = transfer == &slot->result.transfer;

    if (is_result && OC_OK == transfer->status
        && transfer->length != length_of(part, slot->number)) {
        transfer->status = OC_ERR_INVALID;
    }
    if (!oc_collective_called_back(collective, transfer, part->lane)) {
        return;
    }
    note(slot, is_result ? OC_CLIENT_RESULT : OC_CLIENT_SENT);
    if (0 != --slot->waiting) {
        return;
    }
    if (NULL != collective->group->client->timeline) {
        add_to_timeline(slot);
    }
    collective->group->client->config.counters->bytes_received += length_of(part, slot->number);
    part->lane->route->unasked -= slot->eager ? length_of(part, slot->number) : 0;
    part->received++;
    collective->flying--;
    collective->news++;
    if (part->received == part->chunks) {
        acknowledge(part);
    }
    if (NULL != collective->group->node) {
        oc_node_publish(collective,
                        (uint32_t) (offset_of(part, slot->number) / collective->chunk_bytes));
        return;
    }
    go_on(part);
    if (is_paced(collective)
        && (0 == collective->flying || collective->news >= collective->span / LOOKS_A_SPAN)) {
        move_horizon(collective);
    }
}

static void part_prepare(oc_part_t *part)
{
    part->start.transfer.done = part->ack.transfer.done = on_header_sent;
    part->commit.transfer.done = on_commit;
    part->start.part = part->ack.part = part->commit.part = part;
    for (unsigned i = 0; i < part->num_slots; i++) {
        oc_slot_t *slot = &part->slots[i];

        slot->contribution.part = slot->result.part = part;
        slot->contribution.transfer.done = slot->result.transfer.done = on_chunk_transfer;
    }
}

static void part_start(oc_part_t *part)
{
    send_header(part, &part->start, part->start_bytes, OC_MESSAGE_START);
}

/*
 * All share one link: the first chunks of all lanes go before the second ones, so that every
 * aggregator can begin early.
 */
static void open_windows(oc_collective_t *collective)
{
    unsigned window = collective->group->teams.window;

    for (unsigned i = 0; i < window; i++) {
        for (unsigned p = 0; p < collective->num_parts; p++) {
            oc_part_t *part = &collective->parts[p];

            if (i < part->num_slots && may_go(part)) {
                slot_go(&part->slots[i]);
            }
        }
    }
}

/* How large the chunks of a vector are, and which lane has the first: the same on all ranks. */
static void lay_out(oc_collective_t *collective)
{
    const oc_group_t *group = collective->group;
    const oc_division_t *division = &group->division;
    size_t lanes = group->num_lanes, window = group->teams.window;
    size_t share = (collective->bytes + lanes - 1) / lanes;
    size_t least = (collective->bytes + division->period - 1) / division->period * division->least;
    size_t chunk = group->client->config.settings->chunk_size / OC_MIN_CHUNK * OC_MIN_CHUNK;
    size_t fine = least / (size_t) group->client->config.settings->min_chunks;

    /* before the first chunk has gone no result can come, and the last has nothing beside it */
    fine = fine > OC_FINE_CHUNK ? fine / OC_MIN_CHUNK * OC_MIN_CHUNK : OC_FINE_CHUNK;
    share = (share + OC_MIN_CHUNK - 1) / OC_MIN_CHUNK * OC_MIN_CHUNK;
    chunk = fine < chunk ? fine : chunk;
    chunk = share < chunk ? share : chunk;
    /* whole elements: the size of some is no power of two */
    collective->chunk_bytes = (uint32_t) (chunk / collective->element * collective->element);
    collective->first_place = (uint32_t) (collective->sequence % division->period);
    /* as much as lets the lane with the largest share have its window open */
    collective->span = division->least == division->most
                           ? 0
                           : (window * division->period + division->most - 1) / division->most;
    collective->horizon = collective->span;
}

static size_t count_chunks(const oc_collective_t *collective)
{
    return (collective->bytes + collective->chunk_bytes - 1) / collective->chunk_bytes;
}

static bool part_make(oc_collective_t *collective, const oc_lane_t *lane)
{
    const oc_group_t *group = collective->group;
    const oc_division_t *division = &group->division;
    size_t skipped = first_of_team(collective, lane->team), teams = group->teams.count;
    size_t total = (count_chunks(collective) + teams - 1 - skipped) / teams;
    uint64_t first = oc_division_before(division, lane->aggregator, collective->first_place);
    uint64_t end = oc_division_before(division, lane->aggregator,
                                      collective->first_place + total);
    unsigned window = group->teams.window;
    oc_part_t *part = &collective->parts[collective->num_parts];
    size_t rest;

    if (first == end) {
        return true;
    }
    part->collective = collective;
    part->lane = lane;
    part->first = first;
    part->chunks = (uint32_t) (end - first);
    rest = collective->bytes - offset_of(part, part->chunks - 1);
    part->last_bytes = rest < collective->chunk_bytes ? (uint32_t) rest : collective->chunk_bytes;
    part->num_slots = part->chunks < window ? part->chunks : window;
    part->slots = calloc(part->num_slots, sizeof(*part->slots));
    collective->num_parts++;
    collective->uncommitted++;
    if (NULL == part->slots) {
        return false;
    }
    part_prepare(part);
    return true;
}

/* A team's chunks come in order, and so do those of its parts. */
static oc_part_t *find_part(const oc_collective_t *collective, uint32_t chunk)
{
    uint32_t team = oc_node_team(collective, chunk);

    for (unsigned i = 0; i < collective->num_parts; i++) {
        oc_part_t *part = &collective->parts[i];

        if (part->lane->team == team && part->sent < part->chunks
            && chunk_of(part, part->sent) == chunk / collective->group->teams.count) {
            return part;
        }
    }
    return NULL;
}

static oc_slot_t *find_slot(const oc_part_t *part)
{
    for (unsigned i = 0; NULL != part && i < part->num_slots; i++) {
        if (0 == part->slots[i].waiting) {
            return &part->slots[i];
        }
    }
    return NULL;
}

bool oc_large_has_slot(const oc_collective_t *collective, uint32_t chunk)
{
    return NULL != find_slot(find_part(collective, chunk));
}

void oc_large_send(oc_collective_t *collective, uint32_t chunk)
{
    oc_part_t *part = find_part(collective, chunk);
    oc_slot_t *slot = find_slot(part);

    if (0 == part->sent) {
        part_start(part);
    }
    slot_start(slot, part->sent++, oc_node_contribution(collective, chunk),
               oc_node_result(collective, chunk));
}

oc_status_t oc_large_start(oc_collective_t *collective)
{
    const oc_group_t *group = collective->group;
    unsigned lanes;

    lay_out(collective);
    lanes = group->num_lanes * group->teams.own;
    collective->parts = calloc(lanes, sizeof(*collective->parts));
    if (NULL == collective->parts) {
        return OC_ERR_NO_MEMORY;
    }
    /* each rank begins with another lane, so that they do not all meet at the first */
    for (unsigned i = 0; i < lanes; i++) {
        unsigned lane = (i + group->params.rank) % lanes;

        if (!part_make(collective, &group->lanes[lane])) {
            return OC_ERR_NO_MEMORY;
        }
    }
    if (NULL != group->node) {
        oc_node_join(collective, (uint32_t) count_chunks(collective));
        if (0 == collective->num_parts) {
            oc_node_commit(collective);
        }
        return OC_OK;
    }
    for (unsigned i = 0; i < collective->num_parts; i++) {
        part_start(&collective->parts[i]);
    }
    open_windows(collective);
    return OC_OK;
}
