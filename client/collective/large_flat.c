/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Large Allreduces in the flat shape, and which of their chunks may be under way: a window on every
 * lane, and a horizon.
 *
 * What is under way goes before whatever comes later, of any group. So all vectors of a group share
 * a window on each lane, however many there are, and groups with as much in flight get as much of
 * a link. On a lane the chunks go in the order of the vectors: if a later one could take the room
 * of an earlier one that waits for its horizon, ranks could wait for each other for ever.
 *
 * All lanes have to be done at the same time, or links would idle at the end. They share this rank's
 * link, which knows nothing of shares: a lane with a small one would run ahead, and take from the
 * others what it does not need. Nor does TCP give connections equal parts of a link, if that and
 * not the servers' is the slowest: one whose congestion window is small gets less, and keeps it
 * small. A single slow one of all ranks holds up its server's chunks. Hence the horizon: only chunks
 * before it may go, and it moves on a span ahead of the first chunk whose result is not here. Lanes
 * that are ahead so have less under way, and leave the link to those behind.
 *
 * Servers have a horizon of their own, for which only their chunks count: what else comes to hosts, such as datagrams
 * of an Allgather, slows peers down and not servers. Were these to wait for peers, their links would idle, and that could
 * not be made up for later.
 *
 * Of all ranks' chunks that are not over, take the first. All before it are over. So a rank that has not sent it has no
 * other chunk of its side in flight for long: those that it has are before its horizon of that side. When no more than a
 * window of them is left it looks, and finds that this chunk may go. Nobody waits for ever, though the horizons
 * are not looked at for each result (tests/model/horizon.pml).
 */
#include "client/collective/large_flat.h"

#include <string.h>
#include <utlist.h>

#include "client/collective/large.h"
#include "client/collective/slot.h"
#include "client/collective/supply.h"
#include "client/collective/vector.h"

/* The horizon is looked at so often in a span. */
#define LOOKS_A_SPAN 8

static bool has_next(const oc_part_t *part)
{
    return part->sent < part->share.count;
}

static void leave_line(oc_part_t *part)
{
    DL_DELETE2(part->lane->line, part, line_prev, line_next);
    part->in_line = false;
}

/* What goes next is copied from its device while this is sent. */
static void large_flat_look_ahead(const oc_part_t *part)
{
    if (oc_vector_is_staged(part->allreduce) && has_next(part)) {
        oc_vector_read_ahead(part->allreduce, part->next.offset, part->next.length);
    }
}

/* The next chunk, from and into user memory. */
static void large_flat_send_next(oc_part_t *part)
{
    const void *contribution;
    oc_piece_t *piece;
    void *result;

    contribution = oc_vector_take(part, &piece, &result);
    oc_slot_send(part, contribution, result, piece);
    large_flat_look_ahead(part);
    if (!has_next(part)) {
        leave_line(part);
    }
}

static bool may_go(const oc_part_t *part)
{
    const oc_large_t *large = oc_large_of(part->allreduce);

    return part == part->lane->line && part->next.place < large->horizons[part->side]
           && oc_slot_is_there(part) && oc_vector_has_room(part);
}

/* What windows and horizon allow of the first vector in line, then of the next. */
static void large_flat_go_on(oc_lane_t *lane)
{
    while (NULL != lane->line && may_go(lane->line)) {
        large_flat_send_next(lane->line);
    }
}

/* Of chunks that have no result yet the first, by its place, of servers and of all: horizons of peers are about these. */
static void find_first(const oc_allreduce_t *allreduce, uint64_t first[OC_NUM_SIDES])
{
    oc_large_t *large = oc_large_of(allreduce);

    first[OC_AT_SERVERS] = first[OC_AT_PEERS] = UINT64_MAX;
    large->awaited[OC_AT_SERVERS] = large->awaited[OC_AT_PEERS] = false;
    for (oc_part_t *part = oc_large_next(allreduce, NULL); NULL != part;
         part = oc_large_next(allreduce, part)) {
        uint64_t place;

        if (part->received == part->share.count) {
            continue;
        }
        place = oc_chunk_map_chunk(&large->map, &part->share, part->received).place;
        large->awaited[part->side] = true;
        first[OC_AT_PEERS] = place < first[OC_AT_PEERS] ? place : first[OC_AT_PEERS];
        if (OC_AT_SERVERS == part->side && place < first[OC_AT_SERVERS]) {
            first[OC_AT_SERVERS] = place;
        }
    }
}

/*
 * A lane's results hardly ever come in another order than it was asked, so its number of results
 * tells how far it is.
 */
