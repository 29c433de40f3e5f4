/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Results of large vectors have no header, and so no code: a receive takes whatever has its tag.
 * But if it took another message, the true one is left over, and is here when the aggregator's SENT
 * is, which was sent behind all results and which nobody can forge. It must be known before this
 * rank acknowledges: in place, a forged result may have fallen upon the contribution while that was
 * on its way, and then the results of all ranks are wrong.
 *
 * One that was announced and never comes keeps a collective from its end. So those under way are
 * looked through now and then for messages that should have been taken at once.
 */
#include "client/collective/leftovers.h"

#include <utlist.h>

#include "base/log.h"
#include "client/state/collapse.h"
#include "protocol/tag.h"

void oc_leftover_tell(const oc_allreduce_t *allreduce, const oc_lane_t *lane)
{
    const oc_group_t *group = allreduce->base.group;

    /* now: UCX may not survive the end of a worker that still waits for what was forged */
    oc_error("a message in the name of server %.200s was forged or duplicated",
             lane->connection->name);
    oc_client_collapse(group->client, OC_ERR_INVALID, "a message in the name of server "
                       "%.200s was forged or duplicated (collective %llu, reply handle %u): the "
                       "result of this operation cannot be trusted", lane->connection->name,
                       (unsigned long long) allreduce->sequence, group->servers->reply_handle);
}

bool oc_leftover_is_here(const oc_allreduce_t *allreduce, const oc_lane_t *lane, oc_kind_t kind,
                         uint64_t slot)
{
    const oc_group_t *group = allreduce->base.group;

    return oc_worker_holds(
        group->client->worker,
        oc_tag(kind, group->servers->reply_handle, lane->index, allreduce->sequence, slot),
        OC_TAG_EXACT);
}

static void leftovers_look_at(const oc_allreduce_t *allreduce)
{
    const oc_lane_t *lane = NULL;

    if (OC_OK == allreduce->base.status && NULL != allreduce->algorithm) {
        lane = allreduce->algorithm->leftover(allreduce);
    }
    if (NULL != lane) {
        oc_leftover_tell(allreduce, lane);
    }
}

void oc_leftovers_look(oc_client_t *client)
{
    oc_collective_t *running;
    oc_group_t *group;

    DL_FOREACH (client->groups, group) {
        if (OC_SERVICE_AGGREGATION != group->params.service || NULL != group->servers->renewal) {
            continue;
        }
        DL_FOREACH (group->running, running) {
            leftovers_look_at(oc_allreduce_of(running));
        }
    }
}
