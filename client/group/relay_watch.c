/* SPDX-License-Identifier: BSD-3-Clause */
/* What ranks of a host notice of devices and of each other while one multicasts for all. */
#include "client/group/relay_watch.h"

#include <stdio.h>

#include "base/clock.h"
#include "client/group/group.h"
#include "client/group/relay_state.h"

/*
 * How long nothing moves before the processes are looked at that are waited for, and between two
 * looks.
 */
#define LIFE_INTERVAL (250 * OC_MILLISECOND)

void oc_relay_look_at_stages(const oc_relay_t *relay)
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
        snprintf(text, sizeof(text), "rank %u cannot be reached: its process, on the host of rank "
                 "%u, has ended", oc_relay_rank_of(relay, member), relay->group->params.rank);
        oc_group_fail(relay->group, OC_ERR_UNREACHABLE, text);
    }
}

/* Whoever takes no blocks keeps those waiting who give them, and all others. */
static bool waits_for_all(const oc_relay_t *relay)
{
    const oc_node_t *node = relay->group->node;

    return !oc_ring_has_room(node->ring) || !oc_relay_has_taken_blocks(relay);
}

void oc_relay_look_for_death(oc_relay_t *relay)
{
    const oc_node_t *node = relay->group->node;
    uint64_t now = relay->group->client->now;

    if (now - relay->looked < LIFE_INTERVAL) {
        return;
    }
    relay->looked = now;
    for (uint32_t i = 0; i < node->num_members; i++) {
        if (i != node->self && (OC_RELAY_LEADER == i || waits_for_all(relay))) {
            check_life(relay, i);
        }
    }
}

/* What another rank does in a step: false, it does something else, and the group has failed. */
bool oc_relay_agrees(const oc_relay_t *relay, uint32_t member, uint64_t step)
{
    char text[OC_RING_TEXT_SIZE];

    if (OC_ERR_MISMATCH != oc_ring_matches(relay->group->node->ring, member, step, relay->what)) {
        return true;
    }
    snprintf(text, sizeof(text), "ranks disagree about a collective: rank %u does something "
             "else than rank %u", oc_relay_rank_of(relay, member), relay->group->params.rank);
    oc_group_fail(relay->group, OC_ERR_MISMATCH, text);
    return false;
}
