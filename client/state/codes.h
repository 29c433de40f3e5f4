/* SPDX-License-Identifier: BSD-3-Clause */
/* Which messages are of this job. Under the lock of the client. */
#ifndef OC_CLIENT_STATE_CODES_H
#define OC_CLIENT_STATE_CODES_H

#include "client/state/types.h"

/* Whether that was received, and sent by this aggregator of the group; with its header. */
bool oc_reply_is_genuine(const oc_group_t *group, const oc_connection_t *connection, uint32_t index,
                         const oc_transfer_t *transfer, const uint8_t *message,
                         oc_header_t *header);
void oc_count_forged_reply(oc_client_t *client);
/* Writes the header, and the code of the message of which it is a part. */
void oc_request_seal(const oc_group_t *group, const oc_lane_t *lane, const oc_header_t *header,
                     uint8_t *message, size_t length);
/*
 * Whether a reply came that this lane's aggregator has not made: it is counted, and has taken the
 * receive of the one that is to come.
 */
bool oc_reply_is_forged(const oc_collective_t *collective, const oc_lane_t *lane,
                        const oc_transfer_t *transfer, const uint8_t *message);

#endif
