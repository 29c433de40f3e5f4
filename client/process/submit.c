/* SPDX-License-Identifier: BSD-3-Clause */
/* The way of a collective into its group, and that a rank cannot go on. */
#include <utlist.h>

#include "client/collective/allreduce.h"
#include "client/collective/collective.h"
#include "client/group/cast.h"
#include "client/group/group.h"
#include "client/process/moving.h"
#include "client/process/helper.h"
#include "client/setup/setup.h"
#include "client/state/collapse.h"
#include "client/state/setup_state.h"
#include "reduction/reduction.h"

/* Nobody asks for the rules of what goes by multicast. */
#define NOT_RULED OC_RULED_ALLREDUCE

/* Makes a collective of its arguments, which has not begun. NULL: out of memory. */
typedef oc_collective_t *make_fn_t(oc_group_t *group, const void *args);

/*
 * The others count on this rank's share: nobody can go on. What is pending may be nothing, so the
 * collapse is not left to the next progress.
 */
static void submit_give_up(oc_group_t *group, oc_status_t status, const char *reason)
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

    oc_client_lock(client);
    if (OC_GROUP_DECLINED != group->state && OC_GROUP_FAILED != group->state) {
        submit_give_up(group, status, reason);
    }
    pthread_mutex_unlock(&client->lock);
}

oc_status_t oc_group_set_up(oc_group_t *group)
{
    oc_client_t *client = group->client;
    oc_status_t status = OC_OK;

    oc_client_lock(client);
    if (OC_GROUP_NEW == group->state) {
        status = oc_setup_begin(group);
    }
    pthread_mutex_unlock(&client->lock);
    return status;
}

static oc_status_t start_or_queue(oc_group_t *group, make_fn_t *make, const void *args)
{
    oc_collective_t *collective = make(group, args);
    oc_status_t status = OC_OK;

    if (NULL == collective) {
        submit_give_up(group, OC_ERR_NO_MEMORY, "out of memory");
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
    group->client->bound += collective->bound;
    group->client->background += collective->background;
    /* servers need nothing of a rank whose part of a reduction is over */
    if (group->client->background > 0
        || (group->client->config.unattended && OC_SERVICE_MULTICAST == group->params.service)) {
        oc_helper_notice(group->client, collective->background);
    }
    oc_group_start_queued(group);
    return OC_OK;
}

/* ruled, type, bytes: of a reduction, which mode auto may leave. */
static oc_status_t submit(oc_group_t *group, make_fn_t *make, const void *args, oc_ruled_t ruled,
                          unsigned type, uint64_t bytes)
{
    oc_client_t *client = group->client;
    oc_status_t status;

    oc_client_lock(client);
    if (OC_GROUP_DECLINED == group->state || oc_group_leaves(group, ruled, type, bytes)) {
        status = OC_DECLINED;
    } else if (OC_GROUP_FAILED == group->state) {
        status = group->status;
    } else {
        status = start_or_queue(group, make, args);
    }
    pthread_mutex_unlock(&client->lock);
    return status;
}

oc_status_t oc_allreduce_start(oc_group_t *group, const oc_allreduce_args_t *args)
{
    return submit(group, oc_allreduce_new, args, args->ruled, args->type,
                  args->count * oc_type_size(args->type));
}

oc_status_t oc_allgather_start(oc_group_t *group, const oc_allgather_args_t *args)
{
    return submit(group, oc_allgather_new, args, NOT_RULED, 0, 0);
}

oc_status_t oc_bcast_start(oc_group_t *group, const oc_bcast_args_t *args)
{
    return submit(group, oc_bcast_new, args, NOT_RULED, 0, 0);
}
