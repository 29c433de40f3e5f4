/* SPDX-License-Identifier: BSD-3-Clause */
/* The way of a collective into its group, and that a rank cannot go on. */
#include "client/submit.h"

#include <utlist.h>

#include "client/client_inside.h"
#include "client/collapse.h"
#include "client/collective.h"
#include "client/group.h"
#include "client/setup.h"
#include "client/setup_state.h"

/*
 * The others count on this rank's share: nobody can go on. What is pending may be nothing, so the
 * collapse is not left to the next progress.
 */
static void give_up(oc_group_t *group, oc_status_t status, const char *reason)
{
    if (OC_SERVICE_MULTICAST == group->params.service) {
        oc_group_fail(group, status, reason);
    } else {
        oc_client_collapse(group->client, status, "%s", reason);
        oc_client_settle(group->client);
    }
    if (OC_GROUP_NEW == group->state) {
        oc_group_break(group, status, reason);
    } else if (NULL != group->setup) {
        oc_setup_give_up(group, "%s", reason);
    }
}

void oc_group_give_up(oc_group_t *group, oc_status_t status, const char *reason)
{
    oc_client_t *client = group->client;

    pthread_mutex_lock(&client->lock);
    if (OC_GROUP_DECLINED != group->state && OC_GROUP_FAILED != group->state) {
        give_up(group, status, reason);
    }
    pthread_mutex_unlock(&client->lock);
}

static oc_status_t start_or_queue(oc_group_t *group, oc_collective_make_fn_t *make,
                                  const void *args)
{
    oc_collective_t *collective = make(group, args);
    oc_status_t status = OC_OK;

    if (NULL == collective) {
        give_up(group, OC_ERR_NO_MEMORY, "out of memory");
        return OC_ERR_NO_MEMORY;
    }
    if (OC_GROUP_NEW == group->state) {
        status = oc_setup_begin(group);
    }
    if (OC_OK != status) {
        oc_collective_free(group->client, collective);
        return status;
    }
    atomic_fetch_add(&group->client->pending, 1);
    DL_APPEND(group->queue, collective);
    oc_group_start_queued(group);
    return OC_OK;
}

oc_status_t oc_collective_submit(oc_group_t *group, oc_collective_make_fn_t *make,
                                 const void *args, unsigned type, uint64_t bytes)
{
    oc_client_t *client = group->client;
    oc_status_t status;

    pthread_mutex_lock(&client->lock);
    if (OC_GROUP_DECLINED == group->state || oc_group_leaves(group, type, bytes)) {
        status = OC_DECLINED;
    } else if (OC_GROUP_FAILED == group->state) {
        status = group->status;
    } else {
        status = start_or_queue(group, make, args);
    }
    pthread_mutex_unlock(&client->lock);
    return status;
}
