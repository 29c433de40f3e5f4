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

static void give_up(const oc_collective_t *collective, const oc_lane_t *lane)
{
    /* now: UCX may not survive the end of a worker that still waits for what was forged */
    oc_error("a message in the name of server %.200s was forged or duplicated",
             lane->connection->name);
    oc_client_collapse(collective->group->client, OC_ERR_INVALID, "a message in the name of server "
                       "%.200s was forged or duplicated (collective %llu, reply handle %u): the "
                       "result of this operation cannot be trusted", lane->connection->name,
                       (unsigned long long) collective->sequence,
                       collective->group->reply_handle);
}

static bool holds(const oc_collective_t *collective, const oc_lane_t *lane, oc_kind_t kind,
                  uint64_t slot)
{
    const oc_group_t *group = collective->group;

    return oc_worker_holds(group->client->worker,
                           oc_tag(kind, group->reply_handle, lane->index, collective->sequence,
                                  slot), OC_TAG_EXACT);
}

/* Their receives were posted before the contributions were sent. */
static bool has_leftover(const oc_part_t *part)
{
    uint32_t slots = part->sent < OC_TAG_SLOTS ? part->sent : OC_TAG_SLOTS;

    for (uint32_t slot = 0; slot < slots; slot++) {
        if (holds(part->collective, part->lane, OC_KIND_RESULT, slot)) {
            return true;
        }
    }
    return false;
}

bool oc_part_is_clean(const oc_part_t *part)
{
    oc_collective_t *collective = part->collective;

    if (!has_leftover(part)) {
        return true;
    }
    collective->status = OC_ERR_INVALID;
    give_up(collective, part->lane);
    return false;
}

/* A reply that waits beside its own receive, which has taken what does not come. */
static bool misses_reply(const oc_part_t *part)
{
    return part->received == part->chunks
           && holds(part->collective, part->lane, OC_KIND_REPLY,
                    part->acknowledged ? OC_COMMIT_SLOT : OC_SENT_SLOT);
}

static void look_at(const oc_collective_t *collective)
{
    for (unsigned i = 0; i < collective->num_parts; i++) {
        const oc_part_t *part = &collective->parts[i];

        if (has_leftover(part) || misses_reply(part)) {
            give_up(collective, part->lane);
            return;
        }
    }
    if (NULL != collective->message && holds(collective, collective->lane, OC_KIND_REPLY, 0)) {
        give_up(collective, collective->lane);
    }
}

void oc_leftovers_look(oc_client_t *client)
{
    oc_collective_t *collective;
    oc_group_t *group;

    DL_FOREACH (client->groups, group) {
        if (OC_SERVICE_AGGREGATION != group->params.service) {
            continue;
        }
        DL_FOREACH (group->running, collective) {
            if (OC_OK == collective->status) {
                look_at(collective);
            }
        }
    }
}
