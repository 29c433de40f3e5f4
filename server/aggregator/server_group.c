/* SPDX-License-Identifier: BSD-3-Clause */
/* A group of an aggregator: what points to it, its failure, the names of its members. */
#include "server/aggregator/server_group.h"

#include <assert.h>
#include <stdarg.h>
#include <stdio.h>

#include "server/aggregator/early.h"

void oc_server_group_failed(oc_server_group_t *group, oc_status_t status, const char *format,
                            ...)
{
    oc_command_t *command;
    va_list args;

    if (group->failed) {
        return;
    }
    group->failed = true;
    oc_early_forget(group);
    command = oc_command_new(OC_COMMAND_GROUP_ERROR, NULL, 0);
    if (NULL == command) {
        return;
    }
    command->handle = group->handle;
    command->status = status;
    va_start(args, format);
    vsnprintf(command->text, sizeof(command->text), format, args);
    va_end(args);
    oc_mailbox_post(group->aggregator->config.control, command);
}

const char *oc_server_group_member_name(const oc_server_group_t *group, uint32_t rank,
                                        char name[OC_MEMBER_NAME_SIZE])
{
    assert(rank < group->num_ranks);
    if (NULL != group->above) {
        snprintf(name, OC_MEMBER_NAME_SIZE, "member %u of leaf %u", rank, group->above->leaf);
    } else {
        snprintf(name, OC_MEMBER_NAME_SIZE, "%s %u", group->tree ? "leaf" : "rank", rank);
    }
    return name;
}

void oc_server_group_hold(oc_server_group_t *group)
{
    group->references++;
}

void oc_server_group_release(oc_server_group_t *group)
{
    assert(group->references > 0);
    if (0 == --group->references && group->dropped) {
        group->end(group);
    }
}
