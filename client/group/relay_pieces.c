/* SPDX-License-Identifier: BSD-3-Clause */
/* The steps in which a leader hands on what has come by multicast, and in which others take it. */
#include "client/group/relay_pieces.h"

#include <string.h>

#include "client/group/group.h"
#include "client/group/relay_blocks.h"
#include "client/group/relay_buffers.h"
#include "client/group/relay_state.h"
#include "client/group/relay_watch.h"

/* Ranges in one step of the leader. */
#define MAX_RANGES 63u

/*
 * Each step wakes the others: as long as more is to come, it is no less than a share of the vector,
 * within these bounds. So many fragments have to arrive before it is worth looking whether there is
 * as much.
 */
#define LEAST_SHARE     16u
#define LEAST_BYTES     (16u << 10)
#define MOST_BYTES      (96u << 10)
#define LEAST_FRAGMENTS 8u

typedef struct {
    uint64_t at, length;       /* in the packed vector */
} range_t;

/* A place of the leader; the ranges' bytes follow, one after the other. */
typedef struct {
    uint32_t num_ranges;
    uint8_t last;              /* the operation is over … */
    uint8_t closed;            /* … and was the last one of the group that multicast serves */
    uint8_t gives_way;         /* the blocks of the next one come now */
    range_t ranges[MAX_RANGES];
} piece_t;

/* ---- the leader ---- */

static unsigned long long fragments_here(const oc_relay_t *relay)
{
    const oc_cast_counters_t *cast = &relay->group->client->config.counters->cast;

    return cast->fragments_received + cast->fragments_recovered;
}

/* Bytes of a host's block that can be handed on, from the beginning. */
static size_t arrived(const oc_relay_t *relay, uint32_t host)
{
    if (host == relay->group->node->host) {
        return oc_relay_member_length(relay, OC_RELAY_LEADER);
    }
    return relay->cast_over ? relay->map.lengths[host]
                            : oc_cast_arrived(relay->cast, host);
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
static size_t find_ranges(oc_relay_t *relay, piece_t *piece, size_t room,
                          uint32_t hosts[MAX_RANGES])
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
            oc_relay_scatter(relay, (size_t) range->at, length, relay->vector + range->at);
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

/* Copies of the next one's blocks take no longer than what the network brings of this one, or fit into a ring. */
static bool copies_are_short(const oc_relay_t *relay, const oc_relay_t *behind)
{
    const oc_node_t *node = relay->group->node;
    size_t given = behind->map.lengths[node->host] - oc_relay_member_length(behind, OC_RELAY_LEADER);

    return given <= oc_relay_map_total(&relay->map) || given <= oc_ring_place_size(node->ring);
}

/*
 * Nobody is waited for who has not begun the next operation. What is there of the first one is handed on before: its end
 * may follow soon, and the ranks that give the blocks of the next one need not be in MPI.
 */
static bool gives_way(const oc_relay_t *relay)
{
    const oc_relay_t *behind = relay->behind;

    return NULL != behind && !behind->open && !relay->cast_over && copies_are_short(relay, behind)
           && (0 == relay->left || !oc_cast_has_all(relay->cast))
           && oc_ring_committed(relay->group->node->ring) >= behind->number;
}

/* Whether there may be enough to hand on that it is worth looking. */
bool oc_relay_may_feed(const oc_relay_t *relay)
{
    bool small = oc_relay_map_total(&relay->map) <= LEAST_BYTES;

    if (!oc_relay_has_taken_blocks(relay)) {
        return false;
    }
    if (relay->cast_over || gives_way(relay)) {
        return true;
    }
    return !small && relay->left > 0
           && (oc_cast_has_all(relay->cast)
               || fragments_here(relay) - relay->news >= LEAST_FRAGMENTS);
}

static void publish(oc_relay_t *relay, piece_t *piece)
{
    const oc_node_t *node = relay->group->node;
    uint64_t step = oc_ring_given(node->ring);
    bool next = gives_way(relay);

    piece->last = relay->cast_over && 0 == relay->left;
    /* what comes behind may be over by multicast before this has been handed on */
    piece->closed = piece->last && NULL == relay->behind
                    && oc_multicast_is_closed(relay->group->client->multicast, relay->group->cast);
    piece->gives_way = next;
    relay->over = 0 != piece->last;
    relay->closed = 0 != piece->closed;
    oc_ring_give(node->ring, relay->what, OC_RELAY_LEADER);
    oc_ring_publish(node->ring, step);
    oc_ring_take(node->ring, OC_RELAY_LEADER);
    if (next) {
        oc_relay_open(relay->behind);
    }
}

bool oc_relay_feed(oc_relay_t *relay)
{
    const oc_node_t *node = relay->group->node;
    uint32_t hosts[MAX_RANGES];
    piece_t *piece;
    size_t bytes;

    if (!oc_relay_may_feed(relay) || !oc_ring_has_room(node->ring)) {
        return false;
    }
    piece = oc_ring_place(node->ring, OC_RELAY_LEADER, oc_ring_given(node->ring));
    bytes = find_ranges(relay, piece, oc_ring_place_size(node->ring) - sizeof(*piece), hosts);
    if (bytes < least_bytes(relay) && !relay->cast_over && !oc_cast_has_all(relay->cast)
        && !gives_way(relay)) {
        relay->news = fragments_here(relay);
        return false;
    }
    hand_on(relay, piece, hosts, (uint8_t *) (piece + 1));
    relay->group->client->config.counters->bytes_node += node->num_members > 1 ? bytes : 0;
    publish(relay, piece);
    return true;
}

/* ---- the others ---- */

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
        oc_relay_scatter(relay, (size_t) range.at, (size_t) range.length, from);
        relay->group->client->config.counters->bytes_node += range.length;
        from += range.length;
        room -= (size_t) range.length;
    }
    return true;
}

bool oc_relay_take_piece(oc_relay_t *relay)
{
    const oc_node_t *node = relay->group->node;
    uint64_t step = oc_ring_taken(node->ring);
    const piece_t *piece;
    uint32_t count;
    bool next;

    if (!oc_relay_has_taken_blocks(relay)
        || !oc_ring_is_published(node->ring, OC_RELAY_LEADER, step)
        || !oc_relay_agrees(relay, OC_RELAY_LEADER, step)) {
        return false;
    }
    /* it gives nothing, but others may still have to read what it gave in this place */
    if (!oc_ring_has_room(node->ring)) {
        return false;
    }
    oc_ring_give(node->ring, relay->what, OC_RELAY_LEADER);
    piece = oc_ring_place(node->ring, OC_RELAY_LEADER, step);
    count = piece->num_ranges;
    next = 0 != piece->gives_way;
    if (count > MAX_RANGES || !take_ranges(relay, piece, count)
        || (next && (NULL == relay->behind || relay->behind->open))) {
        oc_group_fail(relay->group, OC_ERR_INVALID,
                      "what another rank of the host hands on makes no sense");
        return true;
    }
    relay->closed = 0 != piece->closed;
    relay->over = 0 != piece->last;
    oc_ring_take(node->ring, OC_RELAY_LEADER);
    if (next) {
        oc_relay_open(relay->behind);
    }
    return true;
}
