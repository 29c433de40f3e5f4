/* SPDX-License-Identifier: BSD-3-Clause */
/* Messages on their way to the network: they are numbered, counted and given their code. */
#include "multicast/core/deliver.h"

/* Of those that are about no operation, or about any, there is nothing to be mistaken for. */
uint32_t oc_cast_era(const oc_cast_group_t *group, const oc_cast_message_t *message)
{
    switch (message->kind) {
    case OC_CAST_PROBE_REQUEST:
    case OC_CAST_PROBE_SENT:
    case OC_CAST_PING:
    case OC_CAST_PONG:
    case OC_CAST_UNICAST:
    case OC_CAST_ABORT:
    case OC_CAST_FIND:
    case OC_CAST_FOUND:
        return 0;
    default:
        return (uint32_t) (oc_cast_operations(group, message->generation) >> 32);
    }
}

bool oc_cast_knows(const oc_cast_group_t *group, uint32_t rank)
{
    return group->config.net.knows(group->config.net.context, rank);
}

bool oc_cast_has_heard(const oc_cast_group_t *group, uint32_t rank)
{
    return group->probe.heard[rank] || 0 != group->serials[rank];
}

size_t oc_cast_write(oc_cast_group_t *group, uint32_t rank, oc_cast_message_t *message,
                     uint8_t head[OC_CAST_HEAD_MAX])
{
    oc_cast_counters_t *counters = group->config.counters;
    size_t length;

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
    return length;
}

void oc_cast_deliver(oc_cast_group_t *group, uint32_t rank, oc_cast_message_t *message)
{
    const oc_cast_net_t *net = &group->config.net;
    uint8_t head[OC_CAST_HEAD_MAX];
    size_t length;

    if (!oc_cast_knows(group, rank)) {
        return;
    }
    length = oc_cast_write(group, rank, message, head);
    if (OC_CAST_LEAVE == message->kind || OC_CAST_ABORT == message->kind) {
        net->tell(net->context, rank, head, length, message->data, message->data_length);
    } else {
        net->post(net->context, rank, head, length, message->data, message->data_length);
    }
}
