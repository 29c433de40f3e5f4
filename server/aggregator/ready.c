/* SPDX-License-Identifier: BSD-3-Clause */
/* When the members of a group may begin. */
#include "server/aggregator/ready.h"

#include <assert.h>

#include "protocol/tag.h"
#include "server/aggregator/replies.h"

/* What goes up has to be taken there, too. */
static uint32_t chunk_offered(const oc_server_group_t *group)
{
    const oc_above_t *above = group->above;

    return NULL != above && above->chunk_bytes < group->chunk_bytes ? above->chunk_bytes
                                                                    : group->chunk_bytes;
}

/*
 * UCX connects when the first message goes. With this one that happens during the set-up, where a
 * data path that does not work still leads to the previous module.
 */
static void send_ready(oc_server_group_t *group, uint32_t rank)
{
    oc_header_t header = {.message = OC_MESSAGE_READY, .handle = group->handle,
                          .rank = group->index, .chunks = 1,
                          .chunk_bytes = chunk_offered(group)};

    assert(group->members[rank].joined && !group->members[rank].told);
    group->members[rank].told = true;
    oc_aggregator_send_header(group, rank, &header, OC_READY_SLOT);
}

/* It has the reserve that it needs, and if there is a server above, that is ready too. */
static bool is_ready(const oc_server_group_t *group)
{
    return !group->owed && (!group->renewed || group->num_joined == group->num_ranks)
           && (NULL == group->above || (group->above->joined && group->above->ready));
}

void oc_ready_tell(oc_server_group_t *group, uint32_t rank)
{
    if (is_ready(group)) {
        send_ready(group, rank);
    }
}

void oc_ready_tell_all(oc_server_group_t *group)
{
    for (uint32_t rank = 0; is_ready(group) && rank < group->num_ranks; rank++) {
        if (group->members[rank].joined && !group->members[rank].told) {
            send_ready(group, rank);
        }
    }
}
