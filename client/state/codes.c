/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Codes of the messages with header between a rank and aggregators. A reply with a wrong one was
 * not made by this job: it is dropped, counted, and waited for again.
 */
#include "client/state/codes.h"

#include "base/log.h"
#include "protocol/seal.h"

void oc_request_seal(const oc_group_t *group, const oc_lane_t *lane, const oc_header_t *header,
                     uint8_t *message, size_t length)
{
    oc_header_encode(header, message);
    oc_seal(lane->connection->codes, group->servers->id, lane->index, header, message, length);
}

bool oc_reply_is_genuine(const oc_group_t *group, const oc_connection_t *connection, uint32_t index,
                         const oc_transfer_t *transfer, const uint8_t *message,
                         oc_header_t *header)
{
    return OC_OK == transfer->status && OC_OK == oc_header_decode(message, transfer->length, header)
           && oc_is_sealed(connection->codes, group->servers->id, index, header, message,
                           transfer->length);
}

void oc_count_forged_reply(oc_client_t *client)
{
    if (0 == client->config.counters->replies_forged++) {
        oc_warn("a reply was dropped that no server of this job has made: its code is wrong, or it "
                "has no header; further ones are counted");
    }
}

bool oc_reply_is_forged(const oc_collective_t *collective, const oc_lane_t *lane,
                        const oc_transfer_t *transfer, const uint8_t *message)
{
    oc_header_t header;

    /* after an error lanes may be gone, and a worker that would receive again; or it is about to go */
    if (OC_OK != collective->status || collective->group->client->suspending
        || (OC_OK != transfer->status && OC_ERR_TRUNCATED != transfer->status)
        || oc_reply_is_genuine(collective->group, lane->connection, lane->index, transfer, message,
                               &header)) {
        return false;
    }
    oc_count_forged_reply(collective->group->client);
    return true;
}