static void move_horizons(oc_allreduce_t *allreduce)
{
    oc_large_t *large = oc_large_of(allreduce);
    uint64_t first[OC_NUM_SIDES];
    oc_part_t *part;

    find_first(allreduce, first);
    for (unsigned side = 0; side < OC_NUM_SIDES; side++) {
        if (UINT64_MAX != first[side]) {
            large->horizons[side] = first[side] + large->span;
        }
    }
    large->news = 0;
    for (part = oc_large_next(allreduce, NULL); NULL != part;
         part = oc_large_next(allreduce, part)) {
        large_flat_go_on(part->lane);
    }
}

/*
 * Now and then is enough, and cheap with any number of lanes, and more often when no more is in flight to one side than
 * on one lane: all others of that side are at the horizon then.
 */
static bool is_time_to_look(const oc_large_t *large, unsigned window)
{
    bool few = false;

    for (unsigned side = 0; side < OC_NUM_SIDES; side++) {
        few = few || (large->awaited[side] && large->flying[side] <= window);
    }
    return few || large->news >= large->pause;
}

static void large_flat_chunk_done(oc_part_t *part, const oc_client_chunk_t *chunk)
{
    oc_allreduce_t *allreduce = part->allreduce;
    oc_large_t *large = oc_large_of(allreduce);

    oc_supply_account(allreduce, chunk->index);
    large->news++;
    oc_large_received(part);
    large_flat_go_on(part->lane);
    if (is_time_to_look(large, allreduce->base.group->servers->teams.window)) {
        move_horizons(allreduce);
    }
}

/* As much as lets the lane with the largest share have its window open. */
static void set_pace(oc_allreduce_t *allreduce)
{
    const oc_group_t *group = allreduce->base.group;
    const oc_division_t *division = &group->servers->division;
    oc_large_t *large = oc_large_of(allreduce);

    if (oc_allreduce_has_owners(allreduce)) {
        /* turns: not each of them has a chunk on all lanes */
        large->span = group->servers->teams.window;
        large->pause = large->span * large->map.num_chunks / allreduce->blocks.map.most
                       / LOOKS_A_SPAN;
    } else {
        large->span = ((uint64_t) group->servers->teams.window * division->period + division->most
                       - 1)
                      / division->most;
        large->pause = large->span / LOOKS_A_SPAN;
    }
    for (unsigned side = 0; side < OC_NUM_SIDES; side++) {
        large->horizons[side] = large->span;
        large->awaited[side] = true;
    }
}

/*
 * All share one link: the first chunks of all lanes go before the second ones, so that every
 * aggregator can begin early.
 */
static void open_windows(oc_allreduce_t *allreduce)
{
    unsigned window = allreduce->base.group->servers->teams.window;
    oc_part_t *part;

    for (part = oc_large_next(allreduce, NULL); NULL != part;
         part = oc_large_next(allreduce, part)) {
        part->in_line = true;
        DL_APPEND2(part->lane->line, part, line_prev, line_next);
        large_flat_look_ahead(part);
    }
    for (unsigned i = 0; i < window; i++) {
        for (part = oc_large_next(allreduce, NULL); NULL != part;
             part = oc_large_next(allreduce, part)) {
            if (part->in_line && may_go(part)) {
                large_flat_send_next(part);
            }
        }
    }
}

static oc_status_t large_flat_start(oc_allreduce_t *allreduce)
{
    oc_large_t *large = oc_large_of(allreduce);
    oc_status_t status = oc_large_make(allreduce);
    oc_part_t *part;

    if (OC_OK != status) {
        return status;
    }
    large->chunk_done = large_flat_chunk_done;
    set_pace(allreduce);
    for (part = oc_large_next(allreduce, NULL); NULL != part;
         part = oc_large_next(allreduce, part)) {
        oc_large_announce(part);
    }
    /* servers need not wait for this, which takes its time with much memory */
    oc_large_map(allreduce);
    open_windows(allreduce);
    return OC_OK;
}

static void large_flat_end(oc_allreduce_t *allreduce)
{
    const oc_large_t *large = oc_large_of(allreduce);

    /* the lanes of a group that has failed are gone, and their lines with them */
    for (unsigned i = 0; NULL != allreduce->base.group->servers->lanes && i < large->num_parts;
         i++) {
        if (large->parts[i].in_line) {
            leave_line(&large->parts[i]);
        }
    }
    oc_large_end(allreduce);
}

/* The account of what is here stays. */
static void large_flat_suspend(oc_allreduce_t *allreduce)
{
    large_flat_end(allreduce);
    memset(allreduce->state, 0, sizeof(oc_large_t));
    allreduce->waiting = allreduce->uncommitted = 0;
}

const oc_allreduce_algorithm_t oc_large_flat = {
    .state_size = sizeof(oc_large_t), .start = large_flat_start, .end = large_flat_end,
    .suspend = large_flat_suspend, .resume = large_flat_start,
    .leftover = oc_large_leftover};
