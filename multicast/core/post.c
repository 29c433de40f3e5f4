/* SPDX-License-Identifier: BSD-3-Clause */
/* Messages to the ranks of a group. */
#include "multicast/core/post.h"

#include "multicast/core/deliver.h"
#include "multicast/core/route.h"

/* For a rank that is not known; all of these end with their heads. */
static bool post_waits(oc_cast_kind_t kind)
{
    return OC_CAST_TURN == kind || OC_CAST_REQUEST == kind || OC_CAST_POLL == kind;
}

void oc_cast_post(oc_cast_group_t *group, uint32_t rank, oc_cast_message_t *message)
{
    uint8_t head[OC_CAST_HEAD_MAX];

    if (!oc_cast_knows(group, rank) && post_waits(message->kind)) {
        oc_cast_route_hold(group, rank, head, oc_cast_write(group, rank, message, head));
    } else {
        oc_cast_deliver(group, rank, message);
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
