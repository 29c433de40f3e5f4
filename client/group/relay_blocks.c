/* SPDX-License-Identifier: BSD-3-Clause */
/* The steps in which the ranks of a host give their blocks to each other and to their leader. */
#include "client/group/relay_blocks.h"

#include <string.h>

#include "client/group/group.h"
#include "client/group/relay_buffers.h"
#include "client/group/relay_state.h"
#include "client/group/relay_watch.h"

static void skip_empty(const oc_relay_t *relay, oc_relay_cursor_t *cursor)
{
    while (cursor->member < relay->group->node->num_members
           && cursor->at == oc_relay_member_length(relay, cursor->member)) {
        cursor->member++;
        cursor->at = 0;
    }
}

void oc_relay_begin_blocks(oc_relay_t *relay)
{
    relay->give = (oc_relay_cursor_t) {.member = OC_RELAY_LEADER + 1};
    skip_empty(relay, &relay->give);
    relay->take = relay->give;
}

/* Bytes of the step where the cursor is. */
static size_t step_length(const oc_relay_t *relay, const oc_relay_cursor_t *cursor)
{
    size_t left = oc_relay_member_length(relay, cursor->member) - cursor->at;
    size_t most = oc_ring_place_size(relay->group->node->ring);

    return left < most ? left : most;
}

static void advance(const oc_relay_t *relay, oc_relay_cursor_t *cursor)
{
    cursor->at += step_length(relay, cursor);
    skip_empty(relay, cursor);
}

bool oc_relay_give_block(oc_relay_t *relay)
{
    const oc_node_t *node = relay->group->node;
    uint64_t step = oc_ring_given(node->ring);

    if (oc_relay_is_at_end(relay, &relay->give) || !oc_ring_has_room(node->ring)) {
        return false;
    }
    if (relay->give.member == node->self) {
        size_t length = step_length(relay, &relay->give);

        oc_relay_read_in(relay, relay->give.at, length,
                         oc_ring_place(node->ring, node->self, step));
        oc_relay_look_at_stages(relay); /* nobody may get what a device has not given */
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
        oc_relay_scatter(relay, at, length, from);
    }
    if (!relay->cast_over) {
        oc_multicast_more(relay->group->client->multicast, relay->cast);
    }
}

bool oc_relay_take_block(oc_relay_t *relay)
{
    const oc_node_t *node = relay->group->node;
    uint64_t step = oc_ring_taken(node->ring);
    uint32_t owner = relay->take.member;
    const uint8_t *from;
    size_t length;

    if (oc_relay_is_at_end(relay, &relay->take) || step == oc_ring_given(node->ring)) {
        return false;
    }
    if (!oc_ring_is_published(node->ring, owner, step) || !oc_relay_agrees(relay, owner, step)) {
        return false;
    }
    from = oc_ring_place(node->ring, owner, step);
    length = step_length(relay, &relay->take);
    if (oc_relay_leads(relay)) {
        take_into_vector(relay, length, from);
    } else if (owner != node->self) {
        size_t offset = oc_relay_offset(relay->args, oc_relay_rank_of(relay, owner));

        oc_relay_write_out(relay, offset + relay->take.at, length, from);
    }
    relay->group->client->config.counters->bytes_node += owner != node->self ? length : 0;
    oc_ring_take(node->ring, owner);
    advance(relay, &relay->take);
    return true;
}
