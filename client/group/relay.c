/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Each operation is a stream of steps of the ring. First come the blocks of the ranks that are no leaders, in rank order
 * and in pieces as large as a place: their owners publish them, all take them, and the leader multicasts what it has of
 * them. Then all steps are the leader's: in each it hands on what has come meanwhile, from whichever hosts, until one says
 * that it is the last. The leader keeps all that has come, so that nobody whom it waits for can make it lose anything.
 */
#include "client/group/relay.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <utlist.h>

#include "base/clock.h"
#include "base/text.h"
#include "client/collective/collective.h"
#include "client/group/group.h"
#include "client/group/relay_state.h"

/* Of the ring, and of the node's ranks. */
#define LEADER 0u

/* Ranges in one step of the leader. */
#define MAX_RANGES 63u

/*
 * Each step wakes the others: as long as more is to come, it is no less than a share of the vector, within these bounds.
 * So many fragments have to arrive before it is worth looking whether there is as much.
 */
#define LEAST_SHARE     16u
#define LEAST_BYTES     (16u << 10)
#define MOST_BYTES      (96u << 10)
#define LEAST_FRAGMENTS 8u

/* How long nothing moves before the processes are looked at that are waited for, and between two looks. */
#define LIFE_INTERVAL (250 * OC_MILLISECOND)

typedef struct {
    uint64_t at, length;       /* in the packed vector */
} range_t;

/* A place of the leader; the ranges' bytes follow, one after the other. */
typedef struct {
    uint32_t num_ranges;
    uint8_t last;              /* the operation is over … */
    uint8_t closed;            /* … and was the last one of the group that multicast serves */
    range_t ranges[MAX_RANGES];
} piece_t;

static bool leads(const oc_relay_t *relay)
{
    return LEADER == relay->group->node->self;
}

static uint32_t rank_of(const oc_relay_t *relay, uint32_t member)
{
    return relay->group->node->ranks[member];
}

static size_t member_length(const oc_relay_t *relay, uint32_t member)
{
    return oc_relay_length(relay->args, rank_of(relay, member));
}

/* ---- the caller's memory ---- */

static void write_out(const oc_relay_t *relay, size_t offset, size_t length, const uint8_t *from)
{
    const oc_cast_args_t *args = relay->args;

    if (NULL != args->recv_stage) {
        (void) oc_stage_write(args->recv_stage, offset, length, from);
    } else {
        memcpy((uint8_t *) args->recv + offset, from, length);
    }
}

/* A part of this rank's own block. */
static void relay_read_in(const oc_relay_t *relay, size_t at, size_t length, void *to)
{
    const oc_cast_args_t *args = relay->args;
    size_t place = oc_relay_offset(args, relay->group->params.rank) + at;
    oc_stage_t *stage = NULL != args->send ? args->send_stage : args->recv_stage;

    if (NULL != stage) {
        (void) oc_stage_read(stage, NULL != args->send ? at : place, length, to);
    } else {
        memcpy(to, NULL != args->send ? (const uint8_t *) args->send + at
                                      : (const uint8_t *) args->recv + place, length);
    }
}

/* A part of the packed vector; this rank's own block is in the caller's buffer already. */
static void scatter(const oc_relay_t *relay, size_t at, size_t length, const uint8_t *from)
{
    while (length > 0) {
        oc_relay_part_t part = oc_relay_map_part(&relay->map, at, length);

        if (part.rank != relay->group->params.rank) {
            write_out(relay, oc_relay_offset(relay->args, part.rank) + part.at, part.length, from);
        }
        at += part.length;
        from += part.length;
        length -= part.length;
    }
}

