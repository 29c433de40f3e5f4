/* SPDX-License-Identifier: BSD-3-Clause */
/* Waiting for a message from each aggregator of a group: proof that data gets through. */
#include "client/state/readiness.h"

#include <stdlib.h>

#include "client/state/codes.h"
#include "protocol/tag.h"

static void readiness_receive(oc_ready_t *ready);

/* Links are gone when the group has lost its service meanwhile. */
static bool is_wanted(const oc_ready_t *ready)
{
    return !ready->all->abandoned && 0 != ready->all->group->servers->num_links;
}

static bool is_genuine(const oc_ready_t *ready, oc_header_t *header)
{
    const oc_group_t *group = ready->all->group;

    return oc_reply_is_genuine(group, group->servers->links[ready->link].connection, ready->index,
                               &ready->transfer, ready->bytes, header);
}

static void readiness_on_ready(oc_transfer_t *transfer)
{
    oc_ready_t *ready = (oc_ready_t *) transfer;
    oc_readiness_t *all = ready->all;
    bool came = OC_OK == transfer->status || OC_ERR_TRUNCATED == transfer->status;
    oc_header_t header = {0};

    if (came && is_wanted(ready) && !is_genuine(ready, &header)) {
        oc_count_forged_reply(all->group->client);
        readiness_receive(ready);
        return;
    }
    ready->arrived = OC_MESSAGE_READY == header.message;
    all->failed += !ready->arrived;
    if (ready->arrived && header.chunk_bytes < all->chunk_bytes) {
        all->chunk_bytes = header.chunk_bytes;
    }
    if (0 == --all->waiting && all->abandoned) {
        free(all);
    }
}

static void readiness_receive(oc_ready_t *ready)
{
    const oc_group_t *group = ready->all->group;

    ready->transfer.done = readiness_on_ready;
    oc_receive(group->client->worker, &ready->transfer, ready->bytes, OC_HEADER_SIZE,
               oc_tag(OC_KIND_REPLY, group->servers->reply_handle, ready->index, 0, OC_READY_SLOT),
               OC_TAG_EXACT);
}

/* Of one team: first is its first aggregator's number in the group. */
static void receive_all(oc_group_t *group, oc_ready_t *ready, uint32_t first)
{
    for (unsigned link = 0; link < group->servers->num_links; link++) {
        for (unsigned i = 0; i < group->servers->links[link].connection->num_aggregators;
             i++, ready++) {
            ready->link = link;
            ready->index = first++;
            readiness_receive(ready);
        }
    }
}

oc_readiness_t *oc_readiness_begin(oc_group_t *group, unsigned aggregators)
{
    unsigned count = aggregators * group->servers->teams.own;
    oc_readiness_t *all = calloc(1, sizeof(*all) + count * sizeof(all->lanes[0]));

    if (NULL == all) {
        return NULL;
    }
    all->group = group;
    all->count = all->waiting = count;
    all->chunk_bytes =
        (uint32_t) oc_settings_largest_chunk(group->client->config.settings);
    for (unsigned i = 0; i < count; i++) {
        all->lanes[i].all = all;
    }
    for (unsigned team = 0; team < group->servers->teams.own; team++) {
        receive_all(group, &all->lanes[team * aggregators],
                    oc_team_number(group, team) * aggregators);
    }
    return all;
}

void oc_readiness_end(oc_readiness_t *all)
{
    if (NULL == all) {
        return;
    }
    if (0 == all->waiting) {
        free(all);
        return;
    }
    all->abandoned = true;
    for (unsigned i = 0; i < all->count; i++) {
        oc_receive_cancel(&all->lanes[i].transfer);
    }
}
