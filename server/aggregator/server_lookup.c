/* SPDX-License-Identifier: BSD-3-Clause */
/* Which group a message belongs to. */
#include "server/aggregator/server_lookup.h"

#include "server/aggregator/commands.h"

static oc_server_group_t *find_member(oc_aggregator_t *aggregator, uint32_t handle, uint32_t rank)
{
    oc_server_group_t *group;

    HASH_FIND(hh, aggregator->groups, &handle, sizeof(handle), group);
    return NULL != group && rank < group->num_ranks && group->members[rank].joined ? group : NULL;
}

oc_server_group_t *oc_server_group_find(oc_aggregator_t *aggregator, uint32_t handle, uint32_t rank)
{
    oc_server_group_t *group = find_member(aggregator, handle, rank);

    if (NULL == group || group->num_joined < group->num_ranks) {
        /* the command was posted before any rank learnt the handle: it must be in the inbox */
        oc_commands_carry_out(aggregator);
        group = find_member(aggregator, handle, rank);
    }
    return group;
}
