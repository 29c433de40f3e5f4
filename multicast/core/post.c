/* SPDX-License-Identifier: BSD-3-Clause */
/* Messages to the ranks of a group. */
#include "multicast/core/post.h"

#include "multicast/core/route.h"

/* Of those that are about no operation, or about any, there is nothing to be mistaken for. */
uint32_t oc_cast_era(const oc_cast_group_t *group, const oc_cast_message_t *message)
{
    switch (message->kind) {
    case OC_CAST_PROBE_REQUEST:
    case OC_CAST_PROBE_SENT:
    case OC_CAST_PING:
    case OC_CAST_PONG:
    case OC_CAST_ABORT:
    case OC_CAST_FIND:
    case OC_CAST_FOUND:
        return 0;
    default:
        return (uint32_t) (oc_cast_operations(group, message->generation) >> 32);
    }
}

/* For a rank that is not known; all of these end with their heads. */
static bool waits(oc_cast_kind_t kind)
{
    return OC_CAST_TURN == kind || OC_CAST_REQUEST == kind || OC_CAST_POLL == kind;
}

void oc_cast_post(oc_cast_group_t *group, uint32_t rank, oc_cast_message_t *message)
{
    const oc_cast_net_t *net = &group->config.net;
    oc_cast_counters_t *counters = group->config.counters;
    uint8_t head[OC_CAST_HEAD_MAX];
    size_t length;

    if (!oc_route_knows(group, rank) && !waits(message->kind)) {
        return;
    }
    message->rank = group->config.rank;
    message->token = group->config.token;
    message->serial = ++group->serial;
    length = oc_cast_encode(message, head);
    oc_cast_seal_message(group->seal, oc_cast_era(group, message), rank, message, head, length);
    if (OC_CAST_REPAIR == message->kind) {
        counters->repair_bytes += message->data_length;
    } else {
        counters->control_messages++;
        counters->control_bytes += length + message->data_length;
    }
    if (!oc_route_knows(group, rank)) {
        oc_route_hold(group, rank, head, length);
    } else if (OC_CAST_LEAVE == message->kind || OC_CAST_ABORT == message->kind) {
        net->tell(net->context, rank, head, length, message->data, message->data_length);
    } else {
        net->post(net->context, rank, head, length, message->data, message->data_length);
    }
}

void oc_cast_post_plain(oc_cast_group_t *group, uint32_t rank, oc_cast_kind_t kind)
{
    oc_cast_message_t message;

    message.kind = kind;
    message.generation = NULL != group->active ? group->active->generation : 0;
    message.data = NULL;
    message.data_length = 0;
    oc_cast_post(group, rank, &message);
}
