/* SPDX-License-Identifier: BSD-3-Clause */
/* What is under way in a group whose leaders multicast for their hosts, and its end. */
#include "client/group/relay_state.h"

#include <stdlib.h>
#include <utlist.h>

bool oc_relay_leads(const oc_relay_t *relay)
{
    return OC_RELAY_LEADER == relay->group->node->self;
}

uint32_t oc_relay_rank_of(const oc_relay_t *relay, uint32_t member)
{
    return relay->group->node->ranks[member];
}

size_t oc_relay_member_length(const oc_relay_t *relay, uint32_t member)
{
    return oc_relay_length(relay->args, oc_relay_rank_of(relay, member));
}

bool oc_relay_is_at_end(const oc_relay_t *relay, const oc_relay_cursor_t *cursor)
{
    return cursor->member == relay->group->node->num_members;
}

static bool is_giving(const oc_relay_t *relay)
{
    return NULL != relay && relay->open && !oc_relay_is_at_end(relay, &relay->take);
}

oc_relay_t *oc_relay_giver(oc_relay_t *relay)
{
    return is_giving(relay->behind) ? relay->behind : relay;
}

bool oc_relay_has_taken_blocks(const oc_relay_t *relay)
{
    return !is_giving(relay) && !is_giving(relay->behind);
}

void oc_relay_open(oc_relay_t *relay)
{
    relay->open = true;
    relay->first = oc_ring_given(relay->group->node->ring);
}

void oc_relay_free(oc_relay_t *relay)
{
    oc_relay_map_free(&relay->map);
    free(relay->handed);
    if (relay->own_vector) {
        free(relay->vector);
    }
    free(relay);
}

void oc_relay_fail(oc_group_t *group, oc_status_t status)
{
    for (oc_relay_t *relay = group->relay; NULL != relay; relay = relay->behind) {
        if (OC_OK == relay->status) {
            relay->status = status;
        }
    }
}

/* Rings that nobody hears would use up what those who ring have to send with. */
static void stop_ringing(oc_group_t *group)
{
    if (group->node->armed) {
        group->node->armed = false;
        oc_ring_disarm(group->node->ring);
    }
    if (NULL == group->client->nodes && NULL == group->client->relays) {
        (void) oc_doorbell_listen(group->client->bell);
    }
}

void oc_relay_drop(oc_group_t *group)
{
    oc_relay_t *relay = group->relay;

    group->relay = relay->behind;
    oc_relay_free(relay);
    if (NULL == group->relay) {
        DL_DELETE2(group->client->relays, group, node_prev, node_next);
        stop_ringing(group);
    }
}
