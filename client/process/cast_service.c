/* SPDX-License-Identifier: BSD-3-Clause */
/* Progress of multicast in a client. */
#include "client/process/cast_service.h"

#include <utlist.h>

#include "client/group/cast_group.h"
#include "client/group/group.h"

/* Groups whose collectives have ended with an error; those of idle ones show with the next. */
static void take_failures(oc_client_t *client)
{
    oc_group_t *group;

    client->cast_failed = false;
    DL_FOREACH (client->groups, group) {
        if (NULL != group->cast && oc_cast_group_ready(group->cast) < OC_OK) {
            oc_group_fail(group, oc_cast_group_ready(group->cast),
                          oc_cast_group_reason(group->cast));
        }
    }
}

static bool has_work(const oc_client_t *client)
{
    return NULL != client->multicast
           && (client->cast_setups > 0 || oc_multicast_pending(client->multicast) > 0);
}

void oc_client_cast_progress(oc_client_t *client)
{
    if (!has_work(client) && !client->cast_pending) {
        return;
    }
    oc_multicast_progress(client->multicast, client->now);
    if (client->cast_failed) {
        take_failures(client);
    }
    oc_client_cast_account(client);
}

int oc_client_cast_sleep(oc_client_t *client, struct pollfd *fds, uint64_t *timeout)
{
    return has_work(client) ? oc_multicast_sleep(client->multicast, fds, client->now, timeout) : 0;
}
