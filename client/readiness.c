/* SPDX-License-Identifier: BSD-3-Clause */
/* Waiting for a message from each aggregator of a group: proof that data gets through. */
#include "client/readiness.h"

#include <stdlib.h>

#include "client/types.h"
#include "protocol/tag.h"

static void on_ready(oc_transfer_t *transfer)
{
    oc_ready_t *ready = (oc_ready_t *) transfer;
    oc_readiness_t *all = ready->all;
    oc_header_t header;

    ready->arrived = OC_OK == transfer->status
                     && OC_OK == oc_header_decode(ready->bytes, transfer->length, &header)
                     && OC_MESSAGE_READY == header.message;
    all->failed += !ready->arrived;
    if (ready->arrived && header.chunk_bytes < all->chunk_bytes) {
        all->chunk_bytes = header.chunk_bytes;
    }
    if (0 == --all->waiting && all->abandoned) {
        free(all);
    }
}

oc_readiness_t *oc_readiness_begin(oc_group_t *group, unsigned aggregators)
{
    unsigned count = aggregators * group->teams.own;
    oc_readiness_t *all = calloc(1, sizeof(*all) + count * sizeof(all->lanes[0]));

    if (NULL == all) {
        return NULL;
    }
    all->count = all->waiting = count;
    all->chunk_bytes = (uint32_t) group->client->config.settings->chunk_size;
    for (unsigned i = 0; i < count; i++) {
        uint32_t index = oc_team_number(group, i / aggregators) * aggregators + i % aggregators;

        all->lanes[i].all = all;
        all->lanes[i].transfer.done = on_ready;
        oc_receive(group->client->worker, &all->lanes[i].transfer, all->lanes[i].bytes,
                   OC_HEADER_SIZE,
                   oc_tag(OC_KIND_REPLY, group->reply_handle, index, 0, OC_READY_SLOT),
                   OC_TAG_EXACT);
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