/* What this rank gives to all also belongs into its own receive buffer. */
static void relay_keep_own(const oc_relay_t *relay)
{
    const oc_cast_args_t *args = relay->args;
    size_t length = oc_relay_length(args, relay->group->params.rank);
    size_t offset = oc_relay_offset(args, relay->group->params.rank);
    uint8_t part[4096];

    if (NULL == args->send || 0 == length) {
        return;
    }
    if (NULL == args->send_stage && NULL == args->recv_stage) {
        memmove((uint8_t *) args->recv + offset, args->send, length);
        return;
    }
    for (size_t at = 0; at < length; at += sizeof(part)) {
        size_t bytes = length - at < sizeof(part) ? length - at : sizeof(part);

        relay_read_in(relay, at, bytes, part);
        write_out(relay, offset + at, bytes, part);
    }
}

/* ---- failures ---- */

static void look_at_stages(const oc_relay_t *relay)
{
    const oc_stage_t *stages[] = {relay->args->send_stage, relay->args->recv_stage};
    char text[OC_RING_TEXT_SIZE];

    for (unsigned i = 0; i < 2; i++) {
        if (NULL != stages[i] && OC_OK != oc_stage_status(stages[i])) {
            snprintf(text, sizeof(text), "rank %u cannot reach its buffers: %s",
                     relay->group->params.rank, oc_stage_reason(stages[i]));
            oc_group_fail(relay->group, OC_ERR_SYSTEM, text);
            return;
        }
    }
}

static void check_life(const oc_relay_t *relay, uint32_t member)
{
    char text[OC_RING_TEXT_SIZE];

    if (OC_OK == relay->status && !oc_ring_member_lives(relay->group->node->ring, member)) {
        snprintf(text, sizeof(text), "rank %u cannot be reached: its process, on the host of rank %u, has "
                 "ended", rank_of(relay, member), relay->group->params.rank);
        oc_group_fail(relay->group, OC_ERR_UNREACHABLE, text);
    }
}

/* Whoever takes no blocks keeps those waiting who give them, and all others. */
static bool waits_for_all(const oc_relay_t *relay)
{
    const oc_node_t *node = relay->group->node;

    return !oc_ring_has_room(node->ring) || relay->take.member < node->num_members;
}

static void look_for_death(oc_relay_t *relay)
{
    const oc_node_t *node = relay->group->node;
    uint64_t now = relay->group->client->now;

    if (now - relay->looked < LIFE_INTERVAL) {
        return;
    }
    relay->looked = now;
    for (uint32_t i = 0; i < node->num_members; i++) {
        if (i != node->self && (LEADER == i || waits_for_all(relay))) {
            check_life(relay, i);
        }
    }
}

/* What another rank does in a step: false, it does something else, and the group has failed. */
static bool agrees(const oc_relay_t *relay, uint32_t member, uint64_t step)
{
    char text[OC_RING_TEXT_SIZE];

    if (OC_ERR_MISMATCH != oc_ring_matches(relay->group->node->ring, member, step, relay->what)) {
        return true;
    }
    snprintf(text, sizeof(text), "ranks disagree about a collective: rank %u does something else than "
             "rank %u", rank_of(relay, member), relay->group->params.rank);
    oc_group_fail(relay->group, OC_ERR_MISMATCH, text);
    return false;
}

/* ---- blocks of the ranks of the host ---- */

static void skip_empty(const oc_relay_t *relay, oc_relay_cursor_t *cursor)
{
    while (cursor->member < relay->group->node->num_members
           && cursor->at == member_length(relay, cursor->member)) {
        cursor->member++;
        cursor->at = 0;
    }
}

static bool is_at_end(const oc_relay_t *relay, const oc_relay_cursor_t *cursor)
{
    return cursor->member == relay->group->node->num_members;
}

/* Bytes of the step where the cursor is. */
static size_t step_length(const oc_relay_t *relay, const oc_relay_cursor_t *cursor)
{
    size_t left = member_length(relay, cursor->member) - cursor->at;
    size_t most = oc_ring_place_size(relay->group->node->ring);

    return left < most ? left : most;
}

static void advance(const oc_relay_t *relay, oc_relay_cursor_t *cursor)
{
    cursor->at += step_length(relay, cursor);
    skip_empty(relay, cursor);
}

