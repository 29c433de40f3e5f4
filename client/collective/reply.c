/* SPDX-License-Identifier: BSD-3-Clause */
/* What comes back to an Allreduce: transfers, and replies with a header. */
#include "client/collective/reply.h"

#include "client/collective/collective.h"
#include "client/state/collapse.h"

bool oc_collective_called_back(oc_collective_t *collective, const oc_transfer_t *transfer,
                               const oc_lane_t *lane)
{
    oc_client_t *client = collective->group->client;

    collective->waiting--;
    if (OC_OK != transfer->status && OC_OK == collective->status) {
        collective->status = transfer->status;
        oc_client_collapse(client, transfer->status, "server %.200s: the data connection broke: %s",
                           lane->connection->name, oc_status_string(transfer->status));
    }
    if (OC_OK == collective->status) {
        return true;
    }
    if (0 == collective->waiting) {
        oc_collective_finish(collective, collective->status);
    }
    return false;
}

bool oc_collective_check_reply(oc_collective_t *collective, const oc_lane_t *lane,
                               const void *bytes, size_t length, uint8_t message)
{
    oc_header_t header;

    if (OC_OK == oc_header_decode(bytes, length, &header) && message == header.message
        && header.handle == lane->handle && header.rank == lane->index
        && header.sequence == collective->sequence && header.op == collective->args.op
        && header.type == collective->type && header.count == collective->args.count
        && (OC_MESSAGE_COMMIT == message || OC_MESSAGE_SENT == message
            || header.chunk_bytes == collective->bytes)) {
        return true;
    }
    collective->status = OC_ERR_INVALID;
    oc_client_collapse(collective->group->client, OC_ERR_INVALID,
                       "server %.200s sent a reply that does not fit collective %llu",
                       lane->connection->name, (unsigned long long) collective->sequence);
    return false;
}
