/* SPDX-License-Identifier: BSD-3-Clause */
/* What comes back to an Allreduce: transfers, and replies with a header. */
#include "client/collective/reply.h"

#include <stdio.h>

#include "client/collective/collective.h"
#include "client/state/collapse.h"
#include "client/state/loss.h"

/* Of a connection; other errors are somebody's fault. */
static bool is_break(oc_status_t status)
{
    return OC_ERR_UNREACHABLE == status || OC_ERR_TIMEOUT == status || OC_ERR_CANCELED == status;
}

bool oc_allreduce_called_back(oc_allreduce_t *allreduce, const oc_transfer_t *transfer,
                              const oc_lane_t *lane)
{
    oc_client_t *client = allreduce->base.group->client;

    allreduce->waiting--;
    if (client->suspending && OC_OK == allreduce->base.status) {
        if (allreduce->waiting == (allreduce->steps.hold ? 1 : 0) && NULL != allreduce->algorithm) {
            allreduce->algorithm->suspend(allreduce);
        }
        return false;
    }
    if (OC_OK != transfer->status && OC_OK == allreduce->base.status) {
        char reason[OC_REASON_SIZE];

        snprintf(reason, sizeof(reason), "server %.200s: the data connection broke: %s",
                 lane->connection->name, oc_status_string(transfer->status));
        if (is_break(transfer->status) && oc_loss_notice(lane->connection, transfer->status, reason)) {
            return false;
        }
        allreduce->base.status = transfer->status;
        oc_client_collapse(client, transfer->status, "%s", reason);
    }
    if (OC_OK == allreduce->base.status) {
        return true;
    }
    if (0 == allreduce->waiting) {
        oc_collective_finish(&allreduce->base, allreduce->base.status);
    }
    return false;
}

bool oc_allreduce_check_reply(oc_allreduce_t *allreduce, const oc_lane_t *lane,
                              const void *bytes, size_t length, uint8_t message)
{
    oc_header_t header;

    if (OC_OK == oc_header_decode(bytes, length, &header) && message == header.message
        && header.handle == lane->handle && header.rank == lane->index
        && header.sequence == allreduce->sequence && header.op == allreduce->args.op
        && header.type == allreduce->type && header.count == allreduce->args.count
        && (OC_MESSAGE_COMMIT == message || OC_MESSAGE_SENT == message
            || header.chunk_bytes == allreduce->bytes)) {
        return true;
    }
    allreduce->base.status = OC_ERR_INVALID;
    oc_client_collapse(allreduce->base.group->client, OC_ERR_INVALID,
                       "server %.200s sent a reply that does not fit collective %llu",
                       lane->connection->name, (unsigned long long) allreduce->sequence);
    return false;
}