static bool give_block(oc_relay_t *relay)
{
    const oc_node_t *node = relay->group->node;
    uint64_t step = oc_ring_given(node->ring);

    if (is_at_end(relay, &relay->give) || !oc_ring_has_room(node->ring)) {
        return false;
    }
    if (relay->give.member == node->self) {
        size_t length = step_length(relay, &relay->give);

        relay_read_in(relay, relay->give.at, length, oc_ring_place(node->ring, node->self, step));
        look_at_stages(relay); /* nobody may get what a device has not given */
        if (OC_OK != relay->status) {
            return true;
        }
        relay->group->client->config.counters->bytes_node += length;
    }
    oc_ring_give(node->ring, relay->what, relay->give.member);
    if (relay->give.member == node->self) {
        oc_ring_publish(node->ring, step);
    }
    advance(relay, &relay->give);
    return true;
}

/* Its own the leader has already. */
static void take_into_vector(oc_relay_t *relay, size_t length, const uint8_t *from)
{
    size_t at = relay->map.offsets[relay->group->node->host] + relay->ready;

    memcpy(relay->vector + at, from, length);
    relay->ready += length;
    if (relay->own_vector) {
        scatter(relay, at, length, from);
    }
    if (!relay->cast_over) {
        oc_multicast_more(relay->group->client->multicast, relay->group->cast);
    }
}

static bool take_block(oc_relay_t *relay)
{
    const oc_node_t *node = relay->group->node;
    uint64_t step = oc_ring_taken(node->ring);
    uint32_t owner = relay->take.member;
    const uint8_t *from;
    size_t length;

    if (is_at_end(relay, &relay->take) || step == oc_ring_given(node->ring)) {
        return false;
    }
    if (!oc_ring_is_published(node->ring, owner, step) || !agrees(relay, owner, step)) {
        return false;
    }
    from = oc_ring_place(node->ring, owner, step);
    length = step_length(relay, &relay->take);
    if (leads(relay)) {
        take_into_vector(relay, length, from);
    } else if (owner != node->self) {
        write_out(relay, oc_relay_offset(relay->args, rank_of(relay, owner)) + relay->take.at, length,
                  from);
    }
    relay->group->client->config.counters->bytes_node += owner != node->self ? length : 0;
    oc_ring_take(node->ring, owner);
    advance(relay, &relay->take);
    return true;
}

/* ---- what comes by multicast: the leader ---- */

static unsigned long long fragments_here(const oc_relay_t *relay)
{
    const oc_cast_counters_t *cast = &relay->group->client->config.counters->cast;

    return cast->fragments_received + cast->fragments_recovered;
}

/* Bytes of a host's block that can be handed on, from the beginning. */
static size_t arrived(const oc_relay_t *relay, uint32_t host)
{
    if (host == relay->group->node->host) {
        return member_length(relay, LEADER);
    }
    return relay->cast_over ? relay->map.lengths[host]
                            : oc_cast_arrived(relay->group->cast, host);
}

/* What is handed on of a host's block; false: nothing, now. */
static bool next_range(oc_relay_t *relay, uint32_t host, size_t most, range_t *range)
{
    size_t here = arrived(relay, host), handed = relay->handed[host];
    size_t length = here > handed ? here - handed : 0;

    if (0 == length || 0 == most) {
        return false;
    }
    *range = (range_t) {.at = relay->map.offsets[host] + handed,
                        .length = length < most ? length : most};
    return true;
}

/* Finds ranges for a piece; returns their bytes. */
static size_t find_ranges(oc_relay_t *relay, piece_t *piece, size_t room, uint32_t hosts[MAX_RANGES])
{
    size_t sum = 0;

    piece->num_ranges = 0;
    for (uint32_t i = 0; i < relay->map.num_hosts && piece->num_ranges < MAX_RANGES; i++) {
        uint32_t host = (relay->next_host + i) % relay->map.num_hosts;

        if (next_range(relay, host, room - sum, &piece->ranges[piece->num_ranges])) {
            sum += (size_t) piece->ranges[piece->num_ranges].length;
            hosts[piece->num_ranges++] = host;
        }
    }
    return sum;
}

