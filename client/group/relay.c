/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Each operation is a stream of steps of the ring. First come the blocks of the ranks that are no
 * leaders, in rank order and in pieces as large as a place: their owners publish them, all take
 * them, and the leader multicasts what it has of them. Then all steps are the leader's: in each it
 * hands on what has come meanwhile, from whichever hosts, until one says that it is the last. The
 * leader keeps all that has come, so that nobody whom it waits for can make it lose anything.
 *
 * The next operation is with multicast from its begin on. The ranks of the host commit it (node/ring.h), and when all
 * have, one of the leader's steps says that its blocks come now. Then the leader goes on with its steps of the first.
 */
#include "client/group/relay.h"

#include <stdlib.h>
#include <string.h>
#include <utlist.h>

#include "base/text.h"
#include "client/collective/collective.h"
#include "client/group/group.h"
#include "client/group/relay_blocks.h"
#include "client/group/relay_buffers.h"
#include "client/group/relay_pieces.h"
#include "client/group/relay_state.h"
#include "client/group/relay_watch.h"

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
                      + oc_relay_member_length(relay, OC_RELAY_LEADER);
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
    relay->ready = oc_relay_member_length(relay, OC_RELAY_LEADER);
    relay->left = total - relay->map.lengths[host] + relay->ready;
    if (relay->own_vector) {
        oc_relay_read_in(relay, 0, relay->ready, relay->vector + relay->map.offsets[host]);
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

    return oc_multicast_start(client->multicast, relay->group->cast, &args, client->now, &relay->cast);
}

static oc_status_t relay_prepare(oc_relay_t *relay)
{
    oc_group_t *group = relay->group;
    oc_status_t status = OC_OK;

    if (!oc_relay_map_make(&relay->map, group->node, group->params.num_ranks, relay->args)) {
        return OC_ERR_NO_MEMORY;
    }
    relay->what = hash_of(relay);
    relay->looked = group->client->now;
    oc_relay_begin_blocks(relay);
    oc_relay_keep_own(relay);
    if (oc_relay_leads(relay)) {
        status = make_vector(relay);
    }
    return OC_OK == status && oc_relay_leads(relay) ? start_to_multicast(relay) : status;
}

static void relay_append(oc_group_t *group, oc_relay_t *relay)
{
    if (NULL == group->relay) {
        group->relay = relay;
        oc_relay_open(relay);
        DL_APPEND2(group->client->relays, group, node_prev, node_next);
    } else {
        group->relay->behind = relay;
    }
    relay->number = ++group->relays_begun;
    oc_ring_commit_to(group->node->ring, relay->number, OC_RELAY_LEADER);
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
    relay_append(group, relay);
    return OC_OK;
}

static void relay_finish(oc_group_t *group)
{
    oc_collective_t *collective = group->relay->collective;
    oc_status_t status = group->relay->status;

    group->cast_closed = group->relay->closed;
    group->client->cast_news = true;
    oc_relay_drop(group);
    if (NULL != group->relay) {
        group->relay->looked = group->client->now;
        oc_relay_open(group->relay);
    }
    oc_collective_finish(collective, status);
}

/* One of each: what the network brings is looked at in between. */
static bool take_steps(oc_relay_t *relay)
{
    oc_relay_t *giver = oc_relay_giver(relay);
    bool moved = oc_relay_give_block(giver);

    moved = oc_relay_take_block(giver) || moved;
    return (oc_relay_leads(relay) ? oc_relay_feed(relay) : oc_relay_take_piece(relay)) || moved;
}

static bool relay_progress(oc_group_t *group)
{
    oc_relay_t *relay = group->relay, *giver = oc_relay_giver(relay);
    char text[OC_RING_TEXT_SIZE];
    uint32_t member;
    /* what was handed on before still counts: so this comes first, and is judged last */
    bool failed = oc_ring_has_failed(group->node->ring, &member, text), moved = false;

    if (OC_OK == relay->status && !relay->over) {
        moved = take_steps(relay);
    }
    if (moved) {
        relay->looked = group->client->now;
    } else if (!relay->over && failed) {
        oc_group_fail(group, OC_ERR_UNREACHABLE, text);
    } else if (!relay->over && oc_relay_agrees(giver, OC_RELAY_LEADER, giver->first)) {
        oc_relay_look_at_stages(relay);
        oc_relay_look_for_death(relay);
    }
    if ((relay->over || OC_OK != relay->status) && (!oc_relay_leads(relay) || relay->cast_over)) {
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
    return !oc_relay_leads(relay) || !oc_relay_has_taken_blocks(relay)
           || (NULL != relay->behind && !relay->behind->open)
           || (oc_relay_may_feed(relay) && !oc_ring_has_room(relay->group->node->ring));
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