static void hand_on(oc_relay_t *relay, const piece_t *piece, const uint32_t hosts[MAX_RANGES],
                    uint8_t *to)
{
    const oc_node_t *node = relay->group->node;

    for (uint32_t i = 0; i < piece->num_ranges; i++) {
        const range_t *range = &piece->ranges[i];
        size_t length = (size_t) range->length;

        if (node->num_members > 1) {
            memcpy(to, relay->vector + range->at, length);
            to += length;
        }
        if (relay->own_vector) {
            scatter(relay, (size_t) range->at, length, relay->vector + range->at);
        }
        relay->handed[hosts[i]] += length;
        relay->left -= length;
        relay->next_host = (hosts[i] + 1) % relay->map.num_hosts;
    }
}

static size_t least_bytes(const oc_relay_t *relay)
{
    size_t share = oc_relay_map_total(&relay->map) / LEAST_SHARE;

    if (share < LEAST_BYTES) {
        return LEAST_BYTES;
    }
    return share < MOST_BYTES ? share : MOST_BYTES;
}

/* Whether there may be enough to hand on that it is worth looking. */
static bool may_hand_on(const oc_relay_t *relay)
{
    bool small = oc_relay_map_total(&relay->map) <= LEAST_BYTES;

    if (!is_at_end(relay, &relay->take)) {
        return false;
    }
    if (relay->cast_over) {
        return true;
    }
    return !small && relay->left > 0
           && (oc_cast_has_all(relay->group->cast)
               || fragments_here(relay) - relay->news >= LEAST_FRAGMENTS);
}

static void publish(oc_relay_t *relay, piece_t *piece)
{
    const oc_node_t *node = relay->group->node;
    uint64_t step = oc_ring_given(node->ring);

    piece->last = relay->cast_over && 0 == relay->left;
    piece->closed = piece->last && oc_cast_group_is_closed(relay->group->cast);
    relay->over = 0 != piece->last;
    relay->closed = 0 != piece->closed;
    oc_ring_give(node->ring, relay->what, LEADER);
    oc_ring_publish(node->ring, step);
    oc_ring_take(node->ring, LEADER);
}

static bool relay_feed(oc_relay_t *relay)
{
    const oc_node_t *node = relay->group->node;
    uint32_t hosts[MAX_RANGES];
    piece_t *piece;
    size_t bytes;

    if (!may_hand_on(relay) || !oc_ring_has_room(node->ring)) {
        return false;
    }
    piece = oc_ring_place(node->ring, LEADER, oc_ring_given(node->ring));
    bytes = find_ranges(relay, piece, oc_ring_place_size(node->ring) - sizeof(*piece), hosts);
    if (bytes < least_bytes(relay) && !relay->cast_over && !oc_cast_has_all(relay->group->cast)) {
        relay->news = fragments_here(relay);
        return false;
    }
    hand_on(relay, piece, hosts, (uint8_t *) (piece + 1));
    relay->group->client->config.counters->bytes_node += node->num_members > 1 ? bytes : 0;
    publish(relay, piece);
    return true;
}

/* ---- what comes by multicast: the others ---- */

/* Nobody trusts what others have written: false, it makes no sense. */
static bool take_ranges(const oc_relay_t *relay, const piece_t *piece, uint32_t count)
{
    size_t room = oc_ring_place_size(relay->group->node->ring) - sizeof(*piece);
    size_t total = oc_relay_map_total(&relay->map);
    const uint8_t *from = (const uint8_t *) (piece + 1);

    for (uint32_t i = 0; i < count; i++) {
        range_t range = piece->ranges[i];

        if (0 == range.length || range.length > room || range.at > total
            || range.length > total - range.at) {
            return false;
        }
        scatter(relay, (size_t) range.at, (size_t) range.length, from);
        relay->group->client->config.counters->bytes_node += range.length;
        from += range.length;
        room -= (size_t) range.length;
    }
    return true;
}

static bool relay_take_piece(oc_relay_t *relay)
{
    const oc_node_t *node = relay->group->node;
    uint64_t step = oc_ring_taken(node->ring);
    const piece_t *piece;
    uint32_t count;

    if (!is_at_end(relay, &relay->take) || !oc_ring_is_published(node->ring, LEADER, step)
        || !agrees(relay, LEADER, step)) {
        return false;
    }
    /* it gives nothing, but others may still have to read what it gave in this place */
    if (!oc_ring_has_room(node->ring)) {
        return false;
    }
    oc_ring_give(node->ring, relay->what, LEADER);
    piece = oc_ring_place(node->ring, LEADER, step);
    count = piece->num_ranges;
    if (count > MAX_RANGES || !take_ranges(relay, piece, count)) {
        oc_group_fail(relay->group, OC_ERR_INVALID, "what another rank of the host hands on makes no sense");
        return true;
    }
    relay->closed = 0 != piece->closed;
    relay->over = 0 != piece->last;
    oc_ring_take(node->ring, LEADER);
    return true;
}

/* ---- life ---- */

static void relay_on_cast_finished(void *arg, oc_status_t status)
{
    oc_relay_t *relay = arg;

    relay->cast_over = true;
    if (OC_OK != status && OC_OK == relay->status) {
        relay->status = status;
    }
    if (OC_OK != status) {
        relay->group->client->cast_news = true;
    }
    if (relay->corrupted != relay->group->client->config.counters->cast.blocks_corrupted) {
        /* what was handed on may be of blocks that came again */
        memset(relay->handed, 0, relay->map.num_hosts * sizeof(*relay->handed));
        relay->left = oc_relay_map_total(&relay->map) - relay->map.lengths[relay->group->node->host]
                      + member_length(relay, LEADER);
    }
}

static uint64_t hash_of(const oc_relay_t *relay)
{
    uint32_t ranks = relay->map.num_ranks;
    uint64_t hash = oc_hash(OC_HASH_START, relay->map.order, ranks * sizeof(*relay->map.order));

    return oc_hash(hash, relay->map.start, (ranks + 1) * sizeof(*relay->map.start));
}

/* The vector, with its own block, if that is not in it anyway. */
static oc_status_t make_vector(oc_relay_t *relay)
{
    const oc_cast_args_t *args = relay->args;
    uint32_t host = relay->group->node->host;
    size_t total = oc_relay_map_total(&relay->map);

    relay->handed = calloc(relay->map.num_hosts, sizeof(*relay->handed));
    relay->own_vector = NULL != args->recv_stage || !oc_relay_map_is_plain(&relay->map, args);
    relay->vector = relay->own_vector ? malloc(total) : args->recv;
    if (NULL == relay->handed || NULL == relay->vector) {
        return OC_ERR_NO_MEMORY;
    }
    relay->ready = member_length(relay, LEADER);
    relay->left = total - relay->map.lengths[host] + relay->ready;
    if (relay->own_vector) {
        relay_read_in(relay, 0, relay->ready, relay->vector + relay->map.offsets[host]);
    }
    if ((NULL != args->send_stage && OC_OK != oc_stage_status(args->send_stage))
        || (NULL != args->recv_stage && OC_OK != oc_stage_status(args->recv_stage))) {
        return OC_ERR_SYSTEM; /* nobody may get what a device has not given */
    }
    relay->corrupted = relay->group->client->config.counters->cast.blocks_corrupted;
    return OC_OK;
}

static oc_status_t start_to_multicast(oc_relay_t *relay)
{
    oc_client_t *client = relay->group->client;
    oc_cast_args_t args = {.recv = relay->vector, .ready = &relay->ready,
                           .lengths = relay->map.lengths, .offsets = relay->map.offsets,
                           .blocking = relay->args->blocking,
                           .finished = relay_on_cast_finished, .arg = relay};

    return oc_multicast_start(client->multicast, relay->group->cast, &args, client->now);
}

static oc_status_t relay_prepare(oc_relay_t *relay)
{
    oc_group_t *group = relay->group;
    oc_status_t status = OC_OK;

    if (!oc_relay_map_make(&relay->map, group->node, group->params.num_ranks, relay->args)) {
        return OC_ERR_NO_MEMORY;
    }
    relay->what = hash_of(relay);
    relay->first = oc_ring_given(group->node->ring);
    relay->looked = group->client->now;
    relay->give.member = relay->take.member = LEADER + 1;
    skip_empty(relay, &relay->give);
    relay->take = relay->give;
    relay_keep_own(relay);
    if (leads(relay)) {
        status = make_vector(relay);
    }
    return OC_OK == status && leads(relay) ? start_to_multicast(relay) : status;
}

oc_status_t oc_relay_begin(oc_collective_t *collective, const oc_cast_args_t *args)
{
    oc_group_t *group = collective->group;
    oc_relay_t *relay = calloc(1, sizeof(*relay));
    oc_status_t status = OC_ERR_NO_MEMORY;

    if (NULL != relay) {
        relay->group = group;
        relay->collective = collective;
        relay->args = args;
        status = relay_prepare(relay);
    }
    if (OC_OK != status) {
        if (NULL != relay) {
            oc_relay_free(relay);
        }
        return status;
    }
    group->relay = relay;
    DL_APPEND2(group->client->relays, group, node_prev, node_next);
    return OC_OK;
}

static void relay_finish(oc_group_t *group)
{
    oc_collective_t *collective = group->relay->collective;
    oc_status_t status = group->relay->status;

    group->cast_closed = group->relay->closed;
    group->client->cast_news = true;
    oc_relay_drop(group);
    oc_collective_finish(collective, status);
}

/* One of each: what the network brings is looked at in between. */
static bool relay_progress(oc_group_t *group)
{
    oc_relay_t *relay = group->relay;
    char text[OC_RING_TEXT_SIZE];
    uint32_t member;
    /* what was handed on before still counts: so this comes first, and is judged last */
    bool failed = oc_ring_has_failed(group->node->ring, &member, text), moved = false;

    if (OC_OK == relay->status && !relay->over) {
        moved = give_block(relay);
        moved = take_block(relay) || moved;
        moved = (leads(relay) ? relay_feed(relay) : relay_take_piece(relay)) || moved;
    }
    if (moved) {
        relay->looked = group->client->now;
    } else if (!relay->over && failed) {
        oc_group_fail(group, OC_ERR_UNREACHABLE, text);
    } else if (!relay->over && agrees(relay, LEADER, relay->first)) {
        look_at_stages(relay);
        look_for_death(relay);
    }
    if ((relay->over || OC_OK != relay->status) && (!leads(relay) || relay->cast_over)) {
        relay_finish(group);
        return true;
    }
    return moved;
}

bool oc_client_relays_progress(oc_client_t *client)
{
    oc_group_t *group, *next;
    bool moved = false;

    DL_FOREACH_SAFE2 (client->relays, group, next, node_next) {
        moved = relay_progress(group) || moved;
    }
    return moved;
}

/* A leader may wait for the network alone: what others take meanwhile is not worth a ring. */
static bool waits_for_host(const oc_relay_t *relay)
{
    return !leads(relay) || !is_at_end(relay, &relay->take)
           || (may_hand_on(relay) && !oc_ring_has_room(relay->group->node->ring));
}

void oc_client_relays_arm(oc_client_t *client)
{
    oc_group_t *group;

    DL_FOREACH2 (client->relays, group, node_next) {
        if (waits_for_host(group->relay)) {
            group->node->armed = true;
            oc_ring_arm(group->node->ring);
        }
    }
}
